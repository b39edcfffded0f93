//! Builds the smallest programs that do the same, to compare with.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// The name of a program and its two sources.
pub(super) struct Floor {
    name: &'static str,
    c: &'static str,
    rust: &'static str,
}

/// Returns 0.
pub(super) const NOOP: Floor = Floor {
    name: "noop",
    c: include_str!("../../floors/noop.c"),
    rust: include_str!("../../floors/noop.rs"),
};
/// Prints one line.
pub(super) const AGENT: Floor = Floor {
    name: "agent",
    c: include_str!("../../floors/agent.c"),
    rust: include_str!("../../floors/agent.rs"),
};
/// Prints a prepared stream. Its name has ralph read the stream as that of Claude Code.
pub(super) const REPLAY: Floor = Floor {
    name: "claude",
    c: include_str!("../../floors/replay.c"),
    rust: include_str!("../../floors/replay.rs"),
};

impl Floor {
    /// Builds the static program into `folder`: from C, or from Rust where there is no C compiler.
    pub(super) fn build(&self, folder: &Path) -> Result<PathBuf> {
        let program = folder.join(self.name);
        let mut compiler = if which::which("cc").is_ok() {
            let source = folder.join(format!("{}.c", self.name));
            fs_err::write(&source, self.c)?;
            let mut cc = Command::new("cc");
            cc.args(["-O2", "-static"]).arg(source);
            cc
        } else {
            let source = folder.join(format!("{}.rs", self.name));
            fs_err::write(&source, self.rust)?;
            let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
            rustc.args(["-O", "-C", "target-feature=+crt-static"]).arg(source);
            rustc
        };
        let status = compiler.arg("-o").arg(&program).status().context("cannot start the compiler")?;
        ensure!(status.success(), "cannot build {}: {status}", program.display());
        Ok(program)
    }
}
