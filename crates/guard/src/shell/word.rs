//! Words: quotes, parameters, substitutions.

use std::rc::Rc;

use super::{
    Parameter, ParseError, Word, WordPart,
    parse::{Parser, is_separator},
};

/// Reads a text as between double quotes, such as the lines of a here-document.
pub(crate) fn parse_quoted(text: &str, depth: usize) -> Result<Word, ParseError> {
    let mut parser = Parser::new(text, depth);
    parser.nested(|parser| parser.parse_parts(End::Never))
}

/// What ends a sequence of pieces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Separator,
    DoubleQuote,
    /// The end of `${...}`.
    Brace {
        quoted: bool,
    },
    /// Only the end of the text.
    Never,
}

impl End {
    fn is_quoting(self) -> bool {
        matches!(self, Self::DoubleQuote | Self::Never | Self::Brace { quoted: true })
    }
}

/// The operations of `${name...}`, longest first.
const OPERATIONS: [&str; 20] = [
    ":-", ":=", ":?", ":+", "%%", "##", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "%", "#", "/", "^",
    ",",
];

impl Parser {
    /// The word that comes next.
    pub(super) fn parse_word(&mut self) -> Result<Word, ParseError> {
        self.count_node()?;
        self.parse_parts(End::Separator)
    }

    fn parse_parts(&mut self, end: End) -> Result<Word, ParseError> {
        let mut word = Word::default();
        while let Some(next) = self.peek() {
            if self.is_end(end, next, &word) {
                return Ok(word);
            }
            self.parse_part(end, next, &mut word)?;
        }
        match end {
            End::Separator | End::Never => Ok(word),
            End::DoubleQuote => Err(ParseError::Syntax("\"")),
            End::Brace { .. } => Err(ParseError::Syntax("}")),
        }
    }

    fn is_end(&self, end: End, next: char, word: &Word) -> bool {
        match end {
            End::Separator => {
                is_separator(next) && !self.is_at_process() && !(next == '(' && ends_in_pattern(word))
            }
            End::DoubleQuote => next == '"',
            End::Brace { .. } => next == '}',
            End::Never => false,
        }
    }

    fn parse_part(&mut self, end: End, next: char, word: &mut Word) -> Result<(), ParseError> {
        match next {
            '\\' => self.parse_escape(end, word),
            '\'' if !end.is_quoting() => self.parse_single_quoted(word)?,
            '"' if end != End::Never => {
                self.at += 1;
                let inner = self.nested(|parser| parser.parse_parts(End::DoubleQuote))?;
                self.at += 1;
                word.parts.push(WordPart::Quoted(String::new()));
                word.parts.extend(inner.parts);
            }
            '$' => self.parse_dollar(end, word)?,
            '`' => self.parse_backquoted(end, word)?,
            '<' | '>' if end == End::Separator => self.parse_process(word)?,
            '(' if end == End::Separator => self.parse_pattern(word)?,
            _ => {
                self.at += 1;
                push_char(word, next, end.is_quoting());
            }
        }
        Ok(())
    }

    fn parse_escape(&mut self, end: End, word: &mut Word) {
        let after = self.peek_at(1);
        self.at += 2;
        match after {
            None => {
                self.at = self.text.len();
                push_char(word, '\\', true);
            }
            Some('\n') => {}
            Some(escaped) if !end.is_quoting() || "$`\"\\".contains(escaped) => {
                push_char(word, escaped, true);
            }
            Some('}') if matches!(end, End::Brace { .. }) => push_char(word, '}', true),
            Some(other) => {
                push_char(word, '\\', true);
                push_char(word, other, true);
            }
        }
    }

    fn parse_single_quoted(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let start = self.at + 1;
        let length = self.text[start..].iter().position(|next| *next == '\'');
        let length = length.ok_or(ParseError::Syntax("'"))?;
        word.parts.push(WordPart::Quoted(self.text[start..start + length].iter().collect()));
        self.at = start + length + 1;
        Ok(())
    }

    /// What begins with `$`.
    fn parse_dollar(&mut self, end: End, word: &mut Word) -> Result<(), ParseError> {
        let quoted = end.is_quoting();
        self.count_node()?;
        match self.peek_at(1) {
            Some('(') => {
                self.at += 1;
                let part = match self.is_at("((").then(|| self.parse_arithmetic(2)).transpose()?.flatten() {
                    Some(inner) => WordPart::Arithmetic(Box::new(inner)),
                    None => WordPart::Substitution { list: self.parse_bracketed()?, quoted },
                };
                word.parts.push(part);
            }
            Some('[') => {
                self.at += 1;
                match self.parse_arithmetic(1)? {
                    Some(inner) => word.parts.push(WordPart::Arithmetic(Box::new(inner))),
                    None => push_char(word, '$', quoted),
                }
            }
            Some('{') => {
                self.at += 2;
                let parameter = self.nested(|parser| parser.parse_parameter(quoted))?;
                word.parts.push(WordPart::Parameter(Box::new(parameter)));
            }
            Some('\'') if !quoted => {
                self.at += 2;
                let text = self.parse_ansi_quoted()?;
                word.parts.push(WordPart::Quoted(text));
            }
            // The next piece is the double-quoted text.
            Some('"') if !quoted => self.at += 1,
            Some(next) if is_parameter(next) => {
                self.at += 1;
                let mut name = self.parse_name();
                if name.is_empty() {
                    name.push(next);
                    self.at += 1;
                }
                word.parts.push(WordPart::Parameter(Box::new(simple_parameter(name, quoted))));
            }
            _ => {
                self.at += 1;
                push_char(word, '$', quoted);
            }
        }
        Ok(())
    }

    /// `( ... )` with commands in it.
    fn parse_bracketed(&mut self) -> Result<Rc<super::List>, ParseError> {
        self.expect("(")?;
        let list = self.nested(|parser| parser.parse_list(&[]))?;
        self.expect(")")?;
        Ok(Rc::new(list))
    }

    fn parse_process(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let is_output = self.peek() == Some('>');
        self.at += 1;
        let list = self.parse_bracketed()?;
        word.parts.push(WordPart::Process { list, is_output });
        Ok(())
    }

    /// `@( ... )` and the like, as text.
    fn parse_pattern(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let length = self.bracketed_len('(', ')').ok_or(ParseError::Syntax(")"))?;
        for _ in 0..length {
            let next = self.peek().unwrap_or_default();
            push_char(word, next, false);
            self.at += 1;
        }
        Ok(())
    }

    /// `(( ... ))` or `[ ... ]`, if it is closed as it was opened.
    ///
    /// The brackets alone decide, without reading what is in them: trying both readings at every level would take
    /// exponential time.
    pub(super) fn parse_arithmetic(&mut self, brackets: usize) -> Result<Option<Word>, ParseError> {
        let (open, close) = if brackets == 2 { ('(', ')') } else { ('[', ']') };
        let Some(length) = self.bracketed_len(open, close) else { return Ok(None) };
        if length < 2 * brackets || (brackets == 2 && self.peek_at(length - 2) != Some(')')) {
            return Ok(None);
        }
        let text: String = self.text[self.at + brackets..self.at + length - brackets].iter().collect();
        // `((a); (b))` is a subshell in a subshell.
        if brackets == 2 && !is_balanced(&text) {
            return Ok(None);
        }
        let word = parse_quoted(&text, self.depth())?;
        self.at += length;
        Ok(Some(word))
    }

    /// How long the bracketed text is that comes next. Quotes and escapes are passed over.
    ///
    /// Looking ahead is limited for each bracket and for a whole text, or a text of brackets would take too long. What
    /// is longer than that is no computation and no pattern.
    fn bracketed_len(&mut self, open: char, close: char) -> Option<usize> {
        let max = self.lookahead_left.min(4096);
        let length = self.bracketed_len_within(open, close, max);
        self.lookahead_left -= length.unwrap_or(max).min(self.text.len() - self.at);
        length
    }

    fn bracketed_len_within(&self, open: char, close: char, max: usize) -> Option<usize> {
        let (mut level, mut quote, mut escaped) = (0_usize, None, false);
        for (length, next) in self.text[self.at..].iter().take(max).enumerate() {
            match (quote, *next) {
                _ if escaped => escaped = false,
                (None | Some('"'), '\\') => escaped = true,
                (Some(mark), other) if mark == other => quote = None,
                (None, mark @ ('"' | '\'')) => quote = Some(mark),
                (None, other) if other == open => level += 1,
                (None, other) if other == close => {
                    level = level.checked_sub(1)?;
                    if level == 0 {
                        return Some(length + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn parse_backquoted(&mut self, end: End, word: &mut Word) -> Result<(), ParseError> {
        let mut text = String::new();
        self.count_node()?;
        self.at += 1;
        while let Some(next) = self.peek() {
            self.at += 1;
            match next {
                '`' => {
                    word.parts.push(WordPart::Backquoted { text, quoted: end.is_quoting() });
                    return Ok(());
                }
                '\\' if self.peek().is_some_and(|after| "$`\\".contains(after)) => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                _ => text.push(next),
            }
        }
        Err(ParseError::Syntax("`"))
    }

    /// What stands in `${...}`, and the brace after it.
    fn parse_parameter(&mut self, quoted: bool) -> Result<Parameter, ParseError> {
        let is_length =
            self.peek() == Some('#') && !matches!(self.peek_at(1), Some('}' | '#' | '%' | ':' | '-'));
        let is_indirect = self.peek() == Some('!') && self.peek_at(1) != Some('}');
        self.at += usize::from(is_length || is_indirect);
        let mut name = self.parse_name();
        if name.is_empty() {
            while self.peek().is_some_and(|next| next.is_ascii_digit()) {
                name.extend(self.peek());
                self.at += 1;
            }
        }
        if name.is_empty() {
            name.extend(self.peek());
            self.at += 1;
        }
        let mut parameter = Parameter { is_indirect, is_length, ..simple_parameter(name, quoted) };
        if self.peek() == Some('[') {
            let length = self.bracketed_len('[', ']').ok_or(ParseError::Syntax("]"))?;
            parameter.index = Some(self.text[self.at + 1..self.at + length - 1].iter().collect());
            self.at += length;
        }
        let operation = OPERATIONS.into_iter().find(|text| self.is_at(text));
        let operation = operation.or_else(|| [":", "@", "*"].into_iter().find(|text| self.is_at(text)));
        if let Some(text) = operation {
            self.at += text.len();
            parameter.operation = Some((text, self.parse_parts(End::Brace { quoted })?));
        }
        self.expect("}")?;
        Ok(parameter)
    }

    /// The rest of `$'...'`.
    fn parse_ansi_quoted(&mut self) -> Result<String, ParseError> {
        let mut bytes = Vec::new();
        while let Some(next) = self.peek() {
            self.at += 1;
            match next {
                '\'' => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                '\\' => self.parse_ansi_escape(&mut bytes),
                _ => bytes.extend(next.to_string().bytes()),
            }
        }
        Err(ParseError::Syntax("'"))
    }

    fn parse_ansi_escape(&mut self, bytes: &mut Vec<u8>) {
        let Some(kind) = self.peek() else { return };
        self.at += 1;
        match kind {
            'x' => bytes.push(u8::try_from(self.parse_number(16, 2)).unwrap_or_default()),
            'u' | 'U' => {
                let code = self.parse_number(16, if kind == 'u' { 4 } else { 8 });
                bytes.extend(char::from_u32(code).unwrap_or('\u{fffd}').to_string().bytes());
            }
            '0'..='7' => {
                self.at -= 1;
                bytes.push(u8::try_from(self.parse_number(8, 3) & 0xff).unwrap_or_default());
            }
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            'e' | 'E' => bytes.push(0x1b),
            'a' | 'b' | 'f' | 'v' => bytes.push(b' '),
            'c' => self.at += 1,
            other => bytes.extend(other.to_string().bytes()),
        }
    }

    fn parse_number(&mut self, radix: u32, max: usize) -> u32 {
        let mut number = 0_u32;
        for _ in 0..max {
            let Some(digit) = self.peek().and_then(|next| next.to_digit(radix)) else { break };
            number = number.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        number
    }
}

fn simple_parameter(name: String, quoted: bool) -> Parameter {
    Parameter { name, index: None, is_indirect: false, is_length: false, operation: None, quoted }
}

/// Whether `$` before this character is a parameter.
fn is_parameter(next: char) -> bool {
    next.is_ascii_alphanumeric() || "_@*#?-$!".contains(next)
}

/// Whether a bracket after this word begins a pattern such as `@(a|b)`.
fn ends_in_pattern(word: &Word) -> bool {
    matches!(word.parts.last(), Some(WordPart::Plain(text)) if text.ends_with(['?', '*', '+', '@', '!']))
}

/// Whether every bracket that is closed was opened before.
fn is_balanced(text: &str) -> bool {
    let mut level = 0_i32;
    text.chars().all(|next| {
        level += match next {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        0 <= level
    })
}

fn push_char(word: &mut Word, character: char, quoted: bool) {
    match (word.parts.last_mut(), quoted) {
        (Some(WordPart::Quoted(text)), true) | (Some(WordPart::Plain(text)), false) => text.push(character),
        (_, true) => word.parts.push(WordPart::Quoted(character.to_string())),
        (_, false) => word.parts.push(WordPart::Plain(character.to_string())),
    }
}
