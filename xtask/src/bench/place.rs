//! Where the measurements run: a throw-away folder with a home, a project and a record of their own.

use std::{
    cell::Cell,
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Result;
use fs_err::File;
use tempfile::TempDir;

use super::{
    clock::{self, Sample},
    floors::{AGENT, NOOP, REPLAY},
};

/// The programs to measure and the folder to measure them in.
pub(crate) struct Place {
    ralph: PathBuf,
    pub(crate) noop: PathBuf,
    pub(crate) agent: PathBuf,
    pub(crate) replay: PathBuf,
    folder: TempDir,
    /// The number of the current run.
    run: Cell<u32>,
}

impl Place {
    /// Makes the folder and builds the floors.
    pub(crate) fn new(ralph: PathBuf) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("ralph-bench-").tempdir()?;
        let programs = folder.path().join("bin");
        fs_err::create_dir(&programs)?;
        fs_err::create_dir(folder.path().join("home"))?;
        let place = Self {
            ralph,
            noop: NOOP.build(&programs)?,
            agent: AGENT.build(&programs)?,
            replay: REPLAY.build(&programs)?,
            folder,
            run: Cell::new(0),
        };
        place.renew()?;
        Ok(place)
    }

    /// A path that all runs share.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path of the current run: `project`, `state`, `stdout` or `stderr`.
    pub(crate) fn current(&self, name: &str) -> PathBuf {
        self.path(&format!("run-{}", self.run.get())).join(name)
    }

    /// Begins a run with an empty project and no record. Earlier ones stay until the end: ext4 is slow to
    /// create files for some seconds after many were deleted.
    pub(crate) fn renew(&self) -> Result<()> {
        self.run.set(self.run.get() + 1);
        fs_err::create_dir(self.current(""))?;
        fs_err::create_dir(self.current("project"))?;
        Ok(fs_err::create_dir(self.current("state"))?)
    }

    /// Removes what the current run left, if it is large.
    pub(crate) fn discard(&self) -> Result<()> {
        Ok(fs_err::remove_dir_all(self.current("state"))?)
    }

    /// A program in the project with nothing of the caller's environment but the path. It prints into the
    /// files `stdout` and `stderr` of the run.
    pub(crate) fn command(&self, program: &Path) -> Result<Command> {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("RALPH_STATE_DIR", self.current("state"));
        command.current_dir(self.current("project")).stdin(Stdio::null());
        command.stdout(File::create(self.current("stdout"))?.into_file());
        command.stderr(File::create(self.current("stderr"))?.into_file());
        Ok(command)
    }

    /// The program that is measured.
    pub(crate) fn program(&self) -> &Path {
        &self.ralph
    }

    /// A ralph in the project.
    pub(crate) fn ralph(&self) -> Result<Command> {
        self.command(&self.ralph)
    }

    /// A whole `ralph run` in an empty project, which ends at its limit of iterations.
    pub(crate) fn run(&self, agent: &Path, iterations: u32, args: &[&str]) -> Result<Sample> {
        self.renew()?;
        let mut ralph = self.ralph()?;
        ralph.args(["run", "-p", "x", "--max-iterations", &iterations.to_string(), "--agent"]).arg(agent);
        clock::run(ralph.args(args), 1)
    }

    /// A script of bash, with the agent as `$0`.
    pub(crate) fn bash(&self, script: &str, program: &Path) -> Result<Sample> {
        let mut bash = self.command(Path::new("bash"))?;
        clock::run(bash.arg("-c").arg(script).arg(program), 0)
    }
}
