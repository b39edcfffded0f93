//! Reads the transcript of a conversation from its end, however long it is.
//!
//! A transcript that cannot be read says nothing.

use std::{collections::VecDeque, path::Path};

use jiff::Timestamp;
use ralph_agents::transcript::{Reach, last_message, queue::waiting};
use ralph_sys::files;

use super::context::end_of;

/// As much of a transcript is searched.
const MAX_SEARCHED_LEN: u64 = 16 * 1024 * 1024;

/// Mostly enough for one message.
const FIRST_LEN: u64 = 256 * 1024;

/// The last message of the agent since a moment.
pub(super) fn last_message_since(path: &str, since: Timestamp) -> Option<String> {
    search(path, |tail| last_message(tail, since))
}

/// What the user has typed since a moment and the host has not read yet.
pub(super) fn waiting_since(path: &str, since: Timestamp) -> VecDeque<String> {
    search(path, |tail| waiting(tail, since)).unwrap_or_default()
}

/// Looks at more and more of the end of a transcript until there is no need for what is before it.
fn search<T>(path: &str, mut look: impl FnMut(&[u8]) -> (T, Reach)) -> Option<T> {
    let mut file = files::open(Path::new(path)).ok()?;
    let length = file.metadata().ok()?.len();
    let mut size = FIRST_LEN;
    loop {
        let (found, reach) = look(&end_of(&mut file, length, size)?);
        if reach == Reach::Whole || length <= size || MAX_SEARCHED_LEN <= size {
            return Some(found);
        }
        size = (size * 8).min(MAX_SEARCHED_LEN);
    }
}
