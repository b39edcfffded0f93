//! Journals from the servers: all pieces of all workers in the order in which they were stored, from the beginning.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use async_nats::jetstream::message::StreamMessage;
use ralph_core::fleet::LANDER;
use ralph_sys::error::Result;

use crate::{
    feed::{END, OFFSET, number},
    link::{Board, Link},
    name::Name,
    read::{last, read},
    subjects::{self, EVENTS},
};

/// How many pieces are read at once.
const BATCH: usize = 64;
/// How often a follower looks for new ones.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// A piece of a journal: whole lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its number on the board: where a follower that comes back continues.
    pub sequence: u64,
    /// The item.
    pub item: String,
    /// The lease that the lane works under.
    pub lease: u64,
    /// The worker.
    pub worker: String,
    /// Where it begins in the worker's file.
    pub offset: u64,
    /// Where it ends there.
    pub end: u64,
    /// What it says.
    pub bytes: Vec<u8>,
    /// How many bytes of the file before it the servers have thrown away.
    pub missing: u64,
}

impl Piece {
    /// Whether it is of the journal of the fleet itself, which only the lander may write.
    pub fn is_of_fleet(&self) -> bool {
        self.item.is_empty() && self.lease == 0 && self.worker == LANDER
    }
}

/// Reads pieces as they come, the old ones first.
pub struct Follow {
    link: Arc<Link>,
    filter: String,
    next: u64,
    read: VecDeque<Piece>,
    ends: Ends,
}

impl Board {
    /// All pieces of all journals of a fleet behind a number, oldest first; 0 is everything that is kept.
    pub fn follow(&self, fleet: &str, after: u64) -> Follow {
        self.follow_as(subjects::journals(fleet), after)
    }

    /// All pieces of the journal of a fleet itself.
    pub fn follow_fleet(&self, fleet: &str, lander: &Name) -> Follow {
        self.follow_as(subjects::fleet_journal(fleet, lander), 0)
    }

    /// The fleet that was heard of last, if there is one.
    pub fn newest_fleet(&self) -> Result<Option<String>> {
        let last = last(self.link(), EVENTS, &subjects::fleet_journals())?;
        Ok(last.and_then(|message| subjects::parse_fleet(&message.subject)))
    }

    fn follow_as(&self, filter: String, after: u64) -> Follow {
        // Who comes back has seen what was before.
        let ends = Ends { known: HashMap::new(), is_from_the_beginning: after == 0 };
        Follow { link: self.link().clone(), filter, next: after + 1, read: VecDeque::new(), ends }
    }
}

impl Follow {
    /// Waits for the next piece; nothing if none came.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Piece>> {
        let end = Instant::now() + wait;
        while self.read.is_empty() {
            for message in read(&self.link, EVENTS, &self.filter, self.next, BATCH)? {
                self.next = message.sequence + 1;
                self.read.extend(self.ends.piece(message));
            }
            if self.read.is_empty() {
                if Instant::now() >= end {
                    return Ok(None);
                }
                thread::sleep(LOOK_INTERVAL);
            }
        }
        Ok(self.read.pop_front())
    }
}

/// How far each journal was seen.
struct Ends {
    known: HashMap<(String, u64, String), u64>,
    is_from_the_beginning: bool,
}

impl Ends {
    /// A piece, or nothing if it is none.
    fn piece(&mut self, message: StreamMessage) -> Option<Piece> {
        let (item, lease, worker) = subjects::parse_journal(&message.subject)?;
        let (offset, end) = (number(&message.headers, OFFSET).ok()?, number(&message.headers, END).ok()?);
        let missing = self.missing((item.clone(), lease, worker.clone()), offset, end);
        let (sequence, bytes) = (message.sequence, message.payload.into());
        Some(Piece { sequence, item, lease, worker, offset, end, bytes, missing })
    }

    fn missing(&mut self, journal: (String, u64, String), offset: u64, end: u64) -> u64 {
        match self.known.insert(journal, end) {
            Some(seen) => offset.saturating_sub(seen),
            None if self.is_from_the_beginning => offset,
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_thrown_away_is_counted_for_each_journal() {
        let of = |item: &str| (item.to_owned(), 7, "w1".to_owned());
        let mut ends = Ends { known: HashMap::new(), is_from_the_beginning: true };
        assert_eq!(ends.missing(of("a"), 0, 10), 0);
        assert_eq!(ends.missing(of("b"), 5, 10), 5, "the beginning is gone");
        assert_eq!(ends.missing(of("a"), 10, 20), 0);
        assert_eq!(ends.missing(of("a"), 25, 30), 5, "a piece in between is gone");
        let mut ends = Ends { known: HashMap::new(), is_from_the_beginning: false };
        assert_eq!(ends.missing(of("a"), 10, 20), 0, "it was seen before");
    }
}
