//! A submitted story is a claim: whatever happens to its turn, no review is spent on it before its checks have passed.

use serde_json::{Value, json};

use super::{approved, commit, leaves, list, project, stories, story, submitted, turns, verified, with};
use crate::env::{Env, meet, say, write};

const PROOF: &[&str] = &["test -e proof"];

fn proven(stories: &[Value]) -> String {
    verified(stories, PROOF)
}

/// A turn that does the work, submits it and commits.
fn ready(text: &str) -> Value {
    json!([write("proof", ""), write("ralph/tasks.json", text), commit(), say("Ready.")])
}

/// A turn that submits and then ends like this.
fn submits(then: &[Value]) -> Value {
    let all = [write("ralph/tasks.json", &proven(&[submitted("US-1", 0)])), commit()];
    all.iter().chain(then).cloned().collect()
}

fn world(first: Value) -> Env {
    project(&proven(&[story("US-1")])).settings(json!({"retryDelay": "1ms"})).turns(json!([
        first,
        ready(&proven(&[submitted("US-1", 0)])),
        leaves(&proven(&[approved("US-1", 1)])),
    ]))
}

/// A turn that was cut off with its ralph right after it had submitted the story.
fn killed() -> Env {
    let [there, go] = meet("../submitted");
    let env = world(submits(&[there, go]));
    let running = env.start(&["stories", "--no-baseline"]);
    env.await_file("../submitted");
    running.kill_9();
    env.nothing_left();
    assert_eq!(stories(&env), [submitted("US-1", 0)]);
    env
}

#[track_caller]
fn was_told(env: &Env, nth: usize, why: &str) {
    let (prompts, told) = (env.prompts(), format!("Ralph has undone the submission of US-1: {why}"));
    assert!(prompts[nth].contains(&told), "{}", prompts[nth]);
}

#[test]
fn a_killed_turn_submits_nothing() {
    let env = killed();
    env.ralph(&["resume"]).exits(0).says("Undone: US-1 reviewStatus: needs_review, restored to null");
    assert_eq!(turns(&env), ["implement US-1", "implement US-1", "review US-1"]);
    was_told(&env, 1, "the iteration that submitted it was cut off before its checks ran");
    assert!(!env.prompts()[2].contains("undone the submission"), "{}", env.prompts()[2]);
}

#[test]
fn a_new_run_believes_no_submission_of_a_killed_turn() {
    let env = killed();
    let listed = env.ralph(&["stories", "list"]).exits(0).prints("Next: implement US-1");
    listed.says("was never verified; US-1 reviewStatus: needs_review, restored to null");
    assert_eq!(stories(&env), [submitted("US-1", 0)], "who only looks changes nothing");
    env.ralph(&["stories", "--no-baseline"]).exits(0);
    assert_eq!(turns(&env), ["implement US-1", "review US-1"]);
    was_told(&env, 1, "the iteration that submitted it was cut off before its checks ran");
}

#[test]
fn what_a_person_submits_after_a_kill_stays_submitted() {
    let env = killed().turns(json!([[say("Never.")], leaves(&proven(&[approved("US-1", 1)]))]));
    env.ralph(&["stories", "submit", "US-1"]).exits(0).says("was never verified").prints("needs_review");
    env.write("proof", "");
    env.git(&["add", "-A"]);
    env.git(&["commit", "--quiet", "-m", "By hand"]);
    env.ralph(&["resume"]).exits(0).says_not("Undone");
    assert_eq!(turns(&env), ["implement US-1", "review US-1"]);
}

#[test]
fn a_failed_turn_submits_nothing() {
    let env = world(submits(&[json!({"exit": 1})]));
    env.ralph(&["stories", "--no-baseline"]).exits(0).says("Undone: US-1 reviewStatus");
    assert_eq!(turns(&env), ["implement US-1", "implement US-1", "review US-1"]);
    was_told(&env, 1, "the iteration that submitted it was cut off before its checks ran");
}

#[test]
fn a_stopped_turn_submits_nothing() {
    let [there, go] = meet("../submitted");
    let env = world(submits(&[there, go]));
    let running = env.start(&["stories", "--no-baseline"]);
    env.await_file("../submitted");
    running.signal(rustix::process::Signal::INT);
    running.await_saying("Received signal");
    running.signal(rustix::process::Signal::INT);
    running.wait().exits(130);
    assert_eq!(stories(&env), [story("US-1")]);
    env.ralph(&["resume"]).exits(0);
    assert_eq!(turns(&env), ["implement US-1", "implement US-1", "review US-1"]);
}

#[test]
fn what_is_not_committed_is_not_submitted() {
    let env = world(json!([write("ralph/tasks.json", &proven(&[submitted("US-1", 0)])), say("Done.")]));
    env.ralph(&["stories", "--no-baseline"]).exits(0).says("Guardrail failed: clean tree");
    assert_eq!(turns(&env), ["implement US-1", "implement US-1", "review US-1"]);
    was_told(&env, 1, "its checks did not pass");
    assert!(env.prompts()[1].contains("Commit ALL changes"), "{}", env.prompts()[1]);
}

#[test]
fn without_commands_a_submission_needs_none() {
    let env = project(&list(&[story("US-1")])).settings(json!({"retryDelay": "1ms"})).turns(json!([
        [write("ralph/tasks.json", &list(&[submitted("US-1", 0)])), commit(), {"exit": 1}],
        leaves(&list(&[approved("US-1", 1)])),
    ]));
    env.ralph(&["stories"]).exits(0);
    assert_eq!(turns(&env), ["implement US-1", "review US-1"]);
}

/// Comes to no end the first time.
const WAITS: &str = "test -e ../once || { touch ../once; while :; do sleep 1; done; }";

/// Killed while the first verify command of a submission runs.
fn killed_in_the_check() -> Env {
    let list = |stories: &[Value]| verified(stories, &[WAITS]);
    let env = project(&list(&[story("US-1")])).turns(json!([
        ready(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[approved("US-1", 1)])),
    ]));
    let running = env.start(&["stories", "--no-baseline"]);
    env.await_file("../once");
    running.kill_9();
    env.nothing_left();
    env
}

#[test]
fn checks_that_were_cut_off_decide_again() {
    let env = killed_in_the_check()
        .turns(json!([[say("Never.")], leaves(&verified(&[approved("US-1", 1)], &[WAITS])),]));
    env.ralph(&["resume"]).exits(0).says_not("Undone");
    assert_eq!(turns(&env), ["implement US-1", "review US-1"]);
    // A new run has no turn to judge: the story has to be submitted to it.
    let env = killed_in_the_check();
    env.ralph(&["stories", "--no-baseline"]).exits(0);
    assert_eq!(turns(&env), ["implement US-1", "review US-1"]);
}

#[test]
fn only_the_next_turn_of_the_story_is_told() {
    let first = with("US-0", &json!({"priority": 0}));
    let sooner = |story: Value| {
        let mut story = story;
        story["priority"] = json!(0);
        story
    };
    let env = project(&proven(&[story("US-1")])).turns(json!([
        leaves(&proven(&[submitted("US-1", 0), first])),
        ready(&proven(&[story("US-1"), sooner(submitted("US-0", 0))])),
        leaves(&proven(&[story("US-1"), sooner(approved("US-0", 1))])),
        leaves(&proven(&[submitted("US-1", 0), sooner(approved("US-0", 1))])),
    ]));
    env.ralph(&["stories", "--no-baseline", "-n", "4"]).exits(1);
    assert_eq!(turns(&env), ["implement US-1", "implement US-0", "review US-0", "implement US-1"]);
    was_told(&env, 3, "its checks did not pass");
    let prompts = env.prompts();
    assert!(prompts[3].contains("Guardrail \"test -e proof\" failed"), "{}", prompts[3]);
    for other in &prompts[1..3] {
        assert!(!other.contains("undone the submission") && !other.contains("test -e proof"), "{other}");
    }
}
