//! Gemini CLI: `gemini -o stream-json`.
//!
//! Measured on 0.61.0. Text comes in pieces that cut words and markers anywhere.

use std::collections::HashMap;

use serde::Deserialize;

use super::ndjson::{Emit, Ndjson, Reader, unknown};
use super::raw::{Raw, word};
use super::todos::Todos;
use super::{
    Adapter, AgentEvent, Failure, FailureKind, Output, Parser, Permissions, Request, TurnResult, Usage,
    flags, status, summary,
};
use crate::tool_input;

/// Gemini CLI.
pub(super) struct Gemini;

impl Adapter for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let format = if request.output == Output::Stream { "stream-json" } else { "text" };
        let mut arguments = vec!["-o".to_owned(), format.to_owned()];
        if request.permissions == Permissions::Skip {
            // Gemini refuses two approval modes at once.
            if !flags::contain(request.flags, &["-y", "--yolo", "--approval-mode"]) {
                arguments.push("--yolo".to_owned());
            }
            if !flags::contain(request.flags, &["--skip-trust"]) {
                arguments.push("--skip-trust".to_owned());
            }
        }
        arguments.extend(request.flags.iter().cloned());
        // Without `-p` the prompt is what stands on standard input, as long as that is no terminal; with it,
        // two blank lines and the argument would be put after that. The equals sign keeps a prompt that
        // begins with a dash from being an option.
        arguments.extend(request.prompt.map(|prompt| format!("--prompt={prompt}")));
        arguments
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<GeminiReader>>::default()
    }

    /// Gemini exits with the HTTP status of what failed, of which the system keeps the low byte. Its own codes
    /// are smaller: 41 is a key that cannot be used, 55 a folder that is not trusted.
    fn exit_means(&self, code: i32) -> Option<FailureKind> {
        match u64::try_from(code).ok()? {
            41 | 55 => Some(FailureKind::Permanent),
            low @ 144..=255 => Some(status::kind(Some(256 + low))),
            _ => None,
        }
    }
}

#[derive(Default)]
struct GeminiReader {
    /// The last event was a piece of text, which the next piece continues.
    speaking: bool,
    /// The names of the tools that are running, by call.
    running: HashMap<String, String>,
    todos: Todos,
    denials: Vec<String>,
}

impl Reader for GeminiReader {
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event: GeminiEvent<'_> = serde_json::from_str(line)?;
        let continues = std::mem::take(&mut self.speaking);
        match word(event.kind) {
            "init" => emit(AgentEvent::Started {
                session: event.session_id.and_then(Raw::text),
                model: event.model.and_then(Raw::text),
                version: None,
            }),
            "message" if word(event.role) == "assistant" => {
                let text = event.content.and_then(Raw::text).unwrap_or_default();
                self.speaking = event.delta.and_then(Raw::read).unwrap_or(false);
                emit(AgentEvent::Text { text, joins: continues && self.speaking });
            }
            "message" => {}
            "tool_use" => self.tool_start(&event, emit),
            "tool_result" => self.tool_end(&event, emit),
            "error" => emit(AgentEvent::Progress { text: event.message.map(Raw::short).unwrap_or_default() }),
            "result" => emit(AgentEvent::Result(self.result(&event))),
            "" => emit(unknown("event without a type")),
            kind => emit(unknown(kind)),
        }
        Ok(())
    }
}

impl GeminiReader {
    fn tool_start(&mut self, event: &GeminiEvent<'_>, emit: Emit<'_>) {
        let (id, name) = (word(event.tool_id), word(event.tool_name));
        self.running.insert(id.to_owned(), name.to_owned());
        self.todos.begin(id, name, event.parameters);
        emit(AgentEvent::ToolStart {
            id: id.to_owned(),
            name: name.to_owned(),
            summary: tool_input::summary(event.parameters),
            parent: None,
        });
    }

    fn tool_end(&mut self, event: &GeminiEvent<'_>, emit: Emit<'_>) {
        let id = word(event.tool_id);
        let ok = word(event.status) == "success";
        let error: Option<Problem<'_>> = event.error.and_then(Raw::read);
        let name = self.running.remove(id);
        if let (Some(error), Some(name)) = (&error, name)
            && word(error.kind) == "policy_violation"
        {
            self.denials.push(name);
        }
        let output = event.output.or(error.and_then(|error| error.message));
        emit(AgentEvent::ToolEnd {
            id: id.to_owned(),
            ok,
            output: output.map(Raw::excerpt).unwrap_or_default(),
        });
        if let Some(items) = self.todos.end(id, ok, None) {
            emit(AgentEvent::Todo { items });
        }
    }

    fn result(&mut self, event: &GeminiEvent<'_>) -> TurnResult {
        let failed = word(event.status) != "success";
        TurnResult {
            failure: failed.then(|| failure(event.error.and_then(Raw::read))),
            usage: event.stats.and_then(Raw::read::<Stats>).unwrap_or_default().into(),
            denials: std::mem::take(&mut self.denials),
            ..TurnResult::default()
        }
    }
}

/// Reads `[API Error: {"error":{"code":401,…}}]`: the service's answer inside the program's own words.
fn failure(error: Option<Problem<'_>>) -> Failure {
    #[derive(Deserialize)]
    struct Body {
        error: Code,
    }
    #[derive(Deserialize)]
    struct Code {
        code: u64,
        message: Option<String>,
    }
    let text = error.and_then(|error| error.message).and_then(Raw::text).unwrap_or_default();
    let body = text.find('{').zip(text.rfind('}')).and_then(|(from, to)| text.get(from..=to));
    let code = body.and_then(|body| serde_json::from_str::<Body>(body).ok()).map(|body| body.error);
    let message = code.as_ref().and_then(|code| code.message.clone()).unwrap_or(text);
    Failure { kind: status::kind(code.map(|code| code.code)), message: summary::short(&message) }
}

#[derive(Deserialize)]
struct GeminiEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    session_id: Option<Raw<'a>>,
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    #[serde(borrow)]
    role: Option<Raw<'a>>,
    #[serde(borrow)]
    content: Option<Raw<'a>>,
    #[serde(borrow)]
    delta: Option<Raw<'a>>,
    #[serde(borrow)]
    tool_name: Option<Raw<'a>>,
    #[serde(borrow)]
    tool_id: Option<Raw<'a>>,
    #[serde(borrow)]
    parameters: Option<Raw<'a>>,
    #[serde(borrow)]
    status: Option<Raw<'a>>,
    #[serde(borrow)]
    output: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
    #[serde(borrow)]
    stats: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Problem<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
}

/// Tokens as Gemini counts them: the input includes what came from the cache.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Stats {
    input_tokens: u64,
    cached: u64,
    output_tokens: u64,
}

impl From<Stats> for Usage {
    fn from(stats: Stats) -> Self {
        Self {
            cost_usd: None,
            input: stats.input_tokens,
            cached: stats.cached,
            output: stats.output_tokens,
            estimated: false,
        }
    }
}
