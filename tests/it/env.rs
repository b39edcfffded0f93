//! A place of its own for every test: home, state, temporary files, git configuration, project, agent.
//!
//! Every process of a test carries [`MARK`] in its environment, so that "nothing is left" can be asked of
//! the system and not of the program under test. Whatever a failed test leaves is ended with its [`Env`].

use std::{
    cell::Cell,
    ffi::OsStr,
    fs,
    fs::File,
    io::Write,
    os::unix::{
        fs::PermissionsExt,
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The program under test.
pub(crate) const RALPH: &str = env!("CARGO_BIN_EXE_ralph");
/// Marks every process of a test.
const MARK: &str = "RALPH_TEST_ROOT";
/// No call of the program takes longer.
const LONGEST: Duration = Duration::from_mins(10);
/// Nothing that is waited for takes longer, on a machine that is ten times slower and busy besides.
pub(crate) const PATIENCE: Duration = Duration::from_mins(4);
/// Limits of a run that are to end what hangs in it, one after the other until one is long enough for it to hang.
pub(crate) const SHORT_TIMES: [&str; 3] = ["3s", "12s", "48s"];
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// The agent says something.
pub(crate) fn say(text: &str) -> Value {
    json!({ "say": text })
}

/// The agent says that it is done.
pub(crate) fn done() -> Value {
    say("It works. <response>DONE</response>")
}

/// The agent runs a shell command.
pub(crate) fn shell(command: &str) -> Value {
    json!({ "shell": command })
}

/// The agent writes a file.
pub(crate) fn write(path: &str, text: &str) -> Value {
    json!({"write": {"path": path, "text": text}})
}

/// The agent says that it has come so far (the file `name`), and waits for `name.go`.
pub(crate) fn meet(name: &str) -> [Value; 2] {
    [shell(&format!("touch {name}")), json!({"await": format!("{name}.go")})]
}

/// Says that the current test cannot do its work on this machine. Not through the harness, which would hide it.
pub(crate) fn skip(why: &str) {
    let name = thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
}

/// Says that the machine lacks what the current test needs: where `CI=true` that is a failure, elsewhere the test is
/// skipped.
#[track_caller]
pub(crate) fn lacks(why: &str) {
    let is_promised = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(!is_promised, "{why}");
    skip(why);
}

/// Looks again and again until there is an answer.
#[track_caller]
pub(crate) fn poll<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited too long for {what}");
        thread::sleep(PAUSE);
    }
}

/// One test's world.
pub(crate) struct Env {
    root: tempfile::TempDir,
    project: PathBuf,
    settings: Value,
    variables: Vec<(String, String)>,
}

/// The events in the whole lines of the journal of the run in this folder, without what chains the lines.
#[track_caller]
pub(crate) fn journal_of(run: &Path) -> Vec<Value> {
    let text = fs::read(run.join("journal.jsonl")).map(|it| lossy(&it)).expect("a journal");
    let event = |line| {
        let mut event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        event.as_object_mut().and_then(|fields| fields.remove("chain"));
        event
    };
    text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(event).collect()
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Since the last signal, or since the start where there was none: so a slow start is not held against an end.
    pub(crate) took: Duration,
}

impl Output {
    /// Exits with this code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "signal {:?}\n{}{}", self.signal, self.stdout, self.stderr);
        let panicked = self.stderr.contains("panicked at");
        assert!(!panicked, "{}", self.stderr);
        self
    }

    /// Says this on standard error.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "expected {text:?} in:\n{}", self.stderr);
        self
    }

    /// Does not say this on standard error.
    #[track_caller]
    pub(crate) fn says_not(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "did not expect {text:?} in:\n{}", self.stderr);
        self
    }

    /// Does not print this on standard output.
    #[track_caller]
    pub(crate) fn prints_not(self, text: &str) -> Self {
        assert!(!self.stdout.contains(text), "did not expect {text:?} in:\n{}", self.stdout);
        self
    }

    /// Prints this on standard output.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "expected {text:?} in:\n{}", self.stdout);
        self
    }
}

impl Env {
    /// An empty project, with the scripted agent in its settings.
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new().prefix("ralph-it-").tempdir().expect("a temporary directory");
        for folder in ["home", "tmp", "bin", "project/.ralph"] {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        // Resolved, as ralph does it, so that paths can be compared.
        let project = fs::canonicalize(root.path().join("project")).expect("the project");
        let settings = json!({
            "agent": {"command": RALPH, "flags": [root.path().join("script.json")]},
            "retryDelay": 0,
        });
        let env = Self { root, project, settings, variables: Vec::new() };
        env.write_settings();
        env
    }

    /// A git repository with one commit in it.
    pub(crate) fn with_git(self) -> Self {
        let env = self.with_empty_git();
        env.write("README.md", "A project.\n");
        env.git(&["add", "README.md"]);
        env.git(&["commit", "--quiet", "-m", "first"]);
        env
    }

    /// A git repository without any commit.
    pub(crate) fn with_empty_git(self) -> Self {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["config", "user.name", "A Tester"]);
        self.git(&["config", "user.email", "tester@localhost"]);
        self
    }

    /// The turns of the scripted agent.
    pub(crate) fn turns(self, turns: Value) -> Self {
        self.script(json!({ "turns": turns }))
    }

    /// The script of the scripted agent.
    pub(crate) fn script(self, script: Value) -> Self {
        fs::write(self.script_path(), script.to_string()).expect("the script");
        self
    }

    /// Adds these settings to those that there are.
    pub(crate) fn settings(mut self, more: Value) -> Self {
        merge(&mut self.settings, more);
        self.write_settings();
        self
    }

    /// Guardrails that append their failure.
    pub(crate) fn guardrails(self, commands: &[&str]) -> Self {
        let guardrails: Vec<Value> = commands.iter().map(|command| json!({ "command": command })).collect();
        self.settings(json!({ "guardrails": guardrails }))
    }

    /// Commits by git.
    pub(crate) fn commits(self) -> Self {
        self.settings(json!({"scm": {"command": "git", "tasks": ["commit"]}}))
    }

    /// An agent that is a shell script of this name, on the path.
    pub(crate) fn agent(self, name: &str, script: &str) -> Self {
        self.program(name, script);
        self.settings(json!({"agent": {"command": name, "flags": []}}))
    }

    /// A variable of the environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// No settings, and no programs but those of this test: what the machine has must not matter.
    pub(crate) fn bare(self) -> Self {
        fs::remove_dir_all(self.path(".ralph")).expect("the settings");
        let bin = self.root.path().join("bin").display().to_string();
        self.variable("PATH", &bin)
    }

    /// One program of the machine, for a world that is bare.
    pub(crate) fn borrow(self, name: &str) -> Self {
        let path = std::env::var_os("PATH").expect("a path");
        let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|it| it.is_file());
        let link = self.root.path().join("bin").join(name);
        std::os::unix::fs::symlink(found.expect("the program"), link).expect("a link");
        self
    }

    /// The same world, seen from another folder of it.
    pub(crate) fn project_at(mut self, project: PathBuf) -> Self {
        fs::create_dir_all(project.join(".ralph")).expect("a folder");
        self.project = fs::canonicalize(project).expect("the project");
        self.write_settings();
        self
    }

    /// Another world that begins as this one is now; nothing in it may name this one's folder.
    pub(crate) fn twin(&self) -> Self {
        let mut twin = Self::new();
        (twin.settings, twin.variables) = (self.settings.clone(), self.variables.clone());
        let from = format!("{}/.", self.root.path().display());
        let copied = Command::new("cp").arg("-a").arg(from).arg(twin.root.path()).status().expect("cp");
        assert!(copied.success(), "{copied}");
        twin
    }

    /// A program on the path.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.root.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable");
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn project(&self) -> &Path {
        &self.project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    #[track_caller]
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Waits until the file is there.
    #[track_caller]
    pub(crate) fn await_file(&self, name: &str) {
        poll(name, || self.path(name).exists().then_some(()));
    }

    /// Commits everything but ralph's own folder.
    pub(crate) fn commit_all(&self) {
        self.git(&["add", "--all", "--", ":!.ralph"]);
        self.git(&["commit", "--quiet", "-m", "tests"]);
    }

    /// What `ralph status` says of the last run.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.ralph(&["status", "--json"]).exits(0).stdout).expect("JSON")
    }

    /// A command in this world, in the project.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let root = self.root.path();
        let mut command = Command::new(program);
        let path = std::env::var("PATH").expect("a path");
        command
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", format!("{}:{path}", root.join("bin").display()))
            .env("HOME", root.join("home"))
            .env("TMPDIR", root.join("tmp"))
            .env("RALPH_STATE_DIR", root.join("state"))
            // Not /dev/null: git writes a file of settings by replacing it, and as root that would be the device.
            .env("GIT_CONFIG_GLOBAL", root.join("gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(MARK, root)
            // Where cargo is a proxy, it looks for its toolchains at home. And the backend for processes that is tested.
            .envs(
                ["RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RALPH_PROCESS"]
                    .iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        hear_signals(&mut command);
        command
    }

    /// Starts ralph.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        self.start_command(self.command(RALPH).args(args))
    }

    /// Starts a command; what it prints goes into files, so that no process that is left behind holds the test.
    pub(crate) fn start_command(&self, command: &mut Command) -> Running {
        let printed = |what: &str| {
            let builder = tempfile::Builder::new().prefix(what).tempfile_in(self.root.path());
            builder.and_then(|file| Ok(file.keep()?)).expect("a file")
        };
        let ((stdout, out), (stderr, err)) = (printed("stdout-"), printed("stderr-"));
        let child = command.stdout(stdout).stderr(stderr).spawn().expect("it starts");
        Running { child, out, err, since: Cell::new(Instant::now()) }
    }

    /// Runs ralph to its end.
    #[track_caller]
    pub(crate) fn ralph(&self, args: &[&str]) -> Output {
        self.start(args).wait()
    }

    /// `ralph run -p "Do it."` with more flags.
    #[track_caller]
    pub(crate) fn run(&self, flags: &[&str]) -> Output {
        self.ralph(&[&["run", "-p", "Do it."], flags].concat())
    }

    /// Runs a shell command to its end.
    #[track_caller]
    pub(crate) fn sh(&self, command: &str) -> Output {
        self.start_command(self.command("sh").args(["-c", command])).wait()
    }

    /// Runs git and returns what it printed.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.project, args)
    }

    #[track_caller]
    pub(crate) fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.command("git").current_dir(folder).args(args).output().expect("git");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The subjects of all commits, the newest first.
    #[track_caller]
    pub(crate) fn commits_made(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// The files of the last commit.
    #[track_caller]
    pub(crate) fn committed(&self) -> Vec<String> {
        let out = self.git(&["show", "--format=", "--name-only", "--no-renames", "-z", "HEAD"]);
        out.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    pub(crate) fn script_path(&self) -> PathBuf {
        self.root.path().join("script.json")
    }

    /// The prompts that the scripted agent was given, in order, without what ralph says about the end.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let prompts = self.whole_prompts().into_iter();
        let own = |prompt: String| prompt.split("\n\n## How to finish\n").next().map(str::to_owned);
        prompts.filter_map(own).collect()
    }

    /// The same, to the last word.
    pub(crate) fn whole_prompts(&self) -> Vec<String> {
        self.received("prompt")
    }

    /// What the scripted agent was asked for text, in order.
    pub(crate) fn questions(&self) -> Vec<String> {
        self.received("text")
    }

    fn received(&self, ending: &str) -> Vec<String> {
        let folder = self.root.path().join("script.json.d");
        let file = |number: usize| folder.join(format!("{number:04}.{ending}"));
        (1..).map_while(|number| fs::read(file(number)).ok()).map(|it| lossy(&it)).collect()
    }

    /// The folders of all runs, oldest first.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let list = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
        let projects = list(self.root.path().join("state"));
        let mut runs: Vec<_> =
            projects.flat_map(|project| list(project.path().join("runs"))).map(|run| run.path()).collect();
        runs.sort();
        runs
    }

    /// The folder of the newest run.
    #[track_caller]
    pub(crate) fn newest_run(&self) -> PathBuf {
        self.runs().pop().expect("a run")
    }

    /// The id of the newest run.
    #[track_caller]
    pub(crate) fn run_id(&self) -> String {
        self.newest_run().file_name().expect("a name").to_string_lossy().into_owned()
    }

    /// The whole lines of the newest run's journal.
    #[track_caller]
    pub(crate) fn journal(&self) -> Vec<Value> {
        journal_of(&self.newest_run())
    }

    /// The events of one kind in the newest run's journal.
    #[track_caller]
    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        self.journal().into_iter().filter(|event| event["event"] == kind).collect()
    }

    /// The processes of this test that are alive, with their command lines.
    pub(crate) fn alive(&self) -> Vec<(i32, String)> {
        let mark = format!("{MARK}={}", self.root.path().display());
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| {
                let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
            })
            .map(|pid: i32| (pid, lossy(&fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default())))
            .collect()
    }

    /// Waits until no process of this test is alive.
    #[track_caller]
    pub(crate) fn nothing_left(&self) {
        let started = Instant::now();
        loop {
            let alive = self.alive();
            if alive.is_empty() {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "still alive: {alive:?}");
            thread::sleep(PAUSE);
        }
    }

    fn write_settings(&self) {
        fs::write(self.path(".ralph/settings.json"), format!("{:#}\n", self.settings)).expect("the settings");
    }
}

impl Drop for Env {
    fn drop(&mut self) {
        for (pid, _) in self.alive() {
            kill(pid, Signal::KILL);
        }
    }
}

/// A program that runs.
pub(crate) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
    since: Cell<Instant>,
}

impl Running {
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.since.set(Instant::now());
        kill(self.pid(), signal);
    }

    /// What it has printed on standard output so far.
    pub(crate) fn printed(&self) -> String {
        fs::read(&self.out).map(|it| lossy(&it)).unwrap_or_default()
    }

    /// What it has said on standard error so far.
    pub(crate) fn said(&self) -> String {
        fs::read(&self.err).map(|it| lossy(&it)).unwrap_or_default()
    }

    /// Waits until it has said this on standard error.
    #[track_caller]
    pub(crate) fn await_saying(&self, text: &str) {
        poll(text, || fs::read(&self.err).is_ok_and(|said| lossy(&said).contains(text)).then_some(()));
    }

    /// Waits until it has printed this on standard output.
    #[track_caller]
    pub(crate) fn await_printing(&self, text: &str) {
        poll(text, || fs::read(&self.out).is_ok_and(|said| lossy(&said).contains(text)).then_some(()));
    }

    /// Waits for its end; ends it and fails when that takes too long.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Output {
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return self.output(status);
            }
            if LONGEST < self.since.get().elapsed() {
                let _ = self.child.kill();
                let status = self.child.wait().expect("a child");
                panic!("did not end by itself: {:?}", self.output(status));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends it as the system would, without a chance to clean up.
    #[track_caller]
    pub(crate) fn kill_9(mut self) {
        self.child.kill().expect("it is alive");
        let status = self.child.wait().expect("a child");
        assert_eq!(status.signal(), Some(9), "it ended before it was killed");
    }

    fn output(&self, status: ExitStatus) -> Output {
        let read = |path: &Path| fs::read(path).map(|it| lossy(&it)).expect("what it printed");
        Output {
            code: status.code(),
            signal: status.signal(),
            stdout: read(&self.out),
            stderr: read(&self.err),
            took: self.since.get().elapsed(),
        }
    }
}

/// Has a program hear the signals that this one was started to ignore, as with `nohup`: what is tested is how ralph
/// behaves, not who started the tests.
fn hear_signals(command: &mut Command) {
    // To do something between fork and exec is to copy what this process has mapped, for every program of a thousand tests.
    static IS_DEAF: LazyLock<bool> = LazyLock::new(ignores_signals);
    if !*IS_DEAF {
        return;
    }
    // SAFETY: between fork and exec; signal(2) is safe there and touches no memory.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// Whether this process was started to ignore signals, as far as the system tells.
fn ignores_signals() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let heard = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
    ignored.is_none_or(|ignored| heard.iter().any(|signal| ignored >> (signal - 1) & 1 == 1))
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    let pid = Pid::from_raw(pid).expect("a number above zero");
    // It may have ended meanwhile.
    let _ = kill_process(pid, signal);
}

/// The number in a file, when it is whole.
pub(crate) fn pid_in(path: &Path) -> Option<i32> {
    fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'))?.trim().parse().ok()
}

/// Adds an empty file.
pub(crate) fn touch(path: &Path) {
    File::create(path).expect("a file");
}

pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn merge(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more,
    }
}
