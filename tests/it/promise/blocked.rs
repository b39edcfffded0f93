//! An agent that cannot continue says so, and is believed.

use serde_json::json;

use super::{BUILD, Kind, PLAN, PROMPT, RUN, SESSION, STORIES, TASK, prompts};
use crate::{
    env::Env,
    hook::{ask, recorded},
    session::{held, loops},
    stories::{list, stories, story},
};

const BLOCKED: &str = "say '<response>BLOCKED: no key for the service</response>'";

const ALL: [&Kind; 6] = [&RUN, &PLAN, &BUILD, &PROMPT, &TASK, &SESSION];

#[test]
fn every_loop_ends_with_the_reason_first() {
    for kind in ALL {
        let env = kind.env(BLOCKED).settings(json!({"notify": "cat >../notified"}));
        let output = kind.run(&env, &["-g", "true"]).exits(6);
        let summary = output.stdout.lines().next().unwrap_or_default();
        assert!(summary.ends_with(" Blocked: no key for the service"), "{:?} {summary}", kind.args);
        let status = env.ralph(&["status"]).exits(0).stdout;
        assert!(status.contains("Blocked: no key for the service"), "{status}");
        let page = env.ralph(&["report", "--file", "-"]).exits(0).stdout;
        let concerns = page.split_once("Needs attention").expect("concerns").1;
        let first = concerns.split_once("<li>").expect("a concern").1;
        assert!(first.starts_with("Blocked: no key for the service"), "{first}");
        let notified = std::fs::read_to_string(env.root().join("notified")).expect("a notification");
        let notified: serde_json::Value = serde_json::from_str(&notified).expect("JSON");
        assert_eq!(notified["event"], "needs_person");
        assert_eq!(notified["text"], "Blocked: no key for the service");
        assert_eq!(prompts(&env).len(), 1, "{:?}", kind.args);
    }
}

#[test]
fn done_and_blocked_together_are_blocked() {
    for kind in ALL.into_iter().filter(|kind| !kind.is_claude) {
        let env = kind.env(&format!("claim; {BLOCKED}"));
        kind.run(&env, &["-g", "true"]).exits(6).prints("Blocked: no key for the service");
    }
    let env = SESSION.env(r"say '<promise>DONE</promise>\n<promise>BLOCKED: no key</promise>'");
    SESSION.run(&env, &["-g", "true"]).exits(6).prints("Blocked: no key");
    let task = TASK.env(&format!("claim; {BLOCKED}"));
    TASK.run(&task, &["-g", "true"]).exits(6);
    assert!(
        !task.path(".ralph/tasks/t/DONE").exists() && task.path(".ralph/tasks/t/DONE.refuted-1").exists()
    );
}

#[test]
fn gates_and_commit_come_before_the_end() {
    let env = RUN.env(&format!("echo x >work; {BLOCKED}")).commits();
    RUN.run(&env, &["-g", "test -e work"]).exits(6);
    assert_eq!((env.events("gate_ended").len(), env.commits_made().len()), (1, 2));
    let red = RUN.env(&format!("echo x >work; {BLOCKED}")).commits();
    RUN.run(&red, &["-g", "false"]).exits(6);
    assert_eq!((red.events("gate_ended").len(), red.commits_made().len()), (1, 1));
}

#[test]
fn words_about_it_are_not_it() {
    for said in [
        "say 'I would say <response>BLOCKED: x</response> if I were.'",
        "say '<response>BLOCKED: x</response>'; say 'But no.'",
        "say 'BLOCKED: x'",
    ] {
        let env = RUN.env(said);
        RUN.run(&env, &["-m", "2"]).exits(1);
    }
}

#[test]
fn a_blocked_run_goes_on_when_someone_has_helped() {
    let env = RUN.env(&format!("if test -e key; then claim; else {BLOCKED}; fi"));
    RUN.run(&env, &[]).exits(6);
    env.write("key", "");
    env.ralph(&["resume", &env.run_id()]).exits(0);
}

#[test]
fn a_second_opinion_can_be_asked_for() {
    let confirm = || json!({"blocked": "confirm"});
    let env = RUN.env(BLOCKED).settings(confirm());
    RUN.run(&env, &[]).exits(6).prints("Blocked: no key for the service");
    let told = prompts(&env);
    assert_eq!(told.len(), 2);
    assert!(
        told[1].starts_with("The last iteration said that it cannot continue: no key for the service"),
        "{}",
        told[1]
    );
    let env = RUN.env(&format!("if test $turn = 1; then {BLOCKED}; else claim; fi")).settings(confirm());
    RUN.run(&env, &[]).exits(0);
}

#[test]
fn a_blocked_story_is_left_to_a_person() {
    let env = STORIES.env(&format!("case $prompt in *'Story: US-1'*) {BLOCKED} ;; *) claim ;; esac"));
    let text = list(&[story("US-1"), story("US-2")]);
    env.write("ralph/tasks.json", &text);
    env.git(&["commit", "--quiet", "-am", "two"]);
    let env = env.settings(json!({"notify": "cat >>../notified"}));
    STORIES.run(&env, &["-g", "true"]).exits(6).prints("Blocked: US-1: no key for the service");
    let stories = stories(&env);
    assert_eq!(
        (&stories[0]["kind"], &stories[0]["notes"]),
        (&json!("human"), &json!("noted\nBlocked: no key for the service"))
    );
    assert_eq!(stories[1]["reviewStatus"], "approved");
    assert!(env.git(&["log", "--format=%s"]).contains("ralph: leave US-1 to a person"));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    let notified = std::fs::read_to_string(env.root().join("notified")).expect("notifications");
    assert!(
        notified.contains("Blocked: US-1: no key for the service; the story is for a person now"),
        "{notified}"
    );
    // Helped, it goes on.
    env.write("ralph/tasks.json", &env.read("ralph/tasks.json").replace("\"human\"", "\"agent\""));
    env.git(&["commit", "--quiet", "-am", "help"]);
    let helped = STORIES.env("claim");
    std::fs::copy(helped.root().join("bin/worker"), env.root().join("bin/worker")).expect("an agent");
    env.ralph(&["resume", "-m", "9", &env.run_id()]).exits(0);
}

#[test]
fn a_conversation_lets_a_blocked_agent_go() {
    let env = Env::new();
    let contract =
        env.ralph(&["session", "start", "--session-id", "a", "-m", "3", "Fix it."]).exits(0).stdout;
    assert!(contract.contains("<promise>BLOCKED: reason</promise>"), "{contract}");
    let mut input = recorded("claude-stop", "a");
    input["last_assistant_message"] = json!("I cannot.\n<promise>BLOCKED: no key</promise>");
    let answer = ask(&env, &["stop", "--in-loop-only"], &input);
    assert_eq!(held(&answer), None);
    let told = answer["systemMessage"].as_str().expect("a message");
    assert!(told.contains("ralph loop: the agent is blocked: no key; STOPPED after turn 1 of 3"), "{told}");
    assert_eq!(loops(&env)[0]["status"], "STOPPED");
}
