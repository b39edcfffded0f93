//! Redirections.

use std::{cell::OnceCell, rc::Rc};

use super::{
    ParseError, Redirect, RedirectKind, Word,
    heredoc::PendingHeredoc,
    parse::{Parser, is_separator},
};

/// The operators, longest first.
const OPERATORS: [(&str, RedirectKind); 13] = [
    ("&>>", RedirectKind::Append),
    ("&>", RedirectKind::Write),
    ("<<<", RedirectKind::Here),
    ("<<-", RedirectKind::Here),
    ("<<", RedirectKind::Here),
    ("<>", RedirectKind::ReadWrite),
    ("<&", RedirectKind::Duplicate),
    (">>", RedirectKind::Append),
    (">|", RedirectKind::Write),
    (">&", RedirectKind::Duplicate),
    ("<", RedirectKind::Read),
    (">", RedirectKind::Write),
    ("\u{0}", RedirectKind::Read),
];

impl Parser {
    /// The redirection that comes next, if one does.
    pub(super) fn parse_redirect(&mut self) -> Result<Option<Redirect>, ParseError> {
        let start = self.at;
        let fd = self.parse_descriptor();
        let found = OPERATORS.iter().find(|(text, _)| self.is_at(text));
        let Some((text, kind)) = found.filter(|_| !self.is_at_process()) else {
            self.at = start;
            return Ok(None);
        };
        self.at += text.len();
        self.skip_blanks();
        if self.peek().is_none_or(|next| is_separator(next) && !self.is_at_process()) {
            return Err(ParseError::Syntax("the target of a redirection"));
        }
        let body = Rc::new(OnceCell::new());
        let mut target = Word::default();
        match *text {
            "<<" | "<<-" => {
                self.count_node()?;
                let (delimiter, is_quoted) = self.parse_delimiter();
                self.pending.push(PendingHeredoc {
                    delimiter,
                    is_quoted,
                    strips_tabs: *text == "<<-",
                    body: Rc::clone(&body),
                });
            }
            "<<<" => {
                let _ = body.set(self.parse_word()?);
            }
            _ => target = self.parse_word()?,
        }
        Ok(Some(Redirect { kind: *kind, fd, target, body }))
    }

    /// `2` in `2>`, `{name}` in `{name}>`.
    fn parse_descriptor(&mut self) -> Option<u32> {
        let digits = self.text[self.at..].iter().take(4).take_while(|next| next.is_ascii_digit()).count();
        if 0 < digits && matches!(self.peek_at(digits), Some('<' | '>')) {
            let text: String = self.text[self.at..self.at + digits].iter().collect();
            self.at += digits;
            return text.parse().ok();
        }
        if self.peek() == Some('{') {
            let length = self.text[self.at..].iter().take(40).position(|next| *next == '}')?;
            let is_name = self.text[self.at + 1..self.at + length].iter().all(char::is_ascii_alphanumeric);
            if is_name && matches!(self.peek_at(length + 1), Some('<' | '>')) {
                self.at += length + 1;
            }
        }
        None
    }

    /// Whether `<(` or `>(` comes next.
    pub(super) fn is_at_process(&self) -> bool {
        self.is_at("<(") || self.is_at(">(")
    }
}
