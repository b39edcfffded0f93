//! The server as a client on a plain socket meets it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use scripted_model::{Block, Ending, Script, Server, Step, Usage};
use serde_json::{Value, json};

const TOOLS: &str = r#"[{"name": "Bash"}]"#;

/// Sends raw bytes and returns everything that comes until the server closes or is quiet.
fn exchange(server: &Server, request: &str) -> String {
    let mut stream =
        TcpStream::connect(server.url().trim_start_matches("http://")).expect("the server is up");
    stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout can be set");
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = Vec::new();
    // The connection is kept, so the end of the answer is that nothing more comes.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).expect("answers are text")
}

fn post(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn ask(server: &Server, path: &str, tools: &str) -> String {
    exchange(server, &post(path, &format!(r#"{{"model": "m", "stream": true, "tools": {tools}}}"#)))
}

/// The JSON of every event in a chunked answer.
fn events(answer: &str) -> Vec<Value> {
    let data = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|json| serde_json::from_str(json).ok()).collect()
}

fn start(steps: impl IntoIterator<Item = Step>) -> Server {
    Server::start(Script::new(steps)).expect("a free port")
}

#[test]
fn anthropic_streams_text_and_tools_with_their_usage() {
    let usage = Usage { input: 7, output: 11, cache_read: 13, cache_write: 17 };
    let step = Step::text("Hello <promise>DONE</promise>")
        .and(Block::tool("Bash", json!({"command": "ls"})))
        .using(usage);
    let events = events(&ask(&start([step]), "/v1/messages?beta=true", TOOLS));
    let joined =
        |key: &str| -> String { events.iter().filter_map(|event| event["delta"][key].as_str()).collect() };
    assert_eq!(joined("text"), "Hello <promise>DONE</promise>");
    assert_eq!(joined("partial_json"), r#"{"command":"ls"}"#);
    assert_eq!(events[0]["message"]["usage"]["input_tokens"], 7);
    assert_eq!(events[0]["message"]["usage"]["cache_read_input_tokens"], 13);
    let delta = &events[events.len() - 2];
    assert_eq!(delta["delta"]["stop_reason"], "tool_use");
    assert_eq!(delta["usage"]["output_tokens"], 11);
    assert!(events.iter().all(|event| event["delta"]["text"].as_str() != Some("<promise>DONE</promise>")));
}

#[test]
fn responses_stream_calls_custom_calls_and_reasoning() {
    let step = Step::default()
        .and(Block::Thinking { thinking: "hm".to_owned() })
        .and(Block::tool("exec_command", json!({"cmd": "ls"})))
        .and(Block::tool("apply_patch", json!("*** Begin Patch")))
        .and(Block::text("fine"));
    let events = events(&ask(&start([step]), "/v1/responses", "[]"));
    let items: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .collect();
    assert_eq!(items.len(), 4);
    assert_eq!(items[1]["arguments"], r#"{"cmd":"ls"}"#);
    assert_eq!(items[2]["type"], "custom_tool_call");
    assert_eq!(events.last().expect("events")["type"], "response.completed");
}

#[test]
fn chat_ends_with_usage_and_done() {
    let answer = ask(&start([Step::tool("bash", json!({"command": "ls"}))]), "/v1/chat/completions", TOOLS);
    let events = events(&answer);
    assert_eq!(events.last().expect("events")["usage"]["prompt_tokens"], 100);
    assert!(events.iter().any(|event| event["choices"][0]["finish_reason"] == "tool_calls"));
    assert!(answer.contains("data: [DONE]"));
}

#[test]
fn gemini_streams_parts() {
    let tools = r#"[{"functionDeclarations": [{"name": "write_file"}]}]"#;
    let step = Step::text("ok").and(Block::tool("write_file", json!({"file_path": "a"})));
    let events = events(&ask(&start([step]), "/v1beta/models/g:streamGenerateContent?alt=sse", tools));
    assert_eq!(events[0]["candidates"][0]["content"]["parts"][0]["text"], "ok");
    assert_eq!(events[1]["candidates"][0]["content"]["parts"][0]["functionCall"]["name"], "write_file");
    assert_eq!(events[2]["candidates"][0]["finishReason"], "STOP");
}

#[test]
fn whole_answers_have_the_same_words() {
    for (path, pointer) in [
        ("/v1/messages", "/content/0/text"),
        ("/v1/responses", "/output/0/content/0/text"),
        ("/v1/chat/completions", "/choices/0/message/content"),
        ("/v1beta/models/m:generateContent", "/candidates/0/content/parts/0/text"),
    ] {
        let server = Server::start(Script::always(Step::text("whole"))).expect("a free port");
        let answer = exchange(&server, &post(path, r#"{"tools": [{"name": "x"}]}"#));
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let body: Value = serde_json::from_str(body).expect("JSON");
        assert_eq!(body.pointer(pointer), Some(&json!("whole")), "{path}");
    }
}

#[test]
fn side_calls_eat_no_steps() {
    let server = start([Step::text("first"), Step::text("second")]);
    assert!(ask(&server, "/v1/messages", "[]").contains("Side"));
    assert!(ask(&server, "/v1/messages/count_tokens", "[]").contains("input_tokens"));
    assert!(ask(&server, "/v1/messages", TOOLS).contains("first"));
    assert!(ask(&server, "/v1/messages", TOOLS).contains("second"));
    assert!(ask(&server, "/v1/messages", TOOLS).contains("is over"));
    server.say(Step::text("new words"));
    assert!(ask(&server, "/v1/messages", TOOLS).contains("new words"));
    assert_eq!((server.requests().len(), server.calls().len()), (6, 4));
}

#[test]
fn a_step_can_wait_for_its_request() {
    let server = start([Step::text("for the other").when("another"), Step::text("for anyone")]);
    assert!(ask(&server, "/v1/messages", TOOLS).contains("for anyon"));
    assert!(ask(&server, "/v1/messages", r#"[{"name": "another"}]"#).contains("for the o"));
}

#[test]
fn errors_have_status_headers_and_the_body_of_their_protocol() {
    let error = Step::error(429, "slow down").header("retry-after", "1");
    let server = Server::start(Script::always(error)).expect("a free port");
    let anthropic = ask(&server, "/v1/messages", TOOLS);
    assert!(
        anthropic.starts_with("HTTP/1.1 429 ") && anthropic.contains("retry-after: 1\r\n"),
        "{anthropic}"
    );
    assert!(anthropic.contains(r#""type":"rate_limit_error""#), "{anthropic}");
    let gemini = exchange(&server, &post("/v1beta/models/m:streamGenerateContent", r#"{"tools": [{}]}"#));
    assert!(gemini.contains("RESOURCE_EXHAUSTED"), "{gemini}");
}

#[test]
fn streams_can_be_cut_held_and_failed() {
    let server = start([
        Step::text("a text that is cut").ending(Ending::Cut),
        Step::text("held").ending(Ending::Hang(250)),
        Step::text("never said").ending(Ending::Fail("overloaded_error".to_owned())),
    ]);
    let cut = ask(&server, "/v1/messages", TOOLS);
    assert!(cut.contains("content_block_delta") && !cut.contains("message_stop"), "{cut}");
    let held = ask(&server, "/v1/messages", TOOLS);
    assert!(held.contains(": ping") && held.contains("message_stop"), "{held}");
    let failed = ask(&server, "/v1/messages", TOOLS);
    assert!(failed.contains("event: error") && !failed.contains("never"), "{failed}");
}

#[test]
fn a_connection_is_kept_and_chunked_requests_are_read() {
    let server = start([Step::text("one"), Step::text("two")]);
    let chunked = "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                   c\r\n{\"tools\": [{\r\n3\r\n}]}\r\n0\r\n\r\n";
    let answer = exchange(
        &server,
        &format!("HEAD / HTTP/1.1\r\n\r\n{chunked}{}", post("/v1/messages", "{\"tools\": [{}]}")),
    );
    assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 3, "{answer}");
    assert!(answer.contains("one") && answer.contains("two"), "{answer}");
    assert_eq!(server.calls()[0].body["tools"], json!([{}]));
}

#[test]
fn requests_are_waited_for_and_a_hanging_server_can_be_dropped() {
    let server = start([Step::text("long").ending(Ending::Hang(60_000))]);
    assert!(!server.wait_for_requests(1, Duration::from_millis(10)));
    let began = Instant::now();
    let mut client =
        TcpStream::connect(server.url().trim_start_matches("http://")).expect("the server is up");
    client
        .write_all(post("/v1/messages", r#"{"tools": [{}], "stream": true}"#).as_bytes())
        .expect("it reads");
    assert!(server.wait_for_requests(1, Duration::from_secs(5)));
    drop(server);
    // The connection ends with the server.
    client.read_to_end(&mut Vec::new()).expect("an end");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn scripts_are_data() {
    let script: Script = serde_json::from_value(json!({
        "steps": [
            {"blocks": [{"thinking": "hm"}, {"text": "hi"}, {"tool": "Bash", "input": {"command": "ls"}}],
             "usage": {"input": 1, "cache_read": 2}},
            {"error": {"status": 529, "message": "Overloaded"}},
            {"ending": "cut"},
            {"ending": {"hang": 5}, "slow_ms": 3, "delay_ms": 4}
        ],
        "after": {"blocks": [{"text": "after"}]}
    }))
    .expect("a script");
    assert_eq!(script.steps[0].blocks.len(), 3);
    assert_eq!(script.steps[2].ending, Ending::Cut);
}
