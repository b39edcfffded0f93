//! What a person changes while no turn runs applies to the run; what an agent changes does not.

use std::{fs, io::Write, process::Stdio};

use serde_json::{Value, json};

use crate::{
    env::{Env, Output, RALPH, done, meet, say, shell, write},
    stories::{approved, leaves, list, project, story, submitted, verified},
};

/// Resumes with these answers on standard input.
#[track_caller]
fn answering(env: &Env, args: &[&str], answers: &str) -> Output {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(answers.as_bytes()).expect("answers");
    drop(writer);
    env.start_command(env.command(RALPH).args(args).stdin(Stdio::from(reader))).wait()
}

/// The texts that ralph has kept of files that it overwrote.
fn overwritten(env: &Env, name: &str) -> Vec<String> {
    let folders = fs::read_dir(env.newest_run().join("overwritten")).into_iter().flatten().flatten();
    folders.filter_map(|folder| fs::read_to_string(folder.path().join(name)).ok()).collect()
}

#[test]
fn a_wrong_guardrail_can_be_corrected_between_two_resumes() {
    let env = Env::new().turns(json!([[done()]])).guardrails(&["test -e typo"]);
    env.run(&["-m", "1"]).exits(1);
    let env = env.guardrails(&["test -e other"]);
    env.ralph(&["resume", "-m", "2"])
        .exits(1)
        .says("You changed .ralph/settings.json")
        .says("guardrails: `test -e typo` → `test -e other`")
        .says("test -e other");
    // The agent is not told what a check said that is gone.
    assert!(!env.prompts()[1].contains("typo"), "{}", env.prompts()[1]);
    let env = env.guardrails(&["true"]);
    env.ralph(&["resume", "-m", "3"]).exits(0).says("`test -e other` → `true`");
    assert_eq!(env.events("edits_taken").len(), 2);
    // A person who asks later is told what the run was judged by.
    env.ralph(&["logs"]).exits(0).prints("guardrails: `test -e other` → `true`");
}

#[test]
fn what_flags_and_earlier_resumes_said_stays() {
    let env = Env::new().turns(json!([[say("Hm.")]])).settings(json!({"limits": {"maxTime": "1h"}}));
    env.run(&["-m", "1", "-g", "false"]).exits(1);
    let env =
        env.guardrails(&["true"]).settings(json!({"limits": {"maxTime": "2h"}, "maximumIterations": 9}));
    env.ralph(&["resume", "-m", "2"]).exits(1).says("limits.maxTime: 3600 → 7200").says_not("guardrails:");
    let plan = &env.events("edits_taken")[0]["plan"];
    assert_eq!(plan["gates"][0]["check"]["command"], "false");
    assert_eq!(
        (&plan["limits"]["max_iterations"], &plan["limits"]["max_time_ms"]),
        (&json!(1), &json!(7_200_000))
    );
    let env = env.settings(json!({"notify": "true"}));
    env.ralph(&["resume", "-m", "3"]).exits(1).says("notify: none → \"true\"");
    assert_eq!(env.events("edits_taken")[1]["plan"]["limits"]["max_iterations"], 2);
}

#[test]
fn settings_that_were_not_there_apply_too() {
    let env = Env::new().turns(json!([[say("Hm.")], [done()]]));
    env.run(&["-m", "1"]).exits(1);
    env.write(".ralph/settings.local.json", r#"{"guardrails": [{"command": "touch checked"}]}"#);
    env.ralph(&["resume", "-m", "2"])
        .exits(0)
        .says("settings.local.json:1: guardrails: none → `touch checked`");
    assert!(env.path("checked").exists());
}

#[test]
fn settings_that_cannot_be_read_stop_a_resume() {
    let env = Env::new().turns(json!([[say("Hm.")]]));
    env.run(&["-m", "1"]).exits(1);
    env.write(".ralph/settings.json", "{");
    env.ralph(&["resume", "-m", "2"]).exits(2).says(".ralph/settings.json:");
    assert_eq!(env.prompts().len(), 1);
}

#[test]
fn what_the_agent_changes_in_the_settings_does_not_apply() {
    let weaker = shell("sed -i 's/test -e fixed/true/' .ralph/settings.json");
    let env = Env::new().turns(json!([[weaker, done()], [done()]])).guardrails(&["test -e fixed"]);
    env.run(&["-m", "1"]).exits(1).says(".ralph/settings.json was changed during the run").says("--reread");
    assert!(env.read(".ralph/settings.json").contains("true"));
    env.ralph(&["resume", "-m", "2"]).exits(1).says_not("You changed");
    assert!(env.events("edits_taken").is_empty());
    // Only a person can say that it was right.
    answering(&env, &["resume", "-m", "3", "--reread"], "n\n").exits(1).says("Use it from here on?");
    answering(&env, &["resume", "-m", "4", "--reread"], "y\n").exits(0).says("`test -e fixed` → `true`");
}

#[test]
fn nothing_is_taken_over_from_inside_a_turn() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[one, two, done()], [done()]])).guardrails(&["test -e fixed"]);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    env.write("began.go", "");
    let env = env.guardrails(&["true"]);
    env.ralph(&["resume"])
        .exits(6)
        .says("the agent may have changed it")
        .says("--reread")
        .says_not("You changed");
    // It was recorded as what the turn may have done, so it does not apply later either.
    env.ralph(&["resume", "-m", "20"]).exits(6).says_not("You changed");
    answering(&env, &["resume", "-m", "30", "--reread"], "y\n").exits(0).says("You changed");
}

#[test]
fn an_edit_after_an_interrupt_applies() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[one, two, say("Hm.")], [done()]])).guardrails(&["test -e fixed"]);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.signal(rustix::process::Signal::INT);
    ralph.await_saying("shutting down");
    env.write("began.go", "");
    ralph.wait().exits(130);
    let env = env.guardrails(&["true"]);
    env.ralph(&["resume"]).exits(0).says("`test -e fixed` → `true`");
}

#[test]
fn a_kill_while_edits_are_taken_over_changes_nothing() {
    for at in ["1", "1:torn", "2", "2:torn", "3"] {
        let env = Env::new().turns(json!([[done()], [done()]])).guardrails(&["false"]);
        env.run(&["-m", "1"]).exits(1);
        let env = env.guardrails(&["true"]);
        let resume = ["resume", "-m", "2"];
        let killed = env.start_command(env.command(RALPH).args(resume).env("RALPH_TEST_KILL_AT", at)).wait();
        assert_eq!(killed.signal, Some(9), "{killed:?}");
        env.nothing_left();
        env.ralph(&["resume", "-m", "2"]).exits(0);
        assert_eq!(env.events("edits_taken").len(), 1, "killed at {at}");
    }
}

#[test]
fn build_takes_over_the_test_command_of_the_notes() {
    let env =
        Env::new().with_git().turns(json!([[write("a", "1"), say("Hm.")], [write("a", "2"), say("Hm.")]]));
    env.write("specs/a.md", "It works.\n");
    env.write("implementation_plan.md", "- [ ] One\n");
    env.write("AGENTS.md", "TEST_COMMAND=\"test -e typo\"\n");
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "-m", "plan"]);
    env.ralph(&["build", "1", "--retries", "0"]).exits(3);
    env.write("AGENTS.md", "TEST_COMMAND=\"test -e a\"\n");
    env.ralph(&["resume"]).exits(0).says("You changed AGENTS.md: TEST_COMMAND: test -e typo → test -e a");
    assert_eq!(env.events("gate_ended").last().expect("a gate")["failure"], Value::Null);
}

#[test]
fn only_loops_that_use_guardrails_take_them_over() {
    let env =
        Env::new().with_git().turns(json!([[write("implementation_plan.md", "- [ ] One\n"), say("Hm.")]]));
    env.write("specs/a.md", "It works.\n");
    env.ralph(&["plan", "1"]).exits(0);
    let env = env.guardrails(&["false"]);
    env.ralph(&["resume", "-m", "2"]).says("guardrails: none → `false` (only a new run uses it)");
    assert_eq!(env.events("edits_taken")[0]["plan"]["gates"], json!([]));
    let env = Env::new().turns(json!([[say("Hm.")], [shell("touch .ralph/tasks/t/DONE"), say("Well.")]]));
    env.ralph(&["task", "run", "--task", "t", "-p", "x", "--max-restarts", "1"]).exits(1);
    let env = env.guardrails(&["touch checked"]);
    env.ralph(&["resume", "-m", "2"]).exits(0).says("guardrails: none → `touch checked`");
    assert!(env.path("checked").exists());
}

/// What is edited, and how it is seen that it applies: every loop resumes with the settings of a person.
#[test]
fn every_loop_takes_over_settings() {
    let fail = json!([[{"exit": 1}]]);
    let planned = |env: &Env| {
        env.write("specs/a.md", "It works.\n");
        env.write("implementation_plan.md", "- [ ] One\n");
        env.write("ask.md", "Look around.");
        env.git(&["add", "--all"]);
        env.git(&["commit", "--quiet", "-m", "plan"]);
    };
    for args in [
        &["run", "-p", "x"][..],
        &["plan", "2"],
        &["build", "2"],
        &["prompt", "ask.md"],
        &["session", "run", "-m", "3", "Do it."],
    ] {
        let env = Env::new().with_git().turns(fail.clone()).settings(json!({"retries": 0}));
        // Only some agents can continue a conversation.
        let env = if args[0] == "session" { env.agent("claude", "exit 1") } else { env };
        planned(&env);
        env.ralph(args).exits(4);
        let env = env.settings(json!({"limits": {"gateTimeout": "7s"}}));
        let resumed = env.ralph(&["resume"]).exits(4).says("limits.gateTimeout: 1800 → 7");
        assert!(resumed.stderr.contains("You changed"), "{args:?}: {}", resumed.stderr);
        assert_eq!(env.events("edits_taken")[0]["setup"]["timeouts"]["gate_timeout_ms"], 7000, "{args:?}");
    }
    let env = Env::new().turns(json!([[say("Hm.")]])).settings(json!({"task": {"maxRestarts": 1}}));
    env.ralph(&["task", "run", "--task", "t", "-p", "x"]).exits(1);
    let env = env.settings(json!({"task": {"maxRestarts": 2}, "maximumIterations": 9}));
    env.ralph(&["resume"]).exits(1).says("task.maxRestarts: 1 → 2");
    assert_eq!(env.events("turn_started").len(), 2);
    assert_eq!(env.events("edits_taken")[0]["plan"]["limits"]["max_iterations"], 2);
}

#[test]
fn stories_go_on_with_what_a_person_wrote() {
    let env = project(&verified(&[story("US-1")], &["test -e typo"])).turns(json!([
        leaves(&verified(&[submitted("US-1", 0)], &["test -e typo"])),
        leaves(&verified(&[approved("US-1", 1)], &["test -e ralph/prd.md"])),
    ]));
    env.ralph(&["stories", "-n", "1"]).exits(1);
    env.write("ralph/prd.md", "# What is wanted now\n");
    env.write("ralph/prompt.md", "Work on {{STORY_ID}}, as now wanted.\n");
    env.write("ralph/tasks.json", &verified(&[submitted("US-1", 0)], &["test -e ralph/prd.md"]));
    env.git(&["commit", "--quiet", "--all", "-m", "wanted"]);
    env.ralph(&["resume", "-m", "5"])
        .exits(0)
        .says("You changed ralph/prd.md\n")
        .says("You changed ralph/prompt.md\n")
        .says("You changed ralph/tasks.json: verifyCommands: test -e typo → test -e ralph/prd.md");
    assert_eq!(env.read("ralph/prd.md"), "# What is wanted now\n");
    assert!(env.prompts()[1].contains("as now wanted"), "{}", env.prompts()[1]);
    assert!(env.events("tasks_judged").iter().all(|judged| judged["broken"] == Value::Null));
}

#[test]
fn what_ralph_overwrites_is_kept_in_the_run() {
    let [one, two] = meet("began");
    let turn = json!([write("ralph/prd.md", "# The agent's\n"), one, two, say("Well.")]);
    let env = project(&list(&[story("US-1")])).turns(json!([turn, leaves(&list(&[submitted("US-1", 0)]))]));
    let ralph = env.start(&["stories", "-n", "1"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    env.write("began.go", "");
    env.write("ralph/prompt.md", "A person's.\n");
    env.ralph(&["resume"]).exits(1).says("ralph/prompt.md differs from the copy that the run uses");
    assert_eq!(env.read("ralph/prd.md"), "# What is wanted\n");
    assert_eq!(overwritten(&env, "prd.md"), ["# The agent's\n"]);
    assert_eq!(overwritten(&env, "prompt.md"), ["A person's.\n"]);
}
