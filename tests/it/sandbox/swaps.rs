//! Links that an agent inside puts in the way of the ralph outside: what ralph writes and reads for the agent must
//! not reach further than the agent does.

use std::fs;

use serde_json::json;

use super::works;
use crate::{
    env::{Env, RALPH, done, shell, write},
    task::env,
};

/// A world with a secret, whose scripted agent can write its record from inside.
fn world(turns: serde_json::Value) -> Env {
    let env = Env::new().with_git().turns(turns);
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    env.write("../home/.ssh/id", "the secret");
    env.settings(json!({"sandbox": {"level": "embedded", "writable": [record]}}))
}

#[test]
fn a_prompt_that_became_a_link_tells_no_secrets() {
    if !works("embedded") {
        return;
    }
    let env = world(json!([[shell("ln -sf ../home/.ssh/id TASK.md")], [done()]]));
    env.write("TASK.md", "Work.");
    env.ralph(&["run", "-f", "TASK.md"]).exits(0).says("it leads to what the sandbox hides from the agent");
    let prompts = env.prompts();
    assert!(
        prompts.iter().all(|prompt| prompt.contains("Work.") && !prompt.contains("the secret")),
        "{prompts:?}"
    );
    // Outside of a sandbox the agent could read it itself.
    let env = world(json!([[shell("ln -sf ../home/.ssh/id TASK.md")], [done()]]));
    env.write("TASK.md", "Work.");
    env.ralph(&["run", "-f", "TASK.md", "--no-sandbox"]).exits(0);
    assert!(env.prompts()[1].contains("the secret"));
}

#[test]
fn a_commit_message_that_is_a_link_tells_no_secrets() {
    if !works("embedded") {
        return;
    }
    // This agent leaves its answer in the file that it is told.
    let script = "case \"$*\" in *message-*) for word; do case $word in *message-*) ln -sf \"$HOME/.ssh/id\" \"$word\";; esac; done;; \
                  *) cat >/dev/null; echo x >work.txt; echo '{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"Well.\"}}'; \
                  echo '{\"type\":\"turn.completed\"}';; esac";
    let env = Env::new().with_git().agent("codex", script).commits();
    env.write("../home/.ssh/id", "the secret");
    let env = env.settings(json!({"sandbox": {"level": "embedded"}}));
    env.ralph(&["run", "-p", "x", "-m", "1"]).exits(1);
    let log = env.git(&["log", "--format=%B"]);
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn a_prompt_is_not_written_through_a_link() {
    if !works("embedded") {
        return;
    }
    let script = "if [ $RALPH_ITERATION = 1 ]; then ln -s \"$OUTSIDE\" \"$RUN_FOLDER/prompt_002.txt\"
                  else echo done >\"$TASK_FOLDER/DONE\"; fi";
    let env = env(script).settings(json!({"sandbox": {"level": "embedded"}}));
    let outside = env.root().join("outside.txt");
    fs::write(&outside, "before").expect("a file");
    let env = env.variable("OUTSIDE", outside.to_str().expect("text"));
    env.ralph(&["task", "run", "--task", "t", "-p", "x"]).exits(0);
    assert_eq!(fs::read_to_string(&outside).expect("a file"), "before");
    let prompt = env.path(&format!(".ralph/tasks/t/runs/{}/prompt_002.txt", env.run_id()));
    assert!(!prompt.is_symlink() && prompt.is_file());
}

#[test]
fn a_link_to_ralphs_own_record_changes_nothing() {
    if !works("embedded") {
        return;
    }
    let env = world(json!([[
        shell(&format!(
            "'{RALPH}' status --json >status.json; ls \"$RALPH_STATE_DIR\" >/dev/null && touch seen; touch \"$RALPH_STATE_DIR/x\" || touch refused"
        )),
        write("work.txt", "x"),
        done()
    ],]));
    env.ralph(&["run", "-p", "x"]).exits(0);
    assert!(env.path("seen").exists() && env.path("refused").exists());
    assert!(env.read("status.json").contains("\"running\""), "{}", env.read("status.json"));
}
