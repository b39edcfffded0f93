//! Gemini CLI on the scripted model.

use std::time::Duration;

use scripted_model::Block;
use serde_json::json;

use super::{Agent, put};

/// Gemini CLI.
pub(crate) fn gemini() -> Agent {
    Agent {
        name: "gemini",
        settings: |url| {
            json!({
                // Without a model it asks a router first.
                "flags": ["-m gemini-2.5-flash"],
                "env": {
                    "GEMINI_API_KEY": "test-key",
                    "GOOGLE_GEMINI_BASE_URL": url,
                    "GEMINI_TELEMETRY_ENABLED": "false",
                    "GEMINI_CLI_NO_RELAUNCH": "true",
                },
            })
        },
        furnish: |home, _| {
            let settings = json!({
                // Without it the base URL selects a kind of key that cannot be used.
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
                "privacy": {"usageStatisticsEnabled": false},
            });
            put(home, ".gemini/settings.json", &settings);
        },
        shell: |command| Block::tool("run_shell_command", json!({"command": command, "description": "x"})),
        write: |project, path, content| {
            Block::tool("write_file", json!({"file_path": project.join(path), "content": content}))
        },
        todo: |[done, open]| {
            Block::tool(
                "write_todos",
                json!({"todos": [
                    {"description": done, "status": "completed"},
                    {"description": open, "status": "pending"},
                ]}),
            )
        },
        reports: (500, "overloaded"),
        // It calls a command that failed a success.
        tool_errors: 0,
        tells_tokens: true,
        cost_usd: |_| None,
        patience: Duration::from_mins(2),
    }
}
