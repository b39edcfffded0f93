//! opencode: `opencode run --format json`.
//!
//! Measured on 1.18.33. There is no result event: the end of the stream is the result, and a tool call is
//! told once it is over.

use serde::Deserialize;

use super::ndjson::{Emit, Ndjson, Reader, unknown};
use super::raw::{Raw, word};
use super::todos::Todos;
use super::{
    Adapter, AgentEvent, Failure, FailureKind, Metering, Output, Parser, Permissions, Request, TurnResult,
    Usage, flags, status, summary,
};
use crate::tool_input;

/// opencode.
pub(super) struct Opencode;

impl Adapter for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let mut arguments = vec!["run"];
        if request.output == Output::Stream {
            arguments.extend(["--format", "json"]);
        }
        if request.permissions == Permissions::Skip && !flags::contain(request.flags, &["--auto"]) {
            arguments.push("--auto");
        }
        arguments.extend(request.flags.iter().map(String::as_str));
        arguments.extend(request.prompt.iter().flat_map(|prompt| ["--", prompt]));
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn metering(&self) -> Metering {
        Metering::Cost
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<OpencodeReader>>::default()
    }
}

#[derive(Default)]
struct OpencodeReader {
    session: Option<String>,
    /// The message whose text was the last thing that happened.
    speaking: Option<String>,
    /// What has happened since the last result; nothing if there was none.
    open: Option<TurnResult>,
    todos: Todos,
}

impl Reader for OpencodeReader {
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event: Event<'_> = serde_json::from_str(line)?;
        self.start(&event, emit);
        let spoke = self.speaking.take();
        match (word(event.kind), &event.part) {
            ("step_start", _) => _ = self.open(),
            ("text", Some(part)) => {
                let message = word(part.message_id);
                let text = part.text.and_then(Raw::text).unwrap_or_default();
                self.open();
                emit(AgentEvent::Text { text, joins: spoke.as_deref() == Some(message) });
                self.speaking = Some(message.to_owned());
            }
            ("reasoning", Some(part)) => {
                self.open();
                emit(AgentEvent::Progress { text: part.text.map(Raw::short).unwrap_or_default() });
            }
            ("tool_use", Some(part)) => self.tool(part, emit),
            ("step_finish", Some(part)) => {
                let usage = part.usage();
                self.open().usage.add(usage);
            }
            ("error", _) => {
                let failure = Some(failure(event.error));
                let result = std::mem::take(self.open());
                self.open = None;
                emit(AgentEvent::Result(TurnResult { failure, ..result }));
            }
            ("", _) => emit(unknown("event without a type")),
            (kind, _) => emit(unknown(kind)),
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

impl OpencodeReader {
    fn open(&mut self) -> &mut TurnResult {
        self.open.get_or_insert_default()
    }

    /// The session's name stands on every event; the first one tells it.
    fn start(&mut self, event: &Event<'_>, emit: Emit<'_>) {
        if self.session.is_none()
            && let Some(session) = event.session.and_then(Raw::text)
        {
            self.session = Some(session.clone());
            emit(AgentEvent::Started { session: Some(session), model: None, version: None });
        }
    }

    fn tool(&mut self, part: &Part<'_>, emit: Emit<'_>) {
        let (id, name) = (word(part.call_id), word(part.tool));
        let Some(state) = part.state.and_then(Raw::read::<ToolState<'_>>) else {
            return emit(unknown("tool_use without a state"));
        };
        emit(AgentEvent::ToolStart {
            id: id.to_owned(),
            name: name.to_owned(),
            summary: tool_input::summary(state.input),
            parent: None,
        });
        let code = state.metadata.and_then(Raw::read::<Metadata>).and_then(|metadata| metadata.exit);
        let ok = word(state.status) == "completed" && code.unwrap_or(0) == 0;
        if state
            .error
            .and_then(Raw::word)
            .is_some_and(|error| error.starts_with("The user rejected permission"))
        {
            self.open().denials.push(name.to_owned());
        }
        self.open();
        let output = state.output.or(state.error).map(Raw::excerpt).unwrap_or_default();
        emit(AgentEvent::ToolEnd { id: id.to_owned(), ok, output });
        self.todos.begin(id, name, state.input);
        if let Some(items) = self.todos.end(id, ok, None) {
            emit(AgentEvent::Todo { items });
        }
    }
}

fn failure(error: Option<Raw<'_>>) -> Failure {
    let error: Option<Problem<'_>> = error.and_then(Raw::read);
    let name = error.as_ref().map(|error| word(error.name)).unwrap_or_default();
    let details =
        error.as_ref().and_then(|error| error.data).and_then(Raw::read::<Details<'_>>).unwrap_or_default();
    let kind = match name {
        "ProviderAuthError" => FailureKind::Permanent,
        _ => status::kind(details.status_code.and_then(Raw::read)),
    };
    let message = details.message.map_or_else(|| summary::short(name), Raw::short);
    Failure { kind, message }
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow, rename = "sessionID")]
    session: Option<Raw<'a>>,
    #[serde(borrow)]
    part: Option<Part<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "messageID")]
    message_id: Option<Raw<'a>>,
    #[serde(borrow)]
    text: Option<Raw<'a>>,
    #[serde(borrow)]
    tool: Option<Raw<'a>>,
    #[serde(borrow, rename = "callID")]
    call_id: Option<Raw<'a>>,
    #[serde(borrow)]
    state: Option<Raw<'a>>,
    #[serde(borrow)]
    tokens: Option<Raw<'a>>,
    #[serde(borrow)]
    cost: Option<Raw<'a>>,
}

impl Part<'_> {
    fn usage(&self) -> Usage {
        let tokens = self.tokens.and_then(Raw::read::<Tokens>).unwrap_or_default();
        Usage {
            cost_usd: self.cost.and_then(Raw::read),
            input: tokens.input.saturating_add(tokens.cache.read).saturating_add(tokens.cache.write),
            cached: tokens.cache.read,
            output: tokens.output.saturating_add(tokens.reasoning),
            estimated: false,
        }
    }
}

/// Tokens as opencode counts them: no kind includes another.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: Cache,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cache {
    read: u64,
    write: u64,
}

#[derive(Deserialize)]
struct ToolState<'a> {
    #[serde(borrow)]
    status: Option<Raw<'a>>,
    #[serde(borrow)]
    input: Option<Raw<'a>>,
    #[serde(borrow)]
    output: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    metadata: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Metadata {
    exit: Option<i64>,
}

#[derive(Deserialize)]
struct Problem<'a> {
    #[serde(borrow)]
    name: Option<Raw<'a>>,
    #[serde(borrow)]
    data: Option<Raw<'a>>,
}

#[derive(Default, Deserialize)]
struct Details<'a> {
    #[serde(borrow)]
    message: Option<Raw<'a>>,
    #[serde(borrow, rename = "statusCode")]
    status_code: Option<Raw<'a>>,
}
