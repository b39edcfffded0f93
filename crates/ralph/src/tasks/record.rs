//! Who works or worked on a task: one record per run.

use std::path::PathBuf;

use jiff::Timestamp;
use ralph_core::{engine::outcome::Outcome, setup::Role};
use serde::{Deserialize, Serialize};

/// One run of a task: the loop that keeps its root agent going, or a child that an agent started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    pub(crate) run: String,
    pub(crate) task: String,
    pub(crate) role: Role,
    /// The run whose agent started this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) parent: Option<String>,
    /// The run that worked on the task before this one did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) previous: Option<String>,
    pub(crate) agent: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) agent_version: Option<String>,
    /// The ralph that runs it.
    pub(crate) pid: i32,
    /// When that process started, in the kernel's ticks: a number alone may be another process's by now.
    pub(crate) pid_started: u64,
    /// The process group of its agent, while one runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) group: Option<i32>,
    pub(crate) started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) exit_code: Option<u8>,
    pub(crate) status: Status,
    /// How often the agent was started.
    #[serde(default)]
    pub(crate) turns: u32,
    /// What is done here, in a few words.
    pub(crate) title: String,
    pub(crate) paths: Paths,
}

/// Where the rest is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Paths {
    /// The run's folder in the project; this record is in it.
    pub(crate) folder: PathBuf,
    /// Ralph's own record of the run: journal, prompts, everything the agent printed.
    pub(crate) record: PathBuf,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Running,
    Completed,
    Failed,
    /// By a person, or because the agent waits for someone.
    Stopped,
}

impl Status {
    /// How a run stands that ended so.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::Completed,
            Outcome::Stopped(_) | Outcome::Interrupted => Self::Stopped,
            Outcome::Exhausted { .. } | Outcome::Unready { .. } | Outcome::GaveUp { .. } => Self::Failed,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

impl Record {
    /// Whether it says something that is not so.
    pub(crate) fn is_stale(&self, is_alive: bool) -> bool {
        self.status == Status::Running && !is_alive
    }

    /// The record as it must be when its process has gone without a word here: as it ended, if it could still
    /// note that in its journal.
    pub(crate) fn reconciled(self, end: Option<End>, now: Timestamp) -> Self {
        let gone = End { at: now, status: Status::Failed, exit_code: None };
        let End { at, status, exit_code } = end.unwrap_or(gone);
        Self { status, ended_at: Some(at), exit_code, group: None, ..self }
    }
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) at: Timestamp,
    pub(crate) status: Status,
    pub(crate) exit_code: Option<u8>,
}
