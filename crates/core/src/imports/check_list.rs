//! Markdown with check boxes, line by line: headings, boxes, and what stands below each.
//!
//! What is in a fenced block or a comment is no task. A box inside another is a criterion of that one.

use super::{BadLine, ImportedStory};
use crate::stories::{MAX_TITLE_LEN, one_line};

/// A document with boxes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its first heading of the first level.
    pub title: Option<String>,
    /// In order; the first has no heading.
    pub sections: Vec<BoxSection>,
}

/// A heading, and what stands below it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BoxSection {
    /// Empty before the first heading.
    pub title: String,
    /// Of its heading: 1 for `#`; 0 before the first.
    pub level: usize,
    /// Where its heading is, from 1.
    pub line: usize,
    /// The lines before its first box that say something about it: `**Goal**: ...`.
    pub about: Vec<String>,
    /// Its boxes.
    pub boxes: Vec<BoxEntry>,
}

/// A task with a box before it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BoxEntry {
    /// From 1.
    pub line: usize,
    /// What stands behind the box.
    pub text: String,
    /// Whether it is ticked.
    pub is_done: bool,
    /// What must be true for it: boxes and items below it.
    pub parts: Vec<String>,
    /// The texts of the boxes below it.
    pub inner: Vec<String>,
    /// Other lines below it.
    pub details: Vec<String>,
    indent: usize,
}

impl BoxEntry {
    /// A story of this id.
    pub(super) fn into_story(self, id: String) -> ImportedStory {
        let title = one_line(&self.text, MAX_TITLE_LEN);
        let full = (title != self.text).then(|| self.text.clone());
        let criteria = if self.parts.is_empty() { vec![self.text.clone()] } else { self.parts };
        ImportedStory {
            id,
            title,
            description: full.into_iter().chain(self.details).collect::<Vec<_>>().join("\n"),
            criteria,
            is_done: self.is_done,
            tasks: std::iter::once(self.text).chain(self.inner).collect(),
            line: self.line,
            ..ImportedStory::default()
        }
    }
}

/// What a line is, where it is not hidden in a block or a comment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown<'a> {
    Heading(usize, &'a str),
    /// How far it is indented, the place of the character in the box, and what stands behind it.
    Box(usize, usize, &'a str),
    /// The same for an item of a list without a box.
    Item(usize, &'a str),
    Text(usize, &'a str),
}

/// The lines of a text that are shown, each with its number and its first byte.
pub(super) fn shown(text: &str) -> Result<Vec<(usize, usize, Shown<'_>)>, BadLine> {
    let mut lines = Vec::new();
    let (mut start, mut fence, mut comment) = (0, None::<(usize, String)>, None::<usize>);
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let (number, line, at) = (index + 1, whole.trim_end_matches(['\n', '\r']), start);
        start += whole.len();
        let trimmed = line.trim().trim_start_matches('\u{feff}');
        if let Some((_, open)) = &fence {
            if trimmed.starts_with(open.as_str()) && trimmed.chars().all(|c| open.starts_with(c)) {
                fence = None;
            }
            continue;
        }
        if comment.is_some() || trimmed.starts_with("<!--") {
            comment = if trimmed.contains("-->") { None } else { comment.or(Some(number)) };
            continue;
        }
        if let Some(open) = opened_fence(trimmed) {
            fence = Some((number, open));
        } else if !trimmed.is_empty() {
            lines.push((number, at, classified(line)));
        }
    }
    match (fence, comment) {
        (Some((line, _)), _) => Err(BadLine::new(line, "this code block never ends")),
        (None, Some(line)) => Err(BadLine::new(line, "this comment never ends")),
        (None, None) => Ok(lines),
    }
}

fn opened_fence(line: &str) -> Option<String> {
    ['`', '~'].into_iter().find_map(|mark| {
        let length = line.chars().take_while(|c| *c == mark).count();
        (3 <= length && !line[length..].contains('`')).then(|| mark.to_string().repeat(length))
    })
}

fn classified(line: &str) -> Shown<'_> {
    let body = line.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let indent = line[..line.len() - body.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let hashes = body.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&hashes) && body[hashes..].starts_with([' ', '\t']) {
        return Shown::Heading(hashes, body[hashes..].trim().trim_end_matches('#').trim_end());
    }
    let Some(item) = list_item(body) else { return Shown::Text(indent, body.trim_end()) };
    let place = line.len() - item.len() + 1;
    match boxed(item) {
        Some(rest) => Shown::Box(indent, place, rest.trim()),
        None => Shown::Item(indent, item.trim()),
    }
}

/// What stands behind the mark of a list item.
fn list_item(body: &str) -> Option<&str> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let marked = if digits == 0 {
        body.strip_prefix(['-', '*', '+'])
    } else {
        body[digits..].strip_prefix(['.', ')'])
    };
    let rest = marked?;
    rest.starts_with([' ', '\t']).then(|| rest.trim_start())
}

/// What stands behind a box: at most one character in brackets, then a space or the end. A link is none.
fn boxed(item: &str) -> Option<&str> {
    let (mark, rest) = item.strip_prefix('[')?.split_once(']')?;
    (mark.chars().count() <= 1 && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some(rest)
}

/// What the character in a box says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Open,
    Done,
    /// No one will do it.
    Dropped,
}

fn mark(line: &str) -> Option<Mark> {
    match line.chars().next()? {
        ' ' => Some(Mark::Open),
        'x' | 'X' => Some(Mark::Done),
        '-' | '~' => Some(Mark::Dropped),
        _ => None,
    }
}

/// Reads a document with check boxes.
pub fn read(text: &str) -> Result<Document, Vec<BadLine>> {
    let lines = shown(text).map_err(|bad| vec![bad])?;
    let (mut document, mut bad) = (Document::default(), Vec::new());
    let mut section = BoxSection { line: 1, ..BoxSection::default() };
    for (number, start, line) in lines {
        match line {
            Shown::Heading(level, title) => {
                if level == 1 && document.title.is_none() {
                    document.title = Some(title.to_owned());
                }
                let next =
                    BoxSection { title: title.to_owned(), level, line: number, ..BoxSection::default() };
                document.sections.push(std::mem::replace(&mut section, next));
            }
            Shown::Box(indent, place, words) => match mark(&text[start + place..]) {
                Some(_) if words.is_empty() => {
                    bad.push(BadLine::new(number, "the box has no task after it"));
                }
                Some(mark) => section.take_box(number, indent, mark, words),
                None => bad.push(BadLine::new(number, "expected `[ ]` or `[x]`")),
            },
            Shown::Item(indent, words) => section.take_text(indent, words, true),
            Shown::Text(indent, words) => section.take_text(indent, words, false),
        }
    }
    document.sections.push(section);
    if bad.is_empty() { Ok(document) } else { Err(bad) }
}

impl BoxSection {
    fn take_box(&mut self, line: usize, indent: usize, mark: Mark, words: &str) {
        let owner = self.boxes.last_mut().filter(|owner| owner.indent < indent);
        match (owner, mark) {
            (_, Mark::Dropped) => {}
            (Some(owner), Mark::Open | Mark::Done) => {
                owner.parts.push(words.to_owned());
                owner.inner.push(words.to_owned());
            }
            (None, Mark::Open | Mark::Done) => self.boxes.push(BoxEntry {
                line,
                text: words.to_owned(),
                is_done: mark == Mark::Done,
                indent,
                ..BoxEntry::default()
            }),
        }
    }

    fn take_text(&mut self, indent: usize, words: &str, is_item: bool) {
        let is_first = self.boxes.is_empty();
        match self.boxes.last_mut().filter(|owner| owner.indent < indent) {
            Some(owner) if is_item => owner.parts.push(words.to_owned()),
            Some(owner) => owner.details.push(words.to_owned()),
            None if is_first && !is_item && words.starts_with("**") => {
                self.about.push(words.replace("**", ""));
            }
            None => {}
        }
    }
}
