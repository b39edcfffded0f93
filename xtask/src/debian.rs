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
/// Makes one kind of sandbox; the others that are tested need only the kernel.
const BWRAP: Needed =
    Needed { program: "bwrap", package: "bubblewrap", purpose: "makes one kind of sandbox" };
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

/// Has the browser ready that looks at the report.
pub(crate) fn prepare_browser() -> Result<()> {
    prepare(&BROWSER, "the report is not looked at")
}

/// Has ready what the sandboxes need that are tested.
pub(crate) fn prepare_sandboxes() -> Result<()> {
    prepare(&BWRAP, "bwrap stays untested")
}

/// Has ready what tests look for. Without it they are skipped by name, but not where `CI=true`.
fn prepare(needed: &Needed, otherwise: &str) -> Result<()> {
    match needed.find() {
        Ok(path) => say(&format!("{}\n", path.display())),
        Err(error) if env::var("CI").is_ok_and(|ci| ci == "true") => bail!(error),
        Err(error) => say(&format!("{otherwise}: {error:#}\n")),
    }
    Ok(())
}
