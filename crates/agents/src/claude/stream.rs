//! Claude Code's stream, told as events.

use super::events::{Denial, LimitLine, ResultLine, StreamLine, SystemLine};
use crate::conversation::{Conversation, note};
use crate::messages::{Envelope, TokenUsage, outcome};
use crate::ndjson::{Emit, Reader, unknown};
use crate::raw::{Raw, word};
use crate::running::Running;
use crate::{AgentEvent, Failure, FailureKind, Limit, TurnResult, Usage, status};

/// One process of Claude Code, as far as it has told.
#[derive(Default)]
pub(super) struct ClaudeStream {
    conversation: Conversation,
    /// The total of the last result; each says what the whole process has cost so far.
    cost_usd: f64,
    /// The same for the tokens of all models, subagents' included.
    total: Usage,
    /// What the messages since the last result used.
    running: Running,
    /// The last refusal for want of quota.
    refused: Option<Limit>,
    /// The program's word for the last error message that it wrote in the agent's place.
    error: String,
}

impl Reader for ClaudeStream {
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event = Envelope::read(line)?;
        let parent = event.parent();
        match (word(event.kind), &event.message) {
            ("assistant", Some(message)) => {
                if message.is_synthetic() && parent.is_none() {
                    word(event.error).clone_into(&mut self.error);
                }
                self.running.take(word(message.id), message.usage());
                self.conversation.assistant(message, parent, emit);
            }
            ("user", Some(message)) => {
                self.conversation.user(message, event.details, outcome, emit);
            }
            ("stream_event", _) => {
                let line: StreamLine<'_> = serde_json::from_str(line)?;
                if parent.is_none() {
                    self.conversation.piece(&line.event, emit);
                }
            }
            ("system", _) => system(&serde_json::from_str(line)?, emit),
            ("rate_limit_event", _) => {
                let line: LimitLine<'_> = serde_json::from_str(line)?;
                let limit = Limit::from(line.rate_limit_info);
                if limit.refused {
                    self.refused = Some(limit.clone());
                }
                emit(AgentEvent::Limit(limit));
            }
            ("result", _) => {
                let line: ResultLine<'_> = serde_json::from_str(line)?;
                emit(AgentEvent::Result(self.result(&line)));
            }
            ("", _) => emit(unknown("event without a type")),
            (kind, _) => emit(unknown(kind)),
        }
        Ok(())
    }

    fn running(&self) -> Usage {
        self.running.total()
    }
}

impl ClaudeStream {
    fn result(&mut self, line: &ResultLine<'_>) -> TurnResult {
        self.running = Running::default();
        let mut usage = self.tokens(line);
        if let Some(total) = line.total_cost_usd.and_then(Raw::read::<f64>) {
            usage.cost_usd = Some((total - self.cost_usd).max(0.0));
            self.cost_usd = total;
        }
        let error = std::mem::take(&mut self.error);
        let failure =
            line.failed().then(|| Failure { kind: self.failure_kind(line, &error), message: line.message() });
        // Without a model call the text is the program's own: it may repeat the prompt and a marker in it.
        let requests = line.num_turns.and_then(Raw::read::<u64>);
        let asked_model = requests != Some(0);
        let text = line.result.filter(|_| failure.is_none() && asked_model).and_then(Raw::text);
        let denials = line.permission_denials.and_then(Raw::read::<Vec<Denial>>).unwrap_or_default();
        TurnResult {
            text: text.filter(|text| !text.is_empty()),
            failure,
            usage,
            requests,
            denials: denials.into_iter().map(|denial| denial.tool_name).collect(),
        }
    }

    /// What was used since the last result. The line's own `usage` leaves the subagents out.
    fn tokens(&mut self, line: &ResultLine<'_>) -> Usage {
        let Some(total) = line.total_usage() else {
            return line.usage.and_then(Raw::read::<TokenUsage>).unwrap_or_default().into();
        };
        let before = std::mem::replace(&mut self.total, total);
        Usage {
            cost_usd: None,
            input: total.input.saturating_sub(before.input),
            cached: total.cached.saturating_sub(before.cached),
            output: total.output.saturating_sub(before.output),
            estimated: false,
        }
    }

    fn failure_kind(&self, line: &ResultLine<'_>, error: &str) -> FailureKind {
        if line.is_over_budget() {
            return FailureKind::AgentBudget;
        }
        let codes = [word(line.api_error), word(line.api_error_type), error];
        let status = line.api_error_status.and_then(Raw::read);
        let kind =
            codes.iter().find_map(|code| status::kind_of_code(code)).unwrap_or_else(|| status::kind(status));
        let for_want_of_quota = status == Some(429) || matches!(kind, FailureKind::Limited { .. });
        match &self.refused {
            Some(limit) if for_want_of_quota => FailureKind::Limited { resets_at: limit.resets_at },
            Some(_) | None => kind,
        }
    }
}

/// Tells what the program says about itself, where it is worth a line.
fn system(line: &SystemLine<'_>, emit: Emit<'_>) {
    match word(line.subtype) {
        "init" => emit(AgentEvent::Started {
            session: line.session_id.and_then(Raw::text),
            model: line.model.and_then(Raw::text),
            version: line.claude_code_version.and_then(Raw::text),
        }),
        "api_retry" => {
            let reason = line.error_status.or(line.error).map(Raw::short).unwrap_or_default();
            emit(AgentEvent::Progress { text: format!("retry after API error {reason}") });
        }
        "permission_denied" => {
            let tool = word(line.tool_name);
            emit(AgentEvent::Progress { text: format!("{tool} was not permitted") });
        }
        "hook_response" if word(line.outcome) == "error" => {
            emit(AgentEvent::Progress { text: format!("hook {} failed", word(line.hook_name)) });
        }
        "hook_response" if word(line.hook_event) == "PreToolUse" && word(line.outcome) == "success" => {
            emit(AgentEvent::Judged);
        }
        "informational" | "notification" => note(line.content.or(line.text), emit),
        "task_started" => {
            let task = line.description.map(Raw::short).unwrap_or_default();
            emit(AgentEvent::Progress { text: format!("background task: {task}") });
        }
        "task_notification" => note(line.summary, emit),
        "model_refusal_no_fallback" => {
            emit(AgentEvent::Progress { text: "the model refused to answer".to_owned() });
        }
        "compact_boundary" => emit(AgentEvent::Progress { text: "context compacted".to_owned() }),
        "background_tasks_changed"
        | "hook_progress"
        | "hook_response"
        | "hook_started"
        | "status"
        | "task_progress"
        | "task_updated"
        | "thinking_tokens" => {}
        subtype => emit(unknown(format!("system/{subtype}"))),
    }
}
