//! The paths that a source file names: in `use` trees, however they nest, and in the middle of code. Items for tests
//! only are passed over.

use super::tokens::{Token, tokens};

/// A path in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// Its parts: `crate`, `engine`, `State`.
    pub(super) parts: Vec<String>,
    /// What an import calls it.
    pub(super) alias: Option<String>,
    /// How many modules of this file it stands in.
    pub(super) depth: usize,
    /// Whether others may import it from here.
    pub(super) is_exported: bool,
}

/// What a file says about modules.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) paths: Vec<Path>,
    /// Modules in other files that are there for tests only.
    pub(super) for_tests: Vec<String>,
}

/// Everything that a file names.
pub(super) fn named(source: &str) -> Named {
    let mut reader = Reader { tokens: tokens(source), at: 0, open: Vec::new(), named: Named::default() };
    reader.file();
    reader.named
}

/// What a bracket belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Module,
    Other,
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    open: Vec<Open>,
    named: Named,
}

impl<'a> Reader<'a> {
    fn file(&mut self) {
        let mut is_exported = false;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign(b'#') if self.is_for_tests() => self.skip_item(),
                Token::Word("pub") => {
                    is_exported = true;
                    self.at += 1;
                    // `pub(crate)`
                    if self.peek(0) == Some(Token::Sign(b'(')) {
                        self.skip_brackets();
                    }
                    continue;
                }
                Token::Word("use") => {
                    self.at += 1;
                    self.tree(&[], is_exported);
                }
                Token::Word("mod") if matches!(self.peek(2), Some(Token::Sign(b'{'))) => {
                    self.at += 3;
                    self.open.push(Open::Module);
                }
                Token::Word(_) if self.begins_path() => self.inline(),
                Token::Sign(b'{') => self.push(),
                Token::Sign(b'}') => {
                    self.open.pop();
                    self.at += 1;
                }
                Token::Word(_) | Token::Separator | Token::Sign(_) => self.at += 1,
            }
            is_exported = false;
        }
    }

    fn peek(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn push(&mut self) {
        self.open.push(Open::Other);
        self.at += 1;
    }

    fn depth(&self) -> usize {
        self.open.iter().filter(|open| **open == Open::Module).count()
    }

    /// `#[cfg(test)]`, also with more conditions that must all be true.
    fn is_for_tests(&self) -> bool {
        use Token::{Sign, Word};
        let begins = |with: &[Token<'_>]| self.tokens[self.at..].starts_with(with);
        begins(&[Sign(b'#'), Sign(b'['), Word("cfg"), Sign(b'('), Word("test")])
            || begins(&[
                Sign(b'#'),
                Sign(b'['),
                Word("cfg"),
                Sign(b'('),
                Word("all"),
                Sign(b'('),
                Word("test"),
            ])
    }

    /// Passes over attributes and the item behind them.
    fn skip_item(&mut self) {
        while self.peek(0) == Some(Token::Sign(b'#')) {
            self.at += 1;
            self.skip_brackets();
        }
        while let Some(token) = self.peek(0) {
            match (token, self.peek(1), self.peek(2)) {
                (Token::Word("mod"), Some(Token::Word(name)), Some(Token::Sign(b';'))) => {
                    let name = name.to_owned();
                    self.named.for_tests.push(name);
                    self.at += 3;
                    return;
                }
                (Token::Sign(b';'), ..) => {
                    self.at += 1;
                    return;
                }
                (Token::Sign(b'{'), ..) => return self.skip_brackets(),
                (Token::Sign(b'(' | b'['), ..) => self.skip_brackets(),
                _ => self.at += 1,
            }
        }
    }

    /// Passes over a bracket and all that is in it.
    fn skip_brackets(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.peek(0) {
            self.at += 1;
            match token {
                Token::Sign(b'(' | b'[' | b'{') => depth += 1,
                Token::Sign(b')' | b']' | b'}') => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// One branch of a `use`, up to what ends it.
    fn tree(&mut self, stem: &[String], is_exported: bool) {
        let mut parts = stem.to_vec();
        loop {
            let token = self.peek(0);
            match token {
                Some(Token::Word("as")) => {
                    let alias = match self.peek(1) {
                        Some(Token::Word(alias)) => Some(alias.to_owned()),
                        _ => None,
                    };
                    self.at += 2;
                    return self.found(parts, alias, is_exported);
                }
                Some(Token::Word(word)) => {
                    parts.push(word.to_owned());
                    self.at += 1;
                }
                Some(Token::Separator) => self.at += 1,
                Some(Token::Sign(b'*')) => {
                    parts.push("*".to_owned());
                    self.at += 1;
                }
                Some(Token::Sign(b'{')) => {
                    self.at += 1;
                    return self.branches(&parts, is_exported);
                }
                Some(Token::Sign(_)) | None => return self.found(parts, None, is_exported),
            }
        }
    }

    fn branches(&mut self, stem: &[String], is_exported: bool) {
        loop {
            match self.peek(0) {
                Some(Token::Sign(b',')) => self.at += 1,
                Some(Token::Sign(b'}')) | None => {
                    self.at += 1;
                    return;
                }
                Some(_) => self.tree(stem, is_exported),
            }
        }
    }

    /// Whether a path of several parts begins here, and not in the middle of one.
    fn begins_path(&self) -> bool {
        let is_middle = self
            .at
            .checked_sub(1)
            .is_some_and(|before| matches!(self.tokens[before], Token::Separator | Token::Sign(b'.')));
        !is_middle && self.peek(1) == Some(Token::Separator)
    }

    fn inline(&mut self) {
        let mut parts = Vec::new();
        while let Some(Token::Word(word)) = self.peek(0) {
            parts.push(word.to_owned());
            self.at += 1;
            if self.peek(0) != Some(Token::Separator) {
                break;
            }
            self.at += 1;
        }
        self.found(parts, None, false);
    }

    fn found(&mut self, mut parts: Vec<String>, alias: Option<String>, is_exported: bool) {
        // `use a::{self}` is `use a`.
        if 1 < parts.len() && parts.last().is_some_and(|last| last == "self") {
            parts.pop();
        }
        let depth = self.depth();
        self.named.paths.push(Path { parts, alias, depth, is_exported });
    }
}
