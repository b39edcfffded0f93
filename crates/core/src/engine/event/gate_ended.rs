//! What a gate found, and how the records of version 0.1 say it.

use crate::prompt::Feedback;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    engine::plan::{Check, Gate},
    gate_failure::{Checked, GateExit, GateFailure},
    verify::tested::Tested,
};

/// All that the agent is told when a hidden guardrail fails.
const HIDDEN_FAILED: &str =
    "A hidden guardrail failed. Ralph does not tell what it checks: do all that the task asks for.";

/// What a gate found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateEnded {
    /// Which gate of the plan.
    pub gate: usize,
    /// How it failed; nothing when it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<GateFailure>,
    /// How long it took.
    pub ms: u64,
    /// Where the output is, relative to the project.
    pub log: String,
    /// A number made from all that a failed gate printed, without times and the like: two that are equal failed for
    /// the same reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The tests that it ran, where a runner counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tested>,
    /// The SHA-256 of all that it printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_sha256: Option<String>,
}

impl GateEnded {
    /// What a check found that needs no command.
    pub fn own(gate: usize, failure: Option<GateFailure>, log: String) -> Self {
        Self { gate, failure, ms: 0, log, signature: None, tests: None, output_sha256: None }
    }

    /// Whether it found that there is more to do, and nothing that is wrong.
    pub fn leaves_work(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| matches!(failure.exit, GateExit::OpenTasks(_)))
    }

    /// What the agent is told when this gate of the plan failed so; nothing when it passed.
    pub fn feedback(&self, gate: &Gate) -> Option<Feedback> {
        if matches!(gate.check, Check::Hidden { .. }) {
            let text = self.failure.as_ref().map(|_| HIDDEN_FAILED.to_owned())?;
            return Some(Feedback { action: gate.fail_action, own: text.len(), text });
        }
        let checked = Checked { command: gate.check.name(), hint: gate.hint.as_deref(), log: &self.log };
        let (own, printed) = self.failure.as_ref()?.message(&checked);
        Some(Feedback { action: gate.fail_action, own: own.len(), text: own + &printed })
    }
}

/// The same as it is read: version 0.1 recorded the message to the agent, and the exit code beside it.
#[derive(Deserialize)]
struct GateRecord {
    gate: usize,
    failure: Option<FailureRecord>,
    code: Option<i32>,
    ms: u64,
    log: String,
    /// Called `likeness` in version 0.1.
    #[serde(alias = "likeness")]
    signature: Option<String>,
    tests: Option<Tested>,
    output_sha256: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FailureRecord {
    Facts(GateFailure),
    Message(String),
}

impl<'de> Deserialize<'de> for GateEnded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let GateRecord { gate, failure, code, ms, log, signature, tests, output_sha256 } =
            GateRecord::deserialize(deserializer)?;
        let failure = failure.map(|failure| match failure {
            FailureRecord::Facts(failure) => failure,
            FailureRecord::Message(message) => GateFailure::of_message(message, code),
        });
        Ok(Self { gate, failure, ms, log, signature, tests, output_sha256 })
    }
}
