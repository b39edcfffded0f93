//! What an agent tells a hook: one JSON object, the same for Claude Code and Codex.
//!
//! Invariant: fields that are absent or of an unexpected type are absent; only what is no JSON object is damaged.

use serde::Deserialize;
use serde_json::Value;

use super::host::Host;
use crate::raw::{Raw, word};

/// What the agent tells, unread. Large fields that no hook looks at, such as a tool's output, are passed over.
#[derive(Debug, Deserialize)]
pub struct Input<'a> {
    #[serde(borrow)]
    session_id: Option<Raw<'a>>,
    #[serde(borrow)]
    transcript_path: Option<Raw<'a>>,
    #[serde(borrow)]
    cwd: Option<Raw<'a>>,
    #[serde(borrow)]
    hook_event_name: Option<Raw<'a>>,
    #[serde(borrow)]
    tool_name: Option<Raw<'a>>,
    #[serde(borrow, rename = "tool_input")]
    arguments: Option<Raw<'a>>,
    #[serde(borrow)]
    tool_use_id: Option<Raw<'a>>,
    #[serde(borrow)]
    last_assistant_message: Option<Raw<'a>>,
    #[serde(borrow)]
    background_tasks: Option<Raw<'a>>,
    #[serde(borrow)]
    agent_id: Option<Raw<'a>>,
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    #[serde(borrow)]
    source: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    prompt: Option<Raw<'a>>,
    #[serde(borrow)]
    timestamp: Option<Raw<'a>>,
    #[serde(borrow)]
    turn_id: Option<Raw<'a>>,
}

/// What a shell is about to do.
#[derive(Debug, Default, Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    command: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct BackgroundTask<'a> {
    #[serde(borrow)]
    status: Option<Raw<'a>>,
}

impl<'a> Input<'a> {
    /// Reads what the agent wrote.
    pub fn read(bytes: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }

    /// The agent's own name of the conversation.
    pub fn session(&self) -> Option<String> {
        self.session_id.and_then(Raw::text).filter(|id| !id.is_empty())
    }

    /// The event's own name, which the answer repeats.
    pub fn event(&self) -> &'a str {
        word(self.hook_event_name)
    }

    /// Whether this is about a subagent: its end is not the end of the conversation's turn.
    pub fn is_of_subagent(&self) -> bool {
        self.event() == "SubagentStop" || self.agent_id.is_some_and(|id| id.word().is_some())
    }

    /// The file with everything that was said.
    pub fn transcript(&self) -> Option<String> {
        self.transcript_path.and_then(Raw::text)
    }

    /// Where the agent works.
    pub fn folder(&self) -> Option<String> {
        self.cwd.and_then(Raw::text)
    }

    /// The tool that is used.
    pub fn tool(&self) -> &'a str {
        word(self.tool_name)
    }

    /// The agent's own name of the call.
    pub fn call(&self) -> Option<&'a str> {
        Some(word(self.tool_use_id)).filter(|id| !id.is_empty())
    }

    /// The shell command of the tool.
    pub fn command(&self) -> Option<String> {
        self.arguments.and_then(Raw::read::<Arguments<'_>>)?.command.and_then(Raw::text)
    }

    /// What the tool is given, whole.
    pub fn tool_input(&self) -> Option<Value> {
        self.arguments.and_then(Raw::read)
    }

    /// What the agent said last.
    pub fn last_message(&self) -> Option<String> {
        self.last_assistant_message.and_then(Raw::text)
    }

    /// Whether work goes on in the background, which will wake the agent when it ends.
    pub fn has_background_work(&self) -> bool {
        let tasks = self.background_tasks.and_then(Raw::read::<Vec<BackgroundTask<'_>>>).unwrap_or_default();
        tasks.iter().any(|task| word(task.status) == "running")
    }

    /// The model, where the agent names it.
    pub fn model(&self) -> &'a str {
        word(self.model)
    }

    /// Why a conversation starts: `startup`, `resume`, `compact`, ...
    pub fn source(&self) -> &'a str {
        word(self.source)
    }

    /// What went wrong.
    pub fn error(&self) -> String {
        self.error.and_then(Raw::text).unwrap_or_default()
    }

    /// The program that calls. Gemini, Qwen and Copilot say when they called, Codex which turn it is in.
    pub fn host(&self) -> Host {
        match (self.timestamp, self.turn_id) {
            (Some(_), _) => Host::Other,
            (None, Some(_)) => Host::Codex,
            (None, None) => Host::Claude,
        }
    }

    /// What the user typed.
    pub fn prompt(&self) -> Option<String> {
        self.prompt.and_then(Raw::text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_fields_are_absent_fields() {
        let text = br#"{"session_id": 7, "tool_name": null, "tool_input": [], "background_tasks": "x",
                        "last_assistant_message": {"a": 1}, "cwd": false, "hook_event_name": []}"#;
        let input = Input::read(text).expect("an object");
        assert_eq!((input.session(), input.tool(), input.command()), (None, "", None));
        assert_eq!((input.last_message(), input.folder(), input.event()), (None, None, ""));
        assert!(!input.has_background_work());
    }

    #[test]
    fn hosts_are_known() {
        for (input, host) in [
            (&include_bytes!("../../fixtures/hooks/claude-stop.json")[..], Host::Claude),
            (&include_bytes!("../../fixtures/hooks/claude-user-prompt-submit.json")[..], Host::Claude),
            (&include_bytes!("../../fixtures/hooks/codex-stop.json")[..], Host::Codex),
            (&include_bytes!("../../fixtures/hooks/codex-user-prompt-submit.json")[..], Host::Codex),
            (&include_bytes!("../../fixtures/hooks/qwen-stop.json")[..], Host::Other),
        ] {
            let input = Input::read(input).expect("an object");
            assert_eq!(input.host(), host, "{:?}", input.transcript());
        }
    }

    #[test]
    fn damaged_input_is_known() {
        for text in ["", "[]", "{", "null", "{\"session_id\":\"a\"", "\u{0}"] {
            assert!(Input::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
