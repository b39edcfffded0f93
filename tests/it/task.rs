//! Tasks: an agent that is kept going until it writes DONE.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::env::{Env, Output, RALPH, kill, pid_in, poll, touch};

/// A project whose agent is this shell script, started again without a rest. It keeps its prompts.
pub(crate) fn env(script: &str) -> Env {
    let keep = "n=$(ls prompts | wc -l); cat >prompts/$((n+1)); echo working";
    let env = Env::new().agent("worker", &format!("{keep}\n{script}"));
    fs::create_dir(env.path("prompts")).expect("a folder");
    env.settings(json!({"task": {"restartDelay": 0, "pollInterval": "10ms"}}))
}

/// `ralph task run --task t -p "Do it."` with more flags.
#[track_caller]
pub(crate) fn run(env: &Env, flags: &[&str]) -> Output {
    env.ralph(&[&["task", "run", "--task", "t", "-p", "Do it."], flags].concat())
}

/// How often the agent was started.
pub(crate) fn turns(env: &Env) -> usize {
    fs::read_dir(env.path("prompts")).expect("the prompts").count()
}

/// What is on the bus of the task: `TYPE body`.
#[track_caller]
pub(crate) fn bus(env: &Env) -> Vec<String> {
    messages(env, &["--task", "t"])
}

#[track_caller]
pub(crate) fn messages(env: &Env, whose: &[&str]) -> Vec<String> {
    let output = env.ralph(&[&["bus", "read", "--json"], whose].concat()).exits(0);
    let message = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
    let text = |message: Value| {
        format!("{} {}", message["type"].as_str().expect("a type"), message["body"].as_str().expect("a body"))
    };
    output.stdout.lines().map(|line| text(message(line))).collect()
}

#[track_caller]
pub(crate) fn says(messages: &[String], text: &str) {
    assert!(messages.iter().any(|message| message.contains(text)), "no {text:?} in {messages:#?}");
}

/// The task as `task list --json` has it.
#[track_caller]
pub(crate) fn listed(env: &Env) -> Value {
    let output = env.ralph(&["task", "list", "--json"]).exits(0);
    let line = output.stdout.lines().find(|line| line.contains("\"task\":\"t\"")).expect("the task");
    serde_json::from_str(line).expect("JSON")
}

/// The records of the task's runs, oldest first.
#[track_caller]
pub(crate) fn records(env: &Env) -> Vec<Value> {
    listed(env)["runs"].as_array().expect("runs").clone()
}

const FINISH: &str = "echo done >\"$TASK_FOLDER/DONE\"";

#[test]
fn what_is_done_is_not_started() {
    let env = env(FINISH);
    env.write(".ralph/tasks/t/DONE", "");
    run(&env, &[]).exits(0);
    assert_eq!(turns(&env), 0);
    says(&bus(&env), "INFO task completed (DONE marker present, no active children)");
    assert_eq!(listed(&env)["status"], "done");
}

#[test]
fn only_done_ends_it() {
    let env = env(&format!("if [ $RALPH_ITERATION = 2 ]; then {FINISH}; fi"));
    run(&env, &[]).exits(0).says("Agent exited with code 0, but it is not done, restarting (attempt 2/100)");
    assert_eq!(turns(&env), 2);
    assert_eq!(env.read(".ralph/tasks/t/TASK.md"), "Do it.");
    let (first, second) = (env.read("prompts/1"), env.read("prompts/2"));
    assert!(second.starts_with("Continue working on the following:\n"), "{second}");
    assert!(!first.contains("Continue working"), "{first}");
    let folder = env.path(".ralph/tasks/t");
    for text in [
        folder.display().to_string(),
        folder.join(format!("runs/{}", env.run_id())).display().to_string(),
        folder.join("TASK-MESSAGE-BUS.md").display().to_string(),
        " job -p".to_owned(),
        "$TASK_FOLDER/DONE".to_owned(),
    ] {
        assert!(first.contains(&text) && second.contains(&text), "no {text} in:\n{second}");
    }
    assert!(first.ends_with("\nDo it."), "{first}");
    // A new run of the same task goes on, too.
    fs::remove_file(env.path(".ralph/tasks/t/DONE")).expect("DONE");
    env.ralph(&["task", "run", "--task", "t"]).exits(0);
    assert!(env.read("prompts/3").starts_with("Continue working on the following:"));
    let records = records(&env);
    assert_eq!(records[1]["previous"], records[0]["run"]);
    env.nothing_left();
}

#[test]
fn a_directory_is_not_done() {
    let env = env("mkdir \"$TASK_FOLDER/DONE\"");
    env.write(".ralph/tasks/t/DONE/x", "");
    run(&env, &[]).exits(2).prints("DONE is a directory");
    assert_eq!(turns(&env), 0);
    env.ralph(&["task", "resume", "t"]).exits(2).says("DONE is a directory");
    fs::remove_dir_all(env.path(".ralph/tasks/t/DONE")).expect("a folder");
    run(&env, &[]).exits(2).prints("DONE is a directory");
    assert_eq!(turns(&env), 1);
}

#[test]
fn the_number_of_runs_is_limited() {
    let env = env("true");
    run(&env, &["--max-restarts", "1"]).exits(1);
    assert_eq!(turns(&env), 1);
    says(&bus(&env), "ERROR Attempt 1: Max restarts exceeded, stopping");
    assert_eq!((&records(&env)[0]["status"], &records(&env)[0]["exitCode"]), (&json!("failed"), &json!(1)));
    let env = env.settings(json!({"task": {"maxRestarts": 2}}));
    run(&env, &[]).exits(1);
    assert_eq!(turns(&env), 3);
    assert!(messages(&env, &["--project"]).is_empty());
}

#[test]
fn any_exit_code_goes_on() {
    let script = format!(
        "case $RALPH_ITERATION in 1) exit 7;; 2) kill -9 $$;; 3) exit 0;; 4) {FINISH}; exit 1;; esac"
    );
    let env = env(&script);
    run(&env, &[]).exits(0).says("Agent failed with exit code 7, restarting (attempt 2/100)");
    let bus = bus(&env);
    says(&bus, "INFO Starting agent (attempt 1/100)");
    says(&bus, "WARNING Agent failed with exit code 7, restarting (attempt 2/100)");
    says(&bus, "restarting (attempt 3/100)");
    says(&bus, "INFO Agent exited with code 0, but it is not done, restarting (attempt 4/100)");
    assert_eq!(turns(&env), 4);
    assert_eq!(env.events("turn_ended")[0]["code"], 7);
}

#[test]
fn what_cannot_heal_stops_before_the_first_run() {
    let env = env(FINISH);
    run(&env, &["--agent", "no-such-agent"]).exits(2).says("cannot find the agent");
    env.write("plain", "#!/bin/sh\n");
    run(&env, &["--agent", "./plain"]).exits(2).says("is not executable");
    run(&env, &["--max-restarts", "0"]).exits(2).says("task.maxRestarts");
    env.ralph(&["task", "run", "--task", "t"]).exits(2).says("task `t` has no text").says("-p");
    env.ralph(&["task", "run", "--task", "../x", "-p", "x"]).exits(2).says("expected letters");
    run(&env, &["-f", "x"]).exits(2);
    env.write("bad.json", "{\"task\": {\"maxRestarts\": \"many\"}}");
    run(&env, &["--config", "bad.json"]).exits(2).says("task.maxRestarts");
    assert!(env.runs().is_empty());
    assert_eq!(turns(&env), 0);
}

#[test]
fn the_text_of_a_task_is_never_overwritten() {
    let env = env(FINISH);
    env.write(".ralph/tasks/t/TASK.md", "The old text.\n");
    run(&env, &[]).exits(0).says("task `t` keeps the text that it has in TASK.md");
    assert_eq!(env.read(".ralph/tasks/t/TASK.md"), "The old text.\n");
    assert!(env.read("prompts/1").ends_with("The old text.\n"));
    // A file as well, and a name that is made.
    env.write("text.md", "# Mend the parser now, please\n");
    env.ralph(&["task", "run", "-f", "text.md"]).exits(0);
    let list = env.ralph(&["task", "list"]).exits(0).stdout;
    assert!(list.contains("-mend-the-parser") && list.contains("Mend the parser now, please"), "{list}");
}

#[track_caller]
fn check_pause(script: &str, reason: &str) -> Env {
    let env = env(&format!("test -e go && {{ {FINISH}; exit; }}\n{script}"));
    run(&env, &[]).exits(6).prints("Stopped").prints(reason).prints("continue with: ralph task resume t");
    env.ralph(&["status"]).exits(0).prints("continue with: ralph task resume t");
    assert_eq!(turns(&env), 1);
    assert_eq!(
        (&listed(&env)["status"], &records(&env)[0]["status"]),
        (&json!("stopped"), &json!("stopped"))
    );
    says(&bus(&env), "INFO Wait-without-restart signal detected");
    env
}

#[track_caller]
fn check_resume(env: &Env) {
    touch(&env.path("go"));
    env.ralph(&["task", "resume", "t"]).exits(0);
    assert_eq!(turns(env), 2);
    assert!(env.read("prompts/2").starts_with("Continue working on the following:"));
    assert!(!env.path(".ralph/tasks/t/WAIT_WITHOUT_RESTART").exists());
    says(&bus(env), "INFO task resumed");
}

#[test]
fn exit_code_42_waits_for_someone() {
    check_resume(&check_pause("exit 42", "the agent waits for a person"));
}

#[test]
fn a_marker_file_waits_for_someone() {
    let env = check_pause("touch \"$TASK_FOLDER/WAIT_WITHOUT_RESTART\"", "WAIT_WITHOUT_RESTART is there");
    // It still waits.
    env.ralph(&["task", "run", "--task", "t"]).exits(6);
    env.ralph(&["resume"]).exits(6);
    assert_eq!(turns(&env), 1);
    check_resume(&env);
}

#[test]
fn a_message_waits_for_someone() {
    let post = format!("'{RALPH}' bus post --type wait_without_restart --body 'Which colour?'");
    let env = check_pause(&post, "Stopped: the agent waits: Which colour?");
    // What was posted before the turn began does not count.
    check_resume(&env);
}

#[test]
fn an_old_message_does_not_count() {
    let env = env(&format!("test $RALPH_ITERATION = 2 && {FINISH}; exit 0"));
    fs::create_dir_all(env.path(".ralph/tasks/t")).expect("a folder");
    env.ralph(&["bus", "post", "--task", "t", "--type", "wait_without_restart", "--body", "old"]).exits(0);
    run(&env, &[]).exits(0);
    assert_eq!(turns(&env), 2);
}

/// A task of an agent that only a flag names, and that waits in its first turn.
fn begun_by_flags() -> Env {
    let env = env("test -e answer || exit 42; echo done >\"$TASK_FOLDER/DONE\"");
    let env = env.settings(json!({"agent": null}));
    run(&env, &["--agent", "worker", "--max-cost", "5", "--max-restarts", "7", "--limit-exit-code", "9"])
        .exits(6)
        .prints("continue with: ralph task resume t");
    env
}

#[test]
fn a_resumed_task_has_its_agent_and_its_flags() {
    let env = begun_by_flags();
    env.write("answer", "");
    // What agents can write is not asked which program to start.
    env.sh("sed -i 's/worker/forged/' .ralph/tasks/t/runs/*/run.json && grep forged .ralph/tasks/t/runs/*/run.json").exits(0);
    env.ralph(&["task", "resume", "t"]).exits(0);
    let started = |env: &Env| env.events("run_started").remove(0);
    let limits = |env: &Env| started(env)["plan"]["limits"].clone();
    assert_eq!(started(&env)["setup"]["agent"]["command"], "worker");
    assert_eq!(
        (&limits(&env)["max_cost"], &limits(&env)["max_iterations"], &limits(&env)["limit_exit_code"]),
        (&json!(5.0), &json!(7), &json!(9))
    );
    // What is said now wins, and is kept for the next time.
    env.program("other", "cat >/dev/null; echo done >\"$TASK_FOLDER/DONE\"");
    env.ralph(&["task", "resume", "t", "--agent", "other", "--max-cost", "6"]).exits(0);
    env.ralph(&["task", "resume", "t", "--max-tokens", "1000"]).exits(0);
    assert_eq!(started(&env)["setup"]["agent"]["command"], "other");
    assert_eq!(
        (&limits(&env)["max_cost"], &limits(&env)["max_tokens"], &limits(&env)["max_iterations"]),
        (&json!(6.0), &json!(1000), &json!(7))
    );
    // A task that is run and not resumed goes by the settings.
    env.ralph(&["task", "run", "--task", "t"]).exits(2).says("agent.command: missing");
}

#[test]
fn a_resumed_task_keeps_its_agent_though_the_settings_name_another() {
    let env = env("exit 42");
    run(&env, &[]).exits(6);
    env.program("other", "cat >/dev/null; echo done >\"$TASK_FOLDER/DONE\"");
    let env = env.settings(json!({"agent": {"command": "other", "flags": ["--x"]}}));
    env.ralph(&["task", "resume", "t"]).exits(6);
    let agent = &env.events("run_started")[0]["setup"]["agent"];
    assert_eq!((&agent["command"], &agent["flags"]), (&json!("worker"), &json!([])));
    env.ralph(&["task", "run", "--task", "t"]).exits(0);
}

#[test]
fn a_refused_resume_changes_nothing() {
    let env = begun_by_flags();
    for (spoil, mend, says) in [
        ("mv ../bin/worker ../bin/gone", "mv ../bin/gone ../bin/worker", "cannot find the agent `worker`"),
        (
            "mv .ralph/settings.json aside; echo nonsense >.ralph/settings.json",
            "mv aside .ralph/settings.json",
            "settings.json",
        ),
        ("mv .ralph/tasks/t/TASK.md aside", "mv aside .ralph/tasks/t/TASK.md", "TASK.md"),
        (
            "mkdir .ralph/tasks/t/WAIT_WITHOUT_RESTART",
            "rmdir .ralph/tasks/t/WAIT_WITHOUT_RESTART",
            "is a directory",
        ),
    ] {
        env.write(".ralph/tasks/t/DONE", "All of it.\n");
        env.sh(spoil).exits(0);
        let before = (bus(&env), env.runs());
        env.ralph(&["task", "resume", "t"]).exits(2).says(says);
        assert_eq!(env.read(".ralph/tasks/t/DONE"), "All of it.\n", "{spoil}");
        env.sh(mend).exits(0);
        assert_eq!((bus(&env), env.runs()), before, "{spoil}");
    }
    env.ralph(&["task", "resume", "t", "--sandbox", "docker"]).exits(2).says("docker");
    assert_eq!(env.read(".ralph/tasks/t/DONE"), "All of it.\n");
    env.write("answer", "");
    env.ralph(&["task", "resume", "t"]).exits(0);
    says(&bus(&env), "INFO task resumed (it was done)");
}

#[test]
fn a_task_that_is_done_may_be_resumed() {
    let env = env(FINISH);
    run(&env, &[]).exits(0);
    env.ralph(&["task", "resume", "t"]).exits(0);
    assert_eq!(turns(&env), 2);
    env.ralph(&["task", "resume", "x"]).exits(2).says("there is no task `x`");
    // Once for each time that it was done.
    let facts = messages(&env, &["--project"]);
    assert_eq!(facts, ["FACT task t completed", "FACT task t completed"]);
}

#[test]
fn completion_is_announced_once() {
    let env = env(FINISH);
    run(&env, &[]).exits(0);
    run(&env, &[]).exits(0);
    env.ralph(&["task", "run", "--task", "t"]).exits(0);
    assert_eq!(turns(&env), 1);
    assert_eq!(messages(&env, &["--project"]), ["FACT task t completed"]);
    let completed = bus(&env).iter().filter(|message| message.contains("task completed")).count();
    assert_eq!(completed, 1);
}

#[test]
fn a_silent_agent_is_ended_and_started_again() {
    let env = env(&format!("test $RALPH_ITERATION = 2 && {{ {FINISH}; exit; }}; exec sleep 330"));
    run(&env, &["--idle-timeout", "200ms"]).exits(0).says("printed nothing for 200ms");
    assert_eq!(turns(&env), 2);
    says(&bus(&env), "WARNING Agent failed: printed nothing for 200ms");
    env.nothing_left();
}

#[test]
fn an_agent_that_prints_now_and_then_is_not_ended() {
    let env = env(&format!("for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; echo $i; done; {FINISH}"));
    run(&env, &["--idle-timeout", "900ms"]).exits(0);
    assert_eq!(turns(&env), 1);
}

#[test]
fn a_turn_of_a_task_has_its_time() {
    let env = env(&format!(
        "test $RALPH_ITERATION = 2 && {{ {FINISH}; exit; }}; while :; do echo x; sleep 0.05; done"
    ));
    run(&env, &["--iteration-timeout", "200ms"]).exits(0).says("took longer than 200ms");
    env.nothing_left();
}

#[test]
fn the_agent_knows_where_it_is() {
    let env = env(&format!("env >environment; {FINISH}"));
    run(&env, &[]).exits(0);
    let (text, folder, id) = (env.read("environment"), env.path(".ralph/tasks/t"), env.run_id());
    let line = |name: &str, value: &str| format!("\n{name}={value}\n");
    for (name, value) in [
        ("TASK_FOLDER", folder.display().to_string()),
        ("RUN_FOLDER", folder.join("runs").join(&id).display().to_string()),
        ("MESSAGE_BUS", folder.join("TASK-MESSAGE-BUS.md").display().to_string()),
        ("RALPH_TASK_ID", "t".to_owned()),
        ("RALPH_RUN_ID", id.clone()),
        ("RALPH_MODE", "task".to_owned()),
        ("RALPH_MAX_ITERATIONS", "100".to_owned()),
    ] {
        assert!(format!("\n{text}").contains(&line(name, &value)), "no {name}={value} in:\n{text}");
    }
    assert!(!text.contains("RALPH_PARENT_RUN_ID"), "{text}");
    assert!(env.path(&format!(".ralph/tasks/t/runs/{id}/run.json")).exists());
    assert!(env.path(&format!(".ralph/tasks/t/runs/{id}/prompt_001.txt")).exists());
    let record = &records(&env)[0];
    for key in ["run", "task", "agent", "pid", "startedAt", "endedAt", "paths", "title"] {
        assert!(!record[key].is_null(), "no {key} in {record}");
    }
    assert_eq!(
        (&record["status"], &record["exitCode"], &record["turns"]),
        (&json!("completed"), &json!(0), &json!(1))
    );
}

#[test]
fn a_bus_that_cannot_be_written_stops_nothing() {
    let env = env(FINISH);
    fs::create_dir_all(env.path(".ralph/tasks/t/TASK-MESSAGE-BUS.md")).expect("a folder");
    fs::create_dir_all(env.path(".ralph/tasks/PROJECT-MESSAGE-BUS.md")).expect("a folder");
    let output = run(&env, &[]).exits(0).says("cannot tell others about this run");
    assert_eq!(output.stderr.matches("cannot tell others").count(), 1, "{}", output.stderr);
    assert_eq!(records(&env)[0]["status"], "completed");
}

#[test]
fn a_task_is_worked_on_by_one() {
    let env = env(&format!("touch began; while ! test -e go; do sleep 0.01; done; {FINISH}"));
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    let id = env.run_id();
    run(&env, &[]).exits(2).says(&format!("this task is being worked on: run {id}, process {}", ralph.pid()));
    env.ralph(&["task", "resume", "t"]).exits(2).says("task `t` is running");
    assert_eq!(env.runs().len(), 1, "the refused loop left a record");
    env.ralph(&["status"]).exits(0).prints("running").prints("task");
    assert_eq!(listed(&env)["status"], "running");
    let group = poll("the agent's group", || records(&env)[0]["group"].as_i64());
    assert!(fs::exists(format!("/proc/{group}")).unwrap_or(false));
    // Another task and a committing loop may work beside it.
    touch(&env.path("go"));
    ralph.wait().exits(0);
    env.nothing_left();
}

#[test]
fn tasks_take_no_lock_on_the_tree() {
    let env = env(&format!(
        "case $RALPH_MODE in run) echo '<response>DONE</response>'; exit;; esac
         touch began-$RALPH_TASK_ID; while ! test -e go; do sleep 0.01; done; {FINISH}"
    ));
    let first = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    let second = env.start(&["task", "run", "--task", "u", "-p", "x"]);
    env.await_file("began-t");
    env.await_file("began-u");
    env.run(&[]).exits(0);
    touch(&env.path("go"));
    first.wait().exits(0);
    second.wait().exits(0);
}

#[test]
fn signals_end_a_task() {
    let env = env(&format!(
        "touch began; while ! test -e go; do sleep 0.01; done; test -e last && {FINISH}; exit 0"
    ));
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    ralph.signal(Signal::INT);
    ralph.await_saying("Received signal");
    touch(&env.path("go"));
    ralph.wait().exits(130);
    assert_eq!((turns(&env), &records(&env)[0]["status"]), (1, &json!("stopped")));
    touch(&env.path("last"));
    // The journaled run goes on.
    env.ralph(&["resume"]).exits(0);
    assert_eq!((turns(&env), &records(&env)[0]["status"]), (2, &json!("completed")));
    assert_eq!(records(&env).len(), 1);
    assert!(env.read("prompts/2").starts_with("Continue working on the following:"));
}

#[test]
fn a_stop_ends_the_agent_and_the_task_is_not_started_again() {
    let env = env("trap 'echo ended >ended; exit 0' TERM; touch began; while :; do sleep 0.01; done");
    env.ralph(&["task", "stop", "t"]).exits(2).says("there is no task `t`");
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    env.ralph(&["task", "stop", "t"]).exits(0).prints(&format!("stopped task t: {}", env.run_id()));
    ralph.wait().exits(130);
    assert!(env.path("ended").exists(), "it had no time to clean up");
    assert_eq!((turns(&env), &records(&env)[0]["status"]), (1, &json!("stopped")));
    env.ralph(&["task", "stop", "t"]).exits(2).says("task `t` is not running");
    env.nothing_left();
}

#[test]
fn a_deaf_agent_is_killed_after_five_seconds_or_at_once() {
    let env = env("trap '' TERM INT; touch began; while :; do sleep 0.1; done");
    for (flags, at_least, at_most) in [(&["--force"][..], 0, 4), (&[], 5, 240)] {
        let _ = fs::remove_file(env.path("began"));
        let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
        env.await_file("began");
        let stop = env.ralph(&[&["task", "stop", "t"], flags].concat()).exits(0);
        ralph.wait().exits(130);
        let took = stop.took.as_secs();
        assert!((at_least..=at_most).contains(&took), "{took} s");
        env.nothing_left();
    }
}

#[test]
fn a_ralph_that_hangs_is_killed_with_its_agent() {
    let env = env("touch began; exec sleep 331");
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    ralph.signal(Signal::STOP);
    env.ralph(&["task", "stop", "t", "--force"]).exits(0);
    assert_eq!(ralph.wait().signal, Some(9));
    env.nothing_left();
    assert_eq!(records(&env)[0]["status"], "stopped");
}

#[test]
fn a_task_waits_for_others() {
    let env = env(&format!("echo $RALPH_TASK_ID >>order; {FINISH}"));
    let waiting = env.start(&["task", "run", "--task", "t", "-p", "x", "--depends-on", "first"]);
    waiting.await_saying("waiting for what must be done first: .ralph/tasks/first/DONE");
    assert_eq!(turns(&env), 0);
    env.ralph(&["task", "run", "--task", "first", "-p", "x"]).exits(0);
    waiting.wait().exits(0).says("there is no task `first` yet");
    assert_eq!(env.read("order"), "first\nt\n");
    assert_eq!(listed(&env)["dependsOn"], json!(["first"]));
    // Circles are refused, and nothing is started.
    let circle =
        |task: &str, on: &str| env.ralph(&["task", "run", "--task", task, "-p", "x", "--depends-on", on]);
    circle("first", "t").exits(2).says("`first` waits for `t` waits for `first`");
    circle("t", "t").exits(2).says("for ever");
    assert_eq!(env.read("order"), "first\nt\n");
}

#[test]
fn a_done_that_no_one_has_judged_is_not_waited_for() {
    let env = env(&format!("echo $RALPH_TASK_ID >>order; {FINISH}"));
    let judge = "touch judging; while ! test -e verdict; do sleep 0.01; done; test -e good";
    let first = env.start(&["task", "run", "--task", "first", "-p", "x", "-g", judge, "--max-restarts", "1"]);
    env.await_file("judging");
    assert!(env.path(".ralph/tasks/first/DONE").exists());
    let waiting = env.start(&["task", "run", "--task", "t", "-p", "x", "--depends-on", "first"]);
    waiting.await_saying("waiting for what must be done first: .ralph/tasks/first/DONE");
    // It is refuted, and the task comes to its end without one.
    touch(&env.path("verdict"));
    first.wait().exits(1);
    assert_eq!(env.read("order"), "first\n");
    touch(&env.path("good"));
    env.ralph(&["task", "run", "--task", "first", "-g", judge]).exits(0);
    waiting.wait().exits(0);
    assert_eq!(env.read("order"), "first\nfirst\nt\n");
}

#[test]
fn a_done_that_a_killed_run_left_is_not_judged_and_a_persons_is_good() {
    let env = env(&format!("echo $RALPH_TASK_ID >>order; {FINISH}"));
    let judge = "touch judging; while ! test -e verdict; do sleep 0.01; done";
    let first = env.start(&["task", "run", "--task", "first", "-p", "x", "-g", judge]);
    env.await_file("judging");
    first.kill_9();
    env.nothing_left();
    let waiting = env.start(&["task", "run", "--task", "t", "-p", "x", "--depends-on", "first"]);
    waiting.await_saying("waiting for what must be done first: .ralph/tasks/first/DONE");
    // Who writes it again means it.
    env.write(".ralph/tasks/first/DONE", "I looked at it.\n");
    waiting.wait().exits(0);
    assert_eq!(env.read("order"), "first\nt\n");
}

#[test]
fn a_signal_ends_the_wait_for_others() {
    let env = env(FINISH);
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x", "--depends-on", "never"]);
    ralph.await_saying("waiting for what must be done first");
    ralph.signal(Signal::TERM);
    ralph.wait().exits(130);
    // And so does a kill; the next start waits again.
    let ralph = env.start(&["task", "run", "--task", "t"]);
    ralph.await_saying("waiting for what must be done first");
    ralph.kill_9();
    env.nothing_left();
    env.write(".ralph/tasks/never/DONE", "");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(turns(&env), 1);
}

#[test]
fn a_task_killed_in_a_turn_is_started_again() {
    let env = env(&format!(
        "test -e again && {{ {FINISH}; exit; }}; setsid sleep 332 & echo $! >child; touch began; exec sleep 333"
    ));
    for resume in [&["task", "run", "--task", "t"][..], &["resume"]] {
        for name in ["again", "began", ".ralph/tasks/t/DONE"] {
            let _ = fs::remove_file(env.path(name));
        }
        let ralph = env.start(&["task", "run", "--task", "t", "-p", "Do it."]);
        env.await_file("began");
        ralph.kill_9();
        touch(&env.path("again"));
        // At once: the new loop waits until the old one is cleaned up.
        env.ralph(resume).exits(0);
        env.nothing_left();
        let records = records(&env);
        assert!(records.iter().all(|record| record["status"] != "running"), "{records:?}");
        assert_eq!(listed(&env)["status"], "done");
    }
    // The killed one is failed; the resumed one is complete.
    let statuses: Vec<Value> = records(&env).iter().map(|record| record["status"].clone()).collect();
    assert_eq!(statuses, ["failed", "completed", "completed"]);
}

#[test]
fn a_task_killed_in_a_rest_goes_on() {
    let env = env(&format!("test $RALPH_ITERATION = 2 && {FINISH}; exit 0"));
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "Do it.", "--restart-delay", "2s"]);
    env.await_file("prompts/1");
    poll("the rest", || env.events("wait_started").pop());
    ralph.kill_9();
    env.ralph(&["resume"]).exits(0);
    assert_eq!(turns(&env), 2);
}

#[test]
fn a_record_of_a_process_that_has_gone_is_put_right() {
    let env = env(FINISH);
    run(&env, &[]).exits(0);
    let path = format!(".ralph/tasks/t/runs/{}/run.json", env.run_id());
    let stale = || {
        // The number of a process that lives, but not of the one that it was.
        let mut record: Value = serde_json::from_str(&env.read(&path)).expect("a record");
        (record["status"], record["pid"]) = ("running".into(), std::process::id().into());
        env.write(&path, &record.to_string());
    };
    let put_right = || {
        let listed = records(&env)[0]["status"].clone();
        let kept: Value = serde_json::from_str(&env.read(&path)).expect("a record");
        assert_eq!(kept["status"], listed);
        listed
    };
    stale();
    assert_eq!(put_right(), "completed", "its journal tells the end");
    let journal = env.newest_run().join("journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    let cut = text.trim_end().rfind('\n').expect("lines") + 1;
    fs::write(&journal, &text[..cut]).expect("a journal");
    stale();
    assert_eq!(put_right(), "failed");
}

#[test]
fn the_list_shows_every_task() {
    let env = env(FINISH);
    env.ralph(&["task", "list"]).exits(0).prints("no tasks yet");
    run(&env, &[]).exits(0);
    env.write(".ralph/tasks/other/TASK.md", "# Another thing\n");
    let list = env.ralph(&["task", "list"]).exits(0).stdout;
    assert!(list.contains("done     t  1 turn") && list.contains("new      other"), "{list}");
    assert!(list.contains("Another thing"), "{list}");
    env.ralph(&["task", "list", "--tree"]).exits(0).prints(&format!("  completed {}", env.run_id()));
}

#[test]
fn stop_lets_the_turn_of_a_task_finish() {
    let env = env("touch began; while ! test -e go; do sleep 0.01; done");
    let ralph = env.start(&["task", "run", "--task", "t", "-p", "x"]);
    env.await_file("began");
    env.ralph(&["stop"]).exits(0).prints(&env.run_id());
    ralph.await_saying("Received signal");
    touch(&env.path("go"));
    ralph.wait().exits(130);
    assert_eq!(turns(&env), 1);
}

#[test]
fn a_sleeping_leftover_of_a_task_is_still_a_leftover() {
    let env = env(&format!("setsid sleep 334 & echo $! >left.pid; {FINISH}"));
    run(&env, &[]).exits(0).says("Left behind");
    let left = pid_in(&env.path("left.pid")).expect("a number");
    assert!(!fs::exists(format!("/proc/{left}")).unwrap_or(true));
    kill(left, Signal::KILL);
    env.nothing_left();
}
