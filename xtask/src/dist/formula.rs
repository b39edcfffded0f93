//! The Homebrew formula, with the digests of the tarballs that it fetches.

use anyhow::{Result, ensure};

use super::{Package, sha256, target::TARGETS};
use crate::cargo::REPOSITORY;

/// What it says; `{sha256:TRIPLE}` and the rest is filled in.
const FORMULA: &str = include_str!("../../../packaging/homebrew/ralph-loop.rb");

/// The formula. A tarball that was not made has no digest: such a formula fails on that machine, and says so.
pub(super) fn make(version: &str, packages: &[Package]) -> Result<Package> {
    let mut formula = FORMULA.replace("{version}", version).replace("{repository}", REPOSITORY);
    for target in &TARGETS {
        let tarball = packages.iter().find(|it| it.name.ends_with(&format!("-{}.tar.gz", target.triple)));
        let digest = tarball.map_or_else(|| "0".repeat(64), |it| sha256(&it.bytes));
        formula = formula.replace(&format!("{{sha256:{}}}", target.triple), &digest);
    }
    ensure!(!formula.contains("{sha256"), "the formula has something left to fill in:\n{formula}");
    Ok(Package { name: "ralph-loop.rb".to_owned(), bytes: formula.into_bytes() })
}
