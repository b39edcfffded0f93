//! Loops that get nowhere, and loops that only seem to.

use serde_json::json;

use super::{RUN, TASK, prompts};

#[test]
fn who_changes_files_is_told_and_not_ended() {
    let env = RUN.env("echo $turn >work; test $turn != 8 || touch fixed; claim");
    RUN.run(&env, &["-m", "10", "-g", "test -e fixed || { echo no; exit 1; }"]).exits(0);
    let told = prompts(&env);
    assert_eq!(told.len(), 8);
    assert!(told[3].contains("There has been no progress for 3 iterations"), "{}", told[3]);
    assert!(told[7].contains("There has been no progress for 7 iterations"), "{}", told[7]);
    assert!(!told[7].contains("the run ends"), "{}", told[7]);
}

#[test]
fn who_changes_nothing_against_the_same_failure_is_ended() {
    let env = RUN.env("say 'Well.'");
    RUN.run(&env, &["-m", "10", "-g", "false"]).exits(6).prints("no progress since iteration 1");
    assert_eq!(prompts(&env).len(), 4);
}

#[test]
fn green_and_silent_is_told_how_to_finish() {
    let env = RUN.env("say 'Well.'");
    RUN.run(&env, &["-m", "10", "-g", "true"]).exits(6).prints("no progress since iteration 1");
    let told = prompts(&env);
    assert_eq!(told.len(), 4);
    let how =
        "If the task is done, say so: write <response>DONE</response> as the last line of your last message";
    assert!(told[3].contains(how) && !told[3].contains("do something else"), "{}", told[3]);
    let heard = RUN.env("case $prompt in *'say so: write'*) claim ;; *) say 'Well.' ;; esac");
    RUN.run(&heard, &["-m", "10", "-g", "true"]).exits(0);
}

#[test]
fn a_task_that_gets_nowhere_is_ended() {
    let env = TASK.env("say thinking").settings(json!({"task": {"maxRestarts": 100}}));
    TASK.run(&env, &[]).exits(6).prints("no progress since iteration 1");
    let told = prompts(&env);
    assert_eq!(told.len(), 4);
    assert!(told[3].contains("say so: write the file .ralph/tasks/t/DONE"), "{}", told[3]);
    // Notes are work, too.
    let notes = TASK.env("echo $turn >\"$TASK_FOLDER/notes.md\"; test $turn != 8 || claim; say thinking");
    let notes = notes.settings(json!({"task": {"maxRestarts": 100}}));
    TASK.run(&notes, &[]).exits(0);
    assert_eq!(prompts(&notes).len(), 8);
}

#[test]
fn children_at_work_are_progress() {
    let env = TASK
        .env(
            "case $RALPH_MODE in job) while ! test -e ../enough; do sleep 0.01; done; say done; exit ;; esac
        if test $turn = 1; then ralph job --detach -p Wait. >/dev/null; fi
        test $turn != 8 || { touch ../enough; claim; }
        say thinking",
        )
        .settings(json!({"task": {"maxRestarts": 100}}));
    env.program("ralph", &format!("exec {} \"$@\"", crate::env::RALPH));
    TASK.run(&env, &[]).exits(0);
}
