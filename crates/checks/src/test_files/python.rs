//! Tests of Python: functions and methods whose name begins with `test`, by indentation.

use std::collections::BTreeSet;

use super::{Marker, Unit, source::Source};

/// A class or function whose lines are being read.
struct Block {
    indent: u32,
    /// The unit of a function; a class has none.
    unit: Option<usize>,
    name: String,
    markers: BTreeSet<Marker>,
}

pub(super) fn units(source: &Source<'_>) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut decorators = Decorators::default();
    let mut of_file = BTreeSet::new();
    let mut at = 0;
    while at < source.len() {
        let token = source.tokens[at];
        let keyword = definition(source, at);
        if token.is_first {
            while blocks.last().is_some_and(|block| block.indent >= token.indent) {
                if let Some(unit) = blocks.pop().and_then(|block| block.unit) {
                    units[unit].to = at;
                }
            }
        }
        if token.is_first && token.is("@") {
            at = decorators.read(source, at);
            continue;
        }
        if let Some((is_class, name_at)) = keyword.filter(|_| token.is_first) {
            let decorators = std::mem::take(&mut decorators);
            let from = decorators.from.unwrap_or(at);
            let mut markers = decorators.markers;
            markers.extend(blocks.iter().flat_map(|block| &block.markers));
            let name = source.word(name_at).to_owned();
            let unit = (!is_class).then(|| {
                let is_nested = blocks.iter().any(|block| block.unit.is_some());
                let is_test = name.starts_with("test") && !is_nested && name != "test";
                let path = blocks.iter().map(|block| block.name.as_str()).chain([name.as_str()]);
                let id = path.collect::<Vec<_>>().join("::");
                let (to, cases) = (source.len(), decorators.cases.max(1));
                units.push(Unit { id, is_test, from, to, markers: markers.clone(), cases });
                units.len() - 1
            });
            blocks.push(Block { indent: token.indent, unit, name, markers });
            at = name_at + 1;
            continue;
        }
        if token.is_first {
            decorators = Decorators::default();
        }
        if let Some(markers) = module_mark(source, at) {
            match blocks.last_mut() {
                Some(block) if block.unit.is_none() => block.markers.extend(markers),
                Some(_) => {}
                None => of_file.extend(markers),
            }
        }
        // A line that goes on in brackets begins no statement.
        at = if source.opens(at) { skip_brackets(source, at) } else { at + 1 };
    }
    for unit in &mut units {
        unit.markers.extend(&of_file);
    }
    units
}

/// `def name`, `async def name`, `class Name`: whether it is a class, and where the name stands.
fn definition(source: &Source<'_>, at: usize) -> Option<(bool, usize)> {
    match source.word(at) {
        "def" => Some((false, at + 1)),
        "class" => Some((true, at + 1)),
        "async" if source.word(at + 1) == "def" => Some((false, at + 2)),
        _ => None,
    }
}

/// Goes to the end of brackets, unless a definition begins in them: then they were not closed.
fn skip_brackets(source: &Source<'_>, at: usize) -> usize {
    let end = source.closing(at);
    let is_definition = |place: &usize| {
        let token = source.tokens[*place];
        token.is_first && token.indent <= source.tokens[at].indent && definition(source, *place).is_some()
    };
    (at + 1..end.min(source.len())).find(is_definition).unwrap_or(end + 1)
}

/// `pytestmark = ...`, and a module that skips itself.
fn module_mark(source: &Source<'_>, at: usize) -> Option<BTreeSet<Marker>> {
    let line = source.tokens[at].line;
    if source.tokens[at].is_first && source.is(at, "pytestmark") {
        let end =
            (at..source.len()).find(|place| ends_statement(source, *place, line)).unwrap_or(source.len());
        return Some((at..end).filter_map(|place| mark(source.word(place))).collect());
    }
    if source.is(at, "allow_module_level") && source.is(at + 2, "True") {
        return Some([Marker::Skip].into());
    }
    None
}

fn ends_statement(source: &Source<'_>, place: usize, line: u32) -> bool {
    let token = source.tokens[place];
    token.line > line && token.is_first && token.indent == 0 && !token.is("]") && !token.is(")")
}

/// What a decorator or mark means.
fn mark(word: &str) -> Option<Marker> {
    match word {
        "skip" | "skipif" | "skipIf" | "skipUnless" | "SkipTest" => Some(Marker::Skip),
        "xfail" | "expectedFailure" => Some(Marker::ExpectedFailure),
        "flaky" | "retry" => Some(Marker::Retry),
        _ => None,
    }
}

/// What stands above a definition.
#[derive(Default)]
struct Decorators {
    from: Option<usize>,
    markers: BTreeSet<Marker>,
    cases: u32,
}

impl Decorators {
    /// Reads one decorator and returns where the next line begins.
    fn read(&mut self, source: &Source<'_>, at: usize) -> usize {
        self.from.get_or_insert(at);
        let mut place = at + 1;
        while place < source.len() && !source.tokens[place].is_first {
            // Only what the decorator is called says what it does, not its arguments.
            if source.is(place, "(") {
                let end = source.closing(place);
                if source.word(place - 1) == "parametrize" {
                    let cases = parameter_sets(source, place, end);
                    self.cases = self.cases.max(1).saturating_mul(cases.max(1));
                }
                place = end + 1;
                continue;
            }
            self.markers.extend(mark(source.word(place)));
            place += 1;
        }
        place
    }
}

/// How many elements the list has that a test is parametrized with; one if it is not written there.
fn parameter_sets(source: &Source<'_>, open: usize, end: usize) -> u32 {
    let Some(comma) = source.find(open + 1, end, ",") else { return 1 };
    let list = comma + 1;
    if source.is(list, "[") || source.is(list, "(") {
        return source.count_parts(list + 1, source.closing(list));
    }
    1
}
