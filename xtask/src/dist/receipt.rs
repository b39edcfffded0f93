//! The receipt that comes with a release: of the files that the packages were made of, or none.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::say;

/// Fails when ralph says that the receipt is none, or none of what is checked out in this repository.
pub(super) fn ensure_holds(program: &Path, receipt: &Path, repository: &Path) -> Result<()> {
    let receipt = fs_err::canonicalize(receipt)?;
    let mut verify = Command::new(program);
    verify.arg("verify").arg(&receipt).current_dir(repository).stdin(Stdio::null());
    let output = verify.output().with_context(|| format!("cannot start {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => {}
        // Who may sign is for those to say who check it.
        Some(2) => say("whether the receipt holds cannot be told from here: it is taken as it is\n"),
        _ => bail!("the receipt {} does not hold:\n{text}", receipt.display()),
    }
    Ok(())
}
