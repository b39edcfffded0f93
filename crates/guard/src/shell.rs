//! Shell text as a tree: what the guard reads a command line into.
//!
//! The reader is written for judging, not for running: it keeps what is quoted apart from what is not, takes linear
//! time whatever it is given, and goes no deeper than [`MAX_NESTING`], so that no input can stall it or exhaust the
//! stack. Text that it cannot read is an error, never a guess.

mod compound;
mod heredoc;
mod parse;
mod redirect;
#[cfg(test)]
mod tests;
mod word;

use std::{cell::OnceCell, rc::Rc};

pub(crate) use parse::parse;

/// A command line with more bytes than this is not read but blocked.
pub const MAX_COMMAND_LINE_LEN: usize = 64 * 1024;

/// How deep brackets, quotes and substitutions may nest.
pub(crate) const MAX_NESTING: usize = 50;

/// How many words, commands, redirections and substitutions a text may have.
pub(crate) const MAX_NODES: usize = 4_000;

/// Why a text cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParseError {
    /// Nested beyond [`MAX_NESTING`].
    TooDeep,
    /// More than [`MAX_NODES`] words, commands, redirections and substitutions.
    TooMuch,
    /// Not shell, as far as the reader knows; with what it expected.
    Syntax(&'static str),
}

/// Commands one after the other. Whether `;`, `&&` or `||` stands between them makes no difference to what may run.
pub(crate) type List = Vec<Pipeline>;

/// Commands whose outputs flow into each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipeline {
    pub(crate) stages: Vec<Stage>,
    /// Followed by `&`.
    pub(crate) in_background: bool,
}

/// One command of a pipeline with its redirections.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) kind: StageKind,
    pub(crate) redirects: Vec<Redirect>,
}

/// What can stand between two separators.
#[derive(Clone, Debug)]
pub(crate) enum StageKind {
    Simple(SimpleCommand),
    /// `{ ...; }`
    Group(List),
    /// `( ... )`
    Subshell(List),
    /// `for` and `select`; without words it goes over the positional parameters.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: List,
    },
    /// `while`, `until` and the arithmetic `for`.
    Loop {
        condition: List,
        body: List,
    },
    /// The conditions and the branches, each with what it is.
    If {
        conditions: Vec<List>,
        branches: Vec<List>,
    },
    Case {
        word: Word,
        branches: Vec<List>,
    },
    Function {
        name: String,
        body: Rc<Stage>,
    },
    /// `[[ ... ]]` and `(( ... ))`, which run nothing but what is substituted in them.
    Test(Vec<Word>),
}

/// A command with its arguments.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimpleCommand {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
}

/// `name=value`, `name+=value` or `name=(values)`.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) values: Vec<Word>,
    pub(crate) appends: bool,
}

/// A word before expansion.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<WordPart>,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WordPart {
    /// Unquoted: braces, tildes and patterns count in it.
    Plain(String),
    /// Quoted or escaped.
    Quoted(String),
    Parameter(Box<Parameter>),
    Substitution {
        list: Rc<List>,
        quoted: bool,
    },
    /// Between backquotes, with its escapes taken off; read when it is expanded.
    Backquoted {
        text: String,
        quoted: bool,
    },
    /// `<( ... )` and `>( ... )`.
    Process {
        list: Rc<List>,
        is_output: bool,
    },
    /// A number that is computed; the word has what is substituted in it.
    Arithmetic(Box<Word>),
    /// The values of `name=( ... )` as an argument of `declare` and the like.
    Array(Vec<Word>),
}

/// `$name` and `${name...}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// `${name[index]}`
    pub(crate) index: Option<String>,
    /// `${!name}`
    pub(crate) is_indirect: bool,
    /// `${#name}`
    pub(crate) is_length: bool,
    /// Such as `:-` with what follows it.
    pub(crate) operation: Option<(&'static str, Word)>,
    pub(crate) quoted: bool,
}

/// A redirection.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) kind: RedirectKind,
    pub(crate) fd: Option<u32>,
    pub(crate) target: Word,
    /// What a here-document says; filled when its lines are reached.
    pub(crate) body: Rc<OnceCell<Word>>,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    /// `>&` and `<&`, to a descriptor or, as `>&file`, to a file.
    Duplicate,
    /// `<<` and `<<<`.
    Here,
}

// What may nest implements no recursive `PartialEq` beyond words: lists are never compared.
impl PartialEq for Pipeline {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

impl Word {
    /// A word that is exactly this text.
    pub(crate) fn literal(text: &str) -> Self {
        Self { parts: vec![WordPart::Quoted(text.to_owned())] }
    }

    /// The text of a word that has nothing to expand.
    pub(crate) fn as_literal(&self) -> Option<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                WordPart::Plain(piece) | WordPart::Quoted(piece) => text.push_str(piece),
                _ => return None,
            }
        }
        Some(text)
    }
}
