//! `cargo xtask dist`: every package of ralph from one program, byte for byte the same from any folder.
//!
//! The archives are written here ([`archive`]), without time, user or order of the machine in them. `--try` then installs
//! each package as a user would, in a scratch root, and uses it.

mod archive;
mod contents;
mod deb;
mod formula;
mod md5;
mod npm;
mod receipt;
mod sbom;
mod target;
mod trial;
mod twice;
mod wheel;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::{
    cargo::{self, target_dir},
    elf, say,
};
use contents::Contents;
use target::Target;

pub(crate) use target::{ARM_LINKER_VARIABLE, HOST, TARGETS};
pub(crate) use trial::each as try_each;

const USAGE: &str = "\
usage: cargo xtask dist [--target TRIPLE]... [--receipt FILE] [--try]
       cargo xtask dist --twice

  --target TRIPLE  package for this target too, or `all`; those for a Mac are linked by cargo-zigbuild,
                   the one for ARM by aarch64-linux-gnu-gcc
  --receipt FILE   put this receipt of what is committed into the tarballs
  --try            then install each package of this machine in a scratch root, and use it
  --twice          build the tarball in two folders, and fail when one byte differs
";

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    targets: Vec<String>,
    receipt: Option<PathBuf>,
    tries: bool,
    is_twice: bool,
}

/// Makes the packages.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let Some(wanted) = parse(words)? else {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    if wanted.is_twice {
        twice::compare()?;
        return Ok(ExitCode::SUCCESS);
    }
    let targets = wanted.targets()?;
    let folder = make(&targets, wanted.receipt.as_deref())?;
    if wanted.tries {
        trial::each(&folder)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(words: &[String]) -> Result<Option<Wanted>> {
    let mut wanted = Wanted::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("`{word}` wants a value\n\n{USAGE}"));
        match word.as_str() {
            "--target" => wanted.targets.push(value()?.clone()),
            "--receipt" => wanted.receipt = Some(value()?.into()),
            "--try" => wanted.tries = true,
            "--twice" => wanted.is_twice = true,
            "-h" | "--help" => return Ok(None),
            _ => bail!("unknown word `{word}`\n\n{USAGE}"),
        }
    }
    Ok(Some(wanted))
}

impl Wanted {
    /// The target of this machine, and those that were named.
    fn targets(&self) -> Result<Vec<&'static Target>> {
        let mut targets = vec![target::find(HOST)?];
        for name in &self.targets {
            match name.as_str() {
                "all" => targets.extend(&TARGETS),
                name => targets.push(target::find(name)?),
            }
        }
        let mut seen = Vec::new();
        targets.retain(|target| {
            !seen.contains(&target.triple) && {
                seen.push(target.triple);
                true
            }
        });
        Ok(targets)
    }
}

/// Makes the packages of these targets; returns the folder that has them.
pub(crate) fn make(targets: &[&'static Target], receipt: Option<&Path>) -> Result<PathBuf> {
    let folder = target_dir().join("packages");
    if folder.exists() {
        fs_err::remove_dir_all(&folder)?;
    }
    fs_err::create_dir_all(&folder)?;
    let version = cargo::version()?;
    let host = cargo::dist()?;
    if let Some(receipt) = receipt {
        receipt::ensure_holds(&host, receipt, cargo::root())?;
    }
    let mut written = Vec::new();
    for target in targets {
        let program = if target.triple == HOST { host.clone() } else { target.build()? };
        if target.is_linux() {
            elf::ensure_shippable(&program)?;
        }
        let contents = Contents::gather(&version, target, &program, &host, receipt)?;
        written.extend([contents.tarball()?, wheel::make(&contents)?, npm::platform(&contents)?]);
        written.extend(deb::make(&contents)?);
    }
    written.push(npm::launcher(&version)?);
    written.push(contents::sums(&written));
    written.push(formula::make(&version, &written)?);
    for package in &written {
        fs_err::write(folder.join(&package.name), &package.bytes)?;
        say(&format!("{:>9} bytes  {}\n", package.bytes.len(), package.name));
    }
    say(&format!("written: {}\n", folder.display()));
    Ok(folder)
}

/// Makes the packages of this machine.
pub(crate) fn host() -> Result<PathBuf> {
    make(&[target::find(HOST)?], None)
}

/// A file of a release.
struct Package {
    name: String,
    bytes: Vec<u8>,
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// In letters.
fn hex(bytes: &[u8]) -> String {
    let letters: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    letters.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_or_refused() {
        let parse = |line: &str| parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let wanted = parse("--try --target all --receipt r.json").expect("words").expect("no help");
        assert_eq!((wanted.tries, wanted.receipt), (true, Some("r.json".into())));
        let all = parse("--target all --target aarch64-apple-darwin").expect("words").expect("no help");
        assert_eq!(all.targets().expect("targets").len(), TARGETS.len());
        assert!(parse("--target").is_err() && parse("--fast").is_err());
        assert!(parse("--target sparc").expect("words").expect("no help").targets().is_err());
        assert_eq!(parse("--help").expect("words"), None);
    }

    #[test]
    fn digests_are_those_of_everybody() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
