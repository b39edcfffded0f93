//! Tests of Ruby: examples of `RSpec` and methods of minitest, by indentation.

use std::collections::BTreeSet;

use super::{Marker, Unit, source::Source};

struct Block {
    indent: u32,
    unit: Option<usize>,
    title: String,
    markers: BTreeSet<Marker>,
}

pub(super) fn units(source: &Source<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    for at in 0..source.len() {
        let token = source.tokens[at];
        if !token.is_first {
            continue;
        }
        while blocks.last().is_some_and(|block| block.indent >= token.indent) {
            if let Some(unit) = blocks.pop().and_then(|block| block.unit) {
                units[unit].to = at;
            }
        }
        let Some(opening) = opening(source, at) else { continue };
        let mut markers = opening.markers;
        markers.extend(blocks.iter().flat_map(|block| &block.markers));
        let unit = opening.kind.is_unit().then(|| {
            let path = blocks.iter().map(|block| block.title.as_str()).chain([opening.title.as_str()]);
            let id = if opening.kind == Kind::Helper {
                opening.title.clone()
            } else {
                path.collect::<Vec<_>>().join(" ")
            };
            let is_test = opening.kind == Kind::Test;
            units.push(Unit { id, is_test, from: at, to: source.len(), markers: markers.clone(), cases: 1 });
            units.len() - 1
        });
        blocks.push(Block { indent: token.indent, unit, title: opening.title, markers });
    }
    units
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Group,
    Test,
    Helper,
}

impl Kind {
    fn is_unit(self) -> bool {
        self != Self::Group
    }
}

struct Opening {
    kind: Kind,
    title: String,
    markers: BTreeSet<Marker>,
}

/// `describe "name" do`, `it "name" do`, `it { ... }`, `def test_name`, `class NameTest`
fn opening(source: &Source<'_>, at: usize) -> Option<Opening> {
    // `RSpec.describe`
    let at = if source.is(at + 1, ".") && source.is(at, "RSpec") { at + 2 } else { at };
    let line = source.tokens.get(at)?.line;
    let end = (at..source.len()).take(MAX_LINE).find(|place| source.tokens[*place].line > line);
    let end = end.unwrap_or(source.len().min(at + MAX_LINE));
    let (kind, marker) = match source.word(at) {
        "describe" | "context" | "feature" | "shared_examples" | "class" | "module" => (Kind::Group, None),
        "xdescribe" | "xcontext" => (Kind::Group, Some(Marker::Skip)),
        "fdescribe" | "fcontext" => (Kind::Group, Some(Marker::Only)),
        "it" | "specify" | "example" | "scenario" | "test" | "its" | "property" => (Kind::Test, None),
        "xit" | "xspecify" | "xexample" | "xscenario" => (Kind::Test, Some(Marker::Skip)),
        "fit" | "fspecify" | "fexample" => (Kind::Test, Some(Marker::Only)),
        "def" if source.word(at + 1).starts_with("test_") => (Kind::Test, None),
        "def" => (Kind::Helper, None),
        _ => return None,
    };
    let mut markers: BTreeSet<Marker> = marker.into_iter().collect();
    markers.extend((at..end).filter_map(|place| metadata(source, place)));
    // An example without a block is pending.
    let has_block = (at..end).any(|place| matches!(source.tokens[place].text, "do" | "{" | "&" | "="));
    let is_call = source.word(at) != "def";
    if kind == Kind::Test && is_call && !has_block {
        markers.insert(Marker::Skip);
    }
    Some(Opening { kind, title: title(source, at, end), markers })
}

/// So much of a line is looked at.
const MAX_LINE: usize = 200;

fn title(source: &Source<'_>, at: usize, end: usize) -> String {
    if let Some(title) = (at + 1..end.min(at + 3)).find_map(|place| source.string(place)) {
        return title.to_owned();
    }
    let stop = |place: &usize| matches!(source.tokens[*place].text, "do" | ",");
    let words = (at + 1..end).take_while(|place| !stop(place)).take(20);
    words.map(|place| source.tokens[place].text).collect::<Vec<_>>().join(" ")
}

/// `skip: true`, `:focus`
fn metadata(source: &Source<'_>, at: usize) -> Option<Marker> {
    let marker = match source.word(at) {
        "skip" | "pending" => Marker::Skip,
        "focus" => Marker::Only,
        _ => return None,
    };
    let is_key = source.is(at + 1, ":") && !source.is(at + 2, "false");
    (is_key || source.is_before(at, ":")).then_some(marker)
}
