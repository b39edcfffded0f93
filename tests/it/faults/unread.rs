//! Output that no one reads: a pager that waits, a terminal after Ctrl-S, a connection that was lost. Nothing of a run waits for
//! its reader, and the record has everything.

use std::{
    fs,
    io::{PipeReader, Read, pipe},
    path::PathBuf,
    process::Child,
};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    env::{Env, RALPH, kill, lossy, poll, touch},
    pty,
};

/// As many lines of an agent are more than a queue and a pipe hold.
const LINES: usize = 250_000;
/// As many failed guardrails are more than a queue holds.
const ITERATIONS: usize = 32;
const LINE: &str = "a line of forty characters and its end..";

/// An agent that prints much and is done.
fn chatty() -> Env {
    let agent = format!(
        "cat >/dev/null; yes '{LINE}' | head -n {LINES}; touch said; echo '<response>DONE</response>'"
    );
    Env::new().agent("chatty", &agent).guardrails(&["touch checked; until test -e go; do sleep 0.01; done"])
}

/// An agent that never stops to print.
fn endless() -> Env {
    Env::new().agent("endless", &format!("cat >/dev/null; touch began; exec yes '{LINE}'"))
}

/// Starts ralph with a stream that no one reads.
fn unread(env: &Env, args: &[&str], stream: &str) -> (Child, PipeReader) {
    let (reader, writer) = pipe().expect("a pipe");
    let mut command = env.command(RALPH);
    let nothing = || fs::File::create(env.root().join("nothing")).expect("a file");
    match stream {
        "stderr" => command.stdout(nothing()).stderr(writer),
        "stdout" => command.stderr(nothing()).stdout(writer),
        _ => command.stderr(writer.try_clone().expect("a pipe")).stdout(writer),
    };
    (command.args(args).spawn().expect("ralph"), reader)
}

#[track_caller]
fn ends(env: &Env, mut ralph: Child, code: i32) {
    let status = poll("the end of a run that no one looks at", || ralph.try_wait().expect("a child"));
    assert_eq!(status.code(), Some(code));
    env.nothing_left();
}

/// What the agent of the first turn printed, as the record has it.
fn recorded(env: &Env) -> Vec<u8> {
    let stream = |run: PathBuf| fs::read(run.join("turns/0001.1/agent.ndjson")).ok();
    env.runs().pop().and_then(stream).unwrap_or_default()
}

fn recorded_lines(env: &Env) -> usize {
    recorded(env).split(|byte| *byte == b'\n').count() - 1
}

#[test]
fn a_run_that_no_one_reads_ends_as_it_would() {
    for stream in ["stderr", "both"] {
        let env = chatty();
        touch(&env.path("go"));
        let (ralph, reader) = unread(&env, &["run", "-p", "x", "--no-baseline"], stream);
        ends(&env, ralph, 0);
        assert_eq!(recorded_lines(&env), LINES + 1, "the record is not whole");
        assert!(env.path("checked").exists());
        drop(reader);
    }
}

#[test]
fn who_reads_again_is_told_what_was_missed_and_how_it_ended() {
    let env = chatty();
    let (ralph, mut reader) = unread(&env, &["run", "-p", "x", "--no-baseline"], "both");
    // The agent has ended: everything it said is in the queue by now, or was in it.
    env.await_file("checked");
    touch(&env.path("go"));
    let mut text = Vec::new();
    reader.read_to_end(&mut text).expect("the stream");
    ends(&env, ralph, 0);
    let text = lossy(&text);
    let note = text.lines().find(|line| line.contains("were not shown")).expect("a line that says so");
    assert!(note.contains("no one read this output; `ralph logs` has everything"), "{note}");
    let missed: usize =
        note.split(' ').find_map(|word| word.replace(',', "").parse().ok()).expect("a number");
    let shown = text.lines().filter(|line| *line == LINE).count();
    assert!(LINES <= shown + missed + 2 && shown < LINES, "{shown} of {LINES} shown, {note}");
    assert!(text.contains("Complete"), "{}", &text[text.len().saturating_sub(500)..]);
}

#[test]
fn limits_and_signals_work_while_no_one_reads() {
    let env = endless();
    let (ralph, reader) = unread(&env, &["run", "-p", "x", "--max-time", "2s", "--retries", "0"], "both");
    ends(&env, ralph, 1);
    drop(reader);

    let env = endless();
    let (ralph, reader) = unread(&env, &["run", "-p", "x"], "both");
    env.await_file("began");
    poll("much output", || (10_000_000 < recorded(&env).len()).then_some(()));
    for _ in 0..2 {
        kill(ralph.id().cast_signed(), Signal::INT);
        poll("the record", || (!env.events("stop_requested").is_empty()).then_some(()));
    }
    ends(&env, ralph, 130);
    drop(reader);
}

#[test]
fn a_terminal_that_is_held_does_not_hold_the_run() {
    let env = chatty();
    touch(&env.path("go"));
    let mut command = env.command(RALPH);
    let (terminal, ralph) =
        pty::unwatched(command.args(["run", "-p", "x", "--no-baseline"]).env("TERM", "xterm"));
    ends(&env, ralph, 0);
    assert_eq!(recorded_lines(&env), LINES + 1);
    drop(terminal);
}

#[test]
fn events_that_no_one_reads_are_counted_by_an_event() {
    // Each failure of a guardrail is an event with its output: together they are more than the queue holds.
    let env = Env::new().agent("idle", "cat >/dev/null; date +%N >>changed; echo Hm.").settings(json!({
        "outputTruncateChars": 400_000,
        "limits": {"stuckAfter": 0},
        "guardrails": [{"command": format!("echo x >>count; test $(wc -l <count) -lt {ITERATIONS} || until test -e go; do sleep 0.01; done; \
             date +%N; yes 0123456789 | head -c 390000; false")}],
    }));
    let count = ITERATIONS.to_string();
    let args = ["run", "-p", "x", "-m", &count, "--output", "json", "--no-baseline"];
    let (ralph, mut reader) = unread(&env, &args, "stdout");
    let is_last = || fs::read_to_string(env.path("count")).is_ok_and(|it| it.len() == 2 * ITERATIONS);
    poll("the last iteration", || is_last().then_some(()));
    touch(&env.path("go"));
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("the stream");
    ends(&env, ralph, 1);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let is_note = |event: &&Value| event["text"].as_str().is_some_and(|text| text.contains("not shown"));
    assert_eq!(lines.iter().filter(is_note).count(), 1, "{} lines", lines.len());
    assert!(lines.len() < env.journal().len());
    assert_eq!(lines.last().expect("an event")["event"], "run_ended");
}
