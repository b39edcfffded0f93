//! What the services' status and error codes mean for another attempt.

use super::FailureKind;

/// Returns what an HTTP status says.
pub(super) fn kind(status: Option<u64>) -> FailureKind {
    match status {
        Some(401..=403) => FailureKind::Permanent,
        // Without a word on the user's quota, 429 means "too fast", not "used up".
        Some(429 | 500 | 502 | 503 | 504 | 529) => FailureKind::Overloaded,
        Some(_) | None => FailureKind::Transient,
    }
}

/// Returns what an error message says that begins with the status, as in `401 invalid key`.
pub(super) fn kind_of_message(message: &str) -> FailureKind {
    kind(message.split_whitespace().next().and_then(|status| status.parse().ok()))
}

/// Returns what an error code says where it says more than the status, which is 400 for a missing credit.
pub(super) fn kind_of_code(code: &str) -> Option<FailureKind> {
    match code {
        "authentication_error"
        | "authentication_failed"
        | "billing_error"
        | "insufficient_quota"
        | "permission_error" => Some(FailureKind::Permanent),
        "overloaded" | "overloaded_error" => Some(FailureKind::Overloaded),
        "usage_limit_reached" => Some(FailureKind::Limited { resets_at: None }),
        _ => None,
    }
}
