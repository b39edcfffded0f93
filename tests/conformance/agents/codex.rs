//! Codex on the scripted model.

use std::time::Duration;

use scripted_model::Block;
use serde_json::json;

use super::Agent;

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
            let lines: Vec<String> = content.lines().map(|line| format!("+{line}")).collect();
            let lines = lines.join("\n");
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n{lines}\n*** End Patch\n");
            Block::tool("apply_patch", json!(patch))
        },
        todo: |[done, open]| {
            Block::tool(
                "update_plan",
                json!({"plan": [{"step": done, "status": "completed"}, {"step": open, "status": "pending"}]}),
            )
        },
        reports: (500, "overloaded"),
        tool_errors: 1,
        tells_tokens: true,
        cost_usd: |_| None,
        patience: Duration::from_mins(1),
    }
}
