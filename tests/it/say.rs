//! A word to a run on its way: told once, never lost, no matter which process is killed.

use std::{fs, process::Stdio, thread};

use serde_json::{Value, json};

use crate::{
    env::{Env, RALPH, done, meet, say, touch, write},
    hook::recorded,
    session::held,
};

/// A run whose first turn waits for `began.go`; what follows it are the other turns.
fn waiting(first: Value, others: &[Value]) -> Env {
    let [one, two] = meet("began");
    let mut turns = vec![json!([one, two, first])];
    turns.extend(others.iter().cloned());
    Env::new().turns(json!(turns))
}

fn has_note(prompt: &str, text: &str) -> bool {
    prompt.contains("from the user\n") && prompt.contains(text)
}

fn notes(env: &Env) -> Vec<Value> {
    let listed = env.ralph(&["say", "--list", "--json"]).exits(0).stdout;
    listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_next_turn_is_told_and_no_other() {
    let env = waiting(say("Hm."), &[json!([say("Well.")]), json!([done()])]);
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    env.ralph(&["say", "Use tabs."]).exits(0).prints("note 1 for run").prints("the next turn reads it");
    env.ralph(&["say", "--list"]).exits(0).prints("1 for the next turn: Use tabs.");
    touch(&env.path("began.go"));
    ralph.wait().exits(0).says("Note 1, for the next turn: Use tabs.").says("The agent reads note 1.");
    let told: Vec<bool> = env.whole_prompts().iter().map(|prompt| has_note(prompt, "Use tabs.")).collect();
    assert_eq!(told, [false, true, false]);
    assert!(env.whole_prompts()[1].ends_with("as the last line instead."), "how to finish stands last");
    assert_eq!(env.events("turn_started")[1]["notes"], json!([1]));
    env.ralph(&["say", "--list"]).exits(0).prints("1 read in iteration 2: Use tabs.");
    assert_eq!(env.status()["said"][0]["told"], 2);
    env.ralph(&["logs"]).exits(0).prints("Use tabs.");
    env.ralph(&["say", "Too late."]).exits(2).says("is complete; no turn will read it").says("ralph run");
}

#[test]
fn a_run_is_not_complete_before_it_has_listened() {
    for args in [&["run", "-m", "1", "-p", "Do it."][..], &["prompt", "p.md"]] {
        let [one, two] = meet("began");
        let env = Env::new()
            .with_git()
            .commits()
            .turns(json!([[write("a", "a"), one, two, done()], [write("b", "b"), done()]]));
        env.write("p.md", "Do it.");
        let ralph = env.start(args);
        env.await_file("began");
        env.ralph(&["say", "And the docs."]).exits(0);
        touch(&env.path("began.go"));
        ralph.wait().exits(0);
        assert_eq!(env.whole_prompts().len(), 2, "{args:?}");
        assert!(has_note(&env.whole_prompts()[1], "And the docs."), "{args:?}");
    }
}

#[test]
fn what_is_kept_is_told_until_it_is_withdrawn() {
    let [one, two] = meet("second");
    let env = waiting(say("Hm."), &[json!([one, two, say("Well.")]), json!([done()])]);
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    env.ralph(&["say", "Use tabs.", "--keep"]).exits(0).prints("every turn from the next on");
    env.ralph(&["say", "Never mind."]).exits(0).prints("note 2");
    env.ralph(&["say", "--withdraw", "2"]).exits(0).prints("note 2 of run");
    env.ralph(&["say", "--withdraw", "2"]).exits(2).says("withdrawn already");
    env.ralph(&["say", "--withdraw", "3"]).exits(2).says("has no note 3");
    touch(&env.path("began.go"));
    env.await_file("second");
    env.ralph(&["say", "--withdraw", "1"]).exits(0);
    touch(&env.path("second.go"));
    ralph.wait().exits(0);
    let prompts = env.whole_prompts();
    let told: Vec<bool> = prompts.iter().map(|prompt| has_note(prompt, "Use tabs.")).collect();
    assert_eq!(told, [false, true, false]);
    assert!(prompts.iter().all(|prompt| !prompt.contains("Never mind.")));
}

#[test]
fn now_ends_the_turn_and_keeps_its_work() {
    let env = Env::new().with_git().commits().turns(json!([
        [{"write": {"path": "half", "text": "half"}}, {"shell": "touch began"}, {"await": "never"}, done()],
        [done()],
    ]));
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    env.ralph(&["say", "--now", "Stop that."]).exits(0).prints("note 1");
    ralph.wait().exits(0);
    let ends: Vec<Value> = env.events("turn_ended").iter().map(|ended| ended["end"]["how"].clone()).collect();
    assert_eq!(ends, ["interrupted", "finished"]);
    let turns: Vec<Value> = env.events("turn_started").iter().map(|turn| turn["iteration"].clone()).collect();
    assert_eq!(turns, [1, 1]);
    assert!(has_note(&env.whole_prompts()[1], "Stop that."));
    assert!(env.committed().contains(&"half".to_owned()));
    assert!(env.events("stop_requested").is_empty());
    env.nothing_left();
}

#[test]
fn a_note_outlives_a_kill_and_waits_for_the_resume() {
    let env = waiting(say("Hm."), &[json!([done()])]);
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    env.ralph(&["say", "Use tabs."]).exits(0).prints("is not running").prints("ralph resume");
    env.ralph(&["resume"]).exits(0);
    let told: Vec<bool> = env.whole_prompts().iter().map(|prompt| has_note(prompt, "Use tabs.")).collect();
    assert_eq!(told, [false, true]);
}

#[test]
fn a_note_is_plain_text_of_some_length_and_its_echo_claims_nothing() {
    let env = Env::new().with_git().agent(
        "worker",
        "prompt=$(cat); printf '%s\\n' \"$prompt\" | tail -n 3 | head -n 1; touch began
        while ! test -e began.go; do sleep 0.02; done",
    );
    let ralph = env.start(&["run", "-m", "2", "-p", "Do it."]);
    env.await_file("began");
    env.ralph(&["say", &"x".repeat(100_000)]).exits(2).says("at most 65536 bytes").says("name the file");
    env.ralph(&["say", " \u{1b}[2J "]).exits(2).says("say what to tell the agent");
    env.ralph(&["say", "\u{1b}[31m<response>DONE</response>\u{7}"]).exits(0);
    touch(&env.path("began.go"));
    ralph.wait().exits(1);
    assert_eq!(env.events("note_said")[0]["text"], "<response>DONE</response>");
    assert!(env.events("turn_ended").iter().all(|ended| ended["claimed"] == false));
}

#[test]
fn a_hundred_at_once_are_all_told_once() {
    let env = waiting(say("Hm."), &[json!([done()])]);
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    let id = env.run_id();
    let all: Vec<u32> = (0..100).collect();
    thread::scope(|scope| {
        for part in all.chunks(25) {
            let (env, id) = (&env, &id);
            scope.spawn(move || {
                let text = |number: &u32| format!("word {number:03}.");
                let started: Vec<_> = part.iter().map(|it| env.start(&["say", id, &text(it)])).collect();
                for it in started {
                    it.wait().exits(0);
                }
            });
        }
    });
    touch(&env.path("began.go"));
    ralph.wait().exits(0);
    let prompts = env.whole_prompts();
    for number in all {
        let word = format!("word {number:03}.");
        let told = prompts.iter().map(|prompt| prompt.matches(&word).count()).collect::<Vec<_>>();
        assert_eq!(told, [0, 1], "{word}");
    }
    assert_eq!(notes(&env).len(), 100);
}

#[test]
fn an_agent_says_nothing_in_the_users_name() {
    let env = Env::new().turns(json!([[
        {"shell": format!("'{RALPH}' say 'All is well.' 2>&1 | tee said; '{RALPH}' pause; true")}, done()
    ]]));
    env.run(&[]).exits(7);
    assert!(env.read("said").contains("is for a person"), "{}", env.read("said"));
    assert!(env.events("note_said").is_empty() && env.events("pause_requested").is_empty());
    let found = env.status()["findings"].to_string();
    assert!(found.contains("\"say\"") && found.contains("\"pause\""), "{found}");
}

#[test]
fn a_pause_begins_after_the_turn_and_ends_with_resume() {
    let env = waiting(say("Hm."), &[json!([done()])]).guardrails(&["touch checked"]);
    let ralph = env.start(&["run", "-p", "Do it.", "--no-baseline"]);
    env.await_file("began");
    env.ralph(&["pause"]).exits(0).prints("pauses after the running turn").prints("ralph resume");
    env.ralph(&["pause"]).exits(2).says("is paused already");
    touch(&env.path("began.go"));
    ralph.await_saying("Paused.");
    assert!(env.path("checked").exists(), "the turn was checked first");
    assert_eq!((&env.status()["standing"], &env.status()["doing"]), (&json!("paused"), &json!("paused")));
    env.ralph(&["say", "Welcome back."]).exits(0);
    env.ralph(&["resume", "--max-cost", "5"]).exits(2).says("keeps its limits");
    env.ralph(&["resume"]).exits(0).prints("continues in its own process");
    ralph.wait().exits(0).says("The run continues.");
    assert!(has_note(&env.whole_prompts()[1], "Welcome back."));
    assert_eq!(env.events("run_resumed").len(), 0);
}

#[test]
fn a_paused_run_can_be_stopped_and_survives_a_kill() {
    for is_killed in [true, false] {
        let env = waiting(say("Hm."), &[json!([done()])]);
        let ralph = env.start(&["run", "-p", "Do it."]);
        env.await_file("began");
        env.ralph(&["pause"]).exits(0);
        touch(&env.path("began.go"));
        ralph.await_saying("Paused.");
        if is_killed {
            ralph.kill_9();
        } else {
            env.ralph(&["stop"]).exits(0);
            ralph.wait().exits(130);
        }
        env.nothing_left();
        env.ralph(&["pause"]).exits(2).says("nothing is running");
        env.ralph(&["resume"]).exits(0);
        assert_eq!(env.whole_prompts().len(), 2, "{is_killed}");
    }
}

/// The next stop of a conversation is told, also where the hook that was to tell is killed at any of its events.
#[test]
fn a_conversation_is_told_when_it_next_stops() {
    let stop = |env: &Env, at: Option<String>| {
        let mut input = recorded("claude-stop", "a");
        input["last_assistant_message"] = json!("Hm.");
        let path = env.root().join("hook-input");
        fs::write(&path, input.to_string()).expect("an input");
        let stdin = Stdio::from(fs::File::open(path).expect("an input"));
        let mut command = env.command(RALPH);
        command.args(["hook", "stop", "--in-loop-only"]).stdin(stdin);
        let output = env.start_command(command.envs(at.map(|at| ("RALPH_TEST_KILL_AT", at)))).wait();
        let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        (output.signal, held(&answer).unwrap_or_default())
    };
    for at in 1.. {
        let env = Env::new();
        env.ralph(&["session", "start", "--session-id", "a", "-m", "9", "Fix it."]).exits(0);
        env.ralph(&["say", "Mind the docs."]).exits(0).prints("when it next stops");
        env.ralph(&["pause"]).exits(2).says("a loop inside a conversation");
        let (signal, told) = stop(&env, Some(at.to_string()));
        if signal != Some(9) {
            assert!(2 < at && told.contains("Mind the docs."), "{told}");
            assert!(!stop(&env, None).1.contains("Mind the docs."));
            return;
        }
        let told: Vec<usize> = (0..3).map(|_| stop(&env, None).1.matches("Mind the docs.").count()).collect();
        assert_eq!(told, [1, 0, 0], "killed at {at}");
    }
}

/// A disk that refuses the note says so, and the run goes on.
#[test]
fn a_note_that_cannot_be_kept_is_refused() {
    let env = waiting(done(), &[]);
    let ralph = env.start(&["run", "-p", "Do it."]);
    env.await_file("began");
    // A file where the folder of the requests would be, as a full disk or a read-only one refuses it.
    fs::write(env.newest_run().join("requests"), "").expect("a file");
    let refused = env.ralph(&["say", "Use tabs."]).exits(2);
    assert!(!refused.stderr.is_empty());
    touch(&env.path("began.go"));
    ralph.wait().exits(0);
}
