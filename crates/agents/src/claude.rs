//! Claude Code: `claude -p --output-format stream-json --verbose`.
//!
//! Measured on 2.1.325. The order of keys is not stable, one message arrives as several events, an API
//! failure has the subtype `success`, and one process may print several results.

mod events;
mod hooks;
mod stream;

use serde_json::json;

use super::hooking::Hooking;
use super::ndjson::Ndjson;
use super::{Adapter, Metering, Output, Parser, Permissions, Request, flags};
use stream::ClaudeStream;

/// Claude Code.
pub(super) struct Claude;

impl Adapter for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        let given = hooks::Given::new(request);
        let mut arguments = vec!["-p", "--output-format"];
        match request.output {
            Output::Stream => arguments.extend(["stream-json", "--verbose"]),
            Output::Text { .. } => arguments.push("text"),
        }
        let chosen = flags::contain(request.flags, &["--dangerously-skip-permissions", "--permission-mode"]);
        if request.permissions == Permissions::Skip && !chosen {
            arguments.push("--dangerously-skip-permissions");
        }
        if request.hooks.is_some() && request.output == Output::Stream {
            arguments.push("--include-hook-events");
        }
        if request.streams_input {
            arguments.extend(["--input-format", "stream-json"]);
        }
        arguments.extend(request.resume.iter().flat_map(|conversation| ["--resume", conversation]));
        let budget = request.budget_usd.map(|usd| format!("{usd:.4}"));
        let capped = flags::contain(request.flags, &["--max-budget-usd"]);
        if let Some(budget) = budget.as_deref().filter(|_| !capped && request.output == Output::Stream) {
            arguments.extend(["--max-budget-usd", budget]);
        }
        arguments.extend(given.flags.iter().map(String::as_str));
        arguments.extend(given.settings.iter().flat_map(|settings| ["--settings", settings]));
        arguments.extend(request.prompt.iter().flat_map(|prompt| ["--", prompt]));
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn metering(&self) -> Metering {
        Metering::Cost
    }

    fn tells_quota(&self) -> bool {
        true
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<Ndjson<ClaudeStream>>::default()
    }

    /// Earlier ones pass over `onFailure`.
    fn closes_hooks_since(&self) -> Option<&'static str> {
        Some("2.1.325")
    }

    fn skips_as_root_with(&self) -> Option<&'static str> {
        Some("IS_SANDBOX")
    }

    fn hooks(&self) -> Hooking {
        Hooking::Shown
    }

    fn is_hooked(&self, id: &str, _name: &str) -> bool {
        !id.starts_with("srvtoolu")
    }

    fn can_resume(&self) -> bool {
        true
    }

    fn next_message(&self, text: &str) -> Option<String> {
        let content = json!([{"type": "text", "text": text}]);
        Some(format!("{}\n", json!({"type": "user", "message": {"role": "user", "content": content}})))
    }

    /// Claude reads the file behind every `@path` into the request: a word joiner after the sign keeps the
    /// text as it looks and names no file.
    fn harmless(&self, text: &str) -> String {
        const WORD_JOINER: char = '\u{2060}';
        let mut safe = String::with_capacity(text.len());
        let mut before = ' ';
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            safe.push(char);
            let opens = char == '@' && !before.is_alphanumeric();
            if opens && chars.peek().is_some_and(|next| !next.is_whitespace() && *next != WORD_JOINER) {
                safe.push(WORD_JOINER);
            }
            before = char;
        }
        safe
    }

    /// Claude takes a first word such as `/help` as one of its commands and asks no model.
    fn deliverable(&self, prompt: String) -> String {
        if prompt.trim_start().starts_with('/') {
            return format!("Do the following:\n\n{prompt}");
        }
        prompt
    }
}
