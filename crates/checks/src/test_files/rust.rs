//! Tests of Rust: functions below an attribute that ends with `test`.

use std::collections::BTreeSet;

use super::{Marker, Unit, source::Source};

pub(super) fn units(source: &Source<'_>) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut modules: Vec<(usize, &str)> = Vec::new();
    let mut attributes = Attributes::default();
    let mut at = 0;
    while at < source.len() {
        while modules.last().is_some_and(|(end, _)| *end < at) {
            modules.pop();
        }
        let word = source.word(at);
        if source.is(at, "#") && source.is(at + 1, "[") {
            at = attributes.read(source, at);
            continue;
        }
        if word == "mod" && source.is(at + 2, "{") {
            modules.push((source.closing(at + 2), source.word(at + 1)));
        } else if word == "fn" && !source.word(at + 1).is_empty() {
            let attributes = std::mem::take(&mut attributes);
            // A function of a trait has no body.
            let open = source.find_any(at, source.len(), &["{", ";"]);
            if let Some(open) = open.filter(|open| source.is(*open, "{")) {
                let path = modules.iter().map(|(_, name)| *name).chain([source.word(at + 1)]);
                units.push(Unit {
                    id: path.collect::<Vec<_>>().join("::"),
                    is_test: attributes.is_test,
                    from: attributes.from.unwrap_or(at),
                    to: source.closing(open),
                    markers: attributes.markers,
                    cases: attributes.cases.max(1),
                });
            }
            at += 1;
        } else if word.contains("test") && source.is(at + 1, "!") && source.is(at + 2, "(") {
            units.extend(of_macro(source, at, &modules));
        } else if matches!(
            word,
            "struct" | "enum" | "impl" | "use" | "mod" | "const" | "static" | "trait" | "type"
        ) {
            attributes = Attributes::default();
        }
        at += 1;
    }
    units
}

/// `rgtest!(name, |...| { ... })`: projects write macros for tests that all begin in the same way.
fn of_macro(source: &Source<'_>, at: usize, modules: &[(usize, &str)]) -> Option<Unit> {
    let name = source.word(at + 3);
    if name.is_empty() || !source.is(at + 4, ",") {
        return None;
    }
    let path = modules.iter().map(|(_, name)| *name).chain([name]);
    Some(Unit {
        id: path.collect::<Vec<_>>().join("::"),
        is_test: true,
        from: at,
        to: source.closing(at + 2),
        markers: BTreeSet::new(),
        cases: 1,
    })
}

#[derive(Default)]
struct Attributes {
    from: Option<usize>,
    is_test: bool,
    markers: BTreeSet<Marker>,
    cases: u32,
}

impl Attributes {
    /// Reads `#[...]` and returns where it ends.
    fn read(&mut self, source: &Source<'_>, at: usize) -> usize {
        self.from.get_or_insert(at);
        let end = source.closing(at + 1);
        // `#[tokio::test(flavor = "...")]`: the last word of the path.
        let mut place = at + 2;
        while source.is(place + 1, ":") && source.is(place + 2, ":") {
            place += 3;
        }
        match source.word(place) {
            "test" | "rstest" | "test_matrix" | "wasm_bindgen_test" | "quickcheck" | "apply" => {
                self.is_test = true;
            }
            "test_case" | "case" => {
                self.is_test = true;
                self.cases += 1;
            }
            "ignore" => {
                self.markers.insert(Marker::Skip);
            }
            "should_panic" => {
                self.markers.insert(Marker::ExpectedFailure);
            }
            // `#[cfg_attr(windows, ignore)]`
            "cfg_attr" if (place..end).any(|place| source.is(place, "ignore")) => {
                self.markers.insert(Marker::Skip);
            }
            _ => {}
        }
        end + 1
    }
}
