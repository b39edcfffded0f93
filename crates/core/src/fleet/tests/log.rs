//! The log of an item, and what may stand where.

use crate::fleet::{Item, ItemEntry, ItemPhase, ItemStep, Lease, Offer, OfferedParcel, Refusal};

fn offer(lease: u64) -> Offer {
    Offer { lease, base: "b".to_owned(), head: "h".to_owned(), cost: 0.5, run: None, parcel: None }
}

fn fold(entries: &[(&str, ItemStep)]) -> Item {
    let entries: Vec<ItemEntry> = entries
        .iter()
        .zip(1..)
        .map(|((who, step), sequence)| ItemEntry { sequence, who: (*who).to_owned(), step: step.clone() })
        .collect();
    Item::fold(&entries)
}

fn held(sequence: u64, worker: &str) -> ItemPhase {
    ItemPhase::Held(Lease { sequence, worker: worker.to_owned() })
}

const POSTED: (&str, ItemStep) = ("lander", ItemStep::Posted);

fn claimed(who: &str) -> (&str, ItemStep) {
    (who, ItemStep::Claimed)
}

fn done(who: &str, lease: u64) -> (&str, ItemStep) {
    (who, ItemStep::Done(offer(lease)))
}

fn merged() -> (&'static str, ItemStep) {
    ("lander", ItemStep::Merged { commit: "c".to_owned() })
}

fn refused() -> (&'static str, ItemStep) {
    ("lander", ItemStep::Refused(Refusal::Unusable { reason: "no".to_owned() }))
}

#[test]
fn the_usual_life() {
    let item = fold(&[POSTED, claimed("lane-1"), done("lane-1", 2), merged()]);
    assert_eq!(item.phase, ItemPhase::Merged { commit: "c".to_owned() });
    assert_eq!((item.last, item.refusals, item.candidate), (4, 0, Some(offer(2))));
}

#[test]
fn a_later_claim_takes_the_lease() {
    let item = fold(&[POSTED, claimed("lane-1"), claimed("lane-2"), done("lane-1", 2)]);
    assert_eq!((item.phase, item.last), (held(3, "lane-2"), 4));
    // What the old holder wrote does not keep the new one from handing in.
    let item = fold(&[POSTED, claimed("lane-1"), claimed("lane-2"), done("lane-1", 2), done("lane-2", 3)]);
    assert_eq!(item.offered(), Some(&offer(3)));
    // The same lane, claimed again: its old lease is void.
    assert_eq!(
        fold(&[POSTED, claimed("lane-1"), claimed("lane-1"), done("lane-1", 2)]).phase,
        held(3, "lane-1")
    );
    assert_eq!(fold(&[POSTED, claimed("lane-1"), done("lane-2", 2)]).phase, held(2, "lane-1"));
    for step in [
        ItemStep::Released { lease: 2, died: true },
        ItemStep::Failed { lease: 2, exit: None, why: String::new() },
    ] {
        let item = fold(&[POSTED, claimed("lane-1"), claimed("lane-2"), ("lane-1", step)]);
        assert_eq!((item.phase, item.deaths), (held(3, "lane-2"), 1));
    }
}

#[test]
fn only_a_candidate_lands_and_only_once() {
    assert_eq!(fold(&[POSTED, claimed("lane-1"), merged()]).phase, held(2, "lane-1"));
    let landed = [POSTED, claimed("lane-1"), done("lane-1", 2), merged()];
    for late in [POSTED, claimed("lane-2"), done("lane-1", 2), refused(), merged()] {
        let mut log = landed.to_vec();
        log.push(late.clone());
        assert!(fold(&log).is_merged(), "{late:?}");
    }
}

#[test]
fn what_was_refused_is_counted_and_posted_again() {
    let item = fold(&[POSTED, claimed("lane-1"), done("lane-1", 2), refused(), POSTED]);
    assert_eq!((&item.phase, item.refusals), (&ItemPhase::Waiting, 1));
    // The candidate is there until the next.
    assert_eq!(item.candidate, Some(offer(2)));
    assert_eq!(item.refusal, Some(Refusal::Unusable { reason: "no".to_owned() }));
}

#[test]
fn deaths_are_counted_for_each_posting() {
    let died = ("lane-1", ItemStep::Released { lease: 2, died: true });
    let asked = ("lane-1", ItemStep::Released { lease: 2, died: false });
    assert_eq!(fold(&[POSTED, claimed("lane-1"), died]).deaths, 1);
    let item = fold(&[POSTED, claimed("lane-1"), asked]);
    assert_eq!((item.phase, item.deaths), (ItemPhase::Waiting, 0));
}

#[test]
fn what_is_cancelled_takes_no_results() {
    let cancelled = ("lander", ItemStep::Cancelled { why: "beaten".to_owned() });
    let item = fold(&[POSTED, claimed("lane-1"), cancelled, done("lane-1", 2), claimed("lane-2")]);
    assert_eq!(item.phase, ItemPhase::Cancelled);
}

#[test]
fn what_is_withdrawn_takes_no_results_and_can_be_posted_again() {
    let withdrawn = ("lander", ItemStep::Withdrawn { why: "stopped".to_owned() });
    let item = fold(&[POSTED, claimed("w1"), withdrawn.clone(), done("w1", 2)]);
    assert_eq!(item.phase, ItemPhase::Unknown);
    let item = fold(&[POSTED, claimed("w1"), withdrawn, POSTED, done("w1", 2)]);
    assert_eq!(item.phase, ItemPhase::Waiting);
}

#[test]
fn a_claim_over_a_claim_is_a_death_and_the_lander_alone_gives_up() {
    let failed = |who| (who, ItemStep::Failed { lease: 0, exit: None, why: "they die".to_owned() });
    let item = fold(&[POSTED, claimed("w1"), claimed("w2"), failed("w1")]);
    assert_eq!((item.deaths, item.held().map(|held| held.sequence)), (1, Some(3)));
    let item = fold(&[POSTED, claimed("w1"), claimed("w2"), failed("lander")]);
    assert_eq!(item.phase, ItemPhase::Failed { why: "they die".to_owned() });
}

#[test]
fn a_person_lands_the_last_candidate_and_no_one_else_does() {
    let with_parcel = |lease| Offer {
        parcel: Some(OfferedParcel { writer: "w1".to_owned(), sha256: "0f".repeat(32), bytes: 1 }),
        ..offer(lease)
    };
    let done = ("w1", ItemStep::Done(with_parcel(2)));
    let again = ("lander", ItemStep::Reoffered);
    let offered = ItemPhase::Offered(Lease { sequence: 2, worker: "w1".to_owned() }, with_parcel(2));
    let failed = ("w2", ItemStep::Failed { lease: 6, exit: None, why: String::new() });
    let cancelled = ("lander", ItemStep::Cancelled { why: String::new() });
    let sent_back = vec![POSTED, claimed("w1"), done.clone(), refused()];
    for more in [
        vec![],
        vec![POSTED],
        vec![POSTED, claimed("w2")],
        vec![POSTED, claimed("w2"), failed],
        vec![cancelled],
    ] {
        let log = [sent_back.clone(), more, vec![again.clone()]].concat();
        assert_eq!(fold(&log).phase, offered, "{log:?}");
        assert!(fold(&[log.clone(), vec![merged()]].concat()).is_merged());
        // Who worked on it meanwhile hands nothing in any more.
        assert_eq!(fold(&[log, vec![claimed("w2")]].concat()).phase, offered);
    }
    let by_worker = [sent_back, vec![("w1", ItemStep::Reoffered)]].concat();
    assert_eq!(fold(&by_worker).phase, ItemPhase::Refused);
    // Nothing was handed in, or it has landed.
    assert_eq!(fold(&[POSTED, claimed("w1"), again.clone()]).phase, held(2, "w1"));
    let landed = [POSTED, claimed("w1"), done, merged(), again];
    assert!(fold(&landed).is_merged());
}

#[test]
fn what_is_said_changes_nothing_and_counts() {
    let said = ("lander", ItemStep::Said { text: "use tabs".to_owned(), keep: false, now: false });
    let item = fold(&[POSTED, claimed("w1"), said.clone()]);
    assert_eq!((item.phase, item.last), (held(2, "w1"), 3));
    assert_eq!(fold(&[POSTED, claimed("w1"), said, done("w1", 2)]).offered(), Some(&offer(2)));
}

#[test]
fn what_no_one_has_begun_can_be_given_up() {
    let cancelled = ("lander", ItemStep::Cancelled { why: String::new() });
    assert_eq!(fold(&[cancelled]).phase, ItemPhase::Cancelled);
}
