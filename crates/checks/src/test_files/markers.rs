//! What inside a test keeps it from judging.

use super::{Language, Marker, Unit, source::Source};

/// The marker that begins there.
pub(super) fn marker(source: &Source<'_>, language: Language, at: usize) -> Option<Marker> {
    let word = source.word(at);
    let is_call = source.is(at + 1, "(");
    let object =
        at.checked_sub(2).filter(|_| source.is_before(at, ".")).map_or("", |place| source.word(place));
    match language {
        Language::Python => match word {
            "skip" if is_call && object == "pytest" => Some(Marker::Skip),
            "skipTest" | "importorskip" if is_call => Some(Marker::Skip),
            "SkipTest" if source.is_before(at, "raise") || object == "unittest" => Some(Marker::Skip),
            "xfail" if is_call && object == "pytest" => Some(Marker::ExpectedFailure),
            "except" if is_dropped_in_python(source, at) => Some(Marker::Swallowed),
            "suppress" if is_call => Some(Marker::Swallowed),
            _ => None,
        },
        Language::JavaScript => match word {
            "skip" | "todo" if is_call && is_context(object) => Some(Marker::Skip),
            "retries" | "retryTimes" if is_call => Some(Marker::Retry),
            "catch" if is_empty_catch(source, at) => Some(Marker::Swallowed),
            _ => None,
        },
        Language::Go => match word {
            "Skip" | "Skipf" | "SkipNow" if is_call && source.is_before(at, ".") => Some(Marker::Skip),
            _ => None,
        },
        Language::Java | Language::CSharp | Language::Php => match word {
            "assumeTrue" | "assumeFalse" | "assumeThat" | "assumingThat" | "markTestSkipped"
            | "markTestIncomplete"
                if is_call =>
            {
                Some(Marker::Skip)
            }
            "Ignore" | "Inconclusive" if is_call && object == "Assert" => Some(Marker::Skip),
            "If" | "IfNot" if is_call && object == "Skip" => Some(Marker::Skip),
            "catch" if is_empty_catch(source, at) => Some(Marker::Swallowed),
            _ => None,
        },
        Language::Ruby => match word {
            "skip" | "pending" if source.tokens[at].is_first && !source.is(at + 1, ":") => Some(Marker::Skip),
            "rescue" if source.tokens[at].is_first && source.is(at + 1, "end") => Some(Marker::Swallowed),
            _ => None,
        },
        Language::Shell => match word {
            "skip" if source.tokens[at].is_first => Some(Marker::Skip),
            "true" if source.is_before(at, "|") => Some(Marker::Swallowed),
            "set"
                if source.tokens[at].is_first
                    && source.is(at + 1, "+")
                    && source.word(at + 2).contains('e') =>
            {
                Some(Marker::Swallowed)
            }
            _ => None,
        },
        Language::Rust | Language::Other => None,
    }
}

/// Whether a test returns before it does anything.
pub(super) fn returns_early(source: &Source<'_>, language: Language, unit: &Unit) -> bool {
    match language {
        Language::Python => python_body(source, unit).is_some_and(|at| {
            let after = source.tokens.get(at + 1);
            source.is(at, "return") && after.is_none_or(|token| token.is_first)
        }),
        Language::Shell => {
            // The first line of a script, or the one behind the head of a function.
            let mut lines = (unit.from..unit.to).filter(|place| source.tokens[*place].is_first).take(2);
            lines.any(|at| matches!(source.word(at), "return" | "exit") && source.word(at + 1) == "0")
        }
        Language::Ruby | Language::Other => false,
        _ => (unit.from..unit.to).take(MAX_HEAD).any(|at| {
            let opens_body = source.is(at, "{")
                && at.checked_sub(1).is_some_and(|before| {
                    source.is(before, ")") || source.is(before, ">") || !source.word(before).is_empty()
                });
            opens_body && source.is(at + 1, "return") && (source.is(at + 2, ";") || source.is(at + 2, "}"))
        }),
    }
}

/// The head of a test is not longer than this.
const MAX_HEAD: usize = 60;

/// Where the first statement of a function stands, behind what documents it.
fn python_body(source: &Source<'_>, unit: &Unit) -> Option<usize> {
    let definition = (unit.from..unit.to).find(|at| source.is(*at, "def"))?;
    let colon = source.find(definition, unit.to, ":")?;
    let first = colon + 1;
    let is_documentation = source.string(first).is_some() && source.tokens[first].is_first;
    Some(if is_documentation { first + 1 } else { first })
}

fn is_context(object: &str) -> bool {
    matches!(object, "this" | "t" | "ctx" | "context" | "testInfo")
}

/// `except Something: pass`
fn is_dropped_in_python(source: &Source<'_>, at: usize) -> bool {
    // An exception that is named is expected; all of them are not.
    let named = source.word(at + 1);
    let is_any = source.is(at + 1, ":") || matches!(named, "Exception" | "BaseException" | "AssertionError");
    let colon = source.find(at, source.len().min(at + 8), ":");
    is_any && colon.is_some_and(|colon| source.is(colon + 1, "pass"))
}

/// `catch {}`, `catch (error) {}`
fn is_empty_catch(source: &Source<'_>, at: usize) -> bool {
    let open = if source.is(at + 1, "(") { source.closing(at + 1) + 1 } else { at + 1 };
    source.is(open, "{") && source.closing(open) == open + 1 && !source.is_before(at, ".")
}
