//! The stream of events: what is sent while a run works, and what after a break.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{Session, connect, request, serve};
use crate::env::{Env, done, meet, say};

/// An open stream of events.
struct Events {
    reader: BufReader<TcpStream>,
    /// The last position that was named.
    last: String,
}

impl Events {
    fn open(session: &Session, query: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = connect(session.port);
        let headers = [&[("Cookie", session.cookie.as_str())], headers].concat();
        let text = request("GET", &format!("/api/events?{query}"), session.port, &headers, "");
        stream.write_all(text.as_bytes()).expect("a request");
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).expect("a head");
        }
        Self { reader, last: String::new() }
    }

    /// The next event: its kind and what it says.
    #[track_caller]
    fn next(&mut self) -> (String, Value) {
        let (mut kind, mut data) = (String::new(), Value::Null);
        loop {
            let mut line = String::new();
            let length = self.reader.read_line(&mut line).expect("an event");
            assert!(0 < length, "the stream ended");
            match line.trim_end().split_once(": ") {
                Some(("event", name)) => name.clone_into(&mut kind),
                Some(("id", id)) => id.clone_into(&mut self.last),
                Some(("data", text)) => data = serde_json::from_str(text).expect("JSON"),
                _ if !kind.is_empty() => return (kind, data),
                _ => {}
            }
        }
    }

    /// The lines until one has these words in it, each with its key.
    #[track_caller]
    fn lines_until(&mut self, words: &str) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        loop {
            if let ("lines", data) = self.next().tuple() {
                for line in data.as_array().expect("lines") {
                    let part = |name: &str| line[name].as_str().expect("text").to_owned();
                    lines.push((part("key"), part("text")));
                }
                if lines.iter().any(|(_, text)| text.contains(words)) {
                    return lines;
                }
            }
        }
    }

    /// The first event of this kind that fits.
    #[track_caller]
    fn find(&mut self, kind: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (found, data) = self.next();
            if found == kind && fits(&data) {
                return data;
            }
        }
    }
}

trait Tuple {
    fn tuple(&self) -> (&str, &Value);
}

impl Tuple for (String, Value) {
    fn tuple(&self) -> (&str, &Value) {
        (&self.0, &self.1)
    }
}

#[test]
fn a_run_is_followed_from_its_start_and_from_any_position() {
    let [met, wait] = meet("one");
    let [met_two, wait_two] = meet("two");
    let env = Env::new().guardrails(&["test -e right"]).turns(json!([
        [say("alpha"), met, wait, say("beta"), done()],
        [say("gamma"), met_two, wait_two, say("delta"), {"write": {"path": "right", "text": "x"}}, done()],
    ]));
    let run = env.start(&["run", "-p", "Follow me."]);
    env.await_file("one");
    let session = serve(&env, &[]).session();
    let id = env.run_id();
    let query = format!("id={id}");
    let mut events = Events::open(&session, &query, &[]);
    let list = events.find("runs", |list| list["runs"][0]["id"] == json!(id));
    assert_eq!(list["runs"][0]["standing"], "running");
    assert_eq!(events.find("begin", |_| true)["reset"], json!(true));
    let first = events.lines_until("alpha");
    let position = events.last.clone();
    assert!(position.contains('.'), "inside a turn: {position}");
    fs::write(env.path("one.go"), "").expect("a file");
    let rest = events.lines_until("gamma");
    env.await_file("two");
    drop(events);

    // As a browser comes back, and as the page does.
    for (query, headers) in [
        (query.clone(), vec![("Last-Event-ID", position.as_str())]),
        (format!("{query}&after={position}"), vec![]),
    ] {
        let mut again = Events::open(&session, &query, &headers);
        assert_eq!(again.find("begin", |_| true)["reset"], json!(false));
        assert_eq!(again.lines_until("gamma"), rest, "from {position}");
    }
    let both = [first, rest].concat();
    let mut keys: Vec<&String> = both.iter().map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), both.len(), "{both:?}");
    fs::write(env.path("two.go"), "").expect("a file");
    run.wait().exits(0);
    let mut end = Events::open(&session, &query, &[]);
    let model = end.find("model", |run| run["standing"] == "complete");
    assert_eq!(model["sequence"], json!(env.journal().len()));
    assert_eq!(end.last.split('.').next().and_then(|line| line.parse().ok()), model["sequence"].as_u64());
    assert_eq!(model["turns"].as_array().map(Vec::len), Some(2));
    assert_eq!(model["gates"][0]["name"], "test -e right");
    let lines = session.get(&format!("/api/turn?id={id}&turn=1.1")).is(200).json();
    assert!(lines["lines"].to_string().contains("beta"), "{lines}");
    session.get(&format!("/api/turn?id={id}&turn=7.1")).is(404);
}

#[test]
fn a_position_of_another_record_begins_anew() {
    let env = Env::new().turns(json!([[say("alpha"), done()]]));
    env.run(&[]).exits(0);
    let session = serve(&env, &[]).session();
    for after in ["9999", "9999.4", "junk", "-1"] {
        let mut events = Events::open(&session, &format!("id={}&after={after}", env.run_id()), &[]);
        assert_eq!(events.find("begin", |_| true)["reset"], json!(true), "{after}");
        events.lines_until("alpha");
    }
    // A run that is not there: the list alone.
    let mut events = Events::open(&session, "id=nothing", &[]);
    events.find("runs", |_| true);
}

#[test]
fn the_difference_shows_what_the_run_changed() {
    let env = Env::new().with_git().commits().script(json!({
        "turns": [[{"write": {"path": "new.txt", "text": "\tindented\n"}}, done()]], "text": [[say("Add it")]],
    }));
    env.write("mine.txt", "There before.\n");
    env.run(&[]).exits(0);
    let session = serve(&env, &[]).session();
    let diff = session.get(&format!("/api/diff?id={}", env.run_id())).is(200).json();
    assert_eq!(diff["files"][0], json!({"path": "new.txt", "added": 1, "removed": 0}));
    let lines = diff["lines"].as_array().expect("lines");
    assert!(lines.contains(&json!("+    indented")), "{diff}");
}
