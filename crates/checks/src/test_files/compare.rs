//! What became of the tests of a set of files: kept, renamed, moved, merged, weakened or gone.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Language, Marker, Test, TestFile, read};

/// A file in two versions; what is `None` does not exist.
#[derive(Clone, Copy, Debug)]
pub struct Versions<'a> {
    /// Its place in the project.
    pub path: &'a str,
    /// What it said.
    pub old: Option<&'a str>,
    /// What it says.
    pub new: Option<&'a str>,
}

/// What got worse for a test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Worse {
    /// It is gone, and no test like it came.
    Vanished {
        /// What it is called.
        test: String,
    },
    /// Something keeps it from judging that was not there.
    Marked {
        /// What it is called.
        test: String,
        /// What was added.
        marker: Marker,
    },
    /// It asserts less.
    FewerAssertions {
        /// What it is called.
        test: String,
        /// How often it asserted something.
        before: u32,
        /// How often it does.
        after: u32,
    },
}

/// What became of the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What got worse, by the file that the test stood in.
    pub worse: BTreeMap<String, BTreeSet<Worse>>,
    /// Files with a test that says something else than before, or is called otherwise, and is not worse.
    pub changed: BTreeSet<String>,
    /// Tests under another name or in another file: from, to.
    pub renamed: Vec<(String, String)>,
    /// How many tests are new.
    pub added: usize,
}

/// A test with its file.
#[derive(Clone, Copy)]
struct Placed<'a> {
    path: &'a str,
    test: &'a Test,
    /// With what the helpers assert that it calls.
    assertions: u32,
}

impl Placed<'_> {
    fn name(&self) -> String {
        format!("{}::{}", self.path, self.test.id)
    }
}

/// Compares two versions of the files that have tests.
pub fn compare(files: &[Versions<'_>]) -> Comparison {
    let read_all = |version: fn(&Versions<'_>) -> Option<String>| -> Vec<(&str, TestFile)> {
        let texts = files.iter().filter_map(|file| Some((file.path, version(file)?)));
        texts.map(|(path, text)| (path, read(Language::of(path), &text))).collect()
    };
    let old_files = read_all(|file| file.old.map(str::to_owned));
    let new_files = read_all(|file| file.new.map(str::to_owned));
    let (old, new) = (placed(&old_files), placed(&new_files));
    let matches = Matches::find(&old, &new);
    conclude(&old, &new, &matches)
}

fn placed<'a>(files: &'a [(&'a str, TestFile)]) -> Vec<Placed<'a>> {
    let helpers = helpers(files);
    let mut all = Vec::new();
    for (path, file) in files {
        for test in &file.tests {
            let called = test.calls.iter().filter_map(|name| helpers.get(name.as_str()));
            let assertions = called.fold(test.assertions, |sum, weight| sum.saturating_add(*weight));
            all.push(Placed { path, test, assertions });
        }
    }
    all
}

/// What a call of each helper adds to a test: the helper's own assertions, and those of the helpers it calls.
fn helpers<'a>(files: &'a [(&'a str, TestFile)]) -> BTreeMap<&'a str, u32> {
    let all = || files.iter().flat_map(|(_, file)| &file.helpers);
    let mut weights: BTreeMap<&str, u32> = BTreeMap::new();
    // Helpers call helpers; three levels are enough for any test.
    for _ in 0..3 {
        let known = weights.clone();
        for helper in all() {
            let called = helper.calls.iter().filter(|name| **name != helper.name);
            let called = called.filter_map(|name| known.get(name.as_str()));
            let weight = called.fold(helper.assertions, |sum, weight| sum.saturating_add(*weight));
            if weight > 0 {
                weights.insert(&helper.name, weight.min(MAX_WEIGHT));
            }
        }
    }
    weights
}

/// A helper that asserts more often adds no more.
const MAX_WEIGHT: u32 = 20;

/// Which new test each old one became.
struct Matches {
    of_old: Vec<Option<usize>>,
    /// How many old ones became each new one.
    times: Vec<u32>,
}

/// A test that has so much in common with one that is gone is that one, in percent.
const ALIKE: usize = 60;

/// A test whose words are so much part of another one was merged into it.
const CONTAINED: usize = 75;

/// So many pairs are looked at.
const MAX_PAIRS: usize = 250_000;

impl Matches {
    fn find(old: &[Placed<'_>], new: &[Placed<'_>]) -> Self {
        let mut matches = Self { of_old: vec![None; old.len()], times: vec![0; new.len()] };
        let by_name: BTreeMap<(&str, &str), usize> =
            new.iter().enumerate().map(|(at, placed)| ((placed.path, placed.test.id.as_str()), at)).collect();
        for (at, placed) in old.iter().enumerate() {
            if let Some(found) = by_name.get(&(placed.path, placed.test.id.as_str())) {
                matches.pair(at, *found);
            }
        }
        matches.by(old, new, |old, new| old.test.body.is_same(&new.test.body).then_some(100));
        matches.by(old, new, |old, new| (old.test.id == new.test.id).then(|| 100 + likeness(old, new)));
        matches.by(old, new, |old, new| Some(likeness(old, new)).filter(|likeness| *likeness >= ALIKE));
        matches.merged(old, new);
        matches
    }

    fn pair(&mut self, old: usize, new: usize) {
        self.of_old[old] = Some(new);
        self.times[new] += 1;
    }

    /// Pairs those that are left over, the best first.
    fn by(
        &mut self,
        old: &[Placed<'_>],
        new: &[Placed<'_>],
        score: fn(&Placed<'_>, &Placed<'_>) -> Option<usize>,
    ) {
        let left: Vec<usize> = (0..old.len()).filter(|at| self.of_old[*at].is_none()).collect();
        let free: Vec<usize> = (0..new.len()).filter(|at| self.times[*at] == 0).collect();
        let pairs = left.iter().flat_map(|old| free.iter().map(move |new| (*old, *new))).take(MAX_PAIRS);
        let scored = pairs.filter_map(|(at, to)| Some((score(&old[at], &new[to])?, at, to)));
        let mut scored: Vec<(usize, usize, usize)> = scored.collect();
        scored.sort_by_key(|(score, at, to)| (std::cmp::Reverse(*score), *at, *to));
        for (_, at, to) in scored {
            if self.of_old[at].is_none() && self.times[to] == 0 {
                self.pair(at, to);
            }
        }
    }

    /// Several tests can become one that has more parameters, or that asserts what they asserted.
    fn merged(&mut self, old: &[Placed<'_>], new: &[Placed<'_>]) {
        let mut rooms: Vec<Room> = (0..new.len()).map(|to| self.room(old, new, to)).collect();
        for at in 0..old.len() {
            if self.of_old[at].is_some() {
                continue;
            }
            let candidates =
                (0..new.len()).take(MAX_PAIRS / old.len().max(1)).filter(|to| rooms[*to].is_left());
            let scored = candidates.map(|to| (old[at].test.body.contained_in(&new[to].test.body), to));
            let best = scored.filter(|(score, _)| *score >= CONTAINED).max();
            if let Some((_, to)) = best {
                rooms[to].take(&old[at]);
                self.pair(at, to);
            }
        }
    }

    /// What a new test has more than those that became it.
    fn room(&self, old: &[Placed<'_>], new: &[Placed<'_>], to: usize) -> Room {
        let of = (0..old.len()).filter(|at| self.of_old[*at] == Some(to));
        let (cases, assertions) = of.fold((0, 0), |(cases, assertions), at| {
            (cases + old[at].test.cases, assertions + old[at].assertions)
        });
        Room {
            cases: new[to].test.cases.saturating_sub(cases.max(1)),
            assertions: new[to].assertions.saturating_sub(assertions),
        }
    }
}

/// What a new test can still take in.
struct Room {
    /// Sets of parameters.
    cases: u32,
    assertions: u32,
}

impl Room {
    fn is_left(&self) -> bool {
        self.cases > 0 || self.assertions > 0
    }

    /// A set of parameters stands for a whole test.
    fn take(&mut self, test: &Placed<'_>) {
        if self.cases > 0 {
            self.cases = self.cases.saturating_sub(test.test.cases.max(1));
        } else {
            self.assertions = self.assertions.saturating_sub(test.assertions.max(1));
        }
    }
}

fn likeness(old: &Placed<'_>, new: &Placed<'_>) -> usize {
    // Very short tests are alike whatever they are about, unless their names are.
    let likeness = old.test.body.likeness(&new.test.body);
    if old.test.body.len() < 8 { likeness.saturating_sub(25) } else { likeness }
}

fn conclude(old: &[Placed<'_>], new: &[Placed<'_>], matches: &Matches) -> Comparison {
    let mut comparison = Comparison {
        added: matches.times.iter().filter(|times| **times == 0).count(),
        ..Comparison::default()
    };
    for (placed, to) in old.iter().zip(&matches.of_old) {
        let path = placed.path.to_owned();
        let test = placed.test.id.clone();
        let Some(to) = to else {
            // What asserted nothing and never ran judged nothing.
            let judged = placed.assertions > 0 || !placed.test.markers.contains(&Marker::Skip);
            if judged {
                comparison.worse.entry(path).or_default().insert(Worse::Vanished { test });
            }
            continue;
        };
        let now = &new[*to];
        let is_renamed = now.path != placed.path || now.test.id != placed.test.id;
        if is_renamed {
            comparison.renamed.push((placed.name(), now.name()));
        }
        let mut worse: BTreeSet<Worse> = now
            .test
            .markers
            .difference(&placed.test.markers)
            .map(|marker| Worse::Marked { test: test.clone(), marker: *marker })
            .collect();
        // With others merged into it, a test is compared by them all.
        if matches.times[*to] == 1 && now.assertions.saturating_mul(now.test.cases) < placed.assertions {
            worse.insert(Worse::FewerAssertions { test, before: placed.assertions, after: now.assertions });
        }
        if !worse.is_empty() {
            comparison.worse.entry(path).or_default().extend(worse);
        } else if is_renamed || placed.test.body != now.test.body {
            comparison.changed.insert(path);
        }
    }
    only_on_new(new, matches, &mut comparison);
    comparison
}

/// A new test that alone is run keeps all others from running.
fn only_on_new(new: &[Placed<'_>], matches: &Matches, comparison: &mut Comparison) {
    for (placed, times) in new.iter().zip(&matches.times) {
        if *times == 0 && placed.test.markers.contains(&Marker::Only) {
            let worse = Worse::Marked { test: placed.test.id.clone(), marker: Marker::Only };
            comparison.worse.entry(placed.path.to_owned()).or_default().insert(worse);
        }
    }
}
