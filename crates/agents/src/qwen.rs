//! Qwen Code: `qwen -o stream-json`.
//!
//! Measured on 0.24.4. Messages have Claude's shape, but the program speaks in the agent's place when the
//! service fails or a command is answered; only the result that follows tells. No cost is known.

use serde::Deserialize;

use super::claude::Claude;
use super::conversation::Conversation;
use super::messages::{Envelope, Piece, outcome};
use super::ndjson::{Emit, Ndjson, Reader, unknown};
use super::raw::{Raw, word};
use super::{
    Adapter, AgentEvent, Failure, Output, Parser, Permissions, Request, TurnResult, Usage, flags, status,
    summary,
};

/// Qwen Code.
pub(super) struct Qwen;

impl Adapter for Qwen {
    fn name(&self) -> &'static str {
        "qwen"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let format = if request.output == Output::Stream { "stream-json" } else { "text" };
        let mut arguments = vec!["-o".to_owned(), format.to_owned()];
        // Qwen refuses two approval modes at once.
        let chosen = flags::contain(request.flags, &["-y", "--yolo", "--approval-mode"]);
        if request.permissions == Permissions::Skip && !chosen {
            arguments.push("--yolo".to_owned());
        }
        arguments.extend(request.flags.iter().cloned());
        // As in Gemini CLI, from which it stems, the prompt is what stands on standard input, and the equals
        // sign keeps a prompt that begins with a dash from being an option.
        arguments.extend(request.prompt.map(|prompt| format!("--prompt={prompt}")));
        arguments
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<QwenReader>>::default()
    }

    /// Qwen reads the file behind a mention, as Claude does.
    fn harmless(&self, text: &str) -> String {
        Claude.harmless(text)
    }

    /// Qwen answers a command such as `/help` itself, as Claude does.
    fn deliverable(&self, prompt: String) -> String {
        Claude.deliverable(prompt)
    }
}

#[derive(Default)]
struct QwenReader {
    conversation: Conversation,
    /// What the last message told. The line after it shows whether it was the agent's.
    held: Vec<AgentEvent>,
}

impl Reader for QwenReader {
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event = Envelope::read(line)?;
        let parent = event.parent();
        match (word(event.kind), &event.message) {
            ("assistant", Some(message)) => {
                self.release(emit);
                let held = &mut self.held;
                self.conversation.assistant(message, parent, &mut |event| held.push(event));
            }
            ("user", Some(message)) => {
                self.release(emit);
                self.conversation.user(message, event.details, outcome, emit);
            }
            ("stream_event", _) => {
                let line: StreamLine<'_> = serde_json::from_str(line)?;
                self.release(emit);
                if parent.is_none() {
                    self.conversation.piece(&line.event, emit);
                }
            }
            ("system", _) => {
                let line: SystemLine<'_> = serde_json::from_str(line)?;
                self.release(emit);
                system(&line, emit);
            }
            ("result", _) => {
                let line: ResultLine<'_> = serde_json::from_str(line)?;
                let result = self.result(&line);
                self.release(emit);
                emit(AgentEvent::Result(result));
            }
            ("", _) => emit(unknown("event without a type")),
            (kind, _) => emit(unknown(kind)),
        }
        Ok(())
    }

    fn end(&mut self, emit: Emit<'_>) {
        self.release(emit);
    }
}

impl QwenReader {
    fn release(&mut self, emit: Emit<'_>) {
        self.held.drain(..).for_each(emit);
    }

    /// Reads a result and takes back what the program said in the agent's place before it.
    fn result(&mut self, line: &ResultLine<'_>) -> TurnResult {
        let requests = line.num_turns.and_then(Raw::read::<u64>);
        let asked_model = requests != Some(0);
        let error = line.error();
        if !asked_model {
            self.held.clear();
        } else if let (Some(AgentEvent::Text { text, .. }), Some(error)) = (self.held.last_mut(), &error)
            && let Some(own) = text.strip_suffix(error.as_str())
        {
            text.truncate(own.len());
            if text.trim().is_empty() {
                self.held.pop();
            }
        }
        let text = line.result.filter(|_| error.is_none() && asked_model).and_then(Raw::text);
        let denials = line.permission_denials.and_then(Raw::read::<Vec<Denial>>).unwrap_or_default();
        TurnResult {
            text: text.filter(|text| !text.is_empty()),
            failure: error.map(|error| failure(&error)),
            usage: line.usage.and_then(Raw::read::<QwenTokens>).unwrap_or_default().into(),
            requests,
            denials: denials.into_iter().map(|denial| denial.tool_name).collect(),
        }
    }
}

fn system(line: &SystemLine<'_>, emit: Emit<'_>) {
    match word(line.subtype) {
        "init" => emit(AgentEvent::Started {
            session: line.session_id.and_then(Raw::text),
            model: line.model.and_then(Raw::text),
            version: None,
        }),
        "retry" => {
            let retry = line.data.and_then(Raw::read::<Retry>).unwrap_or_default();
            let text = match (retry.attempt, retry.max_retries) {
                (Some(attempt), Some(of)) => format!("retry {attempt} of {of}"),
                _ => "retry".to_owned(),
            };
            emit(AgentEvent::Progress { text });
        }
        "session_start" => {}
        subtype => emit(unknown(format!("system/{subtype}"))),
    }
}

/// Reads `[API Error: 401 invalid key]`: the program's words around the service's answer.
fn failure(error: &str) -> Failure {
    let answer = error.strip_prefix("[API Error: ").and_then(|rest| rest.strip_suffix(']')).unwrap_or(error);
    let message = if answer.is_empty() { "the turn failed".to_owned() } else { summary::short(answer) };
    Failure { kind: status::kind_of_message(answer), message }
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
    data: Option<Raw<'a>>,
}

#[derive(Default, Deserialize)]
struct Retry {
    attempt: Option<u64>,
    #[serde(rename = "maxRetries")]
    max_retries: Option<u64>,
}

#[derive(Deserialize)]
struct ResultLine<'a> {
    #[serde(borrow)]
    subtype: Option<Raw<'a>>,
    #[serde(borrow)]
    is_error: Option<Raw<'a>>,
    #[serde(borrow)]
    num_turns: Option<Raw<'a>>,
    #[serde(borrow)]
    result: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    usage: Option<Raw<'a>>,
    #[serde(borrow)]
    permission_denials: Option<Raw<'a>>,
}

impl ResultLine<'_> {
    /// What went wrong, in the program's words; nothing if all went well.
    fn error(&self) -> Option<String> {
        let subtype = word(self.subtype);
        if !self.is_error.and_then(Raw::read).unwrap_or(false) && !subtype.starts_with("error") {
            return None;
        }
        let message = self.error.and_then(Raw::read::<Problem<'_>>).and_then(|problem| problem.message);
        Some(message.and_then(Raw::text).unwrap_or_else(|| subtype.to_owned()))
    }
}

#[derive(Deserialize)]
struct Problem<'a> {
    #[serde(borrow)]
    message: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Denial {
    tool_name: String,
}

/// Tokens as Qwen counts them: the input includes what came from the cache.
#[derive(Default, Deserialize)]
#[serde(default)]
struct QwenTokens {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "cache_read_input_tokens")]
    cached: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
}

impl From<QwenTokens> for Usage {
    fn from(tokens: QwenTokens) -> Self {
        Self { input: tokens.input, cached: tokens.cached, output: tokens.output, ..Self::default() }
    }
}
