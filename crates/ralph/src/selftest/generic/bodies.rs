//! Tests without a body: the name stays, and the runner counts it.

use ralph_checks::test_files::Language;

use super::edits::is_python_test;

/// Every test with nothing in it.
pub(super) fn empty(language: Language, text: &str) -> Option<String> {
    let new = match language {
        Language::Python => by_indent(text, is_python_test, |line| line.trim_end().ends_with(':'), "pass"),
        Language::Ruby => by_indent(text, is_ruby_test, |_| true, ""),
        Language::Rust => by_brackets(text, |before, line| {
            line.contains("fn ") && before.is_some_and(|before| before.trim_start().starts_with("#[test]"))
        }),
        Language::Go => by_brackets(text, |_, line| line.starts_with("func Test")),
        Language::JavaScript => by_brackets(text, |_, line| {
            let line = line.trim_start();
            (line.starts_with("test(") || line.starts_with("it(")) && line.trim_end().ends_with('{')
        }),
        Language::Java | Language::CSharp => by_brackets(text, |before, line| {
            let before = before.unwrap_or_default().trim_start();
            line.contains('(') && ["@Test", "[Fact]", "[Test]"].iter().any(|mark| before.starts_with(mark))
        }),
        Language::Php => by_brackets(text, |_, line| line.contains("function test")),
        Language::Shell | Language::Other => return None,
    };
    (new != text).then_some(new)
}

fn is_ruby_test(line: &str) -> bool {
    line.starts_with("def test_") || (line.starts_with("it ") && line.trim_end().ends_with(" do"))
}

/// Bodies are what is further in than the head.
fn by_indent(text: &str, is_head: fn(&str) -> bool, ends_head: fn(&str) -> bool, nothing: &str) -> String {
    let all: Vec<&str> = text.lines().collect();
    let mut lines: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(line) = all.get(at) {
        lines.push((*line).to_owned());
        at += 1;
        if !is_head(line.trim_start()) {
            continue;
        }
        let indent = indent_of(line);
        let mut last = *line;
        while !ends_head(last) {
            let Some(more) = all.get(at) else { break };
            lines.push((*more).to_owned());
            last = more;
            at += 1;
        }
        if !nothing.is_empty() {
            lines.push(format!("{}    {nothing}", " ".repeat(indent)));
        }
        let body = all[at..].iter().take_while(|line| line.trim().is_empty() || indent < indent_of(line));
        let body: Vec<&&str> = body.collect();
        let blank = body.iter().rev().take_while(|line| line.trim().is_empty()).count();
        at += body.len() - blank;
    }
    lines.join("\n") + "\n"
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Bodies are between the first bracket after the head and the one that closes it.
fn by_brackets(text: &str, is_head: fn(Option<&str>, &str) -> bool) -> String {
    let mut new = String::new();
    let mut rest = text;
    let mut before = None;
    while let Some(end) = rest.find('\n') {
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        let body = if is_head(before, line) { body(rest) } else { None };
        before = Some(line);
        if let Some((open, close)) = body {
            new.push_str(&rest[..=open]);
            rest = &rest[close..];
        } else {
            new.push_str(&rest[..=end]);
            rest = after;
        }
    }
    new + rest
}

/// Where the body begins that belongs to the head at the start, and where it ends.
fn body(text: &str) -> Option<(usize, usize)> {
    // In a call the last bracket of the line opens the function.
    let line = text.lines().next().unwrap_or_default();
    let open = if line.trim_end().ends_with('{') { line.rfind('{')? } else { text.find('{')? };
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '`') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') => {
                depth -= 1;
                if depth == 0 {
                    return Some((open, at));
                }
            }
            _ => {}
        }
    }
    None
}
