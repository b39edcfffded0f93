//! The lines of Claude-shaped streams as they are written: envelopes, messages and their blocks.
//!
//! Invariant: nothing is copied out of the line here, and a field of an unexpected type is an absent field.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::raw::{Raw, word};
use super::{Excerpt, Usage};

/// One line of the stream, as far as all kinds of lines are alike.
#[derive(Deserialize)]
pub(super) struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Message<'a>>,
    #[serde(borrow, rename = "parent_tool_use_id")]
    parent: Option<Raw<'a>>,
    #[serde(borrow, rename = "tool_use_result")]
    pub(super) details: Option<Raw<'a>>,
    /// The program's own word for what went wrong.
    #[serde(borrow)]
    pub(super) error: Option<Raw<'a>>,
}

impl<'a> Envelope<'a> {
    /// Returns the tool call of the subagent that speaks; nothing if the agent itself does.
    pub(super) fn parent(&self) -> Option<&'a str> {
        self.parent.map(|parent| parent.word().unwrap_or_default())
    }

    /// Reads a line. The field `message` is a text in some kinds of lines, which have none then.
    pub(super) fn read(line: &'a str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Bare<'a> {
            #[serde(borrow, rename = "type")]
            kind: Option<Raw<'a>>,
        }
        serde_json::from_str(line).or_else(|error: serde_json::Error| {
            let kind = if error.is_data() {
                serde_json::from_str::<Bare<'_>>(line)?.kind
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
    pub(super) id: Option<Raw<'a>>,
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    #[serde(borrow, default)]
    pub(super) content: Blocks<'a>,
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
pub(crate) struct TokenUsage {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_creation: u64,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
}

impl From<TokenUsage> for Usage {
    fn from(tokens: TokenUsage) -> Self {
        Self {
            cost_usd: None,
            input: tokens.input.saturating_add(tokens.cache_creation).saturating_add(tokens.cache_read),
            cached: tokens.cache_read,
            output: tokens.output,
            estimated: false,
        }
    }
}

/// One block of a message, of any kind.
#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) input: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) tool_use_id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<Raw<'a>>,
    #[serde(borrow)]
    is_error: Option<Raw<'a>>,
}

/// Returns whether a tool says that it worked, and the beginning of what it printed.
pub(super) fn outcome(block: &Block<'_>) -> (bool, Excerpt) {
    let failed = block.is_error.and_then(Raw::read).unwrap_or(false);
    (!failed, block.content.map(Raw::excerpt).unwrap_or_default())
}

/// The blocks of a message; a message that is a mere text has none that matter.
#[derive(Default)]
pub(super) struct Blocks<'a>(pub(super) Vec<Block<'a>>);

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

/// A piece of a message that arrives bit by bit.
#[derive(Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Message<'a>>,
    #[serde(borrow)]
    pub(super) content_block: Option<Block<'a>>,
    #[serde(borrow)]
    pub(super) delta: Option<Block<'a>>,
}
