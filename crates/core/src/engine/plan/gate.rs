//! A check of a plan: what, when, where, and how often.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Check, When};
use crate::{
    fail_action::FailAction,
    verify::rules::{Repeats, RunsWhere},
};

/// A check that ralph makes itself, outside the agent's reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// What is checked.
    pub check: Check,
    /// When it is checked.
    pub when: When,
    /// Where the failure stands in the next prompt.
    pub fail_action: FailAction,
    /// Guidance for the agent when the check fails.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hint: Option<String>,
    /// Where it is checked.
    #[serde(rename = "where", skip_serializing_if = "RunsWhere::is_both", default)]
    pub runs_where: RunsWhere,
    /// Whether it may be checked more than once in an iteration.
    #[serde(skip_serializing_if = "Repeats::is_yes", default)]
    pub repeats: Repeats,
}

impl Gate {
    /// A check that stands after the prompt when it fails, at any place, as often as needed.
    pub fn new(check: Check, when: When) -> Self {
        Self {
            check,
            when,
            fail_action: FailAction::Append,
            hint: None,
            runs_where: RunsWhere::Both,
            repeats: Repeats::Yes,
        }
    }

    /// Whether the judge can check it, beside the working tree or instead of it.
    pub fn is_for_judge(&self) -> bool {
        let is_repeatable = self.repeats == Repeats::Yes || self.runs_where == RunsWhere::Judge;
        matches!(self.check, Check::Command { .. }) && self.runs_where != RunsWhere::Project && is_repeatable
    }
}
