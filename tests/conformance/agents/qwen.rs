//! Qwen Code on the scripted model.

use std::time::Duration;

use scripted_model::Block;
use serde_json::json;

use super::{Agent, put};

/// Qwen Code.
pub(crate) fn qwen() -> Agent {
    Agent {
        name: "qwen",
        settings: |url| {
            json!({
                "flags": [],
                "env": {
                    "OPENAI_API_KEY": "test-key",
                    "OPENAI_BASE_URL": format!("{url}/v1"),
                    "OPENAI_MODEL": "scripted",
                    "QWEN_TELEMETRY_ENABLED": "false",
                },
            })
        },
        furnish: |home, _| {
            let settings = json!({
                "security": {"auth": {"selectedType": "openai"}},
                // A subagent for memories would eat the script.
                "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
                "tools": {"todoWrite": {"enabled": true}},
                "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
                "privacy": {"usageStatisticsEnabled": false},
                "model": {"generationConfig": {"maxRetries": 0}},
            });
            put(home, ".qwen/settings.json", &settings);
        },
        shell: |command| {
            let input =
                json!({"command": command, "description": "x", "is_background": false, "timeout": 600_000});
            Block::tool("run_shell_command", input)
        },
        write: |project, path, content| {
            Block::tool("write_file", json!({"file_path": project.join(path), "content": content}))
        },
        todo: |[done, open]| {
            Block::tool(
                "todo_write",
                json!({"todos": [
                    {"id": "1", "content": done, "status": "completed"},
                    {"id": "2", "content": open, "status": "pending"},
                ]}),
            )
        },
        reports: (400, "transient"),
        tool_errors: 1,
        tells_tokens: true,
        cost_usd: |_| None,
        patience: Duration::from_mins(2),
    }
}
