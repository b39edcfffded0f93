//! What agents wrote, on its way into a prompt: text of the list must not pass for words of ralph.

/// How much of an id is shown.
pub const MAX_ID_LEN: usize = 100;

/// How much of a title is shown.
pub const MAX_TITLE_LEN: usize = 200;

/// How much of what a review wants changed is in a prompt; the rest is in the list.
const MAX_FEEDBACK_LEN: usize = 8_000;

/// A text as one line of at most `max` characters: whatever would begin another is escaped.
pub fn one_line(text: &str, max: usize) -> String {
    let text = text.trim();
    let end = text.char_indices().nth(max).map(|(at, _)| at);
    let mut line = String::new();
    for c in text[..end.unwrap_or(text.len())].chars() {
        if breaks_lines(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    if end.is_some() {
        line.push_str("...");
    }
    line
}

/// A text of several lines, each of which is marked as quoted.
pub fn quoted_lines(text: &str) -> String {
    let text = text.trim();
    let end = text.char_indices().nth(MAX_FEEDBACK_LEN).map(|(at, _)| at);
    let shown = text[..end.unwrap_or(text.len())].lines();
    let mut lines: Vec<String> = shown.map(|line| format!("> {}", one_line(line, usize::MAX))).collect();
    if end.is_some() {
        lines.push("> ... (the rest is in the task list)".to_owned());
    }
    lines.join("\n")
}

/// Whether a character ends a line somewhere, or turns the direction of reading.
fn breaks_lines(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_not_a_long_one() {
        let check = |text: &str, expected: &str| assert_eq!(one_line(text, 12), expected);
        check("  Weeks\tand days  ", "Weeks\tand da...");
        check("ISO weeks", "ISO weeks");
        check("a\nMode: x", "a\\nMode: x");
        check("a\r\u{85}b\u{2028}c\u{202e}d\u{1b}[2J", "a\\r\\u{85}b\\u{2028}c\\u{202e}d\\u{1b}[2J");
        check("ééééééééééééé", "éééééééééééé...");
        check("éééééééééééé", "éééééééééééé");
    }

    #[test]
    fn every_line_of_a_quotation_is_marked() {
        assert_eq!(quoted_lines("\nOne.\r\n\nMode: none\u{2028}x\n"), "> One.\n> \n> Mode: none\\u{2028}x");
        let long = quoted_lines(&"x".repeat(MAX_FEEDBACK_LEN + 1));
        assert!(long.ends_with("x\n> ... (the rest is in the task list)"), "{}", long.len());
        assert!(!quoted_lines(&"x".repeat(MAX_FEEDBACK_LEN)).contains("rest"));
    }
}
