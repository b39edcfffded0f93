//! What the model says, as data: one step for each request that offers tools.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the model says from the first request to the last.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    /// Each is said once, in order.
    pub steps: Vec<Step>,
    /// Said whenever no step is left.
    pub after: Step,
    /// Said to requests that offer no tools: titles, quota probes, routers, summaries.
    pub side: Step,
}

impl Script {
    /// Says these steps, and after them a text that claims nothing.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            after: Step::text("The script is over."),
            side: Step::text("Side"),
        }
    }

    /// Says the same whatever is asked.
    pub fn always(step: Step) -> Self {
        Self { after: step, ..Self::new([]) }
    }
}

/// One answer of the model. Without blocks the reply is empty.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// Only a request with this text in it takes the step; others take the next.
    pub when: Option<String>,
    /// How long the server says nothing at all, in milliseconds.
    pub delay_ms: u64,
    /// An answer that is an HTTP error takes the place of everything below but the headers.
    pub error: Option<HttpError>,
    /// Headers of the answer, such as rate limits.
    pub headers: BTreeMap<String, String>,
    /// What is said, in order.
    pub blocks: Vec<Block>,
    /// How long each event of the stream takes, in milliseconds.
    pub slow_ms: u64,
    /// Why the model stops, in Anthropic's words; nothing for the natural reason.
    pub stop: Option<String>,
    /// How the stream ends.
    pub ending: Ending,
    /// What the request is said to have used.
    pub usage: Usage,
}

impl Step {
    /// Says a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Text { text: text.into() }], ..Self::default() }
    }

    /// Calls a tool.
    pub fn tool(tool: impl Into<String>, input: Value) -> Self {
        Self { blocks: vec![Block::tool(tool, input)], ..Self::default() }
    }

    /// Answers with an HTTP error.
    pub fn error(status: u16, message: impl Into<String>) -> Self {
        let error = HttpError { status, kind: None, code: None, message: message.into() };
        Self { error: Some(error), ..Self::default() }
    }

    /// Adds a block.
    #[must_use]
    pub fn and(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Sets what the request is said to have used.
    #[must_use]
    pub fn using(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Sets how the stream ends.
    #[must_use]
    pub fn ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Keeps the step for a request with this text in it.
    #[must_use]
    pub fn when(self, text: impl Into<String>) -> Self {
        Self { when: Some(text.into()), ..self }
    }

    pub(crate) fn calls_tools(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Tool { .. }))
    }
}

/// Something that the model says or does.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Block {
    /// Words for the user.
    Text {
        /// The words.
        text: String,
    },
    /// Words for itself.
    Thinking {
        /// The words.
        thinking: String,
    },
    /// A call of a tool.
    Tool {
        /// The tool's name.
        tool: String,
        /// Its arguments; a string makes it a custom call where the protocol has such.
        input: Value,
    },
}

impl Block {
    /// Words for the user.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A call of a tool.
    pub fn tool(tool: impl Into<String>, input: Value) -> Self {
        Self::Tool { tool: tool.into(), input }
    }
}

/// An answer that is an HTTP error.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HttpError {
    /// The status.
    pub status: u16,
    /// The service's word for the kind of error; nothing for the one that goes with the status.
    #[serde(default)]
    pub kind: Option<String>,
    /// The service's code, where it has one besides.
    #[serde(default)]
    pub code: Option<String>,
    /// For people.
    pub message: String,
}

/// How a stream ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// As it should.
    #[default]
    Complete,
    /// The connection is cut after the first block.
    Cut,
    /// After the first block nothing but signs of life comes for this many milliseconds; then the rest.
    Hang(u64),
    /// The service reports an error with this code in the stream, before the first block.
    Fail(String),
}

/// What a request is said to have used, in tokens. None includes another.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Read and not from the cache.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Put into the cache.
    pub cache_write: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 20, cache_read: 0, cache_write: 0 }
    }
}

impl Usage {
    /// All that was read, as the services say it that count the cache in.
    pub fn all_input(self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }
}
