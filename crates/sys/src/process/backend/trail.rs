//! Who descends from a process, noted while it runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::process::table::{Process, Source};

/// The process that runs, and who came from it.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// The process, whose number its session has.
    session: Option<i32>,
    seen: BTreeMap<i32, Seen>,
}

/// A process that was seen.
#[derive(Clone, Copy, Debug)]
struct Seen {
    started: u64,
    /// Its parent when it was seen first.
    parent: i32,
}

impl Trail {
    /// A process was started as the leader of its session.
    pub(super) fn follow(&mut self, session: i32) {
        *self = Self { session: Some(session), seen: BTreeMap::new() };
    }

    /// Nothing runs.
    pub(super) fn rest(&mut self) {
        *self = Self::default();
    }

    /// The session that is followed.
    pub(super) fn session(&self) -> Option<i32> {
        self.session
    }

    /// Notes who is there by now; returns those who are new.
    pub(super) fn note(&mut self, rows: &[Process]) -> Vec<Process> {
        let Some(session) = self.session else { return Vec::new() };
        // Numbers are used again.
        self.seen.retain(|pid, seen| rows.iter().any(|row| row.pid == *pid && seen.is(row)));
        let mut news = Vec::new();
        loop {
            let known = self.seen.len();
            for row in rows.iter().filter(|row| !row.is_zombie) {
                let descends = row.session == session || self.seen.contains_key(&row.parent);
                if descends && !self.seen.contains_key(&row.pid) {
                    self.seen.insert(row.pid, Seen { started: row.started, parent: row.parent });
                    news.push(row.clone());
                }
            }
            if self.seen.len() == known {
                return news;
            }
        }
    }

    /// Those that are left: seen before or marked, and what came from them, except those that are apart and what came from
    /// those.
    pub(super) fn left(
        &self,
        rows: &[Process],
        is_marked: &dyn Fn(&Process) -> bool,
        is_apart: &dyn Fn(i32) -> bool,
    ) -> Vec<i32> {
        let me = i32::try_from(std::process::id()).unwrap_or_default();
        let alive: BTreeMap<i32, &Process> =
            rows.iter().filter(|row| !row.is_zombie && row.pid != me).map(|row| (row.pid, row)).collect();
        let is_seen = |row: &&Process| self.seen.get(&row.pid).is_some_and(|seen| seen.is(row));
        let mut left: BTreeSet<i32> =
            alive.values().filter(|row| is_seen(row) || is_marked(row)).map(|row| row.pid).collect();
        loop {
            let more: Vec<i32> = alive
                .values()
                .filter(|row| left.contains(&row.parent) && !left.contains(&row.pid))
                .map(|row| row.pid)
                .collect();
            if more.is_empty() {
                break;
            }
            left.extend(more);
        }
        left.iter().copied().filter(|pid| !self.line(*pid, &alive).into_iter().any(is_apart)).collect()
    }

    /// A process and its ancestors, as they were when each was seen first.
    fn line(&self, pid: i32, alive: &BTreeMap<i32, &Process>) -> Vec<i32> {
        let parent = |pid| {
            let seen = self.seen.get(&pid).map(|seen| seen.parent);
            seen.or_else(|| alive.get(&pid).map(|row| row.parent))
        };
        let mut line = vec![pid];
        while let Some(next) = line.last().and_then(|pid| parent(*pid)).filter(|next| !line.contains(next)) {
            line.push(next);
        }
        line
    }
}

impl Seen {
    /// Whether this is the same process.
    fn is(&self, row: &Process) -> bool {
        self.started.abs_diff(row.started) <= Source::START_TOLERANCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pid parent session started` of each process; `!` before it marks it.
    fn rows(text: &str) -> Vec<Process> {
        let row = |line: &str| {
            let numbers: Vec<i32> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
            Process::test(numbers[0], numbers[1], numbers[2], numbers[3].unsigned_abs().into())
        };
        text.split(", ").map(row).collect()
    }

    /// What is left at the end of two looks, of processes that descend from 10.
    #[track_caller]
    fn check(before: &str, after: &str, marked: &[i32], apart: &[i32], expected: &[i32]) {
        let mut trail = Trail::default();
        trail.follow(10);
        trail.note(&rows(before));
        let rows = rows(after);
        trail.note(&rows);
        let left = trail.left(&rows, &|row| marked.contains(&row.pid), &|pid| apart.contains(&pid));
        assert_eq!(left, expected);
    }

    #[test]
    fn who_came_from_a_process_is_left_of_it() {
        let before = "10 2 10 5, 11 10 10 5, 12 11 12 5, 3 2 3 5";
        check(before, "3 2 3 5", &[], &[], &[]);
        // Its session, one that left the session, and what that one started.
        check(before, "11 1 10 5, 12 1 12 5, 13 12 13 9, 3 2 3 5", &[], &[], &[11, 12, 13]);
        // Never seen, but marked; and another process that got a number again.
        check(before, "20 1 20 8, 21 20 20 8, 12 1 12 90", &[20], &[], &[20, 21]);
        // A process that is someone else's, with what it started.
        check("10 2 10 5, 11 10 11 5, 12 11 12 5", "11 1 11 5, 12 1 12 5, 14 1 10 5", &[], &[11], &[14]);
        check(before, "12 1 12 5, 13 12 13 9, 11 1 10 5", &[12, 13], &[12], &[11]);
    }

    #[test]
    fn nothing_is_followed_at_rest() {
        let mut trail = Trail::default();
        trail.follow(10);
        assert_eq!(trail.note(&rows("10 2 10 5, 11 10 11 5")).len(), 2);
        assert_eq!(trail.note(&rows("10 2 10 6, 11 10 11 5")).len(), 0);
        trail.rest();
        assert_eq!(trail.note(&rows("11 1 11 5, 10 2 10 5")).len(), 0);
        assert_eq!(trail.left(&rows("11 1 11 5"), &|_| false, &|_| false), [0; 0]);
    }
}
