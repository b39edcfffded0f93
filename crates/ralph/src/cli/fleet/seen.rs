//! A fleet where commands are given the id of one: its table, its log, its page, its receipts.

use std::{fmt::Write, path::Path, thread, time::Duration};

use ralph_core::fleet::{FleetEvent, FleetState};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use crate::{
    cli::{print, print_lines, warn},
    fleet::{FileLedger, FleetDir, table},
    journal::local_time,
    receipt,
    report::{fleet::FleetStyle, html::fleet::FleetPage},
    workspace::Source,
};

/// How often a followed fleet is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Prints its items and lanes.
pub(in crate::cli) fn show(dir: &FleetDir, as_json: bool) -> Result<u8> {
    let state = FileLedger::look(dir)?;
    print_table(dir, &state, (dir.is_running(state.pid), as_json))?;
    Ok(0)
}

/// The same of what is known already.
pub(in crate::cli) fn print_table(
    dir: &FleetDir,
    state: &FleetState,
    (is_running, as_json): (bool, bool),
) -> Result<()> {
    if as_json {
        print(&format!("{}\n", table::json(dir, state, is_running)))
    } else {
        print_lines(&table::text(dir, state, is_running))
    }
}

/// The newest fleet of a project in a line or two, for a list of runs.
pub(in crate::cli) fn summary(project: &Path) -> Option<String> {
    let dir = FleetDir::of_project(project).ok()?.pop()?;
    let state = FileLedger::look(&dir).ok()?;
    let (items, mut text) =
        (&state.started.plan.items, table::heading(&dir, &state, dir.is_running(state.pid)));
    let landed = items.iter().filter(|item| state.item(&item.id).is_merged()).count();
    let _ = writeln!(text, "  {landed} of {} landed; its items and lanes: ralph fleet status", items.len());
    Some(text)
}

/// What it exited with.
pub(in crate::cli) fn exit_code(dir: &FleetDir) -> Result<u8> {
    let FleetState { outcome, pid, .. } = FileLedger::look(dir)?;
    match outcome.filter(|_| !dir.is_running(pid)) {
        Some(outcome) => Ok(outcome.exit_code()),
        None => Err(Error::new(format!("fleet {} has not ended", dir.id()))
            .hint("`ralph fleet status` shows its state; `ralph fleet resume` continues it")),
    }
}

/// Shows what happened, and goes on showing if that is wanted.
pub(in crate::cli) fn logs(dir: &FleetDir, follow: bool, style: &FleetStyle) -> Result<u8> {
    let mut known = 0;
    loop {
        let pid = FileLedger::look(dir)?.pid;
        // Looked at before the record: what was written before the end is then shown.
        let is_running = dir.is_running(pid);
        let entries = FileLedger::entries_after(dir, known)?;
        known += entries.len();
        entries.iter().try_for_each(|entry| style.replay(entry))?;
        let has_ended = entries.last().is_some_and(|it| matches!(it.event, FleetEvent::FleetEnded { .. }));
        if !follow || !is_running || has_ended {
            return Ok(0);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Its page.
pub(in crate::cli) fn page(dir: &FleetDir) -> Result<String> {
    let entries = FileLedger::entries_after(dir, 0)?;
    let state = FleetState::fold(&entries);
    let is_running = dir.is_running(state.pid);
    let (id, zone) = (dir.id(), local_time::zone());
    Ok(FleetPage { id: &id, state: &state, entries: &entries, is_running, zone }.render())
}

/// Signs the receipts of all that it landed, and replaces their notes.
pub(in crate::cli) fn sign(dir: &FleetDir) -> Result<u8> {
    let state = FileLedger::look(dir)?;
    let mut supervisor = Supervisor::new()?;
    let source = Source::find(&mut supervisor, &state.started.project)?
        .ok_or_else(|| Error::new("the project is not in a git repository any more"))?;
    let signed =
        receipt::landing::sign_all(&mut supervisor, &state.started.project, &source, &dir.receipts());
    supervisor.release();
    let (signed, warnings) = signed?;
    for warning in &warnings {
        warn(warning);
    }
    print_lines(&format!("signed {signed} receipts of fleet {}\n", dir.id()))?;
    Ok(0)
}
