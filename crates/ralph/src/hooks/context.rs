//! Watches how full an agent's context window is. Reads the end of the transcript, however long it is.

use std::{
    env,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use ralph_agents::context::{Handover, Reading, alert, last_reading, level, window_of};
use ralph_sys::{error::Result, files};

use super::{Answer, Input, project, store::Store};
use crate::{
    journal::hook_notes::{self, Note},
    project::story_files::{Active, TASKS},
};

/// How much of the end is read: mostly the first is enough, but one line of a transcript may be long.
const TAILS: [u64; 3] = [64 * 1024, 512 * 1024, 4 * 1024 * 1024];

/// Tells the agent when its context has become fuller than it was ever told.
pub(super) fn watch(input: &Input<'_>, store: &Store, spool: Option<&Path>) -> Result<Answer> {
    let reading = input.transcript().and_then(|path| reading(Path::new(&path)));
    let Some(Reading { tokens, window }) = reading else { return Ok(Answer::allow()) };
    let given = env::var("CLAUDE_CONTEXT_WINDOW").ok().and_then(|window| window.parse().ok());
    let window = given.filter(|window| 0 < *window).or(window).unwrap_or_else(|| window_of(input.model()));
    let Some(level) = level(tokens, window) else { return Ok(Answer::allow()) };
    if !store.announce(level)? {
        return Ok(Answer::allow());
    }
    if let Some(folder) = spool {
        let _ = hook_notes::add(folder, &Note::Context(level));
    }
    let has_stories = project(input).is_some_and(|project| has_stories(&project));
    let handover = if has_stories { Handover::Stories } else { Handover::Project };
    Ok(Answer::tell_agent(input.event(), &alert(level, tokens, window, handover)))
}

/// Whether a loop works through stories here, or could.
fn has_stories(project: &Path) -> bool {
    // The marker of a loop names its folder; it is good enough for advice.
    let dir = Active::read(project).map(|active| active.ralph_dir).filter(|dir| !dir.is_empty());
    project.join(dir.as_deref().unwrap_or("ralph")).join(TASKS).exists()
}

/// What a transcript says at its end. Nothing if it cannot be read.
fn reading(path: &Path) -> Option<Reading> {
    let mut file = files::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    for size in TAILS {
        let tail = end_of(&mut file, length, size)?;
        if let Some(reading) = last_reading(&tail) {
            return Some(reading);
        }
        if length <= size {
            break;
        }
    }
    Some(Reading::by_size(length))
}

/// The last bytes of a file.
pub(super) fn end_of(file: &mut File, length: u64, size: u64) -> Option<Vec<u8>> {
    let size = size.min(length);
    file.seek(SeekFrom::Start(length - size)).ok()?;
    let mut tail = Vec::with_capacity(usize::try_from(size).ok()?);
    file.take(size).read_to_end(&mut tail).ok()?;
    Some(tail)
}
