//! What workers may send, honest or not, and what it costs the machine that keeps it.

use std::fs;

use ralph_core::fleet::{FleetItem, ItemPhase, Lease};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::journal;

/// The journal of a run, with so much behind its first line.
fn journal_of(run: &str, more: &str) -> Vec<u8> {
    let text = include_str!("../../../../../../tests/fixtures/journals-0.1/run-done/journal.jsonl");
    let mut started: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    started["run"] = json!(run);
    format!("{started}\n{more}").into_bytes()
}

fn piece(item: &str, lease: u64, offset: u64, bytes: &[u8]) -> Piece {
    let (bytes, end) = (bytes.to_vec(), offset + bytes.len() as u64);
    let (item, worker) = (item.to_owned(), "w1".to_owned());
    Piece { sequence: 1, item, lease, worker, offset, end, bytes, missing: 0 }
}

/// A mirror of a fleet with so many items, and the folder in which it keeps what `w1` sends.
fn mirror(place: &TempDir, items: usize) -> (Mirror, PathBuf) {
    let item = |number: usize| FleetItem { id: format!("i{number}"), ..FleetItem::default() };
    let plan = FleetPlan { items: (0..items).map(item).collect(), ..FleetPlan::default() };
    let mirror = Mirror { place: place.path().to_owned(), ..Mirror::new("f", &plan).expect("a mirror") };
    (mirror, place.path().join("board-f-w1/runs"))
}

fn place() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The state of a fleet of which one item is held, by a claim with this number.
fn held(item: &str, worker: &str, sequence: u64) -> FleetState {
    let phase = ItemPhase::Held(Lease { sequence, worker: worker.to_owned() });
    let item = (item.to_owned(), Item { phase, last: sequence, ..Item::default() });
    FleetState { items: [item].into(), ..FleetState::default() }
}

fn names(runs: &Path) -> Vec<String> {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn open(mirror: &Mirror) -> usize {
    let is_open = |journal: &&Journal| matches!(journal, Journal::Copied(copied) if copied.file.is_some());
    mirror.journals.values().filter(is_open).count()
}

#[test]
fn what_is_wrong_with_one_journal_ends_no_other() {
    let place = place();
    let (mut mirror, runs) = mirror(&place, 5);
    mirror.take(&piece("i0", 1, 0, &journal_of(&"x".repeat(300), "")));
    mirror.take(&piece("i1", 2, 0, b"no journal\n"));
    mirror.take(&piece("i2", 3, 0, &journal_of("../../x", "")));
    // A folder that cannot be made.
    fs::create_dir_all(&runs).expect("a folder");
    fs::write(runs.join("test-file"), "").expect("a file");
    mirror.take(&piece("i3", 4, 0, &journal_of("test-file", "")));
    let whole = journal_of("test-honest", "");
    mirror.take(&piece("i4", 5, 0, &whole));
    assert_eq!(names(&runs), ["test-file", "test-honest"]);
    assert_eq!(fs::read(runs.join("test-honest/journal.jsonl")).expect("a journal"), whole);
    // What comes behind is of a journal that is not followed.
    mirror.take(&piece("i1", 2, 11, b"more\n"));
    mirror.take(&piece("i1", 2, 0, &journal_of("test-late", "")));
    mirror.take(&piece("i4", 5, whole.len() as u64, b"more\n"));
    assert_eq!(names(&runs), ["test-file", "test-honest"]);
    let kept = fs::read(runs.join("test-honest/journal.jsonl")).expect("a journal");
    assert!(kept.ends_with(b"more\n"));
}

#[test]
fn only_what_the_fleet_works_on_is_kept_and_one_run_for_a_lease() {
    let place = place();
    let (mut mirror, runs) = mirror(&place, 1);
    mirror.take(&piece("other", 1, 0, &journal_of("test-other", "")));
    for run in ["test-one", "test-two"] {
        mirror.take(&piece("i0", 1, 0, &journal_of(run, "")));
    }
    assert_eq!(names(&runs), ["test-one"]);
    assert_eq!((mirror.journals.len(), open(&mirror)), (1, 0));
}

#[test]
fn a_worker_has_a_bounded_number_of_files_open_and_all_of_them_grow() {
    let place = place();
    let (mut mirror, runs) = mirror(&place, 2 * MAX_OPEN_JOURNALS);
    let run = |number: usize| format!("test-{number:03}");
    for number in 0..2 * MAX_OPEN_JOURNALS {
        mirror.take(&piece(&format!("i{number}"), u64::MAX, 0, &journal_of(&run(number), "")));
        assert!(open(&mirror) <= MAX_OPEN_JOURNALS, "{number}");
    }
    for number in 0..2 * MAX_OPEN_JOURNALS {
        mirror.take(&piece(&format!("i{number}"), u64::MAX, 1, b"more\n"));
        let kept = fs::read(runs.join(run(number)).join("journal.jsonl")).expect("a journal");
        assert_eq!(kept, journal_of(&run(number), "more\n"));
    }
    assert_eq!(open(&mirror), MAX_OPEN_JOURNALS);
    for lease in 0..=MAX_JOURNALS as u64 {
        mirror.take(&piece("i0", lease, 0, &journal_of(&format!("more-{lease}"), "")));
    }
    assert_eq!(mirror.journals.len(), MAX_JOURNALS);
}

#[test]
fn a_worker_takes_a_bounded_part_of_the_disk() {
    let place = place();
    let (mut mirror, runs) = mirror(&place, 4);
    let length = journal_of("test-0", "").len() as u64;
    mirror.most = (length + 10, 3 * length);
    let kept = |number: usize| {
        let file = runs.join(format!("test-{number}/journal.jsonl"));
        fs::metadata(file).map(|file| file.len() - length).ok()
    };
    for number in 0..4 {
        mirror.take(&piece(&format!("i{number}"), 1, 0, &journal_of(&format!("test-{number}"), "")));
        // The second is too long in itself.
        mirror.take(&piece(
            &format!("i{number}"),
            1,
            length,
            &b"0123456789a"[..if number == 1 { 11 } else { 0 }],
        ));
    }
    assert_eq!([0, 1, 2].map(kept), [Some(0); 3]);
    assert_eq!(fs::read(runs.join("test-3/journal.jsonl")).expect("a journal"), b"");
    // Who continues a run sends all of it again, in the place of what there was.
    mirror.take(&piece("i2", 2, 0, &journal_of("test-2", "")));
    mirror.take(&piece("i2", 1, length, b"late\n"));
    assert_eq!(kept(2), Some(0));
}

#[test]
fn a_journal_is_locked_as_long_as_its_run_is_at_work() {
    let place = place();
    let (mut mirror, runs) = mirror(&place, 1);
    let path = runs.join("test-run/journal.jsonl");
    mirror.take(&piece("i0", 7, 0, &journal_of("test-run", "")));
    mirror.release(&FleetState::default());
    assert!(journal::is_running(&path), "the claim comes later");
    mirror.release(&held("i0", "w1", 7));
    assert!(journal::is_running(&path));
    mirror.release(&held("i0", "w1", 9));
    assert!(!journal::is_running(&path) && open(&mirror) == 0);
    // What was under way when it ended still comes.
    mirror.take(&piece("i0", 7, 1, b"more\n"));
    mirror.release(&held("i0", "w1", 9));
    assert_eq!(fs::read(&path).expect("a journal"), journal_of("test-run", "more\n"));
    assert_eq!(open(&mirror), 0);
}

/// A process that looks whether the run is alive holds the file for a moment.
#[test]
fn a_reader_does_not_make_a_run_look_dead() {
    let place = place();
    let (mut mirror, runs) = mirror(&place, 1);
    let path = runs.join("test-run/journal.jsonl");
    mirror.take(&piece("i0", 7, 0, &journal_of("test-run", "")));
    mirror.release(&held("i0", "w1", 9));
    let reader = File::open(&path).expect("the journal");
    reader.lock_shared().expect("a lock");
    std::thread::scope(|scope| {
        let (goes, gone) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || gone.recv().map(|()| drop(reader)));
        goes.send(()).expect("it waits");
        mirror.take(&piece("i0", 7, 1, b"more\n"));
    });
    assert!(journal::is_running(&path));
}

#[test]
fn a_lease_is_over_when_another_counts_or_no_claim_comes() {
    let state = held("i0", "w1", 7);
    let (short, long) = (UNCLAIMED_TIMEOUT, UNCLAIMED_TIMEOUT + Duration::from_secs(1));
    for (item, lease, worker, silence, expected) in [
        ("i0", 7, "w1", long, false),
        ("i0", 7, "w2", short, true),
        ("i0", 6, "w1", short, true),
        ("i0", 8, "w1", short, false),
        ("i0", u64::MAX, "w1", long, true),
        ("i1", 1, "w1", short, false),
        ("i1", 1, "w1", long, true),
    ] {
        let found = is_over(state.items.get(item), (lease, worker), silence);
        assert_eq!(found, expected, "{item} {lease} {worker} {silence:?}");
    }
}
