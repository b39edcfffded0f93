//! What one page is sent while it is open: the list, one run, and what its agent says.
//!
//! Invariant: every event about the run carries the position after it; a page that names it gets what follows, all of
//! it and none of it twice. The model is sent whole, so it needs no history.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use ralph_core::view::{TurnMark, harmless};
use serde_json::{Value, json};

use super::{Server, position::Position, turn_stream::TurnStream};
use crate::{journal::run_dir::RunDir, live::LiveRun};

/// How often the record is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(120);
/// How often a quiet stream says that it is there; proxies close those that are not.
const BEAT_INTERVAL: Duration = Duration::from_secs(15);
/// How long a model that changes by itself (the agent does something else) may be old.
const FRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The stream of one page.
pub(super) struct Feed<'a> {
    server: &'a Server,
    stream: TcpStream,
    list: Option<Arc<str>>,
    run: Option<Followed>,
    sent: Instant,
}

/// A run that is followed.
struct Followed {
    run: LiveRun,
    after: Option<Position>,
    /// Turns that have begun, as far as they were sent.
    turn: usize,
    /// What the agent says in the last of them.
    stream: Option<TurnStream>,
    /// Whether that may go on.
    is_open: bool,
    model: String,
    shown: Option<Instant>,
}

impl<'a> Feed<'a> {
    /// The stream about this run, after this position.
    pub(super) fn new(
        server: &'a Server,
        stream: TcpStream,
        run: Option<RunDir>,
        after: Option<Position>,
    ) -> Self {
        let run = run.map(|dir| Followed::new(LiveRun::new(dir, server.is_bound), after));
        Self { server, stream, list: None, run, sent: Instant::now() }
    }

    /// Sends what happens until no one reads it.
    pub(super) fn work(mut self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(POLL_INTERVAL))?;
        // The list comes first: it says what needs a person.
        self.list()?;
        if let Some(run) = &mut self.run {
            run.catch_up(&mut |event| send(&mut self.stream, event))?;
        }
        loop {
            self.list()?;
            if let Some(run) = &mut self.run
                && run.step(&mut |event| send(&mut self.stream, event))?
            {
                self.sent = Instant::now();
            }
            if BEAT_INTERVAL <= self.sent.elapsed() {
                self.stream.write_all(b": still here\n\n")?;
                self.sent = Instant::now();
            }
            self.rest()?;
        }
    }

    /// Waits a little. A page that has gone, or says something that no one asked for, ends the stream.
    fn rest(&mut self) -> io::Result<()> {
        match self.stream.read(&mut [0]) {
            Ok(_) => Err(io::ErrorKind::ConnectionAborted.into()),
            Err(error) if is_pause(error.kind()) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn list(&mut self) -> io::Result<()> {
        let list = self.server.overview.text();
        if self.list.as_ref().is_some_and(|sent| Arc::ptr_eq(sent, &list)) {
            return Ok(());
        }
        self.sent = Instant::now();
        send(&mut self.stream, &EventOut { kind: "runs", id: None, data: &list })?;
        self.list = Some(list);
        Ok(())
    }
}

fn is_pause(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// One event for the page.
struct EventOut<'a> {
    kind: &'a str,
    id: Option<Position>,
    /// One line of JSON.
    data: &'a str,
}

type Sender<'a> = dyn FnMut(&EventOut<'_>) -> io::Result<()> + 'a;

impl Followed {
    fn new(run: LiveRun, after: Option<Position>) -> Self {
        Self { run, after, turn: 0, stream: None, is_open: false, model: String::new(), shown: None }
    }

    fn position(&self) -> Position {
        let stream = self.stream.as_ref().map_or(0, TurnStream::position);
        Position { line: self.run.watched().sequence(), turn: self.turn, stream }
    }

    /// Goes to where the page was, or to the last turn for a page that is new.
    fn catch_up(&mut self, send: &mut Sender<'_>) -> io::Result<()> {
        // A record that cannot be read now is read at the next step.
        let _ = self.run.poll();
        let watched = self.run.watched();
        let turns = watched.turns();
        // A record that is shorter than what the page has seen is another one.
        let known = self.after.filter(|it| it.line <= watched.sequence() && it.turn <= turns.len());
        self.turn = known.map_or(turns.len(), |known| known.turn);
        let last = self.turn.checked_sub(1).and_then(|last| turns.get(last)).zip(watched.run());
        self.stream = last.map(|(turn, run)| match known {
            Some(known) => TurnStream::new(self.run.dir(), run, turn, known.stream),
            None => TurnStream::at_end(self.run.dir(), run, turn),
        });
        self.is_open = self.stream.is_some();
        let reset = json!({"reset": known.is_none()}).to_string();
        send(&EventOut { kind: "begin", id: None, data: &reset })?;
        match &self.stream {
            Some(stream) if known.is_none() => lines(vec![stream.heading()], None, send),
            Some(_) | None => Ok(()),
        }
    }

    /// Sends what is new; returns whether anything was.
    fn step(&mut self, send: &mut Sender<'_>) -> io::Result<bool> {
        // A record that is gone says nothing any more.
        let has_changed = self.run.poll().unwrap_or(false);
        let has_lines = self.turns(send)?;
        let is_old = self.shown.is_none_or(|shown| FRESH_INTERVAL <= shown.elapsed());
        let has_model = (has_changed || is_old) && self.model(send)?;
        Ok(has_lines || has_model)
    }

    /// Sends what is said in the turn that is under way, and in those that have begun since.
    fn turns(&mut self, send: &mut Sender<'_>) -> io::Result<bool> {
        let mut has_lines = false;
        loop {
            has_lines |= self.stream(send)?;
            let watched = self.run.watched();
            let (Some(turn), Some(run)) = (watched.turns().get(self.turn), watched.run()) else {
                return Ok(has_lines);
            };
            let stream = TurnStream::new(self.run.dir(), run, turn, 0);
            let heading = stream.heading();
            (self.turn, self.stream, self.is_open) = (self.turn + 1, Some(stream), true);
            lines(vec![heading], Some(self.position()), send)?;
        }
    }

    fn stream(&mut self, send: &mut Sender<'_>) -> io::Result<bool> {
        let turns = self.run.watched().turns();
        let is_over = self.turn < turns.len() || turns.last().is_none_or(|turn| turn.mark != TurnMark::Open);
        let Some(stream) = self.stream.as_mut().filter(|_| self.is_open) else { return Ok(false) };
        // What cannot be read now is read the next time.
        let new = if is_over { stream.finish() } else { stream.read().unwrap_or_default() };
        self.is_open = !is_over;
        let has_lines = !new.is_empty();
        lines(new, Some(self.position()), send)?;
        Ok(has_lines)
    }

    /// The model, when it is another than the last one.
    fn model(&mut self, send: &mut Sender<'_>) -> io::Result<bool> {
        self.shown = Some(Instant::now());
        let doing = self.stream.as_ref().and_then(TurnStream::doing);
        let Some(shown) = self.run.shown(Vec::new(), doing) else { return Ok(false) };
        let mut model = json!(shown);
        if let Some(run) = self.run.watched().run() {
            let said = run.state.person_notes().iter().filter(|note| note.is_untold());
            model["said"] = said.map(|note| harmless(&note.text)).collect();
            model["isPausing"] = run.state.is_pausing().into();
        }
        let model = model.to_string();
        if model == self.model {
            return Ok(false);
        }
        send(&EventOut { kind: "model", id: Some(self.position()), data: &model })?;
        self.model = model;
        Ok(true)
    }
}

fn lines(lines: Vec<Value>, id: Option<Position>, send: &mut Sender<'_>) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    send(&EventOut { kind: "lines", id, data: &Value::Array(lines).to_string() })
}

fn send(stream: &mut TcpStream, event: &EventOut<'_>) -> io::Result<()> {
    let id = event.id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    // JSON as serde writes it has no line ends in it.
    stream.write_all(format!("event: {}\n{id}data: {}\n\n", event.kind, event.data).as_bytes())
}
