//! A judgement with its reasons.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Category, Tier};

/// What becomes of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// It may run, and the user is told.
    Warn,
    /// It must not run.
    Block,
}

/// A rule that matched, with what it matched.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The id of the rule.
    pub rule: Cow<'static, str>,
    /// What it protects.
    pub category: Category,
    /// Whether it blocks or warns.
    pub tier: Tier,
    /// What was found: the command or the file, for people.
    pub found: String,
    /// What the agent should do instead.
    pub instead: Cow<'static, str>,
    /// The user has switched this rule off ([`Context::allowed_rules`](crate::Context::allowed_rules)): it does not decide.
    pub is_allowed: bool,
}

/// A judgement with its reasons. It serializes to what `ralph guard check --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What becomes of the call.
    pub decision: Decision,
    /// Every rule that matched, those that decide first.
    pub findings: Vec<Finding>,
    /// The commands that would run, as they would be typed; what cannot be known is in `‹` and `›`.
    pub commands: Vec<String>,
}

impl Verdict {
    /// The finding that decided, if one did.
    pub fn reason(&self) -> Option<&Finding> {
        self.findings.first().filter(|finding| !finding.is_allowed)
    }

    /// The decision in words for the agent: what was found, and what to do instead.
    pub fn message(&self) -> Option<String> {
        let finding = self.reason()?;
        let verb = match finding.tier {
            Tier::Block => "blocked",
            Tier::Warn => "warning",
        };
        Some(format!("{verb} by ralph's guard ({}): {}. {}", finding.rule, finding.found, finding.instead))
    }
}
