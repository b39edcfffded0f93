//! A check of a plan: what, when, where, and how often.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Check, When};
use crate::{
    fail_action::FailAction,
    verify::rules::{GuardrailKind, Repeats, RunsWhere},
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
    /// Whether it runs tests or only reads the code; nothing where the command says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<GuardrailKind>,
    /// The `JUnit` file that it writes, relative to the project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub junit: Option<String>,
}

impl Check {
    /// The command that everyone may see, if it is one.
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Command { command } => Some(command),
            Self::Hidden { .. }
            | Self::ChildrenEnded { .. }
            | Self::TaskRules
            | Self::CleanTree
            | Self::StoriesDone
            | Self::PlanSettled
            | Self::Review { .. }
            | Self::Work { .. } => None,
        }
    }
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
            kind: None,
            junit: None,
        }
    }

    /// Whether the tests that it runs are counted.
    pub fn counts_tests(&self) -> bool {
        // What hidden ones are called says what is checked.
        self.check.command().is_some_and(|command| {
            self.kind.unwrap_or_else(|| GuardrailKind::of(command)) == GuardrailKind::Test
        })
    }

    /// Whether the judge can check it as often as needed.
    pub fn can_be_repeated_in_judge(&self) -> bool {
        self.is_for_judge() && self.repeats == Repeats::Yes
    }

    /// Whether it is checked with new tests on old code: it runs tests, everyone may see it, and it may be repeated.
    pub fn tries_new_tests(&self) -> bool {
        self.counts_tests() && self.can_be_repeated_in_judge()
    }

    /// Whether the judge can check it, beside the working tree or instead of it.
    pub fn is_for_judge(&self) -> bool {
        let is_repeatable = self.repeats == Repeats::Yes || self.runs_where == RunsWhere::Judge;
        self.check.is_command() && self.runs_where != RunsWhere::Project && is_repeatable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gates_that_run_tests_for_everyone_as_often_as_needed_are_run() {
        let gate = |command: &str| {
            let command = command.to_owned();
            Gate::new(Check::Command { command }, When::EveryTurn)
        };
        let hidden = Gate::new(Check::Hidden { name: "hidden guardrail 1".to_owned() }, When::EveryTurn);
        for (gate, expected) in [
            (gate("make test"), true),
            (gate("cargo clippy"), false),
            (Gate { kind: Some(GuardrailKind::Lint), ..gate("make test") }, false),
            (Gate { repeats: Repeats::No, ..gate("make test") }, false),
            (Gate { repeats: Repeats::No, runs_where: RunsWhere::Judge, ..gate("make test") }, false),
            (Gate { runs_where: RunsWhere::Judge, ..gate("make test") }, true),
            (Gate { runs_where: RunsWhere::Project, ..gate("make test") }, false),
            (hidden, false),
        ] {
            assert_eq!(gate.tries_new_tests(), expected, "{gate:?}");
        }
    }
}
