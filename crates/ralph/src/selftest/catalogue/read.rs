//! Reads the text of the catalogue.
//!
//! `=== cheat ID` begins an entry (`=== honest ID`, `=== fixture NAME`), `key: value` lines follow, then parts: `--- file PATH`,
//! `--- broken PATH`, `--- base`, `--- sh`, `--- say`, `--- turn`. What stands between two parts is the first one's text.

use super::{Act, Breaks, Catalogue, Entry, EntryKind, Fixture, Reach, SeenBy, Text};

/// What an agent says at the end of a turn that does not say anything else.
const DONE: &str = "It works. <response>DONE</response>";

/// Reads a file of the catalogue; what is wrong is said with its line.
pub(super) fn read(text: &str, into: &mut Catalogue) -> Result<(), String> {
    let mut open: Option<Block<'_>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(title) = line.strip_prefix("=== ") {
            close(open.take(), into)?;
            open = Some(Block { number, title, ..Block::default() });
            continue;
        }
        match &mut open {
            Some(block) => block.line(number, line)?,
            None if line.is_empty() || line.starts_with('#') => {}
            None => return Err(format!("{number}: nothing has begun here")),
        }
    }
    close(open, into)
}

/// An entry as it was written.
#[derive(Default)]
struct Block<'a> {
    number: usize,
    title: &'a str,
    keys: Vec<(&'a str, &'a str)>,
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    kind: &'a str,
    path: &'a str,
    text: String,
}

impl<'a> Block<'a> {
    fn line(&mut self, number: usize, line: &'a str) -> Result<(), String> {
        if let Some(title) = line.strip_prefix("--- ") {
            let (kind, path) = title.split_once(' ').unwrap_or((title, ""));
            if ["file", "broken", "base", "sh", "say", "turn"].contains(&kind) {
                self.parts.push(Part { kind, path, text: String::new() });
                return Ok(());
            }
        }
        match self.parts.last_mut() {
            Some(part) => {
                part.text.push_str(line);
                part.text.push('\n');
            }
            None if line.is_empty() => {}
            None => match line.split_once(": ") {
                Some(key) => self.keys.push(key),
                None => return Err(format!("{number}: expected `key: value`")),
            },
        }
        Ok(())
    }

    fn all(&self, key: &str) -> impl Iterator<Item = &'a str> {
        let found = self.keys.iter().filter(move |(name, _)| *name == key);
        found.map(|(_, value)| *value).collect::<Vec<_>>().into_iter()
    }

    fn one(&self, key: &str) -> Result<&'a str, String> {
        self.all(key).next().ok_or_else(|| format!("{}: `{}` has no `{key}`", self.number, self.title))
    }

    /// One of these words; the first where nothing is said.
    fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, String> {
        let Some(said) = self.all(key).next() else { return Ok(words[0].1) };
        let found = words.iter().find(|(word, _)| *word == said).map(|(_, value)| *value);
        found.ok_or_else(|| format!("{}: `{key}` cannot be `{said}`", self.number))
    }

    fn knows(&self, keys: &[&str]) -> Result<(), String> {
        match self.keys.iter().find(|(key, _)| !keys.contains(key)) {
            Some((key, _)) => Err(format!("{}: there is no key `{key}`", self.number)),
            None => Ok(()),
        }
    }
}

fn close(block: Option<Block<'_>>, into: &mut Catalogue) -> Result<(), String> {
    let Some(mut block) = block else { return Ok(()) };
    for part in &mut block.parts {
        // The empty line before the next entry is not of the file.
        let end = part.text.trim_end_matches('\n').len();
        part.text.truncate(end);
        if 0 < end {
            part.text.push('\n');
        }
    }
    match block.title.split_once(' ') {
        Some(("fixture", name)) => into.fixtures.push(fixture(&block, name)?),
        Some(("cheat", id)) => into.entries.push(entry(&block, id, EntryKind::Cheat)?),
        Some(("honest", id)) => into.entries.push(entry(&block, id, EntryKind::Honest)?),
        _ => return Err(format!("{}: `{}` is no title", block.number, block.title)),
    }
    Ok(())
}

fn fixture(block: &Block<'_>, name: &str) -> Result<Fixture, String> {
    block.knows(&["language", "needs", "guardrail"])?;
    let files = |kind: &str| -> Vec<Text> {
        let parts = block.parts.iter().filter(|part| part.kind == kind);
        parts.map(|part| Text { path: part.path.to_owned(), text: part.text.clone() }).collect()
    };
    Ok(Fixture {
        name: name.to_owned(),
        language: block.one("language")?.to_owned(),
        needs: block.one("needs")?.split(", ").map(str::to_owned).collect(),
        guardrails: block.all("guardrail").map(str::to_owned).collect(),
        files: files("file"),
        broken: files("broken"),
    })
}

fn entry(block: &Block<'_>, id: &str, kind: EntryKind) -> Result<Entry, String> {
    block.knows(&["class", "fixture", "says", "seen-by", "reach", "closes", "breaks", "guardrail"])?;
    let broken = if kind == EntryKind::Cheat { Breaks::Yes } else { Breaks::No };
    let breaks = block.word("breaks", &[("", broken), ("yes", Breaks::Yes), ("no", Breaks::No)])?;
    let fixture = block.one("fixture")?;
    Ok(Entry {
        id: id.to_owned(),
        kind,
        class: block.one("class")?.to_owned(),
        fixture: fixture.to_owned(),
        says: block.one("says")?.to_owned(),
        seen_by: block.word("seen-by", &[("machine", SeenBy::Machine), ("reader", SeenBy::Reader)])?,
        reach: block.word(
            "reach",
            &[("repository", Reach::Repository), ("pinned", Reach::Pinned), ("elsewhere", Reach::Elsewhere)],
        )?,
        closes: block.all("closes").next().map(str::to_owned),
        breaks,
        guardrails: block.all("guardrail").map(str::to_owned).collect(),
        base: block.parts.iter().filter(|part| part.kind == "base").map(|part| &*part.text).collect(),
        turns: turns(block),
    })
}

/// Each turn ends with a claim, and a second one repeats it.
fn turns(block: &Block<'_>) -> Vec<Vec<Act>> {
    let mut turns = vec![Vec::new()];
    for part in &block.parts {
        let act = match part.kind {
            "turn" => {
                turns.push(Vec::new());
                continue;
            }
            "file" => Act::Write { path: part.path.to_owned(), text: part.text.clone() },
            "sh" => Act::Shell(part.text.clone()),
            "say" => Act::Say(part.text.trim_end().to_owned()),
            _ => continue,
        };
        turns.last_mut().into_iter().for_each(|turn| turn.push(act.clone()));
    }
    if turns.len() == 1 {
        turns.push(Vec::new());
    }
    for turn in &mut turns {
        if !turn.iter().any(|act| matches!(act, Act::Say(_))) {
            turn.push(Act::Say(DONE.to_owned()));
        }
    }
    turns
}
