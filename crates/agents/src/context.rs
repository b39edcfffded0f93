//! How full an agent's context window is, read from its transcript, and when the agent is told.
//!
//! The figures are the ones that the service counted; only a transcript without any is judged by its size.

use memchr::memmem;
use serde::Deserialize;

use crate::{
    Usage,
    messages::TokenUsage,
    raw::{Raw, word},
};

/// What is announced, in percent, each once.
pub const THRESHOLDS: [u8; 5] = [50, 60, 70, 80, 90];

/// The window of models that are not known better, in tokens.
const USUAL_WINDOW: u64 = 200_000;
/// The window of large models, in tokens.
const LARGE_WINDOW: u64 = 1_000_000;

/// How many bytes of a transcript make a token, where it has no figures.
const BYTES_PER_TOKEN: u64 = 4;

/// What a transcript says about the last request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What the request and its answer took.
    pub tokens: u64,
    /// How much there is, where the transcript says so or names the model.
    pub window: Option<u64>,
}

impl Reading {
    /// The guess for a transcript without figures.
    pub fn by_size(bytes: u64) -> Self {
        Self { tokens: bytes / BYTES_PER_TOKEN, window: None }
    }
}

/// Where an alert sends the work that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    /// To the task list and the progress log of a loop over stories.
    Stories,
    /// To the files and the history of the project.
    Project,
}

/// Reads the last figures in the end of a transcript. The first line may be cut and is passed over then.
pub fn last_reading(tail: &[u8]) -> Option<Reading> {
    tail.rsplit(|byte| *byte == b'\n').find_map(|line| of_claude(line).or_else(|| of_codex(line)))
}

/// The highest threshold that has been reached.
pub fn level(tokens: u64, window: u64) -> Option<u8> {
    let reached = |percent: &u8| u64::from(*percent) * window <= tokens.saturating_mul(100);
    THRESHOLDS.into_iter().rev().find(|percent| 0 < window && reached(percent))
}

/// How large the window of a model is.
pub fn window_of(model: &str) -> u64 {
    if model.contains("[1m]") || is_fifth_or_later(model) { LARGE_WINDOW } else { USUAL_WINDOW }
}

/// What the agent is told at a threshold.
pub fn alert(level: u8, tokens: u64, window: u64, handover: Handover) -> String {
    let percent = tokens.saturating_mul(100).checked_div(window).unwrap_or_default();
    let (severity, advice) = match (level, handover) {
        (90.., Handover::Stories) => ("CRITICAL", STORIES_CRITICAL),
        (70.., Handover::Stories) => ("WARNING", STORIES_WARNING),
        (_, Handover::Stories) => ("NOTICE", STORIES_NOTICE),
        (90.., Handover::Project) => ("CRITICAL", CRITICAL),
        (70.., Handover::Project) => ("WARNING", WARNING),
        (_, Handover::Project) => ("NOTICE", NOTICE),
    };
    format!("{severity}: {percent}% of the context window is used ({tokens} of {window} tokens). {advice}")
}

const STORIES_NOTICE: &str = "Be mindful of remaining space. Plan to finish your current task within this session. If you discover \
     follow-up work, add new stories to tasks.json — the next iteration will pick them up.";
const STORIES_WARNING: &str = "Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories \
     in tasks.json for the next iteration and capture any implementation details or insights in progress.txt so \
     the next iteration has full context.";
const STORIES_CRITICAL: &str = "Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any remaining work, \
     (2) write implementation details, insights, and handoff notes to progress.txt, (3) commit all changes, (4) \
     stop. The next iteration will continue from where you left off.";
const NOTICE: &str = "Be mindful of remaining space. Plan to finish your current task within this session, and write down \
     follow-up work where it will be found.";
const WARNING: &str = "Finish your current task soon and do not start additional ones. If work remains, write down what is left, \
     and what you have learned, in a file of the project.";
const CRITICAL: &str = "Wrap up immediately. Do NOT start new work. Instead: (1) leave the project in a state that works, (2) write \
     down what is left to do and what you have learned in a file of the project, (3) stop.";

#[derive(Deserialize)]
struct ClaudeLine<'a> {
    #[serde(borrow, rename = "isSidechain")]
    is_sidechain: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    usage: TokenUsage,
}

fn of_claude(line: &[u8]) -> Option<Reading> {
    memmem::find(line, b"\"usage\"")?;
    let line: ClaudeLine<'_> = serde_json::from_slice(line).ok()?;
    // A subagent has a window of its own.
    if line.is_sidechain.and_then(Raw::read).unwrap_or(false) {
        return None;
    }
    let message: ClaudeMessage<'_> = line.message.and_then(Raw::read)?;
    let usage = Usage::from(message.usage);
    let tokens = usage.input.saturating_add(usage.output);
    // The program's own messages say that nothing was used.
    (0 < tokens).then(|| Reading { tokens, window: Some(window_of(word(message.model))) })
}

#[derive(Deserialize)]
struct CodexLine {
    payload: CodexPayload,
}

#[derive(Deserialize)]
struct CodexPayload {
    info: CodexTokens,
}

#[derive(Deserialize)]
struct CodexTokens {
    last_token_usage: CodexUsage,
    model_context_window: Option<u64>,
}

#[derive(Deserialize)]
struct CodexUsage {
    total_tokens: u64,
}

fn of_codex(line: &[u8]) -> Option<Reading> {
    memmem::find(line, b"\"token_count\"")?;
    let line: CodexLine = serde_json::from_slice(line).ok()?;
    let info = line.payload.info;
    Some(Reading { tokens: info.last_token_usage.total_tokens, window: info.model_context_window })
}

/// `claude-opus-5-5` and the like: the fifth generation has the large window, as its program says.
fn is_fifth_or_later(model: &str) -> bool {
    let mut parts = model.strip_prefix("claude-").unwrap_or_default().split('-');
    let family = parts.next().unwrap_or_default();
    // Before the fourth generation the number stood first.
    let is_word = !family.is_empty() && family.chars().all(|letter| letter.is_ascii_alphabetic());
    is_word
        && parts
            .next()
            .and_then(|generation| generation.parse::<u32>().ok())
            .is_some_and(|it| (5..1000).contains(&it))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claude(model: &str, input: u64, cached: u64, output: u64) -> String {
        serde_json::json!({
            "type": "assistant",
            "isSidechain": false,
            "message": {"model": model, "usage": {
                "input_tokens": input, "cache_read_input_tokens": cached, "output_tokens": output,
            }},
        })
        .to_string()
    }

    #[test]
    fn the_last_figures_count() {
        let lines = [claude("claude-sonnet-4-5", 1, 2, 3), claude("claude-sonnet-4-5", 10, 20, 30)];
        let reading = last_reading(lines.join("\n").as_bytes());
        assert_eq!(reading, Some(Reading { tokens: 60, window: Some(200_000) }));
    }

    #[test]
    fn other_lines_are_passed_over() {
        let good = claude("claude-opus-5-5", 5, 0, 5);
        let side = good.replace("\"isSidechain\":false", "\"isSidechain\":true");
        let synthetic = claude("<synthetic>", 0, 0, 0);
        let text = format!("e\":\"cut\n{good}\n{side}\n{synthetic}\n{{\"usage\" broken\n\"usage\"\n\n");
        assert_eq!(last_reading(text.as_bytes()), Some(Reading { tokens: 10, window: Some(1_000_000) }));
        assert_eq!(last_reading(b"no figures at all"), None);
        assert_eq!(last_reading(b""), None);
    }

    #[test]
    fn codex_says_both() {
        let line = r#"{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":
            {"total_tokens":900},"last_token_usage":{"total_tokens":70},"model_context_window":272000}}}"#;
        let line = line.replace('\n', "");
        assert_eq!(last_reading(line.as_bytes()), Some(Reading { tokens: 70, window: Some(272_000) }));
    }

    #[test]
    fn windows_are_known_by_model() {
        for (model, window) in [
            ("claude-sonnet-4-5", 200_000),
            ("claude-sonnet-4-5-20250929", 200_000),
            ("claude-sonnet-4-5[1m]", 1_000_000),
            ("claude-opus-5-5", 1_000_000),
            ("claude-3-5-sonnet-20241022", 200_000),
            ("claude-haiku-20240307", 200_000),
            ("", 200_000),
        ] {
            assert_eq!(window_of(model), window, "{model}");
        }
    }

    #[test]
    fn thresholds_are_reached_from_below() {
        for (tokens, expected) in [
            (0, None),
            (49_999, None),
            (50_000, Some(50)),
            (69_999, Some(60)),
            (95_000, Some(90)),
            (400_000, Some(90)),
        ] {
            assert_eq!(level(tokens, 100_000), expected, "{tokens}");
        }
        assert_eq!(level(10, 0), None);
    }

    #[test]
    fn alerts_grow_more_urgent() {
        let severity = |level| {
            let text = alert(level, 1, 2, Handover::Stories);
            text.split(':').next().map(str::to_owned)
        };
        let said: Vec<_> = THRESHOLDS.into_iter().filter_map(severity).collect();
        assert_eq!(said, ["NOTICE", "NOTICE", "WARNING", "WARNING", "CRITICAL"]);
        assert!(alert(90, 95, 100, Handover::Stories).contains("95%"));
        assert!(!alert(90, 95, 100, Handover::Project).contains("tasks.json"));
    }

    proptest! {
        #[test]
        fn no_transcript_is_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = last_reading(&bytes);
        }

        #[test]
        fn more_tokens_never_lower_the_level(tokens in 0_u64..2_000_000, more in 0_u64..100_000) {
            prop_assert!(level(tokens, 200_000) <= level(tokens + more, 200_000));
        }
    }
}
