//! What a hook answers, in the words that Claude Code and Codex understand.

use serde_json::{Map, Value, json};

/// What a hook prints and how it exits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For the agent's program; nothing is said if it is empty.
    fields: Map<String, Value>,
    /// For the agent, when the hook itself fails closed: the exit code refuses then.
    refusal: Option<String>,
}

impl Answer {
    /// Has nothing to say.
    pub fn allow() -> Self {
        Self::default()
    }

    /// Adds to what the agent knows.
    pub fn tell_agent(event: &str, text: &str) -> Self {
        let output = json!({"hookEventName": event, "additionalContext": text});
        Self::default().with("hookSpecificOutput", output)
    }

    /// Keeps the agent from stopping, or a prompt from reaching it; it or the user is told this.
    pub fn block_stop(reason: &str) -> Self {
        Self::default().with("decision", json!("block")).with("reason", json!(reason))
    }

    /// Does not let a tool run; the agent is told this.
    pub fn deny(reason: &str) -> Self {
        let output = json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        });
        Self::default().with("hookSpecificOutput", output)
    }

    /// Refuses by exit code: an agent that sent input that cannot be read may not read an answer either.
    pub fn refuse(reason: &str) -> Self {
        Self { refusal: Some(reason.to_owned()), ..Self::default() }
    }

    /// Tells the user something besides.
    #[must_use]
    pub fn telling_user(self, text: &str) -> Self {
        self.with("systemMessage", json!(text))
    }

    /// What goes to standard output.
    pub fn text(self) -> String {
        if self.fields.is_empty() { String::new() } else { format!("{}\n", Value::Object(self.fields)) }
    }

    /// What goes to standard error with an exit code that refuses.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.fields.insert(key.to_owned(), value);
        self
    }
}
