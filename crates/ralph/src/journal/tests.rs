//! The journal on a real file system: what is written is read, whatever happens to its end.

use std::io::Write;

use ralph_core::engine::{
    commit::CommitEnd,
    event::{GateEnded, Turn, Why},
};
use ralph_core::gate_failure::GateFailure;
use tempfile::TempDir;

use super::*;

fn journal() -> (TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("journal.jsonl");
    (dir, path)
}

fn turn(iteration: u32) -> Event {
    Event::TurnStarted(Turn { iteration, attempt: 1, ..Turn::default() })
}

fn now_entry(event: Event) -> Entry {
    Entry { at: now(), event }
}

fn read(path: &Path) -> Vec<Event> {
    let mut events = Vec::new();
    read_from(path, 0, &mut |entry| events.push(entry.event)).expect("a readable journal");
    events
}

fn append_raw(path: &Path, bytes: &[u8]) {
    OpenOptions::new()
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .expect("a writable journal");
}

#[test]
fn a_moment_comes_back_as_it_was() {
    for _ in 0..100 {
        let entry = now_entry(turn(1));
        assert_eq!(Entry::of_line(&entry.to_line()), Some(entry));
    }
}

#[test]
fn events_come_back_as_they_were() {
    let (_dir, path) = journal();
    let events = vec![
        turn(1),
        Event::GateEnded(GateEnded {
            gate: 0,
            failure: Some(GateFailure::refused("a\nb \"c\" \u{1F980}".to_owned())),
            ms: 5,
            log: "x".to_owned(),
            signature: None,
            tests: None,
            output_sha256: None,
        }),
        Event::CommitStarted { head: Some("abc".to_owned()), message: "m".to_owned(), boot: None },
        Event::CommitEnded(CommitEnd::Failed { output: "no".to_owned() }),
        Event::WaitStarted { until_ms: 1, why: Why::UsageLimit },
        Event::WaitEnded { ms: 3 },
        Event::StopRequested,
        Event::warned("w".to_owned()),
        Event::RunEnded {
            outcome: ralph_core::engine::outcome::Outcome::GaveUp {
                cause: ralph_core::engine::plan::Cause::Gate,
                reason: "r".to_owned(),
            },
            exit_code: 3,
        },
    ];
    let mut journal = Journal::open(&path).expect("a new journal");
    for event in &events {
        journal.append(&now_entry(event.clone())).expect("a writable disk");
    }
    assert_eq!(read(&path), events);
    let text = fs_err::read_to_string(&path).expect("text");
    assert!(
        text.lines().all(|line| line.starts_with("{\"at\":\"20") && line.contains("\"event\":\"")),
        "{text}"
    );
}

#[test]
fn a_torn_tail_is_passed_over_and_cut_by_the_next_writer() {
    let (_dir, path) = journal();
    let mut journal = Journal::open(&path).expect("a new journal");
    journal.append(&now_entry(turn(1))).expect("a writable disk");
    drop(journal);
    append_raw(&path, b"{\"at\":\"2026-01-01T00:00:00.000Z\",\"event\":\"turn_st");
    assert_eq!(read(&path), [turn(1)]);

    let mut journal = Journal::open(&path).expect("the journal again");
    journal.append(&now_entry(turn(2))).expect("a writable disk");
    assert_eq!(read(&path), [turn(1), turn(2)]);
}

#[test]
fn damage_in_the_middle_and_events_of_the_future_hide_nothing() {
    let (_dir, path) = journal();
    fs_err::write(&path, "").expect("a file");
    append_raw(
        &path,
        b"\xff\xfe\0garbage\n\n{\"at\":\"2026-01-01T00:00:00Z\",\"event\":\"new_in_9\",\"x\":1}\n",
    );
    let mut journal = Journal::open(&path).expect("the journal");
    journal.append(&now_entry(turn(1))).expect("a writable disk");
    assert_eq!(read(&path), [Event::Unknown, turn(1)]);
}

#[test]
fn a_tail_longer_than_a_block_is_cut() {
    let (_dir, path) = journal();
    fs_err::write(&path, format!("{}\n{}", "a".repeat(100), "b".repeat(200_000))).expect("a file");
    drop(Journal::open(&path).expect("the journal"));
    assert_eq!(fs_err::metadata(&path).expect("a file").len(), 101);
}

#[test]
fn one_writer_at_a_time() {
    let (_dir, path) = journal();
    assert!(!is_running(&path));
    let journal = Journal::open(&path).expect("a new journal");
    assert!(is_running(&path));
    assert!(Journal::open(&path).is_err());
    // Unlocked, not only closed: a process that another test starts just now holds all descriptors for a moment.
    journal.unlock();
    assert!(!is_running(&path));
}

#[test]
fn following_starts_where_the_last_look_ended() {
    let (_dir, path) = journal();
    let mut journal = Journal::open(&path).expect("a new journal");
    journal.append(&now_entry(turn(1))).expect("a writable disk");
    let mut seen = Vec::new();
    let position = read_from(&path, 0, &mut |entry| seen.push(entry.event)).expect("a journal");
    journal.append(&now_entry(turn(2))).expect("a writable disk");
    append_raw(&path, b"{\"at\":");
    let end = read_from(&path, position, &mut |entry| seen.push(entry.event)).expect("a journal");
    assert_eq!(seen, [turn(1), turn(2)]);
    assert!(end < fs_err::metadata(&path).expect("a file").len());
}
