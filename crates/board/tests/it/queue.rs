//! Who gets an item, who keeps it, and who comes too late.

use std::{
    thread,
    time::{Duration, Instant},
};

use loopback_board::Cable;
use ralph_board::{Answer, Board, OLDEST};
use ralph_core::fleet::{ItemPhase, ItemStep, Ledger, Stored};

use crate::server::{FLEET, PATIENCE, Server, at, claim, connect, done, hand_in, post};

#[test]
fn the_item_of_a_silent_worker_goes_to_the_next() {
    let silence = Duration::from_secs(2);
    let Some(server) = Server::with_silence(silence) else { return };
    let (dead, other) = (server.connect("w1"), server.connect("w2"));
    let posted = post(&other, "a");
    let taken = Instant::now();
    let delivery = dead.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("an item");
    assert_eq!((delivery.fleet.as_str(), delivery.item.as_str(), delivery.posted), (FLEET, "a", posted));
    at(claim(&dead, "a", posted));
    drop(dead);

    let queue = other.queue().expect("a queue");
    assert_eq!(queue.silence(), silence);
    let again = queue.take(PATIENCE).expect("an answer").expect("given again");
    assert!(silence <= taken.elapsed(), "not before the silence is over");
    assert_eq!((again.item.as_str(), again.count()), ("a", 2));
    let last = other.ledger(FLEET).item("a").expect("the log").last;
    let lease = at(claim(&other, "a", last));
    at(hand_in(&other, "a", lease));
    again.settle().expect("settled");
    assert!(queue.take(silence * 2).expect("an answer").is_none(), "settled for good");
}

#[test]
fn a_slow_worker_keeps_its_item() {
    let silence = Duration::from_secs(2);
    let Some(server) = Server::with_silence(silence) else { return };
    let (slow, other) = (server.connect("w1"), server.connect("w2"));
    post(&slow, "a");
    let delivery = slow.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("an item");
    let queue = other.queue().expect("a queue");
    let start = Instant::now();
    while start.elapsed() < silence * 3 {
        delivery.keep().expect("kept");
        assert!(queue.take(silence / 4).expect("an answer").is_none(), "taken from a live worker");
    }
}

#[test]
fn a_worker_that_was_cut_off_cannot_hand_in() {
    let Some(server) = Server::with_silence(Duration::from_secs(1)) else { return };
    let cable = Cable::to(server.port);
    let (old, new) = (connect(&cable.url(), "w1"), server.connect("w2"));
    let posted = post(&new, "a");
    let _delivery = old.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("an item");
    let old_lease = at(claim(&old, "a", posted));
    assert!(old.ledger(FLEET).is_held("a", old_lease).expect("the log"));

    cable.cut();
    let (late, delivery, new_lease) = thread::scope(|scope| {
        // It hands in into the cut cable: the bytes wait there, as they would in a router or a stopped process.
        let late = scope.spawn(|| hand_in(&old, "a", old_lease));
        let delivery = new.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("given again");
        let last = new.ledger(FLEET).item("a").expect("the log").last;
        let new_lease = at(claim(&new, "a", last));
        cable.heal();
        (late.join().expect("no panic"), delivery, new_lease)
    });
    assert!(old_lease < new_lease, "the lease is a fencing token: it only grows");
    assert_eq!(late, Stored::Overtaken);
    // And again, after the connection is back, with everything that it knew.
    assert_eq!(hand_in(&old, "a", old_lease), Stored::Overtaken);
    assert!(!old.ledger(FLEET).is_held("a", old_lease).expect("the log"));
    assert!(new.ledger(FLEET).is_held("a", new_lease).expect("the log"));
    at(hand_in(&new, "a", new_lease));
    delivery.settle().expect("settled");
    let phase = new.ledger(FLEET).item("a").expect("the log").phase;
    assert!(matches!(phase, ItemPhase::Offered(lease, _) if lease.sequence == new_lease));
}

/// Two facts about the server that the protocol has to live with.
#[test]
fn the_acknowledgement_of_a_former_holder_is_repaired_by_posting_again() {
    let silence = Duration::from_secs(1);
    let Some(server) = Server::with_silence(silence) else { return };
    let board = server.connect("test");
    let posted = post(&board, "a");
    let queue = board.queue().expect("a queue");
    let former = queue.take(PATIENCE).expect("an answer").expect("an item");
    let current = queue.take(PATIENCE).expect("an answer").expect("given again");
    assert_eq!((former.count(), current.count()), (1, 2));
    // The current holder is dead; the former one keeps the item from being given again.
    let start = Instant::now();
    while start.elapsed() < silence * 2 {
        former.keep().expect("kept");
        assert!(queue.take(silence / 4).expect("an answer").is_none());
    }
    // It can even take it out of the queue.
    former.settle().expect("settled");
    assert!(queue.take(silence * 2).expect("an answer").is_none());
    // Which is why whatever is open in the logs is posted again: here it is new, elsewhere the queue refuses it.
    assert!(matches!(board.post(FLEET, "a", posted).expect("an answer"), Answer::At(_)));
    assert_eq!(board.post(FLEET, "a", posted).expect("an answer"), Answer::There);
    let _held = queue.take(PATIENCE).expect("an answer").expect("an item");
    assert_eq!(
        board.post(FLEET, "a", posted).expect("an answer"),
        Answer::There,
        "also while it is worked on"
    );
}

#[test]
fn what_is_given_back_is_given_again_and_one_at_a_time() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let (board, other) = (server.connect("w1"), server.connect("w2"));
    post(&board, "a.1");
    post(&board, "b");
    let queue = board.queue().expect("a queue");
    let first = queue.take(PATIENCE).expect("an answer").expect("an item");
    let second = other.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("an item");
    assert_eq!((first.item.as_str(), second.item.as_str()), ("a.1", "b"), "nothing is fetched ahead");
    first.give_back().expect("given back");
    let again = queue.take(PATIENCE).expect("an answer").expect("an item");
    assert_eq!((again.item.as_str(), again.count()), ("a.1", 2));
    second.give_back_for(Duration::from_mins(1)).expect("given back");
    assert!(queue.take(Duration::from_millis(300)).expect("an answer").is_none(), "not yet");
}

/// Of many claims on what all have seen, one succeeds.
pub(crate) fn race(url: &str, rounds: u32, racers: usize) {
    let referee = connect(url, "referee");
    let boards: Vec<Board> = (0..racers).map(|index| connect(url, &format!("w{index}"))).collect();
    for round in 0..rounds {
        let item = format!("race-{round}");
        let ledger = referee.ledger(FLEET);
        let posted = ledger.append_with(&item, "lander", &ItemStep::Posted, None, 0).expect("an answer");
        let outcomes: Vec<Stored> = thread::scope(|scope| {
            let item = &item;
            let run = |board| scope.spawn(move || claim(board, item, at(posted)));
            let runs: Vec<_> = boards.iter().map(run).collect();
            runs.into_iter().map(|run| run.join().expect("no panic")).collect()
        });
        let won = outcomes.iter().filter(|stored| matches!(stored, Stored::At(_))).count();
        assert_eq!(won, 1, "{outcomes:?}");
        // Any replica may answer; it has what was confirmed soon.
        crate::server::eventually("the claim", || ledger.read(&item).is_ok_and(|log| log.len() == 2));
    }
}

#[test]
fn of_many_claims_one_is_stored() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    race(&server.url(), 30, 8);
}

#[test]
fn all_items_are_listed_and_every_entry_comes_once() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let board = server.connect("w1");
    let mut ledger = board.ledger(FLEET);
    for index in 0..600 {
        at(ledger.append(&format!("i{index}"), "lander", ItemStep::Posted, 0).expect("an answer"));
    }
    // Another fleet on the same board.
    at(board.ledger("g").append("i0", "lander", ItemStep::Posted, 0).expect("an answer"));
    let lease = at(claim(&board, "i7", 8));
    let items = ledger.items().expect("the logs");
    assert_eq!(items.len(), 600);
    assert_eq!(items["i7"].iter().map(|entry| entry.entry.sequence).collect::<Vec<_>>(), [8, lease]);
    let changes = ledger.changes(590).expect("the logs");
    let numbers: Vec<u64> = changes.iter().map(|entry| entry.entry.sequence).collect();
    assert_eq!(numbers, (591..=600).chain([lease]).collect::<Vec<_>>());
    // What no one can read is an entry that changes nothing, so that the next append names the right one.
    assert_eq!(ledger.append("i7", "w2", done(lease), lease).expect("an answer"), Stored::At(lease + 1));
    let item = ledger.item("i7").expect("the log");
    assert_eq!((item.held().map(|held| held.sequence), item.last), (Some(lease), lease + 1));
    assert!(OLDEST.to_string() <= board.server_version() || board.server_version().starts_with("2."));
}
