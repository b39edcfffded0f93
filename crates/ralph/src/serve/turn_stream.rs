//! What an agent says and does in a turn, line by line, each with a key that stays the same each time it is read.
//!
//! Invariant: a line that was read from some byte of the stream on has the same key as when it was read from the beginning. So a
//! page that comes back neither misses a line nor shows one twice.

use std::{
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

use memchr::memchr;
use ralph_agents::Parser;
use ralph_core::{
    engine::Run,
    key_mask::KeyMask,
    view::{ShownLine, ShownTurn, StreamTail},
};
use ralph_sys::files;
use serde_json::{Value, json};

use super::answer::WebAnswer;
use crate::{
    journal::run_dir::{AGENT_STREAM, RunDir},
    live::LiveRun,
};

/// How much of a stream is looked at by someone who opens it: the last of it.
const TAIL_LEN: u64 = 512 * 1024;
/// How much is read in one step.
const STEP_LEN: u64 = 4 * 1024 * 1024;
/// A longer line is passed over.
const MAX_LINE_LEN: usize = 32 * 1024 * 1024;
/// How many lines are sent of what was before.
const MAX_LINES: usize = 400;

/// The stream of a turn, as far as it was read.
pub(super) struct TurnStream {
    /// `3.1`: iteration and attempt.
    name: String,
    path: PathBuf,
    parser: Box<dyn Parser>,
    tail: StreamTail,
    /// The key of its last line.
    last_key: Option<String>,
    /// As many lines of it have a key.
    named: u64,
    /// Where the first line begins that was not taken in.
    position: u64,
    /// The beginning of that line.
    begun: Vec<u8>,
}

impl TurnStream {
    /// The stream of this turn, from this byte on, which is the beginning of a line. A little of what is before it is read
    /// so that what goes on there is understood.
    pub(super) fn new(dir: &RunDir, run: &Run, turn: &ShownTurn, from: u64) -> Self {
        let command = &run.started.setup.agent_named(turn.agent.as_deref()).command;
        let mut stream = Self {
            name: format!("{}.{}", turn.iteration, turn.attempt),
            path: dir.turn(turn.iteration, turn.attempt).join(AGENT_STREAM),
            parser: ralph_agents::adapter(command).parser(),
            tail: StreamTail::new(MAX_LINES),
            last_key: None,
            named: 0,
            position: from.saturating_sub(TAIL_LEN),
            begun: Vec::new(),
        };
        if 0 < from {
            stream.skip_cut_line();
            let _ = stream.read_until(from);
        }
        stream
    }

    /// The same, of which the last lines are wanted.
    pub(super) fn at_end(dir: &RunDir, run: &Run, turn: &ShownTurn) -> Self {
        let path = dir.turn(turn.iteration, turn.attempt).join(AGENT_STREAM);
        let length = path.metadata().map_or(0, |metadata| metadata.len());
        let mut stream = Self::new(dir, run, turn, 0);
        stream.position = length.saturating_sub(TAIL_LEN);
        stream.skip_cut_line();
        stream
    }

    /// The line that says that the turn begins.
    pub(super) fn heading(&self) -> Value {
        let text = match self.name.split_once('.') {
            Some((iteration, "1")) => format!("Iteration {iteration}"),
            Some((iteration, attempt)) => format!("Iteration {iteration}, attempt {attempt}"),
            None => self.name.clone(),
        };
        json!({"key": format!("{}:begin", self.name), "kind": "turn", "text": text})
    }

    /// How far it was read.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The last line that says something.
    pub(super) fn doing(&self) -> Option<String> {
        self.tail.lines().back().map(|line| line.text.clone())
    }

    /// Takes in what is new, and returns the lines that are new or have grown.
    pub(super) fn read(&mut self) -> io::Result<Vec<Value>> {
        self.read_until(u64::MAX)
    }

    /// The turn is over: what stands there without an end of line is a line, too.
    pub(super) fn finish(&mut self) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            let before = self.read_len();
            // A stream that is gone has no more lines.
            lines.extend(self.read().unwrap_or_default());
            if self.read_len() == before {
                break;
            }
        }
        let rest = std::mem::take(&mut self.begun);
        self.take(&rest, &mut lines);
        let Self { parser, tail, .. } = self;
        parser.finish(&mut |event| tail.agent(&event));
        self.note_lines(&mut lines);
        lines
    }

    /// What was cut off at the beginning is no line.
    fn skip_cut_line(&mut self) {
        if self.position == 0 {
            return;
        }
        let Ok(mut file) = files::open(&self.path) else { return };
        let mut rest = Vec::new();
        let from = self.position - 1;
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| file.take(STEP_LEN).read_to_end(&mut rest));
        match (read, memchr(b'\n', &rest)) {
            (Ok(_), Some(end)) => self.position = from + end as u64 + 1,
            (Ok(length), None) => self.position = from + length as u64,
            (Err(_), _) => {}
        }
    }

    /// How much was read, with what waits for the end of its line.
    fn read_len(&self) -> u64 {
        self.position + self.begun.len() as u64
    }

    fn read_until(&mut self, end: u64) -> io::Result<Vec<Value>> {
        let mut lines = Vec::new();
        // It may not be there yet: a turn that has just begun.
        let Ok(mut file) = files::open(&self.path) else { return Ok(lines) };
        let from = self.read_len();
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(STEP_LEN.min(end.saturating_sub(from))).read_to_end(&mut bytes)?;
        let mut rest = bytes.as_slice();
        while let Some(at) = memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at + 1);
            let mut whole = std::mem::take(&mut self.begun);
            whole.extend_from_slice(line);
            self.take(&whole, &mut lines);
            rest = after;
        }
        self.begun.extend_from_slice(rest);
        if MAX_LINE_LEN < self.begun.len() {
            self.position += self.begun.len() as u64;
            self.begun.clear();
        }
        Ok(lines)
    }

    /// Takes in one line of the stream.
    fn take(&mut self, line: &[u8], lines: &mut Vec<Value>) {
        // Records of old have keys in them.
        let mut mask = KeyMask::default();
        let mut shown = mask.push(line.to_vec());
        shown.extend(mask.finish());
        let before = self.tail.lines().back().cloned();
        let Self { parser, tail, .. } = self;
        parser.push(&shown, &mut |event| tail.agent(&event));
        self.note_grown(before.as_ref(), lines);
        self.note_lines(lines);
        self.position += line.len() as u64;
    }

    /// A line that goes on where it was.
    fn note_grown(&self, before: Option<&ShownLine>, lines: &mut Vec<Value>) {
        let Some(before) = before else { return };
        let now = self.tail.lines().iter().rev().find(|line| line.number == before.number);
        if let (Some(now), Some(key)) = (now.filter(|now| now.text != before.text), &self.last_key) {
            lines.push(json!({"key": key, "kind": now.kind, "text": now.text}));
        }
    }

    /// Lines that have no key yet begin where the stream is now.
    fn note_lines(&mut self, lines: &mut Vec<Value>) {
        for line in self.tail.lines().iter().filter(|line| self.named <= line.number) {
            let key = format!("{}:{}.{}", self.name, self.position, line.number - self.named);
            lines.push(json!({"key": key, "kind": line.kind, "text": line.text}));
            self.last_key = Some(key);
        }
        self.named = self.tail.count();
    }
}

/// The last lines of a turn that is named so.
pub(super) fn answer(mut run: LiveRun, name: Option<&str>) -> WebAnswer {
    let lines = run.poll().is_ok().then(|| lines(&run, name?)).flatten();
    lines.map_or_else(|| WebAnswer::of_status(404), |lines| WebAnswer::json(200, &json!({"lines": lines})))
}

fn lines(run: &LiveRun, name: &str) -> Option<Vec<Value>> {
    let (iteration, attempt) = name.split_once('.')?;
    let wanted = (iteration.parse().ok()?, attempt.parse().ok()?);
    let watched = run.watched();
    let turn = watched.turns().iter().find(|turn| (turn.iteration, turn.attempt) == wanted)?;
    let mut lines = TurnStream::at_end(run.dir(), watched.run()?, turn).finish();
    lines.drain(..lines.len().saturating_sub(MAX_LINES));
    Some(lines)
}
