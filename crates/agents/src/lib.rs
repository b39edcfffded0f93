//! What agents say, in one vocabulary, and how each kind of agent is called.
//!
//! Invariant: nothing an agent prints is an error here. A line that cannot be understood becomes
//! [`AgentEvent::Unknown`], and the stream goes on.

#![forbid(unsafe_code)]

mod adapter;
mod amp;
mod claude;
mod codex;
pub mod context;
mod conversation;
mod copilot;
mod event;
mod flags;
mod gemini;
pub mod hooking;
mod lines;
mod messages;
mod ndjson;
mod opencode;
mod pi;
mod qwen;
pub mod raw;
mod running;
pub mod scripted;
mod status;
mod summary;
mod text;
mod todos;
mod tool_input;
pub mod transcript;
pub mod turn;
pub mod versions;

#[cfg(test)]
mod tests;

pub use adapter::{Adapter, FirstSignal, Metering, Output, Parser, Permissions, QuotaRecord, Request};
pub use event::{
    AgentEvent, Excerpt, Failure, FailureKind, Limit, QuotaWindow, TodoItem, TodoState, TurnResult, Usage,
};

/// The agents that are known by name, in the order in which they are offered.
pub const AGENTS: [&str; 8] = ["claude", "codex", "amp", "gemini", "opencode", "qwen", "copilot", "pi"];

/// Returns how to call and read the agent behind a command; an unknown one is read as plain text.
pub fn adapter(command: &str) -> &'static dyn Adapter {
    match name(command).as_str() {
        "amp" => &amp::Amp,
        "claude" => &claude::Claude,
        "codex" => &codex::Codex,
        "copilot" => &copilot::Copilot,
        "gemini" => &gemini::Gemini,
        "opencode" => &opencode::Opencode,
        "pi" => &pi::Pi,
        "qwen" => &qwen::Qwen,
        "ralph" => &scripted::Scripted,
        _ => plain_text(),
    }
}

/// Returns the adapter for what prints nothing but its answer: unknown agents, and known ones that were
/// asked for [`Output::Text`].
pub fn plain_text() -> &'static dyn Adapter {
    &text::Text
}

/// Returns the lower-case base name of a command without `.exe`; both kinds of slash separate.
fn name(command: &str) -> String {
    let base = command.rsplit(['/', '\\']).next().unwrap_or(command).to_lowercase();
    base.strip_suffix(".exe").unwrap_or(&base).to_owned()
}

/// The code in the README is tried, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
