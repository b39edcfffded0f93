//! Copilot's stream, told as events.

use std::collections::HashMap;

use super::events::{CopilotEvent, Data};
use crate::ndjson::{Emit, Reader, unknown};
use crate::raw::{Raw, word};
use crate::{AgentEvent, Failure, FailureKind, TurnResult};
use crate::{conversation::note, tool_input};

/// One process of Copilot, as far as it has told.
#[derive(Default)]
pub(super) struct CopilotStream {
    model: Option<String>,
    /// The names of the tools that are running, by call.
    running: HashMap<String, String>,
    denials: Vec<String>,
    /// Why the agent does not go on; an answer that comes all the same ends that.
    failure: Option<Failure>,
}

impl Reader for CopilotStream {
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event: CopilotEvent<'_> = serde_json::from_str(line)?;
        match word(event.kind) {
            "session.tools_updated" => self.start(&event.data(), emit),
            "assistant.message" => self.message(&event.data(), emit),
            "assistant.reasoning" => note(event.data().content, emit),
            "tool.execution_start" => self.tool_start(&event.data(), emit),
            "tool.execution_complete" => self.tool_end(&event.data(), emit),
            "assistant.turn_retry" => {
                let reason = event.data().reason.map(Raw::short).unwrap_or_default();
                emit(AgentEvent::Progress { text: format!("retry after {reason}") });
            }
            "session.info" | "session.warning" => tell(&event.data(), emit),
            "session.error" => self.fail(&event.data(), emit),
            "abort" => {
                let reason = event.data().reason.map(Raw::short).unwrap_or_default();
                let message = format!("aborted: {reason}");
                self.failure = Some(Failure { kind: FailureKind::Transient, message });
            }
            "result" => self.finish(&event, emit),
            kind if is_noise(kind) => {}
            "" => emit(unknown("event without a type")),
            kind => emit(unknown(kind)),
        }
        Ok(())
    }

    /// An interrupted Copilot may go without a result.
    fn end(&mut self, emit: Emit<'_>) {
        if self.failure.is_some() {
            emit(AgentEvent::Result(self.result(None)));
        }
    }
}

impl CopilotStream {
    /// The model is told again with each change of the tools.
    fn start(&mut self, data: &Data<'_>, emit: Emit<'_>) {
        let model = data.model.and_then(Raw::text);
        if model.is_some() && model != self.model {
            self.model.clone_from(&model);
            emit(AgentEvent::Started { session: None, model, version: None });
        }
    }

    fn message(&mut self, data: &Data<'_>, emit: Emit<'_>) {
        if data.parent().is_some() {
            return note(data.content, emit);
        }
        self.failure = None;
        let text = data.content.and_then(Raw::text).unwrap_or_default();
        if !text.is_empty() {
            emit(AgentEvent::Text { text, joins: false });
        }
    }

    fn tool_start(&mut self, data: &Data<'_>, emit: Emit<'_>) {
        let (id, name) = (word(data.tool_call_id), word(data.tool_name));
        self.running.insert(id.to_owned(), name.to_owned());
        emit(AgentEvent::ToolStart {
            id: id.to_owned(),
            name: name.to_owned(),
            summary: tool_input::summary(data.arguments),
            parent: data.parent().map(str::to_owned),
        });
    }

    fn tool_end(&mut self, data: &Data<'_>, emit: Emit<'_>) {
        let id = word(data.tool_call_id);
        let name = self.running.remove(id);
        if data.is_denied() {
            self.denials.extend(name);
        }
        emit(AgentEvent::ToolEnd { id: id.to_owned(), ok: data.ok(), output: data.output() });
    }

    fn fail(&mut self, data: &Data<'_>, emit: Emit<'_>) {
        let failure = data.failure();
        if data.parent().is_some() {
            return emit(AgentEvent::Progress { text: failure.message });
        }
        self.failure = Some(failure);
    }

    /// Only the result knows the session's name.
    fn finish(&mut self, event: &CopilotEvent<'_>, emit: Emit<'_>) {
        if let Some(session) = event.session_id.and_then(Raw::text) {
            emit(AgentEvent::Started { session: Some(session), model: None, version: None });
        }
        let result = self.result(event.exit_code.and_then(Raw::read));
        emit(AgentEvent::Result(result));
    }

    fn result(&mut self, exit_code: Option<i64>) -> TurnResult {
        let code = exit_code.filter(|code| *code != 0);
        let by_code = code.map(|code| Failure {
            kind: FailureKind::Transient,
            message: format!("ended with exit code {code}"),
        });
        TurnResult {
            failure: self.failure.take().or(by_code),
            denials: std::mem::take(&mut self.denials),
            ..TurnResult::default()
        }
    }
}

/// Tells a notice, unless another event tells the same.
fn tell(data: &Data<'_>, emit: Emit<'_>) {
    if !matches!(word(data.info_type), "file_created" | "model_retry") {
        note(data.message, emit);
    }
}

/// Whether a line only repeats others, or is about the program itself.
fn is_noise(kind: &str) -> bool {
    matches!(
        kind,
        "agent.interrupted"
            | "assistant.idle"
            | "assistant.message_delta"
            | "assistant.message_start"
            | "assistant.reasoning_delta"
            | "assistant.tool_call_delta"
            | "assistant.turn_end"
            | "assistant.turn_start"
            | "model.call_failure"
            | "model.call_final_result"
            | "model.call_finished"
            | "model.call_start"
            | "session.background_tasks_changed"
            | "session.custom_agents_updated"
            | "session.mcp_servers_loaded"
            | "session.skills_loaded"
            | "tool.execution_partial_result"
            | "tool.shell_output"
            | "user.message"
    )
}
