//! Which names a file uses, and how it calls them.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Language,
    lexer::{Kind, Token, tokens},
};

/// A longer call is known by its beginning.
const MAX_CALL_TOKENS: usize = 200;

/// What files use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// The names in the code; of strings only those in a line that imports.
    pub(crate) names: BTreeSet<String>,
    /// How each is called: with its arguments, without spaces.
    pub(crate) calls: BTreeMap<String, BTreeSet<String>>,
}

impl Uses {
    /// Adds what a file uses.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        let tokens = tokens(text, Language::of(path).syntax());
        let imports = import_lines(&tokens);
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Word => {
                    self.names.insert(token.text.to_owned());
                    let is_definition = at.checked_sub(1).is_some_and(|before| {
                        ["fn", "def", "func", "function"].iter().any(|word| tokens[before].is(word))
                    });
                    if !is_definition && tokens.get(at + 1).is_some_and(|next| next.is("(")) {
                        self.calls.entry(token.text.to_owned()).or_default().insert(call(&tokens[at..]));
                    }
                }
                Kind::Text if imports.contains(&token.line) => {
                    self.names.extend(words(token.text).map(str::to_owned));
                }
                Kind::Text | Kind::Sign => {}
            }
        }
    }
}

/// The names in a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '$')
        .filter(|word| word.chars().count() > 1 && !word.starts_with(|first: char| first.is_ascii_digit()))
}

/// Lines that name other modules.
fn import_lines(tokens: &[Token<'_>]) -> BTreeSet<u32> {
    let is_import = |token: &&Token<'_>| {
        ["import", "from", "require", "require_relative", "use", "include"].iter().any(|word| token.is(word))
    };
    tokens.iter().filter(is_import).map(|token| token.line).collect()
}

/// A call, from its name to the bracket that closes it.
fn call(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    let mut depth = 0_u32;
    for token in tokens.iter().take(MAX_CALL_TOKENS) {
        text.push_str(token.text);
        text.push(if token.kind == Kind::Text { '"' } else { ' ' });
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                break;
            }
        }
    }
    text
}
