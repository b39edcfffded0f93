//! Installs each package as a user would, in a scratch root, and uses it.
//!
//! What a machine lacks (npm, Python, dpkg, nix, ...) is named, and fails only where `CI=true`.

mod installed;
mod receipt;
mod registry;
mod texts;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{cargo, say};

/// A package: its name, the program that must be there, and how it is tried.
type Trial = (&'static str, &'static str, fn(&Scratch) -> Result<()>);

const TRIALS: [Trial; 9] = [
    ("tarball", "tar", installed::tarball),
    ("receipt in a tarball", "git", receipt::in_a_tarball),
    ("deb", "dpkg", installed::deb),
    ("npm", "npm", installed::npm),
    ("wheel", "python3", installed::wheel),
    ("what cargo binstall is told", "tar", texts::binstall),
    ("container", "tar", texts::container),
    ("formula", "ruby", texts::formula),
    ("flake", "nix-instantiate", texts::flake),
];

/// A folder for one package, and where the packages are.
struct Scratch {
    root: PathBuf,
    packages: PathBuf,
    version: String,
}

/// Tries every package of this machine in this folder; returns what the machine lacks.
pub(crate) fn each(packages: &Path) -> Result<Vec<String>> {
    let version = cargo::version()?;
    let mut missing = Vec::new();
    for (name, program, trial) in TRIALS {
        if which::which(program).is_err() {
            let is_promised = env::var("CI").is_ok_and(|ci| ci == "true");
            ensure!(!is_promised, "there is no `{program}`, which tries the {name}");
            missing.push(format!("{name}: there is no `{program}`"));
            continue;
        }
        let folder = tempfile::Builder::new().prefix("ralph-package-").tempdir()?;
        let root = fs_err::canonicalize(folder.path())?;
        let scratch = Scratch { root, packages: packages.to_owned(), version: version.clone() };
        trial(&scratch).with_context(|| format!("the {name}"))?;
        say(&format!("{name}: tried\n"));
    }
    for line in &missing {
        say(&format!("skipped: {line}\n"));
    }
    Ok(missing)
}

impl Scratch {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The package whose name begins and ends like this.
    fn package(&self, start: &str, end: &str) -> Result<PathBuf> {
        for entry in fs_err::read_dir(&self.packages)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.starts_with(start) && name.ends_with(end) {
                return Ok(self.packages.join(name));
            }
        }
        bail!("there is no package `{start}*{end}`")
    }

    /// A program that knows nothing of the user's files.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env_remove("RALPH_RUN_ID").stdin(Stdio::null());
        command
    }

    /// Uses the program that these words start.
    fn use_program(&self, words: &[&str]) -> Result<()> {
        let (program, words) = words.split_first().context("nothing to start")?;
        self.use_program_by(&|| {
            let mut command = self.command(program);
            command.args(words);
            command
        })
    }

    /// What the installed program must do: say its version, and work.
    fn use_program_by(&self, start: &dyn Fn() -> Command) -> Result<()> {
        let (version, wanted) = (said(start().arg("--version"))?, format!("ralph {}", self.version));
        ensure!(version.lines().any(|line| line == wanted), "it says that it is {version}");
        let demo = said(start().arg("demo"))?;
        ensure!(demo.contains("Complete"), "the demo says:\n{demo}");
        Ok(())
    }
}

/// What a command prints; an error if it fails.
fn said(command: &mut Command) -> Result<String> {
    let line = format!("{command:?}");
    let output = command.output().with_context(|| format!("cannot start {line}"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{line} ended with {}:\n{text}", output.status);
    Ok(text)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
