//! A reader that sleeps, and one that has gone.

use std::{
    io::{Read, pipe},
    sync::mpsc::{Receiver, Sender, channel},
};

use super::*;

fn said(lines: u64) -> Vec<u8> {
    format!("[{lines} lost]\n").into_bytes()
}

/// A reader that reads one piece whenever it is allowed to.
struct Slow {
    may: Receiver<()>,
    read: Sender<String>,
}

impl Write for Slow {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.may.recv().map_err(io::Error::other)?;
        self.read.send(String::from_utf8_lossy(piece).into_owned()).map_err(io::Error::other)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn slow(max_len: usize) -> (Outlet, Sender<()>, Receiver<String>) {
    let ((allow, may), (read, seen)) = (channel(), channel());
    let outlet = Outlet::queued(Slow { may, read }, said, max_len).expect("a thread");
    (outlet, allow, seen)
}

/// Writes the first piece and waits until the thread has it in its hands: it is not in the queue any more.
fn begin(outlet: &mut Outlet, piece: &str) {
    outlet.write_all(piece.as_bytes()).expect("room");
    let Way::Queued(shared) = &outlet.0 else { panic!("no queue") };
    let mut state = shared.state();
    while !state.pieces.is_empty() {
        drop(state);
        thread::yield_now();
        state = shared.state();
    }
}

#[test]
fn a_reader_that_sleeps_loses_the_oldest_lines_and_is_told_so() {
    let (mut outlet, allow, seen) = slow(12);
    begin(&mut outlet, "first\n");
    for piece in ["one\n", "two\nthree\n", "four\n", "five\n"] {
        outlet.write_all(piece.as_bytes()).expect("never waits");
    }
    for _ in 0..4 {
        allow.send(()).expect("the thread");
    }
    let shown: Vec<String> = seen.iter().take(4).collect();
    assert_eq!(shown, ["first\n", "[3 lost]\n", "four\n", "five\n"]);
}

#[test]
fn a_note_begins_a_line_of_its_own() {
    let (mut outlet, allow, seen) = slow(4);
    begin(&mut outlet, "half a line");
    outlet.write_all(b"aaaa").expect("never waits");
    outlet.write_all(b"bbbb").expect("never waits");
    for _ in 0..3 {
        allow.send(()).expect("the thread");
    }
    let shown: Vec<String> = seen.iter().take(3).collect();
    assert_eq!(shown, ["half a line", "\n[1 lost]\n", "bbbb"]);
}

#[test]
fn the_end_waits_for_a_reader_but_not_for_ever() {
    let (mut outlet, _allow, _seen) = slow(100);
    outlet.write_all(b"unread\n").expect("never waits");
    let Way::Queued(shared) = &outlet.0 else { panic!("no queue") };
    shared.settle(Duration::from_millis(1));
    assert!(shared.state().has_given_up);
    // The second wait, when it is dropped, costs nothing: the thread would have to write before it is waited for again.
    drop(outlet);
}

#[test]
fn everything_is_there_after_the_end() {
    let (mut reader, writer) = pipe().expect("a pipe");
    let mut outlet = Outlet::new(&writer, said).expect("an outlet");
    assert!(matches!(outlet.0, Way::Queued(_)));
    for number in 0..1000 {
        writeln!(outlet, "line {number}").expect("never waits");
    }
    drop((outlet, writer));
    let mut text = vec![0; "line 999\n".len()];
    let mut all = Vec::new();
    while !all.ends_with(b"line 999\n") {
        let length = reader.read(&mut text).expect("a pipe");
        all.extend_from_slice(&text[..length]);
    }
    assert_eq!(lines(&all), 1000);
}

#[test]
fn a_reader_that_has_gone_is_an_error() {
    let (reader, writer) = pipe().expect("a pipe");
    let mut outlet = Outlet::new(&writer, said).expect("an outlet");
    drop(reader);
    outlet.write_all(b"to nobody\n").expect("the first is taken");
    outlet.settle();
    let error = outlet.write_all(b"again\n").expect_err("no one reads");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn a_file_is_written_at_once() {
    let mut file = tempfile::tempfile().expect("a file");
    let mut outlet = Outlet::new(&file, said).expect("an outlet");
    outlet.write_all(b"text").expect("a file");
    let mut text = String::new();
    io::Seek::rewind(&mut file).expect("a file");
    file.read_to_string(&mut text).expect("a file");
    assert_eq!(text, "text");
}
