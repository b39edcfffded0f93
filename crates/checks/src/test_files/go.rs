//! Tests of Go: functions that `go test` runs.

use std::collections::BTreeSet;

use super::{Unit, source::Source};

pub(super) fn units(source: &Source<'_>) -> Vec<Unit> {
    let mut units = Vec::new();
    for at in 0..source.len() {
        if source.word(at) != "func" || !source.tokens[at].is_first {
            continue;
        }
        // A method has its receiver first.
        let is_method = source.is(at + 1, "(");
        let name_at = if is_method { source.closing(at + 1) + 1 } else { at + 1 };
        let name = source.word(name_at);
        let Some(parameters) = source.find(name_at, source.len().min(name_at + 40), "(") else { continue };
        let after = source.closing(parameters) + 1;
        let Some(open) = source.find(after, source.len().min(after + 60), "{") else { continue };
        let id = match source.word(name_at.saturating_sub(2)) {
            receiver if is_method && !receiver.is_empty() => format!("{receiver}.{name}"),
            _ => name.to_owned(),
        };
        if name.is_empty() {
            continue;
        }
        units.push(Unit {
            id,
            is_test: is_test(name),
            from: at,
            to: source.closing(open),
            markers: BTreeSet::new(),
            cases: 1,
        });
    }
    units
}

fn is_test(name: &str) -> bool {
    ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|prefix| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase)) && name != "TestMain"
    })
}
