//! A fleet on several machines: each worker has a home and a state folder of its own, and shares with the others only a
//! server, which the tests start on loopback.

mod by_hand;
mod faults;
mod following;
mod limits;
#[cfg(target_os = "linux")]
mod network;
mod saying;
mod secured;
mod taking;
mod together;
mod watching;

use std::{
    fs,
    net::Ipv4Addr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use ralph_board::Key;
use serde_json::{Value, json};

use super::{WORKER, project};
use crate::{
    board::server as program,
    env::{Env, RALPH, Running, poll},
};

/// Workers that are silent for so long are taken for dead.
const SILENCE: &str = "1500";

/// A fleet, its board, and machines with workers.
pub(super) struct Field {
    pub(super) server: loopback_board::Server,
    pub(super) env: Env,
    machines: Vec<Env>,
    check: String,
    agent: String,
    key: Key,
    keys: tempfile::TempDir,
}

impl Field {
    /// A project with these stories, and as many other machines.
    fn new(stories: &[(Value, &str)], check: &str, machines: usize) -> Option<Self> {
        Self::of(project(stories, check), check, machines, ("worker", WORKER))
    }

    /// The same with another project, and another agent on the machines.
    fn of(env: Env, check: &str, machines: usize, agent: (&str, &str)) -> Option<Self> {
        Self::listening(Ipv4Addr::LOCALHOST, env, check, machines, agent)
    }

    /// The same with a board that listens on this address.
    fn listening(
        host: Ipv4Addr,
        env: Env,
        check: &str,
        machines: usize,
        (agent, script): (&str, &str),
    ) -> Option<Self> {
        let server = loopback_board::Server::start(&program()?, host.into(), "").expect("a server");
        let keys = tempfile::tempdir().expect("a folder");
        let machines: Vec<Env> = (0..machines).map(|_| Env::new()).collect();
        for machine in &machines {
            machine.program(agent, script);
        }
        let (check, agent) = (check.to_owned(), agent.to_owned());
        let field = Self { server, env, machines, check, agent, key: Key::generate(), keys };
        field.write_seed("lander", &field.key);
        for number in 1..=field.machines.len() {
            field.write_seed(&format!("w{number}"), &Key::generate());
        }
        Some(field)
    }

    fn write_seed(&self, name: &str, key: &Key) {
        let path = self.seed(name);
        fs::write(&path, key.seed().expect("a seed")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    }

    pub(super) fn seed(&self, name: &str) -> PathBuf {
        self.keys.path().join(name)
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    /// The machine of a worker, by its number from 1.
    pub(super) fn machine(&self, number: usize) -> &Env {
        &self.machines[number - 1]
    }

    /// The command of a fleet.
    pub(super) fn fleet(&self) -> Command {
        self.with_board(&["fleet"])
    }

    /// A command that begins a fleet.
    pub(super) fn with_board(&self, words: &[&str]) -> Command {
        let mut command = self.env.command(RALPH);
        command.args(words).args(["--board", &self.url(), "--seed"]).arg(self.seed("lander"));
        command.env("RALPH_TEST_SILENCE_MS", SILENCE);
        command
    }

    pub(super) fn start_fleet(&self) -> Running {
        self.start(&mut self.fleet())
    }

    pub(super) fn start(&self, command: &mut Command) -> Running {
        let running = self.env.start_command(command);
        self.await_board(&running);
        running
    }

    /// Continues the fleet that was killed or stopped.
    pub(super) fn resume(&self) -> Running {
        let mut command = self.env.command(RALPH);
        self.env.start_command(command.args(["fleet", "resume"]).env("RALPH_TEST_SILENCE_MS", SILENCE))
    }

    /// A worker can come when the streams are there.
    pub(super) fn await_board(&self, running: &Running) {
        running.await_saying("landing on main");
        poll("the board", || {
            let login = ralph_board::Login::anonymous("test".parse().expect("a name"));
            let board = ralph_board::Board::connect(&self.url().parse().expect("an address"), &login);
            board.and_then(|board| board.queue()).ok().map(drop)
        });
    }

    /// The command of a worker, with its own settings.
    pub(super) fn worker(&self, number: usize) -> Command {
        self.worker_at(number, &self.url())
    }

    /// The same, with another way to the board.
    pub(super) fn worker_at(&self, number: usize, url: &str) -> Command {
        let machine = self.machine(number);
        let settings = json!({"agent": {"command": self.agent}, "sandbox": "none", "guard": "off"});
        fs::write(machine.path(".ralph/settings.json"), settings.to_string()).expect("settings");
        let mut command = machine.command(RALPH);
        command.args(["fleet", "work", "--board", url, "--name", &format!("w{number}")]);
        command.arg("--seed").arg(self.seed(&format!("w{number}")));
        command.args(["--lander", self.key.public().as_str()]);
        command.env("FLEET_RECORD", self.env.root().join("record")).env("WHO", format!("w{number}"));
        command
    }

    pub(super) fn start_worker(&self, number: usize) -> Running {
        let running = self.machine(number).start_command(&mut self.worker(number));
        running.await_saying("takes items from");
        running
    }

    /// Waits for the end of the fleet, and looks whether every commit passes.
    #[track_caller]
    pub(super) fn finishes(&self, fleet: Running, stories: usize) {
        fleet.wait().exits(0).says("Complete: everything has landed");
        let landed = super::landed(&self.env);
        assert_eq!(landed.iter().filter(|it| it.contains(": Title of ")).count(), stories, "{landed:?}");
        super::every_commit_passes(&self.env, &self.check);
        assert!(super::no_refs_left(&self.env), "{}", self.env.git(&["for-each-ref", "refs/ralph"]));
        assert_eq!(self.env.git(&["status", "--porcelain"]), "");
    }

    /// Ends a worker as a person does; nothing of it is left.
    #[track_caller]
    pub(super) fn ends(&self, number: usize, worker: Running) -> crate::env::Output {
        worker.signal(rustix::process::Signal::TERM);
        let output = worker.wait().exits(0);
        self.machine(number).nothing_left();
        output
    }

    /// What happened to an item, each as `step who`.
    pub(super) fn log(&self, item: &str) -> Vec<String> {
        let of_item = |event: &Value| {
            (event["item"] == item).then(|| {
                format!(
                    "{} {}",
                    event["step"].as_str().unwrap_or_default(),
                    event["who"].as_str().unwrap_or_default()
                )
            })
        };
        if super::journal_path(&self.env).is_none() {
            return Vec::new();
        }
        super::journal(&self.env).iter().filter_map(of_item).collect()
    }
}

/// A story whose agent says that it began, and waits for a word.
pub(super) fn waiting(name: &str) -> String {
    format!(
        "echo $$ >\"$FLEET_RECORD.{name}.$WHO\"\nuntil test -e \"$FLEET_RECORD.{name}.go\"; do sleep 0.02; done\necho {name} >{name}.txt\n"
    )
}

/// Lets it go on.
pub(super) fn go(env: &Env, name: &str) {
    crate::env::touch(&record(env, &format!("{name}.go")));
}

pub(super) fn record(env: &Env, name: &str) -> PathBuf {
    Path::new(env.root()).join(format!("record.{name}"))
}
