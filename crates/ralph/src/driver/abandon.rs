//! A turn that was on its way when ralph was killed. What it had used by then stands in the copy of its stream.

use std::{
    fs::File,
    io::{self, Read},
};

use jiff::Timestamp;
use ralph_core::engine::event::{Event, TurnEnd, TurnEnded};
use ralph_sys::process::Stream;

use super::{Driver, budget::worth, listener::Listener};
use crate::journal::run_dir::AGENT_STREAM;

impl Driver {
    /// Records the end of such a turn, and counts what can be known of it.
    pub(super) fn abandon_turn(&mut self) {
        // The guardian of the process that died has ended what was left before it gave up its locks.
        let ended = self.heard_of_turn().unwrap_or_else(|_| TurnEnded::new(TurnEnd::Abandoned));
        self.ledger.record(Event::TurnEnded(Box::new(ended)));
    }

    fn heard_of_turn(&self) -> io::Result<TurnEnded> {
        let (iteration, attempt) = self.ledger.run().state.position();
        let mut stream = File::open(self.run.turn(iteration, attempt).join(AGENT_STREAM))?;
        let last_word = Timestamp::try_from(stream.metadata()?.modified()?).map_err(io::Error::other)?;
        let mut listener = Listener::new(self.adapter(), &self.ledger.run().plan.claims, "");
        let mut piece = vec![0; 64 * 1024];
        loop {
            match stream.read(&mut piece)? {
                0 => break,
                length => listener.on_output(Stream::Out, &piece[..length], &mut |_| {}),
            };
        }
        listener.finish(&mut |_| {});
        let usage = worth(&self.setup, &listener);
        let turn = self.ledger.run().memory.turn.as_ref();
        let took = turn.map(|turn| last_word.duration_since(turn.began).as_millis());
        let ms = took.and_then(|took| u64::try_from(took).ok()).unwrap_or(0);
        let tally = listener.tally;
        Ok(TurnEnded {
            ms,
            usage,
            tools: tally.tools,
            tool_errors: tally.tool_errors,
            ..TurnEnded::new(TurnEnd::Abandoned)
        })
    }
}
