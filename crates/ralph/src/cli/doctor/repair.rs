//! `ralph doctor --repair`: what of a damaged record can be saved.

use std::fmt::Write;

use ralph_core::engine::entry::Entry;
use ralph_sys::error::{Error, REFUSED, Result};

use crate::{
    cli::{persons_command::refuse_inside_run, print_lines, runs},
    journal::{
        self,
        repair::{self, Damage, LostLine},
        run_dir::RunDir,
    },
    report::summary::count,
};

/// Says what can be saved, and saves it.
pub(super) fn main(id: &str) -> Result<u8> {
    refuse_inside_run("doctor --repair")?;
    let run = runs::by_id(id)?;
    if journal::process(&run).is_some() {
        return Err(Error::new(format!("run {} is running", run.id())).hint("stop it first: ralph stop"));
    }
    let damage = repair::look(&run.journal())?;
    if damage.lost.is_empty() {
        print_lines(&format!("{}\n", whole(&run, &damage)))?;
        return Ok(0);
    }
    let mut text = format!(
        "Damaged: {} of {} in {}:\n",
        count(damage.lost.len() as u64, "line"),
        damage.lines,
        run.journal().display()
    );
    for line in &damage.lost {
        let _ = writeln!(text, "  line {}: {}", line.number, place(line));
    }
    let Some(known) = &damage.run else {
        text.push_str(
            "The first line says what the run started from, so the run cannot continue. Nothing was changed.\n\
             Commits stay in git; prompts and output of the agent are in its folder:\n",
        );
        print_lines(&format!("{text}  {}\n", run.path().join("turns").display()))?;
        return Ok(REFUSED);
    };
    let spent = known.state.spent();
    let kept = repair::repair(&run, &damage)?;
    let _ = writeln!(
        text,
        "Saved: {}, with {} and {}. Time and cost on lost lines are not counted any more.\n\
         The damaged record is kept: {}\n\
         Continue the run: ralph resume {}",
        count(damage.lines - damage.lost.len() as u64, "line"),
        count(u64::from(spent.turns), "turn"),
        count(u64::from(spent.commits), "commit"),
        kept.display(),
        run.id()
    );
    print_lines(&text)?;
    Ok(0)
}

fn whole(run: &RunDir, damage: &Damage) -> String {
    let path = run.journal();
    match damage.unchained {
        0 => format!("The record is whole: {} in {}.", count(damage.lines, "line"), path.display()),
        old => format!(
            "No damage found in {}. {} of {} have no hash chain: an older ralph wrote them.",
            path.display(),
            old,
            count(damage.lines, "line")
        ),
    }
}

/// Where the line is, as far as the others tell.
fn place(line: &LostLine) -> String {
    match &line.after {
        Some(entry) => format!("what followed `{}` of {}", name(entry), entry.at.strftime("%F %T UTC")),
        None => "the start of the run".to_owned(),
    }
}

/// The kind of an event.
fn name(entry: &Entry) -> String {
    let event = serde_json::to_value(&entry.event).unwrap_or_default();
    event["event"].as_str().unwrap_or("an event").to_owned()
}
