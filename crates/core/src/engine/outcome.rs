//! How a run ended, and the exit code that says so.

use ralph_agents::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    plan::{Cause, Plan},
    spent::Spent,
    stop::Stop,
};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// A claim was made and every gate passed.
    Done,
    /// A limit was reached without completion.
    Exhausted {
        /// Which one.
        limit: Exhausted,
    },
    /// A person has to do something first.
    #[serde(alias = "paused")]
    Stopped(#[serde(deserialize_with = "Stop::read")] Stop),
    /// A person or the system asked ralph to stop.
    Interrupted,
    /// Something that must be there is missing.
    Unready {
        /// What, and what to do.
        reason: String,
    },
    /// The same failure came back beyond the retries.
    GaveUp {
        /// What failed.
        cause: Cause,
        /// The last failure in one line.
        reason: String,
    },
}

/// Which limit was reached. They are called as flags and settings are (`docs/design/names.md`); version 0.1 had other names
/// in its journals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    /// The number of iterations.
    #[serde(alias = "iterations")]
    MaxIterations,
    /// The time of the run.
    #[serde(alias = "time")]
    MaxTime,
    /// The cost of the run.
    #[serde(alias = "cost")]
    MaxCost,
    /// The tokens of the run.
    #[serde(alias = "tokens")]
    MaxTokens,
    /// The cost of one iteration.
    #[serde(alias = "iteration_cost")]
    MaxIterationCost,
    /// The tokens of one iteration.
    #[serde(alias = "iteration_tokens")]
    MaxIterationTokens,
    /// The moment at which it was to end.
    Until,
    /// What was to be left of the usage limit.
    LeaveQuota,
}

impl Exhausted {
    /// What it limits.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxIterations => "iterations",
            Self::MaxTime => "time",
            Self::MaxCost => "cost",
            Self::MaxTokens => "tokens",
            Self::MaxIterationCost => "cost per iteration",
            Self::MaxIterationTokens => "tokens per iteration",
            Self::Until => "time of day",
            Self::LeaveQuota => "quota",
        }
    }

    /// Why a reviewer is not asked when it is reached.
    pub(super) fn forgone(self) -> String {
        format!("the run is at its limit of {}", self.name())
    }

    /// The flag that raises it, with a value that leaves room.
    pub fn raised(self, plan: &Plan, spent: &Spent) -> String {
        let limits = &plan.limits;
        let double = |limit: Option<u64>, used: u64| limit.unwrap_or(1).max(used).saturating_mul(2);
        let double_cost = |limit: Option<f64>, usage: &Usage| {
            (2.0 * limit.unwrap_or(1.0).max(usage.cost_usd.unwrap_or(0.0))).max(0.01)
        };
        match self {
            Self::MaxIterations => format!("--max-iterations {}", limits.max_iterations.saturating_add(10)),
            Self::MaxTime => format!("--max-time {}s", double(limits.max_time_ms, spent.ms).div_ceil(1000)),
            Self::MaxCost => format!("--max-cost {:.2}", double_cost(limits.max_cost, &spent.usage)),
            Self::MaxTokens => format!("--max-tokens {}", double(limits.max_tokens, spent.usage.tokens())),
            Self::MaxIterationCost => {
                let cost = double_cost(limits.max_iteration_cost, &spent.iteration);
                format!("--max-iteration-cost {cost:.2}")
            }
            Self::MaxIterationTokens => {
                let tokens = double(limits.max_iteration_tokens, spent.iteration.tokens());
                format!("--max-iteration-tokens {tokens}")
            }
            // How much later, and how much less, only a person knows.
            Self::Until => "--until 0".to_owned(),
            Self::LeaveQuota => "--leave-quota 0".to_owned(),
        }
    }
}

impl Outcome {
    /// The exit code of `ralph` for this outcome.
    pub fn exit_code(&self, plan: &Plan) -> u8 {
        match self {
            Self::Done => 0,
            Self::Exhausted { limit: Exhausted::MaxIterations } => plan.limits.limit_exit_code,
            // For some loops the last iteration is an end like any other; a budget never is.
            Self::Exhausted { .. } => plan.limits.limit_exit_code.max(1),
            Self::Unready { .. } => 2,
            Self::GaveUp { cause: Cause::Gate, .. } => 3,
            Self::GaveUp { cause: Cause::Agent | Cause::NoChange, .. } => 4,
            Self::GaveUp { cause: Cause::Commit, .. } => 5,
            Self::Stopped(_) => Stop::EXIT_CODE,
            Self::Interrupted => 130,
        }
    }

    /// Whether the agent itself asked ralph to wait.
    pub fn is_wait(&self) -> bool {
        matches!(self, Self::Stopped(stop) if stop.is_wait())
    }

    /// Whether there is anything left to resume.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Done)
    }
}
