//! Sudden death while a person decides, while children are ended, and while a fresh run judges what another one left.

use std::fs;

use serde_json::json;

use super::{CAPPED, KILL_AT, killed};
use crate::{
    env::{Env, RALPH, journal_of},
    task::records,
};

/// A run that a person must decide about; its push waits.
fn undecided() -> Env {
    let env = Env::new().with_git().agent(
        "worker",
        "case \"$(cat)\" in *'commit message'*) echo Work; exit;; *'Once more.'*) echo more >more;; esac
        ralph accept; echo part >>part; echo '<response>DONE</response>'",
    );
    env.program("ralph", &format!("exec {RALPH} \"$@\""));
    env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote"]);
    env.git(&["remote", "add", "origin", "../remote"]);
    let env = env.settings(json!({"scm": {"tasks": ["commit", "push origin HEAD"]}, "sandbox": "none"}));
    env.ralph(&["run", "-m", "1", "-p", "Do it."]).exits(7);
    env
}

fn pushed(env: &Env) -> String {
    env.git_in(&env.project().with_file_name("remote"), &["branch", "--format=%(objectname)"])
}

#[test]
fn an_acceptance_survives_a_kill() {
    for at in ["1", "1:torn"] {
        let env = undecided();
        killed(&env, &["accept"], at);
        let again = env.ralph(&["accept"]);
        if at == "1" {
            again.exits(2).says("accepted already");
        } else {
            again.exits(0);
        }
        env.ralph(&["status", "--exit-code"]).exits(0);
        assert_eq!(env.events("accepted").len(), 1, "{at}");
        assert_eq!(pushed(&env), env.git(&["rev-parse", "HEAD"]), "{at}");
    }
}

#[test]
fn a_rejection_survives_a_kill_at_every_event() {
    let unharmed = undecided();
    let before = unharmed.journal().len();
    unharmed.ralph(&["reject", "Once more."]).exits(7);
    let count = unharmed.journal().len() - before;
    assert!(6 <= count, "{count} events");
    let places = (1..=count).flat_map(|event| [event.to_string(), format!("{event}:torn")]);
    super::in_parallel(&places.collect::<Vec<_>>(), |at| {
        let env = undecided();
        killed(&env, &["reject", "Once more."], at);
        // Nothing was decided, or the run goes on; one that came to its end has nothing left to do.
        if env.events("rejected").is_empty() {
            env.ralph(&["reject", "Once more."]).exits(7);
        } else if *at == count.to_string() {
            env.ralph(&["resume"]).exits(2).says("a person must decide");
        } else {
            env.ralph(&["resume"]).exits(7);
        }
        assert_eq!(env.read("more"), "more\n", "killed at {at}");
        assert_eq!(env.events("rejected").len(), 1, "killed at {at}");
        env.ralph(&["accept"]).exits(0);
        assert_eq!(pushed(&env), env.git(&["rev-parse", "HEAD"]), "killed at {at}");
    });
}

/// A review was cut off with its ralph, and a fresh run approves its story at the cap: whenever that one dies, the next one
/// knows.
#[test]
fn no_kill_of_a_fresh_run_loses_what_the_cap_approved() {
    let fresh = CAPPED.env();
    let review = CAPPED.unharmed_events(&fresh, "turn_ended")[1].to_string();
    let first: Vec<String> = (1..=5).flat_map(|event| [event.to_string(), format!("{event}:torn")]).collect();
    // One after the other: what the first has put right is believed by the second, and by the third.
    let chains = first.iter().map(|at| vec![at.as_str()]).chain([
        vec![],
        vec!["2", "1"],
        vec!["2", "2"],
        vec!["2", "3", "1"],
    ]);
    super::in_parallel(&chains.collect::<Vec<_>>(), |deaths| {
        let env = fresh.twin();
        killed(&env, CAPPED.args, &review);
        for at in deaths {
            killed(&env, CAPPED.args, at);
        }
        let output = env.ralph(CAPPED.args);
        assert_eq!(output.code, Some(7), "killed at {deaths:?}: {output:?}");
        assert!(output.stdout.contains("US-1 was approved at the review cap of 1"), "{deaths:?}: {output:?}");
    });
}

#[test]
fn children_are_ended_though_their_task_was_killed_before_it_could() {
    let env = crate::task::env(&format!(
        "case $RALPH_MODE in job) touch began; while ! test -e go; do sleep 0.01; done; exit 0;; esac
         test -e began || {RALPH} job -p 'Do a part.' --detach >child.id
         while ! test -e began; do sleep 0.01; done; echo Well."
    ));
    let args = ["task", "run", "--task", "t", "-p", "x", "--max-restarts", "1"];
    let unharmed = env.twin();
    unharmed.ralph(&args).exits(1).says("child runs still at work when the task stops, ended");
    let journal = journal_of(&unharmed.runs()[0]);
    let place = journal.iter().position(|event| event["event"] == "children_outlived");
    let place = place.expect("the children are named") + 1;
    for at in [place.to_string(), format!("{place}:torn")] {
        let env = env.twin();
        let output = env.start_command(env.command(RALPH).args(args).env(KILL_AT, &at)).wait();
        assert_eq!(output.signal, Some(9), "{output:?}");
        let root = records(&env).into_iter().find(|it| it["role"] == "root").expect("a root");
        let root = root["run"].as_str().expect("an id").to_owned();
        env.ralph(&["resume", &root]).exits(1).says("child runs still at work when the task stops, ended");
        let child = records(&env).into_iter().find(|it| it["role"] == "child").expect("a child");
        assert_eq!(child["status"], "stopped", "killed at {at}");
        assert_eq!(child["run"], fs::read_to_string(env.path("child.id")).expect("an id").trim());
        env.nothing_left();
    }
}
