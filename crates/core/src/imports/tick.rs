//! Tells the source of a story that it is done: a tick in its box, `passes` in its JSON. No other byte changes.

use std::collections::BTreeSet;

use super::{
    BadLine, SourceKind,
    check_list::{Shown, shown},
};
use crate::{
    located::{node::Node, text::parse},
    stories,
};

/// A source with ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticked {
    /// Its text.
    pub text: String,
    /// What is new, each with its line.
    pub ticked: Vec<(usize, String)>,
    /// Tasks that are not in it any more.
    pub missing: Vec<String>,
}

/// Ticks these tasks.
pub fn tick(kind: SourceKind, text: &str, done: &[String]) -> Result<Ticked, BadLine> {
    match kind {
        SourceKind::PrdJson => in_json(text, done),
        SourceKind::SpecKit | SourceKind::OpenSpec | SourceKind::CheckList => in_boxes(text, done),
    }
}

fn in_boxes(text: &str, done: &[String]) -> Result<Ticked, BadLine> {
    let wanted: BTreeSet<&str> = done.iter().map(String::as_str).collect();
    let (mut bytes, mut ticked, mut seen) = (text.as_bytes().to_vec(), Vec::new(), BTreeSet::new());
    for (number, start, line) in shown(text)? {
        let Shown::Box(_, place, words) = line else { continue };
        if !wanted.contains(words) {
            continue;
        }
        seen.insert(words);
        if bytes.get(start + place) == Some(&b' ') {
            bytes[start + place] = b'x';
            ticked.push((number, words.to_owned()));
        }
    }
    let missing = done.iter().filter(|task| !seen.contains(task.as_str())).cloned().collect();
    let text = String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned());
    Ok(Ticked { text, ticked, missing })
}

fn in_json(text: &str, done: &[String]) -> Result<Ticked, BadLine> {
    let root = parse(text, 0)
        .map_err(|error| BadLine::new(error.line, format!("not valid JSON: {}", error.reason)))?;
    let (mut changed, mut ticked, mut missing) = (text.to_owned(), Vec::new(), Vec::new());
    let entries = root.get("userStories").map_or(&[][..], Node::items);
    let id = |node: &Node| node.get("id").map(|id| id.string().map_or_else(|| id.shown(), str::to_owned));
    for task in done {
        let Some(index) = entries.iter().position(|node| id(node).as_ref() == Some(task)) else {
            missing.push(task.clone());
            continue;
        };
        let passes = entries[index].get("passes").map(Node::shown);
        if passes.as_deref() != Some("true") {
            changed = stories::set_passes(&changed, index);
            let line = text[..entries[index].position.start].matches('\n').count() + 1;
            ticked.push((line, task.clone()));
        }
    }
    Ok(Ticked { text: changed, ticked, missing })
}
