//! What was said to a run, as `ralph say --list` and `ralph status` show it.

use std::fmt::Write;

use ralph_core::engine::PersonNote;
use ralph_sys::error::Result;
use serde_json::{Value, json};

use super::folded;
use crate::{
    cli::{print, print_lines},
    journal::{requests, run_dir::RunDir},
    report::summary,
    term::printable,
};

/// Prints what was said to each run.
pub(super) fn list(runs: &[RunDir], as_json: bool) -> Result<u8> {
    let mut text = String::new();
    for run in runs {
        let known = requests::taken(run, folded(run)?);
        let (id, notes) = (run.id(), known.state.person_notes());
        if as_json {
            for note in notes {
                let mut line = json_of(note);
                line["run"] = json!(id);
                let _ = writeln!(text, "{line}");
            }
            continue;
        }
        if notes.is_empty() {
            let _ = writeln!(text, "nothing was said to run {id}");
        }
        for note in notes {
            let _ =
                writeln!(text, "{} {}: {}", note.number, summary::note_state(note), printable(&note.text));
        }
    }
    if as_json {
        print(&text)?;
    } else {
        print_lines(&text)?;
    }
    Ok(0)
}

/// A note for scripts.
pub(in crate::cli) fn json_of(note: &PersonNote) -> Value {
    json!({
        "note": note.number,
        "text": note.text,
        "keep": note.keep,
        "withdrawn": note.withdrawn,
        "told": note.told,
    })
}
