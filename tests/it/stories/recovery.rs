//! Killed, stopped, started again: no turn gets away unjudged.

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{approved, commit, leaves, list, project, stories, story, submitted, turns};
use crate::env::{Env, meet, say, write};

/// A loop that is killed after the agent has cheated and before anyone could judge it.
fn killed_after_a_cheat(more: &[Value]) -> Env {
    let [there, go] = meet("../cheated");
    let cheat = json!([write("ralph/tasks.json", &list(&[approved("US-1", 1)])), commit(), there, go]);
    let script: Vec<Value> = std::iter::once(cheat).chain(more.iter().cloned()).collect();
    let env = project(&list(&[story("US-1")])).turns(json!(script));
    let running = env.start(&["stories"]);
    env.await_file("../cheated");
    running.kill_9();
    env.nothing_left();
    assert_eq!(stories(&env), [approved("US-1", 1)]);
    assert!(env.path(".ralph-active").exists(), "it was killed");
    env
}

#[test]
fn a_new_run_finds_the_cheat_of_the_last_one_first() {
    let env = killed_after_a_cheat(&[json!([say("Now I know.")])]);
    let first = env.run_id();
    env.ralph(&["stories", "-n", "1"]).exits(1).says("Undone: US-1 passes: true, restored to false");
    assert_eq!(stories(&env), [story("US-1")]);
    assert_eq!(turns(&env), ["implement US-1"]);
    let judged = &env.events("tasks_judged")[0];
    assert_eq!(judged["run"], json!(first), "{judged}");
    assert!(env.prompts()[1].contains("Implement iterations cannot set passes=true"), "{}", env.prompts()[1]);
    assert_eq!(env.commits_made()[0], "ralph: undo what a turn may not change");
    // The old run is judged: continuing it does not undo what came later.
    env.write("ralph/tasks.json", &list(&[approved("US-1", 1)]));
    env.git(&["commit", "--quiet", "-am", "By hand"]);
    env.ralph(&["resume", &first]).exits(0).says("Resumed at iteration 1 of 15.").says_not("Undone");
    assert_eq!(stories(&env), [approved("US-1", 1)]);
}

#[test]
fn commands_do_not_believe_what_a_killed_turn_left() {
    let env = killed_after_a_cheat(&[json!([say("Well.")])]);
    let warning = "was never judged; US-1 passes: true, restored to false";
    let forged = env.read("ralph/tasks.json");
    env.ralph(&["stories", "list"]).exits(0).says(warning).prints("Next: implement US-1");
    let shown = env.ralph(&["stories", "list", "--json"]).exits(0).stdout;
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((&shown["complete"], &shown["stories"][0]["passes"]), (&json!(false), &json!(false)));
    let checked = env.ralph(&["stories", "check"]).exits(2).says(warning);
    checked.prints("Implement iterations cannot set passes=true");
    // Who only looks changes nothing.
    assert_eq!(env.read("ralph/tasks.json"), forged);
    env.ralph(&["stories", "archive", "--label", "x"]).exits(0).says(warning).prints("0 of 1 stories done");
    let archived = env.sh("cat ralph-archive/*/tasks.json").exits(0).stdout;
    assert!(!archived.contains("approved"), "{archived}");
    // It is judged: what a person writes after that is not undone.
    env.write("ralph/tasks.json", &list(&[story("US-7")]));
    env.git(&["commit", "--quiet", "-am", "Plan"]);
    env.ralph(&["stories", "-n", "1"]).exits(1).says_not("Undone");
    assert_eq!(stories(&env), [story("US-7")]);
}

#[test]
fn a_step_of_a_person_comes_after_the_judgement() {
    let env = killed_after_a_cheat(&[leaves(&list(&[approved("US-1", 1)]))]);
    env.ralph(&["stories", "submit", "US-1"]).exits(0).says("was never judged").prints("needs_review");
    env.git(&["commit", "--quiet", "-am", "By hand"]);
    env.ralph(&["resume"]).exits(0).says_not("Undone");
    assert_eq!(turns(&env), ["implement US-1", "review US-1"]);
}

#[test]
fn a_resume_finds_the_cheat_first() {
    let env = killed_after_a_cheat(&[
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[approved("US-1", 1)])),
    ]);
    env.ralph(&["resume"]).exits(0).says("Undone: US-1");
    assert_eq!(turns(&env), ["implement US-1", "implement US-1", "review US-1"]);
    assert!(env.prompts()[1].contains("Implement iterations cannot set passes=true"), "{}", env.prompts()[1]);
    assert!(!env.path(".ralph-active").exists());
}

#[test]
fn a_resume_that_needs_no_turn_takes_the_marker_away() {
    let [there, go] = meet("../reviewed");
    let review = json!([write("ralph/tasks.json", &list(&[approved("US-1", 1)])), commit(), there, go]);
    let env = project(&list(&[submitted("US-1", 0)])).turns(json!([review]));
    let running = env.start(&["stories"]);
    env.await_file("../reviewed");
    running.kill_9();
    env.nothing_left();
    assert!(env.path(".ralph-active").exists(), "it was killed");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(stories(&env), [approved("US-1", 1)]);
    assert_eq!(turns(&env), ["review US-1"]);
    assert!(!env.path(".ralph-active").exists(), "hooks would take the loop for a running one");
}

#[test]
fn a_stop_judges_the_turn_before_it_ends() {
    for signals in [1, 2] {
        let [there, go] = meet("../cheated");
        let cheat = json!([
            write("ralph/tasks.json", &list(&[approved("US-1", 1)])),
            commit(),
            there,
            go,
            say("Ha.")
        ]);
        let env = project(&list(&[story("US-1")])).turns(json!([cheat]));
        let running = env.start(&["stories"]);
        env.await_file("../cheated");
        running.signal(Signal::INT);
        running.await_saying("Received signal");
        if signals == 2 {
            running.signal(Signal::INT);
        } else {
            env.write("../cheated.go", "");
        }
        running.wait().exits(130).says("Undone: US-1");
        assert_eq!(stories(&env), [story("US-1")]);
        assert!(!env.path(".ralph-active").exists());
    }
}

#[test]
fn a_snapshot_that_was_changed_is_not_believed() {
    let env = killed_after_a_cheat(&[json!([say("Well.")])]);
    let snapshot = env.newest_run().join("turns/0001.1/tasks.json");
    for forged in [Some(list(&[approved("US-1", 1)])), Some(String::new()), None] {
        match &forged {
            Some(text) => std::fs::write(&snapshot, text).expect("a file"),
            None => std::fs::remove_file(&snapshot).expect("a file"),
        }
        env.ralph(&["stories"]).exits(2).says("is missing or was changed").says("rm -r");
    }
}

#[test]
fn a_run_goes_on_after_its_limit() {
    let env = project(&list(&[story("US-1")]))
        .turns(json!([leaves(&list(&[submitted("US-1", 0)])), leaves(&list(&[approved("US-1", 1)])),]));
    env.ralph(&["stories", "-n", "1"]).exits(1);
    // A new run knows the commits of the old one.
    env.ralph(&["stories"]).exits(0);
    let head = |revision: &str| env.git(&["rev-parse", revision]).trim().to_owned();
    let range = format!("git diff {} {}", head("HEAD~2"), head("HEAD~1"));
    assert!(env.prompts()[1].contains(&range), "{}", env.prompts()[1]);
    // Everything is done: no turn is needed to see it.
    env.ralph(&["stories"]).exits(0);
    assert_eq!(env.events("turn_started").len(), 0);
}

#[test]
fn what_was_pinned_is_put_back_by_a_resume() {
    let [there, go] = meet("../changed");
    let env = project(&list(&[story("US-1")]))
        .turns(json!([[write("ralph/prd.md", "Nothing is wanted.\n"), there, go], [say("Well.")]]));
    let running = env.start(&["stories", "-n", "1"]);
    env.await_file("../changed");
    running.kill_9();
    env.nothing_left();
    env.ralph(&["resume"]).exits(1).says("Undone: ralph/prd.md");
    assert_eq!(env.read("ralph/prd.md"), "# What is wanted\n");
}

#[test]
fn a_resume_selects_again_and_keeps_what_a_person_wrote() {
    let env = project(&list(&[story("US-1"), story("US-2")])).turns(json!([
        leaves(&list(&[submitted("US-1", 0), story("US-2")])),
        leaves(&list(&[approved("US-1", 1), submitted("US-2", 0)])),
    ]));
    env.ralph(&["stories", "-n", "1"]).exits(1);
    // Nothing of it is committed.
    env.ralph(&["stories", "approve", "US-1"]).exits(0);
    env.write("ralph/prd.md", "# What a person wants now\n");
    env.write("ralph/prompt.md", "A person's words about {{STORY_ID}}.\n");
    env.ralph(&["resume", "-m", "2"]).exits(1).says("You changed ralph/prd.md").says_not("Undone");
    assert_eq!(turns(&env), ["implement US-1", "implement US-2"]);
    assert_eq!(env.read("ralph/prd.md"), "# What a person wants now\n");
    assert!(env.prompts()[1].contains("A person's words about US-2."), "{}", env.prompts()[1]);
    assert_eq!(stories(&env), [approved("US-1", 1), submitted("US-2", 0)]);
}

#[test]
fn a_pause_inside_a_turn_keeps_what_a_person_wrote_after_it() {
    let [there, go] = meet("../working");
    let turn =
        json!([there, go, write("ralph/tasks.json", &list(&[submitted("US-1", 0)])), commit(), say("Done.")]);
    let env = project(&list(&[story("US-1")])).turns(json!([turn, leaves(&list(&[approved("US-1", 1)]))]));
    let running = env.start(&["stories"]);
    env.await_file("../working");
    running.signal(Signal::INT);
    running.await_saying("Received signal");
    env.write("../working.go", "");
    running.wait().exits(130);
    env.write("ralph/prd.md", "# What a person wants now\n");
    env.ralph(&["resume"]).exits(0).says("You changed ralph/prd.md").says_not("Undone");
    assert_eq!(env.read("ralph/prd.md"), "# What a person wants now\n");
}
