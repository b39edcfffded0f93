//! `OpenAI` Responses: `POST /v1/responses`.

use serde_json::{Value, json};

use super::{Frame, id, pieces};
use crate::script::{Block, Ending, Step};

pub(super) fn stream(step: &Step, model: &str) -> Vec<Frame> {
    let completed = whole(step, model);
    let mut frames = Frames::default();
    let mut begun = completed.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    frames.push("response.created", json!({"response": begun}));
    frames.push("response.in_progress", json!({"response": begun}));
    if let Ending::Fail(code) = &step.ending {
        begun["status"] = json!("failed");
        begun["error"] = json!({"code": code, "message": "the script says so"});
        frames.push("response.failed", json!({"response": begun}));
        return frames.0;
    }
    let items = completed["output"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, item) in items.iter().enumerate() {
        frames.item(index, item);
        if index == 0 {
            frames.0.push(Frame::Interruption);
        }
        frames.push("response.output_item.done", json!({"output_index": index, "item": item}));
    }
    if items.is_empty() {
        frames.0.push(Frame::Interruption);
    }
    frames.push("response.completed", json!({"response": completed}));
    frames.0
}

pub(super) fn whole(step: &Step, model: &str) -> Value {
    let usage = step.usage;
    json!({
        "id": id("resp_"),
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": model,
        "output": step.blocks.iter().map(item).collect::<Vec<_>>(),
        "usage": {
            "input_tokens": usage.all_input(),
            "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.all_input() + usage.output,
        },
        "error": null,
        "incomplete_details": null,
        "parallel_tool_calls": false,
        "tool_choice": "auto",
        "tools": [],
        "instructions": null,
        "metadata": {},
    })
}

fn item(block: &Block) -> Value {
    match block {
        Block::Text { text } => json!({
            "type": "message",
            "id": id("msg_"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Block::Thinking { thinking } => json!({
            "type": "reasoning",
            "id": id("rs_"),
            "summary": [{"type": "summary_text", "text": thinking}],
            "encrypted_content": "c2NyaXB0ZWQ=",
        }),
        Block::Tool { tool, input: Value::String(input) } => json!({
            "type": "custom_tool_call",
            "id": id("ctc_"),
            "call_id": id("call_"),
            "name": tool,
            "input": input,
            "status": "completed",
        }),
        Block::Tool { tool, input } => json!({
            "type": "function_call",
            "id": id("fc_"),
            "call_id": id("call_"),
            "name": tool,
            "arguments": input.to_string(),
            "status": "completed",
        }),
    }
}

/// Events with their running number.
#[derive(Default)]
struct Frames(Vec<Frame>);

impl Frames {
    fn push(&mut self, name: &'static str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.0.len());
        self.0.push(Frame::Event { name: Some(name), data });
    }

    /// Everything of an item but its end.
    fn item(&mut self, index: usize, item: &Value) {
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        let whole = match item["type"].as_str() {
            Some("message") => begun["content"].take(),
            Some("reasoning") => begun["summary"].take(),
            Some("function_call") => begun["arguments"].take(),
            Some(_) | None => Value::Null,
        };
        match item["type"].as_str() {
            Some("message") => {
                begun["content"] = json!([]);
                self.added(index, &begun);
                self.message(index, item, &whole[0]);
            }
            Some("reasoning") => {
                begun["summary"] = json!([]);
                self.added(index, &begun);
                self.reasoning(index, item, &whole[0]);
            }
            Some("function_call") => {
                begun["arguments"] = json!("");
                self.added(index, &begun);
                let of = |key: &str| json!({"item_id": item["id"], "output_index": index, key: whole});
                self.push("response.function_call_arguments.delta", of("delta"));
                self.push("response.function_call_arguments.done", of("arguments"));
            }
            Some(_) | None => self.added(index, &begun),
        }
    }

    fn added(&mut self, index: usize, item: &Value) {
        self.push("response.output_item.added", json!({"output_index": index, "item": item}));
    }

    fn message(&mut self, index: usize, item: &Value, part: &Value) {
        let of = |key: &str, value: &Value| json!({"item_id": item["id"], "output_index": index, "content_index": 0, key: value});
        let empty = json!({"type": "output_text", "text": "", "annotations": []});
        self.push("response.content_part.added", of("part", &empty));
        for piece in pieces(part["text"].as_str().unwrap_or_default()) {
            self.push("response.output_text.delta", of("delta", &json!(piece)));
        }
        self.push("response.output_text.done", of("text", &part["text"]));
        self.push("response.content_part.done", of("part", part));
    }

    fn reasoning(&mut self, index: usize, item: &Value, part: &Value) {
        let of = |key: &str, value: &Value| json!({"item_id": item["id"], "output_index": index, "summary_index": 0, key: value});
        let empty = json!({"type": "summary_text", "text": ""});
        self.push("response.reasoning_summary_part.added", of("part", &empty));
        self.push("response.reasoning_summary_text.delta", of("delta", &part["text"]));
        self.push("response.reasoning_summary_text.done", of("text", &part["text"]));
        self.push("response.reasoning_summary_part.done", of("part", part));
    }
}
