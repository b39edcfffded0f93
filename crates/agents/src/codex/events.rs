//! The lines of Codex's stream as they are written.

use serde::Deserialize;

use crate::{TodoItem, TodoState, Usage, summary};
use crate::{
    raw::{Raw, word},
    tool_input,
};

#[derive(Deserialize)]
pub(super) struct CodexEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) thread_id: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) item: Option<Item<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<CodexError<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Raw<'a>>,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct CodexError<'a> {
    #[serde(borrow)]
    pub(super) message: Option<Raw<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Raw<'a>>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) command: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) changes: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) query: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) tool: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) items: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) aggregated_output: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) result: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) exit_code: Option<Raw<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<Raw<'a>>,
}

impl Item<'_> {
    pub(super) fn name(&self) -> String {
        self.tool.and_then(Raw::word).unwrap_or_else(|| word(self.kind)).to_owned()
    }

    pub(super) fn summary(&self) -> String {
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
            None => tool_input::summary(self.arguments),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct TodoEntry {
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
pub(super) struct CodexTokens {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "cached_input_tokens")]
    cached: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
}

impl From<CodexTokens> for Usage {
    fn from(tokens: CodexTokens) -> Self {
        Self { input: tokens.input, cached: tokens.cached, output: tokens.output, ..Self::default() }
    }
}
