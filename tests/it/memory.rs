//! What a run knows does not depend on which process shows it or continues it.

use std::{
    fs::{self, File},
    io::Write,
};

use ralph_core::engine::chain::Chain;
use serde_json::{Value, json};

use crate::env::{Env, done, meet, poll, say, shell, touch, write};

/// Leaves a process behind that is told apart by its number of seconds.
fn leave(seconds: u32) -> Value {
    let sleeps = "while ! grep -qsz '^sleep$' /proc/$!/cmdline; do sleep 0.01; done";
    shell(&format!("setsid sleep {seconds} >/dev/null 2>&1 & {sleeps}"))
}

#[test]
fn what_is_kept_is_reported_as_kept_by_every_process() {
    let env = Env::new()
        .turns(json!([[leave(311), say("Hm.")], [leave(312), say("Hm.")]]))
        .settings(json!({"leftovers": "keep"}));
    let kept = "Left behind by the agent, kept: ";
    env.run(&["-m", "1"]).exits(1).says(kept).says_not("the agent, ended");
    let on = format!("ralph resume {} --max-iterations 12", env.run_id());
    env.ralph(&["resume", "-m", "2"]).exits(1).says(kept).says_not("the agent, ended").prints(&on);
    for iteration in ["1", "2"] {
        let shown = env.ralph(&["logs", "--iteration", iteration]).exits(0).prints(kept).stdout;
        assert!(!shown.contains("the agent, ended"), "{shown}");
    }
    env.ralph(&["logs", "--iteration", "2"]).exits(0).prints(&on);
    let page = env.ralph(&["report", "--file", "-"]).exits(0).stdout;
    assert!(page.contains("Left behind after a turn, kept: <code>"), "{page}");
}

#[test]
fn what_is_ended_is_reported_as_ended() {
    let env = Env::new().turns(json!([[leave(313), say("Hm.")]]));
    env.run(&["-m", "1"]).exits(1).says("Left behind by the agent, ended: ");
    env.ralph(&["logs", "--iteration", "1"]).exits(0).prints("Left behind by the agent, ended: ");
    env.ralph(&["report", "--file", "-"]).exits(0).prints("Left behind after a turn, ended: <code>");
    env.nothing_left();
}

#[test]
fn the_session_log_reports_what_is_kept() {
    let env = Env::new().with_git().settings(json!({"leftovers": "keep"}));
    let env = env.turns(json!([[write("implementation_plan.md", "- [ ] Add"), leave(314), say("Hm.")]]));
    env.write("specs/sums.md", "It adds numbers.\n");
    env.ralph(&["plan", "1"]).exits(0);
    let log = fs::read_dir(env.path(".ralph/logs")).expect("logs").next().expect("a log").expect("a log");
    let log = fs::read_to_string(log.path()).expect("a log");
    assert!(log.contains("Left behind by the agent, kept: "), "{log}");
}

#[test]
fn an_agent_that_used_the_question_is_not_asked_after_a_resume() {
    let env = Env::new().with_git().commits().guardrails(&["grep -q good made.txt"]);
    let turns = ["good", "good again", "good, too"].map(|text| json!([write("made.txt", text), say("Hm.")]));
    let env = env.script(json!({
        "turns": turns,
        "text": [[write("made.txt", "BROKEN"), say("Make the thing")]],
    }));
    let changed = "files changed while the agent was asked for a commit message";
    env.run(&["-m", "1"]).exits(1).says(changed);
    assert_eq!(env.questions().len(), 1);
    env.ralph(&["resume", "-m", "2"]).exits(1).says_not(changed);
    env.ralph(&["resume", "-m", "3"]).exits(1).says_not(changed);
    assert_eq!(env.questions().len(), 1, "it was asked again");
    assert_eq!(env.git(&["show", "HEAD:made.txt"]), "good, too");
    let ends = env.events("commit_ended");
    assert_eq!(
        (&ends[0]["result"], &ends[0]["cause"]),
        (&json!("changed"), &json!("agent_asked")),
        "{ends:?}"
    );
}

#[test]
fn an_agent_is_not_asked_again_when_only_ralph_was_gone() {
    let env = Env::new().with_git().commits();
    let env = env.script(json!({
        "turns": [[write("made.txt", "good"), done()]],
        "text": [[say("Make the thing")]],
    }));
    // Git itself is at work when ralph dies: the commit was announced and is not made.
    env.program("slow-hook", "touch began; while ! test -e began.go; do sleep 0.01; done; exit 1");
    env.write(".git/hooks/pre-commit", "#!/bin/sh\nexec slow-hook\n");
    env.sh("chmod +x .git/hooks/pre-commit").exits(0);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    fs::remove_file(env.path(".git/hooks/pre-commit")).expect("a hook");
    fs::remove_file(env.path("began")).expect("a file");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.questions().len(), 1, "its answer was paid for already");
    assert_eq!(env.commits_made(), ["Make the thing", "first"]);
    let ends = env.events("commit_ended");
    assert_eq!(
        (&ends[0]["result"], &ends[0]["cause"]),
        (&json!("changed"), &json!("ralph_died")),
        "{ends:?}"
    );
}

#[test]
fn what_is_said_once_is_said_once_in_a_run() {
    let changed = "settings.json was changed during the run";
    let unmetered = "the agent is unmetered";
    let env = Env::new().agent("plain", "cat >/dev/null; echo >>.ralph/settings.json; echo Hm.");
    let env = env.settings(json!({"limits": {"maxTokens": 1000}}));
    env.run(&["-m", "1"]).exits(1).says(changed).says(unmetered);
    env.ralph(&["resume", "-m", "2"]).exits(1).says_not(changed).says_not(unmetered);
    let topics: Vec<Value> = env.events("warned").iter().map(|event| event["about"].clone()).collect();
    let count = |topic: &str| topics.iter().filter(|about| about["topic"] == topic).count();
    assert_eq!((count("settings_changed"), count("unmetered")), (1, 1), "{topics:?}");
}

#[test]
fn a_resume_reads_the_record_again_when_it_has_the_lock() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[one, two, done()], [done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    touch(&env.path("began.go"));

    // Another process still ends what is left of the run, and has its locks.
    let path = env.newest_run().join("journal.jsonl");
    let mut journal = fs::OpenOptions::new().append(true).open(&path).expect("a journal");
    let tree = File::open(env.project()).expect("a folder");
    journal.lock().expect("a lock");
    tree.lock().expect("a lock");
    let ralph = env.start(&["resume"]);
    // It has read the record by the time that it wants the tree.
    let folder = format!("/proc/{}/fd", ralph.pid());
    poll("ralph to want the tree", || {
        let mut open = fs::read_dir(&folder).into_iter().flatten().flatten();
        open.any(|fd| fs::read_link(fd.path()).is_ok_and(|it| it == env.project())).then_some(())
    });
    let end =
        json!({"at": "2026-01-01T00:00:00.000Z", "event": "run_ended", "outcome": "done", "exit_code": 0});
    let mut line = end.to_string().into_bytes();
    let text = fs::read(&path).expect("a journal");
    let last = text.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).expect("a line");
    Chain::after(last).expect("a chain").close(&mut line);
    line.push(b'\n');
    journal.write_all(&line).expect("a line");
    journal.unlock().expect("a lock");
    tree.unlock().expect("a lock");

    ralph.wait().exits(2).says(&format!("run {} is complete", env.run_id()));
    assert_eq!(env.prompts().len(), 1, "it went on with a run that had ended");
}
