//! What Codex records about the user's quota. Its stream says it in words alone; the record of the conversation has it as
//! figures, after every answer of the service and after a refusal.

use serde::Deserialize;

use crate::{Limit, QuotaWindow};

/// The last word on the quota in the end of a record, which may begin in the middle of a line.
pub(super) fn last_limit(end: &str) -> Option<Limit> {
    let figures = end.lines().rev().filter(|line| line.contains("\"rate_limits\""));
    figures.filter_map(|line| serde_json::from_str::<Line>(line).ok()).find_map(|line| line.payload.limit())
}

#[derive(Deserialize)]
struct Line {
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    r#type: String,
    rate_limits: Option<RateLimits>,
}

/// The short and the long window.
#[derive(Deserialize)]
struct RateLimits {
    primary: Option<Window>,
    secondary: Option<Window>,
}

#[derive(Deserialize)]
struct Window {
    used_percent: f64,
    resets_at: Option<i64>,
}

impl Payload {
    fn limit(self) -> Option<Limit> {
        let limits = self.rate_limits.filter(|_| self.r#type == "token_count")?;
        let windows = [limits.primary, limits.secondary].into_iter().flatten();
        let windows: Vec<QuotaWindow> =
            windows.filter_map(|window| QuotaWindow::new(window.used_percent, window.resets_at)).collect();
        let limit = Limit { refused: false, resets_at: None, window: None, windows };
        (!limit.windows.is_empty()).then_some(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Codex 0.169.0 writes it after a refusal.
    const RECORD: &str = include_str!("../../fixtures/records/codex.jsonl");

    fn line(primary: &str, secondary: &str) -> String {
        format!(
            r#"{{"timestamp":"x","type":"event_msg","payload":{{"type":"token_count","info":null,"rate_limits":{{"primary":{primary},"secondary":{secondary}}}}}}}"#
        )
    }

    #[track_caller]
    fn check(end: &str, fullest: Option<(u32, Option<i64>)>, full_until: Option<i64>) {
        let limit = last_limit(end);
        let found = limit.as_ref().and_then(Limit::fullest).map(|window| (window.used, window.resets_at));
        assert_eq!((found, limit.and_then(|limit| limit.full_until())), (fullest, full_until), "{end}");
    }

    #[test]
    fn the_record_says_how_full_the_windows_are() {
        check(RECORD, Some((100, Some(1_794_917_362))), Some(1_794_917_362));
        check(&line(r#"{"used_percent":12.5,"resets_at":7}"#, "null"), Some((13, Some(7))), None);
        // Both are full: the later one decides. One that does not say when says nothing about the other.
        let (short, long) =
            (r#"{"used_percent":100,"resets_at":7}"#, r#"{"used_percent":100,"resets_at":9}"#);
        check(&line(short, long), Some((100, Some(9))), Some(9));
        check(&line(short, r#"{"used_percent":100}"#), Some((100, Some(7))), None);
    }

    #[test]
    fn the_last_word_counts() {
        let (old, new) =
            (line(r#"{"used_percent":90,"resets_at":7}"#, "null"), line(r#"{"used_percent":3}"#, "null"));
        check(&format!("{old}\n{new}\n"), Some((3, None)), None);
        // A record without figures, as an API key gives it, or a line that is cut.
        check(&format!("{old}\n{}\n", line("null", "null")), Some((90, Some(7))), None);
        check(&old[20..], None, None);
        check("", None, None);
    }

    #[test]
    fn what_the_agent_says_is_no_figure() {
        let said =
            line(r#"{"used_percent":100,"resets_at":7}"#, "null").replace("token_count", "agent_message");
        check(&said, None, None);
        check(&format!("\"rate_limits\" {}", "x".repeat(9)), None, None);
    }
}
