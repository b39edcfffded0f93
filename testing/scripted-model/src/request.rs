//! A request as it came, and what kind of call it is.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::protocol::Protocol;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// `POST` and the like.
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    /// What was sent; a string if it is no JSON.
    pub body: Value,
    /// Whether it took a step of the script.
    pub is_main: bool,
}

impl Request {
    /// Whether a text occurs anywhere in what was sent: in a key or a value, as the client meant it.
    pub fn says(&self, text: &str) -> bool {
        occurs(&self.body, text)
    }

    /// What the client wants of which service; nothing for what is no model call.
    pub(crate) fn call(&self) -> Option<Call> {
        let path = self.path.split('?').next().unwrap_or_default();
        if self.method != "POST" {
            return None;
        }
        let ends = |end: &str| path.ends_with(end);
        if ends("/messages/count_tokens") || ends(":countTokens") {
            return Some(Call::CountTokens);
        }
        let streams = self.body["stream"].as_bool().unwrap_or(false);
        let (protocol, streams) = match path {
            _ if ends("/messages") => (Protocol::Anthropic, streams),
            _ if ends("/responses") => (Protocol::Responses, streams),
            _ if ends("/chat/completions") => (Protocol::Chat, streams),
            _ if ends(":streamGenerateContent") => (Protocol::Gemini, true),
            _ if ends(":generateContent") => (Protocol::Gemini, false),
            _ => return None,
        };
        Some(Call::Model { protocol, streams })
    }

    /// Whether tools are offered; what offers none is a side call.
    pub(crate) fn offers_tools(&self) -> bool {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools.iter().any(|tool| match tool.get("functionDeclarations") {
            Some(declared) => declared.as_array().is_some_and(|declared| !declared.is_empty()),
            None => true,
        })
    }
}

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// An answer of the model.
    Model {
        /// In which language.
        protocol: Protocol,
        /// Piece by piece, or whole.
        streams: bool,
    },
    /// The size of a request.
    CountTokens,
}

fn occurs(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| occurs(value, text)),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains(text) || occurs(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
