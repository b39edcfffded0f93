//! Journals through the servers: in order, nothing lost, for those who come late too.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use loopback_board::Cable;
use ralph_board::{Board, MAX_PIECE_LEN, Piece, Setup};
use tempfile::TempDir;

use crate::server::{FLEET, PATIENCE, Server, connect, eventually};

fn journal(dir: &TempDir) -> PathBuf {
    dir.path().join("journal")
}

fn append(path: &Path, text: &str) {
    let mut file = File::options().create(true).append(true).open(path).expect("a journal");
    file.write_all(text.as_bytes()).expect("written");
}

/// What a reader who comes now gets, until a journal of this length is whole.
fn follow(board: &Board, length: u64) -> Vec<Piece> {
    let mut follow = board.follow(FLEET, 0);
    let mut pieces: Vec<Piece> = Vec::new();
    let start = Instant::now();
    while pieces.last().is_none_or(|piece| piece.end < length) {
        assert!(start.elapsed() < PATIENCE, "{} pieces", pieces.len());
        pieces.extend(follow.next(Duration::from_millis(200)).expect("an answer"));
    }
    pieces
}

fn text(pieces: &[Piece]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.bytes.clone()).collect()
}

/// The journal grows while answers get lost and the server is killed; the watcher comes when it is over.
#[test]
fn a_late_watcher_sees_everything_in_order() {
    const LINES: usize = 1_500;
    let Some(mut server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let cable = Cable::to(server.port);
    let dir = TempDir::new().expect("a folder");
    let path = journal(&dir);
    append(&path, "");
    let board = connect(&cable.url(), "w1");
    let line = |n: usize| format!("{{\"event\":{n},\"text\":\"{}\"}}\n", "x".repeat(n % 300));
    thread::scope(|scope| {
        let shipper = scope.spawn(|| {
            let mut feed = board.feed(FLEET, "a.b", 7, &path);
            let whole: usize = (0..LINES).map(|n| line(n).len()).sum();
            let (mut is_over, start) = (false, Instant::now());
            while !is_over {
                // The writer may have given up.
                assert!(start.elapsed() < 2 * PATIENCE, "the journal is not whole");
                is_over = fs::metadata(&path).is_ok_and(|file| file.len() == whole as u64);
                is_over &= feed.ship().is_ok();
            }
        });
        let mut sent = 0;
        for n in 0..LINES {
            // A line in two writes: half lines are not shipped.
            let line = line(n);
            append(&path, &line[..5]);
            append(&path, &line[5..]);
            match n {
                500 => {
                    cable.cut_answers();
                    sent = cable.sent();
                }
                700 => {
                    eventually("something that is not answered", || sent < cable.sent());
                    cable.heal();
                }
                1000 => {
                    server.kill();
                    server.start_again();
                }
                _ => {}
            }
        }
        shipper.join().expect("no panic");
    });
    let whole = fs::read(&path).expect("the journal");
    let pieces = follow(&server.connect("watcher"), whole.len() as u64);
    assert!(text(&pieces) == whole, "byte for byte");
    assert!(pieces.iter().all(|piece| piece.missing == 0 && piece.item == "a.b" && piece.lease == 7));
    // A reader who comes back gets what came since.
    let (middle, last) = (&pieces[pieces.len() / 2], pieces.last().expect("a piece"));
    let mut later = server.connect("watcher").follow(FLEET, middle.sequence);
    let next = later.next(PATIENCE).expect("an answer").expect("a piece");
    assert_eq!((next.offset, next.missing), (middle.end, 0));
    let mut latest = server.connect("watcher").follow(FLEET, last.sequence);
    assert_eq!(latest.next(Duration::ZERO).expect("an answer"), None);
}

#[test]
fn a_shipper_that_was_started_again_continues() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let board = server.connect("w1");
    let dir = TempDir::new().expect("a folder");
    let path = journal(&dir);
    let mask = |lines: &[u8]| String::from_utf8_lossy(lines).replace("hunter2", "***").into_bytes();
    append(&path, "one\nhunter2\nhalf");
    assert_eq!(board.feed(FLEET, "a", 7, &path).masked(mask).ship().expect("shipped"), 1);
    append(&path, " and the rest\n");
    let mut again = board.feed(FLEET, "a", 7, &path).masked(mask);
    assert_eq!(again.ship().expect("shipped"), 1);
    assert_eq!(again.ship().expect("shipped"), 0);
    let pieces = follow(&board, 30);
    assert_eq!(String::from_utf8_lossy(&text(&pieces)), "one\n***\nhalf and the rest\n");
    assert_eq!(pieces.iter().map(|piece| piece.missing).sum::<u64>(), 0, "a mask is no loss");
}

/// No event of a run is in two pieces, of which no one reads the halves, as long as a server takes it at all.
#[test]
fn a_long_line_comes_whole() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let board = server.connect("w1");
    let dir = TempDir::new().expect("a folder");
    let path = journal(&dir);
    let long = format!("{}\n", "x".repeat(MAX_PIECE_LEN - 1));
    append(&path, &format!("one\n{long}three\n"));
    assert_eq!(board.feed(FLEET, "a", 7, &path).ship().expect("shipped"), 3);
    let pieces = follow(&board, fs::metadata(&path).expect("a journal").len());
    let lengths: Vec<usize> = pieces.iter().map(|piece| piece.bytes.len()).collect();
    assert_eq!(lengths, [4, MAX_PIECE_LEN, 6]);
}

/// What was on its way when the connection broke arrives after all, behind what was sent instead of it.
#[test]
fn a_piece_that_comes_too_late_is_refused() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let cable = Cable::to(server.port);
    let (old, new) = (connect(&cable.url(), "w1"), server.connect("w1"));
    let dir = TempDir::new().expect("a folder");
    let path = journal(&dir);
    let mut feed = old.feed(FLEET, "a", 7, &path);
    append(&path, "one\n");
    feed.ship().expect("shipped");
    append(&path, "two\n");
    cable.cut();
    thread::scope(|scope| {
        let late = scope.spawn(move || while feed.ship().is_err() {});
        append(&path, "three\n");
        assert_eq!(new.feed(FLEET, "a", 7, &path).ship().expect("shipped"), 1);
        cable.heal();
        late.join().expect("no panic");
    });
    let pieces = follow(&new, 14);
    assert_eq!((pieces.len(), text(&pieces)), (2, b"one\ntwo\nthree\n".to_vec()));
}

#[test]
fn journals_of_all_workers_come_in_the_order_they_were_stored() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let (one, two) = (server.connect("w1"), server.connect("w2"));
    let dirs = [TempDir::new().expect("a folder"), TempDir::new().expect("a folder")];
    let mut feeds =
        [one.feed(FLEET, "a", 1, &journal(&dirs[0])), two.feed(FLEET, "b", 2, &journal(&dirs[1]))];
    let mut other = one.feed("g", "a", 1, &journal(&dirs[0]));
    let mut live = server.connect("watcher").follow(FLEET, 0);
    for n in 0..20 {
        append(&journal(&dirs[n % 2]), &format!("{n}\n"));
        feeds[n % 2].ship().expect("shipped");
        other.ship().expect("shipped");
        let piece = live.next(PATIENCE).expect("an answer").expect("a piece");
        let expected = [("a", "w1"), ("b", "w2")][n % 2];
        assert_eq!((piece.item.as_str(), piece.worker.as_str()), expected);
        assert_eq!(piece.bytes, format!("{n}\n").into_bytes());
    }
}

/// A board that is full throws the oldest away: a watcher that comes too late is told, the worker is not held up.
#[test]
fn what_the_servers_threw_away_is_reported() {
    let Some(server) = Server::start() else { return };
    let board = server.connect("w1");
    board.set_up(&Setup { event_bytes: 64 * 1024, ..Setup::default() }).expect("the streams");
    let dir = TempDir::new().expect("a folder");
    let path = journal(&dir);
    let mut feed = board.feed(FLEET, "a", 7, &path);
    for n in 0..150 {
        append(&path, &format!("{n} {}\n", "x".repeat(1000)));
        feed.ship().expect("shipped");
    }
    let length = fs::metadata(&path).expect("a journal").len();
    let pieces = follow(&board, length);
    let first = &pieces[0];
    assert!(0 < first.missing && first.missing == first.offset, "{}", first.missing);
    let seen: usize = pieces.iter().map(|piece| piece.bytes.len()).sum();
    assert_eq!(first.missing + seen as u64, length);
}
