//! Codex: `codex exec --json -`.
//!
//! Measured on 0.166.0. Only `turn.failed` is a failure: a top-level `error` or an item of that type may be
//! a mere notice, such as that the connection is made again.

use std::collections::HashSet;

use serde::Deserialize;

use super::ndjson::{Emit, Ndjson, Reader, unknown};
use super::raw::{Raw, word};
use super::{
    Adapter, AgentEvent, Failure, FailureKind, FirstSignal, Output, Parser, Permissions, Request, TodoItem,
    TodoState, TurnResult, Usage, flags, status, summary,
};

/// Codex.
pub(super) struct Codex;

impl Adapter for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let mut arguments = vec!["exec"];
        match request.output {
            Output::Stream => arguments.push("--json"),
            Output::Text { answer } => arguments.extend(["-o", answer]),
        }
        arguments.push("--skip-git-repo-check");
        if !sets_sandbox(request.flags) {
            match request.permissions {
                Permissions::Skip => arguments.push("--dangerously-bypass-approvals-and-sandbox"),
                // Left to itself Codex may only read, so that a loop could never get anything done.
                Permissions::Agent => arguments.extend(["-s", "workspace-write"]),
            }
        }
        arguments.extend(request.flags.iter().map(String::as_str));
        match request.prompt {
            Some(prompt) => arguments.extend(["--", prompt]),
            None => arguments.push("-"),
        }
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<CodexReader>>::default()
    }

    /// On SIGTERM Codex dies at once and leaves the running tool behind; on SIGINT it cleans up.
    fn first_signal(&self) -> FirstSignal {
        FirstSignal::Int
    }
}

fn sets_sandbox(flags: &[String]) -> bool {
    const OPTIONS: [&str; 4] = ["-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--yolo"];
    let short = |flag: &String| flag.starts_with("-s") || flag.starts_with("sandbox_mode");
    flags::contain(flags, &OPTIONS) || flags.iter().any(short)
}

#[derive(Default)]
struct CodexReader {
    /// Tool calls that have begun and not ended.
    running: HashSet<String>,
    /// The list as it was told last; it is repeated when the turn ends.
    todo: Vec<TodoItem>,
    /// Tools that were refused.
    denials: Vec<String>,
    /// The total of the last result; each counts the whole thread.
    total: Usage,
}

impl Reader for CodexReader {
    fn read(&mut self, line: &[u8], emit: Emit<'_>) -> serde_json::Result<()> {
        let event: Event<'_> = serde_json::from_slice(line)?;
        match (word(event.kind), &event.item) {
            ("thread.started", _) => {
                emit(AgentEvent::Started { session: event.thread_id.and_then(Raw::text), model: None });
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

impl CodexReader {
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
        let total = usage.and_then(Raw::read::<TokenUsage>).map_or(self.total, Usage::from);
        let usage = Usage {
            cost_usd: None,
            input: total.input.saturating_sub(self.total.input),
            cached: total.cached.saturating_sub(self.total.cached),
            output: total.output.saturating_sub(self.total.output),
        };
        self.total = total;
        TurnResult { text: None, failure, usage, denials: std::mem::take(&mut self.denials) }
    }
}

fn is_tool(kind: &str) -> bool {
    matches!(kind, "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search")
}

/// Reads the message of a failed turn: Codex has no field for the status or the code, but words its own
/// errors the same way each time. The model has no say in them.
fn failure(message: &str) -> Failure {
    const OWN_WORDS: [(&str, FailureKind); 3] = [
        ("hit your usage limit", FailureKind::Limited { resets_at: None }),
        ("Quota exceeded.", FailureKind::Permanent),
        ("currently experiencing high demand", FailureKind::Overloaded),
    ];
    let own = OWN_WORDS.iter().find(|(words, _)| message.contains(words)).map(|(_, kind)| *kind);
    let kind = own.or_else(|| kind_of_body(message)).unwrap_or_else(|| status::kind(http_status(message)));
    let message = if message.is_empty() { "the turn failed".to_owned() } else { summary::short(message) };
    Failure { kind, message }
}

/// Reads the body of the service's answer, where Codex passes it on as it came.
fn kind_of_body(message: &str) -> Option<FailureKind> {
    #[derive(Deserialize)]
    struct Body {
        error: Codes,
    }
    #[derive(Deserialize)]
    struct Codes {
        code: Option<String>,
        r#type: Option<String>,
    }
    let body: Body = serde_json::from_str(message).ok()?;
    [body.error.code, body.error.r#type].into_iter().flatten().find_map(|code| status::kind_of_code(&code))
}

/// Finds the number in `unexpected status 401 Unauthorized` or `last status: 429 Too Many Requests`.
fn http_status(message: &str) -> Option<u64> {
    let (_, after) = message.split_once("status")?;
    after.trim_start_matches([':', ' ']).get(..3)?.parse().ok()
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    thread_id: Option<Raw<'a>>,
    #[serde(borrow)]
    item: Option<Item<'a>>,
    #[serde(borrow)]
    usage: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Message<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
}

#[derive(Clone, Copy, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    message: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    id: Option<Raw<'a>>,
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    text: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
    #[serde(borrow)]
    command: Option<Raw<'a>>,
    #[serde(borrow)]
    changes: Option<Raw<'a>>,
    #[serde(borrow)]
    query: Option<Raw<'a>>,
    #[serde(borrow)]
    tool: Option<Raw<'a>>,
    #[serde(borrow)]
    arguments: Option<Raw<'a>>,
    #[serde(borrow)]
    items: Option<Raw<'a>>,
    #[serde(borrow)]
    aggregated_output: Option<Raw<'a>>,
    #[serde(borrow)]
    result: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    exit_code: Option<Raw<'a>>,
    #[serde(borrow)]
    status: Option<Raw<'a>>,
}

impl Item<'_> {
    fn name(&self) -> String {
        self.tool.and_then(Raw::word).unwrap_or_else(|| word(self.kind)).to_owned()
    }

    fn summary(&self) -> String {
        #[derive(Deserialize)]
        struct Change {
            path: String,
        }
        if let Some(changes) = self.changes.and_then(Raw::read::<Vec<Change>>) {
            let paths: Vec<_> = changes.into_iter().map(|change| change.path).collect();
            return summary::short(&paths.join(", "));
        }
        match self.command.or(self.query) {
            Some(telling) => telling.short(),
            None => summary::of_arguments(self.arguments),
        }
    }
}

#[derive(Deserialize)]
struct TodoEntry {
    text: String,
    completed: bool,
}

impl From<TodoEntry> for TodoItem {
    fn from(entry: TodoEntry) -> Self {
        Self { text: entry.text, state: if entry.completed { TodoState::Done } else { TodoState::Pending } }
    }
}

/// Tokens as Codex counts them: the input includes what came from the cache.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct TokenUsage {
    input_tokens: u64,
    cached_input_tokens: u64,
    output_tokens: u64,
}

impl From<TokenUsage> for Usage {
    fn from(tokens: TokenUsage) -> Self {
        Self {
            cost_usd: None,
            input: tokens.input_tokens,
            cached: tokens.cached_input_tokens,
            output: tokens.output_tokens,
        }
    }
}
