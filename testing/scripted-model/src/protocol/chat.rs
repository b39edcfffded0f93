//! `OpenAI` chat completions: `POST /v1/chat/completions`.

use serde_json::{Value, json};

use super::{Frame, id, kind, pieces};
use crate::script::{Block, Ending, HttpError, Step};

pub(super) fn stream(step: &Step, model: &str) -> Vec<Frame> {
    let base =
        json!({"id": id("chatcmpl-"), "object": "chat.completion.chunk", "created": 0, "model": model});
    let chunk = |delta: Value, finish: Option<&str>| {
        let mut chunk = base.clone();
        chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        Frame::Event { name: None, data: chunk }
    };
    let mut frames = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    if let Ending::Fail(code) = &step.ending {
        let data = json!({"error": {"message": "the script says so", "type": code, "code": code}});
        frames.push(Frame::Event { name: None, data });
        return frames;
    }
    frames.extend(thoughts(step).map(|thinking| chunk(json!({"reasoning_content": thinking}), None)));
    frames.extend(pieces(&text(step)).into_iter().map(|piece| chunk(json!({"content": piece}), None)));
    frames.push(Frame::Interruption);
    for (index, call) in calls(step).into_iter().enumerate() {
        let arguments = call["function"]["arguments"].clone();
        let mut begun = call;
        begun["index"] = json!(index);
        begun["function"]["arguments"] = json!("");
        frames.push(chunk(json!({"tool_calls": [begun]}), None));
        let rest = json!({"index": index, "function": {"arguments": arguments}});
        frames.push(chunk(json!({"tool_calls": [rest]}), None));
    }
    frames.push(chunk(json!({}), Some(finish(step))));
    let mut last = base.clone();
    last["choices"] = json!([]);
    last["usage"] = usage(step);
    frames.push(Frame::Event { name: None, data: last });
    frames.push(Frame::Done);
    frames
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    let mut message = json!({"role": "assistant", "content": text(step)});
    if step.calls_tools() {
        message["tool_calls"] = json!(calls(step));
    }
    json!({
        "id": id("chatcmpl-"),
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish(step)}],
        "usage": usage(step),
    })
}

pub(super) fn error(error: &HttpError) -> Value {
    json!({"error": {"message": error.message, "type": kind(error), "code": error.code}})
}

fn finish(step: &Step) -> &str {
    match step.stop.as_deref() {
        Some("max_tokens") => "length",
        Some("refusal") => "content_filter",
        Some(other) => other,
        None if step.calls_tools() => "tool_calls",
        None => "stop",
    }
}

fn text(step: &Step) -> String {
    let text = |block: &Block| match block {
        Block::Text { text } => Some(text.clone()),
        Block::Thinking { .. } | Block::Tool { .. } => None,
    };
    step.blocks.iter().filter_map(text).collect()
}

fn thoughts(step: &Step) -> impl Iterator<Item = &String> {
    step.blocks.iter().filter_map(|block| match block {
        Block::Thinking { thinking } => Some(thinking),
        Block::Text { .. } | Block::Tool { .. } => None,
    })
}

fn calls(step: &Step) -> Vec<Value> {
    let call = |block: &Block| match block {
        Block::Tool { tool, input } => Some(json!({
            "id": id("call_"),
            "type": "function",
            "function": {"name": tool, "arguments": input.to_string()},
        })),
        Block::Text { .. } | Block::Thinking { .. } => None,
    };
    step.blocks.iter().filter_map(call).collect()
}

fn usage(step: &Step) -> Value {
    let usage = step.usage;
    json!({
        "prompt_tokens": usage.all_input(),
        "completion_tokens": usage.output,
        "total_tokens": usage.all_input() + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
    })
}
