//! Children of a task's agent: who waits for them, who ends them, and who does not.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    env::{Env, RALPH, journal_of, kill, pid_in, poll, touch},
    task::{bus, env, listed, records, run, says, turns},
};

const FINISH: &str = "echo done >\"$TASK_FOLDER/DONE\"";

/// An agent that starts a child in its first turn, and says DONE at once. The child waits for the file `go`.
fn parent(start: &str) -> Env {
    env(&format!(
        "if [ $RALPH_MODE = job ]; then echo $$ >child.pid; touch began; while ! test -e go; do sleep 0.01; done; \
         touch child-done; exit 0; fi\n{start}\n{FINISH}"
    ))
}

fn detached() -> String {
    format!("'{RALPH}' job -p 'Do a part.' --detach >child.id || exit 1")
}

/// The record of the child.
#[track_caller]
fn child(env: &Env) -> Value {
    records(env).into_iter().find(|record| record["role"] == "child").expect("a child")
}

fn is_alive(pid: &Value) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn a_task_is_complete_when_its_children_have_ended() {
    let env = parent(&detached());
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    ralph.await_saying("Waiting until child runs have ended");
    assert_eq!(child(&env)["status"], "running");
    assert_eq!(child(&env)["run"], env.read("child.id").trim());
    touch(&env.path("go"));
    ralph.wait().exits(0).says_not("Left behind");
    assert!(env.path("child-done").exists());
    assert_eq!((turns(&env), &child(&env)["status"]), (2, &json!("completed")));
    let bus = bus(&env);
    says(&bus, "child run");
    says(&bus, "task completed (DONE marker present, no active children)");
    let parent = records(&env).into_iter().find(|record| record["role"] == "root").expect("a parent");
    assert_eq!(child(&env)["parent"], parent["run"]);
    let tree = env.ralph(&["task", "list", "--tree"]).exits(0).stdout;
    assert!(tree.contains(&format!("\n    completed {}", env.read("child.id").trim())), "{tree}");
    env.nothing_left();
}

#[test]
fn a_task_whose_child_takes_too_long_is_not_done() {
    let env = parent(&format!("test -e child.id || {{ {}; }}", detached()));
    run(&env, &["--child-wait-timeout", "300ms", "--max-restarts", "2"])
        .exits(1)
        .says("child runs still at work after 300ms")
        .says("child runs still at work when the task stops, ended")
        .says_not("Guardrail passed: child runs have ended");
    let id = env.read("child.id").trim().to_owned();
    let messages = bus(&env);
    says(&messages, &format!("WARNING child runs still at work after 300ms: {id} (Do a part.)"));
    says(
        &messages,
        &format!("WARNING child runs still at work when the task stops, ended: {id} (Do a part.)"),
    );
    assert!(!messages.iter().any(|message| message.contains("task completed")), "{messages:?}");
    assert!(env.path(".ralph/tasks/t/DONE.refuted-2").exists() && !env.path(".ralph/tasks/t/DONE").exists());
    let told: Vec<String> = (1..=3).map(|nth| env.read(&format!("prompts/{nth}"))).collect();
    let who = format!("runs that you started are still at work: {id} (Do a part.)");
    assert!(told.iter().any(|prompt| prompt.contains(&who)), "{told:?}");
    assert_eq!(child(&env)["status"], "stopped");
    assert!(!env.path("child-done").exists());
    let journal = journal_of(&env.runs()[0]);
    let outlived = journal.iter().find(|event| event["event"] == "children_outlived").expect("an event");
    assert_eq!(outlived["children"], json!([{"run": id, "title": "Do a part."}]));
    env.nothing_left();
}

#[test]
fn children_of_a_stopped_task_are_ended_or_kept() {
    for (flags, status) in [(&[][..], "stopped"), (&["--keep-children"], "completed")] {
        let script = format!("{}; touch second; while ! test -e go; do sleep 0.01; done", detached());
        let env = parent(&script);
        let ralph = env.start(&[&["task", "run", "--task", "t", "-p", "x"], flags].concat());
        env.await_file("began");
        env.await_file("second");
        ralph.signal(Signal::TERM);
        ralph.await_saying("shutting down");
        ralph.signal(Signal::TERM);
        let word = if flags.is_empty() { "ended" } else { "left at work" };
        ralph.wait().exits(130).says(&format!("child runs still at work when the task stops, {word}: "));
        assert_eq!(is_alive(&child(&env)["pid"]), !flags.is_empty());
        touch(&env.path("go"));
        poll("the end of the child", || (child(&env)["status"] == status).then_some(()));
        assert_eq!(env.path("child-done").exists(), !flags.is_empty());
        env.nothing_left();
    }
}

#[test]
fn a_task_that_keeps_its_children_does_not_wait_for_them() {
    let env = parent(&format!("{}; while ! test -e began; do sleep 0.01; done", detached()));
    run(&env, &["--keep-children"])
        .exits(0)
        .says("child runs still at work when the task stops, left at work");
    assert!(is_alive(&child(&env)["pid"]));
    touch(&env.path("go"));
    poll("the end of the child", || (child(&env)["status"] == "completed").then_some(()));
    env.nothing_left();
}

#[test]
fn who_waits_for_children_leaves_them_at_work() {
    let env = parent(&format!("{}; while ! test -e began; do sleep 0.01; done; exit 42", detached()));
    run(&env, &[]).exits(6).says_not("child runs still at work");
    assert!(is_alive(&child(&env)["pid"]));
    touch(&env.path("go"));
    poll("the end of the child", || (child(&env)["status"] == "completed").then_some(()));
    env.nothing_left();
}

#[test]
fn a_silent_success_with_done_is_a_success() {
    let mute = |script: &str| {
        let env = Env::new().agent("worker", &format!("cat >/dev/null\n{script}"));
        env.settings(json!({"task": {"restartDelay": 0, "pollInterval": "10ms"}}))
    };
    let env = mute(FINISH);
    run(&env, &[]).exits(0).says_not("Agent failed").says_not("said nothing");
    assert_eq!(env.events("turn_ended")[0]["end"]["how"], "finished");
    assert!(!bus(&env).iter().any(|message| message.contains("Agent failed")), "{:?}", bus(&env));
    // Without the file it is as silent as ever.
    let env = mute("true");
    run(&env, &["--max-restarts", "1"]).exits(1).says("said nothing");
    // Who fails is not asked what it wrote.
    let env = mute(&format!("{FINISH}; exit 1"));
    run(&env, &[]).exits(0).says("Agent failed with exit code 1");
}

#[test]
fn a_child_that_was_killed_is_not_waited_for() {
    let env = parent(&detached());
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    ralph.await_saying("Waiting until child runs have ended");
    let pid = child(&env)["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()).expect("a number");
    kill(pid, Signal::KILL);
    ralph.wait().exits(0);
    assert_eq!(child(&env)["status"], "failed");
    // Its own guardian has ended its agent.
    env.nothing_left();
    assert!(!env.path("child-done").exists());
}

#[test]
fn children_of_children_are_waited_for() {
    // The child ends at once, and starts another one before that.
    let script = format!(
        "case $RALPH_MODE in job)
           if grep -q 'The second' prompts/* && test -e first-done; then
             touch began; while ! test -e go; do sleep 0.01; done; touch second-done; exit 0; fi
           while ! test -e start; do sleep 0.01; done
           touch first-done; '{RALPH}' job -p 'The second.' --detach; exit 0;;
         esac
         '{RALPH}' job -p 'The first.' --detach || exit 1; {FINISH}"
    );
    let env = env(&script);
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    ralph.await_saying("Waiting until child runs have ended");
    // Born while its grandparent is waiting.
    touch(&env.path("start"));
    env.await_file("began");
    poll("the end of the first", || {
        records(&env).iter().any(|it| it["role"] == "child" && it["status"] == "completed").then_some(())
    });
    touch(&env.path("go"));
    ralph.wait().exits(0);
    assert!(env.path("second-done").exists());
    let records = records(&env);
    assert_eq!(records.len(), 3);
    assert_eq!(records[2]["parent"], records[1]["run"]);
    assert_eq!(records[1]["parent"], records[0]["run"]);
    env.nothing_left();
}

#[test]
fn a_child_outlives_the_turn_that_started_it() {
    // In the background of a shell, in the agent's own session.
    let script = format!(
        "case $RALPH_MODE in job) touch began; while ! test -e go; do sleep 0.01; done; touch child-done; exit 0;; esac
         if [ $RALPH_ITERATION = 1 ]; then
           '{RALPH}' job -p 'Do a part.' >job.out 2>&1 & while ! test -e began; do sleep 0.01; done; exit 0
         fi
         touch second; while ! test -e go; do sleep 0.01; done; {FINISH}"
    );
    let env = env(&script);
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("second");
    assert_eq!(child(&env)["status"], "running");
    assert!(is_alive(&child(&env)["pid"]));
    touch(&env.path("go"));
    ralph.wait().exits(0).says_not("Left behind");
    assert!(env.path("child-done").exists());
    assert_eq!(child(&env)["status"], "completed");
    env.nothing_left();
}

#[test]
fn a_child_outlives_a_turn_that_is_killed() {
    let script = format!(
        "case $RALPH_MODE in job) touch began; while ! test -e go; do sleep 0.01; done; touch child-done; exit 0;; esac
         if [ $RALPH_ITERATION = 1 ]; then trap '' TERM; '{RALPH}' job -p 'Do a part.'; exec sleep 340; fi
         touch go; {FINISH}"
    );
    let env = env(&script);
    run(&env, &["--iteration-timeout", "1s"]).exits(0).says("took longer than 1s").says_not("Left behind");
    assert!(env.path("child-done").exists());
    assert_eq!(child(&env)["status"], "completed");
    env.nothing_left();
}

#[test]
fn a_child_outlives_a_killed_ralph_and_is_waited_for_by_the_next() {
    let env = parent(&detached());
    for resume in [&["task", "run", "--task", "t"][..], &["resume"]] {
        for name in ["go", "began", ".ralph/tasks/t/DONE"] {
            let _ = fs::remove_file(env.path(name));
        }
        let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
        env.await_file("began");
        ralph.await_saying("Waiting until child runs have ended");
        let id = env.read("child.id").trim().to_owned();
        ralph.kill_9();
        let status = || -> Value {
            records(&env).iter().find(|it| it["run"] == *id).expect("the child")["status"].clone()
        };
        let next = env.start(resume);
        next.await_saying("Waiting until child runs have ended");
        assert_eq!(status(), "running", "it was ended with its parent");
        touch(&env.path("go"));
        next.wait().exits(0);
        assert_eq!(status(), "completed");
        env.nothing_left();
    }
}

#[test]
fn a_child_outlives_a_ralph_that_is_killed_while_its_agent_waits_for_it() {
    let env = parent(&format!("echo $$ >agent.pid; '{RALPH}' job -p 'Do a part.'; touch agent-went-on"));
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    let agent = json!(pid_in(&env.path("agent.pid")).expect("a number"));
    poll("the end of the agent", || (!is_alive(&agent)).then_some(()));
    // The guardian is done when no process of the run is left; the child is of another run.
    poll("the end of the guardian", || {
        let parent = records(&env)[0]["run"].as_str().expect("an id").to_owned();
        env.alive().iter().all(|(_, line)| !line.contains(&format!("guardian\0{parent}\0"))).then_some(())
    });
    assert_eq!(child(&env)["status"], "running", "it was ended with its parent");
    touch(&env.path("go"));
    poll("the end of the child", || (child(&env)["status"] == "completed").then_some(()));
    assert!(env.path("child-done").exists() && !env.path("agent-went-on").exists());
    env.nothing_left();
}

#[test]
fn a_stop_of_the_task_ends_its_children() {
    let env = parent(&detached());
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    ralph.await_saying("Waiting until child runs have ended");
    let id = env.read("child.id").trim().to_owned();
    env.ralph(&["task", "stop", "t"]).exits(0).prints(&id);
    ralph.wait().exits(130);
    assert!(records(&env).iter().all(|record| record["status"] == "stopped"), "{:?}", records(&env));
    env.nothing_left();
}

#[test]
fn a_signal_ends_the_wait_for_children_and_the_children() {
    let env = parent(&detached());
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    ralph.await_saying("Waiting until child runs have ended");
    ralph.signal(Signal::INT);
    ralph.wait().exits(130).says("child runs still at work when the task stops, ended");
    assert_eq!(child(&env)["status"], "stopped");
    env.nothing_left();
    env.ralph(&["task", "run", "--task", "t"]).exits(0);
    env.nothing_left();
}

#[test]
fn a_job_that_is_waited_for_says_how_it_went() {
    let script = format!(
        "case $RALPH_MODE in job) echo 'My part is done.'; env >job.environment; exit $(cat code);; esac
         '{RALPH}' job -p 'Do a part.' >job.out 2>job.err; echo $? >job.code; {FINISH}"
    );
    let env = env(&script);
    for (code, exit, status) in [("0", "4", "failed"), ("1", "4", "failed"), ("42", "6", "stopped")] {
        let exit = if code == "0" { "0" } else { exit };
        let status = if code == "0" { "completed" } else { status };
        env.write("code", code);
        let _ = fs::remove_file(env.path(".ralph/tasks/t/DONE"));
        run(&env, &[]).exits(0);
        assert_eq!(env.read("job.code").trim(), exit);
        let child = records(&env).into_iter().rfind(|it| it["role"] == "child").expect("a child");
        assert_eq!((&child["status"], &child["title"]), (&json!(status), &json!("Do a part.")));
    }
    assert!(env.read("job.err").contains("My part is done."), "{}", env.read("job.err"));
    let environment = env.read("job.environment");
    let records = records(&env);
    let child = records.last().expect("a child");
    for (name, value) in [("RALPH_RUN_ID", &child["run"]), ("RALPH_PARENT_RUN_ID", &child["parent"])] {
        let line = format!("{name}={}\n", value.as_str().expect("an id"));
        assert!(environment.contains(&line), "no {line} in {environment}");
    }
    let prompt = env.read("prompts/2");
    assert!(prompt.contains("Do not write the file DONE") && prompt.ends_with("Do a part."), "{prompt}");
    env.nothing_left();
}

#[test]
fn a_job_needs_a_task_and_an_agent() {
    let env = env(FINISH);
    env.ralph(&["job", "-p", "x"]).exits(2).says("there is no task that this job belongs to");
    env.ralph(&["job", "-p", "x", "--task", "t"]).exits(2).says("there is no task `t`");
    fs::create_dir_all(env.path(".ralph/tasks/t")).expect("a folder");
    env.ralph(&["job", "--task", "t"]).exits(2).says("there is no prompt");
    env.ralph(&["job", "--task", "t", "-p", " "]).exits(2).says("the prompt is empty");
    for detach in [&[][..], &["--detach"]] {
        let flags = [&["job", "--task", "t", "-p", "x", "--agent", "no-such"], detach].concat();
        env.ralph(&flags).exits(2).says("cannot find the agent `no-such`");
    }
    assert!(
        records(&env).iter().all(|it| it["status"] == "failed" && it["exitCode"] == 2),
        "{:?}",
        records(&env)
    );
    assert!(env.runs().is_empty());
    // By hand, beside the loop or without it.
    env.ralph(&["job", "--task", "t", "-p", "x"]).exits(0);
    assert_eq!(records(&env).last().expect("a run")["status"], "completed");
    assert_eq!(listed(&env)["status"], "done");
}

#[test]
fn a_child_is_not_what_resume_means() {
    let script = format!(
        "case $RALPH_MODE in job) exit 1;; esac
         '{RALPH}' job -p 'Do a part.'; test $RALPH_ITERATION = 2 && {FINISH}; exit 0"
    );
    let env = env(&script);
    run(&env, &["--max-restarts", "1"]).exits(1);
    env.ralph(&["resume"]).exits(2).says("at its limit of iterations");
    env.ralph(&["resume", "-m", "2"]).exits(0).says("Resumed at iteration 2 of 2");
}

#[test]
fn a_forged_record_does_not_choose_whom_ralph_ends() {
    let env = parent(&detached());
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    let mut victim = env.command("sleep").arg("300").spawn().expect("a process");
    let stat = fs::read_to_string(format!("/proc/{}/stat", victim.id())).expect("a process");
    let started: u64 =
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(19)?.parse().ok()).expect("a time");
    let mut forged = child(&env);
    (forged["run"], forged["pid"], forged["pidStarted"]) =
        (json!("20260101-000000-0000"), json!(victim.id()), json!(started));
    let folder = env.path(".ralph/tasks/t/runs/20260101-000000-0000");
    forged["paths"]["folder"] = json!(folder);
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("run.json"), forged.to_string()).expect("a file");
    env.ralph(&["task", "stop", "t"]).exits(0);
    assert!(is_alive(&json!(victim.id())));
    victim.kill().expect("it lives");
    victim.wait().expect("it ends");
    ralph.wait().exits(130);
}
