//! What can stand in the log of an item.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that happened to an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum ItemStep {
    /// The lander: this is to be done.
    Posted,
    /// A lane: I am on it. The number of this entry is the lease.
    Claimed,
    /// A lane: here is the result.
    Done(Offer),
    /// A lane: its run ended without a result.
    Failed {
        /// The lease.
        lease: u64,
        /// What the run exited with; nothing if it was killed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        exit: Option<u8>,
        /// Why, in a line.
        why: String,
    },
    /// A lane gives the item back: it was asked to stop, or it died.
    Released {
        /// The lease.
        lease: u64,
        /// Whether it died.
        #[serde(default)]
        died: bool,
    },
    /// The lander: the result is on the target, and every guardrail passed on that tree.
    Merged {
        /// The commit on the target.
        commit: String,
    },
    /// The lander: the result does not merge, or a guardrail failed on the merged tree.
    Refused(Refusal),
    /// The lander: no one is to work on this for now. Leases are void; it can be posted again.
    Withdrawn {
        /// Why, in a line.
        why: String,
    },
    /// No one is to work on this any more.
    Cancelled {
        /// Why, in a line.
        why: String,
    },
    /// The lander, for a person: the last candidate is to land after all. Leases are void.
    Reoffered,
    /// The lander, for a person: a word for the run that works on this. Nothing about the item changes.
    Said {
        /// What to tell the agent.
        text: String,
        /// Every following turn is told.
        #[serde(default)]
        keep: bool,
        /// The running turn ends first.
        #[serde(default)]
        now: bool,
    },
}

/// What a lane hands in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The lease that it was made under.
    pub lease: u64,
    /// The commit of the target that the work began with.
    pub base: String,
    /// The work.
    pub head: String,
    /// What the lane has spent on the item so far, in US dollars.
    #[serde(default)]
    pub cost: f64,
    /// The run that made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// Where the commits between both are, if not in a repository of this machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parcel: Option<OfferedParcel>,
}

/// A file on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedParcel {
    /// Who stored it.
    pub writer: String,
    /// Its digest.
    pub sha256: String,
    /// How long it is.
    pub bytes: u64,
}

/// Why a candidate did not land.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Refusal {
    /// It changes lines that changed on the target meanwhile.
    Conflict {
        /// The commit that was the target's tip.
        tip: String,
        /// The files.
        files: Vec<String>,
        /// Both sides, as git shows them.
        hunks: String,
    },
    /// A guardrail failed on the merged tree.
    Red {
        /// The commit that was the target's tip.
        tip: String,
        /// Its command.
        command: String,
        /// What it exited with.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// It is no result: nothing changed, the story is not done, or its history was rewritten.
    Unusable {
        /// What is wrong with it.
        reason: String,
    },
}

impl Refusal {
    /// In one line, for people.
    pub fn line(&self) -> String {
        match self {
            Self::Conflict { files, .. } => format!("it conflicts with what landed in {}", files.join(", ")),
            Self::Red { command, .. } => format!("`{command}` fails on the merged tree"),
            Self::Unusable { reason } => reason.clone(),
        }
    }
}

/// An entry of an item's log.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemEntry {
    /// Its number, which only grows.
    pub sequence: u64,
    /// Who wrote it: a lane, or the lander.
    pub who: String,
    /// What happened.
    pub step: ItemStep,
}
