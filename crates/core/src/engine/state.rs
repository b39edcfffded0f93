//! What the rules remember of a run, and how each event changes it.

mod blocked;
mod counts;
mod examined;
mod failed;
mod judged;
mod opinions;
mod quota;
mod resumed;
mod reviewed;
mod sent_back;
mod submission;
mod tried;

use blocked::Blocks;
use counts::Counts;
use failed::unsafe_end;
use opinions::Opinions;
pub use quota::AwaitedQuota;
use ralph_agents::QuotaWindow;
use submission::{Addressed, Submission};

use super::{
    Spent,
    baseline::Baseline,
    crew::Crew,
    event::{Event, Turn, TurnEnd, TurnEnded, View, Why},
    findings::Found,
    outcome::Outcome,
    person_notes::PersonNotes,
    phase::{Judging, Pause, Phase, Said},
    plan::Plan,
    seen::{marked_as_paused, misplaced, paused, standing_claim},
    stop::Stop,
    trial::JudgeState,
};
use crate::stories::Mode;
use crate::{
    engine::progress::{Progress, ProgressVerdict},
    prompt::Feedback,
};

/// Everything the rules remember, derived from events alone.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The next turn's or, inside one, the current turn's.
    pub(super) iteration: u32,
    pub(super) attempt: u32,
    /// What the last judged turn got wrong, for the next prompt. Survives a failed turn and a crash.
    feedback: Vec<Feedback>,
    addressed: Vec<Addressed>,
    /// Someone asked to stop.
    pub(super) stop: bool,
    /// The claim that the directory still makes was refuted and no turn has run since.
    refuted: bool,
    /// The file that made it; it is to be put aside.
    pub(super) put_aside: Option<String>,
    pub(super) limited_turns: u32,
    /// What the current or the last turn was to do, and with which story.
    mode: Mode,
    story: Option<String>,
    blocks: Blocks,
    /// What the last turn did to the task list has not been judged.
    pub(super) unjudged: bool,
    /// What it did that it may not do.
    broken: Option<String>,
    submission: Submission,
    counts: Counts,
    pub(super) baseline: Baseline,
    pub(super) judge: JudgeState,
    /// Turns in a row that left another branch checked out.
    strays: u32,
    progress: Progress,
    pub(super) spent: Spent,
    /// How much of each usage window is used, as the agent said it last.
    pub(super) quota: Vec<QuotaWindow>,
    pub(super) phase: Phase,
    pub(super) ended: Option<Outcome>,
    pub(super) found: Found,
    pub(super) crew: Crew,
    pub(super) person: PersonNotes,
    /// Reviews in a row without a verdict.
    unheard: u32,
    pub(super) opinions: Opinions,
}

impl Default for State {
    fn default() -> Self {
        Self {
            iteration: 1,
            attempt: 1,
            feedback: Vec::new(),
            addressed: Vec::new(),
            stop: false,
            refuted: false,
            put_aside: None,
            limited_turns: 0,
            mode: Mode::Work,
            story: None,
            blocks: Blocks::default(),
            unjudged: false,
            broken: None,
            submission: Submission::default(),
            counts: Counts::default(),
            baseline: Baseline::default(),
            judge: JudgeState::default(),
            strays: 0,
            progress: Progress::default(),
            spent: Spent::default(),
            quota: Vec::new(),
            phase: Phase::Idle,
            ended: None,
            found: Found::default(),
            crew: Crew::default(),
            person: PersonNotes::default(),
            unheard: 0,
            opinions: Opinions::default(),
        }
    }
}

impl State {
    /// Takes in one event. The only way a state changes.
    pub fn apply(&mut self, plan: &Plan, event: &Event) {
        match event {
            Event::RunStarted(_)
            | Event::BaselineStarted { .. }
            | Event::GateStarted { .. }
            | Event::JudgeStarted { .. }
            | Event::JudgeGateStarted { .. }
            | Event::ExamineStarted
            | Event::OldCheckStarted { .. }
            | Event::BiteStarted { .. }
            | Event::Sandboxed { .. }
            | Event::OutsideLooked(_)
            | Event::FilesLeft { .. }
            | Event::Contacted { .. }
            | Event::RunsLater { .. }
            | Event::ToolCallsJudged { .. }
            | Event::RecordRepaired { .. }
            | Event::Warned { .. }
            | Event::ReviewsCounted(_)
            | Event::WorkCounted(_)
            | Event::PullRequest(_)
            | Event::FilesChanged { .. }
            | Event::ChildrenOutlived { .. }
            | Event::Unknown => {}
            Event::EditsTaken(taken) => self.edits_taken(taken),
            Event::Found { findings } => {
                self.found.follow(plan);
                self.take_findings(findings);
            }
            Event::Accepted { .. } => self.found.accepted = true,
            Event::Rejected { why } => self.rejected(why),
            Event::RunResumed { .. } => self.resumed(),
            Event::StopRequested => self.stop = true,
            Event::NoteSaid(_)
            | Event::NoteWithdrawn { .. }
            | Event::PauseRequested { .. }
            | Event::PauseStarted
            | Event::PauseEnded { .. } => self.person.take(event),
            Event::Looked(view) => self.looked(plan, view),
            Event::TurnStarted(turn) => self.turn_started(plan, turn),
            Event::TurnEnded(turn) => self.turn_ended(plan, turn),
            Event::TasksJudged(judged) => self.tasks_judged(judged),
            Event::BaselineEnded(gate) => {
                self.spent.take_time(gate.ms);
                self.baseline.take(gate);
                self.judge.take_baseline(gate);
            }
            Event::JudgeReady(ready) => self.judge_ready(plan, ready),
            Event::JudgeFailed { cause, why } => self.judge_failed(plan, *cause, why),
            Event::JudgeGateEnded(gate) => self.judge_gate_ended(plan, gate),
            Event::BaseTaken { commit, copies, why, ms } => {
                self.spent.take_time(*ms);
                self.judge.take_base_commit(commit.as_deref(), *copies, why.as_deref());
            }
            Event::BaseMoved(moved) => {
                self.spent.take_time(moved.ms);
                for ended in &moved.tests {
                    self.spent.take_time(ended.ms);
                    self.baseline.taken_again(ended);
                }
                self.judge.base_moved(moved);
            }
            Event::OldCheckEnded(gate) | Event::BiteEnded(gate) => self.spent.take_time(gate.ms),
            Event::TimeSpent { ms } => self.spent.take_time(*ms),
            Event::Examined(examined) => self.examined(plan, examined),
            Event::PutBack(put_back) => self.put_back(plan, put_back),
            Event::OpinionStarted(started) => self.opinion_started(started),
            Event::OpinionEnded(ended) => self.opinion_ended(plan, ended),
            Event::LookForgone { why } => self.look_forgone(plan, why),
            Event::Delivered => self.delivered(plan),
            Event::GateEnded(gate) => self.gate_ended(plan, gate),
            Event::ClaimPutAside { file, to } => self.claim_put_aside(file, to.as_deref()),
            Event::StoryHandedOver { story, reason } => self.story_handed_over(plan, story, reason),
            Event::MessageAsked { agent, usage, ms, .. } => {
                self.spent.take_usage(*usage);
                self.crew.take_usage(agent.as_deref(), *usage);
                self.spent.take_time(*ms);
            }
            Event::CommitStarted { .. } => self.commit_started(plan),
            Event::CommitEnded(end) => self.commit_ended(plan, end),
            Event::WaitStarted { until_ms, why } => {
                self.opinion_waits();
                self.phase = Phase::Waiting { until_ms: *until_ms, why: *why };
            }
            Event::WaitEnded { ms } => self.wait_ended(*ms),
            Event::RunEnded { outcome, .. } => {
                self.ended = Some(outcome.clone());
                self.submission_left();
            }
        }
    }

    /// The iteration and attempt of the current or the next turn.
    pub fn position(&self) -> (u32, u32) {
        (self.iteration, self.attempt)
    }

    /// What the next prompt must say.
    pub fn feedback(&self) -> &[Feedback] {
        &self.feedback
    }

    /// Whether the last turn changed the task list and no one has judged how.
    pub fn is_unjudged(&self) -> bool {
        self.unjudged
    }

    /// Whether everything that the last turn started has ended and was recorded: what changes from here on is not its
    /// doing.
    pub fn is_settled(&self) -> bool {
        !self.unjudged && (self.ended.is_some() || !self.is_at_work())
    }

    fn is_at_work(&self) -> bool {
        matches!(
            self.phase,
            Phase::InTurn
                | Phase::Judging(_)
                | Phase::Committing(_)
                | Phase::Trying(_)
                | Phase::Restoring(_)
                | Phase::Asking(_)
                | Phase::InOpinion(_)
                | Phase::Delivering(_)
        )
    }

    /// What the last turn did to the task list that it may not do.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Whether someone asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop
    }

    /// What the run has used so far.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// What is known of the agents.
    pub fn crew(&self) -> &Crew {
        &self.crew
    }

    /// What the gates said before the first iteration.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// What repeats, if the next turn is told that it must try something else.
    pub fn repeats(&self) -> Option<&str> {
        self.progress.told()
    }

    /// How the run ended, if it did.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.ended.as_ref()
    }

    fn looked(&mut self, plan: &Plan, view: &View) {
        self.counts.looked(view);
        if let Some(need) = plan.needs.iter().find(|need| !view.files.contains(&need.path)) {
            self.phase = Phase::Over(Outcome::Unready { reason: need.otherwise.clone() });
        } else if let Some(reason) = misplaced(plan, view) {
            self.phase = Phase::Over(Outcome::Unready { reason });
        } else if standing_claim(plan, view) && !self.refuted && !self.counts.is_premature(plan) {
            let said = Said::of(plan, true, Some(view));
            self.phase = Phase::Judging(Judging { said, ..Judging::default() });
            self.conclude(plan);
        } else if let Some(stop) = marked_as_paused(plan, view) {
            self.phase = Phase::Over(Outcome::Stopped(stop));
        } else {
            self.phase = Phase::Looked(view.clone());
        }
    }

    fn turn_started(&mut self, plan: &Plan, turn: &Turn) {
        (self.iteration, self.attempt, self.mode) = (turn.iteration, turn.attempt, turn.mode);
        (self.unjudged, self.broken, self.put_aside) = (plan.judges_tasks(), None, None);
        self.story.clone_from(&turn.story);
        self.submission = Submission::of_turn(plan, turn.mode);
        self.phase = Phase::InTurn;
        self.opinions.turn_started();
        self.baseline.close();
        self.counts.turn_started();
        self.progress.turn_started(turn);
        self.spent.begin_turn(turn.iteration);
        self.turn_of(turn);
        self.person.turn_started(turn);
        self.question_begins();
    }

    fn turn_ended(&mut self, plan: &Plan, turn: &TurnEnded) {
        self.spent.take_turn(turn);
        self.crew.take_turn(turn.usage, turn.ms);
        self.person.turn_ended(self.iteration, turn);
        self.question_ends(turn);
        self.take_quota(turn);
        self.refuted = false;
        self.progress.turn_ended(turn);
        let view = turn.view.as_ref();
        self.counts.turn_ended(turn);
        if matches!(turn.end, TurnEnd::Abandoned | TurnEnd::Interrupted) {
            // Not judged, so not counted: the same attempt runs again.
            self.phase = Phase::Idle;
            return;
        }
        // Before any claim, and before anything else that the turn may have left: a person has to look first.
        if let Some(stop) = unsafe_end(&turn.end) {
            self.phase = Phase::Over(Outcome::Stopped(stop));
            return;
        }
        if let TurnEnd::OverBudget { limit } = turn.end {
            self.phase = Phase::Over(Outcome::Exhausted { limit });
            return;
        }
        if let Some(reason) = view.and_then(|view| misplaced(plan, view)) {
            self.phase = Phase::Over(Outcome::Unready { reason });
            return;
        }
        // An agent that is done does not wait for anyone.
        let is_done = view.is_some_and(|view| standing_claim(plan, view));
        if let Some(stop) = paused(plan, turn).filter(|_| !is_done) {
            self.phase = Phase::Over(Outcome::Stopped(stop));
            return;
        }
        if plan.review.is_some() && turn.end == TurnEnd::Finished {
            return self.reviewed(turn);
        }
        match &turn.end {
            TurnEnd::Failed(failure) => self.turn_failed(plan, turn, failure),
            TurnEnd::Finished | TurnEnd::Paused { .. } => self.judge(plan, turn),
            TurnEnd::Abandoned
            | TurnEnd::Interrupted
            | TurnEnd::OverBudget { .. }
            | TurnEnd::Tampered { .. }
            | TurnEnd::Unguarded { .. } => {}
        }
    }

    fn onward(&mut self, plan: &Plan) {
        let verdict = self.progress.settle(plan, self.iteration);
        self.iteration = self.iteration.saturating_add(1);
        self.attempt = 1;
        self.phase = pause(plan.limits.restart_delay_ms, Why::Rest);
        match verdict {
            ProgressVerdict::GoOn => {}
            ProgressVerdict::Tell(text) => self.feedback.push(Feedback::appended(text)),
            // At the limit the run ends anyway, in the way that the user chose.
            ProgressVerdict::Stop(_) if plan.limits.max_iterations < self.iteration => {}
            ProgressVerdict::Stop(standstill) => {
                self.phase = Phase::Over(Outcome::Stopped(Stop::Stuck(standstill)));
            }
        }
    }
}

fn pause(ms: u64, why: Why) -> Phase {
    if ms == 0 { Phase::Idle } else { Phase::Pausing(Pause::For(ms, why)) }
}
