//! What an agent with Claude-shaped messages says and does, told as events.
//!
//! Invariant: only what the agent itself says becomes [`AgentEvent::Text`]. Subagents, echoed prompts, hook
//! feedback and the program's own error messages do not, and no text counts twice.

use super::messages::{Block, Message, Piece, outcome};
use super::ndjson::{Emit, unknown};
use super::raw::{Raw, word};
use super::todos::Todos;
use super::{AgentEvent, Excerpt};
use crate::tool_input;

/// What one turn has said so far.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The message that goes on speaking: its text was the last thing that happened.
    speaking: Option<String>,
    /// The message that arrives piece by piece.
    arriving: Option<String>,
    /// The message whose text has been told piece by piece, so that the whole repeats it.
    told: Option<String>,
    todos: Todos,
}

impl Conversation {
    /// Takes a message of the agent or of a subagent of its.
    pub(super) fn assistant(&mut self, message: &Message<'_>, parent: Option<&str>, emit: Emit<'_>) {
        let id = word(message.id);
        if id.is_empty() {
            self.speaking = None;
        }
        for block in &message.content.0 {
            let kind = word(block.kind);
            if parent.is_none() && kind != "text" {
                self.speaking = None;
            }
            match kind {
                "text" if parent.is_none() && !message.is_synthetic() => {
                    if id.is_empty() || self.told.as_deref() != Some(id) {
                        self.say(id, block.text, emit);
                    }
                }
                "text" if parent.is_some() => {
                    if let Some(text) = block.text.map(Raw::short).filter(|text| !text.is_empty()) {
                        emit(AgentEvent::Subagent { text });
                    }
                }
                "text" => note(block.text, emit),
                "thinking" => note(block.thinking, emit),
                "redacted_thinking" => {}
                "tool_use" | "server_tool_use" | "mcp_tool_use" => self.tool_start(block, parent, emit),
                _ if kind.ends_with("tool_result") => self.tool_end(block, None, outcome(block), emit),
                _ => emit(unknown(format!("assistant/{kind}"))),
            }
        }
    }

    /// Takes a message that goes to the agent: only what tools printed matters in it.
    pub(super) fn user(
        &mut self,
        message: &Message<'_>,
        details: Option<Raw<'_>>,
        outcome: fn(&Block<'_>) -> (bool, Excerpt),
        emit: Emit<'_>,
    ) {
        for block in message.content.0.iter().filter(|block| word(block.kind) == "tool_result") {
            self.tool_end(block, details, outcome(block), emit);
        }
    }

    /// Takes a piece of a message that has not arrived whole.
    pub(super) fn piece(&mut self, event: &Piece<'_>, emit: Emit<'_>) {
        match word(event.kind) {
            "message_start" => {
                self.arriving = event.message.as_ref().map(|message| word(message.id).to_owned());
            }
            "content_block_start"
                if event.content_block.as_ref().is_some_and(|block| word(block.kind) != "text") =>
            {
                self.speaking = None;
            }
            "content_block_delta" => {
                let Some(delta) = event.delta.as_ref().filter(|delta| word(delta.kind) == "text_delta")
                else {
                    return;
                };
                let id = self.arriving.clone().unwrap_or_default();
                self.say(&id, delta.text, emit);
                self.told = Some(id);
            }
            _ => {}
        }
    }

    fn say(&mut self, id: &str, text: Option<Raw<'_>>, emit: Emit<'_>) {
        let Some(text) = text.and_then(Raw::text).filter(|text| !text.is_empty()) else { return };
        let joins = self.speaking.as_deref() == Some(id);
        self.speaking = Some(id.to_owned());
        emit(AgentEvent::Text { text, joins });
    }

    fn tool_start(&mut self, block: &Block<'_>, parent: Option<&str>, emit: Emit<'_>) {
        let (id, name) = (word(block.id), word(block.name));
        if parent.is_none() {
            self.todos.begin(id, name, block.input);
        }
        emit(AgentEvent::ToolStart {
            id: id.to_owned(),
            name: name.to_owned(),
            summary: tool_input::summary(block.input),
            parent: parent.map(str::to_owned),
        });
    }

    fn tool_end(
        &mut self,
        block: &Block<'_>,
        details: Option<Raw<'_>>,
        (ok, output): (bool, Excerpt),
        emit: Emit<'_>,
    ) {
        let id = word(block.tool_use_id);
        emit(AgentEvent::ToolEnd { id: id.to_owned(), ok, output });
        if let Some(items) = self.todos.end(id, ok, details) {
            emit(AgentEvent::Todo { items });
        }
    }
}

/// Tells a text as a quiet line, if there is anything in it.
pub(super) fn note(text: Option<Raw<'_>>, emit: Emit<'_>) {
    let text = text.map(Raw::short).unwrap_or_default();
    if !text.is_empty() {
        emit(AgentEvent::Progress { text });
    }
}
