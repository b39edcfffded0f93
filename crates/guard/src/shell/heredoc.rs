//! Here-documents: announced in one line, said in the next ones.

use std::{cell::OnceCell, rc::Rc};

use super::{
    Word,
    parse::{Parser, is_separator},
    word::parse_quoted,
};

/// A here-document whose lines are still to come.
pub(super) struct PendingHeredoc {
    pub(super) delimiter: String,
    /// Nothing in it is expanded.
    pub(super) is_quoted: bool,
    pub(super) strips_tabs: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

impl Parser {
    /// The word that ends a here-document, and whether it was quoted.
    pub(super) fn parse_delimiter(&mut self) -> (String, bool) {
        let (mut delimiter, mut is_quoted, mut quote) = (String::new(), false, None);
        while let Some(next) = self.peek() {
            match (quote, next) {
                (None, '\'' | '"') => (quote, is_quoted) = (Some(next), true),
                (None, '\\') => {
                    is_quoted = true;
                    self.at += 1;
                    let Some(escaped) = self.peek() else { break };
                    delimiter.push(escaped);
                }
                (None, _) if is_separator(next) => break,
                (Some(mark), _) if mark == next => quote = None,
                _ => delimiter.push(next),
            }
            self.at += 1;
        }
        (delimiter, is_quoted)
    }

    /// Reads the lines of every here-document that was announced in the line that just ended.
    pub(super) fn parse_heredocs(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            while self.at < self.text.len() {
                let end = self.text[self.at..].iter().position(|next| *next == '\n');
                let end = end.map_or(self.text.len(), |length| self.at + length);
                let line: String = self.text[self.at..end].iter().collect();
                let line = if pending.strips_tabs { line.trim_start_matches('\t') } else { &line };
                self.at = (end + 1).min(self.text.len());
                if line == pending.delimiter {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            let depth = self.depth() + 1;
            // What cannot be expanded is taken as it stands: it is data to most commands, and a shell refuses it.
            let expanded = if pending.is_quoted { None } else { parse_quoted(&body, depth).ok() };
            let _ = pending.body.set(expanded.unwrap_or_else(|| Word::literal(&body)));
        }
    }
}
