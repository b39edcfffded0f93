//! Part: the judge of the run. Brings it to what is claimed, checks gates there, and keeps of it what may stay.
//!
//! Invariant: what commands wrote in the judge stays only if all of them passed, or if it was the code that the run
//! started from.

use std::{
    ffi::OsString,
    path::PathBuf,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_core::{
    duration::millis,
    engine::{
        Action,
        event::{Event, JudgeFailure, JudgeGateEnded, JudgeReady, PreparedStep},
        plan::CommitRule,
    },
    setup::ScmTask,
    verify::{
        environment::{self, Contained, misleads_git},
        missing,
    },
};
use ralph_sandbox::Sandbox;
use ralph_sys::{
    error::Result,
    process::{Control, Sink, Spec},
};

use super::{Driver, site::Site};
use crate::{
    gates::{self, GatePlace, InJudge},
    journal::{kept_stream::mask_file, run_dir::record_into},
    project::git::Git,
    workspace::{Candidate, NotJudged, PrepareEnd, Prepared, StepCall, StepEnd, Workspace, view::View},
};

/// What the logs of guardrails end in that ran in the judge.
const JUDGE_LOG: &str = "judge";

/// The judge of a run.
pub(super) struct RunJudge {
    pub(super) workspace: Workspace,
    pub(super) opened: Option<Opened>,
    /// What it was brought to last.
    pub(super) brought: Option<BroughtTo>,
}

/// What a judge was brought to.
#[derive(Clone)]
pub(super) struct BroughtTo {
    /// A commit of its own store.
    pub(super) commit: String,
    /// Files that lie over it.
    pub(super) laid: Vec<PathBuf>,
}

/// What commands see of it.
pub(super) struct Opened {
    pub(super) view: View,
    pub(super) prepared: Vec<Prepared>,
    pub(super) all_passed: bool,
}

/// What is to be judged.
pub(super) struct JudgeTarget {
    /// Nothing means the files as they are.
    pub(super) commit: Option<String>,
    /// Files that were not committed before the run and that no one has touched.
    pub(super) laid: Vec<PathBuf>,
}

/// Why the judge does not have it.
pub(super) type NotBrought = (JudgeFailure, String);

impl RunJudge {
    pub(super) fn new(workspace: Workspace) -> Self {
        Self { workspace, opened: None, brought: None }
    }
}

impl Driver {
    /// Brings the judge to what is claimed or, before the first turn, to what the run starts from.
    pub(super) fn bring_judge(&mut self) {
        let target = self.target();
        let commit = target.as_ref().ok().and_then(|target| target.commit.clone());
        self.site.ledger.record(Event::JudgeStarted { commit });
        let brought =
            target.map_err(|error| (JudgeFailure::NotFetched, error.to_string())).and_then(|target| {
                let candidate = target.commit.as_deref().map_or(Candidate::WorkingTree, Candidate::Commit);
                self.open_judge(&candidate, &target.laid)
            });
        // What was cut off has shown nothing.
        if self.site.run().state.is_stopping() {
            return self.close_judge(Written::Dropped);
        }
        self.site.ledger.record(match brought {
            Ok(ready) => Event::JudgeReady(Box::new(ready)),
            Err((cause, why)) => Event::JudgeFailed { cause, why },
        });
    }

    /// Checks a gate in the judge.
    pub(super) fn run_in_judge(&mut self, index: usize) {
        let is_base = !self.site.run().state.is_in_trial();
        self.site.ledger.record(Event::JudgeGateStarted { gate: index });
        let Some(ended) = self.check_in_judge(index, JUDGE_LOG) else {
            return self.close_judge(Written::Dropped);
        };
        let is_red = ended.ended.failure.is_some();
        if let Some(opened) = self.judge.as_mut().and_then(|judge| judge.opened.as_mut()) {
            opened.all_passed &= !is_red;
        }
        self.site.ledger.record(Event::JudgeGateEnded(ended));
        if let Some(stories) = &mut self.stories {
            stories.forget();
            stories.take_back_unverified(&mut self.site, self.git.as_ref());
        }
        if !matches!(self.site.run().next(Timestamp::now()), Action::RunInJudge(_)) {
            self.close_judge(if is_base { Written::Kept } else { Written::KeptIfPassed });
        }
    }

    /// Does what the settings do after a commit, because the judge agreed or a person decides.
    pub(super) fn deliver(&mut self) {
        if let Some(scm) = self.site.setup.scm.clone() {
            let after = scm.tasks.iter().skip_while(|task| **task != ScmTask::Commit).skip(1);
            for task in after.filter(|task| task.follows_commit()) {
                super::commit::run_task(&mut self.site, &scm, task.words());
            }
        }
        self.site.ledger.record(Event::Delivered);
    }

    /// The commit that the turn ended in, where ralph or the agent commits; else the files.
    pub(super) fn target(&mut self) -> Result<JudgeTarget> {
        let Self { site, git, .. } = self;
        let plan = &site.run().plan;
        let makes_commits = site.setup.scm.as_ref().is_some_and(|scm| scm.tasks.contains(&ScmTask::Commit));
        let is_committed = plan.commit != CommitRule::Never && makes_commits || plan.checks_tree();
        let files = JudgeTarget { commit: None, laid: Vec::new() };
        let Some(git) = git.as_ref().filter(|_| is_committed) else { return Ok(files) };
        let Some(head) = git.head(&mut site.supervisor)? else { return Ok(files) };
        let changes = git.changes(&mut site.supervisor)?;
        let is_untouched = |it: &crate::project::git::Change| {
            site.setup.dirty.get(&it.key()).is_some_and(|before| *before == it.fingerprint)
        };
        let laid = changes.into_iter().filter(is_untouched).map(|change| change.path).collect();
        Ok(JudgeTarget { commit: Some(head), laid })
    }

    pub(super) fn open_judge(
        &mut self,
        candidate: &Candidate<'_>,
        laid: &[PathBuf],
    ) -> std::result::Result<JudgeReady, NotBrought> {
        let started = Instant::now();
        let no_place = |error: std::io::Error| (JudgeFailure::NoPlace, error.to_string());
        let is_base = !self.site.run().state.is_in_trial();
        let Self { site, judge, containment, .. } = self;
        let Some(judge) = judge else {
            return Err((JudgeFailure::NoPlace, "there is none in this process".to_owned()));
        };
        judge.opened = None;
        let workspace = &mut judge.workspace;
        if matches!(candidate, Candidate::WorkingTree) {
            let head = Git::at(&workspace.source().top).head(&mut site.supervisor).map_err(no_place)?;
            workspace.has_head(head);
        }
        let brought = workspace
            .bring_to(&mut site.supervisor, candidate, laid)
            .map_err(|NotJudged(why)| (JudgeFailure::NotFetched, why))?;
        let mut caveats = brought.caveats;
        let mut prepared = Vec::new();
        // What the run starts from is the user's: it is prepared as the user would do it.
        if is_base && workspace.needs_preparation() && containment.of_gates(&site.setup).is_some() {
            let (view, _) = workspace.view(&mut site.supervisor, None).map_err(no_place)?;
            prepared = prepare(site, workspace, &view, None).map_err(no_place)?;
            workspace.accept(&mut site.supervisor, view, &prepared).map_err(no_place)?;
        }
        let mut sandbox = containment.of_gates(&site.setup);
        let (view, elsewhere) =
            workspace.view(&mut site.supervisor, sandbox.as_deref_mut()).map_err(no_place)?;
        caveats.extend(elsewhere);
        let more = prepare(site, workspace, &view, sandbox).map_err(no_place)?;
        let done = |prepared: &[Prepared]| -> Vec<PreparedStep> {
            let steps = prepared.iter().filter(|it| it.end != PrepareEnd::UpToDate);
            let step = |it: &Prepared| PreparedStep {
                command: it.step.command.clone(),
                ms: it.ms,
                passed: it.end == PrepareEnd::Done,
            };
            steps.map(step).collect()
        };
        let steps = done(&prepared).into_iter().chain(done(&more)).collect();
        if !matches!(candidate, Candidate::Made(_)) {
            judge.brought = Some(BroughtTo { commit: brought.commit.clone(), laid: laid.to_vec() });
        }
        judge.opened = Some(Opened { view, prepared: more, all_passed: true });
        Ok(JudgeReady { commit: brought.commit, ms: millis(started.elapsed()), caveats, prepared: steps })
    }

    /// Runs the command of a gate in the judge; nothing when someone ended it.
    pub(super) fn check_in_judge(&mut self, index: usize, suffix: &str) -> Option<JudgeGateEnded> {
        let Self { site, judge, containment, .. } = self;
        let RunJudge { workspace, opened, .. } = judge.as_mut()?;
        let view = &opened.as_ref()?.view;
        let Site { ledger, setup, dir, supervisor } = &mut *site;
        let plan = ledger.run().plan.gates.clone();
        let state = &ledger.run().state;
        let (iteration, attempt) = if state.is_in_trial() { state.position() } else { (0, 1) };
        let name = format!("{}_{suffix}", gates::log_name(&plan, index));
        let was_failing = ledger.run().state.baseline().still_fails(index);
        let sandbox = containment.of_gates(setup);
        let env = environment(workspace, view, sandbox.is_some());
        let folder = view.seat().join(&workspace.source().prefix);
        let in_judge = Some(InJudge { view, folder, env });
        let place =
            GatePlace { setup, run: dir, iteration, attempt, name: &name, was_failing, sandbox, in_judge };
        let ended = gates::check(supervisor, &plan, index, place, &mut |happening| ledger.notice(happening))?;
        let mut differs = Vec::new();
        if let Some(failure) = ended.failure.as_ref().filter(|_| suffix == JUDGE_LOG)
            && let Ok(only) = workspace.only_in_tree(supervisor, view)
        {
            differs = missing::guess(&failure.output, &only).iter().map(ToString::to_string).collect();
        }
        containment.note_contacts(site);
        Some(JudgeGateEnded { ended, differs })
    }

    /// Nothing is to be checked in the judge for now.
    pub(super) fn close_judge(&mut self, written: Written) {
        let Some(judge) = &mut self.judge else { return };
        let Some(Opened { view, prepared, all_passed }) = judge.opened.take() else { return };
        let is_kept = match written {
            Written::Kept => true,
            Written::KeptIfPassed => all_passed,
            Written::Dropped => false,
        };
        let closed = if is_kept {
            judge.workspace.accept(&mut self.site.supervisor, view, &prepared)
        } else {
            view.close()
        };
        if let Err(error) = closed {
            self.site.ledger.warn(format!("the judge begins with empty caches the next time: {error}"));
        }
    }
}

/// What becomes of what commands wrote in the judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Kept,
    KeptIfPassed,
    Dropped,
}

/// The variables of commands in the judge.
pub(super) fn environment(
    workspace: &Workspace,
    view: &View,
    is_contained: bool,
) -> Vec<(OsString, Option<OsString>)> {
    let contained = if is_contained { Contained::Yes } else { Contained::No };
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let variables = environment::variables(view.seat(), workspace.number(), contained, is_set);
    let misleading = std::env::vars_os().map(|(name, _)| name).filter(|name| misleads_git(name));
    let variables = variables.into_iter().map(|(name, value)| (name, Some(value)));
    misleading.map(|name| (name, None)).chain(variables).collect()
}

/// Installs what the gates need.
fn prepare(
    site: &mut Site,
    workspace: &Workspace,
    view: &View,
    mut sandbox: Option<&mut Sandbox>,
) -> std::io::Result<Vec<Prepared>> {
    let Site { ledger, setup, supervisor, .. } = site;
    workspace.prepare(&mut |&StepCall { command, folder, log }| {
        ledger.reporters_detail(&format!("Preparing the judge: {command}"));
        let file = record_into(log)?;
        let spec = Spec::shell(command, &view.seat().join(folder))
            .envs(environment(workspace, view, sandbox.is_some()))
            .prints(Sink::File(file.try_clone()?), Sink::File(file))
            .within(setup.timeouts.gate_timeout_ms.map(Duration::from_millis))
            .without("CLAUDECODE");
        let spec = view.wrap(spec, sandbox.as_deref_mut())?;
        let ended = supervisor.run(spec, &mut |happening| {
            ledger.notice(&happening);
            Control::Something
        })?;
        let _ = mask_file(log);
        let code = ended.status.filter(|_| ended.cause.is_none()).and_then(|status| status.code());
        Ok(StepEnd { code, took: ended.took })
    })
}
