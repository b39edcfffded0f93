//! A project with a loop in it, apart from everything else on the machine, and what must be true of it in the end.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Marks every process of a world.
const MARK: &str = "RALPH_FAULTS_WORLD";
/// What takes longer hangs, also on a machine that is busy.
const TIMEOUT: Duration = Duration::from_mins(2);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// A run that was hurt is continued so often.
const MAX_RESUMES: usize = 6;

/// Adds a line in each turn, and is done after the third.
const WORK: &str = "echo line >>work.txt; test $(wc -l <work.txt) -lt 3 || echo '<response>DONE</response>'";

/// One project, with a home and a record of its own.
pub(super) struct World {
    ralph: PathBuf,
    root: TempDir,
}

impl World {
    /// A repository with one commit, and an agent that works.
    pub(super) fn new(ralph: &Path) -> Result<Self> {
        let world = Self::bare(ralph)?;
        world.begin()?;
        Ok(world)
    }

    /// The folders alone; something may be mounted there before it [begins](Self::begin).
    pub(super) fn bare(ralph: &Path) -> Result<Self> {
        let root = tempfile::Builder::new().prefix("ralph-faults-").tempdir()?;
        for folder in ["home", "disk"] {
            fs_err::create_dir(root.path().join(folder))?;
        }
        Ok(Self { ralph: ralph.to_owned(), root })
    }

    pub(super) fn begin(&self) -> Result<()> {
        fs_err::create_dir_all(self.project().join(".ralph"))?;
        self.agent(WORK)?;
        let settings = format!(
            "{{\"agent\": {{\"command\": {}, \"flags\": []}}, \"retryDelay\": 0, \"guardrails\": [{{\"command\": \"test -s work.txt\"}}], \
             \"scm\": {{\"command\": \"git\", \"tasks\": [\"commit\"]}}}}",
            serde_json::to_string(&self.path("agent"))?
        );
        fs_err::write(self.project().join(".ralph/settings.json"), settings)?;
        fs_err::write(self.project().join("README.md"), "A project.\n")?;
        self.git(&["init", "--quiet"])?;
        self.git(&["config", "user.name", "A Tester"])?;
        self.git(&["config", "user.email", "tester@localhost"])?;
        self.git(&["add", "README.md"])?;
        self.git(&["commit", "--quiet", "-m", "first"]).map(|_| ())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.path("disk/project")
    }

    /// The agent is this shell script from now on; it has words for its commits.
    pub(super) fn agent(&self, script: &str) -> Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("agent");
        fs_err::write(
            &path,
            format!(
                "#!/bin/sh\ncase \"$(cat)\" in\n*'commit message'*) echo 'Add a line' ;;\n*) {script} ;;\nesac\n"
            ),
        )?;
        Ok(fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?)
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.project()).env_clear().stdin(Stdio::null());
        command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("HOME", self.path("home"));
        command.env("RALPH_STATE_DIR", self.path("disk/state")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env(MARK, self.root.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub(super) fn ralph(&self, args: &[&str]) -> Command {
        self.command(&self.ralph, args)
    }

    pub(super) fn start(&self, args: &[&str]) -> Result<Child> {
        Ok(self.ralph(args).spawn()?)
    }

    /// Runs ralph to its end, which must come.
    pub(super) fn run(&self, args: &[&str]) -> Result<i32> {
        self.ends(self.start(args)?).with_context(|| format!("ralph {}", args.join(" ")))
    }

    /// Waits for the end; one that does not come is a failure.
    pub(super) fn ends(&self, mut ralph: Child) -> Result<i32> {
        let status = poll("its end", || Ok(ralph.try_wait()?));
        if status.is_err() {
            self.end_all();
        }
        Ok(status?.code().unwrap_or(-1))
    }

    pub(super) fn git(&self, args: &[&str]) -> Result<String> {
        let output =
            self.command("git".as_ref(), args).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "git {}: {why}", args.join(" "));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The journal of the newest run.
    pub(super) fn journal(&self) -> Result<PathBuf> {
        let mut folders = vec![self.path("disk/state")];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder)?.flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    _ if entry.file_name() == "journal.jsonl" => found.push(entry.path()),
                    _ => {}
                }
            }
        }
        found.into_iter().max().context("there is no journal")
    }

    /// The events of this kind in the newest run.
    pub(super) fn events(&self, kind: &str) -> Result<Vec<Value>> {
        let text = fs_err::read(self.journal()?)?;
        let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        Ok(lines.filter(|event: &Value| event["event"] == kind).collect())
    }

    /// The processes of this world.
    pub(super) fn alive(&self) -> Vec<i32> {
        let mark = format!("{MARK}={}", self.root.path().display());
        let entries = fs_err::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_ours = |pid: &i32| {
            let variables = fs_err::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(|it| it == mark.as_bytes())
        };
        pids.filter(is_ours).collect()
    }

    pub(super) fn signal_all(&self, signal: Signal) {
        for pid in self.alive().into_iter().filter_map(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process(pid, signal);
        }
    }

    pub(super) fn end_all(&self) {
        self.signal_all(Signal::KILL);
    }

    /// Nothing of a run outlives it.
    pub(super) fn nothing_left(&self) -> Result<()> {
        poll("the end of everything", || Ok(self.alive().is_empty().then_some(())))
    }

    /// Continues the run to its end and looks at what it left: everything recorded, everything committed, once.
    pub(super) fn recovers(&self) -> Result<()> {
        self.nothing_left()?;
        // Killed before it was recorded: then nothing was done.
        let mut code = if self.events("run_started").is_ok_and(|it| !it.is_empty()) {
            -1
        } else {
            self.run(&["run", "-p", "x"])?
        };
        for _ in 0..MAX_RESUMES {
            if code == 0 || !self.events("run_ended")?.is_empty() && self.run(&["status"])? == 0 && code == 2
            {
                break;
            }
            code = self.run(&["resume"])?;
        }
        self.is_whole()
    }

    /// Whether what is recorded and what is committed fit together.
    pub(super) fn is_whole(&self) -> Result<()> {
        self.nothing_left()?;
        let end = self.events("run_ended")?.pop().context("no end is recorded")?;
        ensure!(end["outcome"] == "done", "the run ended otherwise: {end}");
        let (started, ended) = (self.events("turn_started")?.len(), self.events("turn_ended")?.len());
        ensure!(started == ended, "{started} turns began and {ended} ended");
        let made = self.events("commit_ended")?.into_iter().filter(|event| event["result"] == "made");
        let log = self.git(&["log", "--format=%h"])?;
        for commit in made {
            let id = commit["commit"].as_str().unwrap_or_default();
            ensure!(
                log.lines().filter(|it| it.starts_with(id)).count() == 1,
                "commit {id} is lost or doubled"
            );
        }
        self.git(&["fsck", "--strict", "--no-dangling"])?;
        let left = self.git(&["status", "--porcelain", "--", ":!.ralph"])?;
        ensure!(left.is_empty(), "not committed: {left}");
        let lines = fs_err::read_to_string(self.project().join("work.txt"))?.lines().count();
        ensure!((3..9).contains(&lines), "the agent worked {lines} times");
        Ok(())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// Looks again and again until there is an answer.
pub(super) fn poll<T>(what: &str, mut look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let began = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if TIMEOUT < began.elapsed() {
            bail!("waited too long for {what}");
        }
        thread::sleep(POLL_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_knows_its_own_processes() {
        let world = World::new(Path::new("/bin/sleep")).expect("a world");
        assert_eq!(world.git(&["log", "--format=%s"]).expect("a log"), "first\n");
        let mut child = world.start(&["600"]).expect("a process");
        let pid = child.id().cast_signed();
        poll("it", || Ok(world.alive().contains(&pid).then_some(()))).expect("it is alive");
        world.end_all();
        child.wait().expect("its end");
        world.nothing_left().expect("nothing is left");
        assert!(world.is_whole().is_err(), "nothing was recorded");
    }
}
