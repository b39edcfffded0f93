//! opencode on the scripted model.

use std::time::Duration;

use scripted_model::Block;
use serde_json::json;

use super::{Agent, price};

/// opencode.
pub(crate) fn opencode() -> Agent {
    Agent {
        name: "opencode",
        settings: |url| {
            let model = json!({
                "name": "scripted",
                "limit": {"context": 200_000, "output": 32_000},
                "cost": {"input": 3, "output": 15, "cache_read": 0.3},
            });
            let config = json!({
                "model": "scripted/scripted",
                "small_model": "scripted/scripted",
                "share": "disabled",
                "autoupdate": false,
                "provider": {"scripted": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "scripted",
                    "options": {"baseURL": format!("{url}/v1"), "apiKey": "test-key"},
                    "models": {"scripted": model},
                }},
            });
            json!({
                "flags": [],
                "env": {
                    "OPENCODE_CONFIG_CONTENT": config.to_string(),
                    "OPENCODE_DISABLE_AUTOUPDATE": "1",
                    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
                    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
                    "OPENCODE_DISABLE_MODELS_FETCH": "1",
                    "OPENCODE_DISABLE_SHARE": "1",
                },
            })
        },
        furnish: |_, _| {},
        shell: |command| {
            Block::tool("bash", json!({"command": command, "description": "x", "timeout": 600_000}))
        },
        write: |project, path, content| {
            Block::tool("write", json!({"filePath": project.join(path), "content": content}))
        },
        todo: |[done, open]| {
            Block::tool(
                "todowrite",
                json!({"todos": [
                    {"content": done, "status": "completed", "priority": "high"},
                    {"content": open, "status": "pending", "priority": "high"},
                ]}),
            )
        },
        reports: (429, "overloaded"),
        tool_errors: 1,
        // What was put into the cache is read at the usual price in this protocol.
        tells_tokens: true,
        cost_usd: |usage| Some(price(usage, [3.0, 15.0, 0.3, 3.0])),
        patience: Duration::from_mins(2),
    }
}
