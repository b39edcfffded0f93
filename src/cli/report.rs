//! `ralph report`: a run as a page for people.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::tz::TimeZone;

use super::{print, runs};
use crate::{
    engine::event::{CommitEnd, Event},
    error::{Context, Result},
    git::{FileChange, Git},
    journal::{self, Folded, run_dir::RunDir},
    process::Supervisor,
    report::{html::Page, listing::Standing},
};

/// Write a report on a run: one HTML page that needs nothing else
///
/// What was asked and how it ended, what a person should look at, each turn with its time and cost, what the
/// gates said, the commits and the files, and the commands to go on or to take it back. The page is written
/// beside the record of the run, and its path is printed.
///
/// Example: ralph report --file morning.html
#[derive(Args, Debug)]
pub(super) struct ReportArgs {
    /// The run's id or its beginning; without it, the newest run of this project
    run: Option<String>,

    /// Write the page here; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Writes the page.
pub(super) fn main(args: &ReportArgs, project: &Path) -> Result<u8> {
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    let folded = journal::fold(&run.journal())?;
    let page = Page {
        id: &run.id(),
        standing: Standing::of(runs::process(&run).is_some(), folded.state.outcome()),
        asked: asked(&run),
        // Without git, or without that repository, the rest of the report is still worth having.
        files: files(&folded).unwrap_or_default(),
        folded: &folded,
        zone: TimeZone::system(),
    };
    let text = page.render();
    match &args.file {
        Some(file) if file.as_os_str() == "-" => print(&text)?,
        given => {
            let path = given.clone().unwrap_or_else(|| run.path().join("report.html"));
            fs_err::write(&path, text).context("cannot write the report")?;
            print(&format!("{}\n", path.display()))?;
        }
    }
    Ok(0)
}

/// The first prompt.
fn asked(run: &RunDir) -> Option<String> {
    let text = std::fs::read(run.turn(1, 1).join("prompt.md")).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// What the commits of the run changed.
fn files(folded: &Folded) -> Option<Vec<FileChange>> {
    let base = folded.entries.iter().find_map(|entry| match &entry.event {
        Event::TurnStarted(turn) => turn.head.clone(),
        _ => None,
    })?;
    let last = folded.entries.iter().rev().find_map(|entry| match &entry.event {
        Event::CommitEnded(CommitEnd::Made { commit, .. }) => Some(commit.clone()),
        _ => None,
    })?;
    let mut supervisor = Supervisor::new().ok()?;
    let git = Git::find(&mut supervisor, &folded.started.setup.project, "").ok()??;
    git.compared(&mut supervisor, &base, &last).ok()
}
