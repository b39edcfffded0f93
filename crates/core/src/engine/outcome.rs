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

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exhausted {
    /// The number of iterations.
    Iterations,
    /// The time of the run.
    Time,
    /// The cost of the run.
    Cost,
    /// The tokens of the run.
    Tokens,
    /// The cost of one iteration.
    IterationCost,
    /// The tokens of one iteration.
    IterationTokens,
}

impl Exhausted {
    /// What it limits.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Time => "time",
            Self::Cost => "cost",
            Self::Tokens => "tokens",
            Self::IterationCost => "cost per iteration",
            Self::IterationTokens => "tokens per iteration",
        }
    }

    /// The flag that raises it, with a value that leaves room.
    pub fn raised(self, plan: &Plan, spent: &Spent) -> String {
        let limits = &plan.limits;
        let double = |limit: Option<u64>, used: u64| limit.unwrap_or(1).max(used).saturating_mul(2);
        let double_cost = |limit: Option<f64>, usage: &Usage| {
            (2.0 * limit.unwrap_or(1.0).max(usage.cost_usd.unwrap_or(0.0))).max(0.01)
        };
        match self {
            Self::Iterations => format!("--max-iterations {}", limits.iterations.saturating_add(10)),
            Self::Time => format!("--max-time {}s", double(limits.total_ms, spent.ms).div_ceil(1000)),
            Self::Cost => format!("--max-cost {:.2}", double_cost(limits.cost_usd, &spent.usage)),
            Self::Tokens => format!("--max-tokens {}", double(limits.tokens, spent.usage.tokens())),
            Self::IterationCost => {
                let cost = double_cost(limits.iteration_cost_usd, &spent.iteration);
                format!("--max-iteration-cost {cost:.2}")
            }
            Self::IterationTokens => {
                let tokens = double(limits.iteration_tokens, spent.iteration.tokens());
                format!("--max-iteration-tokens {tokens}")
            }
        }
    }
}

impl Outcome {
    /// The exit code of `ralph` for this outcome.
    pub fn exit_code(&self, plan: &Plan) -> u8 {
        match self {
            Self::Done => 0,
            Self::Exhausted { limit: Exhausted::Iterations } => plan.limits.exit_code,
            // For some loops the last iteration is an end like any other; a budget never is.
            Self::Exhausted { .. } => plan.limits.exit_code.max(1),
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
