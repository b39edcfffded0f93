//! pi: `pi --mode json -p`.
//!
//! Measured on 0.73.1. Most lines repeat others: only the end of a message and the tools' own events count.
//! There is no result event, an error of the service exits with 0, and after the end of an agent's work a
//! retry may follow: the end of the stream is the result, and the last message says whether it failed.

use serde::Deserialize;

use super::conversation::note;
use super::messages::Blocks;
use super::ndjson::{Emit, Ndjson, Reader, unknown};
use super::raw::{Raw, word};
use super::{
    Adapter, AgentEvent, Failure, Metering, Output, Parser, Request, TurnResult, Usage, status, summary,
};
use crate::tool_input;

/// pi.
pub(super) struct Pi;

impl Adapter for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    /// There is nothing to skip: pi asks for no permissions.
    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let mode = if request.output == Output::Stream { "json" } else { "text" };
        let mut arguments: Vec<String> = ["--mode", mode, "-p"].map(str::to_owned).into();
        arguments.extend(request.flags.iter().cloned());
        // pi knows no `--`: a prompt that begins with a dash would be an option, one with `@` a file.
        arguments.extend(request.prompt.map(|prompt| {
            let safe = if prompt.starts_with(['-', '@']) { " " } else { "" };
            format!("{safe}{prompt}")
        }));
        arguments
    }

    fn metering(&self) -> Metering {
        Metering::Cost
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<PiReader>>::default()
    }
}

#[derive(Default)]
struct PiReader {
    model: Option<String>,
    /// What the messages came to; nothing before the first.
    open: Option<TurnResult>,
}

impl Reader for PiReader {
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event: Event<'_> = serde_json::from_str(line)?;
        match word(event.kind) {
            "session" => {
                emit(AgentEvent::Started {
                    session: event.id.and_then(Raw::text),
                    model: None,
                    version: None,
                });
            }
            "message_end" => match event.message.and_then(Raw::read::<Message<'_>>) {
                Some(message) if word(message.role) == "assistant" => self.assistant(&message, emit),
                Some(_) => {}
                None => emit(unknown("message_end without a message")),
            },
            "tool_execution_start" => emit(AgentEvent::ToolStart {
                id: word(event.tool_call_id).to_owned(),
                name: word(event.tool_name).to_owned(),
                summary: tool_input::summary(event.args),
                parent: None,
            }),
            "tool_execution_end" => emit(event.tool_end()),
            "auto_retry_start" => {
                let reason = event.error_message.map(Raw::short).unwrap_or_default();
                emit(AgentEvent::Progress { text: format!("retry after {reason}") });
            }
            "compaction_start" => emit(AgentEvent::Progress { text: "compacting the context".to_owned() }),
            "compaction_end" => note(event.error_message, emit),
            "agent_start"
            | "agent_end"
            | "turn_start"
            | "turn_end"
            | "message_start"
            | "message_update"
            | "tool_execution_update"
            | "queue_update"
            | "auto_retry_end" => {}
            "" => emit(unknown("event without a type")),
            kind => emit(unknown(kind)),
        }
        Ok(())
    }

    fn running(&self) -> Usage {
        self.open.as_ref().map(|result| result.usage).unwrap_or_default()
    }

    fn end(&mut self, emit: Emit<'_>) {
        if let Some(result) = self.open.take() {
            emit(AgentEvent::Result(result));
        }
    }
}

impl PiReader {
    fn assistant(&mut self, message: &Message<'_>, emit: Emit<'_>) {
        let model = message.model.and_then(Raw::text);
        if model.is_some() && model != self.model {
            self.model.clone_from(&model);
            emit(AgentEvent::Started { session: None, model, version: None });
        }
        let result = self.open.get_or_insert_default();
        result.usage.add(message.usage());
        result.failure = message.failure();
        let failed = result.failure.is_some();
        let mut before = "";
        for block in &message.content.0 {
            let kind = word(block.kind);
            match kind {
                // A message that broke off is none: pi forgets it and asks again.
                "text" if failed => note(block.text, emit),
                "text" => {
                    let text = block.text.and_then(Raw::text).unwrap_or_default();
                    emit(AgentEvent::Text { text, joins: before == "text" });
                }
                "thinking" => note(block.thinking, emit),
                "toolCall" => {}
                _ => emit(unknown(format!("assistant/{kind}"))),
            }
            before = kind;
        }
    }
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    id: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
    #[serde(borrow, rename = "toolCallId")]
    tool_call_id: Option<Raw<'a>>,
    #[serde(borrow, rename = "toolName")]
    tool_name: Option<Raw<'a>>,
    #[serde(borrow)]
    args: Option<Raw<'a>>,
    #[serde(borrow)]
    result: Option<Raw<'a>>,
    #[serde(borrow, rename = "isError")]
    is_error: Option<Raw<'a>>,
    #[serde(borrow, rename = "errorMessage")]
    error_message: Option<Raw<'a>>,
}

impl Event<'_> {
    /// pi's shell tool is in error when the command's exit code is not 0.
    fn tool_end(&self) -> AgentEvent {
        let printed = self.result.and_then(Raw::read::<ToolOutput<'_>>).and_then(|output| output.content);
        AgentEvent::ToolEnd {
            id: word(self.tool_call_id).to_owned(),
            ok: !self.is_error.and_then(Raw::read).unwrap_or(false),
            output: printed.or(self.result).map(Raw::excerpt).unwrap_or_default(),
        }
    }
}

#[derive(Deserialize)]
struct ToolOutput<'a> {
    #[serde(borrow)]
    content: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Option<Raw<'a>>,
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    #[serde(borrow, default)]
    content: Blocks<'a>,
    #[serde(borrow)]
    usage: Option<Raw<'a>>,
    #[serde(borrow, rename = "stopReason")]
    stop_reason: Option<Raw<'a>>,
    #[serde(borrow, rename = "errorMessage")]
    error: Option<Raw<'a>>,
}

impl Message<'_> {
    fn usage(&self) -> Usage {
        self.usage.and_then(Raw::read::<Tokens>).unwrap_or_default().into()
    }

    fn failure(&self) -> Option<Failure> {
        let reason = word(self.stop_reason);
        if !matches!(reason, "error" | "aborted") {
            return None;
        }
        let error = self.error.and_then(Raw::text).filter(|error| !error.is_empty());
        let error = error.unwrap_or_else(|| reason.to_owned());
        Some(Failure { kind: status::kind_of_message(&error), message: summary::short(&error) })
    }
}

/// Tokens as pi counts them: no kind includes another.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    total: f64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Self {
            cost_usd: tokens.cost.map(|cost| cost.total),
            input: tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write),
            cached: tokens.cache_read,
            output: tokens.output,
            estimated: false,
        }
    }
}
