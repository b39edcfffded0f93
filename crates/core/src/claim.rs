//! Finds an agent's claim in its own words, however the words are cut into pieces.
//!
//! Invariant: memory is bounded by the longest tag that could match, whatever the agent says.

pub mod blocked;
pub mod echo;
mod last_line;
mod reason;
mod spelling;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use last_line::LastLine;
use spelling::OtherSpelling;

/// How a finished task is announced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Claim {
    /// `<name>text</name>` in the agent's own words.
    Tag {
        /// The element's name.
        name: String,
        /// What must stand in it.
        text: String,
        /// How strictly.
        matching: Matching,
    },
    /// A file that the agent writes.
    File {
        /// Relative to the project.
        path: String,
    },
    /// Every story passed and was approved.
    StoriesApproved,
    /// The plan file has tasks, and none of them is open.
    PlanSettled,
    /// The plan file has tasks, and a turn found nothing to change.
    NothingLeft,
    /// The end of the turn is the end of the task.
    TurnEnd,
}

impl Claim {
    /// The tag that the claim is written in, where it is made in words.
    pub fn tag(&self) -> Option<&str> {
        match self {
            Self::Tag { name, .. } => Some(name),
            Self::File { .. }
            | Self::StoriesApproved
            | Self::PlanSettled
            | Self::NothingLeft
            | Self::TurnEnd => None,
        }
    }

    /// What the agent writes, where it claims in words.
    pub fn marker(&self) -> Option<String> {
        match self {
            Self::Tag { name, text, .. } => Some(format!("<{name}>{text}</{name}>")),
            Self::File { .. }
            | Self::StoriesApproved
            | Self::PlanSettled
            | Self::NothingLeft
            | Self::TurnEnd => None,
        }
    }
}

/// How strictly a tag is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// Anywhere, to the letter.
    Exact,
    /// The first tag decides; case and surrounding white space do not matter.
    FirstIgnoringCase,
    /// In the last message that says anything, to the letter: what was only announced before is no claim.
    ExactInLastMessage,
}

/// A tag with more than this in it is not a claim.
const MAX_CONTENT_LEN: usize = 64 * 1024;

/// Looks for the tags of a plan in one turn's text.
#[derive(Debug)]
pub struct Scanner {
    tags: Vec<Tag>,
    other: OtherSpelling,
    last: LastLine,
    /// The user waits for the word that means that the agent is blocked.
    is_word_taken: bool,
}

impl Scanner {
    /// A scanner for those claims that are made in words.
    pub fn new(claims: &[Claim]) -> Self {
        let tags = claims.iter().filter_map(Tag::of).collect();
        let is_word_taken = claims.iter().any(blocked::is_waited_for);
        Self { tags, other: OtherSpelling::than(claims), last: LastLine::default(), is_word_taken }
    }

    /// Takes the next piece of text. A tag may be cut between pieces that join, not between messages.
    pub fn push(&mut self, text: &str, joins: bool) {
        for tag in &mut self.tags {
            if !joins {
                tag.begin_message();
            }
            tag.push(text);
        }
        self.last.push(text, joins);
    }

    /// Whether a claim was made.
    pub fn claimed(&self) -> bool {
        self.tags.iter().any(Tag::is_claimed)
            || self.other.is_said(self.last.line()) && !self.tags.iter().any(Tag::is_refused)
    }

    /// Why the agent cannot continue, if it says so.
    pub fn blocked(&self) -> Option<String> {
        blocked::reason(self.last.line()?).filter(|_| !self.is_word_taken)
    }

    /// Why the agent changed what checks its work, if it says so in its last message.
    pub fn reason(&self) -> Option<String> {
        reason::reason(self.last.tail())
    }
}

#[derive(Debug)]
enum Tag {
    /// To the letter; `tail` is the end of the text so far, shorter than the marker.
    Exact { marker: String, tail: String, found: bool, reach: ExactReach },
    /// The first tag decides.
    First { name: String, wanted: String, state: First },
}

/// Where an exact tag counts.
#[derive(Debug)]
enum ExactReach {
    Anywhere,
    /// A message that says nothing is not the last one.
    LastMessage {
        is_blank: bool,
    },
}

#[derive(Debug)]
enum First {
    /// The end of the text so far, no longer than the opening tag.
    Looking(String),
    Inside(String),
    Decided(bool),
}

impl Tag {
    fn of(claim: &Claim) -> Option<Self> {
        let Claim::Tag { name, text, matching } = claim else { return None };
        let exact = |reach| {
            let (marker, tail) = (claim.marker()?, String::new());
            Some(Self::Exact { marker, tail, found: false, reach })
        };
        Some(match matching {
            Matching::Exact => exact(ExactReach::Anywhere)?,
            Matching::ExactInLastMessage => exact(ExactReach::LastMessage { is_blank: true })?,
            Matching::FirstIgnoringCase => Self::First {
                name: name.to_ascii_lowercase(),
                wanted: text.trim().to_lowercase(),
                state: First::Looking(String::new()),
            },
        })
    }

    fn is_claimed(&self) -> bool {
        match self {
            Self::Exact { found, .. } => *found,
            Self::First { state, .. } => matches!(state, First::Decided(true)),
        }
    }

    /// Whether the tag was there and said something else.
    fn is_refused(&self) -> bool {
        matches!(self, Self::First { state: First::Decided(false), .. })
    }

    /// Another message begins.
    fn begin_message(&mut self) {
        match self {
            Self::Exact { tail, reach, .. } => {
                tail.clear();
                if let ExactReach::LastMessage { is_blank } = reach {
                    *is_blank = true;
                }
            }
            Self::First { state: First::Decided(_), .. } => {}
            Self::First { state, .. } => *state = First::Looking(String::new()),
        }
    }

    fn push(&mut self, text: &str) {
        if let Self::Exact { found, reach: ExactReach::LastMessage { is_blank }, .. } = self
            && *is_blank
            && !text.trim_start().is_empty()
        {
            (*found, *is_blank) = (false, false);
        }
        match self {
            Self::Exact { found: true, .. } => {}
            Self::Exact { marker, tail, found, .. } => {
                // Only the seam can hide a marker that neither piece holds alone.
                tail.push_str(&text[..text.floor_char_boundary(marker.len())]);
                *found = tail.contains(marker.as_str()) || text.contains(marker.as_str());
                if marker.len() <= text.len() {
                    tail.clear();
                    tail.push_str(text_end(text, marker.len()));
                } else {
                    keep_end(tail, marker.len());
                }
            }
            Self::First { name, wanted, state } => {
                let mut rest = text;
                while let Some(after) = state.push(name, wanted, rest) {
                    rest = after;
                }
            }
        }
    }
}

impl First {
    /// Takes text; returns what is left of it when there is more to look at.
    fn push<'a>(&mut self, name: &str, wanted: &str, text: &'a str) -> Option<&'a str> {
        match self {
            Self::Decided(_) => None,
            Self::Looking(tail) => {
                let open = format!("<{name}>");
                let before = tail.len();
                // Only the seam can hide a tag that the text alone does not hold.
                tail.push_str(&text[..text.floor_char_boundary(open.len())]);
                let in_seam = find_tag(tail, &open).map(|at| (at + open.len()).saturating_sub(before));
                let after = in_seam.or_else(|| Some(find_tag(text, &open)? + open.len()));
                if let Some(after) = after {
                    *self = Self::Inside(String::new());
                    return Some(&text[after..]);
                }
                if open.len() <= text.len() {
                    tail.clear();
                    tail.push_str(text_end(text, open.len()));
                } else {
                    keep_end(tail, open.len());
                }
                None
            }
            Self::Inside(content) => {
                let close = format!("</{name}>");
                let from = content.len().saturating_sub(close.len());
                // What is longer than any claim need not be looked at.
                let most = MAX_CONTENT_LEN + close.len();
                let is_too_long = most <= content.len() + text.len();
                content.push_str(&text[..text.floor_char_boundary(most)]);
                let seam = content.floor_char_boundary(from);
                if let Some(at) = content[seam..].to_ascii_lowercase().find(&close) {
                    let said = content[..seam + at].trim().to_lowercase();
                    *self = Self::Decided(said == wanted);
                } else if is_too_long {
                    *self = Self::Decided(false);
                }
                None
            }
        }
    }
}

fn keep_end(text: &mut String, bytes: usize) {
    text.drain(..text.len() - text_end(text, bytes).len());
}

fn text_end(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Where a tag begins, in any case, without a copy of the text in lower case.
fn find_tag(text: &str, tag: &str) -> Option<usize> {
    let is_tag = |at: &usize| {
        text.as_bytes()
            .get(*at..at + tag.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()))
    };
    memchr::memchr_iter(b'<', text.as_bytes()).find(is_tag)
}

/// What the first `<name>` element of `text` holds; the name in any case.
pub fn first_tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let lower = text.to_ascii_lowercase();
    let open = lower.find(&format!("<{name}>"))? + name.len() + 2;
    let close = lower[open..].find(&format!("</{name}>"))?;
    Some(&text[open..open + close])
}

#[cfg(test)]
mod tests;
