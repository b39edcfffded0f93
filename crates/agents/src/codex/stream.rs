//! Codex's stream, told as events.

use std::collections::HashSet;

use super::events::{CodexEvent, CodexTokens, Item, TodoEntry};
use super::failure::failure;
use crate::ndjson::{Emit, Reader, unknown};
use crate::raw::{Raw, word};
use crate::{AgentEvent, Failure, TodoItem, TurnResult, Usage};

/// One process of Codex, as far as it has told.
#[derive(Default)]
pub(super) struct CodexStream {
    /// Tool calls that have begun and not ended.
    running: HashSet<String>,
    /// The list as it was told last; it is repeated when the turn ends.
    todo: Vec<TodoItem>,
    /// Tools that were refused.
    denials: Vec<String>,
    /// The total of the last result; each counts the whole thread.
    total: Usage,
}

impl Reader for CodexStream {
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event: CodexEvent<'_> = serde_json::from_str(line)?;
        match (word(event.kind), &event.item) {
            ("thread.started", _) => {
                emit(AgentEvent::Started {
                    session: event.thread_id.and_then(Raw::text),
                    model: None,
                    version: None,
                });
            }
            ("turn.started", _) => {}
            ("item.started" | "item.updated", Some(item)) => self.progress(item, emit),
            ("item.completed", Some(item)) => self.complete(item, emit),
            ("turn.completed", _) => emit(AgentEvent::Result(self.result(None, event.usage))),
            ("turn.failed", _) => {
                let message =
                    event.error.and_then(|error| error.message).and_then(Raw::text).unwrap_or_default();
                emit(AgentEvent::Result(self.result(Some(failure(&message)), event.usage)));
            }
            ("error", _) => {
                emit(AgentEvent::Progress { text: event.message.map(Raw::short).unwrap_or_default() });
            }
            ("", _) => emit(unknown("event without a type")),
            (kind, _) => emit(unknown(kind)),
        }
        Ok(())
    }
}

impl CodexStream {
    fn progress(&mut self, item: &Item<'_>, emit: Emit<'_>) {
        match word(item.kind) {
            "todo_list" => self.tell_todo(item, emit),
            kind if is_tool(kind) => self.tool_start(item, emit),
            "agent_message" | "reasoning" | "error" => {}
            kind => emit(unknown(format!("item/{kind}"))),
        }
    }

    fn complete(&mut self, item: &Item<'_>, emit: Emit<'_>) {
        match word(item.kind) {
            "agent_message" => {
                let text = item.text.and_then(Raw::text).unwrap_or_default();
                emit(AgentEvent::Text { text, joins: false });
            }
            "reasoning" => emit(AgentEvent::Progress { text: item.text.map(Raw::short).unwrap_or_default() }),
            "error" => emit(AgentEvent::Progress { text: item.message.map(Raw::short).unwrap_or_default() }),
            "todo_list" => self.tell_todo(item, emit),
            kind if is_tool(kind) => {
                self.tool_start(item, emit);
                self.tool_end(item, emit);
            }
            kind => emit(unknown(format!("item/{kind}"))),
        }
    }

    fn tool_start(&mut self, item: &Item<'_>, emit: Emit<'_>) {
        let id = word(item.id).to_owned();
        if self.running.insert(id.clone()) {
            emit(AgentEvent::ToolStart { id, name: item.name(), summary: item.summary(), parent: None });
        }
    }

    fn tool_end(&mut self, item: &Item<'_>, emit: Emit<'_>) {
        let id = word(item.id);
        let status = word(item.status);
        if status == "declined" {
            self.denials.push(item.name());
        }
        let clean = item.exit_code.and_then(Raw::read::<i64>).unwrap_or(0) == 0;
        let ok = clean && !matches!(status, "failed" | "declined");
        let output =
            item.aggregated_output.or(item.error).or(item.result).map(Raw::excerpt).unwrap_or_default();
        self.running.remove(id);
        emit(AgentEvent::ToolEnd { id: id.to_owned(), ok, output });
    }

    fn tell_todo(&mut self, item: &Item<'_>, emit: Emit<'_>) {
        let entries = item.items.and_then(Raw::read::<Vec<TodoEntry>>).unwrap_or_default();
        let items: Vec<TodoItem> = entries.into_iter().map(TodoItem::from).collect();
        if items != self.todo {
            self.todo.clone_from(&items);
            emit(AgentEvent::Todo { items });
        }
    }

    fn result(&mut self, failure: Option<Failure>, usage: Option<Raw<'_>>) -> TurnResult {
        let total = usage.and_then(Raw::read::<CodexTokens>).map_or(self.total, Usage::from);
        let usage = Usage {
            cost_usd: None,
            input: total.input.saturating_sub(self.total.input),
            cached: total.cached.saturating_sub(self.total.cached),
            output: total.output.saturating_sub(self.total.output),
            estimated: false,
        };
        self.total = total;
        let denials = std::mem::take(&mut self.denials);
        TurnResult { failure, usage, denials, ..TurnResult::default() }
    }
}

fn is_tool(kind: &str) -> bool {
    matches!(kind, "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search")
}
