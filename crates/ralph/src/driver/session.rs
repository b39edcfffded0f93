//! The loop inside one conversation: the agent's stop hook asks, and what the engine decides is done.
//!
//! Each call is a process of its own that takes the run's lock, folds the journal, records, and lets go.

use std::{
    os::fd::OwnedFd,
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_core::duration::millis;
use ralph_core::{
    engine::{
        Action, Run,
        commit::CommitEnd,
        event::{Event, GateEnded, RunStarted, Turn, TurnEnd, TurnEnded, View, Why},
        findings::Finding,
        judgement::Judgement,
        outcome::Outcome,
        plan::{Check, Plan},
    },
    gate_failure::{GateExit, GateFailure},
    session::{reminder, status},
    setup::{InSession, PromptSource, Setup},
};
use ralph_sys::{
    error::{Context, Error, Result},
    process::{ProcessEvent, Supervisor, guardian::Guardian},
};

use super::{judge::no_judge, ledger::Ledger, work};
use crate::{
    gates,
    journal::{self, Journal, run_dir::RunDir, tries},
    project::{git::Git, own_files},
};

/// How long another hook of the same conversation may take before this one gives up.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// A turn that is over, as the hook knows it.
pub(crate) struct Stopped {
    pub(crate) end: TurnEnd,
    /// The agent's last message has the promise in it.
    pub(crate) claimed: bool,
    /// Why it cannot continue, if it said so.
    pub(crate) blocked: Option<String>,
    /// Tool calls since the loop began.
    pub(crate) tools: u64,
    /// Whether anybody counts them in this host.
    pub(crate) is_counted: bool,
    /// What the guard thought of the calls of this turn.
    pub(crate) calls: Vec<Judgement>,
}

/// What the agent may do now.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// It must go on, and is told this.
    GoOn(String),
    /// It may stop: the loop has ended so.
    LetGo {
        outcome: Outcome,
        /// The same in the word that scripts rely on.
        status: &'static str,
    },
}

/// One loop, with its journal locked.
pub(crate) struct SessionLoop {
    ledger: Ledger,
    setup: Setup,
    session: InSession,
    run: RunDir,
    /// When the current turn began.
    since: Timestamp,
    /// Where HEAD was when the loop began.
    head: Option<String>,
    /// Whether anybody counts tool calls in this host.
    is_counted: bool,
    /// When the host no longer waits for the verdict.
    deadline: Option<Instant>,
    supervisor: Option<Supervisor>,
}

/// What may show later that work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Counted tool calls alone.
    ToolCalls,
    /// A changed tree, too: it is looked at before.
    Tree,
}

/// Begins a loop, up to the agent's first turn. The host waits half a minute for that, so nothing is done that takes
/// longer the larger the project is, unless it must be.
pub(crate) fn begin(plan: Plan, mut setup: Setup, evidence: Evidence) -> Result<RunDir> {
    let session = setup.session.clone().ok_or_else(|| Error::new("the loop has no conversation"))?;
    let mut supervisor = Supervisor::new()?;
    let mut head = None;
    // What the tree is like is only evidence, so a git that does not answer is none.
    if let Ok(Some(git)) = Git::find(&mut supervisor, &setup.project) {
        head = git.head(&mut supervisor).unwrap_or_default();
        if evidence == Evidence::Tree {
            let changes = git.changes(&mut supervisor).unwrap_or_default();
            setup.dirty = changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect();
        }
    }
    let run = RunDir::create(&setup.project)?;
    let journal = Journal::open(&run.journal())?;
    let started = RunStarted {
        run: run.id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        plan,
        setup: setup.clone(),
    };
    let ledger = Ledger::begin(started, journal, Vec::new());
    let mut session = SessionLoop {
        ledger,
        setup,
        session,
        run: run.clone(),
        since: Timestamp::now(),
        head,
        is_counted: true,
        deadline: None,
        supervisor: Some(supervisor),
    };
    session.advance()?;
    Ok(run)
}

impl SessionLoop {
    /// Takes a loop up again. Nothing if it has ended.
    pub(crate) fn open(run: &RunDir) -> Result<Option<Self>> {
        let journal = lock(run)?;
        let known = journal::fold(&run.journal())?.run;
        let setup = known.started.setup.clone();
        let session =
            setup.session.clone().ok_or_else(|| Error::new("the run is not a loop inside a conversation"))?;
        if known.state.outcome().is_some() {
            return Ok(None);
        }
        let since = known.memory.turn.as_ref().map_or_else(Timestamp::now, |last| last.began);
        let head = known.memory.first_head.clone();
        let ledger = Ledger::resume(known, journal, Vec::new());
        Ok(Some(Self {
            ledger,
            setup,
            session,
            run: run.clone(),
            since,
            head,
            is_counted: true,
            deadline: None,
            supervisor: None,
        }))
    }

    /// When the current turn began.
    pub(crate) fn since(&self) -> Timestamp {
        self.since
    }

    /// When the loop began.
    pub(crate) fn began(&self) -> Timestamp {
        self.ledger.run().memory.began
    }

    /// The rules of the loop.
    pub(crate) fn plan(&self) -> &Plan {
        &self.ledger.run().plan
    }

    /// The current turn, from 1.
    pub(crate) fn turn(&self) -> u32 {
        self.ledger.run().state.position().0
    }

    /// Judges a turn that is over, before the host no longer waits: then it would take the agent's word.
    pub(crate) fn stop(mut self, stopped: Stopped, deadline: Instant) -> Result<Verdict> {
        (self.is_counted, self.deadline) = (stopped.is_counted, Some(deadline));
        let verdict = self.end_turn(stopped);
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.release();
        }
        verdict
    }

    fn end_turn(&mut self, stopped: Stopped) -> Result<Verdict> {
        if !self.ledger.run().state.is_in_turn()
            // The hook before this one was killed before it could say what follows from its turn.
            && let verdict @ Verdict::LetGo { .. } = self.advance()?
        {
            return Ok(verdict);
        }
        let before = self.ledger.run().state.spent().tools;
        let took = Timestamp::now().duration_since(self.since).as_millis();
        self.ledger.record_judgements(stopped.calls);
        self.take_tries();
        self.ledger.record(Event::TurnEnded(Box::new(TurnEnded {
            claimed: stopped.claimed,
            blocked: stopped.blocked,
            ms: u64::try_from(took).unwrap_or(0),
            tools: stopped.tools.saturating_sub(before),
            session: self.session.id.clone(),
            ..TurnEnded::new(stopped.end)
        })));
        self.advance()
    }

    /// Records what only a person may type and the agent typed.
    fn take_tries(&mut self) {
        let tries = tries::found(&self.run, &self.run.path().join("spool"));
        let (commands, files): (Vec<_>, Vec<_>) = tries.into_iter().unzip();
        self.ledger.found(commands.into_iter().map(|command| Finding::PersonsCommand { command }).collect());
        for file in files {
            let _ = fs_err::remove_file(file);
        }
    }

    /// Ends the loop before its time.
    pub(crate) fn cancel(mut self, why: &str) -> Result<()> {
        self.ledger.warn(why.to_owned());
        if self.ledger.run().state.is_in_turn() {
            self.ledger.record(Event::TurnEnded(Box::new(TurnEnded::new(TurnEnd::Interrupted))));
        }
        self.ledger.stop_requested();
        self.advance().map(drop)
    }

    /// Does what the engine decides until it is the agent's turn, or the end.
    fn advance(&mut self) -> Result<Verdict> {
        loop {
            match self.ledger.run().next(Timestamp::now()) {
                Action::RunTurn(order) => {
                    let feedback = self.ledger.run().state.feedback().to_vec();
                    let turn = Turn { head: self.head.clone(), ..order.into() };
                    self.ledger.record(Event::TurnStarted(turn));
                    let text = reminder(&self.ledger.run().plan, &self.session, self.task(), &feedback);
                    return Ok(Verdict::GoOn(text));
                }
                Action::Finish(outcome) => {
                    let Run { plan, state, .. } = self.ledger.run();
                    let exit_code = state.exit_code(plan, &outcome);
                    self.ledger.record(Event::RunEnded { outcome: outcome.clone(), exit_code });
                    let status = status(&self.ledger.run().state);
                    return Ok(Verdict::LetGo { outcome, status });
                }
                Action::RunBaseline(index) => {
                    self.ledger.baseline_started(index);
                    let ended = self.run_gate(index)?;
                    self.ledger.record(Event::BaselineEnded(ended));
                }
                Action::RunGate(index) => {
                    if matches!(self.ledger.run().plan.gates[index].check, Check::Command { .. }) {
                        self.ledger.gate_started(index);
                    }
                    let ended = self.run_gate(index)?;
                    self.ledger.record(Event::GateEnded(ended));
                }
                Action::AbandonTurn => {
                    self.ledger.record(Event::TurnEnded(Box::new(TurnEnded::new(TurnEnd::Abandoned))));
                }
                Action::HandOver { story, reason } => {
                    self.ledger.record(Event::StoryHandedOver { story, reason });
                }
                Action::PutAside(file) => self.ledger.record(Event::ClaimPutAside { file, to: None }),
                Action::Look | Action::JudgeTasks | Action::AwaitFiles(_) => {
                    self.ledger.record(Event::Looked(View::default()));
                }
                Action::BringJudge | Action::RunInJudge(_) => self.ledger.record(no_judge()),
                Action::Deliver => self.ledger.record(Event::Delivered),
                Action::Commit => self.ledger.record(Event::CommitEnded(CommitEnd::NotWanted)),
                // The conversation has waited already.
                Action::StartWait(_) => {
                    let until_ms = Timestamp::now().as_millisecond();
                    self.ledger.record(Event::WaitStarted { until_ms, why: Why::Retry });
                }
                Action::WaitUntil(_) => self.ledger.record(Event::WaitEnded { ms: 0 }),
            }
        }
    }

    fn task(&self) -> &str {
        match &self.setup.prompt {
            PromptSource::Text(task) => task,
            PromptSource::File(_) | PromptSource::Template(_) => "",
        }
    }

    fn run_gate(&mut self, index: usize) -> Result<GateEnded> {
        let gate = self.ledger.run().plan.gates[index].clone();
        let started = Instant::now();
        Ok(match &gate.check {
            Check::Work { tool_calls, otherwise } => {
                let counted = self.ledger.run().state.spent().tools;
                // Where calls are counted, a changed tree says nothing: the user saves files as well.
                let is_evident = !self.is_counted && counted == 0 && self.tree_has_changed()?;
                let is_enough = u64::from(*tool_calls) <= counted || is_evident;
                let failure = work::judge(&mut self.ledger, is_enough, *otherwise);
                let (ms, log) = (millis(started.elapsed()), String::new());
                GateEnded { gate: index, failure, ms, log, signature: None }
            }
            Check::Command { .. }
            | Check::ChildrenEnded { .. }
            | Check::TaskRules
            | Check::CleanTree
            | Check::StoriesDone
            | Check::PlanSettled => {
                let Some(setup) = self.setup_in_time() else { return Ok(not_run(index)) };
                self.supervise(true)?;
                let Self { ledger, run, supervisor, .. } = self;
                let (iteration, attempt) = ledger.run().state.position();
                let gates = ledger.run().plan.gates.clone();
                let (name, sandbox) = (gates::log_name(&gates, index), None);
                let was_failing = ledger.run().state.baseline().still_fails(index);
                let (setup, name) = (&setup, name.as_str());
                let place = gates::GatePlace {
                    setup,
                    run,
                    iteration,
                    attempt,
                    name,
                    was_failing,
                    sandbox,
                    in_judge: None,
                };
                let mut notice = |happening: &ProcessEvent<'_>| ledger.notice(happening);
                let supervisor = supervisor.as_mut();
                let found = supervisor.and_then(|it| gates::check(it, &gates, index, place, &mut notice));
                found.ok_or_else(|| Error::new("the check was interrupted"))?
            }
        })
    }

    /// The setup for a check that ends before the host no longer waits; nothing if there is no time left.
    fn setup_in_time(&self) -> Option<Setup> {
        let Some(deadline) = self.deadline else { return Some(self.setup.clone()) };
        let left = millis(deadline.saturating_duration_since(Instant::now()));
        let mut setup = self.setup.clone();
        setup.timeouts.gate_timeout_ms =
            Some(setup.timeouts.gate_timeout_ms.map_or(left, |limit| limit.min(left)));
        (0 < left).then_some(setup)
    }

    /// Where nobody has counted tool calls, another tree or another HEAD is evidence of work.
    fn tree_has_changed(&mut self) -> Result<bool> {
        self.supervise(false)?;
        let Self { supervisor: Some(supervisor), setup, head, .. } = self else { return Ok(false) };
        let Ok(Some(git)) = Git::find(supervisor, &setup.project) else { return Ok(false) };
        if git.head(supervisor).unwrap_or_default() != *head {
            return Ok(true);
        }
        let changes = git.changes(supervisor).unwrap_or_default();
        let now: std::collections::BTreeMap<_, _> =
            changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect();
        Ok(now != setup.dirty)
    }

    /// Makes processes possible; guarded ones end with this process.
    fn supervise(&mut self, guarded: bool) -> Result<()> {
        if self.supervisor.is_none() {
            let mut supervisor = Supervisor::new()?;
            if guarded {
                let _ = own_files::hide(&self.setup.project);
                let locks = [OwnedFd::from(self.ledger.journal.lock()?)];
                let guardian =
                    Guardian::start(&self.run.id(), &locks).context("cannot start the guardian")?;
                supervisor.guarded(guardian);
            }
            self.supervisor = Some(supervisor);
        }
        Ok(())
    }
}

/// A check for which no time is left.
fn not_run(gate: usize) -> GateEnded {
    let output = "the checks before it took all the time that the agent's program waits for ralph".to_owned();
    let failure = GateFailure::new(GateExit::NotStarted, output);
    GateEnded { gate, failure: Some(failure), ms: 0, log: String::new(), signature: None }
}

/// Opens the journal; another hook of the conversation may be at it for a moment.
fn lock(run: &RunDir) -> Result<Journal> {
    // A run that is gone must not come back as an empty journal.
    fs_err::metadata(run.journal())?;
    let started = Instant::now();
    loop {
        match Journal::open(&run.journal()) {
            Err(_) if journal::is_running(&run.journal()) && started.elapsed() < LOCK_TIMEOUT => {
                thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}
