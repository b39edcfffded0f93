//! Going on with a run, and what its record says.

use std::{fs, io::Write};

use serde_json::{Value, json};

use crate::env::{Env, done, meet, say, shell, touch};

#[test]
fn a_complete_run_is_not_resumed() {
    let env = Env::new().turns(json!([[done()]]));
    env.ralph(&["resume"]).exits(2).says("there is no run of");
    env.run(&[]).exits(0);
    env.ralph(&["resume"]).exits(2).says(&format!("run {} is complete", env.run_id()));
    assert_eq!(env.prompts().len(), 1);
    env.ralph(&["resume", "nonsense"]).exits(2).says("there is no run `nonsense`");
}

#[test]
fn a_resume_may_raise_the_limit() {
    let used = json!({"result": {"total_cost_usd": 0.25, "usage": {"input_tokens": 10, "output_tokens": 5}}});
    let turn = json!([say("Hm."), used]);
    let env =
        Env::new().turns(json!([turn, turn, [done(), used]])).guardrails(&["touch checked-$RALPH_ITERATION"]);
    env.run(&["-m", "2"]).exits(1);
    // Without a higher limit nothing can be done.
    env.ralph(&["resume"])
        .exits(2)
        .says("at its limit of iterations")
        .says(&format!("ralph resume {} --max-iterations 12", env.run_id()));
    env.ralph(&["resume", "-m", "1"]).exits(2).says("can only raise");
    assert_eq!(env.prompts().len(), 2);
    env.ralph(&["resume", "--max-iterations", "5"]).exits(0).says("Iteration 3 of 5");
    assert_eq!(env.prompts().len(), 3);
    assert!(env.path("checked-3").exists());
    let status: Value =
        serde_json::from_str(&env.ralph(&["status", "--json"]).exits(0).stdout).expect("JSON");
    // The budget counts what was used before.
    assert_eq!(status["usage"]["cost_usd"], 0.75);
    assert_eq!((&status["turns"], &status["maxIterations"]), (&json!(3), &json!(5)));
}

#[test]
fn a_resume_keeps_the_feedback() {
    let env = Env::new()
        .turns(json!([[say("Hm.")], [shell("touch fixed"), done()]]))
        .guardrails(&["test -e fixed"]);
    env.run(&["-m", "1"]).exits(1);
    // Another setting is no reason to forget what the guardrails said.
    let env = env.settings(json!({"limits": {"gateTimeout": "1m"}}));
    env.ralph(&["resume", "-m", "2"]).exits(0);
    assert!(env.prompts()[1].contains("Guardrail \"test -e fixed\" failed"), "{}", env.prompts()[1]);
}

#[test]
fn a_run_that_gave_up_may_be_resumed() {
    let env = Env::new().turns(json!([[{"exit": 1}], [{"exit": 1}], [done()]]));
    env.run(&["--retries", "1"]).exits(4).prints("ralph resume");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.prompts().len(), 3);
}

#[test]
fn a_run_is_named_by_the_beginning_of_its_id() {
    let env = Env::new().turns(json!([[say("Hm.")]]));
    env.run(&["-m", "1"]).exits(1);
    env.run(&["-m", "1"]).exits(1);
    let first = env.runs()[0].file_name().expect("a name").to_string_lossy().into_owned();
    env.ralph(&["resume", &first[..4]]).exits(2).says("2 runs begin with");
    env.ralph(&["resume", &first, "-m", "2"]).exits(1);
    let journal = fs::read_to_string(env.runs()[0].join("journal.jsonl")).expect("a journal");
    assert_eq!(journal.matches("\"event\":\"run_resumed\"").count(), 1);
}

#[test]
fn a_torn_line_is_cut_off() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[say("Hm.")], [one, two, done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    let journal = env.newest_run().join("journal.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(&journal).expect("a journal");
    file.write_all(b"{\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"turn_en").expect("a torn line");
    drop(file);
    touch(&env.path("began.go"));
    env.ralph(&["status"]).exits(0).prints("killed");
    env.ralph(&["resume"]).exits(0).says("Resumed at iteration 2 of 10");
    // Every line is whole again.
    let text = fs::read_to_string(journal).expect("a journal");
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
    assert_eq!(env.events("run_ended").len(), 1);
}

#[test]
fn a_damaged_record_is_shown_and_refused() {
    let env = Env::new().turns(json!([[say("Hm.")]]));
    env.run(&["-m", "1"]).exits(1);
    fs::write(env.newest_run().join("journal.jsonl"), "nonsense\n").expect("a journal");
    env.ralph(&["status"]).exits(0).prints("unreadable");
    env.ralph(&["resume"]).exits(2).says("does not begin with the start of a run");
}

#[test]
fn a_resume_notices_that_the_agent_has_gone() {
    let env = Env::new().agent("here", "cat >/dev/null; echo Hm.");
    env.run(&["-m", "1"]).exits(1);
    fs::remove_file(env.root().join("bin/here")).expect("a program");
    env.ralph(&["resume", "-m", "2"]).exits(2).says("cannot find the agent `here`");
}

#[test]
fn a_resume_may_raise_the_budget() {
    let used = json!({"result": {"total_cost_usd": 0.25, "usage": {"input_tokens": 10, "output_tokens": 5}}});
    let env = Env::new().turns(json!([[say("Hm."), used], [done(), used]]));
    let env = env.settings(json!({"limits": {"maxCost": 0.25, "maxTokens": 15}}));
    env.run(&[]).exits(1).prints("--max-cost 0.5");
    env.ralph(&["resume"]).exits(2).says("at its limit of cost");
    env.ralph(&["resume", "--max-cost", "1"]).exits(2).says("at its limit of tokens");
    env.ralph(&["resume", "--max-cost", "1", "--max-tokens", "100"]).exits(0);
}

#[test]
fn the_newest_run_is_the_one_that_began_last() {
    let env = Env::new().turns(json!([[say("Hm.")]]));
    for _ in 0..6 {
        env.run(&["-m", "1"]).exits(1);
        let began: Vec<_> =
            env.runs().iter().map(|run| run.metadata().and_then(|it| it.created()).ok()).collect();
        assert!(began.is_sorted(), "{:?}", env.runs());
    }
}
