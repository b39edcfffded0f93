//! What workers do, as it is seen where the fleet is: live, in order, and whole for who comes late.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{Field, go, record, waiting};
use crate::{
    env::{Env, RALPH, poll},
    fleet::status,
    pty::Pty,
    stories::story,
};

/// The record of a run of a worker, where the fleet is or where it is watched.
pub(super) fn far_run(env: &Env, worker: &str) -> PathBuf {
    let list = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    poll("the record of a run", || {
        let is_its = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("board-") && name.ends_with(&format!("-{worker}"))
        };
        let runs = list(env.root().join("state")).filter(is_its).flat_map(|path| list(path.join("runs")));
        runs.filter(|run| run.join("journal.jsonl").metadata().is_ok_and(|it| 0 < it.len())).max()
    })
}

pub(super) fn id_of(run: &Path) -> String {
    run.file_name().expect("a name").to_string_lossy().into_owned()
}

/// Where a text is, in the first line that has it.
#[track_caller]
fn line(log: &str, text: &str) -> usize {
    log.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text:?} is not in {log}"))
}

#[test]
fn everybody_sees_everything_in_order_however_late() {
    let names = ["A", "B", "C", "D"];
    let works = names.map(waiting);
    let all: Vec<_> = names.iter().zip(&works).map(|(name, work)| (story(name), work.as_str())).collect();
    let Some(field) = Field::new(&all, "true", 2) else { return };
    let env = &field.env;
    let fleet = field.start_fleet();
    let early_events = env.start(&["logs", &id(env), "-f", "--output", "json"]);
    let early = env.start(&["logs", &id(env), "-f"]);
    let workers = [field.start_worker(1), field.start_worker(2)];
    let begun = |name: &&str| ["w1", "w2"].iter().any(|who| record(env, &format!("{name}.{who}")).exists());
    let first: Vec<&str> = poll("two agents", || {
        let first: Vec<&str> = names.iter().copied().filter(|name| begun(name)).collect();
        (first.len() == 2).then_some(first)
    });
    for name in &first {
        early.await_printing(&format!("works on {name}"));
    }
    // A run of a worker is followed while it works.
    let run = id_of(&far_run(env, "w1"));
    let followed = env.start(&["logs", &run, "-f", "--output", "json"]);
    followed.await_printing("turn_started");
    let known = status(env);
    assert_eq!((&known["running"], &known["pid"]), (&true.into(), &fleet.pid().into()));
    let working: Vec<&Value> =
        known["items"].as_array().expect("items").iter().filter(|it| it["phase"] == "working").collect();
    assert_eq!(working.len(), 2, "{known}");
    let text = env.ralph(&["fleet", "status"]).exits(0).stdout;
    assert!(text.contains("in w1") && text.contains("in w2") && text.contains("running"), "{text}");
    let mut command = env.command(RALPH);
    let mut screen = Pty::sized(command.args(["watch", "--all"]).env("TERM", "xterm-256color"), 120);
    poll("both runs on the screen", || (1 < screen.screen().matches("running").count()).then_some(()));
    is_running_whatever_its_process_is_called(env, &run);
    for name in &first {
        go(env, name);
    }
    for name in &first {
        early.await_printing(&format!("{name} landed as"));
    }
    // A reader who comes after half of it.
    let late = env.start(&["logs", &id(env), "-f"]);
    for name in names {
        go(env, name);
    }
    let fleet_id = id(env);
    field.finishes(fleet, 4);
    let (early, late) = (early.wait().exits(0).stdout, late.wait().exits(0).stdout);
    let afterwards = env.ralph(&["logs", &fleet_id]).exits(0).stdout;
    assert_eq!(early, afterwards);
    assert_eq!(late, afterwards);
    for name in names {
        let places =
            ["works on {}", "{} is done", "{} landed as"].map(|it| line(&early, &it.replace("{}", name)));
        assert!(places.is_sorted(), "{name}: {places:?} {early}");
    }
    // As data: each entry once, in the order of their numbers.
    let events: Vec<Value> = early_events
        .wait()
        .exits(0)
        .stdout
        .lines()
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .collect();
    let numbers: Vec<u64> = events.iter().filter_map(|it| it["n"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let boards: Vec<u64> = events.iter().filter_map(|it| it["board"].as_u64()).collect();
    assert!(boards.is_sorted_by(|one, other| one < other) && 16 <= boards.len(), "{boards:?}");
    let followed = followed.wait().exits(0).stdout;
    let events = |text: &str| -> Vec<Value> {
        text.lines().map(|it| serde_json::from_str::<Value>(it).expect("JSON")["event"].clone()).collect()
    };
    assert_eq!(events(&followed).last(), Some(&"run_ended".into()), "{followed}");
    assert_eq!(events(&followed), events(&env.ralph(&["logs", &run, "--output", "json"]).exits(0).stdout));
    screen.types("q");
    screen.exits(0);
    for (number, worker) in (1..).zip(workers) {
        field.ends(number, worker);
    }
    env.nothing_left();
}

#[track_caller]
fn id(env: &Env) -> String {
    status(env)["fleet"].as_str().expect("an id").to_owned()
}

/// On a machine that has no process of the number that the worker's has.
#[track_caller]
fn is_running_whatever_its_process_is_called(env: &Env, run: &str) {
    let (from, other) = (far_run(env, "w1"), Env::new());
    let to = other.root().join("state/board-x-w1/runs").join(run);
    fs::create_dir_all(&to).expect("a folder");
    fs::copy(from.join("far.json"), to.join("far.json")).expect("a copy");
    let text = fs::read_to_string(from.join("journal.jsonl")).expect("a journal");
    let started: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    let text = text.replace(&format!("\"pid\":{}", started["pid"]), "\"pid\":2147483646");
    assert!(text.contains("2147483646"), "{text}");
    // It is not what was written any more, so no line says that it is.
    let plain = |line: &str| match line.split_once(",\"chain\":") {
        Some((before, _)) => format!("{before}}}\n"),
        None => format!("{line}\n"),
    };
    let text: String = text.lines().map(plain).collect();
    fs::write(to.join("journal.jsonl"), text).expect("a journal");
    let standing = || -> Value {
        let line = other.ralph(&["status", run, "--json"]).exits(0).stdout;
        serde_json::from_str::<Value>(&line).expect("JSON")["standing"].clone()
    };
    assert_ne!(standing(), "running");
    let copied = fs::File::open(to.join("journal.jsonl")).expect("the journal");
    copied.lock().expect("the lock");
    assert_eq!(standing(), "running");
    let mut command = other.command(RALPH);
    let mut screen = Pty::sized(command.args(["watch", "--all"]).env("TERM", "xterm-256color"), 120);
    poll("the run on the screen", || screen.screen().contains("running").then_some(()));
    screen.types("q");
    screen.exits(0);
}
