//! GitHub Copilot CLI on the scripted model.

use std::time::Duration;

use scripted_model::Block;
use serde_json::json;

use super::Agent;

/// GitHub Copilot CLI.
pub(crate) fn copilot() -> Agent {
    Agent {
        name: "copilot",
        settings: |url| {
            json!({
                "flags": ["--disable-builtin-mcps", "--no-auto-update"],
                "env": {
                    "COPILOT_OFFLINE": "true",
                    "COPILOT_PROVIDER_BASE_URL": format!("{url}/v1"),
                    "COPILOT_PROVIDER_API_KEY": "test-key",
                    "COPILOT_MODEL": "scripted",
                },
            })
        },
        furnish: |_, _| {},
        shell: |command| {
            Block::tool("bash", json!({"command": command, "description": "x", "initial_wait": 120}))
        },
        write: |project, path, content| {
            Block::tool("create", json!({"path": project.join(path), "file_text": content}))
        },
        todo: |[done, open]| {
            Block::tool("update_todo", json!({"todos": format!("- [x] {done}\n- [ ] {open}")}))
        },
        reports: (500, "overloaded"),
        tool_errors: 1,
        tells_tokens: false,
        cost_usd: |_| None,
        patience: Duration::from_mins(2),
    }
}
