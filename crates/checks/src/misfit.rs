//! Whether old tests failed on new code because they do not fit it any more, or because the code is wrong.
//!
//! The code under test runs in the process that prints the reason, and can raise or print what it likes. A loading error is
//! believed if the structure of the runner shows it, if it names a test that was changed, and if both versions of the files
//! bear it out: it names something of the old code that was changed, that the old tests use, and that the new tests, which
//! pass, do not use like that. Everything else is a failed test.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    counts::{FileLine, LoadError, Runner, TestReport},
    test_files::{
        compare::Versions,
        uses::{Uses, words},
    },
};

/// What a loading error has to agree with.
#[derive(Clone, Debug, Default)]
pub struct Witnesses<'a> {
    /// The runners that counted tests when the guardrail passed.
    pub runners: BTreeSet<Runner>,
    /// The checks that changed.
    pub checks: Vec<Versions<'a>>,
    /// Everything else that changed.
    pub sources: Vec<Versions<'a>>,
}

/// Returns why the old tests do not fit the new code; nothing if that is not certain.
pub fn misfit<'r>(report: &'r TestReport, witnesses: &Witnesses<'_>) -> Option<&'r str> {
    let is_of_runner =
        |error: &&LoadError| error.runner != Runner::Other || error.why.starts_with(CONFTEST_ERROR);
    let told: Vec<&LoadError> = report.not_loaded.iter().filter(is_of_runner).collect();
    let failed = report.total().map_or(0, |counts| counts.failed);
    if told.is_empty() || report.other_failures > 0 || (told.len() as u64) < failed {
        return None;
    }
    let sources = Sources::read(&witnesses.sources);
    let (old, new) = uses(&witnesses.checks);
    let is_believed = |error: &&LoadError| {
        witnesses.knows(error.runner)
            && witnesses.names_check(error)
            && is_borne_out(error, &sources, (&old, &new), &witnesses.checks)
    };
    told.iter().all(is_believed).then_some(())?;
    told.first().map(|error| error.why.as_str())
}

/// What pytest says when it ends before its first line.
const CONFTEST_ERROR: &str = "ImportError while loading conftest ";

impl Witnesses<'_> {
    /// `Other` is what ends pytest before its first line.
    fn knows(&self, runner: Runner) -> bool {
        let expected = match runner {
            Runner::Other => Runner::Pytest,
            // Which of the two it is depends on a flag, and on what was printed.
            Runner::GoPackages => Runner::Go,
            Runner::Nextest => Runner::Cargo,
            other => other,
        };
        let is_same = |known: &Runner| match known {
            Runner::GoPackages => expected == Runner::Go,
            Runner::Nextest => expected == Runner::Cargo,
            known => *known == expected,
        };
        self.runners.iter().any(is_same)
    }

    /// Whether the error is about a check that changed, and about nothing else.
    fn names_check(&self, error: &LoadError) -> bool {
        let is_check = |file: &str| self.checks.iter().any(|check| is_path(file, check.path));
        if !error.places.is_empty() {
            return error.places.iter().all(|place| is_check(&place.file));
        }
        let named = if error.what.is_empty() { &error.why } else { &error.what };
        let parts = || {
            named
                .split(|letter: char| letter.is_whitespace() || "'\"()›>,`".contains(letter))
                .flat_map(|part| part.split("::"))
                .filter(|part| !part.is_empty())
        };
        let of_check = |part: &str| {
            // The class of a test of vitest is its file.
            let is_class = |path: &str| part.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
            self.checks.iter().any(|check| is_module(part, check.path) || is_class(check.path))
        };
        parts().any(|part| is_check(part) || of_check(part))
    }
}

/// Whether both name the same file: one may be named from another folder.
fn is_path(named: &str, path: &str) -> bool {
    let named = named.trim_start_matches("file://").trim_start_matches("./").trim_end_matches('.');
    let ends = |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'));
    !named.is_empty() && (named == path || ends(path, named) || ends(named, path))
}

/// `tests.test_cart.Cart.test_sum` is in `tests/test_cart.py`, `shop.ShopTest.adds` in `src/test/java/shop/ShopTest.java`.
fn is_module(named: &str, path: &str) -> bool {
    let named = named.strip_prefix("unittest.loader._FailedTest.").unwrap_or(named);
    let Some((stem, _)) = path.rsplit_once('.') else { return false };
    let folders: Vec<&str> = stem.split('/').collect();
    let parts: Vec<&str> = named.split('.').collect();
    let Some(file) = folders.last() else { return false };
    let Some(at) = parts.iter().position(|part| part == file) else { return false };
    folders.ends_with(&parts[..=at])
}

/// What changed beside the checks.
#[derive(Default)]
struct Sources {
    /// Names of lines that are not in the new version, and of files that are gone.
    changed: BTreeSet<String>,
}

impl Sources {
    fn read(files: &[Versions<'_>]) -> Self {
        let mut changed = BTreeSet::new();
        for file in files {
            let Some(old) = file.old else { continue };
            let kept: BTreeSet<&str> = file.new.unwrap_or_default().lines().map(str::trim).collect();
            let gone = old.lines().map(str::trim).filter(|line| !kept.contains(line));
            changed.extend(gone.flat_map(words).map(str::to_owned));
            if file.new.is_none() {
                changed.extend(words(file.path).map(str::to_owned));
            }
        }
        Self { changed }
    }
}

fn uses(checks: &[Versions<'_>]) -> (Uses, Uses) {
    let (mut before, mut after) = (Uses::default(), Uses::default());
    for check in checks {
        if let Some(old) = check.old {
            before.add(check.path, old);
        }
        if let Some(new) = check.new {
            after.add(check.path, new);
        }
    }
    (before, after)
}

/// Whether the files say that something the error names is not there any more, or is called in another way.
fn is_borne_out(
    error: &LoadError,
    sources: &Sources,
    (old, new): (&Uses, &Uses),
    checks: &[Versions<'_>],
) -> bool {
    let lines: BTreeMap<&str, Vec<&str>> =
        checks.iter().filter_map(|check| Some((check.path, check.old?.lines().collect()))).collect();
    let line_at = |place: &FileLine| {
        let (path, lines) = lines.iter().find(|(path, _)| is_path(&place.file, path))?;
        Some((*path, *lines.get((place.line as usize).checked_sub(1)?)?))
    };
    let at_places: Vec<(&str, &str)> = error.places.iter().filter_map(line_at).collect();
    let named: BTreeSet<&str> =
        words(&error.why).chain(at_places.iter().flat_map(|(_, line)| words(line))).collect();
    // What a compiler refuses and the new tests do not say any more: another result, for example.
    let is_rewritten = |(path, line): &&(&str, &str)| {
        let new = checks.iter().find(|check| check.path == *path).and_then(|check| check.new);
        new.is_some_and(|new| !new.lines().any(|kept| kept.trim() == line.trim()))
    };
    let rewritten: BTreeSet<&str> =
        at_places.iter().filter(is_rewritten).flat_map(|(_, line)| words(line)).collect();
    let is_gone = |name: &str| old.names.contains(name) && !new.names.contains(name);
    let is_called_otherwise = |name: &str| match (old.calls.get(name), new.calls.get(name)) {
        (Some(old), Some(new)) => old.is_disjoint(new),
        _ => false,
    };
    let tells_of_calls = !error.places.is_empty() || is_about_calls(&error.why);
    named.into_iter().filter(|name| sources.changed.contains(*name)).any(|name| {
        let is_used_otherwise = old.calls.contains_key(name) && rewritten.contains(name);
        is_gone(name) || tells_of_calls && is_called_otherwise(name) || is_used_otherwise
    })
}

/// Whether it is the parameters that do not fit.
fn is_about_calls(why: &str) -> bool {
    ["argument", "parameter", " given"].iter().any(|word| why.contains(word))
}

#[cfg(test)]
mod tests;
