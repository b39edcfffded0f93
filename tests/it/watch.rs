//! `ralph watch` in a terminal: what is on the screen, and what it leaves behind.

use rustix::process::Signal;
use serde_json::json;

use crate::{
    env::{Env, RALPH, done, kill, meet, poll, say, touch},
    pty::{Pty, ROWS},
};

const COLUMNS: u16 = 100;

/// A project whose agent speaks, and then waits for `began.go`.
fn waiting() -> Env {
    let [one, two] = meet("began");
    let tool = json!({"tool": {"name": "Bash", "input": {"command": "make"}, "output": "ok"}});
    Env::new()
        .turns(json!([[say("Some words.\u{1b}[2J\u{1b}]0;evil\u{7}"), tool, one, two, done()]]))
        .guardrails(&["true"])
        .variable("TERM", "xterm-256color")
}

fn watch(env: &Env, args: &[&str]) -> Pty {
    let mut command = env.command(RALPH);
    command.args(args);
    Pty::sized(&mut command, COLUMNS)
}

/// What is on the screen at the moment.
fn terminal(pty: &Pty) -> vt100::Parser {
    let size = |n: u16| n.try_into().expect("not zero");
    let mut terminal = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
    terminal.process(pty.screen().as_bytes());
    terminal
}

fn shown(pty: &Pty) -> String {
    terminal(pty).screen().contents()
}

#[track_caller]
fn sees(pty: &Pty, text: &str) {
    let what = format!("{text:?} on the screen");
    poll(&what, || shown(pty).contains(text).then_some(()));
}

#[track_caller]
fn is_given_back(pty: &Pty) {
    let terminal = terminal(pty);
    let screen = terminal.screen();
    assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
    assert!(pty.is_cooked(), "keys still come one by one");
}

#[test]
fn a_run_of_another_terminal_is_seen_until_its_end() {
    let env = waiting();
    let run = env.start(&["run", "-p", "Say something"]);
    env.await_file("began");
    let mut pty = watch(&env, &["watch"]);
    for text in ["running", "iteration 1 of 10", "Say something", "Some words.", "Bash(make)", "s stop"] {
        sees(&pty, text);
    }
    pty.types("2");
    sees(&pty, "not checked");
    touch(&env.path("began.go"));
    run.wait().exits(0);
    sees(&pty, "complete");
    sees(&pty, "claimed");
    pty.types("q");
    pty.exits(0);
    pty.ends();
    is_given_back(&pty);
    // What the agent printed moves no cursor and names no window.
    assert!(!pty.screen().contains("evil"), "{:?}", pty.screen());
}

#[test]
fn a_run_that_was_killed_needs_a_person_and_goes_on_at_a_key() {
    let env = waiting();
    let run = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let mut pty = watch(&env, &["watch"]);
    sees(&pty, "running");
    run.kill_9();
    sees(&pty, "needs you: killed");
    touch(&env.path("began.go"));
    pty.types("r");
    sees(&pty, "resume the run in the background?");
    pty.types("y");
    sees(&pty, "complete");
    pty.types("q");
    pty.exits(0);
}

#[test]
fn a_run_is_stopped_after_a_question() {
    let env = waiting();
    let run = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let mut pty = watch(&env, &["watch"]);
    sees(&pty, "running");
    pty.types("s");
    sees(&pty, "stop the run after the running operation? y/n");
    pty.types("n");
    sees(&pty, "nothing was done");
    pty.types("s");
    sees(&pty, "y/n");
    pty.types("y");
    sees(&pty, "stopping");
    touch(&env.path("began.go"));
    run.wait();
    pty.types("q");
    pty.exits(0);
}

#[test]
fn the_terminal_is_given_back_after_a_signal_and_a_panic() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let env = Env::new().turns(json!([[done()]])).variable("TERM", "xterm-256color");
        env.run(&[]).exits(0);
        let mut pty = watch(&env, &["watch"]);
        sees(&pty, "complete");
        kill(pty.pid(), signal);
        pty.exits(130);
        pty.ends();
        is_given_back(&pty);
    }
    let env = Env::new().turns(json!([[done()]])).variable("TERM", "xterm-256color");
    env.run(&[]).exits(0);
    let panicking = env.variable("RALPH_TEST_PANIC_ON_SCREEN", "1");
    let mut pty = watch(&panicking, &["watch"]);
    pty.exits(101);
    pty.ends();
    is_given_back(&pty);
    // It is said where it can be read.
    assert!(shown(&pty).contains("a test wants this"), "{}", shown(&pty));
}

#[test]
fn all_runs_are_listed_and_opened() {
    let turns = json!([[say("First words."), done()], [say("Second words."), done()]]);
    let env = Env::new().turns(turns).variable("TERM", "xterm-256color");
    env.run(&[]).exits(0);
    // A run of another project.
    env.sh("mkdir ../elsewhere && cp -r .ralph ../elsewhere").exits(0);
    env.ralph(&["-C", "../elsewhere", "run", "-p", "x"]).exits(0);
    let mut pty = watch(&env, &["watch", "--all"]);
    sees(&pty, "Enter open");
    sees(&pty, "elsewhere");
    poll("both runs", || (2 == shown(&pty).matches("complete").count()).then_some(()));
    pty.types("\r");
    sees(&pty, "Second words.");
    pty.types("l");
    sees(&pty, "Enter open");
    pty.types("j\r");
    sees(&pty, "First words.");
    pty.types("?");
    sees(&pty, "accept the findings (asks)");
    pty.types("x");
    pty.resize(60);
    pty.types("q");
    pty.exits(0);
}

#[test]
fn a_loop_that_is_watched_does_not_depend_on_the_screen() {
    let env = waiting();
    let pty = watch(&env, &["run", "--watch", "-p", "x"]);
    env.await_file("began");
    sees(&pty, "running");
    kill(pty.pid(), Signal::KILL);
    touch(&env.path("began.go"));
    poll("the end of the run", || env.events("run_ended").pop());
    env.nothing_left();
}

#[test]
fn who_leaves_a_loop_that_is_watched_is_asked() {
    let env = waiting();
    let mut pty = watch(&env, &["run", "--watch", "-p", "x"]);
    env.await_file("began");
    sees(&pty, "Some words.");
    pty.types("q");
    sees(&pty, "the run continues in the background");
    pty.types("q");
    pty.exits(0);
    pty.ends();
    is_given_back(&pty);
    assert!(shown(&pty).contains("ralph watch 20"), "{}", shown(&pty));
    touch(&env.path("began.go"));
    poll("the end of the run", || env.events("run_ended").pop());
    env.nothing_left();
}

#[test]
fn a_loop_that_cannot_begin_says_why_and_shows_no_screen() {
    let env = Env::new().variable("TERM", "xterm-256color");
    let mut pty = watch(&env, &["run", "--watch", "--agent", "no-such-agent", "-p", "x"]);
    pty.exits(2);
    pty.ends();
    assert!(shown(&pty).contains("no-such-agent"), "{}", shown(&pty));
    is_given_back(&pty);
}

#[test]
fn without_a_terminal_it_says_what_to_type_instead() {
    let env = Env::new().turns(json!([[done()]]));
    env.run(&[]).exits(0);
    env.ralph(&["watch"]).exits(2).says("this needs a terminal").says("ralph logs -f");
    env.ralph(&["run", "--watch", "-p", "x"]).exits(2).says("this needs a terminal");
    assert_eq!(env.runs().len(), 1);
}
