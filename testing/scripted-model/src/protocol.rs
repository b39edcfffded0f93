//! The languages that models speak, each as pure functions from a step to what goes over the wire.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::script::{HttpError, Step};

/// The language of a model service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Anthropic Messages.
    Anthropic,
    /// `OpenAI` Responses.
    Responses,
    /// `OpenAI` chat completions.
    Chat,
    /// Gemini.
    Gemini,
}

impl Protocol {
    /// The answer piece by piece.
    pub(crate) fn stream(self, step: &Step, model: &str) -> Vec<Frame> {
        match self {
            Self::Anthropic => anthropic::stream(step, model),
            Self::Responses => responses::stream(step, model),
            Self::Chat => chat::stream(step, model),
            Self::Gemini => gemini::stream(step, model),
        }
    }

    /// The answer in one piece.
    pub(crate) fn whole(self, step: &Step, model: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(step, model),
            Self::Responses => responses::whole(step, model),
            Self::Chat => chat::whole(step, model),
            Self::Gemini => gemini::whole(step, model),
        }
    }

    /// The body of an HTTP error.
    pub(crate) fn error(self, error: &HttpError) -> Value {
        match self {
            Self::Anthropic => anthropic::error(error),
            Self::Responses | Self::Chat => chat::error(error),
            Self::Gemini => gemini::error(error),
        }
    }
}

/// A piece of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame {
    /// A server-sent event.
    Event {
        /// Its name, where the language has names.
        name: Option<&'static str>,
        /// Its JSON.
        data: Value,
    },
    /// The last event of chat completions, which is no JSON.
    Done,
    /// The place, after the first block, where the script may cut or hold the stream.
    Interruption,
}

/// Returns an id that no other call of this process has.
fn id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}{:024x}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Cuts a text into pieces that are shorter than any marker, so that readers must put it together.
fn pieces(text: &str) -> Vec<String> {
    const SIZE: usize = 9;
    let chars: Vec<char> = text.chars().collect();
    // A long text would drown in events.
    let size = SIZE.max(chars.len() / 200);
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// The kind of error that goes with a status, in the words that Anthropic and `OpenAI` share.
fn kind(error: &HttpError) -> &str {
    let usual = match error.status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    error.kind.as_deref().unwrap_or(usual)
}
