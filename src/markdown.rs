//! The little of Markdown that plans and agents' notes are read by: headings, list items, code.

/// One line that means something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// `## Title`, with its level.
    Heading(usize, &'a str),
    /// A whole fenced block, without its fences.
    Code(String),
    /// Anything else that is not blank.
    Text(&'a str),
}

/// Reads a document line by line; a fenced block is one line, so nothing in it is taken for a heading.
pub fn lines(document: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut source = document.lines();
    while let Some(line) = source.next() {
        let trimmed = line.trim();
        if let Some(fence) = fence(trimmed) {
            let block: Vec<&str> =
                source.by_ref().take_while(|line| !line.trim().starts_with(fence)).collect();
            lines.push(Line::Code(block.join("\n")));
        } else if let Some((level, title)) = heading(trimmed) {
            lines.push(Line::Heading(level, title));
        } else if !trimmed.is_empty() {
            lines.push(Line::Text(trimmed));
        }
    }
    lines
}

fn fence(line: &str) -> Option<&str> {
    ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence))
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=6).contains(&level).then_some(())?;
    title.starts_with([' ', '\t']).then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// The first code span of a text.
pub fn code_span(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('`')?;
    let (span, _) = rest.split_once('`')?;
    Some(span.trim()).filter(|span| !span.is_empty())
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

    #[test]
    fn code_hides_what_is_in_it() {
        let document = "# A #\n\n```sh\n# not a heading\n- [ ] not a task\n```\ntext\n#hash\n~~~\nopen";
        let code = |text: &str| Line::Code(text.to_owned());
        assert_eq!(
            lines(document),
            [
                Line::Heading(1, "A"),
                code("# not a heading\n- [ ] not a task"),
                Line::Text("text"),
                Line::Text("#hash"),
                code("open"),
            ]
        );
    }

    #[test]
    fn marks_are_taken_off() {
        assert_eq!(plain("- **Status:** done"), "Status:** done");
        assert_eq!(plain("1. first"), "first");
        assert_eq!(plain("12 apples"), "12 apples");
        assert_eq!(plain("* x"), "x");
    }

    #[test]
    fn spans() {
        assert_eq!(code_span("run `make test` first"), Some("make test"));
        assert_eq!(code_span("no `` span"), None);
        assert_eq!(code_span("open `span"), None);
    }
}
