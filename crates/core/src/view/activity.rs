//! What a run was last seen doing, as far as its journal says.

use jiff::{Timestamp, tz::TimeZone};

use crate::engine::{
    event::Event,
    plan::{Gate, Plan},
};

/// What a run is doing between two lines of its journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activity {
    /// Nothing that has a name.
    #[default]
    Nothing,
    /// The agent has its turn.
    Turn,
    /// The guardrails run before the first iteration.
    Baseline,
    /// A gate is checked.
    Gate(usize),
    /// The judge is brought to what is claimed.
    Judge,
    /// A gate is checked in the judge.
    JudgeGate(usize),
    /// The checks are compared with those that the run began with.
    Examine,
    /// A gate is checked with the checks that the run began with.
    OldCheck(usize),
    /// A gate is checked with the new tests and the code that the run began with.
    Bite(usize),
    /// A reviewer judges the claim.
    Opinion,
    /// What was checked is being concluded from.
    Checking,
    /// A commit is made.
    Commit,
    /// It waits for a person to continue it.
    Pause,
    /// It waits until then, in milliseconds since 1970.
    Wait(i64),
}

impl Activity {
    /// What a run does after this event; nothing if that says nothing about it.
    pub fn after(event: &Event) -> Option<Self> {
        Some(match event {
            Event::TurnStarted(_) => Self::Turn,
            Event::JudgeStarted { .. } => Self::Judge,
            Event::JudgeGateStarted { gate } => Self::JudgeGate(*gate),
            Event::ExamineStarted => Self::Examine,
            Event::OpinionStarted(_) => Self::Opinion,
            Event::OldCheckStarted { gate } => Self::OldCheck(*gate),
            Event::BiteStarted { gate } => Self::Bite(*gate),
            Event::BaselineStarted { gate } | Event::GateStarted { gate } => Self::Gate(*gate),
            Event::BaselineEnded(_) => Self::Baseline,
            Event::TurnEnded(_)
            | Event::GateEnded(_)
            | Event::JudgeReady(_)
            | Event::JudgeFailed { .. }
            | Event::JudgeGateEnded(_)
            | Event::OldCheckEnded(_)
            | Event::BiteEnded(_)
            | Event::TimeSpent { .. }
            | Event::Examined(_)
            | Event::PutBack(_)
            | Event::OpinionEnded(_)
            | Event::LookForgone { .. }
            | Event::ClaimPutAside { .. }
            | Event::ChildrenOutlived { .. }
            | Event::StoryHandedOver { .. }
            | Event::TasksJudged(_) => Self::Checking,
            Event::MessageAsked { .. } | Event::CommitStarted { .. } => Self::Commit,
            Event::WaitStarted { until_ms, .. } => Self::Wait(*until_ms),
            Event::PauseStarted => Self::Pause,
            Event::RunStarted(_)
            | Event::RunResumed { .. }
            | Event::Looked(_)
            | Event::CommitEnded(_)
            | Event::BaseTaken { .. }
            | Event::FilesLeft { .. }
            | Event::BaseMoved(_)
            | Event::Delivered
            | Event::OutsideLooked(_)
            | Event::WaitEnded { .. }
            | Event::PauseEnded { .. }
            | Event::EditsTaken(_)
            | Event::RecordRepaired { .. }
            | Event::Accepted { .. }
            | Event::Rejected { .. }
            | Event::ReviewsCounted(_)
            | Event::WorkCounted(_)
            | Event::PullRequest(_)
            | Event::RunEnded { .. }
            | Event::Unknown => Self::Nothing,
            Event::Warned { .. }
            | Event::StopRequested
            | Event::NoteSaid(_)
            | Event::NoteWithdrawn { .. }
            | Event::PauseRequested { .. }
            | Event::Sandboxed { .. }
            | Event::Contacted { .. }
            | Event::RunsLater { .. }
            | Event::ToolCallsJudged { .. }
            | Event::FilesChanged { .. }
            | Event::Found { .. } => return None,
        })
    }

    /// In words; nothing where there is none, and for a turn, of which the agent's stream says more.
    pub fn words(self, plan: &Plan, zone: &TimeZone) -> Option<String> {
        let gate = |gate: usize| plan.gates.get(gate);
        let name = |gate: &Gate| gate.check.name().to_owned();
        Some(match self {
            Self::Nothing | Self::Turn => return None,
            Self::Baseline => "running the guardrails before the first iteration".to_owned(),
            Self::Gate(index) => {
                let gate = gate(index)?;
                let what = if gate.check.judges() { "running guardrail:" } else { "waiting until" };
                format!("{what} {}", name(gate))
            }
            Self::Judge => "bringing the judge to what is claimed".to_owned(),
            Self::JudgeGate(index) => {
                format!("running guardrail in a clean clone: {}", name(gate(index)?))
            }
            Self::Examine => "comparing the checks with those that the run began with".to_owned(),
            Self::OldCheck(index) => {
                format!("running guardrail with the checks that the run began with: {}", name(gate(index)?))
            }
            Self::Bite(index) => format!(
                "running guardrail with the new tests and the code that the run began with: {}",
                name(gate(index)?)
            ),
            Self::Opinion => "a reviewer judges the claim".to_owned(),
            Self::Checking => "checking the work".to_owned(),
            Self::Commit => "committing".to_owned(),
            Self::Pause => "paused".to_owned(),
            Self::Wait(until_ms) => {
                let until = Timestamp::from_millisecond(until_ms).ok()?.to_zoned(zone.clone());
                format!("waiting until {}", until.strftime("%H:%M:%S"))
            }
        })
    }
}
