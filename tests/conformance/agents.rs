//! How each agent is set up on the scripted model: keys, addresses, flags, names of its tools.

use std::path::Path;
use std::time::Duration;

use scripted_model::{Block, Usage};
use serde_json::{Value, json};

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
    /// How often it asks the model before it reports an HTTP error.
    pub(crate) tries: usize,
    /// How many failed tools it reports when one command exits with 3.
    pub(crate) tool_errors: u64,
    /// What it says that the model has cost, if it says it.
    pub(crate) cost_usd: fn(Usage) -> Option<f64>,
    /// Nothing that it does takes longer.
    pub(crate) patience: Duration,
}

/// Claude Code.
pub(crate) fn claude() -> Agent {
    Agent {
        name: "claude",
        settings: |url| {
            json!({
                "flags": ["--model claude-sonnet-4-5"],
                "env": {
                    "ANTHROPIC_BASE_URL": url,
                    "ANTHROPIC_API_KEY": "test-key",
                    "CLAUDE_CODE_MAX_RETRIES": "0",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
                    "CLAUDE_CODE_ENABLE_TASKS": "0",
                    "DISABLE_AUTOUPDATER": "1",
                    "DISABLE_TELEMETRY": "1",
                    // Lets root skip permissions.
                    "IS_SANDBOX": "1",
                },
            })
        },
        furnish: |_, _| {},
        shell: |command| {
            Block::tool("Bash", json!({"command": command, "description": "x", "timeout": 600_000}))
        },
        write: |project, path, content| {
            Block::tool("Write", json!({"file_path": project.join(path), "content": content}))
        },
        todo: |[done, open]| {
            Block::tool(
                "TodoWrite",
                json!({"todos": [
                    {"content": done, "status": "completed", "activeForm": done},
                    {"content": open, "status": "pending", "activeForm": open},
                ]}),
            )
        },
        tries: 1,
        tool_errors: 1,
        // The list price of the model above, per million tokens.
        cost_usd: |usage| {
            let of = |tokens: u64, price: f64| Some(f64::from(u32::try_from(tokens).ok()?) * price / 1e6);
            Some(
                of(usage.input, 3.0)?
                    + of(usage.output, 15.0)?
                    + of(usage.cache_read, 0.3)?
                    + of(usage.cache_write, 3.75)?,
            )
        },
        patience: Duration::from_secs(60),
    }
}

/// Codex.
pub(crate) fn codex() -> Agent {
    Agent {
        name: "codex",
        settings: |url| {
            let provider = format!(
                "model_providers.scripted={{name=\"scripted\",base_url=\"{url}/v1\",wire_api=\"responses\",\
                 env_key=\"SCRIPTED_KEY\",request_max_retries=0,stream_max_retries=0}}"
            );
            json!({
                "flags": [
                    "-m gpt-5.5",
                    "-c 'model_provider=\"scripted\"'",
                    format!("-c '{provider}'"),
                    "-c analytics.enabled=false",
                    "-c check_for_update_on_startup=false",
                    "-c tools.update_plan.enabled=true",
                    "--disable plugins",
                ],
                "env": {"SCRIPTED_KEY": "test-key"},
            })
        },
        furnish: |_, _| {},
        shell: |command| Block::tool("exec_command", json!({"cmd": command, "yield_time_ms": 30_000})),
        write: |_, path, content| {
            let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
            Block::tool("apply_patch", json!(patch))
        },
        todo: |[done, open]| {
            Block::tool(
                "update_plan",
                json!({"plan": [{"step": done, "status": "completed"}, {"step": open, "status": "pending"}]}),
            )
        },
        tries: 1,
        tool_errors: 1,
        cost_usd: |_| None,
        patience: Duration::from_secs(60),
    }
}
