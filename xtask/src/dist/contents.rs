//! What every package has in it: the program, its manual, what shells complete, licences, and what it was made of.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use super::{
    Package,
    archive::{Entry, gzip, tar::tar},
    sbom, sha256,
    target::Target,
};
use crate::cargo::root;

/// The shells, and what their scripts are called.
const SHELLS: [(&str, &str); 3] = [("bash", "ralph.bash"), ("zsh", "_ralph"), ("fish", "ralph.fish")];
/// Files of the repository that come along.
const TEXTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The files of one target.
pub(super) struct Contents {
    pub(super) version: String,
    pub(super) target: &'static Target,
    pub(super) program: Vec<u8>,
    /// `ralph.1` and one page per command.
    pub(super) manual: Vec<Entry>,
    /// By the names of [`SHELLS`].
    pub(super) completions: Vec<Entry>,
    pub(super) texts: Vec<Entry>,
    pub(super) sbom: Vec<u8>,
    receipt: Option<Vec<u8>>,
}

impl Contents {
    /// Gathers them. `host` is a program that runs here: the pages of all targets are the same.
    pub(super) fn gather(
        version: &str,
        target: &'static Target,
        program: &Path,
        host: &Path,
        receipt: Option<&Path>,
    ) -> Result<Self> {
        let completions = SHELLS
            .iter()
            .map(|(shell, name)| Ok(Entry::new(*name, printed(host, &["completions", shell])?)))
            .collect::<Result<Vec<_>>>()?;
        let texts = TEXTS
            .iter()
            .map(|name| Ok(Entry::new(*name, fs_err::read(root().join(name))?)))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            version: version.to_owned(),
            target,
            program: fs_err::read(program)?,
            manual: manual(host)?,
            completions,
            texts,
            sbom: sbom::make(version, target.triple)?,
            receipt: receipt.map(fs_err::read).transpose()?,
        })
    }

    /// The archive that needs no package manager.
    pub(super) fn tarball(&self) -> Result<Package> {
        let folder = format!("ralph-{}-{}", self.version, self.target.triple);
        let mut entries =
            vec![Entry::program("ralph", &*self.program), Entry::new("sbom.cdx.json", &*self.sbom)];
        entries.extend(self.texts.iter().cloned());
        entries.extend(self.manual.iter().map(|page| page.below("man/man1")));
        entries.extend(self.completions.iter().map(|script| script.below("completions")));
        entries.extend(self.receipt.iter().map(|receipt| Entry::new("receipt.json", &**receipt)));
        let entries: Vec<Entry> = entries.iter().map(|entry| entry.below(&folder)).collect();
        Ok(Package { name: format!("{folder}.tar.gz"), bytes: gzip(&tar(&entries, "")?)? })
    }
}

/// What `sha256sum --check` reads.
pub(super) fn sums(packages: &[Package]) -> Package {
    let line = |package: &Package| format!("{}  {}\n", sha256(&package.bytes), package.name);
    Package {
        name: "SHA256SUMS".to_owned(),
        bytes: packages.iter().map(line).collect::<Vec<_>>().concat().into_bytes(),
    }
}

fn printed(program: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start `{}`", program.display()))?;
    ensure!(output.status.success(), "`ralph {}` ended with {}", args.join(" "), output.status);
    Ok(output.stdout)
}

fn manual(program: &Path) -> Result<Vec<Entry>> {
    let folder = tempfile::tempdir()?;
    printed(program, &["man", "--dir", &folder.path().display().to_string()])?;
    let mut pages = Vec::new();
    for page in fs_err::read_dir(folder.path())? {
        let page = page?;
        pages.push(Entry::new(page.file_name().to_string_lossy(), fs_err::read(page.path())?));
    }
    ensure!(pages.iter().any(|page| page.path == "ralph.1"), "there is no page `ralph.1`");
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(pages)
}
