//! Brace expansion: `{a,b}` and `{1..3}`.

use crate::shell::{Word, WordPart};

/// No more words than this come out of one.
const MAX_WORDS: usize = 256;

/// No more characters than this are copied on the way.
const MAX_COPIED_CHARS: usize = 20_000;

/// A character of a word that counts, or a part that does not.
#[derive(Clone)]
enum Unit {
    Plain(char),
    Part(WordPart),
}

/// The words that a word with braces stands for. Nothing if they are too many or too long.
pub(super) fn expand_braces(word: &Word) -> Option<Vec<Word>> {
    let has_braces =
        word.parts.iter().any(|part| matches!(part, WordPart::Plain(text) if text.contains('{')));
    if !has_braces {
        return Some(vec![word.clone()]);
    }
    let mut units = Vec::new();
    for part in &word.parts {
        match part {
            WordPart::Plain(text) => units.extend(text.chars().map(Unit::Plain)),
            other => units.push(Unit::Part(other.clone())),
        }
    }
    let mut left = MAX_COPIED_CHARS;
    let words = expand_units(&units, &mut left)?;
    Some(words.into_iter().take(MAX_WORDS).map(|units| to_word(&units)).collect())
}

fn expand_units(units: &[Unit], left: &mut usize) -> Option<Vec<Vec<Unit>>> {
    *left = left.checked_sub(units.len() + 1)?;
    let Some((open, close, commas)) = first_group(units) else { return Some(vec![units.to_vec()]) };
    let mut choices = Vec::new();
    if commas.is_empty() {
        choices = expand_sequence(&units[open + 1..close]);
    } else {
        let mut start = open + 1;
        for end in commas.iter().copied().chain([close]) {
            choices.extend(expand_units(&units[start..end], left)?);
            start = end + 1;
        }
    }
    let rest = expand_units(&units[close + 1..], left)?;
    // Numbers that go on are all alike; a list may end with the one that counts.
    if !commas.is_empty() && MAX_WORDS < choices.len().saturating_mul(rest.len()) {
        return None;
    }
    let mut words = Vec::new();
    for choice in &choices {
        for tail in rest.iter().take(MAX_WORDS.saturating_sub(words.len())) {
            *left = left.checked_sub(open + choice.len() + tail.len())?;
            words.push([&units[..open], choice, tail].concat());
        }
    }
    Some(words)
}

/// The first braces that stand for something: where they are and where the commas in them are.
fn first_group(units: &[Unit]) -> Option<(usize, usize, Vec<usize>)> {
    let mut from = 0;
    for _ in 0..40 {
        let open = from + units[from..].iter().position(|unit| matches!(unit, Unit::Plain('{')))?;
        let (mut level, mut commas, mut close) = (0, Vec::new(), None);
        for (at, unit) in units.iter().enumerate().skip(open) {
            match unit {
                Unit::Plain('{') => level += 1,
                Unit::Plain('}') => level -= 1,
                Unit::Plain(',') if level == 1 => commas.push(at),
                _ => {}
            }
            if level == 0 {
                close = Some(at);
                break;
            }
        }
        match close {
            Some(close) if !commas.is_empty() || !expand_sequence(&units[open + 1..close]).is_empty() => {
                return Some((open, close, commas));
            }
            _ => from = open + 1,
        }
    }
    None
}

/// `1..3` and `a..c`.
fn expand_sequence(units: &[Unit]) -> Vec<Vec<Unit>> {
    let text: Option<String> = units
        .iter()
        .take(40)
        .map(|unit| if let Unit::Plain(next) = unit { Some(*next) } else { None })
        .collect();
    let Some(text) = text else { return Vec::new() };
    let mut ends = text.split("..");
    let (Some(first), Some(last)) = (ends.next(), ends.next()) else { return Vec::new() };
    let plain = |text: String| text.chars().map(Unit::Plain).collect::<Vec<_>>();
    if let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) {
        let (low, high) = (first.min(last), first.max(last));
        return (low..=high).take(MAX_WORDS).map(|number| plain(number.to_string())).collect();
    }
    let mut characters = (first.chars(), last.chars());
    match (characters.0.next(), characters.1.next()) {
        (Some(from), Some(to)) if first.len() == 1 && last.len() == 1 => {
            (from.min(to)..=from.max(to)).map(|next| plain(next.to_string())).collect()
        }
        _ => Vec::new(),
    }
}

fn to_word(units: &[Unit]) -> Word {
    let mut word = Word::default();
    for unit in units {
        match (unit, word.parts.last_mut()) {
            (Unit::Plain(next), Some(WordPart::Plain(text))) => text.push(*next),
            (Unit::Plain(next), _) => word.parts.push(WordPart::Plain(next.to_string())),
            (Unit::Part(part), _) => word.parts.push(part.clone()),
        }
    }
    word
}
