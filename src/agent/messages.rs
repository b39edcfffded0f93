//! The messages that Claude-shaped streams carry: what the agent says, the tools it calls, what they print.
//!
//! Invariant: only what the agent itself says becomes [`AgentEvent::Text`]. Subagents, echoed prompts, hook
//! feedback and the program's own error messages do not, and no text counts twice.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::ndjson::{Emit, unknown};
use super::raw::{Raw, word};
use super::todos::Todos;
use super::{AgentEvent, Excerpt, Usage, summary};

/// One line of the stream, as far as all kinds of lines are alike.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Message<'a>>,
    /// The tool call of the subagent that speaks.
    #[serde(borrow, rename = "parent_tool_use_id")]
    pub(super) parent: Option<Raw<'a>>,
    #[serde(borrow, rename = "tool_use_result")]
    pub(super) details: Option<Raw<'a>>,
    /// The program's own word for what went wrong.
    #[serde(borrow)]
    pub(super) error: Option<Raw<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads a line. The field `message` is a text in some kinds of lines, which have none then.
    pub(super) fn read(line: &'a [u8]) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Bare<'a> {
            #[serde(borrow, rename = "type")]
            kind: Option<Raw<'a>>,
        }
        serde_json::from_slice(line).or_else(|error: serde_json::Error| {
            let kind = if error.is_data() {
                serde_json::from_slice::<Bare<'_>>(line)?.kind
            } else {
                return Err(error);
            };
            Ok(Self { kind, message: None, parent: None, details: None, error: None })
        })
    }
}

/// A message of the agent, or one that goes to it.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    id: Option<Raw<'a>>,
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    #[serde(borrow, default)]
    content: Blocks<'a>,
    #[serde(borrow)]
    usage: Option<Raw<'a>>,
}

impl Message<'_> {
    /// What this message used, cached tokens included.
    pub(super) fn usage(&self) -> Usage {
        self.usage.and_then(Raw::read::<TokenUsage>).unwrap_or_default().into()
    }

    /// Whether the program wrote this itself, as it does when the service refuses.
    pub(super) fn is_synthetic(&self) -> bool {
        word(self.model) == "<synthetic>"
    }
}

/// Tokens as Anthropic counts them: the kinds of input do not overlap.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

impl From<TokenUsage> for Usage {
    fn from(tokens: TokenUsage) -> Self {
        Self {
            cost_usd: None,
            input: tokens
                .input_tokens
                .saturating_add(tokens.cache_creation_input_tokens)
                .saturating_add(tokens.cache_read_input_tokens),
            cached: tokens.cache_read_input_tokens,
            output: tokens.output_tokens,
        }
    }
}

/// One block of a message, of any kind.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    text: Option<Raw<'a>>,
    #[serde(borrow)]
    thinking: Option<Raw<'a>>,
    #[serde(borrow)]
    id: Option<Raw<'a>>,
    #[serde(borrow)]
    name: Option<Raw<'a>>,
    #[serde(borrow)]
    input: Option<Raw<'a>>,
    #[serde(borrow)]
    tool_use_id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<Raw<'a>>,
    #[serde(borrow)]
    is_error: Option<Raw<'a>>,
}

impl Block<'_> {
    /// Whether the tool says that it worked, and the beginning of what it printed.
    pub(super) fn outcome(&self) -> (bool, Excerpt) {
        let failed = self.is_error.and_then(Raw::read).unwrap_or(false);
        (!failed, self.content.map(Raw::excerpt).unwrap_or_default())
    }
}

/// The blocks of a message; a message that is a mere text has none that matter.
#[derive(Default)]
struct Blocks<'a>(Vec<Block<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Blocks<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlocksVisitor;

        impl<'de> Visitor<'de> for BlocksVisitor {
            type Value = Vec<Block<'de>>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or a list of blocks")
            }

            fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(blocks)
            }
        }
        deserializer.deserialize_any(BlocksVisitor).map(Blocks)
    }
}

/// What one turn has said so far.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The message that goes on speaking: its text was the last thing that happened.
    speaking: Option<String>,
    /// The message that arrives piece by piece.
    arriving: Option<String>,
    /// The message whose text has been told piece by piece, so that the whole repeats it.
    told: Option<String>,
    todos: Todos,
}

impl Conversation {
    /// Takes a message of the agent or of a subagent of its.
    pub(super) fn assistant(&mut self, message: &Message<'_>, parent: Option<&str>, emit: Emit<'_>) {
        let id = word(message.id);
        if id.is_empty() {
            self.speaking = None;
        }
        for block in &message.content.0 {
            let kind = word(block.kind);
            if parent.is_none() && kind != "text" {
                self.speaking = None;
            }
            match kind {
                "text" if parent.is_none() && !message.is_synthetic() => {
                    if id.is_empty() || self.told.as_deref() != Some(id) {
                        self.say(id, block.text, emit);
                    }
                }
                "text" => note(block.text, emit),
                "thinking" => note(block.thinking, emit),
                "redacted_thinking" => {}
                "tool_use" | "server_tool_use" | "mcp_tool_use" => self.tool_start(block, parent, emit),
                _ if kind.ends_with("tool_result") => self.tool_end(block, None, block.outcome(), emit),
                _ => emit(unknown(format!("assistant/{kind}"))),
            }
        }
    }

    /// Takes a message that goes to the agent: only what tools printed matters in it.
    pub(super) fn user(
        &mut self,
        message: &Message<'_>,
        details: Option<Raw<'_>>,
        outcome: fn(&Block<'_>) -> (bool, Excerpt),
        emit: Emit<'_>,
    ) {
        for block in message.content.0.iter().filter(|block| word(block.kind) == "tool_result") {
            self.tool_end(block, details, outcome(block), emit);
        }
    }

    /// Takes a piece of a message that has not arrived whole.
    pub(super) fn piece(&mut self, event: &Piece<'_>, emit: Emit<'_>) {
        match word(event.kind) {
            "message_start" => {
                self.arriving = event.message.as_ref().map(|message| word(message.id).to_owned());
            }
            "content_block_start"
                if event.content_block.as_ref().is_some_and(|block| word(block.kind) != "text") =>
            {
                self.speaking = None;
            }
            "content_block_delta" => {
                let Some(delta) = event.delta.as_ref().filter(|delta| word(delta.kind) == "text_delta")
                else {
                    return;
                };
                let id = self.arriving.clone().unwrap_or_default();
                self.say(&id, delta.text, emit);
                self.told = Some(id);
            }
            _ => {}
        }
    }

    fn say(&mut self, id: &str, text: Option<Raw<'_>>, emit: Emit<'_>) {
        let Some(text) = text.and_then(Raw::text).filter(|text| !text.is_empty()) else { return };
        let joins = self.speaking.as_deref() == Some(id);
        self.speaking = Some(id.to_owned());
        emit(AgentEvent::Text { text, joins });
    }

    fn tool_start(&mut self, block: &Block<'_>, parent: Option<&str>, emit: Emit<'_>) {
        let (id, name) = (word(block.id), word(block.name));
        if parent.is_none() {
            self.todos.begin(id, name, block.input);
        }
        emit(AgentEvent::ToolStart {
            id: id.to_owned(),
            name: name.to_owned(),
            summary: summary::of_arguments(block.input),
            parent: parent.map(str::to_owned),
        });
    }

    fn tool_end(
        &mut self,
        block: &Block<'_>,
        details: Option<Raw<'_>>,
        (ok, output): (bool, Excerpt),
        emit: Emit<'_>,
    ) {
        let id = word(block.tool_use_id);
        emit(AgentEvent::ToolEnd { id: id.to_owned(), ok, output });
        if let Some(items) = self.todos.end(id, ok, details) {
            emit(AgentEvent::Todo { items });
        }
    }
}

/// A piece of a message that arrives bit by bit.
#[derive(Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    content_block: Option<Block<'a>>,
    #[serde(borrow)]
    delta: Option<Block<'a>>,
}

/// Tells a text as a quiet line, if there is anything in it.
pub(super) fn note(text: Option<Raw<'_>>, emit: Emit<'_>) {
    let text = text.map(Raw::short).unwrap_or_default();
    if !text.is_empty() {
        emit(AgentEvent::Progress { text });
    }
}
