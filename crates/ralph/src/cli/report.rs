//! `ralph report`: a run as a page for people.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use clap::Args;
use ralph_core::{
    engine::{commit::CommitEnd, event::Event},
    view::Standing,
};
use ralph_sys::{
    error::{Context, Error, Result},
    files,
    process::{Supervisor, foreground},
};

use super::{fleet::seen, print, runs};
use crate::{
    fleet::FleetDir,
    journal::{self, Folded, local_time, run_dir::RunDir},
    project::git::{FileChange, Git},
    receipt,
    report::html::Page,
};

/// Write a report on a run: one HTML page that needs nothing else
///
/// The page shows the task and how the run ended, what needs your attention, each turn with its time, cost and
/// guardrails, the commits and files, and the commands to continue or to undo the work. Ralph writes it beside the
/// record of the run and prints its path.
///
/// Example: ralph report --file morning.html
#[derive(Args, Debug)]
pub(super) struct ReportArgs {
    /// The id of a run or of a fleet, or its beginning; without it, the newest run of this project
    run: Option<String>,

    /// Write the page here; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// Show the page in the browser: $BROWSER, or the one of the desktop
    #[arg(long)]
    open: bool,
}

/// How the checks differ from those that the run began with.
fn checks_diff(run: &RunDir, folded: &Folded) -> Option<String> {
    const MAX_DIFF_LEN: u64 = 1024 * 1024;
    let place = run.path().join(folded.run.memory.checks_diff.as_ref()?);
    let bytes = files::read(&place, MAX_DIFF_LEN).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Writes the page.
pub(super) fn main(args: &ReportArgs, project: &Path) -> Result<u8> {
    if let Some(fleet) = args.run.as_deref().and_then(FleetDir::by_id) {
        return write(args, &seen::page(&fleet)?, fleet.path());
    }
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    let folded = journal::fold(&run.journal())?;
    let is_newest =
        runs::newest(&folded.run.started.setup.project).is_ok_and(|newest| newest.id() == run.id());
    let History { commits, files: changed, range } = history(&folded, is_newest).unwrap_or_default();
    let page = Page {
        id: &run.id(),
        standing: Standing::of(journal::process(&run).is_some(), &folded.run.state),
        asked: asked(&run),
        checks_diff: checks_diff(&run, &folded),
        commits,
        files: changed,
        range,
        folded: &folded,
        zone: local_time::zone(),
        receipt: receipt::read(&run).ok(),
    };
    write(args, &page.render(), run.path())
}

/// Writes the page where it is wanted, or into this folder.
fn write(args: &ReportArgs, text: &str, folder: &Path) -> Result<u8> {
    match &args.file {
        Some(file) if file.as_os_str() == "-" && !args.open => print(text)?,
        Some(file) if file.as_os_str() == "-" => {
            return Err(
                Error::new("--open shows a file, and `--file -` writes none").hint("leave out one of them")
            );
        }
        given => {
            let path = given.clone().unwrap_or_else(|| folder.join("report.html"));
            fs_err::write(&path, text).context("cannot write the report")?;
            print(&format!("{}\n", path.display()))?;
            if args.open {
                open(&path)?;
            }
        }
    }
    Ok(0)
}

/// Shows a page in the browser.
fn open(page: &Path) -> Result<()> {
    let page = std::path::absolute(page)?;
    let chosen = env::var_os("BROWSER").filter(|browser| !browser.is_empty());
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let browser = chosen.unwrap_or_else(|| usual.into());
    let (shown, hint) = (browser.display().to_string(), format!("open it yourself: {}", page.display()));
    let ended = foreground::run(browser, vec![page.into()]);
    let ended = ended
        .map_err(|error| Error::new(format!("cannot start the browser `{shown}`: {error}")).hint(&hint))?;
    if ended.success() {
        Ok(())
    } else {
        Err(Error::new(format!("the browser `{shown}` ended with an error")).hint(hint))
    }
}

/// The first prompt.
fn asked(run: &RunDir) -> Option<String> {
    files::read_text(&run.turn(1, 1).join("prompt.md")).ok()
}

/// What git knows of the run.
#[derive(Default)]
struct History {
    commits: Vec<(String, String)>,
    files: Vec<FileChange>,
    /// The first commit that is not the run's, and the last that is.
    range: Option<(String, String)>,
}

/// The files that were committed, and those that are not: `now` has the lines of both, except of files that git does not know.
fn with_uncommitted(committed: Vec<FileChange>, now: Vec<FileChange>, left: &[String]) -> Vec<FileChange> {
    let unknown = |path: &String| FileChange { path: path.clone(), added: None, removed: None };
    let left = left.iter().map(|path| (path.clone(), unknown(path)));
    let mut files: BTreeMap<String, FileChange> = left.collect();
    for file in now {
        files.entry(file.path.clone()).and_modify(|known| *known = file.clone());
    }
    for file in committed {
        files.entry(file.path.clone()).or_insert(file);
    }
    files.into_values().collect()
}

/// What happened between the HEAD before the run and the last one that is known to belong to it. Without git, or
/// without that repository, the rest of the report is still worth having.
fn history(folded: &Folded, is_newest: bool) -> Option<History> {
    let heads = folded.entries.iter().filter_map(|entry| match &entry.event {
        Event::TurnStarted(turn) => turn.head.clone(),
        Event::CommitEnded(CommitEnd::Made { commit, .. }) => Some(commit.clone()),
        _ => None,
    });
    let heads: Vec<String> = heads.collect();
    let mut supervisor = Supervisor::new().ok()?;
    let git = Git::find(&mut supervisor, &folded.run.started.setup.project).ok()??;
    let now = git.head(&mut supervisor).ok().flatten().filter(|_| is_newest);
    let (base, last) = (heads.first()?.clone(), now.or_else(|| heads.last().cloned())?);
    let commits = git.between(&mut supervisor, &base, &last).ok()?;
    let mut files = git.compared(&mut supervisor, &base, Some(&last)).ok()?;
    if let Some(work) = &folded.run.memory.work {
        let now = if is_newest { git.compared(&mut supervisor, &base, None).ok()? } else { Vec::new() };
        files = with_uncommitted(files, now, &work.left);
    }
    let range = (!commits.is_empty()).then_some((base, last));
    Some(History { commits, files, range })
}
