//! A place of its own for every case: home, temporary files, state, project, model server, one real agent.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use scripted_model::{Script, Server, Step};
use serde_json::{Value, json};

use crate::agents::Agent;
use crate::installed::Program;
use crate::outcome::Outcome;
use crate::processes;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// What a case is given: an agent, and folders for a world that has no model yet.
pub(crate) struct Ground {
    pub(crate) agent: Agent,
    program: Program,
    root: tempfile::TempDir,
    path: PathBuf,
}

impl Ground {
    pub(crate) fn new(agent: Agent, program: Program) -> Self {
        let root = tempfile::Builder::new().prefix("ralph-conformance-").tempdir().expect("a folder");
        let path = root.path().canonicalize().expect("its real path");
        for dir in ["home", "tmp", "state", "project/.ralph"] {
            fs::create_dir_all(path.join(dir)).expect("folders");
        }
        Self { agent, program, root, path }
    }

    /// Another place for the same agent.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.agent.clone(), self.program.clone())
    }

    /// The project that the agent will work on.
    pub(crate) fn project(&self) -> PathBuf {
        self.path.join("project")
    }

    /// Furnishes the place with a model that follows this script.
    pub(crate) fn with(self, script: Script) -> World {
        let server = Server::start(script).expect("a model server");
        let settings = (self.agent.settings)(&server.url());
        let Self { agent, program, root, path } = self;
        (agent.furnish)(&path.join("home"), &server.url());
        let mut world = World { root, path, server, agent, program, settings: json!({}) };
        world.set("agent", settings);
        let command = world.program.file.to_string_lossy().into_owned();
        world.settings["agent"]["command"] = json!(command);
        world.settings["agent"]["permissions"] = json!("skip");
        world.set("maximumIterations", json!(3));
        world.set("retries", json!(1));
        world.set("retryDelay", json!("20ms"));
        world.set("limits", json!({"iterationTimeout": "50s"}));
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.git(&["commit", "--quiet", "--allow-empty", "-m", "Start"]);
        world
    }

    /// Furnishes the place with a model that says these steps.
    pub(crate) fn steps(self, steps: impl IntoIterator<Item = Step>) -> World {
        self.with(Script::new(steps))
    }
}

/// One case's world.
pub(crate) struct World {
    /// Removed at the end.
    root: tempfile::TempDir,
    path: PathBuf,
    pub(crate) server: Server,
    pub(crate) agent: Agent,
    program: Program,
    settings: Value,
}

impl World {
    /// The project that the agent works on.
    pub(crate) fn project(&self) -> PathBuf {
        self.path.join("project")
    }

    /// Sets a key of the settings.
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.settings[key] = value;
    }

    /// Gives a second agent a name, beside `main`, on the same model. Whether it is installed; says so if not.
    pub(crate) fn seat(&mut self, name: &str, agent: &Agent) -> bool {
        let Some(program) = Program::find(agent.name) else {
            let _ = writeln!(std::io::stderr(), "skipped: {} is not installed", agent.name);
            assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "{} is not installed", agent.name);
            return false;
        };
        (agent.furnish)(&self.path.join("home"), &self.server.url());
        let mut settings = (agent.settings)(&self.server.url());
        settings["command"] = json!(program.file.to_string_lossy());
        settings["permissions"] = json!("skip");
        self.set("agents", json!({ name: settings }));
        true
    }

    /// Sets a key of the settings that only the user may set.
    pub(crate) fn set_own(&self, key: &str, value: &Value) {
        let path = self.project().join(".ralph/settings.local.json");
        fs::write(path, json!({key: value}).to_string()).expect("settings");
    }

    /// Has the agent work in a sandbox from which it can reach its model.
    pub(crate) fn contain(&self) {
        let port: u16 =
            self.server.url().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        self.set_own("sandbox", &json!({"level": "embedded", "loopbackPorts": [port]}));
    }

    /// Sets a variable of the agent's environment; nothing takes it away.
    pub(crate) fn set_variable(&mut self, name: &str, value: Option<&str>) {
        let variables = self.settings["agent"]["env"].as_object_mut().expect("agents have variables");
        match value {
            Some(value) => variables.insert(name.to_owned(), json!(value)),
            None => variables.remove(name),
        };
    }

    /// Runs ralph to its end.
    pub(crate) fn run(&self, prompt: &str) -> Outcome {
        self.start(prompt).end()
    }

    /// Adds flags of the agent's.
    pub(crate) fn add_flags(&mut self, flags: &[&str]) {
        let all = self.settings["agent"]["flags"].as_array_mut().expect("agents have flags");
        all.extend(flags.iter().map(|flag| json!(flag)));
    }

    /// Runs the agent itself, without ralph around it, with these arguments and this prompt.
    pub(crate) fn agent(&self, args: &[&str], prompt: &str) -> String {
        let input = self.path.join("prompt.txt");
        fs::write(&input, prompt).expect("a prompt");
        let mut command = self.agent_command(args);
        let output = command.stdin(File::open(input).expect("a prompt")).output().expect("the agent");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{}\n{}", said(&output.stdout), said(&output.stderr));
        said(&output.stdout)
    }

    /// A call of the agent itself, with ralph on its path.
    pub(crate) fn agent_command(&self, args: &[&str]) -> Command {
        let ralph = Path::new(env!("CARGO_BIN_EXE_ralph")).parent().expect("a folder");
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(ralph.to_owned()).chain(std::env::split_paths(&usual));
        let variables = self.settings["agent"]["env"].as_object().expect("agents have variables");
        let flags = self.settings["agent"]["flags"].as_array().expect("agents have flags");
        let flags =
            flags.iter().filter_map(Value::as_str).flat_map(|flag| shell_words::split(flag).expect("words"));
        let mut command = self.command(&self.program.file);
        command
            .args(args)
            .args(flags)
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .envs(variables.iter().map(|(name, value)| (name, value.as_str().expect("a text"))));
        command
    }

    /// Calls ralph and returns what it prints. The agent is on its path.
    pub(crate) fn ralph(&self, args: &[&str]) -> String {
        let bin = self.path.join("bin");
        if !bin.exists() {
            fs::create_dir(&bin).expect("a folder");
            std::os::unix::fs::symlink(&self.program.file, bin.join(self.agent.name)).expect("a link");
        }
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(bin).chain(std::env::split_paths(&usual));
        let mut command = self.command(env!("CARGO_BIN_EXE_ralph"));
        let command = command.args(args).env("PATH", std::env::join_paths(path).expect("a path"));
        let output = command.stdin(Stdio::null()).output().expect("ralph");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "ralph {args:?}: {}{}", said(&output.stdout), said(&output.stderr));
        said(&output.stdout)
    }

    /// Starts ralph.
    pub(crate) fn start(&self, prompt: &str) -> Running<'_> {
        let task = self.path.join("task.md");
        fs::write(&task, prompt).expect("a prompt");
        self.start_loop(&["run", "--prompt-file", &task.to_string_lossy()])
    }

    /// Writes the settings as they are set.
    pub(crate) fn write_settings(&self) {
        let path = self.project().join(".ralph/settings.json");
        fs::write(path, self.settings.to_string()).expect("settings");
    }

    /// Starts one of ralph's loops.
    pub(crate) fn start_loop(&self, args: &[&str]) -> Running<'_> {
        self.write_settings();
        let file = |name: &str| File::create(self.path.join(name)).expect("a file");
        let child = self
            .command(env!("CARGO_BIN_EXE_ralph"))
            .args(args)
            .args(["--output", "json", "--color", "never"])
            .stdin(Stdio::null())
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .spawn()
            .expect("ralph");
        Running { world: self, child }
    }

    /// Calls git in the project and returns what it prints.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command("git").args(args).output().expect("git");
        assert!(status.success(), "git {args:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).expect("text").trim().to_owned()
    }

    /// Runs a script of the shell in the project.
    pub(crate) fn sh(&self, script: &str) {
        let output = self.command("sh").args(["-c", script]).output().expect("a shell");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Whether one of the test's processes has this in its command line.
    pub(crate) fn runs(&self, command: &str) -> bool {
        processes::of(&self.path).iter().any(|process| process.command.contains(command))
    }

    /// Waits for something to become true.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, is_so: impl FnMut(&Self) -> bool) {
        let stderr = || fs::read_to_string(self.path.join("stderr")).unwrap_or_default();
        self.wait_for_or(&|| format!("{what}\n{}", stderr()), is_so);
    }

    /// Waits for something to become true; says this if it does not.
    #[track_caller]
    pub(crate) fn wait_for_or(&self, what: &dyn Fn() -> String, mut is_so: impl FnMut(&Self) -> bool) {
        let deadline = Instant::now() + self.agent.patience;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "waited too long for {}", what());
            thread::sleep(PAUSE);
        }
    }

    /// Where ralph keeps what it knows.
    pub(crate) fn state(&self) -> PathBuf {
        self.path.join("state")
    }

    /// The folder that the agent takes for its user's.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Checks that no process of the test is left.
    #[track_caller]
    pub(crate) fn expect_nothing_left(&self) {
        let left = processes::left(&self.path);
        assert!(left.is_empty(), "left behind: {left:#?}");
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = self.program.path.iter().cloned().chain(std::env::split_paths(&usual));
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .current_dir(self.project())
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .env("HOME", self.path.join("home"))
            .env("TMPDIR", self.path.join("tmp"))
            .env("RALPH_STATE_DIR", self.path.join("state"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "Tester")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "tester@example.com")))
            // A request that tries to leave loopback must fail at once.
            .envs(["HTTPS_PROXY", "https_proxy"].map(|name| (name, "http://127.0.0.1:9")))
            .envs(["NO_PROXY", "no_proxy"].map(|name| (name, "127.0.0.1")));
        command
    }
}

impl Drop for World {
    fn drop(&mut self) {
        processes::end(&self.path);
        if std::thread::panicking() && std::env::var_os("RALPH_TEST_KEEP").is_some() {
            self.root.disable_cleanup(true);
        }
    }
}

/// Whether this machine can make the embedded sandbox; says so if not.
pub(crate) fn can_contain() -> bool {
    let mut ralph = Command::new(env!("CARGO_BIN_EXE_ralph"));
    let checked = ralph.args(["sandbox", "check", "--json"]).output().expect("ralph");
    let found: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
    let works = found["levels"][0]["works"] == true;
    if !works {
        let why = &found["levels"][0]["obstacle"];
        let _ = writeln!(std::io::stderr(), "skipped: the embedded sandbox does not work here: {why}");
    }
    works
}

/// A ralph on its way.
pub(crate) struct Running<'a> {
    world: &'a World,
    child: Child,
}

impl Running<'_> {
    /// Sends ralph a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("ralph runs");
    }

    /// Whether ralph has recorded such an event.
    pub(crate) fn has_recorded(&self, kind: &str) -> bool {
        self.events().iter().any(|event| event["event"] == kind)
    }

    /// Waits for the end, and checks that nothing is left. No run takes longer than the agent's patience.
    #[track_caller]
    pub(crate) fn end(mut self) -> Outcome {
        let deadline = Instant::now() + self.world.agent.patience;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("ralph can be waited for") {
                break Some(status);
            }
            if Instant::now() > deadline {
                self.signal(Signal::KILL);
                let _ = self.child.wait();
                break None;
            }
            thread::sleep(PAUSE);
        };
        let outcome = self.outcome(status.and_then(|status| status.code()));
        assert!(status.is_some(), "ralph took too long\n{outcome}");
        self.world.expect_nothing_left();
        outcome
    }

    fn outcome(&self, code: Option<i32>) -> Outcome {
        let stderr = fs::read(self.world.path.join("stderr")).unwrap_or_default();
        Outcome { code, events: self.events(), stderr: String::from_utf8_lossy(&stderr).into_owned() }
    }

    fn events(&self) -> Vec<Value> {
        let lines = fs::read_to_string(self.world.path.join("stdout")).unwrap_or_default();
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}
