//! Anthropic Messages: `POST /v1/messages`.

use serde_json::{Value, json};

use super::{Frame, id, kind, pieces};
use crate::script::{Block, Ending, HttpError, Step};

pub(super) fn stream(step: &Step, model: &str) -> Vec<Frame> {
    let mut message = whole(step, model);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    let mut frames = vec![event("message_start", json!({"message": message})), event("ping", json!({}))];
    if let Ending::Fail(code) = &step.ending {
        frames.push(event("error", json!({"error": {"type": code, "message": "the script says so"}})));
        return frames;
    }
    for (index, block) in blocks(step).into_iter().enumerate() {
        frames.push(event("content_block_start", json!({"index": index, "content_block": empty(&block)})));
        frames.extend(
            deltas(&block)
                .into_iter()
                .map(|delta| event("content_block_delta", json!({"index": index, "delta": delta}))),
        );
        if index == 0 {
            frames.push(Frame::Interruption);
        }
        frames.push(event("content_block_stop", json!({"index": index})));
    }
    if step.blocks.is_empty() {
        frames.push(Frame::Interruption);
    }
    frames.push(event(
        "message_delta",
        json!({
            "delta": {"stop_reason": stop(step), "stop_sequence": null},
            "usage": {"output_tokens": step.usage.output},
        }),
    ));
    frames.push(event("message_stop", json!({})));
    frames
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    json!({
        "id": id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks(step),
        "stop_reason": stop(step),
        "stop_sequence": null,
        "usage": {
            "input_tokens": step.usage.input,
            "cache_creation_input_tokens": step.usage.cache_write,
            "cache_read_input_tokens": step.usage.cache_read,
            "output_tokens": step.usage.output,
            "service_tier": "standard",
        },
    })
}

pub(super) fn error(error: &HttpError) -> Value {
    json!({
        "type": "error",
        "error": {"type": kind(error), "message": error.message},
        "request_id": "req_scripted",
    })
}

fn stop(step: &Step) -> &str {
    let natural = if step.calls_tools() { "tool_use" } else { "end_turn" };
    step.stop.as_deref().unwrap_or(natural)
}

fn blocks(step: &Step) -> Vec<Value> {
    let block = |block: &Block| match block {
        Block::Text { text } => json!({"type": "text", "text": text}),
        Block::Thinking { thinking } => {
            json!({"type": "thinking", "thinking": thinking, "signature": "c2ln"})
        }
        Block::Tool { tool, input } => {
            json!({"type": "tool_use", "id": id("toolu_"), "name": tool, "input": input})
        }
    };
    step.blocks.iter().map(block).collect()
}

/// A block as it begins: the same without what the deltas bring.
fn empty(block: &Value) -> Value {
    let mut block = block.clone();
    for (key, nothing) in
        [("text", json!("")), ("thinking", json!("")), ("signature", json!("")), ("input", json!({}))]
    {
        if let Some(field) = block.get_mut(key) {
            *field = nothing;
        }
    }
    block
}

fn deltas(block: &Value) -> Vec<Value> {
    if let Some(text) = block["text"].as_str() {
        return pieces(text).iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect();
    }
    if let Some(thinking) = block["thinking"].as_str() {
        return vec![
            json!({"type": "thinking_delta", "thinking": thinking}),
            json!({"type": "signature_delta", "signature": block["signature"]}),
        ];
    }
    let input = block["input"].to_string();
    pieces(&input).iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect()
}

fn event(name: &'static str, mut data: Value) -> Frame {
    data["type"] = json!(name);
    Frame::Event { name: Some(name), data }
}
