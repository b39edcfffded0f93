//! `cargo xtask release VERSION`: one command from a green tree to a tag.
//!
//! Every file with the version in it is changed, the changelog is cut, everything is checked, and what changed is
//! committed and tagged. Pushing is left to a person: the tag starts `.github/workflows/release.yml`. `--dry-run` does the
//! same in a throw-away clone, without the long checks.

mod version;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    cargo::{self, root},
    say,
};
use version::Version;

const USAGE: &str = "\
usage: cargo xtask release VERSION [--dry-run]

  --dry-run  do it in a throw-away clone, show what would change, and skip the long checks
";

/// Files that name the version, and how they do.
const NAMED_IN: [(&str, &str); 5] = [
    ("Cargo.toml", "version = \"{}\""),
    ("Cargo.lock", "version = \"{}\""),
    (".claude-plugin/marketplace.json", "\"version\": \"{}\""),
    ("plugin/.claude-plugin/plugin.json", "\"version\": \"{}\""),
    ("CHANGELOG.md", ""),
];

/// Makes a release, or shows one.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let is_dry = words.iter().any(|word| word == "--dry-run");
    let mut given = words.iter().filter(|word| *word != "--dry-run");
    let (Some(version), None) = (given.next(), given.next()) else { bail!("{USAGE}") };
    if version == "--help" || version == "-h" {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    }
    let (old, new): (Version, Version) = (cargo::version()?.parse()?, version.parse()?);
    ensure!(old < new, "{new} does not come after {old}");
    let status = git(root(), &["status", "--porcelain"])?;
    ensure!(is_dry || status.is_empty(), "there are changes that are not committed:\n{status}");
    let tags = git(root(), &["tag", "--list", &format!("v{new}")])?;
    ensure!(tags.is_empty(), "there is a tag v{new} already");
    if is_dry { dry_run(&old, &new) } else { release(&old, &new) }?;
    Ok(ExitCode::SUCCESS)
}

fn release(old: &Version, new: &Version) -> Result<()> {
    apply(root(), old, new)?;
    checked(root())?;
    for checks in [&["xtask", "ci"][..], &["xtask", "ci", "--platforms"]] {
        let ci = cargo::cargo().args(checks).status().context("cannot start cargo")?;
        ensure!(ci.success(), "the checks fail; what was changed is still there: git diff, git restore .");
    }
    tag(root(), new)?;
    say(&format!("tagged v{new}; to publish it: git push origin HEAD v{new}\n"));
    Ok(())
}

fn dry_run(old: &Version, new: &Version) -> Result<()> {
    let scratch = tempfile::Builder::new().prefix("ralph-release-").tempdir()?;
    let clone: PathBuf = scratch.path().join("ralph");
    let path = clone.display().to_string();
    git(root(), &["clone", "--quiet", "--shared", ".", &path])?;
    for (name, value) in [("user.name", "release"), ("user.email", "release@localhost")] {
        git(&clone, &["config", name, value])?;
    }
    apply(&clone, old, new)?;
    checked(&clone)?;
    tag(&clone, new)?;
    say(&git(&clone, &["show", "--stat", "--format=%s%n", &format!("v{new}^{{commit}}")])?);
    say(&format!("\nnotes:\n{}\n", notes(&fs_err::read_to_string(clone.join("CHANGELOG.md"))?, new)));
    say(&format!(
        "a dry run: nothing of it is kept. Without --dry-run every check runs too (cargo xtask ci, then --platforms), and v{new} is tagged.\n"
    ));
    Ok(())
}

/// Changes the files of a repository.
fn apply(repository: &Path, old: &Version, new: &Version) -> Result<()> {
    for (name, pattern) in NAMED_IN {
        let path = repository.join(name);
        let text = fs_err::read_to_string(&path)?;
        let changed = match name {
            "CHANGELOG.md" => cut(&text, new, &today())?,
            "Cargo.lock" => in_lock(&text, old, new),
            _ => text
                .replace(&pattern.replace("{}", &old.to_string()), &pattern.replace("{}", &new.to_string())),
        };
        ensure!(changed != text, "{name} does not name the version {old}");
        fs_err::write(&path, changed)?;
    }
    Ok(())
}

/// What belongs to this repository has no source in the lock file.
fn in_lock(lock: &str, old: &Version, new: &Version) -> String {
    let own = |package: &str| {
        let is_own = !package.contains("\nsource = ");
        let (from, to) = (format!("version = \"{old}\""), format!("version = \"{new}\""));
        if is_own { package.replace(&from, &to) } else { package.to_owned() }
    };
    lock.split("[[package]]").map(own).collect::<Vec<_>>().join("[[package]]")
}

/// The changelog with what is unreleased under a version.
fn cut(changelog: &str, new: &Version, date: &str) -> Result<String> {
    let heading = "## Unreleased\n";
    let (before, after) = changelog.split_once(heading).context("CHANGELOG.md has no `## Unreleased`")?;
    let unreleased = after.split("\n## ").next().unwrap_or_default();
    ensure!(!unreleased.trim().is_empty(), "CHANGELOG.md has nothing unreleased");
    Ok(format!("{before}{heading}\n## {new} ({date})\n{after}"))
}

/// What the changelog says about a version.
fn notes(changelog: &str, version: &Version) -> String {
    let heading = format!("## {version} (");
    let after = changelog.split_once(&heading).map_or("", |(_, after)| after);
    let text = after.split_once('\n').map_or("", |(_, text)| text);
    text.split("\n## ").next().unwrap_or_default().trim().to_owned()
}

/// Whether cargo agrees with what was written.
fn checked(repository: &Path) -> Result<()> {
    let mut metadata = cargo::cargo();
    metadata.args(["metadata", "--locked", "--offline", "--no-deps", "--format-version=1"]);
    let output = metadata.current_dir(repository).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo refuses it: {}", String::from_utf8_lossy(&output.stderr));
    let mut tree = cargo::cargo();
    tree.args(["tree", "--locked", "--offline", "--package", "ralph", "--depth", "1"]);
    let output = tree.current_dir(repository).output().context("cannot start cargo")?;
    ensure!(
        output.status.success(),
        "the lock file is not right: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

fn tag(repository: &Path, new: &Version) -> Result<()> {
    let files: Vec<&str> = NAMED_IN.iter().map(|(name, _)| *name).collect();
    git(repository, &[&["add", "--"], &files[..]].concat())?;
    git(repository, &["commit", "--quiet", "--message", &format!("release: {new}")])?;
    git(repository, &["tag", "--annotate", "--message", &format!("ralph {new}"), &format!("v{new}")])?;
    Ok(())
}

fn today() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%d").to_string()
}

fn git(repository: &Path, args: &[&str]) -> Result<String> {
    let output =
        Command::new("git").args(args).current_dir(repository).output().context("cannot start git")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git {}` ended with {}: {said}", args.join(" "), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn what_is_unreleased_gets_its_version() {
        let before = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n";
        let after = cut(before, &version("0.2.0"), "2026-11-17").expect("a cut");
        assert!(
            after.starts_with("# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-17)\n\n- New.\n"),
            "{after}"
        );
        assert_eq!(notes(&after, &version("0.2.0")), "- New.");
        assert_eq!(notes(&after, &version("0.1.0")), "- Old.");
        assert!(cut(&after, &version("0.3.0"), "2026-11-18").is_err(), "nothing is unreleased");
    }

    #[test]
    fn only_own_crates_change_in_the_lock_file() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\nsource = \"x\"\n";
        let changed = in_lock(lock, &version("0.1.0"), &version("0.2.0"));
        assert_eq!(changed, lock.replacen("0.1.0", "0.2.0", 1));
    }
}
