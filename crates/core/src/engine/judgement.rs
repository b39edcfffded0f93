//! What ralph's hooks did in the agent, as the journal has it.

use ralph_guard::Decision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tool call that was judged before it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The agent's own name of the call, as its stream has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool, as the agent calls it.
    pub tool: String,
    /// What it was to do: the beginning of the command line, or the files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asked: String,
    /// What became of it.
    pub decision: Decision,
    /// The rule that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What that rule found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

impl Judgement {
    /// Whether the call was not let through.
    pub fn is_refusal(&self) -> bool {
        self.decision == Decision::Block
    }

    /// What was refused and by which rule, in one line.
    pub fn refusal(&self) -> String {
        let Self { tool, asked, rule, .. } = self;
        let asked = if asked.is_empty() { String::new() } else { format!(" {asked}") };
        match rule {
            Some(rule) => format!("{tool}{asked} ({rule})"),
            None => format!("{tool}{asked}"),
        }
    }
}

/// What ralph's hooks did in the agent during a turn, as they report it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HookReport {
    /// Tool calls that were judged before they ran.
    pub judged: u64,
    /// How many of them were refused.
    pub refused: u64,
    /// Why the agent was not let go when it tried to stop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// How full the context window was when the agent was told, in percent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_was_refused_and_why() {
        let call = |decision, asked: &str, rule: Option<&str>| Judgement {
            id: None,
            tool: "Bash".to_owned(),
            asked: asked.to_owned(),
            decision,
            rule: rule.map(str::to_owned),
            found: None,
        };
        let blocked = call(Decision::Block, "rm -rf /", Some("delete-root"));
        assert_eq!((blocked.is_refusal(), blocked.refusal().as_str()), (true, "Bash rm -rf / (delete-root)"));
        assert_eq!(call(Decision::Block, "", Some("delete-root")).refusal(), "Bash (delete-root)");
        assert_eq!(call(Decision::Block, "rm -rf /", None).refusal(), "Bash rm -rf /");
        assert!(!call(Decision::Warn, "", None).is_refusal());
        assert!(!call(Decision::Allow, "", None).is_refusal());
    }
}
