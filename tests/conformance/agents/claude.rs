//! Claude Code on the scripted model.

use std::time::Duration;

use scripted_model::Block;
use serde_json::json;

use super::{Agent, price};

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
        reports: (500, "overloaded"),
        tool_errors: 1,
        // The list price of the model above.
        tells_tokens: true,
        cost_usd: |usage| Some(price(usage, [3.0, 15.0, 0.3, 3.75])),
        patience: Duration::from_mins(1),
    }
}
