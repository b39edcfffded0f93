//! `cargo xtask history`: what ralph would say about the commits of real projects, as if an agent had made them.
//!
//! People who work honestly change tests all the time. How often that would be a finding is measured here, on clones that the
//! caller names; nothing is fetched, and nothing in them is run.

mod blobs;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail, ensure};
use ralph_checks::{
    ci::judging_lines,
    manifest::changed_parts,
    protected::{Protected, Role},
    test_files::compare::{Versions, Worse, compare},
};

use crate::say;
use blobs::Blobs;

const USAGE: &str = "\
usage: cargo xtask history [--commits N] [--findings] REPOSITORY...

  --commits N   the newest N commits of each that are no merges (200 unless told)
  --findings    list each commit that would be a finding, with what got worse
";

/// A change with more files than this is no work of a turn: a formatter, a move.
const MAX_FILES: usize = 300;

struct Wanted {
    commits: usize,
    lists_findings: bool,
    repositories: Vec<PathBuf>,
}

/// What a commit would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It touches nothing that judges.
    Nothing,
    /// It only adds.
    Added,
    /// A line in the summary.
    Line,
    /// A person would be asked.
    Finding,
}

/// A file of a commit, with its two versions.
struct Changed {
    path: String,
    old: Option<String>,
    new: Option<String>,
}

/// Measures.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let Some(wanted) = parse(words)? else {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    let protected = Protected::usual();
    say("| project | commits | touch what judges | only add | line | finding |\n|---|--:|--:|--:|--:|--:|\n");
    let mut sum = BTreeMap::new();
    for repository in &wanted.repositories {
        let counts = measure(repository, &wanted, &protected)?;
        row(&name(repository), &counts);
        for (verdict, count) in counts {
            *sum.entry(verdict).or_default() += count;
        }
    }
    row("all", &sum);
    Ok(ExitCode::SUCCESS)
}

fn parse(words: &[String]) -> Result<Option<Wanted>> {
    let mut wanted = Wanted { commits: 200, lists_findings: false, repositories: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--commits" => wanted.commits = words.next().context("--commits needs a number")?.parse()?,
            "--findings" => wanted.lists_findings = true,
            "--help" | "-h" => return Ok(None),
            flag if flag.starts_with('-') => bail!("unknown word `{flag}`\n\n{USAGE}"),
            path => wanted.repositories.push(path.into()),
        }
    }
    ensure!(!wanted.repositories.is_empty(), "which repositories?\n\n{USAGE}");
    Ok(Some(wanted))
}

fn name(repository: &Path) -> String {
    let names = repository.iter().rev().map(|name| name.to_string_lossy());
    let name = names.into_iter().find(|name| !["repo", ".git", "."].contains(&name.as_ref()));
    name.map_or_else(String::new, |name| name.replace('+', "/"))
}

fn row(name: &str, counts: &BTreeMap<Verdict, usize>) {
    let of = |verdict| counts.get(&verdict).copied().unwrap_or(0);
    let all: usize = counts.values().sum();
    let touching = all - of(Verdict::Nothing);
    let share =
        |count: usize| format!("{count} ({} %)", (100 * count + all / 2).checked_div(all).unwrap_or(0));
    say(&format!(
        "| {name} | {all} | {} | {} | {} | {} |\n",
        share(touching),
        share(of(Verdict::Added)),
        share(of(Verdict::Line)),
        share(of(Verdict::Finding))
    ));
}

fn measure(repository: &Path, wanted: &Wanted, protected: &Protected) -> Result<BTreeMap<Verdict, usize>> {
    let mut counts = BTreeMap::new();
    let mut blobs = Blobs::open(repository)?;
    for commit in commits(repository, wanted.commits)? {
        let changes = changes(repository, &commit, protected, &mut blobs)?;
        if MAX_FILES < changes.len() {
            continue;
        }
        let (verdict, worse) = judge(&changes, protected);
        *counts.entry(verdict).or_default() += 1;
        if wanted.lists_findings && verdict == Verdict::Finding {
            say(&format!("{} {}: {}\n", name(repository), &commit[..10], worse.join("; ")));
        }
    }
    Ok(counts)
}

fn commits(repository: &Path, most: usize) -> Result<Vec<String>> {
    let most = format!("-{most}");
    let text = git(repository, &["log", "--no-merges", "--min-parents=1", "--format=%H", &most])?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn git(repository: &Path, args: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(["--no-replace-objects", "-c", "core.quotePath=false"]).args(args);
    let output = command.output().context("cannot start git")?;
    ensure!(
        output.status.success(),
        "git {}: {}",
        args.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The files of a commit that judge.
fn changes(
    repository: &Path,
    commit: &str,
    protected: &Protected,
    blobs: &mut Blobs,
) -> Result<Vec<Changed>> {
    let text =
        git(repository, &["diff-tree", "-r", "--no-commit-id", "--no-renames", "-z", "--raw", commit])?;
    let mut fields = text.split('\0');
    let mut all = Vec::new();
    while let (Some(entry), Some(path)) = (fields.next(), fields.next()) {
        let ids: Vec<&str> = entry.split(' ').collect();
        let (Some(old), Some(new)) = (ids.get(2), ids.get(3)) else { continue };
        if protected.role(path).is_some() {
            all.push(Changed { path: path.to_owned(), old: blobs.text(old)?, new: blobs.text(new)? });
        }
    }
    Ok(all)
}

/// What the comparison alone says; the tests of a commit are not run here.
fn judge(changes: &[Changed], protected: &Protected) -> (Verdict, Vec<String>) {
    let role = |change: &&Changed| protected.role(&change.path);
    let tests = changes.iter().filter(|change| role(change) == Some(Role::Test));
    let versions =
        tests.map(|it| Versions { path: &it.path, old: it.old.as_deref(), new: it.new.as_deref() });
    let comparison = compare(&versions.collect::<Vec<_>>());
    let worse = comparison.worse.iter().flat_map(|(path, worse)| {
        worse.iter().map(move |worse| match worse {
            Worse::Vanished { test } => format!("{path}: {test} vanished"),
            Worse::Marked { test, marker } => format!("{path}: {test} is {marker:?}"),
            Worse::FewerAssertions { test, before, after } => format!("{path}: {test} {before} -> {after}"),
        })
    });
    let worse: Vec<String> = worse.collect();
    if !worse.is_empty() {
        return (Verdict::Finding, worse);
    }
    let touches = |change: &Changed| match (role(&change), &change.old, &change.new) {
        (_, None, _) => false,
        (Some(Role::Test), ..) => comparison.changed.contains(&change.path),
        (Some(Role::Manifest), Some(old), Some(new)) => !changed_parts(&change.path, old, new).is_empty(),
        (Some(Role::Ci), Some(old), Some(new)) => judging_lines(old) != judging_lines(new),
        _ => true,
    };
    let verdict = match changes {
        [] => Verdict::Nothing,
        _ if changes.iter().any(touches) => Verdict::Line,
        _ => Verdict::Added,
    };
    (verdict, worse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(changes: &[(&str, Option<&str>, Option<&str>)], expected: Verdict) {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let changes = changes.iter().map(|(path, old, new)| Changed {
            path: (*path).to_owned(),
            old: owned(*old),
            new: owned(*new),
        });
        assert_eq!(judge(&changes.collect::<Vec<_>>(), &Protected::usual()).0, expected);
    }

    #[test]
    fn a_commit_is_judged_by_the_worst_of_its_files() {
        let old = "def test_a():\n    assert f(1) == 1\n    assert f(2) == 2\n";
        let other = "def test_a():\n    assert f(1) == 1\n    assert f(2) == 3\n";
        check(&[], Verdict::Nothing);
        check(&[("test_a.py", None, Some(old))], Verdict::Added);
        check(&[("test_a.py", Some(old), Some(other))], Verdict::Line);
        check(&[("test_a.py", Some(old), None)], Verdict::Finding);
        check(&[("test_a.py", Some(old), None), ("tests/test_a.py", None, Some(old))], Verdict::Line);
        check(&[("package.json", Some("{}"), Some("{\"name\": \"a\"}"))], Verdict::Added);
        check(&[("package.json", Some("{}"), Some("{\"jest\": {}}"))], Verdict::Line);
        let ci = ".github/workflows/ci.yml";
        check(&[(ci, Some("- uses: a/b@v1"), Some("- uses: a/b@v2"))], Verdict::Added);
        check(&[(ci, Some("- run: make test"), Some("- run: make"))], Verdict::Line);
    }
}
