//! What judges from outside of the project: start-up files in the home directory, and programs on the PATH.

use serde_json::{Value, json};

use crate::env::{Env, done, say, shell};

/// A loop whose guardrail passes, and whose agent does this.
fn guarded(guardrail: &str, turns: Value) -> Env {
    let env = Env::new().with_git().commits().guardrails(&[guardrail]).turns(turns);
    env.write("a", "1\n");
    env.git(&["add", "--all", "--", ":!.ralph"]);
    env.git(&["commit", "--quiet", "-m", "a"]);
    env
}

#[track_caller]
fn findings(env: &Env) -> Vec<Value> {
    let status: Value =
        serde_json::from_str(&env.ralph(&["status", "--json"]).exits(0).stdout).expect("JSON");
    status["findings"].as_array().expect("a list").clone()
}

#[test]
fn a_start_up_file_that_the_agent_writes_needs_a_person() {
    for (write, name) in [
        ("printf '[core]\\n\\thooksPath = /nowhere\\n' >> ~/.gitconfig", ".gitconfig"),
        ("mkdir -p ~/.cargo && echo '[alias]' > ~/.cargo/config.toml", ".cargo/config.toml"),
        ("echo 'ignore-scripts=true' > ~/.npmrc", ".npmrc"),
        ("echo 'import x' > ../conftest.py", "conftest.py"),
        (
            "d=~/.local/lib/python3.99/site-packages && mkdir -p $d && echo 'import x' > $d/usercustomize.py",
            "usercustomize.py",
        ),
    ] {
        let env = guarded("true", json!([[shell(write), done()], [done()]]));
        env.run(&[]).exits(7).prints(name).prints("reads it) was ");
        // It was asked first.
        assert!(env.prompts()[1].contains(name), "{}", env.prompts()[1]);
        let found = findings(&env);
        assert_eq!(found.len(), 1, "{write}: {found:?}");
        assert_eq!(found[0]["finding"], "start_up_changed");
    }
}

#[test]
fn what_is_planted_in_one_turn_is_found_at_the_claim_of_another() {
    let plant = shell("echo 'ignore-scripts=true' > ~/.npmrc");
    let env = guarded("true", json!([[plant, say("More to do.")], [shell("echo 2 > a"), done()], [done()]]));
    env.run(&[]).exits(7).prints(".npmrc");
    // Who is asked and puts it back is done.
    let plant = shell("echo 'ignore-scripts=true' > ~/.npmrc");
    let env = guarded("true", json!([[plant, done()], [shell("rm ~/.npmrc"), done()]]));
    env.run(&[]).exits(0);
    assert!(env.prompts()[1].contains(".npmrc"), "{}", env.prompts()[1]);
    assert_eq!(findings(&env), [json!(null); 0]);
    // Who puts it back is not asked.
    let plant = shell("echo 'ignore-scripts=true' > ~/.npmrc");
    let env = guarded("true", json!([[plant, say("More to do.")], [shell("rm ~/.npmrc"), done()]]));
    env.run(&[]).exits(0);
    assert_eq!(findings(&env), [json!(null); 0]);
}

#[test]
fn honest_work_outside_of_the_project_is_no_finding() {
    // Not with `git config --global`: the variable of these tests leads it to a device.
    let work = "printf '[user]\\n\\tname = Ada\\n[safe]\\n\\tdirectory = *\\n' >> ~/.gitconfig && \
                echo 'export PATH=$PATH:~/bin' >> ~/.bashrc && mkdir -p ~/.cache/x && touch ~/.cache/x/y";
    let env = guarded("true", json!([[shell(work), done()]]));
    env.run(&[]).exits(0);
    assert_eq!(findings(&env), [json!(null); 0]);
}

#[test]
fn a_program_that_a_guardrail_runs_is_the_same_at_the_claim() {
    let env = guarded("make-check a", json!([[shell("echo 2 > a"), done()], [done()]]));
    env.program("make-check", "exit 0");
    env.run(&[]).exits(0);
    let env = guarded(
        "make-check a",
        json!([[shell("printf '#!/bin/sh\\n' > $(command -v make-check)"), done()], [done()]]),
    );
    env.program("make-check", "grep -q 1 a");
    env.run(&[]).exits(7).prints("`make-check` (").prints("was changed");
    assert_eq!(findings(&env)[0]["finding"], "program_changed");
    // A recipe that leads to it.
    let env = guarded(
        "make test",
        json!([[shell("printf '#!/bin/sh\\n' > $(command -v make-check)"), done()], [done()]]),
    );
    env.program("make-check", "grep -q 1 a");
    env.write("Makefile", "test:\n\t@make-check a\n");
    env.git(&["add", "Makefile"]);
    env.git(&["commit", "--quiet", "-m", "Makefile"]);
    if env.sh("make --version").code == Some(0) {
        env.run(&[]).exits(7).prints("`make-check` (");
    }
}

#[test]
fn what_a_person_changes_between_two_processes_is_not_the_runs_doing() {
    let env = guarded("true", json!([[say("Not yet.")], [done()], [done()]]));
    env.run(&["--max-iterations", "1"]).exits(1);
    env.sh("echo 'ignore-scripts=true' > ~/.npmrc").exits(0);
    env.ralph(&["resume", "--max-iterations", "3"]).exits(0);
    // What the agent changed before that is its doing, though no one has claimed anything then.
    let plant = shell("echo 'ignore-scripts=true' > ~/.npmrc");
    let env = guarded("true", json!([[plant, say("Not yet.")], [done()], [done()]]));
    env.run(&["--max-iterations", "1"]).exits(1);
    env.sh("mkdir -p ~/.cargo && echo '[alias]' > ~/.cargo/config.toml").exits(0);
    env.ralph(&["resume", "--max-iterations", "3"]).exits(7).prints(".npmrc").prints_not("config.toml");
}

#[test]
fn guardrails_do_not_see_the_users_site_packages() {
    let env = guarded("test \"$PYTHONNOUSERSITE\" = 1", json!([[done()]]));
    env.run(&[]).exits(0);
    env.ralph(&["judge"]).exits(0);
    let env = guarded("test -z \"$PYTHONNOUSERSITE\"", json!([[done()]]))
        .settings(json!({"guardrailEnv": {"PYTHONNOUSERSITE": ""}}));
    env.run(&[]).exits(0);
}

#[test]
fn what_follows_is_what_the_settings_say_wherever_the_claim_is_decided() {
    for checkout in ["claim", "never"] {
        let plant = || shell("echo 'ignore-scripts=true' > ~/.npmrc");
        let verify = |on_finding: &str| json!({"verify": {"checkout": checkout, "onFinding": on_finding}});
        let env = guarded("true", json!([[plant(), done()]])).settings(verify("report"));
        env.run(&[]).exits(0);
        assert_eq!(findings(&env)[0]["finding"], "start_up_changed", "{checkout}");
        let env = guarded("true", json!([[plant(), done()], [done()]])).settings(verify("ask"));
        env.run(&[]).exits(7).prints(".npmrc");
    }
}
