//! Tests of Java, Kotlin, C# and PHP: methods of classes, told by an annotation or their name.

use std::collections::BTreeSet;

use super::{Language, Marker, Unit, javascript, source::Source};

struct Class<'a> {
    end: usize,
    name: &'a str,
    markers: BTreeSet<Marker>,
    /// It is derived from the base class of an old `JUnit`: names say what is a test.
    has_named_tests: bool,
}

pub(super) fn units(source: &Source<'_>, language: Language) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut classes: Vec<Class<'_>> = Vec::new();
    let mut notes = Annotations::default();
    let mut at = 0;
    while at < source.len() {
        while classes.last().is_some_and(|class| class.end < at) {
            classes.pop();
        }
        if let Some(end) = notes.read(source, language, at) {
            at = end;
            continue;
        }
        if is_class(source, at) {
            let notes = std::mem::take(&mut notes);
            if let Some(open) =
                source.find_any(at, source.len(), &["{", ";"]).filter(|open| source.is(*open, "{"))
            {
                classes.push(Class {
                    end: source.closing(open),
                    name: source.word(at + 1),
                    markers: notes.markers,
                    has_named_tests: language == Language::Php
                        || (at..open).any(|place| source.is(place, "TestCase")),
                });
                at = open + 1;
                continue;
            }
        } else if let Some(method) = method(source, language, at) {
            let notes = std::mem::take(&mut notes);
            let is_named = classes.last().is_some_and(|class| class.has_named_tests)
                && method.name.strip_prefix("test").is_some_and(|rest| !rest.starts_with(char::is_lowercase));
            let path = classes.iter().map(|class| class.name).chain([method.name.as_str()]);
            let mut markers = notes.markers;
            markers.extend(classes.iter().flat_map(|class| &class.markers));
            units.push(Unit {
                id: path.collect::<Vec<_>>().join("."),
                is_test: notes.is_test || is_named,
                from: notes.from.unwrap_or(at),
                to: method.end,
                markers,
                cases: notes.cases.max(1),
            });
            at = method.end + 1;
            continue;
        } else if source.is(at, ";") || source.is(at, "}") {
            notes = Annotations::default();
        }
        at += 1;
    }
    // Pest has calls instead of classes.
    if units.iter().all(|unit| !unit.is_test) && language == Language::Php {
        return javascript::units(source);
    }
    units
}

fn is_class(source: &Source<'_>, at: usize) -> bool {
    let is_keyword =
        matches!(source.word(at), "class" | "interface" | "record" | "enum" | "struct" | "trait" | "object");
    // `Shop.class` is a value.
    is_keyword && !source.word(at + 1).is_empty() && !source.is_before(at, ".") && !source.is_before(at, ":")
}

struct Method {
    name: String,
    end: usize,
}

fn method(source: &Source<'_>, language: Language, at: usize) -> Option<Method> {
    let word = source.word(at);
    if matches!(word, "function" | "fun") {
        return keyword_method(source, at);
    }
    let is_c_like = matches!(language, Language::Java | Language::CSharp);
    if !is_c_like || word.is_empty() || !source.is(at + 1, "(") || is_keyword(word) {
        return None;
    }
    // A type stands before the name of a method.
    let before = at.checked_sub(1)?;
    let is_typed = source.is(before, ">") || source.is(before, "]") || source.is(before, "?") || {
        let word = source.word(before);
        !word.is_empty() && !is_keyword(word)
    };
    let after = source.closing(at + 1) + 1;
    let open = source.find_any(after, source.len().min(after + 40), &["{", ";", "=", "}"])?;
    if !is_typed {
        return None;
    }
    let name = word.to_owned();
    if source.is(open, "{") {
        return Some(Method { name, end: source.closing(open) });
    }
    // `void Adds() => Assert.True(...);`
    let is_expression = source.is(open, "=") && source.is(open + 1, ">");
    is_expression.then(|| Method { name, end: source.find(open, source.len(), ";").unwrap_or(source.len()) })
}

/// `function name(...) {` of PHP, `fun name() {` and fun with a name in backquotes of Kotlin.
fn keyword_method(source: &Source<'_>, at: usize) -> Option<Method> {
    let limit = source.len().min(at + 40);
    let open = source.find(at + 1, limit, "(")?;
    let name: Vec<&str> =
        (at + 1..open).map(|place| source.word(place)).filter(|word| !word.is_empty()).collect();
    if name.is_empty() {
        return None;
    }
    let after = source.closing(open) + 1;
    let body = source.find_any(after, source.len().min(after + 40), &["{", ";", "=", "}"])?;
    let end = match source.tokens[body].text {
        "{" => source.closing(body),
        "=" => source.find(body, source.len().min(body + 4), "{").map_or(body, |open| source.closing(open)),
        _ => return None,
    };
    Some(Method { name: name.join(" "), end })
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "for"
            | "foreach"
            | "while"
            | "switch"
            | "catch"
            | "synchronized"
            | "using"
            | "lock"
            | "fixed"
            | "return"
            | "new"
            | "throw"
            | "else"
            | "do"
            | "try"
            | "case"
            | "when"
            | "await"
            | "yield"
            | "in"
            | "is"
            | "as"
    )
}

#[derive(Default)]
struct Annotations {
    from: Option<usize>,
    is_test: bool,
    markers: BTreeSet<Marker>,
    cases: u32,
}

impl Annotations {
    /// Reads `@Name(...)`, `[Name(...)]` or `#[Name(...)]` and returns where it ends.
    fn read(&mut self, source: &Source<'_>, language: Language, at: usize) -> Option<usize> {
        match language {
            Language::Java if source.is(at, "@") && !source.word(at + 1).is_empty() => {
                let mut name = at + 1;
                while source.is(name + 1, ".") && !source.word(name + 2).is_empty() {
                    name += 2;
                }
                let end = if source.is(name + 1, "(") { source.closing(name + 1) + 1 } else { name + 1 };
                // `@interface` declares one.
                if source.word(name) != "interface" {
                    self.from.get_or_insert(at);
                    self.note(source, name, end);
                }
                Some(end)
            }
            Language::CSharp if source.is(at, "[") && source.tokens[at].is_first => {
                Some(self.list(source, at, at))
            }
            Language::Php if source.is(at, "#") && source.is(at + 1, "[") => {
                Some(self.list(source, at, at + 1))
            }
            _ => None,
        }
    }

    /// Notes all names of `[A, B(...)]`.
    fn list(&mut self, source: &Source<'_>, at: usize, open: usize) -> usize {
        self.from.get_or_insert(at);
        let end = source.closing(open);
        let mut place = open + 1;
        while place < end {
            let next = source.find(place, end, ",").unwrap_or(end);
            // The last word of a path: `PHPUnit\Framework\Attributes\Test`.
            let call = source.find(place, next, "(").unwrap_or(next);
            let name = (place..call).rev().find(|name| !source.word(*name).is_empty());
            if let Some(name) = name {
                self.note(source, name, next);
            }
            place = next + 1;
        }
        end + 1
    }

    fn note(&mut self, source: &Source<'_>, name: usize, end: usize) {
        let has_argument =
            |word: &str| (name..end).any(|place| source.is(place, word) && source.is(place + 1, "="));
        match source.word(name) {
            "Test" | "ParameterizedTest" | "RepeatedTest" | "TestFactory" | "TestTemplate" | "Property"
            | "Fact" | "Theory" | "TestMethod" | "DataTestMethod" | "SkippableFact" => {
                self.is_test = true;
                if has_argument("Skip") || has_argument("enabled") {
                    self.markers.insert(Marker::Skip);
                }
            }
            "TestCase" | "InlineData" | "DataRow" | "TestWith" => {
                self.is_test |= source.word(name) == "TestCase";
                self.cases += 1;
            }
            "RetryingTest" | "Retry" | "Flaky" => {
                self.is_test = true;
                self.markers.insert(Marker::Retry);
            }
            word if ["Disabled", "Ignore", "Explicit", "EnabledOn", "EnabledIf"]
                .iter()
                .any(|start| word.starts_with(start)) =>
            {
                self.markers.insert(Marker::Skip);
            }
            _ => {}
        }
    }
}
