//! What models cost where neither the agent nor the settings say so.
//!
//! A list like this is old on the day it is shipped: it is dated, `prices` in the settings goes before it, and what it makes of
//! tokens is marked as an estimate.

use crate::setup::Price;

/// How old the prices are. Not every one was compared with its seller's page; `prices` in the settings corrects them.
pub const AS_OF: &str = "2026-06";

/// Agent, model, US dollars per million tokens: in, in from the cache, out. The first of an agent is the one that a guess takes: the
/// dearest of those that are in general use.
const PRICES: [(&str, &str, f64, f64, f64); 28] = [
    ("codex", "gpt-5.5", 5.0, 0.5, 30.0),
    ("codex", "gpt-5.5-pro", 30.0, 30.0, 180.0),
    ("codex", "gpt-5.4", 2.5, 0.25, 15.0),
    ("codex", "gpt-5.4-pro", 30.0, 30.0, 180.0),
    ("codex", "gpt-5.4-mini", 0.75, 0.075, 4.5),
    ("codex", "gpt-5.4-nano", 0.2, 0.02, 1.25),
    ("codex", "gpt-5.3-codex", 1.75, 0.175, 14.0),
    ("codex", "gpt-5.2-codex", 1.75, 0.175, 14.0),
    ("codex", "gpt-5.2", 1.75, 0.175, 14.0),
    ("codex", "gpt-5.1-codex-max", 1.25, 0.125, 10.0),
    ("codex", "gpt-5.1-codex", 1.25, 0.125, 10.0),
    ("codex", "gpt-5-codex", 1.25, 0.125, 10.0),
    ("codex", "gpt-5", 1.25, 0.125, 10.0),
    ("gemini", "gemini-3.1-pro", 2.0, 0.2, 12.0),
    ("gemini", "gemini-3-pro", 2.0, 0.2, 12.0),
    ("gemini", "gemini-3-flash", 0.5, 0.05, 3.0),
    ("gemini", "gemini-2.5-pro", 1.25, 0.125, 10.0),
    ("gemini", "gemini-2.5-flash", 0.3, 0.03, 2.5),
    ("gemini", "gemini-2.5-flash-lite", 0.1, 0.01, 0.4),
    ("qwen", "qwen3-max", 1.2, 1.2, 6.0),
    ("qwen", "qwen3-coder-plus", 1.0, 1.0, 5.0),
    ("qwen", "qwen3-coder-flash", 0.3, 0.3, 1.5),
    // Claude Code says what a turn cost; these are for turns that ended before it could.
    ("claude", "claude-opus-4-5", 5.0, 0.5, 25.0),
    ("claude", "claude-opus-4-6", 5.0, 0.5, 25.0),
    ("claude", "claude-opus-4-7", 5.0, 0.5, 25.0),
    ("claude", "claude-sonnet-4-5", 3.0, 0.3, 15.0),
    ("claude", "claude-sonnet-4-6", 3.0, 0.3, 15.0),
    ("claude", "claude-haiku-4-5", 1.0, 0.1, 5.0),
];

/// A price of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed {
    /// The model that it is for.
    pub model: &'static str,
    /// What that costs.
    pub price: Price,
}

/// The price of a model by its name, for every agent.
pub fn of_model(name: &str) -> Option<Listed> {
    let name = name.to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    PRICES.iter().find(|(_, model, ..)| is_same(name, model)).map(listed)
}

/// The price for an agent's tokens when no one knows the model: rather too much than too little.
pub fn guess(agent: &str) -> Option<Listed> {
    PRICES.iter().find(|(of, ..)| *of == agent && agent != "claude").map(listed)
}

/// Whether a name is this model's, or this model's with a date or a state of release behind it: another model of the same family
/// may cost ten times as much.
fn is_same(name: &str, model: &str) -> bool {
    let Some(rest) = name.strip_prefix(model) else { return false };
    let version = rest.strip_prefix("-preview").or_else(|| rest.strip_prefix("-latest")).unwrap_or(rest);
    let is_date = |text: &str| 3 < text.len() && text.chars().all(|c| c.is_ascii_digit() || c == '-');
    version.is_empty() || version.starts_with('-') && is_date(version)
}

fn listed(&(_, model, input, cached, output): &(&str, &'static str, f64, f64, f64)) -> Listed {
    Listed { model, price: Price { input, cached: Some(cached), output } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_its_own_price_and_no_other() {
        let model = |name: &str| of_model(name).map(|listed| listed.model);
        for (name, expected) in [
            ("gpt-5.5", Some("gpt-5.5")),
            ("GPT-5.5-2026-04-23", Some("gpt-5.5")),
            ("openai/gpt-5.4-mini", Some("gpt-5.4-mini")),
            ("gpt-5.5-pro", Some("gpt-5.5-pro")),
            ("gpt-5.5-042", Some("gpt-5.5")),
            ("gpt-5.5-42", None),
            ("gemini-3-pro-preview", Some("gemini-3-pro")),
            ("gemini-2.5-flash-preview-09-2025", Some("gemini-2.5-flash")),
            ("claude-opus-4-5-20251101", Some("claude-opus-4-5")),
            ("gpt-5.55", None),
            ("gpt-5.5-turbo", None),
            ("gpt-5.5-7", None),
            ("gpt-6", None),
            ("", None),
        ] {
            assert_eq!(model(name), expected, "{name}");
        }
    }

    #[test]
    fn a_guess_is_never_cheaper_than_what_is_in_general_use() {
        for agent in ["codex", "gemini", "qwen"] {
            let guess = guess(agent).expect("a price");
            let in_use = |model: &str| !model.starts_with("gpt") || !model.ends_with("-pro");
            let rows = PRICES.iter().filter(|(of, model, ..)| *of == agent && in_use(model));
            for (_, model, input, _, output) in rows {
                assert!(*input <= guess.price.input && *output <= guess.price.output, "{model}");
            }
        }
        assert_eq!((guess("claude"), guess("amp")), (None, None));
    }
}
