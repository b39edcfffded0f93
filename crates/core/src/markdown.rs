//! The little of Markdown that plans and agents' notes are read by: headings, list items, code.

/// One line that means something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// `## Title`, with its level.
    Heading(usize, &'a str),
    /// A whole fenced block, without its fences.
    Code(String),
    /// Anything else that is not blank, with how far it is indented.
    Text(usize, &'a str),
}

/// Reads a document line by line; a fenced block is one line, so nothing in it is taken for a heading, and
/// comments say nothing.
pub fn lines(document: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut in_comment = false;
    let mut source = document.trim_start_matches('\u{feff}').lines().flat_map(|line| line.split('\r'));
    while let Some(line) = source.next() {
        let trimmed = line.trim();
        if in_comment || trimmed.starts_with("<!--") {
            in_comment = !trimmed.contains("-->");
        } else if let Some(fence) = opening_fence(trimmed) {
            let block: Vec<&str> = source.by_ref().take_while(|line| !closes(line.trim(), fence)).collect();
            lines.push(Line::Code(block.join("\n")));
        } else if let Some((level, title)) = heading(trimmed) {
            lines.push(Line::Heading(level, title));
        } else if !trimmed.is_empty() {
            lines.push(Line::Text(indent(line), trimmed));
        }
    }
    lines
}

/// The fence that a line opens a block with. A span that happens to begin with three backticks is none.
fn opening_fence(line: &str) -> Option<&str> {
    ['`', '~'].into_iter().find_map(|mark| {
        let info = line.trim_start_matches(mark);
        let fence = &line[..line.len() - info.len()];
        (3 <= fence.len() && !(mark == '`' && info.contains('`'))).then_some(fence)
    })
}

fn closes(line: &str, fence: &str) -> bool {
    line.strip_prefix(fence).is_some_and(|rest| rest.chars().all(|c| fence.starts_with(c)))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=6).contains(&level).then_some(())?;
    title.starts_with([' ', '\t']).then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// In columns; a tab is four.
fn indent(line: &str) -> usize {
    let blank = line.chars().take_while(|c| c.is_whitespace());
    blank.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// The code spans of a text. As many backticks end a span as begin it.
pub fn code_spans(text: &str) -> Vec<&str> {
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let opened = &rest[start..];
        let inner = opened.trim_start_matches('`');
        let mark = &opened[..opened.len() - inner.len()];
        let Some(end) = inner.find(mark) else { break };
        spans.push(inner[..end].trim());
        rest = &inner[end + mark.len()..];
    }
    spans.retain(|span| !span.is_empty());
    spans
}

/// A text without the marks of a list item and of emphasis around its first word.
pub fn plain(text: &str) -> &str {
    let text = text.trim_start_matches(['-', '*', '+', ' ']);
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = if number.len() < text.len() { number.strip_prefix(['.', ')']).unwrap_or(text) } else { text };
    text.trim().trim_matches('*').trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: &str, expected: &[Line<'_>]) {
        assert_eq!(lines(document), expected);
    }

    fn code(text: &str) -> Line<'static> {
        Line::Code(text.to_owned())
    }

    #[test]
    fn code_hides_what_is_in_it() {
        check(
            "# A #\n\n```sh\n# not a heading\n- [ ] not a task\n```\ntext\n#hash\n~~~\nopen",
            &[
                Line::Heading(1, "A"),
                code("# not a heading\n- [ ] not a task"),
                Line::Text(0, "text"),
                Line::Text(0, "#hash"),
                code("open"),
            ],
        );
    }

    #[test]
    fn a_block_ends_with_its_own_fence() {
        check("````\n```\ninner\n```\n````\nafter", &[code("```\ninner\n```"), Line::Text(0, "after")]);
        check("```true```\nafter", &[Line::Text(0, "```true```"), Line::Text(0, "after")]);
        check("~~~ `x`\nin\n~~~~\nafter", &[code("in"), Line::Text(0, "after")]);
    }

    #[test]
    fn comments_say_nothing() {
        check(
            "\u{feff}# A\n<!-- # B\n- [ ] c\n-->\n<!-- d -->\n  e",
            &[Line::Heading(1, "A"), Line::Text(2, "e")],
        );
    }

    #[test]
    fn marks_are_taken_off() {
        assert_eq!(plain("- **Status:** done"), "Status:** done");
        assert_eq!(plain("1. first"), "first");
        assert_eq!(plain("12 apples"), "12 apples");
        assert_eq!(plain("* x"), "x");
        assert_eq!(plain("- .env is missing"), ".env is missing");
    }

    #[test]
    fn spans() {
        assert_eq!(code_spans("run `make test` or `make` first"), ["make test", "make"]);
        assert_eq!(code_spans("``make``"), ["make"]);
        assert!(code_spans("no `` span").is_empty());
    }
}
