//! Words: quotes, parameters, substitutions.

use std::rc::Rc;

use super::{
    Parameter, ParseError, Word, WordPart,
    parse::{Parser, is_separator},
};

/// Reads a text as between double quotes, such as the lines of a here-document.
pub(crate) fn parse_text(text: &str, depth: usize) -> Result<Word, ParseError> {
    let mut parser = Parser::new(text, depth);
    parser.deeper(|parser| parser.pieces(End::Never))
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
    pub(super) fn word(&mut self) -> Result<Word, ParseError> {
        self.count()?;
        self.pieces(End::Separator)
    }

    fn pieces(&mut self, end: End) -> Result<Word, ParseError> {
        let mut word = Word::default();
        while let Some(next) = self.peek() {
            if self.is_end(end, next, &word) {
                return Ok(word);
            }
            self.piece(end, next, &mut word)?;
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
                is_separator(next) && !self.at_process() && !(next == '(' && ends_in_pattern(word))
            }
            End::DoubleQuote => next == '"',
            End::Brace { .. } => next == '}',
            End::Never => false,
        }
    }

    fn piece(&mut self, end: End, next: char, word: &mut Word) -> Result<(), ParseError> {
        match next {
            '\\' => self.escape(end, word),
            '\'' if !end.is_quoting() => self.single_quoted(word)?,
            '"' if end != End::Never => {
                self.at += 1;
                let inner = self.deeper(|parser| parser.pieces(End::DoubleQuote))?;
                self.at += 1;
                word.parts.push(WordPart::Quoted(String::new()));
                word.parts.extend(inner.parts);
            }
            '$' => self.dollar(end, word)?,
            '`' => self.backquoted(end, word)?,
            '<' | '>' if end == End::Separator => self.process(word)?,
            '(' if end == End::Separator => self.pattern(word)?,
            _ => {
                self.at += 1;
                push(word, next, end.is_quoting());
            }
        }
        Ok(())
    }

    fn escape(&mut self, end: End, word: &mut Word) {
        let after = self.peek_at(1);
        self.at += 2;
        match after {
            None => {
                self.at = self.text.len();
                push(word, '\\', true);
            }
            Some('\n') => {}
            Some(escaped) if !end.is_quoting() || "$`\"\\".contains(escaped) => push(word, escaped, true),
            Some('}') if matches!(end, End::Brace { .. }) => push(word, '}', true),
            Some(other) => {
                push(word, '\\', true);
                push(word, other, true);
            }
        }
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let start = self.at + 1;
        let length = self.text[start..].iter().position(|next| *next == '\'');
        let length = length.ok_or(ParseError::Syntax("'"))?;
        word.parts.push(WordPart::Quoted(self.text[start..start + length].iter().collect()));
        self.at = start + length + 1;
        Ok(())
    }

    /// What begins with `$`.
    fn dollar(&mut self, end: End, word: &mut Word) -> Result<(), ParseError> {
        let quoted = end.is_quoting();
        self.count()?;
        match self.peek_at(1) {
            Some('(') => {
                self.at += 1;
                let part = match self.looks_at("((").then(|| self.arithmetic(2)).transpose()?.flatten() {
                    Some(inner) => WordPart::Arithmetic(Box::new(inner)),
                    None => WordPart::Substitution { list: self.bracketed()?, quoted },
                };
                word.parts.push(part);
            }
            Some('[') => {
                self.at += 1;
                match self.arithmetic(1)? {
                    Some(inner) => word.parts.push(WordPart::Arithmetic(Box::new(inner))),
                    None => push(word, '$', quoted),
                }
            }
            Some('{') => {
                self.at += 2;
                let parameter = self.deeper(|parser| parser.parameter(quoted))?;
                word.parts.push(WordPart::Parameter(Box::new(parameter)));
            }
            Some('\'') if !quoted => {
                self.at += 2;
                let text = self.ansi()?;
                word.parts.push(WordPart::Quoted(text));
            }
            // The next piece is the double-quoted text.
            Some('"') if !quoted => self.at += 1,
            Some(next) if is_parameter(next) => {
                self.at += 1;
                let mut name = self.name();
                if name.is_empty() {
                    name.push(next);
                    self.at += 1;
                }
                word.parts.push(WordPart::Parameter(Box::new(simple_parameter(name, quoted))));
            }
            _ => {
                self.at += 1;
                push(word, '$', quoted);
            }
        }
        Ok(())
    }

    /// `( ... )` with commands in it.
    fn bracketed(&mut self) -> Result<Rc<super::List>, ParseError> {
        self.expect("(")?;
        let list = self.deeper(|parser| parser.list(&[]))?;
        self.expect(")")?;
        Ok(Rc::new(list))
    }

    fn process(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let is_output = self.peek() == Some('>');
        self.at += 1;
        let list = self.bracketed()?;
        word.parts.push(WordPart::Process { list, is_output });
        Ok(())
    }

    /// `@( ... )` and the like, as text.
    fn pattern(&mut self, word: &mut Word) -> Result<(), ParseError> {
        let length = self.balanced('(', ')').ok_or(ParseError::Syntax(")"))?;
        for _ in 0..length {
            let next = self.peek().unwrap_or_default();
            push(word, next, false);
            self.at += 1;
        }
        Ok(())
    }

    /// `(( ... ))` or `[ ... ]`, if it is closed as it was opened.
    ///
    /// The brackets alone decide, without reading what is in them: trying both readings at every level would take
    /// exponential time.
    pub(super) fn arithmetic(&mut self, brackets: usize) -> Result<Option<Word>, ParseError> {
        let (open, close) = if brackets == 2 { ('(', ')') } else { ('[', ']') };
        let Some(length) = self.balanced(open, close) else { return Ok(None) };
        if length < 2 * brackets || (brackets == 2 && self.peek_at(length - 2) != Some(')')) {
            return Ok(None);
        }
        let text: String = self.text[self.at + brackets..self.at + length - brackets].iter().collect();
        // `((a); (b))` is a subshell in a subshell.
        if brackets == 2 && !is_balanced(&text) {
            return Ok(None);
        }
        let word = parse_text(&text, self.depth())?;
        self.at += length;
        Ok(Some(word))
    }

    /// How long the bracketed text is that comes next. Quotes and escapes are passed over.
    ///
    /// Looking ahead is limited for each bracket and for a whole text, or a text of brackets would take too long. What
    /// is longer than that is no computation and no pattern.
    fn balanced(&mut self, open: char, close: char) -> Option<usize> {
        let max = self.ahead.min(4096);
        let length = self.balanced_within(open, close, max);
        self.ahead -= length.unwrap_or(max).min(self.text.len() - self.at);
        length
    }

    fn balanced_within(&self, open: char, close: char, max: usize) -> Option<usize> {
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

    fn backquoted(&mut self, end: End, word: &mut Word) -> Result<(), ParseError> {
        let mut text = String::new();
        self.count()?;
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
    fn parameter(&mut self, quoted: bool) -> Result<Parameter, ParseError> {
        let is_length =
            self.peek() == Some('#') && !matches!(self.peek_at(1), Some('}' | '#' | '%' | ':' | '-'));
        let is_indirect = self.peek() == Some('!') && self.peek_at(1) != Some('}');
        self.at += usize::from(is_length || is_indirect);
        let mut name = self.name();
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
            let length = self.balanced('[', ']').ok_or(ParseError::Syntax("]"))?;
            parameter.index = Some(self.text[self.at + 1..self.at + length - 1].iter().collect());
            self.at += length;
        }
        let operation = OPERATIONS.into_iter().find(|text| self.looks_at(text));
        let operation = operation.or_else(|| [":", "@", "*"].into_iter().find(|text| self.looks_at(text)));
        if let Some(text) = operation {
            self.at += text.len();
            parameter.operation = Some((text, self.pieces(End::Brace { quoted })?));
        }
        self.expect("}")?;
        Ok(parameter)
    }

    /// The rest of `$'...'`.
    fn ansi(&mut self) -> Result<String, ParseError> {
        let mut bytes = Vec::new();
        while let Some(next) = self.peek() {
            self.at += 1;
            match next {
                '\'' => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                '\\' => self.ansi_escape(&mut bytes),
                _ => bytes.extend(next.to_string().bytes()),
            }
        }
        Err(ParseError::Syntax("'"))
    }

    fn ansi_escape(&mut self, bytes: &mut Vec<u8>) {
        let Some(kind) = self.peek() else { return };
        self.at += 1;
        match kind {
            'x' => bytes.push(u8::try_from(self.number(16, 2)).unwrap_or_default()),
            'u' | 'U' => {
                let code = self.number(16, if kind == 'u' { 4 } else { 8 });
                bytes.extend(char::from_u32(code).unwrap_or('\u{fffd}').to_string().bytes());
            }
            '0'..='7' => {
                self.at -= 1;
                bytes.push(u8::try_from(self.number(8, 3) & 0xff).unwrap_or_default());
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

    fn number(&mut self, radix: u32, max: usize) -> u32 {
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

fn push(word: &mut Word, character: char, quoted: bool) {
    match (word.parts.last_mut(), quoted) {
        (Some(WordPart::Quoted(text)), true) | (Some(WordPart::Plain(text)), false) => text.push(character),
        (_, true) => word.parts.push(WordPart::Quoted(character.to_string())),
        (_, false) => word.parts.push(WordPart::Plain(character.to_string())),
    }
}
