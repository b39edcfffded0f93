//! Three servers, three replicas: one is killed in mid-run, and nothing is lost.

use std::{sync::atomic::Ordering, time::Duration};

use ralph_board::{Answer, Setup};
use ralph_core::fleet::{ItemStep, LANDER};

use crate::{
    once::work_off,
    queue::race,
    server::{FLEET, Server, at, connect, eventually, post, program},
};

fn cluster() -> Option<Vec<Server>> {
    let servers = loopback_board::cluster(&program()?, "").expect("three servers");
    let servers: Vec<Server> = servers.into_iter().map(Server::of).collect();
    let board = connect(&url(&servers), "setup");
    let setup = Setup { replicas: 3, silence: Duration::from_secs(3), ..Setup::default() };
    // Not before the servers have elected a leader.
    eventually("the streams", || board.set_up(&setup).is_ok());
    Some(servers)
}

fn url(servers: &[Server]) -> String {
    servers.iter().map(|server| server.url()).collect::<Vec<_>>().join(",")
}

#[test]
fn of_many_claims_one_is_stored_in_a_cluster() {
    let Some(servers) = cluster() else { return };
    race(&url(&servers), 20, 6);
}

/// Whichever server it is: the leader of something is among the first two.
#[test]
fn a_killed_server_of_three_loses_nothing() {
    const ITEMS: usize = 40;
    const LATER: usize = 10;
    let Some(mut servers) = cluster() else { return };
    let all = url(&servers);
    let board = connect(&all, "test");
    for index in 0..ITEMS {
        post(&board, &format!("i{index}"));
    }
    work_off(&all, ITEMS + 2 * LATER, |done| {
        for (index, victim) in servers.iter_mut().take(2).enumerate() {
            eventually("some results", || (index + 1) * ITEMS / 4 <= done.load(Ordering::SeqCst));
            victim.kill();
            // What is posted while one is away is stored by the others, and worked on.
            for later in 0..LATER {
                let item = format!("later-{index}-{later}");
                let mut posted = None;
                eventually("a posting without it", || {
                    let stored = board.ledger(FLEET).append_with(&item, LANDER, &ItemStep::Posted, None, 0);
                    posted = stored.ok();
                    posted.is_some()
                });
                let posted = at(posted.expect("an answer"));
                eventually("the queue without it", || {
                    matches!(board.post(FLEET, &item, posted), Ok(Answer::At(_) | Answer::There))
                });
            }
            let ledger = board.ledger(FLEET);
            eventually("a result without it", || {
                let last = ledger.item(&format!("later-{index}-0"));
                last.is_ok_and(|item| item.offered().is_some())
            });
            victim.start_again();
        }
    });
}
