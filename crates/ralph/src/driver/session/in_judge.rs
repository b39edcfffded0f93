//! A promise in a conversation is decided in a clean clone, too: the agent's program waits for its stop hook as long as
//! ralph's own configuration of it says, and the clone is kept for the next time.

use std::time::{Duration, Instant};

use ralph_core::{
    duration::millis,
    engine::{
        Action, Run,
        event::{Event, Examined, JudgeFailure, JudgeGateEnded, JudgeReady, PreparedStep},
        plan::{Gate, Plan},
    },
    setup::Setup,
    verify::{missing, rules::CheckoutWhen},
};
use ralph_sys::{
    error::{Error, Result},
    process::{Control, ProcessEvent, Sink, Spec},
};

use super::{SessionLoop, Stopped};
use crate::{
    driver::{
        examine::{KEPT, copies},
        judge::{NotBrought, Opened, RunJudge, environment},
        start::verdict_place,
    },
    gates::{self, InJudge},
    journal::{kept_stream::mask_file, run_dir::record_into},
    project::git::Git,
    workspace::{Candidate, NotJudged, PrepareEnd, Prepared, Source, StepCall, StepEnd, Workspace},
};

/// Decides where promises will be decided: in the working tree alone where there is nothing to clone.
pub(super) fn place(plan: &mut Plan, setup: &mut Setup, is_in_repository: bool) -> Result<()> {
    let is_wanted = plan.checkout != CheckoutWhen::Never && plan.gates.iter().any(Gate::is_for_judge);
    if !is_wanted || is_in_repository {
        return Ok(());
    }
    if plan.checkout == CheckoutWhen::Require {
        return Err(verdict_place::not_in_a_repository());
    }
    plan.checkout = CheckoutWhen::Never;
    setup.judge.in_place = Some(verdict_place::NO_REPOSITORY.to_owned());
    Ok(())
}

impl SessionLoop {
    /// Copies what judges: the host waits half a minute for the start, and not for a clone.
    pub(super) fn take_base(&mut self) {
        let started = Instant::now();
        let (copies, why) = match copies::take(&self.setup, self.ledger.run(), &self.run) {
            Ok(count) => (Some(count), None),
            Err(why) => (None, Some(why)),
        };
        let ms = millis(started.elapsed());
        self.ledger.record(Event::BaseTaken { commit: None, copies, why, ms });
    }

    /// Compares what judges with the copies.
    pub(super) fn examine(&mut self) {
        self.ledger.record(Event::ExamineStarted);
        let started = Instant::now();
        let examined = if self.ledger.run().state.has_copies() {
            copies::examine(&self.setup, self.ledger.run(), &self.run)
        } else {
            Ok(Examined::default())
        };
        let ms = millis(started.elapsed());
        self.ledger.record(match examined {
            Ok(examined) => Event::Examined(Box::new(Examined { ms, ..examined })),
            Err(error) => {
                let why = format!("the checks cannot be compared: {error}");
                Event::JudgeFailed { cause: JudgeFailure::NotFetched, why }
            }
        });
    }

    /// Puts files back as they were copied.
    pub(super) fn put_back(&mut self, files: &[String]) {
        let (iteration, attempt) = self.ledger.run().state.position();
        let place = self.run.turn(iteration, attempt).join(KEPT);
        let mut put_back = copies::put_back(&self.setup, &self.run, &place, files);
        let kept = place.strip_prefix(self.run.path()).unwrap_or(&place);
        put_back.kept = place.exists().then(|| kept.display().to_string());
        self.ledger.record(Event::PutBack(put_back));
    }

    /// Takes a judge of the project, if the turn would be decided in one. Before processes are guarded, so that those in
    /// the judge do not outlive its lock.
    pub(super) fn take_judge(&mut self, stopped: &Stopped) -> Result<()> {
        let Run { plan, state, .. } = self.ledger.run();
        let is_due = match plan.checkout {
            CheckoutWhen::Never => false,
            CheckoutWhen::Always => true,
            CheckoutWhen::Claim | CheckoutWhen::Require => stopped.claimed || state.is_in_trial(),
        };
        if !is_due || !plan.gates.iter().any(Gate::is_for_judge) {
            return Ok(());
        }
        self.supervise(false)?;
        let Self { supervisor: Some(supervisor), setup, .. } = self else { return Ok(()) };
        // Where there is none, the working tree decides, and that is said then.
        let source = Source::find(supervisor, &setup.project).ok().flatten();
        let taken =
            source.and_then(|source| Workspace::take(&setup.project, source, (&setup.judge).into()).ok());
        self.judge = taken.map(RunJudge::new);
        Ok(())
    }

    /// Brings the judge to the files as they are: in a conversation ralph commits nothing.
    pub(super) fn bring_judge(&mut self) {
        self.ledger.record(Event::JudgeStarted { commit: None });
        let event = match self.open_judge() {
            Ok(ready) => Event::JudgeReady(Box::new(ready)),
            Err((cause, why)) => Event::JudgeFailed { cause, why },
        };
        self.ledger.record(event);
    }

    /// Checks a gate in the judge.
    pub(super) fn run_in_judge(&mut self, index: usize) -> Result<()> {
        self.ledger.record(Event::JudgeGateStarted { gate: index });
        let ended = self.check_in_judge(index)?;
        let is_red = ended.ended.failure.is_some();
        if let Some(opened) = self.judge.as_mut().and_then(|judge| judge.opened.as_mut()) {
            opened.all_passed &= !is_red;
        }
        self.ledger.record(Event::JudgeGateEnded(ended));
        if !matches!(self.ledger.run().next(jiff::Timestamp::now()), Action::RunInJudge(_)) {
            self.close_judge();
        }
        Ok(())
    }

    fn open_judge(&mut self) -> std::result::Result<JudgeReady, NotBrought> {
        let started = Instant::now();
        let no_place = |error: std::io::Error| (JudgeFailure::NoPlace, error.to_string());
        let none = |why: &str| (JudgeFailure::NoPlace, why.to_owned());
        let Some(setup) = self.setup_in_time() else { return Err(none("there is no time left for it")) };
        self.supervise(true).map_err(|error| none(&error.to_string()))?;
        let Self { judge: Some(judge), supervisor: Some(supervisor), ledger, .. } = self else {
            return Err(none("the project is not in a git repository, or its judge is in use"));
        };
        let workspace = &mut judge.workspace;
        let head = Git::at(&workspace.source().top).head(supervisor).map_err(no_place)?;
        workspace.has_head(head);
        let brought = workspace
            .bring_to(supervisor, &Candidate::WorkingTree, &[])
            .map_err(|NotJudged(why)| (JudgeFailure::NotFetched, why))?;
        let (view, elsewhere) = workspace.view(supervisor, None).map_err(no_place)?;
        let prepared = workspace
            .prepare(&mut |&StepCall { command, folder, log }| {
                let file = record_into(log)?;
                let spec = Spec::shell(command, &view.seat().join(folder))
                    .envs(environment(workspace, &view, false))
                    .prints(Sink::File(file.try_clone()?), Sink::File(file))
                    .within(setup.timeouts.gate_timeout_ms.map(Duration::from_millis))
                    .without("CLAUDECODE");
                let ended = supervisor.run(view.wrap(spec, None)?, &mut |happening| {
                    ledger.notice(&happening);
                    Control::Something
                })?;
                let _ = mask_file(log);
                let code = ended.status.filter(|_| ended.cause.is_none()).and_then(|status| status.code());
                Ok(StepEnd { code, took: ended.took })
            })
            .map_err(no_place)?;
        let done = prepared.iter().filter(|it| it.end != PrepareEnd::UpToDate).map(|it: &Prepared| {
            PreparedStep { command: it.step.command.clone(), ms: it.ms, passed: it.end == PrepareEnd::Done }
        });
        let steps = done.collect();
        judge.opened = Some(Opened { view, prepared, all_passed: true });
        let caveats = brought.caveats.into_iter().chain(elsewhere).collect();
        Ok(JudgeReady { commit: brought.commit, ms: millis(started.elapsed()), caveats, prepared: steps })
    }

    fn check_in_judge(&mut self, index: usize) -> Result<JudgeGateEnded> {
        let cut_off = || Error::new("the check was interrupted");
        let Some(setup) = self.setup_in_time() else {
            return Ok(JudgeGateEnded { ended: gates::not_run(index), differs: Vec::new() });
        };
        let Self { judge: Some(judge), supervisor: Some(supervisor), ledger, run, .. } = self else {
            return Err(cut_off());
        };
        let RunJudge { workspace, opened: Some(Opened { view, .. }), .. } = judge else {
            return Err(cut_off());
        };
        let plan = ledger.run().plan.gates.clone();
        let (iteration, attempt) = ledger.run().state.position();
        let name = format!("{}_judge", gates::log_name(&plan, index));
        let was_failing = ledger.run().state.baseline().still_fails(index);
        let folder = view.seat().join(&workspace.source().prefix);
        let in_judge = Some(InJudge { view, folder, env: environment(workspace, view, false) });
        let (setup, name, sandbox) = (&setup, name.as_str(), None);
        let place = gates::GatePlace { setup, run, iteration, attempt, name, was_failing, sandbox, in_judge };
        let mut notice = |happening: &ProcessEvent<'_>| ledger.notice(happening);
        let ended = gates::check(supervisor, &plan, index, place, &mut notice).ok_or_else(cut_off)?;
        let mut differs = Vec::new();
        if let Some(failure) = &ended.failure
            && let Ok(only) = workspace.only_in_tree(supervisor, view)
        {
            differs = missing::guess(&failure.output, &only).iter().map(ToString::to_string).collect();
        }
        Ok(JudgeGateEnded { ended, differs })
    }

    /// Keeps of the judge what may stay.
    fn close_judge(&mut self) {
        let Self { judge: Some(judge), supervisor: Some(supervisor), .. } = self else { return };
        let Some(Opened { view, prepared, all_passed }) = judge.opened.take() else { return };
        let closed =
            if all_passed { judge.workspace.accept(supervisor, view, &prepared) } else { view.close() };
        if let Err(error) = closed {
            self.ledger.warn(format!("the judge begins with empty caches the next time: {error}"));
        }
    }
}
