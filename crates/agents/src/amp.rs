//! Amp: `amp --stream-json -x`.
//!
//! Rests on recorded streams of builds that still ran their loop locally; the present build runs it on Amp's
//! server. Messages have Claude's shape, but results carry no usage and every exit code is 0.

use serde::Deserialize;

use super::conversation::Conversation;
use super::messages::{Block, Envelope, TokenUsage, outcome};
use super::ndjson::{Emit, Ndjson, Reader, unknown};
use super::raw::{Raw, word};
use super::{
    Adapter, AgentEvent, Excerpt, Failure, Output, Parser, Permissions, Request, TurnResult, Usage, flags,
    status,
};

/// Amp.
pub(super) struct Amp;

impl Adapter for Amp {
    fn name(&self) -> &'static str {
        "amp"
    }

    /// Its modes bring their models.
    fn model(&self, _model: &str) -> Option<Vec<String>> {
        None
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let mut arguments = Vec::new();
        if request.output == Output::Stream {
            arguments.push("--stream-json");
        }
        let chosen = flags::contain(request.flags, &["--dangerously-allow-all"]);
        if request.permissions == Permissions::Skip && !chosen {
            arguments.push("--dangerously-allow-all");
        }
        arguments.extend(request.flags.iter().map(String::as_str));
        // The prompt is the value of `-x`, so both end the command; without it Amp reads standard input.
        arguments.push("-x");
        arguments.extend(request.prompt);
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<AmpReader>>::default()
    }
}

#[derive(Default)]
struct AmpReader {
    conversation: Conversation,
    /// What the messages since the last result used.
    usage: Usage,
}

impl Reader for AmpReader {
    fn running(&self) -> Usage {
        self.usage
    }

    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()> {
        let event = Envelope::read(line)?;
        match (word(event.kind), &event.message) {
            ("assistant", Some(message)) => {
                self.usage.add(message.usage());
                self.conversation.assistant(message, event.parent(), emit);
            }
            ("user", Some(message)) => self.conversation.user(message, event.details, shell_outcome, emit),
            ("system", _) => {
                let line: SystemLine<'_> = serde_json::from_str(line)?;
                match word(line.subtype) {
                    "init" => emit(AgentEvent::Started {
                        session: line.session_id.and_then(Raw::text),
                        model: None,
                        version: None,
                    }),
                    subtype => emit(unknown(format!("system/{subtype}"))),
                }
            }
            ("result", _) => {
                let line: ResultLine<'_> = serde_json::from_str(line)?;
                let told = std::mem::take(&mut self.usage);
                // A build that says it all at the end repeats what its messages said.
                let usage = if told.tokens() == 0 { line.usage() } else { told };
                emit(AgentEvent::Result(TurnResult { usage, ..line.result() }));
            }
            ("", _) => emit(unknown("event without a type")),
            (kind, _) => emit(unknown(kind)),
        }
        Ok(())
    }
}

/// The shell tool prints a JSON text, in which the exit code is the only sign of failure.
fn shell_outcome(block: &Block<'_>) -> (bool, Excerpt) {
    #[derive(Deserialize)]
    struct Shell<'a> {
        #[serde(borrow)]
        output: Raw<'a>,
        #[serde(rename = "exitCode")]
        exit_code: i64,
    }
    let text = block.content.and_then(Raw::text).filter(|text| text.starts_with('{'));
    match text.as_deref().map(serde_json::from_str::<Shell<'_>>) {
        Some(Ok(shell)) => (shell.exit_code == 0, shell.output.excerpt()),
        Some(Err(_)) | None => outcome(block),
    }
}

#[derive(Deserialize)]
struct SystemLine<'a> {
    #[serde(borrow)]
    subtype: Option<Raw<'a>>,
    #[serde(borrow)]
    session_id: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct ResultLine<'a> {
    #[serde(borrow)]
    subtype: Option<Raw<'a>>,
    #[serde(borrow)]
    is_error: Option<Raw<'a>>,
    #[serde(borrow)]
    result: Option<Raw<'a>>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
    #[serde(borrow)]
    usage: Option<Raw<'a>>,
}

impl ResultLine<'_> {
    fn usage(&self) -> Usage {
        self.usage.and_then(Raw::read::<TokenUsage>).unwrap_or_default().into()
    }

    fn result(&self) -> TurnResult {
        let failed =
            self.is_error.and_then(Raw::read).unwrap_or(false) || word(self.subtype).starts_with("error");
        if !failed {
            let text = self.result.and_then(Raw::text).filter(|text| !text.is_empty());
            return TurnResult { text, ..TurnResult::default() };
        }
        // An answer of the service is told as its status and its body: `500 {"type":"error",…}`.
        let error = self.error.and_then(Raw::text).unwrap_or_default();
        let message = self.error.or(self.subtype).map(Raw::short).unwrap_or_default();
        let failure = Failure { kind: status::kind_of_message(&error), message };
        TurnResult { failure: Some(failure), ..TurnResult::default() }
    }
}
