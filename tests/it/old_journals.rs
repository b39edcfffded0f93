//! Runs that version 0.1 recorded: they are listed, shown, reported and resumed as if this version had.

mod runs;
mod worlds;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    contained::works,
    env::{Env, Output, RALPH, lossy, touch},
    hook::{ask, recorded as hook_input},
    session::{PROMISE, held},
};
use runs::{RUNS, Recorded};

impl Recorded {
    /// The world as the run left it, with the record where ralph looks for it.
    fn restore(&self) -> Env {
        let env = (self.world)();
        let from = fixtures().join(self.name);
        copy(&from.join("project"), env.project(), &env);
        let id = self.id();
        let runs = env.root().join("state").join(folder_of(env.project())).join("runs");
        fs::create_dir_all(&runs).expect("a folder");
        copy(&from, &runs.join(&id), &env);
        let _ = fs::remove_dir_all(runs.join(&id).join("project"));
        env
    }

    fn id(&self) -> String {
        let journal =
            fs::read_to_string(fixtures().join(self.name).join("journal.jsonl")).expect("a journal");
        let started: Value = serde_json::from_str(journal.lines().next().expect("a line")).expect("JSON");
        started["run"].as_str().expect("an id").to_owned()
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/journals-0.1")
}

/// Copies a folder, if it is there; the places in it are those of this world.
fn copy(from: &Path, to: &Path, env: &Env) {
    let Ok(entries) = fs::read_dir(from) else { return };
    fs::create_dir_all(to).expect("a folder");
    for entry in entries {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to, env);
            continue;
        }
        let root = env.project().parent().expect("a root").display().to_string();
        let text =
            fs::read_to_string(path).expect("a text").replace("@ROOT@", &root).replace("@RALPH@", RALPH);
        fs::write(to, text).expect("a file");
    }
}

/// The name of a project's folder among the records (FNV-1a of its path).
fn folder_of(project: &Path) -> String {
    let hash = project.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("project-{:08x}", hash & 0xffff_ffff)
}

/// The record of this name.
fn of_name(name: &str) -> &'static Recorded {
    RUNS.iter().find(|it| it.name == name).expect("a record")
}

/// Whether the run can go on here: one of a sandbox needs it.
fn can_go_on(recorded: &Recorded) -> bool {
    match recorded.name {
        "run-tampered" => works("landlock"),
        "run-contained" => works("embedded"),
        _ => true,
    }
}

#[test]
fn every_record_is_in_the_table() {
    let entries = fs::read_dir(fixtures()).expect("the records").flatten().filter(|it| it.path().is_dir());
    let mut names: Vec<String> = entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    let mut known: Vec<&str> = RUNS.iter().map(|it| it.name).collect();
    names.sort();
    known.sort_unstable();
    assert_eq!(names, known);
}

#[test]
fn old_runs_are_listed() {
    for recorded in RUNS {
        let env = recorded.restore();
        let status = env.ralph(&["status", "--json"]).exits(0);
        let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
        let code = status["exitCode"].as_u64().map_or("-".to_owned(), |code| code.to_string());
        let stands = format!(
            "{} {code}: {} {} {}",
            status["standing"].as_str().expect("a word"),
            status["iteration"],
            status["turns"],
            status["commits"],
        );
        assert_eq!(stands, recorded.stands, "{}", recorded.name);
    }
}

#[test]
fn old_runs_are_shown() {
    for recorded in RUNS {
        let env = recorded.restore();
        let Output { stdout, stderr, .. } = env.ralph(&["logs", &recorded.id()]).exits(0);
        let log = format!("{stderr}{stdout}");
        for line in recorded.says {
            assert!(log.contains(line), "{}: no {line:?} in:\n{log}", recorded.name);
        }
        // Nothing is passed over.
        let events = env.ralph(&["logs", &recorded.id(), "--output", "json"]).exits(0).stdout;
        let journal = fs::read_to_string(env.newest_run().join("journal.jsonl")).expect("a journal");
        assert_eq!(events.lines().count(), journal.lines().count(), "{}", recorded.name);
    }
}

#[test]
fn old_runs_are_reported() {
    for recorded in RUNS {
        let env = recorded.restore();
        let path = env.ralph(&["report", &recorded.id()]).exits(0).stdout;
        let report = fs::read_to_string(path.trim()).expect("a report");
        assert!(report.contains(&recorded.id()), "{}", recorded.name);
    }
}

#[test]
fn old_runs_are_resumed() {
    for recorded in RUNS.iter().filter(|it| can_go_on(it)) {
        let env = recorded.restore();
        // What the agent of the interrupted run waits for.
        touch(&env.root().join("go"));
        let (limit, code) = recorded.resumed;
        let output = env.ralph(&[&["resume", &*recorded.id()], limit].concat());
        assert_eq!(output.code, Some(code), "{}: {output:#?}", recorded.name);
        assert_eq!(
            output.stderr.contains("Resumed at iteration "),
            code != 2,
            "{}: {output:#?}",
            recorded.name
        );
    }
}

#[test]
fn the_agent_is_told_of_old_failures_as_it_was_then() {
    // The same turn of a run that was not killed.
    for (killed, turn, whole) in
        [("run-killed-in-turn", "0002.1", "run-done"), ("build-killed", "0001.2", "build-done")]
    {
        let recorded = of_name(killed);
        let env = recorded.restore();
        env.ralph(&["resume", &recorded.id()]).exits(0);
        let prompt = |run: &Path| fs::read_to_string(run.join("turns").join(turn).join("prompt.md"));
        let told = prompt(&env.newest_run()).expect("a prompt");
        assert!(told.contains("failed with exit code 1"), "{told}");
        // One word of it has changed since.
        let then = prompt(&fixtures().join(whole)).expect("a prompt").replace("Mend what", "Fix what");
        assert_eq!(told, then, "{killed}");
    }
}

#[test]
fn every_way_to_fail_is_told_as_it_was_then() {
    #[track_caller]
    fn check(name: &str, expected: &str) {
        let recorded = of_name(name);
        let env = recorded.restore();
        env.ralph(&["resume", &recorded.id(), "-m", "2"]).exits(1);
        let prompt = fs::read(env.newest_run().join("turns/0002.1/prompt.md")).expect("a prompt");
        assert_eq!(lossy(&prompt), expected);
    }
    // The last one replaces what the others said.
    check(
        "run-exhausted",
        "Guardrail \"sleep 60\" was ended after its limit of 100ms.\n\
         Output file: .ralph/guardrail_001_sleep_60.log\nOutput (truncated):\n",
    );
    if works("embedded") {
        check(
            "run-contained",
            "Do it.\n\nGuardrail \"touch ../outside\" failed with exit code 1.\n\
             Output file: .ralph/guardrail_001_touch_outside.log\n\
             It ran inside the sandbox (embedded): outside of the project little can be written there, and only \
             listed hosts can be reached.\nOutput (truncated):\n\
             touch: cannot touch '../outside': Read-only file system\n\
             This check was already failing before the first iteration.",
        );
    }
}

#[test]
fn an_old_loop_inside_a_conversation_goes_on() {
    let recorded = of_name("session-in-agent");
    let env = recorded.restore();
    let store = env.root().join("state/sessions/a");
    fs::create_dir_all(&store).expect("a folder");
    let bound = format!("{}\n{}\n", env.newest_run().display(), env.project().display());
    fs::write(store.join("loop"), bound).expect("a file");
    let stop = |says: &str| {
        let mut input = hook_input("claude-stop", "a");
        input["last_assistant_message"] = json!(says);
        held(&ask(&env, &["stop", "--in-loop-only"], &input))
    };
    assert!(stop("Hm.").is_some());
    assert_eq!(env.events("turn_started").len(), 3);
    ask(&env, &["post-tool-use", "--in-loop-only"], &hook_input("claude-post-tool-use", "a"));
    assert_eq!(stop(PROMISE), None);
    assert_eq!(env.events("run_ended")[0]["outcome"], "done");
}

#[test]
fn an_old_task_goes_on() {
    // The agent is that of the record; there is no other.
    let env = of_name("task-waits").restore().settings(json!({"agent": null}));
    env.program("worker", "cat >/dev/null; echo done >\"$TASK_FOLDER/DONE\"");
    env.ralph(&["task", "resume", "t"]).exits(0);
    assert_eq!(env.runs().len(), 2);
}
