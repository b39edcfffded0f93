//! What a person does to items of a fleet on a board: lands a candidate after all, or gives it up.

use super::{Field, go, record, waiting};
use crate::{
    env::poll,
    fleet::{commit, landed, no_refs_left, status},
    stories::story,
};
use serde_json::json;

/// Each passes alone; both together only where a person says so.
const CHECK: &str = "test ! -e A.txt -o ! -e B.txt -o -e both.ok";

/// A fleet of which B has landed, and A does not pass with it.
fn refused(names: &[&str]) -> Option<(Field, crate::env::Running, [crate::env::Running; 2])> {
    let works: Vec<String> = names.iter().map(|name| waiting(name)).collect();
    let all: Vec<_> = names.iter().zip(&works).map(|(name, work)| (story(name), work.as_str())).collect();
    let mut field = Field::new(&all, CHECK, 2)?;
    field.env = std::mem::replace(&mut field.env, crate::env::Env::new())
        .settings(json!({"fleet": {"evictions": 0}}));
    let fleet = field.start_fleet();
    let workers = [field.start_worker(1), field.start_worker(2)];
    let begun =
        |name: &str| ["w1", "w2"].iter().any(|who| record(&field.env, &format!("{name}.{who}")).exists());
    poll("two agents", || (begun("A") && begun("B")).then_some(()));
    go(&field.env, "B");
    fleet.await_saying("B landed as");
    go(&field.env, "A");
    fleet.await_saying("A is sent back");
    Some((field, fleet, workers))
}

/// What was written about an item by the process that lands.
fn landers(field: &Field, item: &str) -> Vec<String> {
    let of_lander = |it: &String| it.strip_suffix(" lander").map(str::to_owned);
    field.log(item).iter().filter_map(of_lander).collect()
}

#[test]
fn a_candidate_is_landed_when_the_fleet_has_ended() {
    let Some((mut field, fleet, workers)) = refused(&["A", "B"]) else { return };
    fleet.wait().exits(6);
    let env = &field.env;
    assert!(!no_refs_left(env), "the candidate is kept");
    env.ralph(&["fleet", "land", "X"]).exits(2).says("there is no item `X`");
    env.ralph(&["fleet", "land", "A"]).exits(2).says("A does not land: ");
    assert_eq!(landers(&field, "A"), ["posted", "refused", "reoffered", "refused"]);
    env.write("both.ok", "");
    commit(env);
    env.ralph(&["fleet", "land", "A"]).exits(0).prints("A has landed");
    assert_eq!(landers(&field, "A")[4..], ["reoffered", "merged"]);
    assert!(landed(env).last().expect("a commit").starts_with("A: "), "{:?}", landed(env));
    assert!(no_refs_left(env));
    assert_eq!(status(env)["items"][0]["phase"], "landed");
    env.ralph(&["fleet", "land", "A"]).exits(2).says("A has landed already");
    env.ralph(&["fleet", "discard", "A"]).exits(2).says("A has landed already");
    // A worker that reads the log itself sees the same.
    let login = ralph_board::Login::anonymous("test".parse().expect("a name"));
    let board = ralph_board::Board::connect(&field.url().parse().expect("an address"), &login);
    let id = status(env)["fleet"].as_str().expect("an id").to_owned();
    let item = board.and_then(|board| board.ledger(&id).item("A")).expect("a log");
    assert!(item.is_merged(), "{item:?}");
    field.server.kill();
    let env = &field.env;
    env.ralph(&["fleet", "land", "A"]).exits(2).says("cannot connect to the board").says("ralph fleet board");
    for (number, worker) in (1..).zip(workers) {
        field.ends(number, worker);
    }
    field.env.nothing_left();
}

#[test]
fn a_fleet_that_runs_lands_and_gives_up_what_a_person_says() {
    let Some((field, fleet, workers)) = refused(&["A", "B", "C"]) else { return };
    let env = &field.env;
    let at_c = || ["w1", "w2"].into_iter().find(|who| record(env, &format!("C.{who}")).exists());
    let who = poll("an agent", at_c);
    env.write("both.ok", "");
    commit(env);
    env.ralph(&["fleet", "land", "A"]).exits(0).prints("A has landed");
    assert_eq!(landers(&field, "A"), ["posted", "refused", "reoffered", "merged"]);
    env.ralph(&["fleet", "land", "C"]).exits(2).says("C has no candidate");
    // A worker is at it, and learns that no one wants it.
    env.ralph(&["fleet", "discard", "C"]).exits(0).prints("C is discarded");
    fleet.wait().exits(0);
    assert_eq!(landers(&field, "C"), ["posted", "cancelled"]);
    assert_eq!(status(env)["items"][2]["phase"], "cancelled");
    for (number, worker) in (1..).zip(workers) {
        if who == format!("w{number}") {
            worker.await_saying("C belongs to another worker by now, or the fleet no longer needs it");
        }
        field.ends(number, worker);
    }
    assert!(no_refs_left(env));
    env.nothing_left();
}

#[test]
fn a_candidate_is_given_up_when_the_fleet_has_ended() {
    let Some((field, fleet, workers)) = refused(&["A", "B"]) else { return };
    fleet.wait().exits(6);
    let env = &field.env;
    env.ralph(&["fleet", "discard", "A"]).exits(0).prints("A is discarded");
    assert_eq!(landers(&field, "A"), ["posted", "refused", "cancelled"]);
    assert!(no_refs_left(env));
    // Nothing is left to do.
    field.resume().wait().exits(0);
    for (number, worker) in (1..).zip(workers) {
        field.ends(number, worker);
    }
    env.nothing_left();
}
