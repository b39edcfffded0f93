//! Reads the transcript of a conversation from its end, however long it is.
//!
//! A transcript that cannot be read says nothing.

use std::{collections::VecDeque, path::Path};

use jiff::Timestamp;
use ralph_agents::transcript::{Reach, last_message, queue};
use ralph_sys::files;

use super::context::end_of;

/// As much of a transcript is searched.
const MAX_SEARCHED_LEN: u64 = 16 * 1024 * 1024;

/// Mostly enough for one message.
const FIRST_LEN: u64 = 256 * 1024;

/// The last message of the agent since a moment.
pub(super) fn last_message_since(path: &str, since: Timestamp) -> Option<String> {
    let mut file = files::open(Path::new(path)).ok()?;
    let length = file.metadata().ok()?.len();
    let mut size = FIRST_LEN;
    loop {
        let (message, reach) = last_message(&end_of(&mut file, length, size)?, since);
        if reach == Reach::Whole || length <= size || MAX_SEARCHED_LEN <= size {
            return Some(message);
        }
        size *= 8;
    }
}

/// What the user has typed since a moment and the host has not read yet.
pub(super) fn waiting_since(path: &str, since: Timestamp) -> VecDeque<String> {
    let tail = files::open(Path::new(path)).ok().and_then(|mut file| {
        let length = file.metadata().ok()?.len();
        end_of(&mut file, length, MAX_SEARCHED_LEN)
    });
    queue::waiting(&tail.unwrap_or_default(), since)
}
