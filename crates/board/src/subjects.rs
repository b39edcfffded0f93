//! Streams and subjects: the one place that spells them.

use ralph_core::fleet::LANDER;

use crate::name::{Name, text, token};

/// What is to be done: one message for each item that waits or is worked on.
pub const WORK: &str = "RALPH_WORK";
/// What happened to each item; the truth.
pub const ITEMS: &str = "RALPH_ITEMS";
/// The journals of the lanes, as they grow.
pub const EVENTS: &str = "RALPH_EVENTS";
/// Repositories and results: parts of files, addressed by what they contain.
pub const PARCELS: &str = "RALPH_PARCELS";
/// All of them.
pub const ALL_STREAMS: [&str; 4] = [WORK, ITEMS, EVENTS, PARCELS];
/// The consumer of `WORK` that all workers share.
pub const WORKERS: &str = "workers";
/// Where accounts of workers and watchers find the interface of the streams: `$JS.API` is that of their own account.
pub const API: &str = "RALPH.API";

/// An item in the queue.
pub(crate) fn work(fleet: &str, item: &str) -> String {
    format!("ralph.work.{}.{}", token(fleet), token(item))
}

/// The fleet and the item that a message of the queue is about.
pub(crate) fn parse_work(subject: &str) -> Option<(String, String)> {
    let (fleet, item) = subject.strip_prefix("ralph.work.")?.split_once('.')?;
    Some((text(fleet)?, text(item)?))
}

/// The log of an item. Every append names this very text as the subject whose last sequence it expects: a cluster
/// serializes appends by the text of that filter.
pub(crate) fn log(fleet: &str, item: &str) -> String {
    format!("ralph.item.{}.{}.>", token(fleet), token(item))
}

/// What was said to the worker of an item, by any machine.
pub(crate) fn said(fleet: &str, item: &str) -> String {
    format!("ralph.item.{}.{}.said.*", token(fleet), token(item))
}

/// The logs of all items of a fleet.
pub(crate) fn logs(fleet: &str) -> String {
    format!("ralph.item.{}.>", token(fleet))
}

/// An entry of a log. Step and author are in the subject, because that is what the server checks.
pub(crate) fn entry(fleet: &str, item: &str, step: &str, who: &str) -> String {
    format!("ralph.item.{}.{}.{step}.{}", token(fleet), token(item), token(who))
}

/// The item, the step and the author of an entry.
pub(crate) fn parse_entry(subject: &str) -> Option<(String, &str, String)> {
    let mut tokens = subject.strip_prefix("ralph.item.")?.split('.');
    let (_, item) = (tokens.next()?, text(tokens.next()?)?);
    let (step, who) = (tokens.next()?, text(tokens.next()?)?);
    tokens.next().is_none().then_some((item, step, who))
}

/// The journal of one lease: another lease, another journal.
pub(crate) fn journal(fleet: &str, item: &str, lease: u64, worker: &Name) -> String {
    format!("ralph.events.{}.{}.{lease}.{worker}", token(fleet), token(item))
}

/// The journal of a fleet itself: of no item, and under no lease.
pub(crate) fn fleet_journal(fleet: &str, lander: &Name) -> String {
    journal(fleet, "", 0, lander)
}

/// The journals of all fleets.
pub(crate) fn fleet_journals() -> String {
    format!("ralph.events.*.{}.0.{LANDER}", token(""))
}

/// The fleet that a journal is of.
pub(crate) fn parse_fleet(subject: &str) -> Option<String> {
    text(subject.strip_prefix("ralph.events.")?.split('.').next()?)
}

/// All journals of a fleet.
pub(crate) fn journals(fleet: &str) -> String {
    format!("ralph.events.{}.>", token(fleet))
}

/// The item, the lease and the worker of a journal.
pub(crate) fn parse_journal(subject: &str) -> Option<(String, u64, String)> {
    let mut tokens = subject.strip_prefix("ralph.events.")?.split('.');
    let (_, item) = (tokens.next()?, text(tokens.next()?)?);
    let (lease, worker) = (tokens.next()?.parse().ok()?, text(tokens.next()?)?);
    tokens.next().is_none().then_some((item, lease, worker))
}

/// A part of a parcel.
pub(crate) fn part(writer: &Name, sha256: &str, index: u64) -> String {
    format!("ralph.parcel.{writer}.{sha256}.{index}")
}

/// All parts of a parcel.
pub(crate) fn parts(writer: &Name, sha256: &str) -> String {
    format!("ralph.parcel.{writer}.{sha256}.*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_spelled_as_the_servers_rules_are() {
        let worker: Name = "w1".parse().expect("a name");
        for (subject, expected) in [
            (work("f", "US-1"), "ralph.work.f.US-1"),
            (log("f", "1.2"), "ralph.item.f.1=2e2.>"),
            (logs("f"), "ralph.item.f.>"),
            (entry("f", "a", "done", "w1"), "ralph.item.f.a.done.w1"),
            (journal("f", "a", 7, &worker), "ralph.events.f.a.7.w1"),
            (said("f", "a b"), "ralph.item.f.a=20b.said.*"),
            (fleet_journal("f", &"lander".parse().expect("a name")), "ralph.events.f.=.0.lander"),
            (fleet_journals(), "ralph.events.*.=.0.lander"),
            (journals("f"), "ralph.events.f.>"),
            (part(&worker, "00ff", 3), "ralph.parcel.w1.00ff.3"),
            (parts(&worker, "00ff"), "ralph.parcel.w1.00ff.*"),
        ] {
            assert_eq!(subject, expected);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(parse_work(&work("f", "1.2")), Some(("f".into(), "1.2".into())));
        assert_eq!(parse_entry(&entry("f", "a.b", "done", "w1")), Some(("a.b".into(), "done", "w1".into())));
        let worker = "w1".parse().expect("a name");
        assert_eq!(parse_journal(&journal("f", "a b", 7, &worker)), Some(("a b".into(), 7, "w1".into())));
        let lander = "lander".parse().expect("a name");
        assert_eq!(parse_journal(&fleet_journal("f", &lander)), Some((String::new(), 0, "lander".into())));
        assert_eq!(parse_fleet(&fleet_journal("f.1", &lander)).as_deref(), Some("f.1"));
        for strange in ["ralph.item.f.a.done", "ralph.item.f.a.done.w1.x", "ralph.work.f.a", "x"] {
            assert_eq!(parse_entry(strange), None, "{strange}");
        }
        for strange in ["ralph.events.f.a.x.w1", "ralph.events.f.a.1", "ralph.events.f.a.1.w1.x"] {
            assert_eq!(parse_journal(strange), None, "{strange}");
        }
    }
}
