//! A fleet, its board and its workers, each with a home of its own, on this machine.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail, ensure};
use loopback_board::Server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{
    bench::{judge::furnish, place::Place},
    cargo,
    debian::Missing,
    python::NATS,
};

/// What servers are to do before they confirm.
pub(super) const STREAMS: &str = ", sync_interval: always";
/// Something is wrong when nothing happens for so long.
const PATIENCE: Duration = Duration::from_mins(2);
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// As many files as a small project has.
const FILES: usize = 100;

/// The programs that are not ralph.
pub(super) struct Tools {
    pub(super) nats: PathBuf,
    /// Does things to a board, built as ralph is.
    pub(super) crowd: PathBuf,
}

impl Tools {
    pub(super) fn find() -> Result<Self> {
        let crowd = cargo::dist_with(&["--package", "loopback-board", "--features", "workers"])?;
        Ok(Self { nats: NATS.find(Missing::Name)?, crowd })
    }
}

/// A server on loopback.
pub(super) fn server(tools: &Tools) -> Result<Server> {
    Ok(Server::with_streams(&tools.nats, Ipv4Addr::LOCALHOST.into(), STREAMS, "")?)
}

/// Makes the streams of a board. A cluster has elected no leader yet when its servers listen.
pub(super) fn set_up(tools: &Tools, url: &str, silence: Duration, replicas: usize) -> Result<()> {
    let silence = silence.as_millis().to_string();
    until("the streams", || {
        let mut crowd = Command::new(&tools.crowd);
        crowd.args(["set-up", url, &silence, &replicas.to_string()]).stderr(Stdio::null());
        crowd.status().is_ok_and(|status| status.success()).then_some(())
    })
}

/// A process that ends with this.
pub(super) struct Process(Child);

impl Process {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        Ok(Self(command.spawn().with_context(|| format!("cannot start {command:?}"))?))
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.0), signal)?)
    }

    /// Ends it as the system would.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    pub(super) fn ends_with(&mut self, code: i32) -> Result<()> {
        let status = until("a process to end", || self.0.try_wait().transpose())??;
        ensure!(status.code() == Some(code), "it ended with {status}, not with code {code}");
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An entry of a log, or what a crowd tells.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Seconds since 1970.
    pub(super) at: f64,
    pub(super) step: String,
    pub(super) who: String,
    pub(super) item: String,
}

/// What was told so far.
pub(super) fn entries(path: &Path) -> Vec<Entry> {
    let text = fs_err::read_to_string(path).unwrap_or_default();
    let entry = |line: &str| {
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        let (at, step, item) = (words.first()?.parse().ok()?, words.get(1)?, words.last()?);
        let who = if words.len() == 4 { words[2] } else { "" };
        Some(Entry { at, step: (*step).to_owned(), who: who.to_owned(), item: (*item).to_owned() })
    };
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).filter_map(entry).collect()
}

/// A fleet and its board. Its workers have homes of their own.
pub(super) struct Field<'a> {
    place: &'a Place,
    tools: &'a Tools,
    pub(super) server: Server,
    lander: String,
}

impl<'a> Field<'a> {
    /// A small project, and a board where workers are dead after this silence.
    pub(super) fn new(place: &'a Place, tools: &'a Tools, server: Server, silence: Duration) -> Result<Self> {
        place.renew()?;
        furnish(place, FILES)?;
        set_up(tools, &server.url(), silence, 1)?;
        let mut field = Self { place, tools, server, lander: String::new() };
        field.lander = field.key("lander")?;
        Ok(field)
    }

    /// Makes a key; returns its public half.
    fn key(&self, name: &str) -> Result<String> {
        let made = Command::new(&self.tools.crowd).arg("key").arg(self.seed(name)).output()?;
        ensure!(made.status.success(), "no key: {}", String::from_utf8_lossy(&made.stderr));
        Ok(String::from_utf8(made.stdout)?.trim().to_owned())
    }

    fn seed(&self, name: &str) -> PathBuf {
        self.place.current(&format!("{name}.seed"))
    }

    /// An agent that does this for each item.
    pub(super) fn agent(&self, work: &str) -> Result<PathBuf> {
        let path = self.place.current("agent");
        let script = format!(
            "#!/bin/sh\ncase \"$(cat)\" in *'commit message'*) echo More; exit ;; esac\n{work}\n\
             echo '<response>DONE</response>'\n"
        );
        fs_err::write(&path, script)?;
        let status = Command::new("chmod").arg("+x").arg(&path).status()?;
        ensure!(status.success(), "chmod: {status}");
        Ok(path)
    }

    /// A fleet of so many prompts, and a guardrail that does nothing.
    pub(super) fn start_fleet(&self, agent: &Path, items: usize) -> Result<Process> {
        let mut fleet = self.place.ralph()?;
        fleet.args(["fleet", "run", "--sandbox", "none", "--no-baseline", "--guardrail", "true", "--agent"]);
        fleet.arg(agent).args(["--board", &self.server.url(), "--seed"]).arg(self.seed("lander"));
        for number in 0..items {
            let prompt = self.place.current(&format!("task-{number}.md"));
            fs_err::write(&prompt, "More.\n")?;
            fleet.arg(prompt);
        }
        Process::start(&mut fleet)
    }

    /// Continues the fleet.
    pub(super) fn resume(&self) -> Result<Process> {
        Process::start(self.place.ralph()?.args(["fleet", "resume"]))
    }

    /// A worker with a home of its own.
    pub(super) fn start_worker(&self, number: u32, agent: &Path, url: &str, lanes: u32) -> Result<Process> {
        let name = format!("w{number}");
        let home = self.place.current(&name);
        fs_err::create_dir_all(home.join("project/.ralph"))?;
        let settings = json!({"agent": {"command": agent}, "sandbox": "none", "guard": "off"});
        fs_err::write(home.join("project/.ralph/settings.json"), settings.to_string())?;
        self.key(&name)?;
        let mut worker = self.place.ralph()?;
        worker.args(["fleet", "work", "--board", url, "--name", &name, "--lanes", &lanes.to_string()]);
        worker.arg("--seed").arg(self.seed(&name)).args(["--lander", &self.lander]);
        worker
            .current_dir(home.join("project"))
            .env("HOME", &home)
            .env("RALPH_STATE_DIR", home.join("state"));
        worker.env("RALPH_BENCH", self.mark("agent")).env("WHO", &name);
        let said = home.join("said");
        worker.stdout(Stdio::null()).stderr(Stdio::from(fs_err::File::create(&said)?.into_file()));
        let worker = Process::start(&mut worker)?;
        until("a worker", || {
            fs_err::read_to_string(&said).ok().filter(|said| said.contains("takes items from"))
        })?;
        Ok(worker)
    }

    /// A file that agents and measurements tell each other something by.
    pub(super) fn mark(&self, name: &str) -> PathBuf {
        self.place.current(name)
    }

    /// An agent that waits for a word, and its file of it.
    pub(super) fn waiting_agent(&self) -> Result<PathBuf> {
        self.agent(
            "echo $$ >$RALPH_BENCH.$WHO\nuntil test -e $RALPH_BENCH.go; do sleep 0.01; done\n\
             date +%N >>folder-0/file-0",
        )
    }

    pub(super) fn let_agents_go(&self) -> Result<()> {
        Ok(fs_err::write(self.mark("agent.go"), "")?)
    }

    /// The process of the agent of a worker.
    pub(super) fn agent_of(&self, worker: &str) -> Result<Pid> {
        until("an agent", || {
            let text = fs_err::read_to_string(self.mark(&format!("agent.{worker}"))).ok()?;
            text.strip_suffix('\n')?.parse().ok().and_then(Pid::from_raw)
        })
    }

    /// The commit of the branch.
    pub(super) fn tip(&self) -> Result<String> {
        let git = self.place.current("project/.git");
        let head = fs_err::read_to_string(git.join("HEAD"))?;
        let branch = head.trim().strip_prefix("ref: ").context("no branch")?;
        Ok(fs_err::read_to_string(git.join(branch))?)
    }

    /// Begins to look at the logs of the fleet.
    pub(super) fn watch(&self) -> Result<Watch> {
        let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let fleet = until("a fleet", || {
            let projects = list(self.place.current("state"));
            let mut fleets = projects.flat_map(|project| list(project.path().join("fleets")));
            fleets.next().map(|fleet| fleet.file_name().to_string_lossy().into_owned())
        })?;
        let path = self.place.current("watched");
        let mut crowd = Command::new(&self.tools.crowd);
        crowd.args(["watch", &self.server.url(), &fleet]);
        crowd.stdout(Stdio::from(fs_err::File::create(&path)?.into_file()));
        Ok(Watch { _process: Process::start(&mut crowd)?, path })
    }
}

/// The logs of a fleet, and when their entries came.
pub(super) struct Watch {
    _process: Process,
    path: PathBuf,
}

impl Watch {
    /// Waits until the entries say it.
    pub(super) fn until<T>(&self, what: &str, mut look: impl FnMut(&[Entry]) -> Option<T>) -> Result<T> {
        until(what, || look(&entries(&self.path)))
    }

    /// When this step of this author came.
    pub(super) fn step(&self, step: &str, who: &str) -> Result<f64> {
        self.until(&format!("{step} {who}"), |all| {
            all.iter().find(|entry| entry.step == step && entry.who == who).map(|entry| entry.at)
        })
    }
}

/// Seconds since 1970.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Looks again and again until there is an answer.
pub(super) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T> {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if PATIENCE < started.elapsed() {
            bail!("waited too long for {what}");
        }
        thread::sleep(LOOK_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_entries() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs_err::write(file.path(), "1.5 claimed w1 A\n2.25 landed i7\nnothing\n3.0 done w").expect("written");
        let all = entries(file.path());
        let words = |entry: &Entry| format!("{} {} {} {}", entry.at, entry.step, entry.who, entry.item);
        assert_eq!(all.iter().map(words).collect::<Vec<_>>(), ["1.5 claimed w1 A", "2.25 landed  i7"]);
    }
}
