//! The message bus: many writers, any content, odd files.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    os::unix::fs::{FileTypeExt, symlink},
    path::PathBuf,
};

use rustix::process::Signal;
use serde_json::Value;

use crate::env::{Env, Output, RALPH, Running};

const BUS: &str = ".ralph/tasks/t/TASK-MESSAGE-BUS.md";

/// A project with the task `t`.
fn env() -> Env {
    let env = Env::new();
    fs::create_dir_all(env.path(".ralph/tasks/t")).expect("a folder");
    env
}

fn post(env: &Env, body: &str) -> String {
    let id = env.ralph(&["bus", "post", "--task", "t", "--body", body]).exits(0).stdout;
    id.trim().to_owned()
}

/// What `bus read --json` prints.
#[track_caller]
fn read(env: &Env, flags: &[&str]) -> Vec<Value> {
    messages(&env.ralph(&[&["bus", "read", "--task", "t", "--json"], flags].concat()).exits(0))
}

fn messages(output: &Output) -> Vec<Value> {
    output.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn bodies(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["body"].as_str().expect("a body")).collect()
}

#[test]
fn what_was_posted_is_read() {
    let env = env();
    let first = post(&env, "one");
    env.ralph(&["bus", "post", "--task", "t", "--type", "FACT", "--body", "two"]).exits(0);
    let all = read(&env, &[]);
    assert_eq!(bodies(&all), ["one", "two"]);
    assert_eq!(
        (&all[0]["id"], &all[1]["type"], &all[0]["task"]),
        (&first.into(), &"FACT".into(), &"t".into())
    );
    env.ralph(&["bus", "read", "--task", "t"]).exits(0).prints("FACT").prints("  two\n");
    assert!(env.read(BUS).contains("\none\n"), "{}", env.read(BUS));
    let json = env.ralph(&["bus", "post", "--task", "t", "--body", "x", "--json"]).exits(0);
    assert_eq!(messages(&json)[0]["body"], "x");
}

#[test]
fn a_selection_may_be_read() {
    let env = env();
    let ids: Vec<String> = ["one", "two", "three"].iter().map(|body| post(&env, body)).collect();
    env.ralph(&["bus", "post", "--task", "t", "--type", "ERROR", "--body", "four"]).exits(0);
    assert_eq!(bodies(&read(&env, &["--tail", "2"])), ["three", "four"]);
    assert_eq!(bodies(&read(&env, &["--since", &ids[1]])), ["three", "four"]);
    assert_eq!(bodies(&read(&env, &["--type", "error"])), ["four"]);
    assert_eq!(bodies(&read(&env, &["--type", "INFO", "--tail", "1"])), ["three"]);
    env.ralph(&["bus", "read", "--task", "t", "--since", "nonsense"])
        .exits(2)
        .says("there is no message `nonsense`");
    env.ralph(&["bus", "post", "--task", "t", "--type", "two words", "--body", "x"])
        .exits(2)
        .says("one word");
    env.ralph(&["bus", "read", "--task", "tt"]).exits(2).says("there is no task `tt`").says("task list");
    env.ralph(&["bus", "read", "--task", "../t"]).exits(2).says("expected letters");
}

#[test]
fn any_body_comes_back() {
    let env = env();
    let odd = "---\na line\n---\n## 1-2 INFO\n\n<!-- end 1-2 -->\n\u{1b}[31m\r\n$(touch x) `y` \u{1f600}\n\n";
    fs::write(env.path("body"), odd).expect("a file");
    env.sh(&format!("'{RALPH}' bus post --task t <body")).exits(0);
    post(&env, "-starts with a hyphen");
    assert_eq!(bodies(&read(&env, &[])), [odd, "-starts with a hyphen"]);
    // People see no control characters.
    let shown = env.ralph(&["bus", "read", "--task", "t"]).exits(0).stdout;
    assert!(!shown.contains('\u{1b}') && shown.contains("---"), "{shown:?}");
    fs::write(env.path("body"), b"\xff\xfe").expect("a file");
    env.sh(&format!("'{RALPH}' bus post --task t <body")).exits(2).says("not text in UTF-8");
}

/// Everybody begins when the file `go` is there.
fn start_posters(env: &Env, processes: usize, each: usize) -> Vec<Running> {
    let script = |process: usize| {
        format!(
            "touch ready-{process}; while ! test -e go; do sleep 0.01; done; i=0; while [ $i -lt {each} ]; do \
             i=$((i+1)); '{RALPH}' bus post --task t --body \"{process} $i
---
end of $i\" >/dev/null || exit 1; done"
        )
    };
    let start = |process| env.start_command(env.command("sh").args(["-c", &script(process)]));
    let posters = (0..processes).map(start).collect();
    (0..processes).for_each(|process| env.await_file(&format!("ready-{process}")));
    env.write("go", "");
    posters
}

#[track_caller]
fn check_posters(processes: usize, each: usize) {
    let env = env();
    for poster in start_posters(&env, processes, each) {
        poster.wait().exits(0);
    }
    let all = read(&env, &[]);
    assert_eq!(all.len(), processes * each);
    let ids: BTreeSet<&str> = all.iter().filter_map(|message| message["id"].as_str()).collect();
    assert_eq!(ids.len(), all.len(), "ids are not unique");
    for process in 0..processes {
        // Whole, and in the order in which each has posted them.
        let own: Vec<&str> =
            bodies(&all).into_iter().filter(|body| body.starts_with(&format!("{process} "))).collect();
        let expected: Vec<String> = (1..=each).map(|i| format!("{process} {i}\n---\nend of {i}")).collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn ten_processes_post_a_hundred_messages_each() {
    check_posters(10, 100);
}

#[test]
fn sixteen_processes_post_at_once() {
    check_posters(16, 8);
}

#[test]
fn a_torn_message_is_passed_over() {
    let env = env();
    post(&env, "one");
    let mut file = fs::OpenOptions::new().append(true).open(env.path(BUS)).expect("the bus");
    file.write_all(b"## 20260101-000000-000-0123456789ab INFO\n- at: 2026-01-01T00:00:00.000Z\n\nhalf")
        .expect("a part");
    assert_eq!(bodies(&read(&env, &[])), ["one"]);
    post(&env, "two");
    assert_eq!(bodies(&read(&env, &[])), ["one", "two"]);
}

#[test]
fn what_is_no_plain_file_is_refused() {
    let env = env();
    let bus = env.path(BUS);
    let elsewhere = env.root().join("elsewhere");
    fs::write(&elsewhere, "mine").expect("a file");
    let refused = |what: &str| {
        env.ralph(&["bus", "post", "--task", "t", "--body", "x"]).exits(2).says(what);
        env.ralph(&["bus", "read", "--task", "t"]).exits(2).says(what);
    };
    symlink(&elsewhere, &bus).expect("a link");
    refused("is a symbolic link");
    assert_eq!(fs::read_to_string(&elsewhere).expect("a file"), "mine");
    fs::remove_file(&bus).expect("the link");
    symlink(env.root().join("nowhere"), &bus).expect("a link");
    refused("is a symbolic link");
    fs::remove_file(&bus).expect("the link");
    fs::create_dir(&bus).expect("a folder");
    refused("is a directory");
    fs::remove_dir(&bus).expect("the folder");
    // No one waits for the other end of a pipe.
    env.sh(&format!("mkfifo '{}'", bus.display())).exits(0);
    assert!(fs::metadata(&bus).expect("a pipe").file_type().is_fifo());
    refused("is no regular file");
}

#[test]
fn a_bus_that_is_locked_for_long_is_given_up() {
    let env = env();
    post(&env, "one");
    let bus = fs::File::open(env.path(BUS)).expect("the bus");
    bus.lock().expect("a lock");
    env.ralph(&["bus", "post", "--task", "t", "--body", "x"]).exits(2).says("was locked by others for 5 s");
    // Who only reads does not wait.
    assert_eq!(bodies(&read(&env, &[])), ["one"]);
    bus.unlock().expect("the lock");
    post(&env, "two");
    assert_eq!(read(&env, &[]).len(), 2);
}

#[test]
fn a_bus_may_be_followed() {
    let env = env();
    let follower = env.start(&["bus", "read", "--task", "t", "--follow", "--type", "FACT"]);
    let first = "ralph bus post";
    env.ralph(&["bus", "post", "--task", "t", "--type", "FACT", "--body", first]).exits(0);
    follower.await_printing(first);
    post(&env, "not this one");
    env.ralph(&["bus", "post", "--task", "t", "--type", "FACT", "--body", "second"]).exits(0);
    follower.await_printing("second");
    follower.signal(Signal::INT);
    let output = follower.wait();
    assert_eq!(output.signal, Some(2), "{output:?}");
    assert!(!output.stdout.contains("not this one"), "{}", output.stdout);
    assert_eq!(output.stdout.matches(first).count(), 1, "{}", output.stdout);
}

#[test]
fn the_task_is_that_of_the_environment() {
    let env = env();
    let folder = env.path(".ralph/tasks/t").display().to_string();
    let inside =
        env.variable("TASK_FOLDER", &folder).variable("RALPH_TASK_ID", "t").variable("RALPH_RUN_ID", "r1");
    // From any folder.
    let elsewhere: PathBuf = inside.root().join("tmp");
    let mut command = inside.command(RALPH);
    command.args(["bus", "post", "--body", "from inside"]).current_dir(&elsewhere);
    inside.start_command(&mut command).wait().exits(0);
    let all = messages(&inside.ralph(&["bus", "read", "--json"]).exits(0));
    assert_eq!((bodies(&all), &all[0]["run"]), (vec!["from inside"], &"r1".into()));
    inside.ralph(&["bus", "post", "--project", "--body", "to all"]).exits(0);
    let all = messages(&inside.ralph(&["bus", "read", "--project", "--json"]).exits(0));
    assert_eq!((bodies(&all), &all[0]["task"]), (vec!["to all"], &"t".into()));
    assert!(inside.read(".ralph/tasks/PROJECT-MESSAGE-BUS.md").contains("to all"));
}

#[test]
fn the_project_has_a_bus_of_its_own() {
    let env = Env::new();
    assert_eq!(env.ralph(&["bus", "read"]).exits(0).stdout, "");
    env.ralph(&["bus", "post", "--body", "to all"]).exits(0);
    env.ralph(&["bus", "read"]).exits(0).prints("to all");
}
