//! A turn that was on its way when ralph was killed. What it had used by then stands in the copy of its stream.

use std::{
    io::{self, Read},
    path::Path,
};

use jiff::Timestamp;
use ralph_agents::Usage;
use ralph_core::engine::event::{Event, TurnEnd, TurnEnded};

use ralph_sys::files;

use super::{budget::worth, containment::Containment, listener::Listener, site::Site, untouched};
use crate::{journal::run_dir::AGENT_STREAM, project::git::Git};

/// Records the end of such a turn, and counts what can be known of it.
/// Says whether the turn can be trusted.
pub(super) fn abandon_turn(site: &mut Site, containment: &mut Containment, git: Option<&Git>) -> bool {
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
    } else {
        let folder = site.turn_folder();
        ended.undone = untouched::put_back(site, git, &folder);
    }
    site.ledger.record(Event::TurnEnded(Box::new(ended)));
    is_trusted
}

fn heard_of_turn(site: &Site) -> io::Result<TurnEnded> {
    let began = site.run().memory.turn.as_ref().map(|turn| turn.began);
    let (listener, ms) = heard_in(site, &site.turn_folder(), began)?;
    let usage = worth(&site.setup, &listener);
    let tally = listener.tally;
    let (tools, tool_errors) = (tally.tools, tally.tool_errors);
    Ok(TurnEnded { ms, usage, tools, tool_errors, ..TurnEnded::new(TurnEnd::Abandoned) })
}

/// How long a process of this agent was at work and what it used, by the copy of its stream in this folder.
pub(super) fn used_by(
    site: &mut Site,
    folder: &Path,
    agent: Option<&str>,
    began: Timestamp,
) -> io::Result<(u64, Usage)> {
    let other = site.setup.agent_named(agent).clone();
    let seated = std::mem::replace(&mut site.setup.agent, other);
    let heard = heard_in(site, folder, Some(began));
    let used = heard.map(|(listener, ms)| (ms, worth(&site.setup, &listener)));
    site.setup.agent = seated;
    used
}

fn heard_in(site: &Site, folder: &Path, began: Option<Timestamp>) -> io::Result<(Listener, u64)> {
    let mut stream = files::open(&folder.join(AGENT_STREAM))?;
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
    let took = began.map(|began| last_word.duration_since(began).as_millis());
    let ms = took.and_then(|took| u64::try_from(took).ok()).unwrap_or(0);
    Ok((listener, ms))
}
