//! Runs guardrails on a commit in a clean clone of the project, and beside that in the working tree, and compares.

pub(crate) mod explain;
mod session;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_core::{
    containment::wanted::Wanted,
    verify::{
        caveat::Caveat,
        proof::Ending,
        rules::{CheckoutWhen, GuardrailKind},
    },
};
use ralph_sys::{
    error::{Context, Result},
    process::{Supervisor, guardian::Guardian, mark::Mark},
};
use serde::Serialize;

use crate::workspace::{PrepareEnd, Prepared, Source, Wishes, Workspace};
use session::Session;

/// What to judge, and how.
pub(crate) struct Request<'a> {
    pub(crate) project: &'a Path,
    /// The commands.
    pub(crate) guardrails: Vec<PlacedGuardrail>,
    pub(crate) what: What,
    /// Files of the working tree that are laid over the commit, relative to the top of the repository.
    pub(crate) with: Vec<PathBuf>,
    pub(crate) wishes: Wishes,
    /// Whether the working tree may decide instead.
    pub(crate) checkout: CheckoutWhen,
    /// What the guardrails run in.
    pub(crate) sandbox: Wanted,
    /// How long one guardrail may take.
    pub(crate) timeout: Option<Duration>,
    /// An empty folder for a clone that is used this once; nothing means the one that the project keeps.
    pub(crate) fresh: Option<&'a Path>,
}

/// A command that judges.
#[derive(Clone, Debug)]
pub(crate) struct PlacedGuardrail {
    pub(crate) command: String,
    pub(crate) kind: GuardrailKind,
    pub(crate) in_place: bool,
    pub(crate) in_judge: bool,
}

/// What is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A commit, by its whole id. Whether the working tree is at it says whether it can be compared.
    Commit { id: String, is_head: bool },
    /// The files as they are.
    WorkingTree,
    /// A commit that ralph made in the store of the judge.
    Made { id: String },
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Judged {
    /// Nothing without a repository.
    pub(crate) commit: Option<String>,
    /// Where the judge is kept.
    pub(crate) folder: Option<PathBuf>,
    /// Where the guardrails saw it.
    pub(crate) seat: Option<PathBuf>,
    /// How what they wrote was kept apart: `overlay` or `copy`.
    pub(crate) layering: Option<&'static str>,
    /// How long it took to bring the judge to the commit.
    pub(crate) bring_ms: u64,
    pub(crate) caveats: Vec<Caveat>,
    pub(crate) prepared: Vec<PreparedRow>,
    pub(crate) guardrails: Vec<Row>,
    /// Whether every guardrail passed where it counts.
    pub(crate) passed: bool,
}

/// A step of preparation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreparedRow {
    pub(crate) command: String,
    /// Relative to the project.
    pub(crate) folder: String,
    /// `up-to-date`, `done` or `failed`.
    pub(crate) end: &'static str,
    pub(crate) ms: u64,
    pub(crate) log: PathBuf,
}

/// A guardrail at both places.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) command: String,
    pub(crate) kind: GuardrailKind,
    pub(crate) in_place: Option<Ended>,
    pub(crate) in_judge: Option<Ended>,
    /// What the two say about the judge: `proven`, `fails-in-judge` or `fails-otherwise`.
    pub(crate) proof: Option<&'static str>,
    /// What seems to be missing in the judge, in sentences.
    pub(crate) missing: Vec<String>,
}

/// How a guardrail ended at one place.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ended {
    pub(crate) passed: bool,
    pub(crate) code: Option<i32>,
    pub(crate) ms: u64,
    pub(crate) log: PathBuf,
    #[serde(skip)]
    signature: Option<String>,
}

/// What happens on the way.
pub(crate) enum Step<'a> {
    /// The judge is being brought to the commit.
    Bringing,
    Preparing(&'a str),
    InPlace(&'a str),
    InJudge(&'a str),
}

/// Why there is no result.
pub(crate) enum NoResult {
    /// The judge could not be brought to the commit.
    NotJudged(String),
    /// Someone asked ralph to stop.
    Interrupted,
}

/// Judges. The guardrails of the working tree run first, as in a loop.
pub(crate) fn judge(
    supervisor: &mut Supervisor,
    request: &Request<'_>,
    notice: &mut dyn FnMut(Step<'_>),
) -> Result<std::result::Result<Judged, NoResult>> {
    match Source::find(supervisor, request.project)? {
        Some(source) => {
            let wishes = request.wishes.clone();
            let mut workspace = match request.fresh {
                Some(folder) => Workspace::fresh(folder, request.project, source, wishes)?,
                None => Workspace::take(request.project, source, wishes)?,
            };
            judge_in(supervisor, &mut workspace, request, notice)
        }
        None if request.checkout == CheckoutWhen::Require => {
            Ok(Err(NoResult::NotJudged("the project is not in a git repository".to_owned())))
        }
        None => {
            let folder = tempfile::Builder::new().prefix("ralph-judge-").tempdir()?;
            let mut session = Session::new(supervisor, request, notice, folder.path())?;
            let judged = session.judge_in_place("the project is not in a git repository");
            session.finish();
            judged
        }
    }
}

/// Judges in a workspace that is taken already.
pub(crate) fn judge_in(
    supervisor: &mut Supervisor,
    workspace: &mut Workspace,
    request: &Request<'_>,
    notice: &mut dyn FnMut(Step<'_>),
) -> Result<std::result::Result<Judged, NoResult>> {
    let lock = workspace.lock().try_clone()?.into();
    let folder = workspace.folder().to_owned();
    let mark = Mark::new(&format!("judge-{}", std::process::id()), &folder);
    supervisor.guarded(Guardian::start(mark, &[lock]).context("cannot start the guardian")?);
    let mut session = Session::new(supervisor, request, notice, &folder)?;
    let judged = session.judge(workspace);
    session.finish();
    judged
}

impl Row {
    /// What decides.
    fn counts(&self) -> Option<&Ended> {
        self.in_judge.as_ref().or(self.in_place.as_ref())
    }
}

impl Ended {
    fn ending(&self) -> Ending {
        Ending { code: self.code, signature: self.signature.clone() }
    }
}

impl From<Prepared> for PreparedRow {
    fn from(prepared: Prepared) -> Self {
        let end = match prepared.end {
            PrepareEnd::UpToDate => "up-to-date",
            PrepareEnd::Done => "done",
            PrepareEnd::Failed(_) => "failed",
        };
        let Prepared { step, ms, log, .. } = prepared;
        Self { command: step.command, folder: step.folder, end, ms, log }
    }
}
