//! Builds the tarball in two folders: a release can be made again, by anyone, to the last byte.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::{
    Package,
    contents::Contents,
    sha256,
    target::{self, HOST},
};
use crate::{
    cargo::{dist_in, root, version},
    say,
};

/// Fails when one byte differs.
pub(super) fn compare() -> Result<()> {
    let scratch = tempfile::Builder::new().prefix("ralph-twice-").tempdir()?;
    let folders = ["one", "somewhere/else"].map(|name| scratch.path().join(name));
    let mut tarballs = Vec::new();
    for folder in &folders {
        tarballs.push(built_in(folder)?);
        // The second one needs the space.
        fs_err::remove_dir_all(folder.join("target"))?;
    }
    let [one, other] = &tarballs[..] else { bail!("two folders make two tarballs") };
    say(&format!("{}  {}\n{}  {}\n", sha256(&one.bytes), one.name, sha256(&other.bytes), other.name));
    let first = one.bytes.iter().zip(&other.bytes).position(|(one, other)| one != other);
    ensure!(one.bytes == other.bytes, "the tarballs differ, first at byte {first:?}");
    say("both tarballs are the same\n");
    Ok(())
}

/// The tarball of what is committed, built in this folder.
fn built_in(folder: &Path) -> Result<Package> {
    let mut clone = std::process::Command::new("git");
    clone.args(["clone", "--quiet", "--local"]).arg(root()).arg(folder);
    ensure!(clone.status().context("cannot start git")?.success(), "the repository cannot be cloned");
    fs_err::create_dir_all(folder.join("target"))?;
    let program: PathBuf = dist_in(folder)?;
    Contents::gather(&version()?, target::find(HOST)?, &program, &program, None)?.tarball()
}
