//! Damage to a journal: a flipped bit, lost lines and lines in another order are errors that name the file.

use std::{fs, path::PathBuf};

use serde_json::json;

use crate::env::{Env, RALPH, done, say};

/// A run that is at its limit, with its journal.
fn at_limit() -> (Env, PathBuf) {
    let env = Env::new().turns(json!([[say("Hm.")], [say("Hm?")], [done()]])).guardrails(&["true"]);
    env.run(&["-m", "2"]).exits(1);
    let journal = env.newest_run().join("journal.jsonl");
    (env, journal)
}

fn lines(journal: &PathBuf) -> Vec<String> {
    fs::read_to_string(journal).expect("a journal").lines().map(str::to_owned).collect()
}

fn put(journal: &PathBuf, lines: &[String]) {
    fs::write(journal, lines.join("\n") + "\n").expect("a journal");
}

#[test]
fn a_flipped_bit_in_the_first_line_is_an_error_that_names_the_file() {
    let (env, journal) = at_limit();
    let whole = fs::read(&journal).expect("a journal");
    let name = journal.display().to_string();
    let at = |text: &str| {
        whole.windows(text.len()).position(|part| part == text.as_bytes()).expect("a part of the first line")
    };
    // The guardrail, a limit, and the number itself: `true` to `trud`, 2 to 3, the key of the number.
    for byte in [at("\"true\"") + 4, at("\"max_iterations\":2") + 17, at("\"chain\"") + 1] {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1;
        fs::write(&journal, &flipped).expect("a journal");
        for command in [&["resume", "-m", "3"][..], &["report"], &["status", "--exit-code"], &["accept"]] {
            let said = env.ralph(command).exits(2);
            let text = said.stderr.replace(['\n', ' '], "");
            assert!(text.contains(&name), "{command:?}: {}", said.stderr);
            assert!(said.stderr.contains("ralph doctor --repair"), "{}", said.stderr);
        }
        env.ralph(&["status"]).exits(0).prints("damaged");
        assert_eq!(fs::read(&journal).expect("a journal"), flipped, "nothing was changed");
    }
    assert_eq!(env.prompts().len(), 2, "no agent was started");
    // What the run started from is lost: nothing is made up.
    let mut flipped = whole.clone();
    flipped[at("\"true\"") + 4] ^= 1;
    fs::write(&journal, &flipped).expect("a journal");
    env.ralph(&["doctor", "--repair", &env.run_id()]).exits(2).prints("line 1").prints("Nothing was changed");
    assert_eq!(fs::read(&journal).expect("a journal"), flipped);
    fs::write(&journal, whole).expect("a journal");
    env.ralph(&["doctor", "--repair", &env.run_id()]).exits(0).prints("The record is whole");
    env.ralph(&["resume", "-m", "3"]).exits(0);
}

#[test]
fn what_can_be_saved_of_a_damaged_record_is_saved() {
    let (env, journal) = at_limit();
    let mut damaged = lines(&journal);
    let turn = damaged.iter().position(|line| line.contains("\"turn_ended\"")).expect("a turn");
    damaged[turn] = damaged[turn].replace("\"tools\":0", "\"tools\":9");
    put(&journal, &damaged);
    env.ralph(&["resume", "-m", "3"]).exits(2).says("damaged");
    env.ralph(&["logs"]).exits(0).says("damaged");
    let number = turn + 1;
    env.ralph(&["doctor", "--repair", &env.run_id()])
        .exits(0)
        .prints(&format!("line {number}: what followed `"))
        .prints("journal.damaged-1.jsonl")
        .prints("ralph resume");
    let kept = journal.with_file_name("journal.damaged-1.jsonl");
    assert_eq!(lines(&kept), damaged);
    assert_eq!(env.events("record_repaired")[0]["lost"], json!([number]));
    env.ralph(&["resume", "-m", "3"]).exits(0);
    env.ralph(&["doctor", "--repair", &env.run_id()]).exits(0).prints("The record is whole");
}

#[test]
fn lines_that_are_lost_moved_or_doubled_are_noticed() {
    let (env, journal) = at_limit();
    let whole = lines(&journal);
    let mut lost = whole.clone();
    lost.remove(3);
    let mut moved = whole.clone();
    moved.swap(3, 4);
    let mut doubled = whole.clone();
    doubled.insert(3, whole[3].clone());
    for damaged in [lost, moved, doubled] {
        put(&journal, &damaged);
        env.ralph(&["resume", "-m", "3"]).exits(2).says("damaged: line");
    }
    put(&journal, &whole);
    env.ralph(&["resume", "-m", "3"]).exits(0);
}

#[test]
fn an_agent_repairs_nothing() {
    let env = Env::new()
        .agent("worker", "cat >/dev/null; ralph doctor --repair x 2>&1; echo '<response>DONE</response>'");
    env.program("ralph", &format!("exec {RALPH} \"$@\""));
    env.run(&["-m", "1"]).exits(7);
    assert!(env.events("found")[0].to_string().contains("doctor --repair"), "{:?}", env.events("found"));
}
