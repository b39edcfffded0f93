//! Cuts Rust source into words and signs. Comments, strings, characters and lifetimes are left out: no path is in them.

/// A word or a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    /// `::`
    Separator,
    Sign(u8),
}

/// The tokens of a source file.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.bytes().next() {
        let length = match first {
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => block_comment(rest),
            b'"' => string(rest),
            b'\'' => character(rest),
            b':' if rest.starts_with("::") => {
                tokens.push(Token::Separator);
                2
            }
            _ if is_of_word(first) => {
                let length = rest.bytes().position(|byte| !is_of_word(byte)).unwrap_or(rest.len());
                let string = raw_string(&rest[..length], &rest[length..]);
                if string.is_none() {
                    tokens.push(Token::Word(&rest[..length]));
                }
                length + string.unwrap_or(0)
            }
            b' ' | b'\n' | b'\r' | b'\t' => 1,
            _ => {
                tokens.push(Token::Sign(first));
                rest.chars().next().map_or(1, char::len_utf8)
            }
        };
        rest = &rest[length..];
    }
    tokens
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Comments nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A string with a prefix such as `r#`, of which `word` is the letters: how much of `rest` belongs to it.
fn raw_string(word: &str, rest: &str) -> Option<usize> {
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    let is_raw = matches!(word, "r" | "br" | "cr");
    match (is_raw, rest.as_bytes().get(hashes)) {
        (true, Some(b'"')) => {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = hashes + 1;
            Some(rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len()))
        }
        _ => None,
    }
}

/// A character, or the mark of a lifetime, whose name then follows as a word that is no path.
fn character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let after = at + escaped.len_utf8();
            text[after..].find('\'').map_or(text.len(), |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
