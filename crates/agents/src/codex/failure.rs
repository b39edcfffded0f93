//! Why a turn of Codex failed.
//!
//! Codex has no field for the status or the code, but words its own errors the same way each time. The model
//! has no say in them.

use serde::Deserialize;

use crate::{Failure, FailureKind, status, summary};

/// Reads the message of a failed turn.
pub(super) fn failure(message: &str) -> Failure {
    let body = serde_json::from_str::<Body>(message).ok().map(|body| body.error);
    let kind = own_words(message)
        .or_else(|| body.as_ref().and_then(Problem::kind))
        .unwrap_or_else(|| status::kind(http_status(message)));
    let kind = match kind {
        FailureKind::Limited { .. } => {
            FailureKind::Limited { resets_at: body.as_ref().and_then(|problem| problem.resets_at) }
        }
        kind => kind,
    };
    let message = body.and_then(|problem| problem.message).unwrap_or_else(|| message.to_owned());
    let message = if message.is_empty() { "the turn failed".to_owned() } else { summary::short(&message) };
    Failure { kind, message }
}

fn own_words(message: &str) -> Option<FailureKind> {
    const OWN_WORDS: [(&str, FailureKind); 3] = [
        ("hit your usage limit", FailureKind::Limited { resets_at: None }),
        ("Quota exceeded.", FailureKind::Permanent),
        ("currently experiencing high demand", FailureKind::Overloaded),
    ];
    OWN_WORDS.iter().find(|(words, _)| message.contains(words)).map(|(_, kind)| *kind)
}

/// Finds the number in `unexpected status 401 Unauthorized` or `last status: 429 Too Many Requests`.
fn http_status(message: &str) -> Option<u64> {
    let (_, after) = message.split_once("status")?;
    after.trim_start_matches([':', ' ']).get(..3)?.parse().ok()
}

/// The service's answer, where Codex passes it on as it came.
#[derive(Deserialize)]
struct Body {
    error: Problem,
}

#[derive(Deserialize)]
struct Problem {
    code: Option<String>,
    r#type: Option<String>,
    message: Option<String>,
    /// Seconds since 1970.
    resets_at: Option<i64>,
}

impl Problem {
    fn kind(&self) -> Option<FailureKind> {
        [&self.code, &self.r#type].into_iter().flatten().find_map(|code| status::kind_of_code(code))
    }
}
