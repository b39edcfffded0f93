//! Gemini: `POST /v1beta/models/<model>:streamGenerateContent`.

use serde_json::{Value, json};

use super::{Frame, pieces};
use crate::script::{Block, Ending, HttpError, Step};

pub(super) fn stream(step: &Step, model: &str) -> Vec<Frame> {
    let event = |parts: Value, finish: Option<&str>| {
        let mut data = answer(step, model, &parts);
        if let Some(finish) = finish {
            data["candidates"][0]["finishReason"] = json!(finish);
        }
        Frame::Event { name: None, data }
    };
    if let Ending::Fail(code) = &step.ending {
        let data = json!({"error": {"code": 500, "message": "the script says so", "status": code}});
        return vec![Frame::Event { name: None, data }];
    }
    let mut frames = Vec::new();
    for (index, block) in step.blocks.iter().enumerate() {
        match block {
            Block::Text { text } => {
                frames.extend(pieces(text).iter().map(|piece| event(json!([{"text": piece}]), None)));
            }
            Block::Thinking { .. } | Block::Tool { .. } => frames.push(event(json!([part(block)]), None)),
        }
        if index == 0 {
            frames.push(Frame::Interruption);
        }
    }
    if step.blocks.is_empty() {
        frames.push(Frame::Interruption);
    }
    let rest = if step.blocks.is_empty() { json!([{"text": ""}]) } else { json!([]) };
    frames.push(event(rest, Some(finish(step))));
    frames
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    let parts: Vec<Value> = step.blocks.iter().map(part).collect();
    let mut answer = answer(step, model, &json!(parts));
    answer["candidates"][0]["finishReason"] = json!(finish(step));
    answer
}

pub(super) fn error(error: &HttpError) -> Value {
    let status = match error.status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        _ => "UNKNOWN",
    };
    let status = error.kind.as_deref().unwrap_or(status);
    json!({"error": {"code": error.status, "message": error.message, "status": status}})
}

fn answer(step: &Step, model: &str, parts: &Value) -> Value {
    let usage = step.usage;
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": usage.all_input(),
            "candidatesTokenCount": usage.output,
            "totalTokenCount": usage.all_input() + usage.output,
            "cachedContentTokenCount": usage.cache_read,
        },
        "modelVersion": model,
    })
}

fn part(block: &Block) -> Value {
    match block {
        Block::Text { text } => json!({"text": text}),
        Block::Thinking { thinking } => json!({"text": thinking, "thought": true}),
        Block::Tool { tool, input } => json!({"functionCall": {"name": tool, "args": input}}),
    }
}

fn finish(step: &Step) -> &str {
    match step.stop.as_deref() {
        Some("max_tokens") => "MAX_TOKENS",
        Some("refusal") => "SAFETY",
        Some(_) | None => "STOP",
    }
}
