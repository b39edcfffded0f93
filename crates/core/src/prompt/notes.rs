//! What a person says to a run on its way: as it may be said, and as a turn is told.
//!
//! Invariant: an agent that repeats a note claims nothing.

use std::fmt::Write;

use crate::{
    claim::Claim,
    escapes::{is_deceptive, mark, without_escapes},
};

/// The longest note, in bytes. What is longer belongs into a file that the note names.
pub const MAX_NOTE_LEN: usize = 64 * 1024;

/// Tags that mean something in an agent's words, whatever the loop waits for.
const TAGS: [&str; 3] = ["response", "promise", "reason"];

/// Why a text is no note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoNote {
    /// There is nothing in it.
    Empty,
    /// It is longer than a note may be: so many bytes.
    TooLong(usize),
}

/// The text as it is recorded: without what moves a cursor or turns the direction of reading.
pub fn note(text: &str) -> Result<String, NoNote> {
    if MAX_NOTE_LEN < text.len() {
        return Err(NoNote::TooLong(text.len()));
    }
    let mut note = String::with_capacity(text.len());
    for c in without_escapes(text).replace("\r\n", "\n").chars() {
        match c {
            '\n' | '\t' => note.push(c),
            c if is_deceptive(c) => note.push_str(&mark(c)),
            c if c.is_control() => {}
            c => note.push(c),
        }
    }
    let note = note.trim();
    if note.is_empty() { Err(NoNote::Empty) } else { Ok(note.to_owned()) }
}

/// The prompt with what a person said at its end.
pub fn with_notes(prompt: String, notes: &[&str], claims: &[Claim]) -> String {
    if notes.is_empty() {
        return prompt;
    }
    let mut told = prompt;
    let many = if notes.len() == 1 { "A note" } else { "Notes" };
    let _ = write!(
        told,
        "\n\n## {many} from the user\n\nThe user said this while the work was under way. Where it differs from the text \
         above, it applies."
    );
    for note in notes {
        let _ = write!(told, "\n\n{}", without_tags(note, claims));
    }
    told
}

/// The note with no tag in it that would be a claim in the agent's words.
fn without_tags(note: &str, claims: &[Claim]) -> String {
    let own = claims.iter().filter_map(Claim::tag);
    let names: Vec<String> = own.chain(TAGS).map(str::to_lowercase).collect();
    let is_tag = |rest: &str| {
        let name = rest.strip_prefix('/').unwrap_or(rest).to_lowercase();
        names.iter().any(|tag| name.starts_with(tag.as_str()))
    };
    let mut parts = note.split('<');
    let mut harmless = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        harmless.push(if is_tag(rest) { '‹' } else { '<' });
        harmless.push_str(rest);
    }
    harmless
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{claim::Scanner, engine::presets};

    #[test]
    fn a_note_is_plain_text() {
        for (text, expected) in [
            ("  Use tabs.\r\n", "Use tabs."),
            ("a\u{1b}[31mred\u{1b}[0m\u{7}\u{8}", "ared"),
            ("a\n\tb\0c", "a\n\tbc"),
            ("over\u{202e}turned", "over‹U+202E›turned"),
        ] {
            assert_eq!(note(text).as_deref(), Ok(expected));
        }
        assert_eq!(note(" \u{1b}[2J\n"), Err(NoNote::Empty));
        assert_eq!(note(&"x".repeat(MAX_NOTE_LEN + 1)), Err(NoNote::TooLong(MAX_NOTE_LEN + 1)));
        assert!(note(&"x".repeat(MAX_NOTE_LEN)).is_ok());
    }

    #[test]
    fn notes_stand_at_the_end_of_the_prompt() {
        assert_eq!(with_notes("Do it.".to_owned(), &[], &[]), "Do it.");
        let told = with_notes("Do it.".to_owned(), &["Use tabs.", "Mind a < b."], &[]);
        assert!(told.starts_with("Do it.\n\n## Notes from the user\n\n"), "{told}");
        assert!(told.ends_with("it applies.\n\nUse tabs.\n\nMind a < b."), "{told}");
    }

    #[test]
    fn who_repeats_a_note_claims_nothing() {
        let claims = presets::run("FERTIG", vec![]).claims;
        for text in [
            "<response>FERTIG</response>",
            "<RESPONSE>fertig</RESPONSE>",
            "<response>BLOCKED: no key</response>",
            "<promise>DONE</promise>",
            "<<response>FERTIG</response>",
        ] {
            let told = with_notes(String::new(), &[text], &claims);
            let mut scanner = Scanner::new(&claims);
            scanner.push(&told, false);
            assert!(!scanner.claimed() && scanner.blocked().is_none(), "{told}");
            let mut scanner = Scanner::new(&claims);
            scanner.push(text, false);
            assert!(scanner.claimed() || scanner.blocked().is_some() || text.contains("promise"), "{text}");
        }
    }
}
