//! pi on the scripted model.

use std::time::Duration;

use scripted_model::Block;
use serde_json::json;

use super::{Agent, price, put};

/// pi.
pub(crate) fn pi() -> Agent {
    Agent {
        name: "pi",
        settings: |_| json!({"flags": ["--model scripted/scripted"], "env": {"PI_OFFLINE": "1"}}),
        furnish: |home, url| {
            let model = json!({
                "id": "scripted",
                "name": "scripted",
                "reasoning": false,
                "input": ["text"],
                "contextWindow": 200_000,
                "maxTokens": 32_000,
                "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
            });
            let provider = json!({
                "baseUrl": format!("{url}/v1"),
                "api": "openai-completions",
                "apiKey": "test-key",
                "models": [model],
            });
            put(home, ".pi/agent/models.json", &json!({"providers": {"scripted": provider}}));
            put(home, ".pi/agent/settings.json", &json!({"retry": {"enabled": false}}));
        },
        shell: |command| Block::tool("bash", json!({"command": command, "timeout": 600})),
        write: |project, path, content| {
            Block::tool("write", json!({"path": project.join(path), "content": content}))
        },
        // It has no such list.
        todo: |_| Block::text("No list."),
        reports: (500, "overloaded"),
        tool_errors: 1,
        // What was put into the cache is read at the usual price in this protocol.
        tells_tokens: true,
        cost_usd: |usage| Some(price(usage, [3.0, 15.0, 0.3, 3.0])),
        patience: Duration::from_mins(2),
    }
}
