//! The one loop: [`decide`] says what to do next, [`State::apply`] takes in what happened.
//!
//! Invariant: nothing here reads a clock, a file or a process. A driver performs the actions and reports
//! events. The same events always give the same state, which is how a run is resumed, watched and tested.

mod assign;
pub mod baseline;
pub mod budget;
pub mod chain;
pub mod commit;
pub mod crew;
pub mod deadline;
pub mod edits;
pub mod entry;
pub mod event;
pub mod findings;
pub mod judgement;
pub mod memory;
pub mod outcome;
mod person_notes;
mod phase;
pub mod plan;
pub mod presets;
pub mod price_list;
pub mod progress;
pub mod roles;
mod run;
mod seen;
mod spent;
mod state;
pub mod stop;
mod tally;
#[cfg(test)]
mod tests;
mod trial;
mod wait;

pub use person_notes::PersonNote;
pub use run::Run;
pub use spent::{AskedTurns, Spent};
pub use state::{AwaitedQuota, State};
pub use tally::GateTests;
pub use wait::Wait;

use crate::{review::OpinionAbout, stories::Mode};
use event::{View, Why};
use outcome::{Exhausted, Outcome};
use phase::{Judging, Pause, Phase};
use plan::{Plan, When, Work};
use roles::Chosen;

/// What the driver must do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Look at the directory.
    Look,
    /// Run the agent.
    RunTurn(Order),
    /// A turn was in flight when ralph died: end what is left of it.
    AbandonTurn,
    /// Judge what a turn that was cut off did to the task list.
    JudgeTasks,
    /// Check this gate of the plan, before the first turn.
    RunBaseline(usize),
    /// Check this gate of the plan.
    RunGate(usize),
    /// A file said that the task is done, and the gates said otherwise: put it aside.
    PutAside(String),
    /// The agent cannot do this story, for this reason: make it one for a person.
    HandOver {
        /// Which.
        story: String,
        /// What the agent lacks.
        reason: String,
    },
    /// Bring the judge to what is claimed or, before the first turn, to what the run starts from.
    BringJudge,
    /// Check this gate of the plan in the judge.
    RunInJudge(usize),
    /// Keep what the run starts from, so that what judges can be compared with it.
    TakeBase,
    /// The judge agrees with what is claimed: say what was done to what judges.
    Examine,
    /// Put these files back as they were when the run began; paths are relative to the top of the repository.
    PutBack(Vec<String>),
    /// Ask a reviewer about what is claimed.
    AskOpinion(OpinionOrder),
    /// A reviewer was being asked when ralph died: undo what it changed.
    AbandonOpinion,
    /// Do not ask a reviewer what the claimed change fixes, for this reason.
    ForgoLook(String),
    /// Do what the settings do after a commit.
    Deliver,
    /// Commit what passed the gates. If a commit was announced already, see first whether it was made.
    Commit,
    /// Wait until these files are there, and look again.
    AwaitFiles(Vec<String>),
    /// Begin to wait.
    StartWait(Wait),
    /// Go on waiting until then, in milliseconds since 1970.
    WaitUntil(i64),
    /// A person paused the run: wait until the person continues it.
    Hold,
    /// The run is over.
    Finish(Outcome),
}

/// A turn that is due: what the rules say about it. What else is recorded of it is found when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What the user counts, from 1.
    pub iteration: u32,
    /// Tries of the same iteration, from 1.
    pub attempt: u32,
    /// What kind of work it is.
    pub mode: Mode,
    /// The story that was selected for it.
    pub story: Option<String>,
    /// Who has it, once that is known.
    pub chosen: Option<Chosen>,
    /// What a person said that it is told, by number.
    pub notes: Vec<u32>,
}

/// A reviewer's turn that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpinionOrder {
    /// What it is asked.
    pub about: OpinionAbout,
    /// Which one of the run it will be, from 1.
    pub number: u32,
    /// Who has it, once that is known.
    pub chosen: Option<Chosen>,
}

/// The next action. Every state has one.
pub fn decide(plan: &Plan, state: &State) -> Action {
    // Before the run may end: the next one would find it, and others wait for it.
    if let Some(path) = &state.put_aside {
        return Action::PutAside(path.clone());
    }
    match &state.phase {
        Phase::InTurn => Action::AbandonTurn,
        Phase::InOpinion(_) => Action::AbandonOpinion,
        // A turn that came to its end is judged by the gates; any other here, and every one before ralph goes.
        _ if state.unjudged && (state.stop || !matches!(state.phase, Phase::Judging(_))) => {
            Action::JudgeTasks
        }
        Phase::Over(outcome) => Action::Finish(outcome.clone()),
        _ if state.stop => Action::Finish(Outcome::Interrupted),
        Phase::Committing(_) => Action::Commit,
        Phase::Trying(trial) => match trial.next(plan, &state.judge) {
            Some(trial::JudgeStep::Gate(gate)) => Action::RunInJudge(gate),
            Some(trial::JudgeStep::Examine) => Action::Examine,
            // A trial that has come to its end has become something else.
            Some(trial::JudgeStep::Bring) | None => Action::BringJudge,
        },
        Phase::Restoring(_) => Action::PutBack(state.to_put_back()),
        Phase::Asking(asking) => ask(plan, state, asking.about),
        Phase::Delivering(_) => Action::Deliver,
        Phase::HandingOver { story, reason } => {
            Action::HandOver { story: story.clone(), reason: reason.clone() }
        }
        Phase::Idle if plan.looks() => Action::Look,
        Phase::Idle => next_turn(plan, state, &View::default()),
        Phase::Looked(view) => next_turn(plan, state, view),
        Phase::Judging(judging) => match next_gate(plan, *judging) {
            Some(gate) => Action::RunGate(gate),
            None => Action::Commit,
        },
        Phase::Pausing(Pause::For(ms, Why::UsageLimit)) => {
            Action::StartWait(Wait::For((*ms).min(patience_left(plan, state)), Why::UsageLimit))
        }
        Phase::Pausing(Pause::For(ms, why)) => Action::StartWait(Wait::For(*ms, *why)),
        Phase::Pausing(Pause::Quota { resets_at, at_least_ms }) => Action::StartWait(Wait::ForQuota {
            resets_at: *resets_at,
            at_least_ms: *at_least_ms,
            at_most_ms: patience_left(plan, state),
        }),
        Phase::Waiting { until_ms, .. } => Action::WaitUntil(*until_ms),
    }
}

/// How long a quota may still be waited for: waits have a limit of their own, and they are part of the run's time.
fn patience_left(plan: &Plan, state: &State) -> u64 {
    let of_waits = plan.limits.max_wait_ms.saturating_sub(state.spent.quota_ms);
    let of_time = plan.limits.max_time_ms.map(|limit| limit.saturating_sub(state.spent.ms));
    of_time.map_or(of_waits, |of_time| of_time.min(of_waits))
}

fn next_turn(plan: &Plan, state: &State, view: &View) -> Action {
    if let Some(limit) = exhausted(plan, state) {
        return Action::Finish(state.without_answer(plan, limit));
    }
    if state.is_pausing() {
        return Action::Hold;
    }
    let is_absent = |path: &&String| !view.files.contains(path);
    let absent: Vec<String> = plan.awaits.iter().filter(is_absent).cloned().collect();
    if state.spent.turns == 0 && !absent.is_empty() {
        return Action::AwaitFiles(absent);
    }
    let (mode, story) = match (plan.work, &view.stories) {
        (Work::Prompt, _) if plan.review.is_some() => (Mode::Review, None),
        (Work::Prompt, _) => (Mode::Work, None),
        (Work::Stories, Some(stories)) => match &stories.next {
            Ok(mode) => (*mode, stories.story.clone()),
            Err(reason) => {
                return Action::Finish(Outcome::Stopped(state.without_story(reason, &stories.for_people)));
            }
        },
        (Work::Stories, None) => {
            return Action::Finish(Outcome::Unready { reason: "there is no story list".to_owned() });
        }
    };
    if state.spent.turns == 0 && state.judge.wants_base(plan) {
        return Action::TakeBase;
    }
    if let Some(gate) = state.baseline.next(plan) {
        return Action::RunBaseline(gate);
    }
    match state.judge.next_of_base(plan, &state.baseline) {
        Some(trial::JudgeStep::Bring) => return Action::BringJudge,
        Some(trial::JudgeStep::Gate(gate)) => return Action::RunInJudge(gate),
        Some(trial::JudgeStep::Examine) | None => {}
    }
    let (iteration, attempt, notes) = (state.iteration, state.attempt, state.person.due());
    Action::RunTurn(Order { iteration, attempt, mode, story, chosen: None, notes })
}

/// A reviewer is to be asked. Where nothing may be used any more, a review ends the run before it is asked, because nothing
/// else can pass that guardrail.
fn ask(plan: &Plan, state: &State, about: OpinionAbout) -> Action {
    match (exhausted(plan, state), about) {
        (Some(limit), OpinionAbout::Review { .. }) => Action::Finish(Outcome::Exhausted { limit }),
        (Some(limit), OpinionAbout::Look) => Action::ForgoLook(limit.forgone()),
        (None, _) => {
            Action::AskOpinion(OpinionOrder { about, number: state.opinions.next_number(), chosen: None })
        }
    }
}

/// The limit that a run has reached, if it has.
pub fn exhausted(plan: &Plan, state: &State) -> Option<Exhausted> {
    let (limits, spent) = (&plan.limits, &state.spent);
    if state.attempt == 1 && limits.max_iterations < state.iteration {
        return Some(Exhausted::MaxIterations);
    }
    if limits.max_time_ms.is_some_and(|limit| limit <= spent.ms) {
        return Some(Exhausted::MaxTime);
    }
    budget::reached(limits, &spent.usage, &spent.iteration)
}

/// The gates of every turn come first, all of them; those that verify a claim only when nothing failed, and a claim about
/// one story before one about the whole. So there are several rounds over the gates, and a position counts through them.
fn next_gate(plan: &Plan, judging: Judging) -> Option<usize> {
    let gates = plan.gates.len();
    (judging.next_gate..Round::COUNT * gates)
        .filter(|at| !trial::is_only_for_judge(plan, &plan.gates[at % gates]))
        // Reviewers are asked last, about what everything else let pass.
        .filter(|at| !plan.gates[at % gates].check.is_review())
        .find(|&at| match round(plan.gates[at % gates].when, judging) {
            Some(Round::Turn) => at < gates,
            Some(due) => due as usize == at / gates && !judging.has_failed(),
            None => false,
        })
        .map(|at| at % gates)
}

/// When in the judgement of a turn a gate is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// After the turn, whatever it claims.
    Turn,
    /// To verify that a story is ready to be reviewed.
    Submission,
    /// To verify that everything is done.
    Claim,
}

impl Round {
    const COUNT: usize = 3;
}

/// The round of a gate; nothing if it is not due.
fn round(when: When, judging: Judging) -> Option<Round> {
    match (when, judging.mode) {
        (When::EveryTurn, _) | (When::ChangedOrClaimed, Mode::Implement | Mode::Fix) => Some(Round::Turn),
        (When::SubmittedOrClaimed, _) if judging.submitted => Some(Round::Submission),
        (When::Claimed | When::SubmittedOrClaimed, _)
        | (When::ChangedOrClaimed, Mode::Work | Mode::Review) => {
            judging.said.is_claim().then_some(Round::Claim)
        }
    }
}
