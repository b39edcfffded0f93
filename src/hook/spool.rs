//! What hooks tell the ralph that started their agent: lines in a folder of the turn, read when it is over.
//!
//! The agent can write there too, so what stands there is a claim.

use std::{
    env,
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{engine::event::HookReport, plain_file, sandbox::spool::VARIABLE};

const FILE: &str = "hooks.jsonl";
/// More than any agent calls tools in a turn.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// As many reasons as a journal wants.
const MOST_REASONS: usize = 50;

/// One thing that a hook did.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Note {
    /// A tool call may run.
    Allowed,
    /// It may not, for this reason.
    Refused(String),
    /// The agent may not stop, for this reason.
    Held(String),
    /// The agent was told that its context is that full, in percent.
    Context(u8),
}

/// The folder of the turn, if ralph started this agent.
pub(crate) fn folder() -> Option<PathBuf> {
    env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Adds a line in one write, so that the lines of hooks that run side by side stay whole.
pub(crate) fn add(folder: &Path, note: &Note) -> io::Result<()> {
    let mut line = serde_json::to_vec(note)?;
    line.push(b'\n');
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join(FILE))?;
    file.write_all(&line)
}

/// What the hooks of a turn report.
pub(crate) fn read(folder: &Path) -> HookReport {
    let mut report = HookReport::default();
    // The agent may have put a link or a pipe there.
    let Ok(text) = plain_file::read_itself(&folder.join(FILE), MOST_BYTES) else { return report };
    for note in text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()) {
        match note {
            Note::Allowed => report.judged += 1,
            Note::Refused(reason) => {
                report.judged += 1;
                keep(&mut report.refused, reason);
            }
            Note::Held(reason) => keep(&mut report.held, reason),
            Note::Context(percent) if report.context.len() < MOST_REASONS => report.context.push(percent),
            Note::Context(_) => {}
        }
    }
    report
}

fn keep(reasons: &mut Vec<String>, reason: String) {
    if reasons.len() < MOST_REASONS {
        reasons.push(reason);
    }
}
