//! Source text as tokens: comments gone, strings whole.
//!
//! The lexer takes linear time and never fails. Where a text is not what its language allows, some tokens are wrong and the
//! next line is right again: a string that must end on its line and does not is no string.

#[cfg(test)]
mod tests;

use super::{
    syntax::{Escape, Heredoc, Quote, Syntax},
    work,
};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, a keyword or a number.
    Word,
    /// A string; the text is what stands between the quotes.
    Text,
    /// Any other character.
    Sign,
}

/// A piece of source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) line: u32,
    /// How far the line is indented that the token stands in.
    pub(super) indent: u32,
    /// Nothing stands before it on its line.
    pub(super) is_first: bool,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }
}

/// Cuts a text into tokens.
pub(super) fn tokens<'a>(text: &'a str, syntax: &Syntax) -> Vec<Token<'a>> {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
        line: 0,
        indent: 0,
        is_first: true,
        tokens: Vec::new(),
        heredocs: Vec::new(),
        no_close: [0; 256],
    };
    lexer.begin_line();
    lexer.run(syntax);
    lexer.tokens
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    indent: u32,
    is_first: bool,
    tokens: Vec<Token<'a>>,
    /// Words that end the strings which begin on the next line.
    heredocs: Vec<&'a str>,
    /// For each quote, up to where it is known that it is not closed on its line.
    no_close: [usize; 256],
}

impl Lexer<'_> {
    fn run(&mut self, syntax: &Syntax) {
        while let Some(&byte) = self.bytes.get(self.at) {
            work::step();
            match byte {
                b'\n' => self.end_line(),
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                _ if self.comment(syntax) => {}
                _ if self.heredoc(syntax) => {}
                _ if self.string(syntax) => {}
                b'/' if syntax.has_regexes && self.regex() => {}
                _ if is_word_byte(byte) => self.word(syntax),
                _ => {
                    // Only ASCII is no word, so this is a whole character.
                    self.push(Kind::Sign, self.at, self.at + 1);
                    self.at += 1;
                }
            }
        }
    }

    fn push(&mut self, kind: Kind, from: usize, to: usize) {
        let text = self.text.get(from..to).unwrap_or_default();
        self.tokens.push(Token { kind, text, line: self.line, indent: self.indent, is_first: self.is_first });
        self.is_first = false;
    }

    fn end_line(&mut self) {
        self.at += 1;
        self.line += 1;
        for word in std::mem::take(&mut self.heredocs) {
            self.skip_heredoc(word);
        }
        self.begin_line();
    }

    fn begin_line(&mut self) {
        let spaces = self.bytes[self.at.min(self.bytes.len())..].iter();
        let indent = spaces.take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.indent = u32::try_from(indent).unwrap_or(u32::MAX);
        self.is_first = true;
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    /// Moves on to this place and counts the lines on the way.
    fn skip_to(&mut self, to: usize) {
        let to = to.min(self.bytes.len());
        let lines = memchr::memchr_iter(b'\n', &self.bytes[self.at..to]).count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.at = to;
    }

    fn find(&self, from: usize, text: &str) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        memchr::memmem::find(rest, text.as_bytes()).map(|at| from + at)
    }

    fn comment(&mut self, syntax: &Syntax) -> bool {
        for start in syntax.line_comments {
            // `$#` and `a#b` of a shell are no comments, and `#[` of PHP is an attribute.
            let is_hash = *start == "#";
            let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at));
            let is_inside =
                is_hash && before.is_some_and(|byte| is_word_byte(*byte) || *byte == b'$' || *byte == b'{');
            let is_attribute = is_hash && syntax.heredoc == Heredoc::Php && self.starts_with("#[");
            if self.starts_with(start) && !is_inside && !is_attribute {
                self.at = memchr::memchr(b'\n', &self.bytes[self.at..])
                    .map_or(self.bytes.len(), |end| self.at + end);
                return true;
            }
        }
        let Some((open, close)) = syntax.block_comment else { return false };
        // Ruby's begin a line.
        if !self.starts_with(open) || (open == "=begin" && !(self.is_first && self.indent == 0)) {
            return false;
        }
        let mut end = self.at + open.len();
        let mut depth = 1_usize;
        while depth > 0 {
            let Some(closing) = self.find(end, close) else {
                end = self.bytes.len();
                break;
            };
            let inner = &self.bytes[end..closing];
            if syntax.is_rust {
                depth += memchr::memmem::find_iter(inner, open.as_bytes()).count();
            }
            depth -= 1;
            end = closing + close.len();
        }
        self.skip_to(end);
        true
    }

    fn heredoc(&mut self, syntax: &Syntax) -> bool {
        let start = match syntax.heredoc {
            Heredoc::None => return false,
            Heredoc::Shell => "<<",
            Heredoc::Php => "<<<",
        };
        if !self.starts_with(start) || self.starts_with("<<<") != (syntax.heredoc == Heredoc::Php) {
            return false;
        }
        let rest = &self.text[self.at + start.len()..];
        let word =
            rest.trim_start_matches(['-', '~']).trim_start_matches(' ').trim_start_matches(['"', '\'']);
        let length = word.bytes().take_while(|byte| is_word_byte(*byte)).count();
        let word = &word[..length];
        // `1 << 2` and `array << value` are none: those words are written in capitals.
        if !word.starts_with(|first: char| first.is_ascii_uppercase() || first == '_') {
            return false;
        }
        if self.heredocs.len() < MAX_HEREDOCS {
            self.heredocs.push(word);
        }
        let from = word.as_ptr() as usize - self.text.as_ptr() as usize;
        self.at = from + length;
        if matches!(self.bytes.get(self.at), Some(b'"' | b'\'')) {
            self.at += 1;
        }
        true
    }

    fn skip_heredoc(&mut self, word: &str) {
        let from = self.at;
        while self.at < self.bytes.len() {
            let end =
                memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |end| self.at + end);
            let line = self.bytes[self.at..end].trim_ascii();
            work::step();
            let is_end = line
                .strip_prefix(word.as_bytes())
                .is_some_and(|rest| rest.first().is_none_or(|byte| !is_word_byte(*byte)));
            if is_end {
                self.push(Kind::Text, from, self.at);
                self.at += self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                self.at += word.len();
                return;
            }
            self.line += 1;
            self.at = (end + 1).min(self.bytes.len());
        }
        self.push(Kind::Text, from, self.at);
    }

    fn string(&mut self, syntax: &Syntax) -> bool {
        if self.bytes[self.at] == b'\'' && syntax.is_rust {
            return self.character_or_lifetime();
        }
        let Some(quote) = syntax.quotes.iter().find(|quote| self.starts_with(quote.open)) else {
            return false;
        };
        let from = self.at + quote.open.len();
        let key = usize::from(quote.close.as_bytes()[0]);
        if !quote.is_multiline && self.at < self.no_close[key] {
            return false;
        }
        match end_of_string(self.bytes, from, quote) {
            Ok(end) => {
                self.push(Kind::Text, from, end);
                self.skip_to(end + quote.close.len());
                true
            }
            Err(end_of_line) => {
                self.no_close[key] = end_of_line;
                false
            }
        }
    }

    fn character_or_lifetime(&mut self) -> bool {
        let rest = &self.bytes[self.at + 1..];
        let end = match rest {
            [b'\\', _, ..] => rest.iter().take(12).skip(2).position(|byte| *byte == b'\'').map(|at| at + 2),
            // A character of several bytes can be up to four long.
            _ => rest.iter().take(5).skip(1).position(|byte| *byte == b'\'').map(|at| at + 1),
        };
        let is_lifetime = rest.first().is_some_and(|byte| is_word_byte(*byte)) && rest.get(1) != Some(&b'\'');
        let is_character = !is_lifetime || rest.first().is_some_and(|byte| *byte >= 0x80);
        if let Some(end) = end.filter(|_| is_character) {
            self.push(Kind::Text, self.at + 1, self.at + 1 + end);
            self.skip_to(self.at + end + 2);
        } else {
            self.push(Kind::Sign, self.at, self.at + 1);
            self.at += 1;
        }
        true
    }

    /// A slash begins a regular expression where a value can begin.
    fn regex(&mut self) -> bool {
        const BEFORE: [&str; 16] = [
            "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "if",
            "when", "and", "or", "not",
        ];
        let can_begin = self.tokens.last().is_none_or(|token| match token.kind {
            Kind::Text => false,
            Kind::Word => BEFORE.contains(&token.text),
            Kind::Sign => !matches!(token.text, ")" | "]" | "}"),
        });
        if !can_begin || self.at < self.no_close[usize::from(b'/')] {
            return false;
        }
        let mut in_class = false;
        let mut at = self.at + 1;
        while let Some(byte) = self.bytes.get(at) {
            work::step();
            match byte {
                b'\n' => break,
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => {
                    self.push(Kind::Text, self.at + 1, at);
                    self.at = at + 1;
                    return true;
                }
                _ => {}
            }
            at += 1;
        }
        self.no_close[usize::from(b'/')] = at;
        false
    }

    fn word(&mut self, syntax: &Syntax) {
        let length = self.bytes[self.at..].iter().take_while(|byte| is_word_byte(**byte)).count();
        let end = self.at + length;
        let is_prefix = syntax.is_rust && matches!(&self.bytes[self.at..end], b"r" | b"br" | b"cr");
        if is_prefix && self.raw_string(end) {
            return;
        }
        self.push(Kind::Word, self.at, end);
        self.at = end;
    }

    fn raw_string(&mut self, after: usize) -> bool {
        let hashes = self.bytes[after..].iter().take_while(|byte| **byte == b'#').count();
        let from = after + hashes + 1;
        if self.bytes.get(after + hashes) != Some(&b'"') {
            return false;
        }
        // More hashes than anyone writes are not looked for again and again.
        let close = format!("\"{}", "#".repeat(hashes.min(64)));
        let end = self.find(from, &close).unwrap_or(self.bytes.len());
        self.push(Kind::Text, from, end);
        self.skip_to(end + close.len());
        true
    }
}

/// How many strings can begin on one line.
const MAX_HEREDOCS: usize = 8;

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Where a string ends, or the end of its line when it has to end there and does not.
fn end_of_string(bytes: &[u8], from: usize, quote: &Quote) -> Result<usize, usize> {
    let close = quote.close.as_bytes();
    // Inside a string, or inside brackets of code in it.
    let mut open = vec![true];
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        work::step();
        let rest = &bytes[at..];
        let in_string = open.last() == Some(&true);
        if byte == b'\n' && !quote.is_multiline {
            return Err(at);
        }
        if byte == b'\\' && quote.escape == Escape::Backslash {
            at += 2;
            continue;
        }
        if rest.starts_with(close) {
            if in_string && quote.escape == Escape::Doubled && rest[close.len()..].starts_with(close) {
                at += 2 * close.len();
                continue;
            }
            if in_string {
                open.pop();
                if open.is_empty() {
                    return Ok(at);
                }
            } else {
                open.push(true);
            }
            at += close.len();
            continue;
        }
        if let Some((start, bracket, end)) = quote.code {
            if in_string && rest.starts_with(start.as_bytes()) && open.len() < MAX_NESTING {
                open.push(false);
                at += start.len();
                continue;
            }
            if !in_string && byte == bracket && open.len() < MAX_NESTING {
                open.push(false);
            } else if !in_string && byte == end {
                open.pop();
            }
        }
        at += 1;
    }
    if quote.is_multiline { Ok(bytes.len()) } else { Err(bytes.len()) }
}

/// How deep strings and code in them may nest.
const MAX_NESTING: usize = 200;
