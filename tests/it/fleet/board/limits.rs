//! What the fleet decides for workers elsewhere: the budget, which candidate lands, and when no one works any more.

use rustix::process::Signal;

use super::{Field, go, record, waiting};
use crate::{
    env::{pid_in, poll},
    fleet::{
        candidates::prompts,
        limits::{priced, priced_agent},
        status,
    },
    stories::story,
};

fn is_gone(pid: i32) -> bool {
    !std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn what_a_lost_turn_cost_counts() {
    // Two turns: the second one waits.
    let work = "if test -e half.txt; then\necho $$ >\"$FLEET_RECORD.A.$WHO\"\n\
                until test -e \"$FLEET_RECORD.A.go\"; do sleep 0.02; done\necho 2 >>half.txt\nelse later=1; echo 1 >half.txt; fi\n";
    let env = priced(&[(story("A"), work)], "0.6");
    let Some(field) = Field::of(env, "sh check.sh", 2, ("claude", &priced_agent("0.6"))) else { return };
    let fleet = field.start_fleet();
    let first = field.start_worker(1);
    poll("the second turn", || pid_in(&record(&field.env, "A.w1")));
    // What the first turn cost is known here while the second goes on.
    poll("the cost", || (0.5 < status(&field.env)["cost"].as_f64().unwrap_or_default()).then_some(()));
    first.kill_9();
    go(&field.env, "A");
    let second = field.start_worker(2);
    field.finishes(fleet, 1);
    let cost = status(&field.env)["cost"].as_f64().expect("a cost");
    assert!((cost - 1.8).abs() < 1e-6, "one turn is lost, two made it: {cost}");
    field.ends(2, second);
}

#[test]
fn a_budget_that_is_used_up_ends_the_work_of_all_machines() {
    let work = "if test -e half.txt; then sleep 1000; else later=1; echo 1 >half.txt; fi\n";
    let env = priced(&[(story("A"), work)], "0.6");
    let Some(field) = Field::of(env, "sh check.sh", 1, ("claude", &priced_agent("0.6"))) else { return };
    // The worker's run is told what is left; the fleet does not wait for its word.
    let fleet = field.start(field.fleet().args(["--max-cost", "0.5"]));
    let worker = field.start_worker(1);
    fleet.wait().exits(1).says("Maximum cost reached");
    field.ends(1, worker);
    field.env.nothing_left();
}

#[test]
fn the_first_of_two_candidates_lands_and_the_run_of_the_other_ends() {
    let agent = r#"case "$(cat)" in *"commit message"*) echo "Make a winner"; exit ;; esac
        echo $$ >"$FLEET_RECORD.$WHO"
        if test "$WHO" = w1; then sleep 1000; fi
        until test -e "$FLEET_RECORD.w1"; do sleep 0.02; done
        echo $WHO >winner.txt; echo "It works. <response>DONE</response>""#;
    let Some(field) = Field::of(prompts(agent), "test -e README.md", 2, ("worker", agent)) else { return };
    let fleet = field.start(&mut field.with_board(&["fleet", "run", "Make a winner.", "--best-of", "2"]));
    let workers = [field.start_worker(1), field.start_worker(2)];
    let loser = poll("the other", || pid_in(&record(&field.env, "w1")));
    fleet.wait().exits(0).says("Complete: everything has landed");
    assert_eq!(field.env.read("winner.txt"), "w2\n");
    poll("the end of the other", || is_gone(loser).then_some(()));
    for (number, worker) in (1..).zip(workers) {
        field.ends(number, worker);
    }
}

#[test]
fn a_fleet_that_is_stopped_takes_its_items_back_and_goes_on_later() {
    let work = waiting("A");
    let Some(field) = Field::new(&[(story("A"), &work)], "true", 1) else { return };
    let fleet = field.start_fleet();
    let worker = field.start_worker(1);
    let agent = poll("the agent", || pid_in(&record(&field.env, "A.w1")));
    fleet.signal(Signal::TERM);
    fleet.wait().exits(130).says("A is withdrawn");
    poll("the end of the agent", || is_gone(agent).then_some(()));
    worker.await_saying("the fleet no longer needs it");
    go(&field.env, "A");
    field.finishes(field.resume(), 1);
    field.ends(1, worker);
}
