//! What a person at a terminal sees: the status line comes, and leaves nothing behind.

use rexpect::session::spawn_command;
use serde_json::json;

use crate::env::{Env, RALPH, done, meet, say, touch};

/// Longer than anything here takes, in milliseconds.
const PATIENCE: Option<u64> = Some(240_000);
/// How the status line begins, after its mark.
const STATUS: &str = " iteration 1 of 10";

/// What was written, as text: the terminal of these tests takes every byte for a character.
fn decoded(written: &str) -> String {
    let bytes: Vec<u8> = written.chars().map(|c| u8::try_from(c).expect("a byte")).collect();
    String::from_utf8(bytes).expect("text")
}

/// What is on the screen after all this was written on it, without colour.
fn screen(written: &str) -> String {
    let mut lines = vec![String::new()];
    for piece in written.split_inclusive(['\r', '\n']) {
        let (text, end) = piece.split_at(piece.trim_end_matches(['\r', '\n']).len());
        let last = lines.last_mut().expect("a line");
        match text.strip_prefix("\u{1b}[J") {
            Some(rest) => rest.clone_into(last),
            None => last.push_str(text),
        }
        if end == "\n" {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

#[test]
fn the_status_line_comes_and_goes() {
    let [one, two] = meet("began");
    let tool = json!({"tool": {"name": "Bash", "input": {"command": "make"}, "output": "ok"}});
    let env = Env::new()
        .turns(json!([[say("Some words."), tool, one, two, done()]]))
        .guardrails(&["true"])
        .variable("TERM", "xterm")
        .variable("NO_COLOR", "1");
    let mut command = env.command(RALPH);
    command.args(["run", "-p", "x"]);
    let mut terminal = spawn_command(command, PATIENCE).expect("a terminal");
    let mut written = terminal.exp_string(STATUS).expect("the status line");
    written.push_str(STATUS);
    env.await_file("began");
    // A second later, though nothing has happened.
    for time in [" 1s ", " 2s "] {
        written.push_str(&terminal.exp_string(time).expect("a later status line"));
        written.push_str(time);
    }
    touch(&env.path("began.go"));
    written.push_str(&terminal.exp_eof().expect("the end"));

    let screen = screen(&decoded(&written));
    for wanted in
        ["Some words.\n⏺ Bash(make)\n✅ Result ← Bash", "DONE</response>\nturn 1: ", "\n✅ Complete: "]
    {
        assert!(screen.contains(wanted), "expected {wanted:?} in:\n{screen}");
    }
    assert!(!screen.contains('●') && !screen.contains('\u{1b}'), "something is left:\n{screen}");
}

#[test]
fn nothing_moves_where_no_one_looks() {
    let quiet = |flags: &[&str], term: &str| {
        let env = Env::new().turns(json!([[say("Words."), done()]])).variable("TERM", term);
        let mut command = env.command(RALPH);
        command.args(["run", "-p", "x", "--color", "never"]).args(flags);
        decoded(&spawn_command(command, PATIENCE).expect("a terminal").exp_eof().expect("the end"))
    };
    for (flags, term) in [(&["--quiet"][..], "xterm"), (&[], "dumb")] {
        let written = quiet(flags, term);
        assert!(!written.contains(STATUS) && !written.contains('\u{1b}'), "{written}");
        assert!(written.contains("✅ Complete: "), "{written}");
    }
    let env = Env::new().turns(json!([[done()]])).variable("TERM", "xterm");
    env.run(&[]).exits(0).says_not(STATUS).says_not("\u{1b}");
}

#[test]
fn quiet_leaves_what_is_wrong() {
    let env = Env::new().turns(json!([[say("Words."), json!({"exit": 3})], [done()]])).guardrails(&["true"]);
    let output =
        env.ralph(&["run", "-q", "-p", "Say <response>DONE</response>."]).exits(0).says("The agent failed: ");
    let output = output.says_not("Words.").says_not("Iteration");
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert!(output.stdout.contains("Complete"), "{}", output.stdout);
    env.run(&["-q", "-V"]).exits(2).says("cannot be used with");
}

#[test]
fn lines_begin_with_the_time() {
    let env = Env::new().turns(json!([[say("One.\nTwo."), done()]]));
    let output = env.run(&["--timestamps"]).exits(0);
    let is_stamped = |line: &&str| line.starts_with('[') && line.get(9..11) == Some("] ");
    let odd: Vec<&str> = output.stderr.lines().filter(|line| !is_stamped(line)).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn a_locale_without_unicode_gets_ascii() {
    let env = Env::new().turns(json!([[done()]])).guardrails(&["true"]).variable("LC_ALL", "C");
    let output = env.run(&[]).exits(0).says("[OK] Guardrail passed: true").says("-- Iteration 1 of 10 --");
    assert!(output.stderr.is_ascii() && output.stdout.is_ascii(), "{}{}", output.stderr, output.stdout);
    let env = env.settings(json!({"output": {"emoji": true}}));
    env.run(&[]).exits(0).says("✅ Guardrail passed: true");
}
