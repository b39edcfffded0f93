//! The words of a commit: what an agent's answer has, or what the task says.
//!
//! Invariant: nothing that is not text reaches history, neither an empty tag nor a fence nor an escape sequence.

use crate::claim::first_tag;

/// The commit message in an agent's answer: what a `response` tag holds, else the first line that says
/// anything. What is not text, or not a message, is none.
pub fn commit_message(answer: &str) -> Option<String> {
    let message = match first_tag(answer, "response") {
        Some(text) => text.replace("\r\n", "\n").trim().to_owned(),
        None => answer.lines().map(str::trim).find(|line| !line.is_empty())?.to_owned(),
    };
    let is_structured =
        message.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(&message).is_ok();
    let is_open_tag = message.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<response"));
    let is_message = !message.is_empty()
        && !is_structured
        && !is_open_tag
        && !message.lines().any(is_fence)
        && message.chars().all(is_text);
    is_message.then_some(message)
}

/// Whether a line begins or ends a block of code.
fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether a character neither moves the cursor nor turns the direction of what follows.
fn is_text(char: char) -> bool {
    let is_turn = matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !is_turn && (!char.is_control() || matches!(char, '\n' | '\t'))
}

/// A commit message made from the task, for agents that do not give one.
pub fn message_from_task(mode: &str, iteration: u32, task: &str) -> String {
    let line = first_line(task);
    let short: String = line.chars().take(60).collect();
    let dots = if short.len() < line.len() { "..." } else { "" };
    format!("{mode}: iteration {iteration} - {}{dots}", short.trim_end())
}

/// The first line that says something, without the marks of a heading and what would move the cursor.
pub fn first_line(text: &str) -> String {
    let lines = text.lines().filter(|line| !is_fence(line)).map(without_escapes);
    let mut lines = lines.map(|line| line.trim().trim_start_matches(['#', ' ']).to_owned());
    let line = lines.find(|line| !line.trim_matches(['-', '=', '*']).is_empty());
    line.unwrap_or_else(|| "work in progress".to_owned())
}

/// A line without escape sequences and other characters that are not text.
fn without_escapes(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let introducer = match char {
            '\u{1b}' => chars.next(),
            '\u{9b}' => Some('['),
            '\u{9d}' => Some(']'),
            _ => {
                text.extend(is_text(char).then_some(char));
                continue;
            }
        };
        match introducer {
            // Up to its final letter.
            Some('[') => _ = chars.find(|char| matches!(char, '@'..='~')),
            // Up to a bell, or to a string terminator, whose second half is a backslash.
            Some(']' | 'P' | 'X' | '^' | '_') => {
                _ = chars.find(|char| matches!(char, '\u{7}' | '\\' | '\u{9c}'));
            }
            Some(_) | None => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_messages_are_words() {
        #[track_caller]
        fn check(answer: &str, expected: Option<&str>) {
            assert_eq!(commit_message(answer).as_deref(), expected);
        }
        check("Add parser\n\nmore", Some("Add parser"));
        check("\n \n  Add parser  ", Some("Add parser"));
        check("Here you are:\n<response>Fix bug</response>", Some("Fix bug"));
        check("<RESPONSE>\nFix bug\n\nBody.</RESPONSE>", Some("Fix bug\n\nBody."));
        check("", None);
        check(" \n\t", None);
        check(r#"{"type":"result","result":"x"}"#, None);
        check("\"Quote everything\"", Some("\"Quote everything\""));
        check("[parser] Read dates", Some("[parser] Read dates"));
        check("$(touch x) \"quoted\" 'and' `more`", Some("$(touch x) \"quoted\" 'and' `more`"));
    }

    #[test]
    fn message_from_task_is_short() {
        assert_eq!(message_from_task("run", 2, "# Add a parser\nmore"), "run: iteration 2 - Add a parser");
        assert_eq!(message_from_task("run", 1, ""), "run: iteration 1 - work in progress");
        let long = format!("run: iteration 1 - {}...", "word ".repeat(12).trim_end());
        assert_eq!(message_from_task("run", 1, &"word ".repeat(50)), long);
    }

    #[test]
    fn what_is_no_message_leaves_the_words_to_the_task() {
        #[track_caller]
        fn check(answer: &str) {
            assert_eq!(commit_message(answer), None, "{answer:?}");
        }
        check("<response></response>");
        check("<response> \n</response>\nFix bug");
        check("```\nFix bug\n```");
        check("~~~\nFix bug\n~~~");
        check("<response>```\nFix bug\n```</response>");
        check("<response>Fix bug\n\n  ```text\nbody\n```</response>");
        check("\u{1b}[31mFix\u{1b}[0m bug");
        check("Fix \u{1b}]0;title\u{7} bug");
        check("Fix\0 bug");
        check("<response>Fix bug\n\nBo\0dy</response>");
        check("Fix\u{9b}31m bug");
        check("Fix bug\rand overwrite it");
        check("Fix \u{202e}gub");
        check("<response>Fix bug");
    }

    #[test]
    fn the_words_of_a_task_are_harmless() {
        assert_eq!(message_from_task("run", 1, "\u{1b}[31mFix\u{1b}[0m it"), "run: iteration 1 - Fix it");
        assert_eq!(message_from_task("run", 1, "\u{1b}]0;title\u{7}Fix\0 it"), "run: iteration 1 - Fix it");
        assert_eq!(message_from_task("run", 1, "\u{9b}31mFix it"), "run: iteration 1 - Fix it");
        assert_eq!(message_from_task("run", 1, "\u{9d}0;title\u{7}Fix it"), "run: iteration 1 - Fix it");
        assert_eq!(message_from_task("run", 1, "```\nFix it\n```"), "run: iteration 1 - Fix it");
        assert_eq!(message_from_task("run", 1, "```rust"), "run: iteration 1 - work in progress");
        assert_eq!(message_from_task("run", 1, "\u{1b}"), "run: iteration 1 - work in progress");
    }
}
