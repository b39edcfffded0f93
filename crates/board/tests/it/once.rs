//! One accepted result for each item, whatever is repeated, lost or killed.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use loopback_board::{Cable, workers};
use ralph_board::{Answer, Board};
use ralph_core::fleet::{Item, ItemPhase, ItemStep, Stored};
use ralph_sys::error::Result;

use crate::server::{FLEET, PATIENCE, Server, at, claim, connect, eventually, hand_in, post};

/// How many entries of this kind the item's log has, legal or not.
fn count(board: &Board, item: &str, is_it: impl Fn(&ItemStep) -> bool) -> usize {
    let entries = board.ledger(FLEET).entries(item).expect("the log");
    entries.iter().filter(|entry| is_it(&entry.entry.step)).count()
}

fn claims(board: &Board, item: &str) -> usize {
    count(board, item, |step| *step == ItemStep::Claimed)
}

fn results(board: &Board, item: &str) -> usize {
    count(board, item, |step| matches!(step, ItemStep::Done(_)))
}

#[test]
fn of_two_deliveries_one_is_accepted() {
    let Some(server) = Server::with_silence(Duration::from_secs(1)) else { return };
    let (one, two) = (server.connect("w1"), server.connect("w2"));
    let posted = post(&one, "a");
    let first = one.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("an item");
    let lease = at(claim(&one, "a", posted));
    let second = two.queue().expect("a queue").take(PATIENCE).expect("an answer").expect("given again");
    // The first is alive and done before the second has claimed: it wins, and the second has nothing to do.
    at(hand_in(&one, "a", lease));
    first.settle().expect("settled");
    assert_eq!(claim(&two, "a", lease), Stored::Overtaken);
    second.settle().expect("settled");
    assert_eq!((claims(&one, "a"), results(&one, "a")), (1, 1));
}

#[test]
fn a_lost_confirmation_is_found_in_the_log() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let cable = Cable::to(server.port);
    let (board, referee) = (connect(&cable.url(), "w1"), server.connect("test"));
    let posted = post(&referee, "a");
    cable.cut_answers();
    let stored = thread::scope(|scope| {
        let claim = scope.spawn(|| claim(&board, "a", posted));
        eventually("the claim", || claims(&referee, "a") == 1);
        let sent = cable.sent();
        // The client gives up on the answer and says it again.
        eventually("the second try", || sent + 100 < cable.sent());
        cable.heal();
        claim.join().expect("no panic")
    });
    let lease = referee.ledger(FLEET).item("a").expect("the log").held().expect("a holder").sequence;
    assert_eq!(stored, Stored::At(lease), "it is told as if nothing had happened");
    assert_eq!(claims(&referee, "a"), 1, "and was not stored twice");

    // The same with another who was faster.
    cable.cut();
    let stored = thread::scope(|scope| {
        let late = scope.spawn(|| hand_in(&board, "a", lease));
        let faster = server.connect("w2");
        at(claim(&faster, "a", lease));
        cable.heal();
        late.join().expect("no panic")
    });
    assert_eq!((stored, results(&referee, "a")), (Stored::Overtaken, 0));
}

#[test]
fn an_append_without_an_answer_says_so() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let cable = Cable::to(server.port);
    let board = connect(&cable.url(), "w1");
    cable.cut_answers();
    let answer = board.ledger(FLEET).try_append("a", "w1", &ItemStep::Claimed, None, 0);
    assert_eq!(answer.expect("an answer"), Answer::Unanswered);
}

/// One item, from the queue to the result.
fn work_once(board: &Board) -> Result<bool> {
    let worked = workers::work_once(board, &board.queue()?, &board.ledger(FLEET))?;
    Ok(worked.is_some())
}

/// Items with results: read from the logs, so that no one has to believe the workers.
fn offered(board: &Board) -> usize {
    let items = board.ledger(FLEET).items().unwrap_or_default();
    let is_offered = |log: &&Vec<_>| {
        matches!(
            Item::fold(log.iter().map(|it: &ralph_board::BoardEntry| &it.entry)).phase,
            ItemPhase::Offered(..)
        )
    };
    items.values().filter(is_offered).count()
}

/// Workers that never give up, and something that is done to the servers meanwhile.
pub(crate) fn work_off(url: &str, items: usize, disturb: impl FnOnce(&AtomicUsize)) {
    let done = AtomicUsize::new(0);
    let is_over = AtomicUsize::new(0);
    thread::scope(|scope| {
        for worker in 0..4 {
            let (done, is_over) = (&done, &is_over);
            scope.spawn(move || {
                let board = connect(url, &format!("w{worker}"));
                let end = Instant::now() + PATIENCE;
                while is_over.load(Ordering::SeqCst) == 0 && Instant::now() < end {
                    if work_once(&board).unwrap_or(false) {
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        disturb(&done);
        let referee = connect(url, "referee");
        let start = Instant::now();
        while offered(&referee) < items && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        is_over.store(1, Ordering::SeqCst);
    });
    let referee = connect(url, "referee");
    assert_eq!(offered(&referee), items);
    for (item, log) in referee.ledger(FLEET).items().expect("the logs") {
        let is_done = |entry: &&ralph_board::BoardEntry| matches!(entry.entry.step, ItemStep::Done(_));
        assert_eq!(log.iter().filter(is_done).count(), 1, "{item}");
    }
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_it_confirmed() {
    const ITEMS: usize = 150;
    let Some(mut server) = Server::with_silence(Duration::from_secs(3)) else { return };
    let board = server.connect("test");
    for index in 0..ITEMS {
        post(&board, &format!("i{index}"));
    }
    let url = server.url();
    work_off(&url, ITEMS, |done| {
        for kill in 1..=3 {
            eventually("some results", || kill * ITEMS / 5 <= done.load(Ordering::SeqCst));
            server.kill();
            server.start_again();
        }
    });
    // A posting is refused as long as the item is in the queue, also by a server that was killed.
    let board = server.connect("again");
    let posted = post(&board, "last");
    server.kill();
    server.start_again();
    let board = server.connect("again");
    assert_eq!(board.post(FLEET, "last", posted).expect("an answer"), Answer::There);
}
