//! The loop inside one conversation: the agent's stop hook asks, and what the engine decides is done.
//!
//! Each call is a process of its own that takes the run's lock, folds the journal, records, and lets go.

mod checks;
mod in_judge;

use std::{
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_agents::{Failure, FailureKind};
use ralph_core::{
    engine::{
        Action, Run,
        commit::CommitEnd,
        event::{Event, OpinionEnded, OpinionStarted, RunStarted, Turn, TurnEnd, TurnEnded, View, Why},
        judgement::Judgement,
        outcome::Outcome,
        plan::Plan,
    },
    prompt::notes::with_notes,
    session::{reminder, status},
    setup::{InSession, PromptSource, Setup},
};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::{judge::RunJudge, ledger::Ledger, requests, work_done};
use crate::{
    hidden::variables,
    journal::{
        self, Journal,
        run_dir::{RunDir, record},
        tries,
    },
    project::git::Git,
    receipt::{self, Issue},
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
    /// Whether anyone counts them in this host.
    pub(crate) is_counted: bool,
    /// What the guard thought of the calls of this turn.
    pub(crate) calls: Vec<Judgement>,
}

/// There is one once the answer that begins the current turn is on its way to the agent.
const TOLD: &str = "told";

/// Takes note that the agent is told what the current turn begins with.
pub(crate) fn told(run: &RunDir) {
    let _ = record(&run.path().join(TOLD), b"");
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
    /// Whether anyone counts tool calls in this host.
    is_counted: bool,
    /// When the host no longer waits for the verdict.
    deadline: Option<Instant>,
    supervisor: Option<Supervisor>,
    /// Its processes end with this one.
    is_guarded: bool,
    /// Where a promise is decided, once one is made.
    judge: Option<RunJudge>,
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
pub(crate) fn begin(mut plan: Plan, mut setup: Setup, evidence: Evidence) -> Result<RunDir> {
    let session = setup.session.clone().ok_or_else(|| Error::new("the loop has no conversation"))?;
    let mut supervisor = Supervisor::new()?;
    let (mut head, mut is_in_repository) = (None, false);
    // What the tree is like is only evidence, so a git that does not answer is none.
    if let Ok(Some(git)) = Git::find(&mut supervisor, &setup.project) {
        is_in_repository = true;
        head = git.head(&mut supervisor).unwrap_or_default();
        if evidence == Evidence::Tree {
            let changes = git.changes(&mut supervisor).unwrap_or_default();
            setup.dirty = changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect();
        }
    }
    in_judge::place(&mut plan, &mut setup, is_in_repository)?;
    let run = RunDir::create(&setup.project)?;
    let journal = Journal::open(&run.journal())?;
    let started = RunStarted {
        run: run.id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        plan,
        setup: setup.clone(),
    };
    let ledger = Ledger::begin(started, variables::keep(&run, &setup), journal, Vec::new());
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
        is_guarded: false,
        judge: None,
    };
    session.advance()?;
    Ok(run)
}

impl SessionLoop {
    /// Takes a loop up again. Nothing if it has ended.
    pub(crate) fn open(run: &RunDir) -> Result<Option<Self>> {
        let journal = lock(run)?;
        let mut known = journal::fold(&run.journal())?.run;
        variables::restore(run, &mut known.started.setup)?;
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
            is_guarded: false,
            judge: None,
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
        self.take_judge(&stopped)?;
        let verdict = self.end_turn(stopped);
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.release();
        }
        verdict
    }

    fn end_turn(&mut self, stopped: Stopped) -> Result<Verdict> {
        if self.ledger.run().state.is_in_trial() {
            // The hook before this one was killed at it, and its judge is gone.
            let limits = self.ledger.run().plan.limits;
            self.ledger.record(Event::RunResumed { pid: std::process::id(), limits });
        }
        if !self.ledger.run().state.is_in_turn()
            // The hook before this one was killed before it could say what follows from its turn.
            && let verdict @ Verdict::LetGo { .. } = self.advance()?
        {
            return Ok(verdict);
        }
        let before = self.ledger.run().state.spent().tools;
        let took = Timestamp::now().duration_since(self.since).as_millis();
        self.ledger.record_judgements(stopped.calls);
        requests::take(&mut self.ledger, &self.run);
        let untold = self.untold();
        self.ledger.take_tries(tries::found(&self.run, Some(&self.run.path().join("spool"))));
        self.ledger.record(Event::TurnEnded(Box::new(TurnEnded {
            claimed: stopped.claimed,
            blocked: stopped.blocked,
            ms: u64::try_from(took).unwrap_or(0),
            tools: stopped.tools.saturating_sub(before),
            session: self.session.id.clone(),
            untold,
            ..TurnEnded::new(stopped.end)
        })));
        self.advance()
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
                    let notes = turn.notes.clone();
                    let _ = fs_err::remove_file(self.run.path().join(TOLD));
                    self.ledger.record(Event::TurnStarted(turn));
                    let Run { plan, state, .. } = self.ledger.run();
                    let text = reminder(plan, &self.session, self.task(), &feedback);
                    return Ok(Verdict::GoOn(with_notes(text, &state.note_texts(&notes), &plan.claims)));
                }
                Action::Finish(outcome) => {
                    let Run { plan, state, .. } = self.ledger.run();
                    let exit_code = state.exit_code(plan, &outcome);
                    self.finish(&outcome, exit_code);
                    let status = status(&self.ledger.run().state);
                    return Ok(Verdict::LetGo { outcome, status });
                }
                Action::RunBaseline(index) => {
                    self.ledger.baseline_started(index);
                    let ended = self.run_gate(index)?;
                    self.ledger.record(Event::BaselineEnded(ended));
                }
                Action::RunGate(index) => {
                    if self.ledger.run().plan.gates[index].check.is_command() {
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
                Action::BringJudge => self.bring_judge(),
                Action::RunInJudge(index) => self.run_in_judge(index)?,
                Action::TakeBase => self.take_base(),
                Action::Examine => self.examine(),
                Action::PutBack(files) => self.put_back(&files),
                Action::AskOpinion(order) => self.refuse_opinion(order.into()),
                Action::AbandonOpinion => self.end_opinion(TurnEnd::Abandoned),
                Action::ForgoLook(why) => self.ledger.record(Event::LookForgone { why }),
                Action::Deliver => self.ledger.record(Event::Delivered),
                Action::Commit => self.ledger.record(Event::CommitEnded(CommitEnd::NotWanted)),
                // The conversation has waited already.
                Action::StartWait(_) => {
                    let until_ms = Timestamp::now().as_millisecond();
                    self.ledger.record(Event::WaitStarted { until_ms, why: Why::Retry });
                }
                Action::WaitUntil(_) => self.ledger.record(Event::WaitEnded { ms: 0 }),
                // The user is in the conversation, and pauses it there.
                Action::Hold => {
                    let request = self.ledger.run().state.requests_taken();
                    self.ledger.record(Event::PauseEnded { request });
                }
            }
        }
    }

    /// No reviewer is started from a hook: its agent would wait for it. A person has to look instead.
    fn refuse_opinion(&mut self, started: OpinionStarted) {
        let about = started.about;
        self.ledger.record(Event::OpinionStarted(Box::new(started)));
        let message = "no reviewer is asked inside a conversation; use `ralph review`".to_owned();
        let end = TurnEnd::Failed(Failure { kind: FailureKind::Transient, message });
        self.ledger.record(Event::OpinionEnded(Box::new(OpinionEnded::new(about, end))));
    }

    fn end_opinion(&mut self, end: TurnEnd) {
        if let Some(last) = &self.ledger.run().memory.opinion {
            let ended = OpinionEnded::new(last.started.about, end);
            self.ledger.record(Event::OpinionEnded(Box::new(ended)));
        }
    }

    /// Records the end and makes the receipt. The conversation is not contained, so the key is in reach of it.
    fn finish(&mut self, outcome: &Outcome, exit_code: u8) {
        let ended = Event::RunEnded { outcome: outcome.clone(), exit_code };
        let mut own = None;
        let supervisor = match &mut self.supervisor {
            Some(supervisor) => supervisor,
            None => match Supervisor::new() {
                Ok(new) => own.insert(new),
                Err(_) => return self.ledger.record(ended),
            },
        };
        let repository = Git::find(supervisor, &self.setup.project).ok().flatten();
        work_done::count_in(&mut self.ledger, supervisor, &self.run, repository.as_ref());
        self.ledger.record(ended);
        let issue = Issue { repository: repository.as_ref(), key_reachable: Some(true) };
        // No one is there to be told; `ralph sign` says what is the matter.
        let _ = receipt::issue(supervisor, &self.run, &issue);
        if let Some(own) = own {
            own.release();
        }
    }

    /// What the agent was to be told in this turn, where the hook was killed before it could answer.
    fn untold(&self) -> Vec<u32> {
        let notes = self.ledger.run().memory.turn.as_ref().map(|last| last.turn.notes.clone());
        notes.filter(|_| !self.run.path().join(TOLD).exists()).unwrap_or_default()
    }

    fn task(&self) -> &str {
        match &self.setup.prompt {
            PromptSource::Text(task) => task,
            PromptSource::File(_) | PromptSource::Template(_) => "",
        }
    }
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
