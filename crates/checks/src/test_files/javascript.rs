//! Tests of JavaScript and TypeScript: calls of `test`, `it` and `describe`.

use std::collections::BTreeSet;

use super::{Marker, Unit, source::Source};

/// A group or test whose call is open.
struct Group {
    /// Where its call ends.
    end: usize,
    title: String,
    markers: BTreeSet<Marker>,
}

pub(super) fn units(source: &Source<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    for at in 0..source.len() {
        while groups.last().is_some_and(|group| group.end < at) {
            groups.pop();
        }
        if let Some(call) = call(source, at) {
            let mut markers = call.markers;
            markers.extend(groups.iter().flat_map(|group| &group.markers));
            if call.is_test {
                let path = groups.iter().map(|group| group.title.as_str()).chain([call.title.as_str()]);
                let id = path.collect::<Vec<_>>().join(" > ");
                let (to, cases) = (call.end, call.cases);
                units.push(Unit { id, is_test: true, from: at, to, markers: markers.clone(), cases });
            }
            groups.push(Group { end: call.end, title: call.title, markers });
        } else if let Some((name, open)) = function(source, at) {
            let id = name.to_owned();
            let to = source.closing(open);
            units.push(Unit { id, is_test: false, from: at, to, markers: BTreeSet::new(), cases: 1 });
        }
    }
    units
}

/// A call of a test or a group.
struct Call {
    is_test: bool,
    title: String,
    markers: BTreeSet<Marker>,
    cases: u32,
    end: usize,
}

/// `it.skip("name", ...)`, `test.each([...])("name", ...)`, `describe("name", ...)`
fn call(source: &Source<'_>, at: usize) -> Option<Call> {
    let (is_test, mut markers) = base(source.word(at))?;
    if source.is_before(at, ".") && !is_runner(source, at) {
        return None;
    }
    let mut cases = 1;
    let mut place = at + 1;
    loop {
        if source.is(place, ".") {
            let word = source.word(place + 1);
            markers.extend(modifier(word));
            place += 2;
            // Only these are called with something else than the test.
            if matches!(word, "each" | "for") {
                if source.is(place, "(") {
                    let end = source.closing(place);
                    if source.is(place + 1, "[") {
                        cases = source.count_parts(place + 2, source.closing(place + 1)).max(1);
                    }
                    place = end + 1;
                } else if source.string(place).is_some() {
                    place += 1;
                }
            } else if matches!(word, "skipIf" | "runIf" | "if") && source.is(place, "(") {
                place = source.closing(place) + 1;
            }
        } else if source.is(place, "(") {
            break;
        } else {
            return None;
        }
    }
    let end = source.closing(place);
    let title = title(source, place + 1, end)?;
    markers.extend(options(source, place, end));
    Some(Call { is_test, title, markers, cases, end })
}

fn base(word: &str) -> Option<(bool, BTreeSet<Marker>)> {
    let (is_test, marker) = match word {
        "it" | "test" | "specify" | "bench" => (true, None),
        "xit" | "xtest" | "xspecify" => (true, Some(Marker::Skip)),
        "fit" | "ftest" => (true, Some(Marker::Only)),
        "describe" | "context" | "suite" => (false, None),
        "xdescribe" | "xcontext" => (false, Some(Marker::Skip)),
        "fdescribe" | "fcontext" => (false, Some(Marker::Only)),
        _ => return None,
    };
    Some((is_test, marker.into_iter().collect()))
}

fn modifier(word: &str) -> Option<Marker> {
    match word {
        "skip" | "todo" | "skipIf" | "runIf" => Some(Marker::Skip),
        "only" => Some(Marker::Only),
        "fails" | "failing" | "failed" => Some(Marker::ExpectedFailure),
        "retry" | "retries" => Some(Marker::Retry),
        _ => None,
    }
}

/// `t.test`, `Deno.test`: not `pattern.test`.
fn is_runner(source: &Source<'_>, at: usize) -> bool {
    let object = at.checked_sub(2).map_or("", |place| source.word(place));
    matches!(object, "t" | "tap" | "Deno" | "QUnit" | "nodeTest" | "runner")
}

/// The first argument: a string, or what else names the test.
fn title(source: &Source<'_>, from: usize, end: usize) -> Option<String> {
    if let Some(title) = source.string(from) {
        return Some(title.to_owned());
    }
    // A call with nothing but a function or an object has no title; `test(value)` is something else.
    let comma = source.find(from, end, ",")?;
    let words: Vec<&str> = (from..comma.min(from + 12)).map(|place| source.tokens[place].text).collect();
    (!source.is(from, "(") && !source.is(from, "{") && source.word(from) != "async").then(|| words.concat())
}

/// `test("name", { skip: true }, ...)` of node.
fn options(source: &Source<'_>, open: usize, end: usize) -> Option<Marker> {
    let comma = source.find(open + 1, end, ",")?;
    if !source.is(comma + 1, "{") {
        return None;
    }
    let close = source.closing(comma + 1);
    (comma + 2..close).find_map(|place| {
        let is_option = source.is(place + 1, ":") && !source.is(place + 2, "false");
        is_option.then(|| modifier(source.word(place))).flatten()
    })
}

/// `function name(...) {`, `const name = (...) => {`: its name, and where the body opens.
fn function<'a>(source: &Source<'a>, at: usize) -> Option<(&'a str, usize)> {
    let word = source.word(at);
    if word == "function" {
        let name = source.word(at + 1);
        let open = source.find(at + 1, source.len().min(at + 4), "(")?;
        let body = source.find(source.closing(open) + 1, source.len().min(source.closing(open) + 40), "{")?;
        return (!name.is_empty()).then_some((name, body));
    }
    if !matches!(word, "const" | "let" | "var") || !source.is(at + 2, "=") {
        return None;
    }
    let name = source.word(at + 1);
    let value = if source.is(at + 3, "async") { at + 4 } else { at + 3 };
    let open = if source.is(value, "function") { source.find(value, value + 4, "(")? } else { value };
    if !source.is(open, "(") {
        return None;
    }
    let close = source.closing(open);
    let body = source.find(close + 1, source.len().min(close + 40), "{")?;
    let is_arrow = source.is(value, "function") || (close + 1..body).any(|place| source.is(place, ">"));
    (is_arrow && !name.is_empty()).then_some((name, body))
}
