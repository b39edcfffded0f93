//! What the comparison alone says about a commit: files that judge, before and after. Nothing is run.

use std::path::Path;

use anyhow::Result;
use ralph_checks::{
    ci::judging_lines,
    manifest::changed_parts,
    protected::{Protected, Role},
    test_files::{
        added::only_adds,
        compare::{Versions, Worse, compare},
    },
};

use super::{Verdict, blobs::Blobs, git};

/// A file of a commit, with its two versions.
pub(super) struct Changed {
    path: String,
    old: Option<String>,
    new: Option<String>,
}

/// The files of a commit that judge.
pub(super) fn changes(
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
pub(super) fn judge(changes: &[Changed], protected: &Protected) -> (Verdict, Vec<String>) {
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
        (Some(Role::Test), Some(old), Some(new)) => {
            comparison.changed.contains(&change.path) && !only_adds(old, new)
        }
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
