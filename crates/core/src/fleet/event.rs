//! What happened: the lines of a fleet's journal.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{plan::FleetPlan, step::ItemStep};

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetEntry {
    /// Its number, from 1. That of a claim is the lease.
    pub n: u64,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: FleetEvent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum FleetEvent {
    /// The fleet begins; everything that was resolved from settings and flags.
    FleetStarted(Box<FleetStarted>),
    /// The fleet goes on in a new process.
    FleetResumed {
        /// The new process.
        pid: u32,
        /// What it may cost from here on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        max_cost: Option<f64>,
    },
    /// Something happened to an item.
    Item {
        /// Which.
        item: String,
        /// Who says so.
        who: String,
        /// Its number in the log on the board, for a fleet on many machines. That of a claim is the lease then.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        board: Option<u64>,
        /// What.
        #[serde(flatten)]
        step: ItemStep,
    },
    /// A run in a lane has used this much, all in all.
    Spent {
        /// The run.
        run: String,
        /// In US dollars.
        cost: f64,
    },
    /// An agent said that its usage limit is reached.
    LimitSeen {
        /// Whose.
        account: String,
        /// When it is over, in milliseconds since 1970.
        until_ms: i64,
    },
    /// Nothing can land before a person has done something.
    LandingBlocked {
        /// What.
        why: String,
    },
    /// A person or another process asked the fleet to stop.
    StopRequested,
    /// The fleet is over.
    FleetEnded {
        /// How.
        #[serde(flatten)]
        outcome: FleetOutcome,
        /// What `ralph` exits with.
        exit_code: u8,
    },
    /// An event of a newer version.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Everything that a fleet starts from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetStarted {
    /// Its id.
    pub fleet: String,
    /// The version of ralph.
    pub version: String,
    /// The process.
    pub pid: u32,
    /// The project.
    pub project: PathBuf,
    /// The branch that everything lands on, as `refs/heads/name`.
    pub target: String,
    /// Where it was when the fleet began.
    pub base: String,
    /// The commands that decide on the merged tree.
    pub guardrails: Vec<String>,
    /// The settings of every run in a lane, as a settings file.
    pub settings: serde_json::Value,
    /// The folder of the task list, where stories are worked on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ralph_dir: Option<String>,
    /// The board that workers of other machines look at. Without it all lanes are here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub board: Option<FleetBoard>,
    /// The rules.
    pub plan: FleetPlan,
}

/// How the board of a fleet is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetBoard {
    /// Its address, `nats://host:port`.
    pub url: String,
    /// The file with the key that this fleet signs with and is known by.
    pub seed: PathBuf,
    /// The file with the certificate authority of the server; without it, those of the system.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ca: Option<PathBuf>,
}

/// How a fleet ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum FleetOutcome {
    /// Everything has landed.
    Done,
    /// The budget is used up.
    Exhausted,
    /// A person has to look at these items, or at what keeps anything from landing.
    Stopped {
        /// Item and reason, each in a line.
        reasons: Vec<String>,
    },
    /// A person or another process asked the fleet to stop.
    Interrupted,
}

impl FleetOutcome {
    /// The exit code of `ralph` for this outcome.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Exhausted => 1,
            Self::Stopped { .. } => 6,
            Self::Interrupted => 130,
        }
    }
}
