//! Tokens with their brackets matched.

use super::{
    lexer::{Kind, Token, tokens},
    syntax::Syntax,
    work,
};

/// A source text that can be walked through.
pub(super) struct Source<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    /// For an opening bracket, where it is closed.
    closing: Vec<u32>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, syntax: &Syntax) -> Self {
        let tokens = tokens(text, syntax);
        let closing = matched(&tokens);
        Self { tokens, closing }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether this text stands there, and is no string.
    pub(super) fn is(&self, at: usize, text: &str) -> bool {
        work::step();
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    /// The word that stands there, or nothing.
    pub(super) fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).filter(|token| token.is_word()).map_or("", |token| token.text)
    }

    /// The string that stands there.
    pub(super) fn string(&self, at: usize) -> Option<&'a str> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Text).map(|token| token.text)
    }

    /// The place before, if there is one.
    pub(super) fn is_before(&self, at: usize, text: &str) -> bool {
        at.checked_sub(1).is_some_and(|before| self.is(before, text))
    }

    /// Where the bracket is closed that opens there; the end of the text if it is not.
    pub(super) fn closing(&self, at: usize) -> usize {
        self.closing.get(at).map_or(self.len(), |end| *end as usize)
    }

    /// The first place from `at` on that has this sign, with what stands in brackets passed over, before `end`.
    pub(super) fn find(&self, at: usize, end: usize, sign: &str) -> Option<usize> {
        self.find_any(at, end, &[sign])
    }

    /// The first place from `at` on that has one of these signs, with what stands in brackets passed over.
    ///
    /// It gives up after a while: what is looked for stands near, or it is not there.
    pub(super) fn find_any(&self, mut at: usize, end: usize, signs: &[&str]) -> Option<usize> {
        for _ in 0..MAX_STEPS {
            if at >= end.min(self.len()) {
                return None;
            }
            if signs.iter().any(|sign| self.is(at, sign)) {
                return Some(at);
            }
            at = if self.opens(at) { self.closing(at) + 1 } else { at + 1 };
        }
        None
    }

    pub(super) fn opens(&self, at: usize) -> bool {
        self.is(at, "(") || self.is(at, "[") || self.is(at, "{")
    }

    /// How many parts there are between these places when they are cut at commas.
    pub(super) fn count_parts(&self, from: usize, to: usize) -> u32 {
        let mut parts = 0;
        let mut at = from;
        while at < to {
            let next = self.find(at, to, ",").unwrap_or(to);
            if next > at {
                parts += 1;
            }
            at = next + 1;
        }
        parts
    }
}

/// How many tokens, or whole brackets, are looked at in a search.
const MAX_STEPS: usize = 300;

fn matched(tokens: &[Token<'_>]) -> Vec<u32> {
    let end = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
    let mut closing = vec![end; tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut waiting = [0_usize; 3];
    let index = |bracket: &str| match bracket {
        "(" | ")" => 0,
        "[" | "]" => 1,
        _ => 2,
    };
    for (at, token) in tokens.iter().enumerate() {
        if token.kind != Kind::Sign {
            continue;
        }
        match token.text {
            "(" | "[" | "{" => {
                waiting[index(token.text)] += 1;
                open.push((at, token.text));
            }
            ")" | "]" | "}" if waiting[index(token.text)] > 0 => {
                // What was opened in between and not closed ends here too.
                while let Some((opened, bracket)) = open.pop() {
                    waiting[index(bracket)] -= 1;
                    closing[opened] = u32::try_from(at).unwrap_or(u32::MAX);
                    if index(bracket) == index(token.text) {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    closing
}
