//! What a run changed, as git tells it.

use std::{ffi::OsString, path::Path, time::Duration};

use ralph_core::{
    engine::{commit::CommitEnd, entry::Entry, event::Event},
    setup::PROJECT_DIR,
    view::harmless,
};
use ralph_sys::{
    calls::{looking_git, succeeded},
    process::Supervisor,
};
use serde_json::{Value, json};

use super::answer::WebAnswer;
use crate::{
    journal::{self, run_dir::RunDir},
    project::git::Git,
};

/// What is sent of a long difference.
const MAX_DIFF_LEN: usize = 512 * 1024;
/// How long git may take: others wait for the desk.
const GIT_TIMEOUT: Duration = Duration::from_secs(20);
/// Files that git does not know yet.
const MAX_NEW_FILES: usize = 200;

/// The difference between what the run started from and what it has now, or had last.
pub(super) fn answer(supervisor: &mut Supervisor, run: &RunDir) -> WebAnswer {
    let mut heads = Heads::default();
    let Ok(folded) = journal::fold_brief(&run.journal(), &mut |entry| heads.take(entry)) else {
        return WebAnswer::of_status(404);
    };
    let project = &folded.run.started.setup.project;
    let is_newest =
        RunDir::of_project(project).ok().and_then(|runs| runs.last().map(RunDir::id)) == Some(run.id());
    let found = compared(supervisor, project, &heads, is_newest);
    WebAnswer::json(200, &found.unwrap_or_else(|| json!({"files": [], "new": [], "lines": [], "cut": false})))
}

/// The first commit that is not the run's, and the last that is.
#[derive(Default)]
struct Heads {
    first: Option<String>,
    last: Option<String>,
}

impl Heads {
    fn take(&mut self, entry: &Entry) {
        let head = match &entry.event {
            Event::TurnStarted(turn) => turn.head.as_ref().or_else(|| turn.tree.as_ref()?.head.as_ref()),
            Event::CommitEnded(CommitEnd::Made { commit, .. }) => Some(commit),
            _ => None,
        };
        // What is no commit could be a flag.
        if let Some(head) = head.filter(|head| head.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            self.first.get_or_insert_with(|| head.clone());
            self.last = Some(head.clone());
        }
    }
}

fn compared(supervisor: &mut Supervisor, project: &Path, heads: &Heads, is_newest: bool) -> Option<Value> {
    let git = Git::find(supervisor, project).ok()??;
    // Without a commit that the record names, only what is not committed can be told.
    let head = git.head(supervisor).ok().flatten();
    let from = heads.first.clone().or_else(|| head.filter(|_| is_newest))?;
    // What the newest run left uncommitted is in the tree.
    let to = if is_newest { None } else { heads.last.clone() };
    let mut args = vec!["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", &from];
    args.extend(to.as_deref());
    args.push("--");
    // Only this call has a time-out, so it comes first: counting lines takes about as long.
    let patch = listed(supervisor, git.top(), &args)?;
    let files = git.compared(supervisor, &from, to.as_deref()).ok()?;
    let files = files
        .iter()
        .map(|file| json!({"path": harmless(&file.path), "added": file.added, "removed": file.removed}));
    let new = if is_newest { new_files(supervisor, git.top()) } else { Vec::new() };
    Some(json!({
        "files": files.collect::<Vec<_>>(),
        "new": new,
        "lines": patch.lines().map(harmless).collect::<Vec<_>>(),
        "cut": MAX_DIFF_LEN <= patch.len(),
    }))
}

/// Files that git does not know; ralph's own are not among them.
fn new_files(supervisor: &mut Supervisor, top: &Path) -> Vec<String> {
    let text = listed(supervisor, top, &["ls-files", "--others", "--exclude-standard", "-z"]);
    let text = text.unwrap_or_default();
    let is_own = |path: &str| Path::new(path).components().any(|part| part.as_os_str() == PROJECT_DIR);
    let paths = text.split('\0').filter(|path| !path.is_empty() && !is_own(path));
    paths.take(MAX_NEW_FILES).map(harmless).collect()
}

fn listed(supervisor: &mut Supervisor, top: &Path, args: &[&str]) -> Option<String> {
    let spec = looking_git(top, args.iter().map(OsString::from).collect()).within(GIT_TIMEOUT);
    let captured = supervisor.capture(spec, MAX_DIFF_LEN).ok()?;
    succeeded(&captured).then(|| String::from_utf8_lossy(&captured.out).into_owned())
}
