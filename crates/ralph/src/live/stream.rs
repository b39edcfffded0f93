//! The stream of a run's agent that is followed, with the end of what came before.

use std::{
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
};

use ralph_agents::{AgentEvent, Parser};
use ralph_core::{
    engine::roles::MAIN,
    key_mask::KeyMask,
    view::{ShownLine, ShownTurn, StreamTail},
};
use ralph_sys::files;

use super::LiveRun;
use crate::journal::run_dir::AGENT_STREAM;

/// As many lines of it are kept to scroll back in.
const MAX_STREAM_LINES: usize = 2000;
/// As many turns are read again when someone begins to look.
const MAX_EARLIER_TURNS: usize = 12;
/// As much of one turn is read then, and at once later, in bytes.
const MAX_CHUNK_LEN: u64 = 128 * 1024;

/// The streams of a run's turns, one after the other.
pub(crate) struct LiveStream {
    tail: StreamTail,
    /// The number of turns whose stream was begun.
    begun: usize,
    turn: Option<TurnReader>,
    /// What the agent was last seen doing.
    doing: Option<String>,
}

struct TurnReader {
    path: PathBuf,
    position: u64,
    /// What comes before the end of this line was cut off.
    skips: bool,
    parser: Box<dyn Parser>,
    /// Records of old have keys in them.
    mask: KeyMask,
}

impl LiveStream {
    /// Nothing of it was read yet.
    pub(crate) fn new() -> Self {
        Self { tail: StreamTail::new(MAX_STREAM_LINES), begun: 0, turn: None, doing: None }
    }

    /// The lines that are kept, oldest first.
    pub(crate) fn lines(&self) -> Vec<ShownLine> {
        self.tail.lines().iter().cloned().collect()
    }

    /// What the agent was last seen doing.
    pub(crate) fn doing(&self) -> Option<String> {
        self.doing.clone()
    }

    /// Reads what was printed since the last look; returns whether anything was.
    pub(crate) fn poll(&mut self, run: &LiveRun) -> bool {
        let before = self.tail.count();
        let turns = run.watched().turns();
        if turns.len() < self.begun {
            *self = Self::new();
        }
        let first = self.begun.max(turns.len().saturating_sub(MAX_EARLIER_TURNS));
        for turn in &turns[first..] {
            // What it printed last is part of it.
            while self.read() {}
            self.finish();
            self.begin(run, turn);
        }
        self.begun = turns.len();
        self.read() | (before != self.tail.count())
    }

    fn begin(&mut self, run: &LiveRun, turn: &ShownTurn) {
        let Some(known) = run.watched().run() else { return };
        let command = &known.started.setup.agent_named(turn.agent.as_deref()).command;
        let path = run.dir().turn(turn.iteration, turn.attempt).join(AGENT_STREAM);
        let length = files::open(&path).and_then(|file| file.metadata()).map_or(0, |it| it.len());
        let position = length.saturating_sub(MAX_CHUNK_LEN);
        let parser = ralph_agents::adapter(command).parser();
        self.tail.turn(&heading(turn));
        self.doing = None;
        let skips = 0 < position;
        self.turn = Some(TurnReader { path, position, skips, parser, mask: KeyMask::default() });
    }

    /// What the stream of a turn that is over has left.
    fn finish(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        let (rest, tail) = (turn.mask.finish(), &mut self.tail);
        turn.parser.push(&rest, &mut |event| tail.agent(&event));
        turn.parser.finish(&mut |event| tail.agent(&event));
    }

    fn read(&mut self) -> bool {
        let Self { tail, turn: Some(turn), doing, .. } = self else { return false };
        // The file may not be there: a turn that could not start, a disk that was full.
        let Ok(mut file) = files::open(&turn.path) else { return false };
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(turn.position))
            .and_then(|_| file.take(MAX_CHUNK_LEN).read_to_end(&mut bytes));
        let Ok(length @ 1..) = read else { return false };
        turn.position += length as u64;
        if turn.skips {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return false };
            bytes.drain(..=end);
            turn.skips = false;
        }
        let bytes = turn.mask.push(bytes);
        turn.parser.push(&bytes, &mut |event| {
            match &event {
                AgentEvent::ToolStart { name, summary, .. } => *doing = Some(format!("{name}({summary})")),
                AgentEvent::Text { text, .. } => {
                    let line = text.lines().rev().find(|line| !line.trim().is_empty());
                    *doing = line.map(|line| line.trim().to_owned()).or(doing.take());
                }
                _ => {}
            }
            tail.agent(&event);
        });
        true
    }
}

fn heading(turn: &ShownTurn) -> String {
    let attempt = if turn.attempt == 1 { String::new() } else { format!(", attempt {}", turn.attempt) };
    let mode = turn.mode.map(|mode| format!(" · {mode}")).unwrap_or_default();
    let task = turn.task.as_ref().map(|task| format!(" · {task}")).unwrap_or_default();
    // Who works is worth a word where it is another agent than usual.
    let other = turn.agent.as_ref().filter(|agent| *agent != MAIN);
    let agent = other.map(|agent| format!(" · {agent}")).unwrap_or_default();
    format!("iteration {}{attempt}{mode}{task}{agent}", turn.iteration)
}
