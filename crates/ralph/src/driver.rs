//! Performs what the engine decides, records what happened, and shows it.
//!
//! Invariant: what happened is in the journal before anything follows from it. A turn and a commit are
//! recorded before they begin, so that a killed ralph is known to have been in the middle of one.

mod abandon;
pub(crate) mod agent_version;
mod assigned;
mod await_others;
mod budget;
mod commit;
mod conversation;
mod ended;
mod hooking;
mod ledger;
mod listener;
mod notify;
mod progress;
mod refuse;
mod sandboxed;
pub(crate) mod session;
mod spool;
mod start;
pub(crate) mod stories;
mod turn;
mod work;

use std::{
    fs::File,
    path::PathBuf,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_agents::hooking::Hooks;
use ralph_core::{
    claim::Claim,
    containment::wanted::GatesRun,
    duration::millis,
    engine::{
        Action, Wait,
        event::{Event, GateEnded, Topic, View, Why},
        memory::{Waiting, left_at},
        outcome::Outcome,
        plan::Check,
        stop::Stop,
    },
    setup::Setup,
};
use ralph_sandbox::Sandbox;
use ralph_sys::{
    error::Result,
    hash::{self, fnv},
    process::{Supervisor, Waited},
};

use crate::{gates, journal::run_dir::RunDir, project::git::Git, report::Reporter};
use ledger::Ledger;
use notify::NotifyReason;

pub(crate) use start::{Resume, Start, fingerprints};
pub(crate) use stories::{preview, settle};

/// How long a wait goes on without looking at the clock on the wall.
const MAX_SLEEP: Duration = Duration::from_mins(1);

/// One run on its way.
pub(crate) struct Driver {
    ledger: Ledger,
    setup: Setup,
    run: RunDir,
    supervisor: Supervisor,
    /// The agent's program, found on the path.
    program: PathBuf,
    git: Option<Git>,
    /// The repository whose files tell whether anything comes of the work, also where ralph does not commit.
    repository: Option<Git>,
    /// The last prompt that could be read, in case its file goes away.
    base_prompt: Option<String>,
    /// How long the bus of the task was when the turn began.
    bus_length: u64,
    /// What contains the agent, if anything does.
    sandbox: Option<Sandbox>,
    /// Starts what the agent inside asks for, while it has its turn.
    spool: Option<spool::Spool>,
    /// The hooks that the agent gets.
    hooks: Option<Hooks>,
    /// What there is to know of a stories loop.
    stories: Option<stories::Stories>,
    /// Locked while the run lasts.
    tree: Vec<File>,
}

impl Driver {
    /// What the rules of the run are applied to.
    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Runs the loop to its end and returns the exit code.
    pub(crate) fn drive(mut self) -> Result<u8> {
        if self.ledger.reporters.wants_ticks() {
            self.supervisor.ticking();
        }
        self.warn_of_plain_program();
        loop {
            // Between operations nobody else takes notice of a signal.
            if self.supervisor.stop_requested() {
                self.ledger.stop_requested();
            }
            if !self.setup.project.is_dir() {
                let project = self.setup.project.clone();
                return Ok(self.finish(&Outcome::Stopped(Stop::ProjectGone { project })));
            }
            match self.ledger.run().next() {
                Action::Look => {
                    self.revert_outside_edits();
                    let view = self.observe();
                    self.ledger.record(Event::Looked(view));
                }
                Action::RunTurn(order) => self.run_turn(order)?,
                Action::AbandonTurn => self.abandon_turn(),
                Action::JudgeTasks => self.judge_tasks(false),
                Action::RunBaseline(gate) => self.run_baseline(gate),
                Action::RunGate(gate) => self.run_gate(gate),
                Action::Commit => self.commit(),
                Action::AwaitFiles(files) => self.await_files(&files),
                Action::StartWait(wait) => self.start_wait(wait),
                Action::WaitUntil(until_ms) => self.wait(until_ms),
                Action::Finish(outcome) => return Ok(self.finish(&outcome)),
            }
        }
    }

    fn finish(mut self, outcome: &Outcome) -> u8 {
        let exit_code = outcome.exit_code(&self.ledger.run().plan);
        self.count_reviews(outcome);
        // The marker goes before the locks do.
        self.stories = None;
        if let Some(sandbox) = &self.sandbox {
            sandbox.finish(&mut self.supervisor);
        }
        self.ledger.record(Event::RunEnded { outcome: outcome.clone(), exit_code });
        // The guardian shares the locks and takes a moment to go; nothing is left to guard.
        for lock in &self.tree {
            let _ = lock.unlock();
        }
        self.ledger.journal.unlock();
        // Last, so that a program which asks about the run is told how it ended.
        self.notify_end(outcome, exit_code);
        self.supervisor.release();
        exit_code
    }

    /// The directory as the plan's rules see it.
    fn observe(&self) -> View {
        let plan = &self.ledger.run().plan;
        let claims = plan.claims.iter().filter_map(|claim| match claim {
            Claim::File { path } => Some(path),
            Claim::Tag { .. } | Claim::StoriesApproved | Claim::TurnEnd => None,
        });
        let wanted = plan.needs.iter().map(|need| &need.path).chain(claims.clone());
        let wanted = wanted.chain(&plan.pause_file).chain(&plan.awaits);
        let files = wanted.filter(|path| self.setup.project.join(path).exists()).cloned().collect();
        let folders = claims.filter(|path| self.setup.project.join(path).is_dir()).cloned().collect();
        View { files, folders, stories: self.story_view() }
    }

    fn run_gate(&mut self, index: usize) {
        if let Check::ChildrenEnded { within_ms, poll_ms } = self.ledger.run().plan.gates[index].check {
            return self.await_children(index, within_ms, poll_ms);
        }
        if let Some(ended) = self.check_in_process(index) {
            return self.ledger.record(Event::GateEnded(ended));
        }
        self.ledger.gate_started(index);
        let (iteration, attempt) = self.ledger.run().state.position();
        if let Some(ended) = self.run_command(index, iteration, attempt) {
            self.ledger.record(Event::GateEnded(ended));
        }
    }

    /// Checks a gate before the first turn; what it finds is held against nobody.
    fn run_baseline(&mut self, index: usize) {
        self.ledger.baseline_started(index);
        if let Some(ended) = self.run_command(index, 0, 1) {
            self.ledger.record(Event::BaselineEnded(ended));
        }
    }

    /// Runs the command of a gate; nothing when somebody ended it.
    fn run_command(&mut self, index: usize, iteration: u32, attempt: u32) -> Option<GateEnded> {
        let Self { ledger, setup, run, supervisor, sandbox, .. } = self;
        let plan = ledger.run().plan.gates.clone();
        let name = gates::log_name(&plan, index);
        let was_failing = ledger.run().state.baseline().still_fails(index);
        let sandbox = sandbox.as_mut().filter(|_| setup.sandbox.gates == GatesRun::Inside);
        let place = gates::GatePlace { setup, run, iteration, attempt, name: &name, was_failing, sandbox };
        let found = gates::check(supervisor, &plan, index, place, &mut |happening| ledger.notice(happening));
        self.note_contacts();
        found
    }

    fn start_wait(&mut self, wait: Wait) {
        let chance = fnv(self.run.id().as_bytes());
        let now = Timestamp::now();
        let (until_ms, why) = wait.until(now.as_millisecond(), chance);
        self.ledger.record(Event::WaitStarted { until_ms, why });
        if why == Why::UsageLimit {
            self.notify(NotifyReason::Waiting, "the usage limit is reached", None);
        }
    }

    fn wait(&mut self, until_ms: i64) {
        let Self { supervisor, ledger, .. } = self;
        let by_the_wall = || left_at(until_ms, Timestamp::now());
        let planned = ledger.run().memory.waiting.as_ref().map_or(Duration::MAX, Waiting::planned);
        let (started, longest) = (Instant::now(), by_the_wall().min(planned));
        loop {
            let left = left(by_the_wall(), started.elapsed(), longest);
            if left.is_zero() {
                let waited = started.elapsed().max(longest.saturating_sub(by_the_wall()));
                return ledger.record(Event::WaitEnded { ms: millis(waited) });
            }
            // In pieces, because the clock that waits are measured by stands still while a laptop sleeps.
            let piece = left.min(MAX_SLEEP);
            if supervisor.wait(Instant::now() + piece, &mut || ledger.tick()) == Waited::StopRequested {
                return ledger.stop_requested();
            }
            ledger.tick();
        }
    }

    /// The run is judged by the files it started with; a change of each is shown once.
    fn notice_changed_settings(&mut self) {
        for (path, before) in &self.setup.settings {
            let file = path.strip_prefix(&self.setup.project).unwrap_or(path).display().to_string();
            let text = format!("{file} was changed during the run; this run keeps to what it started with");
            if hash::fingerprint(path) != *before {
                self.ledger.warn_once(Topic::SettingsChanged { file }, text);
            }
        }
    }
}

/// What is left of a wait. A clock on the wall that is put back must not make it longer than it was going to be.
fn left(by_the_wall: Duration, waited: Duration, longest: Duration) -> Duration {
    by_the_wall.min(longest.saturating_sub(waited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_outlasts_neither_clock() {
        let seconds = Duration::from_secs;
        // Both clocks agree.
        assert_eq!(left(seconds(7), seconds(3), seconds(10)), seconds(7));
        // The one on the wall was put back by an hour.
        assert_eq!(left(seconds(3607), seconds(3), seconds(10)), seconds(7));
        assert_eq!(left(seconds(3600), seconds(10), seconds(10)), seconds(0));
        // The machine slept, and the other one stood still.
        assert_eq!(left(seconds(0), seconds(3), seconds(10)), seconds(0));
    }
}
