//! What the page can have done, and what it takes.

use std::fs;

use serde_json::{Value, json};

use super::{Session, serve};
use crate::{
    env::{Env, done, meet, poll, say},
    stories::{leaves, list, project, sent_back, story, submitted},
};

fn act(env: &Env, act: &str) -> Value {
    json!({"run": env.run_id(), "act": act})
}

fn with_text(env: &Env, act: &str, text: &str) -> Value {
    json!({"run": env.run_id(), "act": act, "text": text})
}

/// A run that is done, with a finding.
fn found() -> Env {
    let env = project(&list(&[story("US-1")])).turns(json!([
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[sent_back("US-1", 1, "Week 53 is missing.")])),
        [say("Well.")],
    ]));
    env.ralph(&["stories", "--review-cap", "1"]).exits(7);
    env
}

#[test]
fn a_run_is_stopped_and_resumed() {
    let env = Env::new().turns(json!([meet("met"), [say("Going on.")], meet("again"), [done()]]));
    let run = env.start(&["run", "-p", "Do it."]);
    env.await_file("met");
    let served = serve(&env, &["--allow"]);
    let session = served.session();
    let text = session.act(&act(&env, "stop")).is(200).json()["text"].to_string();
    assert!(text.contains("asked run"), "{text}");
    poll("the wish", || (!env.events("stop_requested").is_empty()).then_some(()));
    fs::write(env.path("met.go"), "").expect("a file");
    run.wait().exits(130);
    session.act(&act(&env, "stop")).is(409);
    session.act(&act(&env, "resume")).is(200);
    env.await_file("again");
    assert_eq!(env.events("run_resumed").len(), 1);
    served.running.await_saying(&format!("from the page: resume {}", env.run_id()));
    // The run outlives the server.
    served.running.kill_9();
    fs::write(env.path("again.go"), "").expect("a file");
    poll("the end", || env.events("run_ended").len().eq(&2).then_some(()));
    env.nothing_left();
}

#[test]
fn a_limit_is_raised_as_ralph_suggests() {
    let env = Env::new().turns(json!([[say("Not yet.")], [done()]]));
    env.run(&["-m", "1"]).exits(1);
    let session = serve(&env, &["--allow"]).session();
    session.act(&act(&env, "resume")).is(200);
    poll("the end", || env.events("run_ended").len().eq(&2).then_some(()));
    assert!(1 < env.events("run_resumed")[0]["limits"]["max_iterations"].as_u64().expect("a number"));
}

/// The code that the terminal shows.
fn code(said: &str) -> String {
    let code = said.rsplit("into the page: ").next().and_then(|rest| rest.lines().next());
    code.unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[test]
fn work_is_accepted_only_with_the_code_of_the_terminal() {
    let env = found();
    let served = serve(&env, &["--allow"]);
    let session = served.session();
    let accept = |session: &Session, code: &str| {
        session.act(&json!({"run": env.run_id(), "act": "accept", "code": code, "text": "seen"}))
    };
    // Without having asked for one, none counts.
    accept(&session, "00000000").is(403);
    let asked = session.act(&act(&env, "accept")).is(200);
    assert_eq!(asked.json(), json!({"code": "wanted"}), "the answer has no code in it");
    served.running.await_saying("into the page: ");
    let shown = code(&served.running.said());
    assert!(!asked.head.contains(&shown));
    session.act(&act(&env, "accept")).is(429);
    let wrong = if shown.starts_with('1') { "2".repeat(8) } else { "1".repeat(8) };
    for expected in ["not the code", "not the code", "no longer valid"] {
        let refused = accept(&session, &wrong).is(403).json();
        assert!(refused["text"].as_str().is_some_and(|text| text.contains(expected)), "{refused}");
    }
    accept(&session, &shown).is(403);
    assert!(env.events("accepted").is_empty());
    // A new one, after a few seconds.
    poll("a new code", || (session.act(&act(&env, "accept")).status == 200).then_some(()));
    poll("another code", || (code(&served.running.said()) != shown).then_some(()));
    accept(&session, &code(&served.running.said())).is(200);
    assert_eq!(env.events("accepted")[0]["why"], "seen");
    session.act(&act(&env, "accept")).is(409);
}

#[test]
fn work_is_sent_back_with_words() {
    let env = found();
    let session = serve(&env, &["--allow"]).session();
    session.act(&act(&env, "reject")).is(400);
    session.act(&with_text(&env, "reject", "--help is no flag here; $(touch pwned)")).is(200);
    poll("the words", || env.events("rejected").first().cloned());
    assert_eq!(env.events("rejected")[0]["why"], "--help is no flag here; $(touch pwned)");
    poll("the end", || env.events("run_ended").len().eq(&2).then_some(()));
    assert!(!env.path("pwned").exists());
}

#[test]
fn an_action_that_does_not_fit_says_why() {
    let env = Env::new().turns(json!([[done()]]));
    env.run(&[]).exits(0);
    let session = serve(&env, &["--allow"]).session();
    for (name, words) in [
        ("stop", "is not running"),
        ("accept", "no findings"),
        ("resume", "is complete"),
        ("pause", "not running"),
    ] {
        let refused = session.act(&act(&env, name)).is(409).json();
        assert!(refused["text"].as_str().is_some_and(|text| text.contains(words)), "{name}: {refused}");
    }
}

#[test]
fn a_word_reaches_the_next_turn_and_a_pause_waits_before_it() {
    let env = Env::new().turns(json!([meet("met"), [done()]]));
    let run = env.start(&["run", "-p", "Do it."]);
    env.await_file("met");
    let session = serve(&env, &["--allow"]).session();
    session.act(&with_text(&env, "say", "--now mind the gap")).is(200);
    session.act(&act(&env, "pause")).is(200);
    session.act(&act(&env, "pause")).is(409);
    fs::write(env.path("met.go"), "").expect("a file");
    poll("the pause", || (!env.events("pause_started").is_empty()).then_some(()));
    assert_eq!(env.prompts().len(), 1, "it paused after the turn");
    session.act(&act(&env, "resume")).is(200);
    run.wait().exits(0);
    assert!(env.prompts()[1].contains("--now mind the gap"), "{:?}", env.prompts());
}
