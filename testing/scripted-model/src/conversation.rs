//! Answers one request as the script says.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http;
use crate::protocol::{Frame, Protocol};
use crate::request::{Call, Request};
use crate::script::{Ending, HttpError, Step};
use crate::server::Shared;

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It waits for the next request.
    Request,
    /// It is closed.
    Close,
}

/// Answers one request.
pub(crate) fn answer(request: Request, shared: &Shared, out: &mut impl Write) -> io::Result<Next> {
    match request.call() {
        Some(Call::Model { protocol, streams }) => {
            let is_main = protocol == Protocol::Responses || request.offers_tools();
            let model = model(&request);
            let step = shared.take(request, is_main);
            let reply = Reply { protocol, streams, model, step };
            reply.send(shared, out)
        }
        Some(Call::CountTokens) => {
            let tokens = request.body.to_string().len() / 4;
            shared.take(request, false);
            let body = json!({"input_tokens": tokens, "totalTokens": tokens});
            http::write_json(out, 200, &BTreeMap::new(), &body)?;
            Ok(Next::Request)
        }
        None => {
            let (method, path) = (request.method.clone(), request.path.clone());
            shared.take(request, false);
            other(&method, &path, out)?;
            Ok(Next::Request)
        }
    }
}

/// What is no model call: signs of life, lists of models, and what this server does not have.
fn other(method: &str, path: &str, out: &mut impl Write) -> io::Result<()> {
    match method {
        "HEAD" => http::write_empty(out, 200),
        "GET" if path.contains("/models") => {
            let body = json!({"object": "list", "data": [{"id": "scripted", "object": "model"}]});
            http::write_json(out, 200, &BTreeMap::new(), &body)
        }
        _ => {
            let body = json!({"error": {"type": "not_found_error", "message": "not found"}});
            http::write_json(out, 404, &BTreeMap::new(), &body)
        }
    }
}

/// The model's name as the client says it; Gemini has it in the path.
fn model(request: &Request) -> String {
    let in_path = || request.path.split("/models/").nth(1)?.split(':').next();
    request.body["model"].as_str().or_else(in_path).unwrap_or("scripted").to_owned()
}

struct Reply {
    protocol: Protocol,
    streams: bool,
    model: String,
    step: Step,
}

impl Reply {
    fn send(&self, shared: &Shared, out: &mut impl Write) -> io::Result<Next> {
        let Self { protocol, model, step, .. } = self;
        if !shared.sleep(Duration::from_millis(step.delay_ms)) {
            return Ok(Next::Close);
        }
        if let Some(error) = &step.error {
            http::write_json(out, error.status, &step.headers, &protocol.error(error))?;
            return Ok(Next::Request);
        }
        if !self.streams {
            return self.send_whole(shared, out);
        }
        http::begin_stream(out, &step.headers)?;
        for frame in protocol.stream(step, model) {
            let goes_on = match frame {
                Frame::Event { name, data } => {
                    write_event(out, name, &data)?;
                    shared.sleep(Duration::from_millis(step.slow_ms))
                }
                Frame::Done => {
                    http::write_chunk(out, "data: [DONE]\n\n")?;
                    true
                }
                Frame::Interruption => self.interrupt(shared, out)?,
            };
            if !goes_on {
                return Ok(Next::Close);
            }
        }
        http::write_chunk(out, "")?;
        Ok(Next::Request)
    }

    /// A client that cannot have the stream may ask again without one; what goes wrong goes wrong again.
    fn send_whole(&self, shared: &Shared, out: &mut impl Write) -> io::Result<Next> {
        let Self { protocol, model, step, .. } = self;
        match &step.ending {
            Ending::Complete => {}
            Ending::Cut => return Ok(Next::Close),
            Ending::Hang(ms) => _ = shared.sleep(Duration::from_millis(*ms)),
            Ending::Fail(code) => {
                let message = "the script says so".to_owned();
                let error =
                    HttpError { status: 500, kind: Some(code.clone()), code: Some(code.clone()), message };
                http::write_json(out, error.status, &step.headers, &protocol.error(&error))?;
                return Ok(Next::Request);
            }
        }
        http::write_json(out, 200, &step.headers, &protocol.whole(step, model))?;
        Ok(Next::Request)
    }

    /// Does what the script says about the middle of the stream; returns whether it goes on.
    fn interrupt(&self, shared: &Shared, out: &mut impl Write) -> io::Result<bool> {
        match self.step.ending {
            Ending::Complete | Ending::Fail(_) => Ok(true),
            Ending::Cut => Ok(false),
            Ending::Hang(ms) => {
                let end = Instant::now() + Duration::from_millis(ms);
                while Instant::now() < end {
                    if !shared.sleep(Duration::from_millis(200)) {
                        return Ok(false);
                    }
                    http::write_chunk(out, ": ping\n\n")?;
                }
                Ok(true)
            }
        }
    }
}

fn write_event(out: &mut impl Write, name: Option<&str>, data: &Value) -> io::Result<()> {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    http::write_chunk(out, &format!("{name}data: {data}\n\n"))
}
