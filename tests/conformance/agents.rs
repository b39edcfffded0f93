//! How each agent is set up on the scripted model: keys, addresses, flags, names of its tools.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod pi;
mod qwen;

use std::path::Path;
use std::time::Duration;

use scripted_model::{Block, Usage};
use serde_json::Value;

pub(crate) use claude::claude;
pub(crate) use codex::codex;
pub(crate) use copilot::copilot;
pub(crate) use gemini::gemini;
pub(crate) use opencode::opencode;
pub(crate) use pi::pi;
pub(crate) use qwen::qwen;

/// One kind of agent.
#[derive(Clone)]
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    /// The settings' `agent` for a server at this address: `env` and `flags`.
    pub(crate) settings: fn(&str) -> Value,
    /// Puts the agent's own settings into its home.
    pub(crate) furnish: fn(&Path, &str),
    /// Calls the shell.
    pub(crate) shell: fn(&str) -> Block,
    /// Writes a file in the project.
    pub(crate) write: fn(&Path, &str, &str) -> Block,
    /// Sets a to-do list of two entries, the first of them done.
    pub(crate) todo: fn([&str; 2]) -> Block,
    /// An HTTP status that it reports in the end, and what ralph makes of it.
    pub(crate) reports: (u16, &'static str),
    /// How many failed tools it reports when one command exits with 3.
    pub(crate) tool_errors: u64,
    /// Whether it tells how many tokens it used.
    pub(crate) tells_tokens: bool,
    /// What it says that the model has cost, if it says it.
    pub(crate) cost_usd: fn(Usage) -> Option<f64>,
    /// Nothing that it does takes longer.
    pub(crate) patience: Duration,
}

/// What tokens cost at these prices per million: in, out, read from the cache, put into it.
fn price(usage: Usage, [input, output, read, write]: [f64; 4]) -> f64 {
    let of = |tokens: u64, price: f64| f64::from(u32::try_from(tokens).unwrap_or(u32::MAX)) * price / 1e6;
    of(usage.input, input)
        + of(usage.output, output)
        + of(usage.cache_read, read)
        + of(usage.cache_write, write)
}

/// Puts a JSON file into the agent's home.
fn put(home: &Path, path: &str, content: &Value) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, content.to_string()).expect("a file");
}
