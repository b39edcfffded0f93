//! Programs that some checks need and that come from the packages of Debian.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::say;

/// A program and the package that has it.
pub(crate) struct Needed {
    program: &'static str,
    package: &'static str,
    /// What it does.
    purpose: &'static str,
}

/// Looks at the report.
pub(crate) const BROWSER: Needed =
    Needed { program: "chromium", package: "chromium", purpose: "looks at the report" };
/// Counts instructions.
pub(crate) const VALGRIND: Needed =
    Needed { program: "valgrind", package: "valgrind", purpose: "counts instructions" };

impl Needed {
    /// Where it is. Installed first where that can be done: by root, where there is apt-get.
    pub(crate) fn find(&self) -> Result<PathBuf> {
        if let Ok(path) = which::which(self.program) {
            return Ok(path);
        }
        let Self { program, package, purpose } = self;
        self.install().with_context(|| {
            format!("there is no `{program}`, which {purpose}; as root: `apt-get install {package}`")
        })?;
        Ok(which::which(program)?)
    }

    fn install(&self) -> Result<()> {
        ensure!(rustix::process::geteuid().is_root(), "only root can install it");
        for args in [&["update"][..], &["install", "--yes", "--no-install-recommends", self.package]] {
            let mut apt = Command::new("apt-get");
            apt.args(args).env("DEBIAN_FRONTEND", "noninteractive");
            apt.stdin(Stdio::null()).stdout(Stdio::null());
            let status = apt.status().context("cannot start `apt-get`")?;
            ensure!(status.success(), "`apt-get {}` ended with {status}", args.join(" "));
        }
        Ok(())
    }
}

/// Has ready what the tests look for. Without it they are skipped by name, but not where `CI=true`.
pub(crate) fn prepare() -> Result<()> {
    match BROWSER.find() {
        Ok(path) => say(&format!("{}\n", path.display())),
        Err(error) if env::var("CI").is_ok_and(|ci| ci == "true") => bail!(error),
        Err(error) => say(&format!("the report is not looked at: {error:#}\n")),
    }
    Ok(())
}
