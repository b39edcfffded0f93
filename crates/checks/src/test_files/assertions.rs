//! What asserts something, and what asserts nothing although it looks so.

use super::{
    Language,
    lexer::{Kind, Token},
    source::Source,
};

/// An assertion: where what it asserts stands.
pub(super) struct Assertion {
    /// What is compared, as far as it stands in the assertion.
    arguments: Vec<(usize, usize)>,
    /// It is reached only when something went wrong, so that what it is called with says nothing.
    is_failure: bool,
}

/// The assertion that begins there.
pub(super) fn assertion(source: &Source<'_>, language: Language, at: usize) -> Option<Assertion> {
    let word = source.word(at);
    if word.is_empty() && language != Language::Shell {
        return None;
    }
    match language {
        Language::Python => python(source, at, word),
        Language::JavaScript => javascript(source, at, word),
        Language::Rust => rust(source, at, word),
        Language::Go => go(source, at, word),
        Language::Java | Language::CSharp | Language::Php => class(source, at, word),
        Language::Ruby => ruby(source, at, word),
        Language::Shell => shell(source, at),
        Language::Other => other(source, at, word),
    }
}

/// Whether an assertion holds whatever the code does.
pub(super) fn is_trivial(source: &Source<'_>, assertion: &Assertion) -> bool {
    if assertion.is_failure || assertion.arguments.is_empty() {
        return false;
    }
    let mut parts: Vec<Vec<Token<'_>>> = Vec::new();
    for (from, to) in &assertion.arguments {
        parts.extend(cut(source, *from, *to));
    }
    parts.retain(|part| !part.is_empty());
    let says_false = parts.iter().any(|part| matches!(part.as_slice(), [token] if is_false(token)));
    let is_literal = !parts.is_empty() && parts.iter().flatten().all(is_literal);
    let is_same = matches!(parts.as_slice(), [left, right, ..] if same(left, right));
    (is_literal && !says_false) || is_same
}

/// Calls of functions that check something by their name.
const CHECKS: [&str; 8] = ["assert", "check", "verify", "expect", "ensure", "validate", "should", "must"];

fn is_check(word: &str) -> bool {
    let word = word.trim_start_matches('_');
    CHECKS.iter().any(|start| {
        word.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
            && !word[start.len()..].starts_with(|next: char| next.is_ascii_lowercase() && *start == "must")
    })
}

/// A call with these arguments.
fn called(source: &Source<'_>, open: usize) -> Assertion {
    Assertion { arguments: vec![(open + 1, source.closing(open))], is_failure: false }
}

fn failure() -> Assertion {
    Assertion { arguments: Vec::new(), is_failure: true }
}

/// What cannot be looked into.
fn opaque() -> Assertion {
    Assertion { arguments: Vec::new(), is_failure: false }
}

fn is_declared(source: &Source<'_>, at: usize) -> bool {
    ["def", "fn", "func", "function", "fun", "class"].iter().any(|keyword| source.is_before(at, keyword))
}

fn python(source: &Source<'_>, at: usize, word: &str) -> Option<Assertion> {
    if word == "assert" && !source.is_before(at, ".") {
        let end = end_of_line(source, at);
        // The message behind the comma is not asserted.
        let comma = source.find(at + 1, end, ",").unwrap_or(end);
        return Some(Assertion { arguments: vec![(at + 1, comma)], is_failure: false });
    }
    if !source.is(at + 1, "(") || is_declared(source, at) {
        return None;
    }
    match word {
        "raises" | "warns" | "deprecated_call" => Some(opaque()),
        "fail" => Some(failure()),
        word if is_check(word) => Some(called(source, at + 1)),
        _ => None,
    }
}

/// The end of a statement: the next line that begins outside of brackets.
fn end_of_line(source: &Source<'_>, at: usize) -> usize {
    let mut place = at + 1;
    while place < source.len() && !source.tokens[place].is_first {
        place = if source.opens(place) { source.closing(place) + 1 } else { place + 1 };
    }
    place.min(source.len())
}

fn javascript(source: &Source<'_>, at: usize, word: &str) -> Option<Assertion> {
    if is_declared(source, at) {
        return None;
    }
    let is_method = source.is_before(at, ".");
    match word {
        "expect" | "expectTypeOf" | "assertType" if source.is(at + 1, "(") => {
            let mut assertion = called(source, at + 1);
            // `expect(a).not.toBe(b)`: what it is compared with.
            let mut place = source.closing(at + 1) + 1;
            while source.is(place, ".") && !source.word(place + 1).is_empty() {
                place += 2;
                if source.is(place, "(") {
                    assertion.arguments.push((place + 1, source.closing(place)));
                    place = source.closing(place) + 1;
                }
            }
            Some(if is_method { opaque() } else { assertion })
        }
        "assert" if source.is(at + 1, "(") => Some(called(source, at + 1)),
        "assert" if source.is(at + 1, ".") && source.is(at + 3, "(") => match source.word(at + 2) {
            "fail" => Some(failure()),
            "rejects" | "throws" | "doesNotThrow" => Some(opaque()),
            _ => Some(called(source, at + 3)),
        },
        "should" if is_method => Some(opaque()),
        "fail" if source.is(at + 1, "(") => Some(failure()),
        word if source.is(at + 1, "(") && is_method && is_tap(source, at, word) => {
            Some(called(source, at + 1))
        }
        word if source.is(at + 1, "(") && word != "assert" && is_check(word) => Some(called(source, at + 1)),
        _ => None,
    }
}

/// `t.equal(...)` of tape, tap and ava.
fn is_tap(source: &Source<'_>, at: usize, word: &str) -> bool {
    let object = at.checked_sub(2).map_or("", |place| source.word(place));
    matches!(object, "t" | "tap")
        && matches!(
            word,
            "is" | "not"
                | "ok"
                | "notOk"
                | "true"
                | "false"
                | "truthy"
                | "falsy"
                | "equal"
                | "equals"
                | "same"
                | "notEqual"
                | "deepEqual"
                | "notDeepEqual"
                | "like"
                | "match"
                | "regex"
                | "throws"
                | "throwsAsync"
                | "notThrows"
                | "rejects"
                | "resolves"
                | "snapshot"
                | "pass"
                | "strictSame"
                | "error"
        )
}

fn rust(source: &Source<'_>, at: usize, word: &str) -> Option<Assertion> {
    if source.is(at + 1, "!") && source.opens(at + 2) {
        return match word {
            "panic" | "unreachable" | "todo" | "unimplemented" => Some(failure()),
            word if is_check(word) || word.contains("_assert") || word.contains("eq") => {
                Some(called(source, at + 2))
            }
            _ => None,
        };
    }
    let is_call = source.is(at + 1, "(") && !is_declared(source, at);
    match word {
        // `Result::expect` and `Option::expect` say what must be there.
        "expect" | "should_panic" => None,
        "unwrap_err" | "expect_err" if is_call => Some(opaque()),
        word if is_call && is_check(word) => Some(called(source, at + 1)),
        _ => None,
    }
}

fn go(source: &Source<'_>, at: usize, word: &str) -> Option<Assertion> {
    if !source.is(at + 1, "(") || is_declared(source, at) {
        return None;
    }
    let object =
        at.checked_sub(2).filter(|_| source.is_before(at, ".")).map_or("", |place| source.word(place));
    match word {
        "Error" | "Errorf" | "Fatal" | "Fatalf" | "Fail" | "FailNow" if is_testing(object) => Some(failure()),
        "panic" => Some(failure()),
        _ if matches!(object, "assert" | "require" | "is" | "qt" | "c") => {
            // The first argument is the test itself.
            let end = source.closing(at + 1);
            let from = match source.find(at + 2, end, ",") {
                Some(comma) if is_testing(source.word(at + 2)) && comma == at + 3 => comma + 1,
                _ => at + 2,
            };
            Some(Assertion { arguments: vec![(from, end)], is_failure: false })
        }
        word if is_check(word) => Some(called(source, at + 1)),
        _ => None,
    }
}

fn is_testing(object: &str) -> bool {
    matches!(object, "t" | "b" | "tb" | "f" | "T" | "tt")
}

fn class(source: &Source<'_>, at: usize, word: &str) -> Option<Assertion> {
    // `Assert.Equal(...)`, `Assert::same(...)`; `Assert.assertEquals` is counted by its last word.
    if matches!(word, "Assert" | "Assertions") && (source.is(at + 1, ".") || source.is(at + 1, ":")) {
        let name = if source.is(at + 1, ".") { at + 2 } else { at + 3 };
        let word = source.word(name);
        let open = source.find_any(name, source.len().min(name + 8), &["(", ";"])?;
        return match word {
            "Fail" | "fail" => Some(failure()),
            word if word.starts_with("assert") => None,
            _ => Some(called(source, open)),
        };
    }
    if word == "assert" && !source.is(at + 1, "(") && !source.is_before(at, ".") {
        return Some(opaque());
    }
    if !source.is(at + 1, "(") || is_declared(source, at) {
        return None;
    }
    match word {
        "fail" => Some(failure()),
        // A chain that begins with the value: what it is compared with comes later.
        "assertThat" | "expect" | "Should" | "ShouldBe" | "then" | "verify" | "Verify" => Some(opaque()),
        word if is_check(word) => Some(called(source, at + 1)),
        _ => None,
    }
}

fn ruby(source: &Source<'_>, at: usize, word: &str) -> Option<Assertion> {
    if is_declared(source, at) || source.is(at + 1, ":") || source.is_before(at, ":") {
        return None;
    }
    match word {
        "flunk" => Some(failure()),
        "expect" if source.is(at + 1, "(") => {
            let mut assertion = called(source, at + 1);
            // `.to eq(2)`
            let end = end_of_line(source, at);
            let matcher = (source.closing(at + 1)..end).find(|place| source.is(*place, "("));
            if let Some(open) = matcher {
                assertion.arguments.push((open + 1, source.closing(open)));
            } else {
                assertion.arguments.clear();
            }
            Some(assertion)
        }
        "expect" | "is_expected" | "should" | "should_not" | "raise_error" => Some(opaque()),
        word if ["assert", "refute", "must_", "wont_"].iter().any(|start| word.starts_with(start)) => {
            let open = if source.is(at + 1, "(") {
                (at + 2, source.closing(at + 1))
            } else {
                (at + 1, end_of_line(source, at))
            };
            Some(Assertion { arguments: vec![open], is_failure: false })
        }
        word if source.is(at + 1, "(") && is_check(word) => Some(called(source, at + 1)),
        _ => None,
    }
}

fn shell(source: &Source<'_>, at: usize) -> Option<Assertion> {
    let is_command = source.tokens[at].is_first
        || [";", "&", "|", "!", "then", "do", "else", "if", "elif", "while", "(", "{"]
            .iter()
            .any(|before| source.is_before(at, before));
    if !is_command {
        return None;
    }
    let token = source.tokens[at];
    let end = end_of_line(source, at);
    match token.text {
        "[" => Some(opaque()),
        "exit" | "return" => {
            let code = source.word(at + 1);
            (code != "0" && code.starts_with(|first: char| first.is_ascii_digit())).then(failure)
        }
        "test" | "diff" | "cmp" | "grep" | "die" | "fail" => {
            (end > at + 1 || token.text != "test").then(opaque)
        }
        word if token.kind == Kind::Word && is_check(word) && !source.is(at + 1, "(") => Some(opaque()),
        _ => None,
    }
}

fn other(source: &Source<'_>, at: usize, word: &str) -> Option<Assertion> {
    let open = if source.is(at + 1, "!") { at + 2 } else { at + 1 };
    if !source.is(open, "(") {
        return None;
    }
    let is_macro = ["CHECK", "REQUIRE", "ASSERT", "EXPECT"].iter().any(|part| word.contains(part));
    (is_macro || word.contains("assert") || is_check(word)).then(|| called(source, open))
}

/// The arguments between two places, cut at commas and `==`.
fn cut<'a>(source: &Source<'a>, from: usize, to: usize) -> Vec<Vec<Token<'a>>> {
    let mut parts = vec![Vec::new()];
    let mut at = from;
    let mut depth = 0_usize;
    while at < to.min(source.len()) && parts.iter().map(Vec::len).sum::<usize>() < MAX_COMPARED {
        let is_equal = source.is(at, "=") && source.is(at + 1, "=");
        if depth == 0 && (source.is(at, ",") || is_equal) {
            parts.push(Vec::new());
            at += 1;
            while is_equal && source.is(at, "=") {
                at += 1;
            }
            continue;
        }
        match source.tokens[at].text {
            "(" | "[" | "{" if source.opens(at) => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(source.tokens[at]);
        }
        at += 1;
    }
    parts
}

/// So many tokens of an assertion are looked at.
const MAX_COMPARED: usize = 60;

fn is_literal(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Text => true,
        Kind::Sign => !matches!(token.text, "$" | "@"),
        Kind::Word => {
            token.text.starts_with(|first: char| first.is_ascii_digit())
                || matches!(
                    token.text,
                    "true"
                        | "false"
                        | "True"
                        | "False"
                        | "None"
                        | "null"
                        | "nil"
                        | "undefined"
                        | "is"
                        | "not"
                        | "and"
                        | "or"
                )
        }
    }
}

fn is_false(token: &Token<'_>) -> bool {
    matches!(token.text, "false" | "False") && token.is_word()
}

fn same(left: &[Token<'_>], right: &[Token<'_>]) -> bool {
    // Calls can return something else each time.
    let calls = left.iter().any(|token| token.is("("));
    !left.is_empty()
        && !calls
        && left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| left.kind == right.kind && left.text == right.text)
}
