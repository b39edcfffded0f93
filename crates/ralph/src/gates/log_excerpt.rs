//! What is kept of a failed gate's log: its beginning, its last lines, the line that looks like the reason.
//!
//! Invariant: memory does not depend on the size of the log, and no escape sequence gets out of it.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use ralph_core::{
    escapes::without_escapes,
    gate_failure::{GateExit, GateFailure, error_line},
    prompt::truncate,
    setup::Setup,
};

/// How much of the end is looked at.
const MAX_END_LEN: u64 = 256 * 1024;
/// How much more than the wanted characters of the beginning is read, since some of it are colours.
const MAX_COLOR_LEN: u64 = 64 * 1024;
/// How much of one of the last lines is kept.
const MAX_LINE_LEN: usize = 1000;

/// The failure of a gate that ended so, with what its log says.
pub(super) fn of(exit: GateExit, log: &Path, setup: &Setup) -> io::Result<GateFailure> {
    let mut file = ralph_sys::files::open(log)?;
    let (length, chars) = (file.metadata()?.len(), setup.output_truncate_chars);
    // A character takes at most four bytes.
    let most = (chars as u64).saturating_mul(4).saturating_add(MAX_COLOR_LEN);
    let (beginning, end) = (piece(&mut file, 0, most)?, end(&mut file, length)?);
    let is_cut = most < length || beginning.chars().nth(chars).is_some();
    let output = match truncate(&beginning, chars) {
        output if is_cut && output == beginning => format!("{output}... [truncated]"),
        output => output,
    };
    Ok(GateFailure {
        tail: is_cut.then(|| last_lines(&end, setup.prompt_tail)),
        error_line: error_line(&beginning).or_else(|| error_line(&end)).map(str::to_owned),
        ..GateFailure::new(exit, output)
    })
}

/// Whole lines at the end.
fn end(file: &mut File, length: u64) -> io::Result<String> {
    let skipped = length.saturating_sub(MAX_END_LEN);
    let end = piece(file, skipped, MAX_END_LEN)?;
    // The first line may have lost its beginning.
    let whole = if skipped == 0 { 0 } else { end.find('\n').map_or(0, |at| at + 1) };
    Ok(end[whole..].to_owned())
}

fn piece(file: &mut File, from: u64, most: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(without_escapes(&String::from_utf8_lossy(&bytes)).into_owned())
}

fn last_lines(end: &str, most: usize) -> String {
    let lines: Vec<&str> = end.trim_end().lines().collect();
    let last = &lines[lines.len().saturating_sub(most)..];
    let cut = |line: &&str| line[..line.floor_char_boundary(MAX_LINE_LEN)].to_owned();
    last.iter().map(cut).collect::<Vec<_>>().join("\n")
}
