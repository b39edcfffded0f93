//! Counts what the tests and helpers of a file assert.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Helper, Language, Test, TestFile, Unit,
    assertions::{assertion, is_trivial},
    markers::{marker, returns_early},
    similar::Body,
    source::Source,
};

/// So many calls of a test are remembered.
const MAX_CALLS: usize = 400;

/// What was counted in a unit.
#[derive(Clone, Default)]
struct Tally {
    assertions: u32,
    trivial: u32,
    markers: BTreeSet<super::Marker>,
    calls: Vec<String>,
}

pub(super) fn measure(source: &Source<'_>, language: Language, mut units: Vec<Unit>) -> TestFile {
    units.sort_by_key(|unit| (unit.from, std::cmp::Reverse(unit.to)));
    let tallies = tally(source, language, &units);
    let mut file = TestFile::default();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for (unit, tally) in units.into_iter().zip(tallies) {
        if !unit.is_test {
            let name = unit.id.rsplit([':', '.', ' ']).next().unwrap_or_default().to_owned();
            if tally.assertions > 0 || !tally.calls.is_empty() {
                file.helpers.push(Helper { name, assertions: tally.assertions, calls: tally.calls });
            }
            continue;
        }
        let mut markers = unit.markers.clone();
        markers.extend(tally.markers);
        if returns_early(source, language, &unit) {
            markers.insert(super::Marker::EarlyReturn);
        }
        let body = body(source, &unit);
        // The same name twice is two tests.
        let times = seen.entry(unit.id.clone()).or_default();
        *times += 1;
        let id = if *times > 1 { format!("{} #{times}", unit.id) } else { unit.id };
        let Tally { assertions, trivial, calls, .. } = tally;
        file.tests.push(Test { id, assertions, trivial, markers, cases: unit.cases, body, calls });
    }
    file
}

/// Gives everything that counts to the innermost unit that it stands in.
fn tally(source: &Source<'_>, language: Language, units: &[Unit]) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); units.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    for at in 0..source.len() {
        while open.last().is_some_and(|unit| units[*unit].to < at) {
            open.pop();
        }
        while next < units.len() && units[next].from <= at {
            if units[next].to >= at {
                open.push(next);
            }
            next += 1;
        }
        let Some(unit) = open.last() else { continue };
        let tally = &mut tallies[*unit];
        if let Some(assertion) = assertion(source, language, at) {
            if is_trivial(source, &assertion) {
                tally.trivial = tally.trivial.saturating_add(1);
            } else {
                tally.assertions = tally.assertions.saturating_add(1);
            }
        }
        tally.markers.extend(marker(source, language, at));
        if is_call(source, language, at) && tally.calls.len() < MAX_CALLS {
            tally.calls.push(source.word(at).to_owned());
        }
    }
    tallies
}

/// A call of something that may be a helper.
fn is_call(source: &Source<'_>, language: Language, at: usize) -> bool {
    let word = source.word(at);
    let is_named = !word.is_empty() && !word.starts_with(|first: char| first.is_ascii_digit());
    let is_command = matches!(language, Language::Shell | Language::Ruby) && source.tokens[at].is_first;
    let declared = ["def", "fn", "func", "function", "fun", "new"];
    is_named
        && (source.is(at + 1, "(") || is_command || (source.is(at + 1, "!") && source.is(at + 2, "(")))
        && !declared.iter().any(|keyword| source.is_before(at, keyword))
}

/// The words of a test without those that are its name.
fn body(source: &Source<'_>, unit: &Unit) -> Body {
    let own = unit.id.rsplit("::").next().unwrap_or_default();
    let own = own.rsplit(" > ").next().unwrap_or(own);
    let words = source.tokens[unit.from.min(source.len())..unit.to.min(source.len())].iter();
    Body::new(
        words.map(|token| token.text).filter(|text| *text != own && !unit.id.ends_with(&format!(".{text}"))),
    )
}
