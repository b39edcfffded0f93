//! What driver and reporters must know of a run beside what its rules do.
//!
//! Invariant: a resume changes nothing here but which process it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use jiff::Timestamp;

use super::{
    commit::{ChangeCause, CommitEnd},
    entry::Entry,
    event::{Event, Moment, OpinionStarted, PullRequestMade, Topic, Turn, TurnEnded, Why, WorkCounted},
};
use crate::{setup::Setup, stories::Statistics, verify::outside::OutsideSeen};

/// What is remembered of a run, derived from its events alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// When the process began that runs it, or ran it last.
    pub began: Timestamp,
    /// The current or the last turn.
    pub turn: Option<LastTurn>,
    /// A reviewer that is being asked.
    pub opinion: Option<LastOpinion>,
    /// Where HEAD was before the first turn.
    pub first_head: Option<String>,
    /// The commit that is being made.
    pub announced: Option<Announced>,
    /// The words for the commit of the last turn, where they are known already.
    pub message: Option<String>,
    /// How long the last commit took, if one was made or tried.
    pub commit_took: Option<Duration>,
    /// The wait that is on its way.
    pub waiting: Option<Waiting>,
    /// How the last process left the files: a commit, or copies. Nothing after a kill, and since a turn began.
    pub files_left: Option<Option<String>>,
    /// The conversation that the next turn continues, where the run lives in one.
    pub conversation: Option<String>,
    /// The agent used the question for a commit message to change files: it is not asked any more.
    pub misused_question: bool,
    /// What a person was told that is said once.
    pub told: BTreeSet<Topic>,
    /// Files that a person steers the run with and that changed while a turn or its checks ran, as they were after it.
    pub files: BTreeMap<PathBuf, String>,
    /// How often each story was reviewed, once all are done.
    pub reviews: Option<Statistics>,
    /// What it had done to the files when it ended last.
    pub work: Option<WorkCounted>,
    /// What it proposed to others.
    pub pull_request: Option<PullRequestMade>,
    /// What there was outside of the project: claims are compared with it.
    pub outside: Option<OutsideSeen>,
    /// The same as the last process that ended by itself left it.
    pub outside_left: Option<OutsideSeen>,
    /// How the checks differ from those that the run began with, relative to its folder.
    pub checks_diff: Option<String>,
}

/// A turn, as it was started.
#[derive(Clone, Debug, PartialEq)]
pub struct LastTurn {
    /// When it began.
    pub began: Timestamp,
    /// What it was to do.
    pub turn: Turn,
    /// Whether the agent said in it that the work is done.
    pub claimed: bool,
}

/// A reviewer that is being asked, as it was started.
#[derive(Clone, Debug, PartialEq)]
pub struct LastOpinion {
    /// When that began.
    pub began: Timestamp,
    /// What it is asked.
    pub started: OpinionStarted,
}

/// A commit that was announced and not reported yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Announced {
    /// When it was.
    pub at: Timestamp,
    /// Where HEAD was before it.
    pub head: Option<String>,
    /// The whole message.
    pub message: String,
    /// In which boot of the machine; old records do not say.
    pub boot: Option<String>,
}

/// A wait on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// When it began.
    pub began: Timestamp,
    /// Milliseconds since 1970.
    pub until_ms: i64,
    /// For what.
    pub why: Why,
}

impl Waiting {
    /// How long it was going to be when it began, or when this process took it over.
    pub fn planned(&self, process_began: Timestamp) -> Duration {
        left_at(self.until_ms, self.began.max(process_began))
    }
}

/// What is left of a wait at this moment.
pub fn left_at(until_ms: i64, now: Timestamp) -> Duration {
    let left = until_ms.saturating_sub(now.as_millisecond());
    Duration::from_millis(u64::try_from(left).unwrap_or(0))
}

impl Memory {
    /// Takes in what was recorded. The only way a memory changes.
    pub(super) fn apply(&mut self, setup: &Setup, entry: &Entry) {
        match &entry.event {
            // What it had done when it ended is not what it will have done.
            Event::RunStarted(_) | Event::RunResumed { .. } => (self.began, self.work) = (entry.at, None),
            Event::TurnStarted(turn) => self.turn_started(turn, entry.at),
            Event::TurnEnded(ended) => self.turn_ended(setup, ended),
            Event::OpinionStarted(started) => {
                self.opinion = Some(LastOpinion { began: entry.at, started: OpinionStarted::clone(started) });
            }
            Event::OpinionEnded(_) => self.opinion = None,
            Event::CommitStarted { head, message, boot } => {
                let (head, message, boot) = (head.clone(), message.clone(), boot.clone());
                self.announced = Some(Announced { at: entry.at, head, message, boot });
            }
            Event::MessageAsked { message, .. } => self.message.clone_from(message),
            Event::CommitEnded(end) => self.commit_ended(end, entry.at),
            Event::WaitStarted { until_ms, why } => {
                self.waiting = Some(Waiting { began: entry.at, until_ms: *until_ms, why: *why });
            }
            Event::WaitEnded { .. } => self.waiting = None,
            Event::Warned { about, .. } => self.told.extend(about.clone()),
            Event::FilesChanged { files } => self.files.extend(files.clone()),
            // They are what the run goes by now.
            Event::EditsTaken(taken) => self.files.retain(|path, _| !taken.files.contains_key(path)),
            Event::ReviewsCounted(statistics) => self.reviews = Some(statistics.clone()),
            Event::OutsideLooked(looked) => match looked.moment {
                Moment::Base => (self.outside, self.outside_left) = (Some(looked.seen.clone()), None),
                Moment::Left => self.outside_left = Some(looked.seen.clone()),
            },
            Event::FilesLeft { commit } => self.files_left = Some(commit.clone()),
            Event::BaseMoved(_) => self.files_left = None,
            Event::WorkCounted(work) => self.work = Some(work.clone()),
            Event::PullRequest(made) => self.pull_request = Some(made.clone()),
            Event::Examined(examined) => self.checks_diff.clone_from(&examined.diff),
            Event::Looked(_)
            | Event::TasksJudged(_)
            | Event::BaselineStarted { .. }
            | Event::BaselineEnded(_)
            | Event::GateStarted { .. }
            | Event::GateEnded(_)
            | Event::JudgeStarted { .. }
            | Event::JudgeReady(_)
            | Event::JudgeFailed { .. }
            | Event::JudgeGateStarted { .. }
            | Event::JudgeGateEnded(_)
            | Event::BaseTaken { .. }
            | Event::ExamineStarted
            | Event::OldCheckStarted { .. }
            | Event::OldCheckEnded(_)
            | Event::BiteStarted { .. }
            | Event::BiteEnded(_)
            | Event::TimeSpent { .. }
            | Event::PutBack(_)
            | Event::LookForgone { .. }
            | Event::Delivered
            | Event::ClaimPutAside { .. }
            | Event::ChildrenOutlived { .. }
            | Event::StoryHandedOver { .. }
            | Event::StopRequested
            | Event::NoteSaid(_)
            | Event::NoteWithdrawn { .. }
            | Event::PauseRequested { .. }
            | Event::PauseStarted
            | Event::PauseEnded { .. }
            | Event::Sandboxed { .. }
            | Event::Contacted { .. }
            | Event::RunsLater { .. }
            | Event::ToolCallsJudged { .. }
            | Event::Found { .. }
            | Event::Accepted { .. }
            | Event::Rejected { .. }
            | Event::RecordRepaired { .. }
            | Event::RunEnded { .. }
            | Event::Unknown => {}
        }
    }

    fn turn_started(&mut self, turn: &Turn, at: Timestamp) {
        if self.turn.is_none() {
            self.first_head.clone_from(&turn.head);
        }
        // No conversation is carried over from one agent to another.
        let had = self.turn.as_ref().and_then(|last| last.turn.agent.as_ref());
        if had.is_some_and(|had| turn.agent.as_ref() != Some(had)) {
            self.conversation = None;
        }
        self.turn = Some(LastTurn { began: at, turn: turn.clone(), claimed: false });
        // Where the line of its end is lost, a turn says that there was one.
        (self.announced, self.waiting, self.files_left, self.message) = (None, None, None, None);
    }

    fn turn_ended(&mut self, setup: &Setup, ended: &TurnEnded) {
        if let Some(last) = &mut self.turn {
            last.claimed = ended.claimed;
        }
        if setup.session.is_some() && ended.session.is_some() {
            self.conversation.clone_from(&ended.session);
        }
    }

    fn commit_ended(&mut self, end: &CommitEnd, at: Timestamp) {
        let announced = self.announced.take();
        self.commit_took =
            announced.as_ref().map(|it| at.duration_since(it.at).try_into().unwrap_or_default());
        if let CommitEnd::Changed { cause } = end {
            // Old records do not say why. Files that change before a commit was announced changed during the question.
            let cause = cause.unwrap_or(match announced {
                Some(_) => ChangeCause::RalphDied,
                None => ChangeCause::AgentAsked,
            });
            self.misused_question |= cause == ChangeCause::AgentAsked;
            if cause == ChangeCause::RalphDied {
                // It is paid for, and the work is the same.
                self.message = announced.map(|it| it.message).or(self.message.take());
                return;
            }
        }
        self.message = None;
    }
}
