//! Claude Code: `claude -p --output-format stream-json --verbose`.
//!
//! Measured on 2.1.325. The order of keys is not stable, one message arrives as several events, an API
//! failure has the subtype `success`, and one process may print several results.

use serde::Deserialize;

use super::messages::{Conversation, Envelope, Piece, TokenUsage, note};
use super::ndjson::{Emit, Ndjson, Reader, unknown};
use super::raw::{Raw, word};
use super::{
    Adapter, AgentEvent, Failure, FailureKind, Limit, Output, Parser, Permissions, Request, TurnResult,
    Usage, flags, status, summary,
};

/// Claude Code.
pub(super) struct Claude;

impl Adapter for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let mut arguments = vec!["-p", "--output-format"];
        match request.output {
            Output::Stream => arguments.extend(["stream-json", "--verbose"]),
            Output::Text { .. } => arguments.push("text"),
        }
        let chosen = flags::contain(request.flags, &["--dangerously-skip-permissions", "--permission-mode"]);
        if request.permissions == Permissions::Skip && !chosen {
            arguments.push("--dangerously-skip-permissions");
        }
        arguments.extend(request.flags.iter().map(String::as_str));
        arguments.extend(request.prompt.iter().flat_map(|prompt| ["--", prompt]));
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<ClaudeReader>>::default()
    }

    /// Claude reads the file behind every `@path` into the request: a word joiner after the sign keeps the
    /// text as it looks and names no file.
    fn harmless(&self, text: &str) -> String {
        const WORD_JOINER: char = '\u{2060}';
        let mut safe = String::with_capacity(text.len());
        let mut before = ' ';
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            safe.push(char);
            let opens = char == '@' && !before.is_alphanumeric();
            if opens && chars.peek().is_some_and(|next| !next.is_whitespace() && *next != WORD_JOINER) {
                safe.push(WORD_JOINER);
            }
            before = char;
        }
        safe
    }

    /// Claude takes a first word such as `/help` as one of its commands and asks no model.
    fn deliverable(&self, prompt: String) -> String {
        if prompt.trim_start().starts_with('/') {
            return format!("Do the following:\n\n{prompt}");
        }
        prompt
    }
}

#[derive(Default)]
struct ClaudeReader {
    conversation: Conversation,
    /// The total of the last result; each says what the whole process has cost so far.
    cost_usd: f64,
    /// The last word on the quota, if it was a refusal.
    refused: Option<Limit>,
    /// The program's word for the last error message that it wrote in the agent's place.
    error: String,
}

impl Reader for ClaudeReader {
    fn read(&mut self, line: &[u8], emit: Emit<'_>) -> serde_json::Result<()> {
        let event = Envelope::read(line)?;
        let parent = event.parent.and_then(Raw::word);
        match (word(event.kind), &event.message) {
            ("assistant", Some(message)) => {
                if message.is_synthetic() {
                    word(event.error).clone_into(&mut self.error);
                }
                self.conversation.assistant(message, parent, emit);
            }
            ("user", Some(message)) => {
                self.conversation.user(message, event.details, |block| block.outcome(), emit);
            }
            ("stream_event", _) => {
                let line: StreamLine<'_> = serde_json::from_slice(line)?;
                if parent.is_none() {
                    self.conversation.piece(&line.event, emit);
                }
            }
            ("system", _) => system(&serde_json::from_slice(line)?, emit),
            ("rate_limit_event", _) => {
                let line: LimitLine<'_> = serde_json::from_slice(line)?;
                let limit = Limit::from(line.rate_limit_info);
                self.refused = Some(limit.clone()).filter(|limit| limit.refused);
                emit(AgentEvent::Limit(limit));
            }
            ("result", _) => {
                let line: ResultLine<'_> = serde_json::from_slice(line)?;
                emit(AgentEvent::Result(self.result(&line)));
            }
            ("", _) => emit(unknown("event without a type")),
            (kind, _) => emit(unknown(kind)),
        }
        Ok(())
    }
}

impl ClaudeReader {
    fn result(&mut self, line: &ResultLine<'_>) -> TurnResult {
        let mut usage: Usage = line.usage.and_then(Raw::read::<TokenUsage>).unwrap_or_default().into();
        if let Some(total) = line.total_cost_usd.and_then(Raw::read::<f64>) {
            usage.cost_usd = Some((total - self.cost_usd).max(0.0));
            self.cost_usd = total;
        }
        let error = std::mem::take(&mut self.error);
        let failure =
            line.failed().then(|| Failure { kind: self.failure_kind(line, &error), message: line.message() });
        // Without a model call the text is the program's own: it may repeat the prompt and a marker in it.
        let asked_model = line.num_turns.and_then(Raw::read::<u64>) != Some(0);
        let text = line.result.filter(|_| failure.is_none() && asked_model).and_then(Raw::text);
        let denials = line.permission_denials.and_then(Raw::read::<Vec<Denial>>).unwrap_or_default();
        TurnResult {
            text: text.filter(|text| !text.is_empty()),
            failure,
            usage,
            denials: denials.into_iter().map(|denial| denial.tool_name).collect(),
        }
    }

    fn failure_kind(&self, line: &ResultLine<'_>, error: &str) -> FailureKind {
        let codes = [word(line.api_error), word(line.api_error_type), error];
        let kind = codes.iter().find_map(|code| status::kind_of_code(code));
        let status = line.api_error_status.and_then(Raw::read);
        match (&self.refused, kind) {
            (Some(limit), _) if status == Some(429) => FailureKind::Limited { resets_at: limit.resets_at },
            (_, Some(kind)) => kind,
            (_, None) => status::kind(status),
        }
    }
}

/// Tells what the program says about itself, where it is worth a line.
fn system(line: &SystemLine<'_>, emit: Emit<'_>) {
    match word(line.subtype) {
        "init" => emit(AgentEvent::Started {
            session: line.session_id.and_then(Raw::text),
            model: line.model.and_then(Raw::text),
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
        "informational" | "notification" => note(line.content.or(line.text), emit),
        "task_started" => note(line.description, emit),
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

#[derive(Deserialize)]
struct StreamLine<'a> {
    #[serde(borrow)]
    event: Piece<'a>,
}

#[derive(Deserialize)]
struct SystemLine<'a> {
    #[serde(borrow)]
    subtype: Option<Raw<'a>>,
    #[serde(borrow)]
    session_id: Option<Raw<'a>>,
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    error_status: Option<Raw<'a>>,
    #[serde(borrow)]
    tool_name: Option<Raw<'a>>,
    #[serde(borrow)]
    hook_name: Option<Raw<'a>>,
    #[serde(borrow)]
    outcome: Option<Raw<'a>>,
    #[serde(borrow)]
    content: Option<Raw<'a>>,
    #[serde(borrow)]
    text: Option<Raw<'a>>,
    #[serde(borrow)]
    description: Option<Raw<'a>>,
    #[serde(borrow)]
    summary: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct LimitLine<'a> {
    #[serde(borrow)]
    rate_limit_info: LimitDetails<'a>,
}

#[derive(Deserialize)]
struct LimitDetails<'a> {
    #[serde(borrow)]
    status: Option<Raw<'a>>,
    #[serde(borrow, rename = "resetsAt")]
    resets_at: Option<Raw<'a>>,
    #[serde(borrow, rename = "rateLimitType")]
    window: Option<Raw<'a>>,
}

impl From<LimitDetails<'_>> for Limit {
    fn from(details: LimitDetails<'_>) -> Self {
        Self {
            refused: word(details.status) == "rejected",
            resets_at: details.resets_at.and_then(Raw::read),
            window: details.window.and_then(Raw::text),
        }
    }
}

#[derive(Deserialize)]
struct ResultLine<'a> {
    #[serde(borrow)]
    subtype: Option<Raw<'a>>,
    #[serde(borrow)]
    is_error: Option<Raw<'a>>,
    #[serde(borrow)]
    terminal_reason: Option<Raw<'a>>,
    #[serde(borrow)]
    api_error: Option<Raw<'a>>,
    #[serde(borrow)]
    api_error_status: Option<Raw<'a>>,
    #[serde(borrow)]
    api_error_type: Option<Raw<'a>>,
    #[serde(borrow)]
    result: Option<Raw<'a>>,
    #[serde(borrow)]
    errors: Option<Raw<'a>>,
    #[serde(borrow)]
    num_turns: Option<Raw<'a>>,
    #[serde(borrow)]
    total_cost_usd: Option<Raw<'a>>,
    #[serde(borrow)]
    usage: Option<Raw<'a>>,
    #[serde(borrow)]
    permission_denials: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Denial {
    tool_name: String,
}

impl ResultLine<'_> {
    fn failed(&self) -> bool {
        let ended_badly = matches!(
            word(self.terminal_reason),
            "api_error"
                | "prompt_too_long"
                | "max_turns"
                | "budget_exhausted"
                | "aborted_streaming"
                | "aborted_tools"
        );
        self.is_error.and_then(Raw::read).unwrap_or(false)
            || word(self.subtype).starts_with("error")
            || ended_badly
    }

    /// What went wrong, for people: the text, or the errors but for those that only the program's makers
    /// read, or the reason.
    fn message(&self) -> String {
        let errors = self.errors.and_then(Raw::read::<Vec<String>>).unwrap_or_default();
        let error = errors.iter().find(|error| !error.starts_with("[ede_diagnostic]"));
        let reasons = [
            self.result.map(Raw::short),
            error.map(|error| summary::short(error)),
            self.terminal_reason.map(Raw::short),
            self.subtype.map(Raw::short),
        ];
        reasons.into_iter().flatten().find(|reason| !reason.is_empty()).unwrap_or_else(|| "failed".to_owned())
    }
}
