//! What happened: the lines of the journal.

mod base_moved;
mod child_run;
mod examined;
mod gate_ended;
mod judge;
mod kept_files;
mod note_said;
mod opinion;
mod outside;
mod pull_request;
mod tasks_judged;
mod topic;
mod turn;
mod turn_end;
mod turn_ended;
mod view;
mod work_counted;

pub use base_moved::BaseMoved;
pub use child_run::ChildRun;
pub use examined::{Examined, PutBack};
pub use gate_ended::GateEnded;
pub use judge::{JudgeFailure, JudgeGateEnded, JudgeReady, PreparedStep};
pub use kept_files::KeptFiles;
pub use note_said::NoteSaid;
pub use opinion::{OpinionEnded, OpinionStarted};
pub use outside::{Moment, OutsideLooked};
pub use pull_request::{HowProposed, PullRequestMade};
pub use tasks_judged::TasksJudged;
pub use topic::Topic;
pub use turn::Turn;
pub use turn_end::{CUT_OFF, TurnEnd};
pub use turn_ended::TurnEnded;
pub use view::{PlanView, StoryView, Tree, View};
pub use work_counted::WorkCounted;

use std::{collections::BTreeMap, path::PathBuf};

use ralph_agents::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    commit::CommitEnd,
    edits::EditsTaken,
    judgement::Judgement,
    outcome::Outcome,
    plan::{Limits, Plan},
};
use crate::{
    containment::{contact::Contact, level::Level, run_later::LaterFile},
    setup::Setup,
    stories::Statistics,
    verify::finding::Finding,
};

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run begins; everything that was resolved from settings and flags.
    RunStarted(Box<RunStarted>),
    /// The run goes on in a new process.
    RunResumed {
        /// The new process.
        pid: u32,
        /// The limits from here on.
        limits: Limits,
    },
    /// What a person changed between two processes of the run applies from here on.
    EditsTaken(Box<EditsTaken>),
    /// Files that a person steers the run with are not as they were. A turn or its checks ran: no one knows whose change it is.
    FilesChanged {
        /// With a fingerprint of what they are like.
        files: BTreeMap<PathBuf, String>,
    },
    /// The directory was looked at.
    Looked(View),
    /// A turn is about to be started.
    TurnStarted(Turn),
    /// A turn is over.
    TurnEnded(Box<TurnEnded>),
    /// What a turn did to the task list was judged, and what it may not do was undone.
    TasksJudged(Box<TasksJudged>),
    /// A gate is about to be checked before the first turn.
    BaselineStarted {
        /// Which gate of the plan.
        gate: usize,
    },
    /// A gate was checked before the first turn.
    BaselineEnded(GateEnded),
    /// A gate is about to be checked.
    GateStarted {
        /// Which gate of the plan.
        gate: usize,
    },
    /// A gate was checked.
    GateEnded(GateEnded),
    /// The judge is about to be brought to what is claimed or, before the first turn, to what the run starts from.
    JudgeStarted {
        /// The commit; nothing where the files are judged as they are.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        commit: Option<String>,
    },
    /// The judge has it.
    JudgeReady(Box<JudgeReady>),
    /// The judge cannot have it.
    JudgeFailed {
        /// What is the matter.
        cause: JudgeFailure,
        /// In words.
        why: String,
    },
    /// A gate is about to be checked in the judge.
    JudgeGateStarted {
        /// Which gate of the plan.
        gate: usize,
    },
    /// A gate was checked in the judge.
    JudgeGateEnded(JudgeGateEnded),
    /// What judges from outside of the project was looked at.
    OutsideLooked(Box<OutsideLooked>),
    /// What the run starts from is kept, so that what judges can be compared with it.
    BaseTaken {
        /// A commit in the judge's own store; nothing if it cannot be kept.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        commit: Option<String>,
        /// How many files that judge were copied instead, where no judge has the whole.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        copies: Option<u64>,
        /// Why it cannot.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<String>,
        /// How long it took.
        ms: u64,
    },
    /// A process of the run leaves the files like this: what is different later is someone else's doing.
    FilesLeft {
        /// A commit in the judge's own store; nothing where what judges was copied.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        commit: Option<String>,
    },
    /// What a person changed since is part of what the run starts from.
    BaseMoved(Box<BaseMoved>),
    /// The judge agrees with what was claimed: what judges is about to be compared with what the run starts from.
    ExamineStarted,
    /// A gate is about to be checked with the checks that the run starts from.
    OldCheckStarted {
        /// Which gate of the plan.
        gate: usize,
    },
    /// A gate was checked with the checks that the run starts from.
    OldCheckEnded(GateEnded),
    /// A gate is about to be checked with the new tests and the code that the run starts from.
    BiteStarted {
        /// Which gate of the plan.
        gate: usize,
    },
    /// A gate was checked with the new tests and the code that the run starts from.
    BiteEnded(GateEnded),
    /// What was done to the judgement of what was claimed.
    Examined(Box<Examined>),
    /// Files that judge were put back as they were when the run began.
    PutBack(PutBack),
    /// A reviewer is about to be asked about what is claimed.
    OpinionStarted(Box<OpinionStarted>),
    /// What it said.
    OpinionEnded(Box<OpinionEnded>),
    /// A reviewer is not asked what the claimed change fixes.
    LookForgone {
        /// Why not.
        why: String,
    },
    /// What the settings do after a commit was done, because the judge agreed.
    Delivered,
    /// A file said that the task is done, the gates said otherwise, and the file was put aside.
    ClaimPutAside {
        /// The file, relative to the project.
        file: String,
        /// What it is called since; nothing if it could not be renamed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        to: Option<String>,
    },
    /// The agent cannot do this story, so it is one for a person from now on.
    StoryHandedOver {
        /// Which.
        story: String,
        /// What the agent lacks.
        reason: String,
    },
    /// The agent was asked for a commit message.
    MessageAsked {
        /// Who was asked, where that is not who had the turn.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        agent: Option<String>,
        /// What it said, if it was usable.
        message: Option<String>,
        /// What the turn used.
        usage: Usage,
        /// How long it took.
        ms: u64,
    },
    /// A commit is about to be made.
    CommitStarted {
        /// Where HEAD is before it.
        head: Option<String>,
        /// The whole message.
        message: String,
        /// What tells this boot of the machine from every other: locks of git from an earlier one belong to no process.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        boot: Option<String>,
    },
    /// The commit was made, or not.
    CommitEnded(CommitEnd),
    /// A commit, or what follows it, took long.
    TimeSpent {
        /// What is not counted elsewhere.
        ms: u64,
    },
    /// Ralph waits.
    WaitStarted {
        /// Milliseconds since 1970.
        until_ms: i64,
        /// For what.
        why: Why,
    },
    /// The wait is over.
    WaitEnded {
        /// How long it was.
        ms: u64,
    },
    /// A person or another process asked ralph to stop.
    StopRequested,
    /// A person said something that the next turn is told.
    NoteSaid(NoteSaid),
    /// A person took back what was said.
    NoteWithdrawn {
        /// Which.
        note: u32,
        /// Which request of a person it was.
        request: u64,
    },
    /// A person wants no turn to begin.
    PauseRequested {
        /// Which request of a person it was.
        request: u64,
    },
    /// The run waits for a person to continue it.
    PauseStarted,
    /// A person continues the run.
    PauseEnded {
        /// Which request of a person it was.
        request: u64,
    },
    /// The run is contained.
    Sandboxed {
        /// How.
        level: Level,
        /// What that does not cover.
        uncovered: Vec<String>,
        /// Variables of the user's environment that stay outside.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        withheld: Vec<String>,
    },
    /// Processes inside the sandbox wanted to talk to hosts.
    Contacted {
        /// To whom, each once.
        hosts: Vec<Contact>,
    },
    /// Files that run later by themselves are new or different.
    RunsLater {
        /// Which, and what runs them.
        files: Vec<LaterFile>,
    },
    /// The guard judged tool calls of the agent before they ran.
    ToolCallsJudged {
        /// In the order in which they were asked for.
        calls: Vec<Judgement>,
    },
    /// Something a person should know; no rule looks at it.
    Warned {
        /// In one line.
        text: String,
        /// What it is about, where that is said once in a run.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        about: Option<Topic>,
    },
    /// Every story is done: how often each was reviewed.
    ReviewsCounted(Statistics),
    /// The run is about to end: what it has done to the files.
    WorkCounted(WorkCounted),
    /// What the run did is proposed to others.
    PullRequest(PullRequestMade),
    /// Something was done to the judgement: a person must look before the run counts as complete.
    Found {
        /// What.
        findings: Vec<Finding>,
    },
    /// A person looked at the findings and accepts the work.
    Accepted {
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<String>,
    },
    /// A person looked at the findings and sends the work back.
    Rejected {
        /// Why.
        why: String,
    },
    /// Runs that the agent started are still at work when this one ends.
    ChildrenOutlived {
        /// Who.
        children: Vec<ChildRun>,
        /// They are left at work, because the user wants it so; else they are ended.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        kept: bool,
    },
    /// The record was damaged, and a person had ralph keep of it what can be believed.
    RecordRepaired {
        /// The lines that are lost, as they were numbered, from 1.
        lost: Vec<u64>,
        /// How many lines there were.
        lines: u64,
    },
    /// The run is over.
    RunEnded {
        /// How.
        #[serde(flatten)]
        outcome: Outcome,
        /// What `ralph` exits with.
        exit_code: u8,
    },
    /// An event of a newer version.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl Event {
    /// Something a person should know, each time that it happens.
    pub fn warned(text: String) -> Self {
        Self::Warned { text, about: None }
    }
}

/// Everything that a run starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunStarted {
    /// The run's id.
    pub run: String,
    /// The version of ralph.
    pub version: String,
    /// The process that runs it.
    pub pid: u32,
    /// The rules.
    pub plan: Plan,
    /// What the rules are applied to.
    pub setup: Setup,
}

/// Why ralph waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The plan wants a rest between iterations.
    Rest,
    /// The agent failed and will be tried again.
    Retry,
    /// The quota is used up.
    UsageLimit,
}
