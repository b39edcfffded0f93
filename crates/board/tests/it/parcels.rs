//! Files through the servers: whole, checked, resumed, forgotten.

use std::{fs, path::PathBuf, thread, time::Duration};

use loopback_board::Cable;
use ralph_board::{Board, Parcel, Setup};
use tempfile::TempDir;

use crate::server::{Server, connect, eventually};

const PART: usize = 512 * 1024;
const LIMIT: u64 = 1 << 30;

/// Bytes that do not compress, the same each time.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

struct Files {
    dir: TempDir,
}

impl Files {
    fn new() -> Self {
        Self { dir: TempDir::new().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).expect("written");
        self.path(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }
}

/// Fetches it and says what went wrong.
fn trouble(board: &Board, parcel: &Parcel, files: &Files, limit: u64) -> String {
    let error = board.fetch(parcel, &files.path("to"), limit).expect_err("refused");
    assert!(!files.path("to").exists(), "nothing is handed over");
    error.to_string()
}

#[test]
fn a_file_arrives_as_it_was_and_is_sent_once() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let board = server.connect("w1");
    let files = Files::new();
    for length in [0, 1, PART - 1, PART, PART + 1, 3 * PART + 7] {
        let bytes = noise(length);
        let (parcel, sent) = board.send(&files.write("from", &bytes)).expect("sent");
        assert_eq!((parcel.writer.as_str(), parcel.bytes), ("w1", length as u64));
        assert_eq!(sent, length.div_ceil(PART));
        board.fetch(&parcel, &files.path("to"), LIMIT).expect("fetched");
        assert!(files.read("to") == bytes, "{length}");
        assert_eq!(
            board.send(&files.path("from")).expect("sent"),
            (parcel.clone(), 0),
            "nothing is sent twice"
        );
        assert_eq!(board.send_bytes(&bytes).expect("sent"), parcel);
    }
}

#[test]
fn an_interrupted_upload_continues_where_it_ended() {
    const PARTS: usize = 60;
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let cable = Cable::to(server.port);
    let files = Files::new();
    let bytes = noise(PARTS * PART);
    let from = files.write("from", &bytes);
    let board = connect(&cable.url(), "w1");
    let cut_off = thread::scope(|scope| {
        let upload = scope.spawn(|| board.send(&from));
        eventually("a third of it", || (PARTS * PART / 3) as u64 <= cable.sent());
        cable.cut();
        upload.join().expect("no panic")
    });
    assert!(cut_off.is_err(), "cut off");
    drop(board);
    let again = server.connect("w1");
    let (parcel, sent) = again.send(&from).expect("sent");
    assert!(0 < sent && sent < PARTS, "{sent} of {PARTS} parts were sent by the second upload");
    again.fetch(&parcel, &files.path("to"), LIMIT).expect("fetched");
    assert!(files.read("to") == bytes);
}

#[test]
fn an_interrupted_download_continues_and_damage_is_not_handed_over() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let cable = Cable::to(server.port);
    let (sender, board) = (server.connect("w1"), connect(&cable.url(), "w2"));
    let files = Files::new();
    let bytes = noise(8 * PART);
    let (parcel, _) = sender.send(&files.write("from", &bytes)).expect("sent");

    // Three parts and a bit are there: they are not asked for again.
    files.write("to.part", &bytes[..3 * PART + 17]);
    let before = cable.sent();
    board.fetch(&parcel, &files.path("to"), LIMIT).expect("fetched");
    let asked = cable.sent() - before;
    assert!(files.read("to") == bytes);
    let (fresh, before) = (files.path("fresh"), cable.sent());
    board.fetch(&parcel, &fresh, LIMIT).expect("fetched");
    assert!(asked < cable.sent() - before, "five requests are less than eight");

    // What is there is wrong: nothing is handed over, and the next try begins anew.
    fs::remove_file(files.path("to")).expect("removed");
    files.write("to.part", &vec![0; PART]);
    let error = trouble(&board, &parcel, &files, LIMIT);
    assert!(error.contains("is not what w1 sent"), "{error}");
    board.fetch(&parcel, &files.path("to"), LIMIT).expect("fetched");
    assert!(files.read("to") == bytes);
}

#[test]
fn what_is_too_long_or_has_no_digest_is_not_fetched() {
    let Some(server) = Server::with_silence(Duration::from_mins(1)) else { return };
    let board = server.connect("w1");
    let files = Files::new();
    let parcel = board.send_bytes(b"12345").expect("sent");
    let error = trouble(&board, &parcel, &files, 4);
    assert_eq!(error, "a parcel of w1 has 5 bytes; at most 4 are taken");
    // A length that is a lie, so that more would come than is allowed.
    let short = Parcel { bytes: 4, ..parcel.clone() };
    assert!(trouble(&board, &short, &files, 4).contains("is not what w1 sent"));
    let strange = Parcel { sha256: "*".into(), ..parcel };
    assert_eq!(trouble(&board, &strange, &files, 9), "`*` is not a digest");
}

#[test]
fn parcels_are_forgotten_after_a_while() {
    let Some(server) = Server::start() else { return };
    let board = server.connect("w1");
    board.set_up(&Setup { keep_parcels: Duration::from_secs(2), ..Setup::default() }).expect("the streams");
    let files = Files::new();
    let from = files.write("from", &noise(2 * PART));
    let (parcel, _) = board.send(&from).expect("sent");
    let mut said = String::new();
    eventually("its end", || {
        let _ = fs::remove_file(files.path("to"));
        let fetched = board.fetch(&parcel, &files.path("to"), LIMIT);
        said = fetched.as_ref().err().map(ToString::to_string).unwrap_or_default();
        fetched.is_err()
    });
    assert_eq!(said, "cannot fetch a parcel of w1: it is no longer on the board");
    assert_eq!(board.send(&from).expect("sent").1, 2, "it can be sent again");
}

/// A full stream and a part that is there have the same code; they must not be taken for each other.
#[test]
fn a_full_board_is_an_error() {
    let Some(server) = Server::start() else { return };
    let board = server.connect("w1");
    board.set_up(&Setup { parcel_bytes: 1 << 20, ..Setup::default() }).expect("the streams");
    let files = Files::new();
    let error = board.send(&files.write("from", &noise(6 * PART))).expect_err("refused").to_string();
    assert!(error.contains("maximum bytes exceeded"), "{error}");
}
