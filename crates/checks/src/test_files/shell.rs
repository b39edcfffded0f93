//! Tests of shells: bats, functions whose name begins with `test`, or a script as a whole.

use std::collections::BTreeSet;

use super::{Unit, source::Source, whole};

pub(super) fn units(source: &Source<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut open: Option<(usize, u32)> = None;
    for at in 0..source.len() {
        let token = source.tokens[at];
        if !token.is_first {
            continue;
        }
        // Brackets of `case` are not closed, so a body ends where a brace stands as far left as it began.
        if let Some((unit, indent)) = open.filter(|(_, indent)| token.is("}") && token.indent <= *indent) {
            debug_assert!(token.indent <= indent);
            units[unit].to = at;
            open = None;
        }
        let Some((id, is_test)) = opening(source, at) else { continue };
        if let Some((unit, _)) = open {
            units[unit].to = at;
        }
        units.push(Unit { id, is_test, from: at, to: source.len(), markers: BTreeSet::new(), cases: 1 });
        open = Some((units.len() - 1, token.indent));
    }
    if units.iter().any(|unit| unit.is_test) {
        return units;
    }
    whole(source)
}

/// `@test "name" {`, `name() {`, `function name {`
fn opening(source: &Source<'_>, at: usize) -> Option<(String, bool)> {
    if source.is(at, "@") && source.is(at + 1, "test") {
        return Some((source.string(at + 2).unwrap_or_default().to_owned(), true));
    }
    let name = if source.is(at, "function") { source.word(at + 1) } else { source.word(at) };
    let is_function = source.is(at, "function") || (source.is(at + 1, "(") && source.is(at + 2, ")"));
    (is_function && !name.is_empty()).then(|| (name.to_owned(), name.starts_with("test")))
}
