//! A turn that was on its way when ralph was killed. What it had used by then stands in the copy of its stream.

use std::io::{self, Read};

use jiff::Timestamp;
use ralph_core::engine::event::{Event, TurnEnd, TurnEnded};

use ralph_sys::files;

use super::{budget::worth, containment::Containment, listener::Listener, site::Site};
use crate::journal::run_dir::AGENT_STREAM;

/// Records the end of such a turn, and counts what can be known of it.
/// Says whether the turn can be trusted.
pub(super) fn abandon_turn(site: &mut Site, containment: &mut Containment) -> bool {
    // The guardian of the process that died has ended what was left before it gave up its locks.
    let agent = site.run().memory.turn.as_ref().and_then(|last| last.turn.agent.clone());
    let seated = site.setup.agent.clone();
    site.setup.agent = site.setup.agent_named(agent.as_deref()).clone();
    let heard = heard_of_turn(site);
    site.setup.agent = seated;
    let mut ended = heard.unwrap_or_else(|_| TurnEnded::new(TurnEnd::Abandoned));
    let changed = containment.left_by_the_dead();
    let is_trusted = changed.is_none();
    if let Some(changed) = changed {
        ended.end = TurnEnd::Tampered { changed };
    }
    site.ledger.record(Event::TurnEnded(Box::new(ended)));
    is_trusted
}

fn heard_of_turn(site: &Site) -> io::Result<TurnEnded> {
    let mut stream = files::open(&site.turn_folder().join(AGENT_STREAM))?;
    let last_word = Timestamp::try_from(stream.metadata()?.modified()?).map_err(io::Error::other)?;
    let mut listener = Listener::new(site.adapter(), &site.run().plan.claims, "");
    let mut piece = vec![0; 64 * 1024];
    loop {
        match stream.read(&mut piece)? {
            0 => break,
            length => listener.on_output(&piece[..length], &mut |_| {}),
        };
    }
    listener.finish(&mut |_| {});
    let usage = worth(&site.setup, &listener);
    let turn = site.run().memory.turn.as_ref();
    let took = turn.map(|turn| last_word.duration_since(turn.began).as_millis());
    let ms = took.and_then(|took| u64::try_from(took).ok()).unwrap_or(0);
    let tally = listener.tally;
    let (tools, tool_errors) = (tally.tools, tally.tool_errors);
    Ok(TurnEnded { ms, usage, tools, tool_errors, ..TurnEnded::new(TurnEnd::Abandoned) })
}
