//! Where turns, guardrails and runs end.

use std::time::Duration;

use ralph_core::{engine::presets::STUCK_AFTER, until::Until};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{or_zero, schema, seconds_or_off};

/// Where things end without being done. Nothing here, and zero in a file, means no limit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct Limits {
    /// How long one turn of the agent may take.
    #[serde(serialize_with = "seconds_or_off")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) iteration_timeout: Option<Duration>,
    /// How long the agent may be silent.
    #[serde(serialize_with = "seconds_or_off")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) idle_timeout: Option<Duration>,
    /// How long the agent may take to print its first event. Programs that ralph does not know print no events.
    #[serde(serialize_with = "seconds_or_off")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) start_timeout: Option<Duration>,
    /// How long one guardrail may take, or one call of git that commits or pushes, with its hooks.
    #[serde(serialize_with = "seconds_or_off")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) gate_timeout: Option<Duration>,
    /// How long the run may take.
    #[serde(serialize_with = "seconds_or_off")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) max_time: Option<Duration>,
    /// How long to wait for usage limits in total. `0` means one day.
    #[serde(serialize_with = "seconds_or_off")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) max_wait: Option<Duration>,
    /// What the run may cost, in US dollars.
    #[serde(serialize_with = "or_zero")]
    #[schemars(range(min = 0.0))]
    pub(crate) max_cost: Option<f64>,
    /// How many tokens the run may use, in and out.
    #[serde(serialize_with = "or_zero")]
    pub(crate) max_tokens: Option<u64>,
    /// What one iteration may cost, in US dollars, all its attempts together.
    #[serde(serialize_with = "or_zero")]
    #[schemars(range(min = 0.0))]
    pub(crate) max_iteration_cost: Option<f64>,
    /// How many tokens one iteration may use, in and out, all its attempts together.
    #[serde(serialize_with = "or_zero")]
    pub(crate) max_iteration_tokens: Option<u64>,
    /// When the run ends at the latest: `07:00` is the next time that the clock shows it, `2026-11-18T07:00` a
    /// certain day. `0` is no limit.
    #[serde(serialize_with = "until_or_off")]
    #[schemars(schema_with = "schema::until")]
    pub(crate) until: Option<Until>,
    /// How much of every usage limit to leave for other work, in percent. When the agent reports that no more is
    /// left, no turn begins and a running turn ends. For agents that report it (Claude Code, Codex with a
    /// subscription).
    #[serde(serialize_with = "or_zero")]
    #[schemars(schema_with = "schema::percent")]
    pub(crate) leave_quota: Option<u32>,
    /// After how many iterations without progress ralph tells the agent. If the files, the results of the guardrails
    /// and the state of the tasks or stories stay the same for one more, the run ends.
    #[serde(serialize_with = "or_zero")]
    pub(crate) stuck_after: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            iteration_timeout: None,
            idle_timeout: Some(Duration::from_mins(30)),
            start_timeout: Some(Duration::from_mins(2)),
            gate_timeout: Some(Duration::from_mins(30)),
            max_time: None,
            max_wait: None,
            max_cost: None,
            max_tokens: None,
            max_iteration_cost: None,
            max_iteration_tokens: None,
            until: None,
            leave_quota: None,
            stuck_after: Some(STUCK_AFTER),
        }
    }
}

/// As it is written; off is zero.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn until_or_off<S: Serializer>(until: &Option<Until>, serializer: S) -> Result<S::Ok, S::Error> {
    match until {
        Some(until) => serializer.collect_str(until),
        None => serializer.serialize_u8(0),
    }
}
