//! What breaks: workers, the lander, the server, and a worker that lies.

use loopback_board::Cable;
use rustix::process::Signal;

use super::{Field, go, record, waiting};
use crate::{
    env::{kill, pid_in, poll},
    stories::story,
};

/// Waits until a worker's agent is at a story; returns the process of the agent.
pub(super) fn agent_of(field: &Field, story: &str, worker: &str) -> i32 {
    poll("the agent", || pid_in(&record(&field.env, &format!("{story}.{worker}"))))
}

pub(super) fn is_gone(pid: i32) -> bool {
    !std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn the_item_of_a_killed_worker_is_done_by_another() {
    let work = waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 2) else { return };
    let fleet = field.start_fleet();
    let first = field.start_worker(1);
    let agent = agent_of(&field, "A", "w1");
    first.kill_9();
    poll("the end of its agent", || is_gone(agent).then_some(()));
    field.machine(1).nothing_left();
    let second = field.start_worker(2);
    agent_of(&field, "A", "w2");
    go(&field.env, "A");
    field.finishes(fleet, 1);
    assert_eq!(field.log("A"), ["posted lander", "claimed w1", "claimed w2", "done w2", "merged lander"]);
    field.ends(2, second);
}

#[test]
fn a_worker_that_was_frozen_beyond_its_lease_is_fenced() {
    let work = waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 2) else { return };
    let fleet = field.start_fleet();
    let first = field.start_worker(1);
    let agent = agent_of(&field, "A", "w1");
    first.signal(Signal::STOP);
    let second = field.start_worker(2);
    let other = agent_of(&field, "A", "w2");
    first.signal(Signal::CONT);
    first.await_saying("A belongs to another worker by now");
    poll("the end of its agent", || is_gone(agent).then_some(()));
    assert!(!is_gone(other), "the successor goes on");
    go(&field.env, "A");
    field.finishes(fleet, 1);
    assert!(!field.log("A").contains(&"done w1".to_owned()), "{:?}", field.log("A"));
    field.ends(1, first);
    field.ends(2, second);
}

#[test]
fn a_result_that_comes_too_late_is_refused_by_the_log() {
    let work = waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 2) else { return };
    let fleet = field.start_fleet();
    let first = field.start_worker(1);
    agent_of(&field, "A", "w1");
    first.signal(Signal::STOP);
    let second = field.start_worker(2);
    agent_of(&field, "A", "w2");
    // Both finish: the lane of the first has its result before its worker is back.
    go(&field.env, "A");
    field.finishes(fleet, 1);
    first.signal(Signal::CONT);
    first.await_saying("A belongs to another worker by now");
    assert_eq!(field.log("A"), ["posted lander", "claimed w1", "claimed w2", "done w2", "merged lander"]);
    field.ends(1, first);
    field.ends(2, second);
}

#[test]
fn a_worker_that_is_cut_off_beyond_its_lease_is_fenced() {
    let work = waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 2) else { return };
    let fleet = field.start_fleet();
    let cable = Cable::to(field.server.port);
    let first = field.machine(1).start_command(&mut field.worker_at(1, &cable.url()));
    let agent = agent_of(&field, "A", "w1");
    cable.cut();
    let second = field.start_worker(2);
    agent_of(&field, "A", "w2");
    assert!(!is_gone(agent), "no one has told it");
    cable.heal();
    first.await_saying("A belongs to another worker by now");
    poll("the end of its agent", || is_gone(agent).then_some(()));
    go(&field.env, "A");
    field.finishes(fleet, 1);
    assert_eq!(field.log("A"), ["posted lander", "claimed w1", "claimed w2", "done w2", "merged lander"]);
    field.ends(1, first);
    field.ends(2, second);
}

#[test]
fn a_worker_that_is_stopped_gives_its_item_back() {
    let work = waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 2) else { return };
    let fleet = field.start_fleet();
    let first = field.start_worker(1);
    agent_of(&field, "A", "w1");
    field.ends(1, first).says("A is given back");
    let second = field.start_worker(2);
    agent_of(&field, "A", "w2");
    go(&field.env, "A");
    field.finishes(fleet, 1);
    let log = field.log("A");
    assert_eq!(log, ["posted lander", "claimed w1", "released w1", "claimed w2", "done w2", "merged lander"]);
    field.ends(2, second);
}

#[test]
fn a_fleet_that_is_killed_goes_on_with_what_workers_did_meanwhile() {
    let works = [waiting("A"), waiting("B")];
    let all = [(story("A"), works[0].as_str()), (story("B"), works[1].as_str())];
    let Some(field) = Field::new(&all, "true", 2) else { return };
    let fleet = field.start_fleet();
    let workers = [field.start_worker(1), field.start_worker(2)];
    poll("both agents", || {
        let begun =
            |story: &str| ["w1", "w2"].iter().any(|it| record(&field.env, &format!("{story}.{it}")).exists());
        (begun("A") && begun("B")).then_some(())
    });
    fleet.kill_9();
    field.env.nothing_left();
    go(&field.env, "A");
    go(&field.env, "B");
    for worker in &workers {
        worker.await_saying("is handed in");
    }
    let resumed = field.resume();
    field.finishes(resumed, 2);
    for (number, worker) in (1..).zip(workers) {
        field.ends(number, worker);
    }
}

#[test]
fn what_landed_before_the_lander_could_say_so_lands_once() {
    // Its fourth step is the move of the branch, and nothing has been said about it yet.
    let Some(field) = Field::new(&[(story("A"), "echo A >A.txt\n")], "true", 1) else { return };
    let fleet = field.start(field.fleet().env("RALPH_TEST_KILL_LANDER_AT", "4"));
    let worker = field.start_worker(1);
    field.finishes(fleet, 1);
    field.ends(1, worker);
}

#[test]
fn a_server_that_is_killed_and_comes_back_loses_nothing() {
    let work = waiting("A");
    let all = [(story("A"), work.as_str()), (super::super::after("B", &["A"]), "echo B >B.txt\n")];
    let Some(mut field) = Field::new(&all, "true", 1) else { return };
    let fleet = field.start_fleet();
    let worker = field.start_worker(1);
    agent_of(&field, "A", "w1");
    field.server.kill();
    go(&field.env, "A");
    fleet.await_saying("the board:");
    field.server.start_again().expect("it was there before");
    field.finishes(fleet, 2);
    assert_eq!(field.log("A").iter().filter(|it| it.starts_with("done")).count(), 1);
    field.ends(1, worker);
}

#[test]
fn a_worker_that_lies_is_named_and_nothing_of_it_lands() {
    // On its machine everything passes; here it does not.
    let check = "test -n \"$LIAR\" || ! grep -q bad A.txt";
    let work = "if test \"$WHO\" = w1; then echo bad >A.txt; else echo good >A.txt; fi\n";
    let Some(field) = Field::new(&[(story("A"), work)], check, 2) else { return };
    let fleet = field.start_fleet();
    let liar = field.machine(1).start_command(field.worker(1).env("LIAR", "1"));
    fleet.await_saying("the candidate of w1 for A does not land");
    liar.signal(Signal::TERM);
    liar.wait().exits(0);
    let honest = field.start_worker(2);
    field.finishes(fleet, 1);
    assert_eq!(field.env.read("A.txt"), "good\n");
    assert!(field.log("A").contains(&"refused lander".to_owned()), "{:?}", field.log("A"));
    field.ends(2, honest);
}

#[test]
fn a_lane_that_is_killed_is_started_again() {
    let work = waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 1) else { return };
    let fleet = field.start_fleet();
    let worker = field.start_worker(1);
    agent_of(&field, "A", "w1");
    let lanes = || {
        let alive = field.machine(1).alive();
        alive.into_iter().find(|(_, words)| words.contains("fleet-far-lane")).map(|(pid, _)| pid)
    };
    kill(poll("the lane", lanes), Signal::KILL);
    go(&field.env, "A");
    field.finishes(fleet, 1);
    assert!(field.log("A").contains(&"released w1".to_owned()), "{:?}", field.log("A"));
    field.ends(1, worker);
}
