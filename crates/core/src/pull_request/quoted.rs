//! Words of others in the description of a pull request: they reach no one, close nothing, and stay where they are put.

use crate::issue::sifted::{WORD_JOINER, sifted};

/// So many characters of a title.
const MAX_TITLE_CHARS: usize = 72;

/// What a text is called in a list of pull requests.
pub fn title(text: &str) -> String {
    let line = text
        .lines()
        .map(|line| line.trim_start_matches(['#', ' ', '\t']))
        .find(|line| !line.trim().is_empty());
    cut(&in_a_line(line.unwrap_or_default()), MAX_TITLE_CHARS)
}

/// A text in a line of Markdown, wherever that is: in a list, in a table, between other words.
pub(super) fn inline(text: &str, most: usize) -> String {
    let mut escaped = String::new();
    for char in cut(&in_a_line(text), most).chars() {
        match char {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '-' | '!' | '|'
            | '~' | '$' | '=' | ':' => {
                escaped.extend(['\\', char]);
            }
            char => escaped.push(char),
        }
    }
    escaped
}

/// A text in lines of its own, between fences that it cannot close.
pub(super) fn block(text: &str, most: usize) -> String {
    let text = unlinked(&sifted(text).text);
    let kept: String = text.chars().take(most).collect();
    let rest = text.chars().count().saturating_sub(most);
    let fence = "`".repeat(longest_run(&kept).max(2) + 1);
    let more = if rest == 0 { String::new() } else { format!("\n({rest} more characters are left out)") };
    format!("{fence}text\n{}{more}\n{fence}", kept.trim_end())
}

/// A text in a line, which refers to nothing.
pub(super) fn in_a_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    unlinked(&sifted(&words.join(" ")).text)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most - 1).collect();
    format!("{}…", kept.trim_end())
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|char| char != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// The same words, but no mention of a person, no number of an issue, no address, no mark of ralph's, and nothing that keeps
/// checks from running. Also in code: a merge may make a commit message of a description, and there is no code in that.
fn unlinked(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        let rest = &text[at + char.len_utf8()..];
        safe.push(char);
        let next = rest.chars().next();
        let is_reference = match char {
            '@' => next.is_some_and(char::is_alphanumeric),
            '#' | '!' => next.is_some_and(|next| next.is_ascii_digit()),
            ':' => rest.starts_with("//"),
            '-' => is_after_gh(&text[..at]) && next.is_some_and(|next| next.is_ascii_digit()),
            '[' => skips_checks(rest),
            '<' => next == Some('!'),
            _ => false,
        };
        if is_reference {
            safe.push(WORD_JOINER);
        }
    }
    safe
}

/// `GH-12` is an issue.
fn is_after_gh(before: &str) -> bool {
    let mut last = before.chars().rev();
    let is = |char: Option<char>, letter: char| char.is_some_and(|char| char.eq_ignore_ascii_case(&letter));
    is(last.next(), 'h') && is(last.next(), 'g') && !last.next().is_some_and(char::is_alphanumeric)
}

fn skips_checks(rest: &str) -> bool {
    let rest = rest.trim_start().to_ascii_lowercase();
    ["skip", "ci", "no", "actions"].iter().any(|word| rest.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_refer_to_nothing() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(in_a_line(text).replace(WORD_JOINER, "·"), expected);
        }
        check("Thanks @ann and @acme/core", "Thanks @·ann and @·acme/core");
        check("Fixes #1, closes acme/tool#2", "Fixes #·1, closes acme/tool#·2");
        check("Resolves GH-3 and gh-4, not high-5", "Resolves GH-·3 and gh-·4, not high-5");
        check(
            "closes https://github.com/acme/tool/issues/5",
            "closes https:·//github.com/acme/tool/issues/5",
        );
        check("closes !7", "closes !·7");
        check("[skip ci] [ci skip] [no ci] [x]", "[·skip ci] [·ci skip] [·no ci] [x]");
        check("<!-- ralph:end -->", "<·!-- ralph:end -->");
        check("a\u{202e}b\nc\td", "ab c d");
        check("a @ b, x#y, C#", "a @ b, x#y, C#");
    }

    #[test]
    fn a_line_stays_in_its_place() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            assert_eq!(inline(text, 100).replace(WORD_JOINER, "·"), expected);
        }
        check("a | b", "a \\| b");
        check("</details><script>", "&lt;/details&gt;&lt;script&gt;");
        check("one\n\n# two\n- three", "one \\# two \\- three");
        check("![x](http://e) `code` $x$", "\\!\\[x\\]\\(http\\:·//e\\) \\`code\\` \\$x\\$");
        check("a\\|b", "a\\\\\\|b");
        assert_eq!(inline("abcdef", 4), "abc…");
    }

    #[test]
    fn a_block_cannot_be_closed() {
        assert_eq!(block("a\n```\n<b>\n", 100), "````text\na\n```\n<b>\n````");
        assert_eq!(block("````` x", 100), "``````text\n````` x\n``````");
        assert_eq!(block("abcdef", 4), "```text\nabcd\n(2 more characters are left out)\n```");
        assert_eq!(block("~~~\n@ann", 100).replace(WORD_JOINER, "·"), "```text\n~~~\n@·ann\n```");
    }

    #[test]
    fn titles_are_short_lines() {
        assert_eq!(title("\n\n## Accept ISO weeks\nand more"), "Accept ISO weeks");
        assert_eq!(title(&"word ".repeat(40)).chars().count(), 72);
        assert_eq!(title(""), "");
    }
}
