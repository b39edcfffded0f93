//! Codex: `codex exec --json -`.
//!
//! Measured on 0.166.0. Only `turn.failed` is a failure: a top-level `error` or an item of that type may be
//! a mere notice, such as that the connection is made again.

mod events;
mod failure;
mod record;
mod stream;

use super::hooking::{Hooking, Hooks};
use super::ndjson::Ndjson;
use super::{Adapter, FirstSignal, Output, Parser, Permissions, QuotaRecord, Request, flags};
use stream::CodexStream;

/// Codex.
pub(super) struct Codex;

impl Adapter for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let hooks = request.hooks.map(hook_flags).unwrap_or_default();
        let mut arguments = vec!["exec"];
        match request.output {
            Output::Stream => arguments.push("--json"),
            Output::Text { answer } => arguments.extend(["-o", answer]),
        }
        arguments.push("--skip-git-repo-check");
        if !sets_sandbox(request.flags) {
            match request.permissions {
                Permissions::Skip => arguments.push("--dangerously-bypass-approvals-and-sandbox"),
                // Left to itself Codex may only read, so that a loop could never get anything done.
                Permissions::Agent => arguments.extend(["-s", "workspace-write"]),
            }
        }
        arguments.extend(request.flags.iter().map(String::as_str));
        arguments.extend(hooks.iter().map(String::as_str));
        arguments.extend(request.resume.iter().flat_map(|conversation| ["resume", conversation]));
        match request.prompt {
            Some(prompt) => arguments.extend(["--", prompt]),
            None => arguments.push("-"),
        }
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<CodexStream>>::default()
    }

    fn hooks(&self) -> Hooking {
        Hooking::Silent
    }

    fn is_hooked(&self, _id: &str, name: &str) -> bool {
        matches!(name, "command_execution" | "file_change")
    }

    fn can_resume(&self) -> bool {
        true
    }

    fn quota_record(&self) -> Option<QuotaRecord> {
        Some(QuotaRecord {
            home: "CODEX_HOME",
            folder: ".codex",
            sessions: "sessions",
            last_limit: record::last_limit,
        })
    }

    /// On SIGTERM Codex dies at once and leaves the running tool behind; on SIGINT it cleans up.
    fn first_signal(&self) -> FirstSignal {
        FirstSignal::Int
    }
}

/// Codex passes over hooks that no one has reviewed, without a word, unless it is told not to.
fn hook_flags(hooks: &Hooks) -> Vec<String> {
    let mut events = vec![("PreToolUse", "pre-tool-use"), ("PostToolUse", "post-tool-use")];
    events.extend(hooks.on_stop.then_some(("Stop", "stop")));
    let mut flags = vec!["--dangerously-bypass-hook-trust".to_owned()];
    for (event, name) in events {
        // A JSON text is a basic string of TOML as well.
        let command = serde_json::Value::from(hooks.command(name));
        let entry =
            format!("hooks.{event}=[{{matcher=\"*\",hooks=[{{type=\"command\",command={command}}}]}}]");
        flags.extend(["-c".to_owned(), entry]);
    }
    flags
}

fn sets_sandbox(flags: &[String]) -> bool {
    const OPTIONS: [&str; 4] = ["-s", "--sandbox", "--dangerously-bypass-approvals-and-sandbox", "--yolo"];
    let short = |flag: &String| flag.starts_with("-s") || flag.starts_with("sandbox_mode");
    flags::contain(flags, &OPTIONS) || flags.iter().any(short)
}
