//! Spoiled recordings of real agents, journals and settings, by the thousand: nothing panics, and memory stays
//! bounded.
//!
//! A program of its own, because it counts what it allocates.

mod memory;
mod spoil;

use std::{fs, path::Path};

use proptest::prelude::*;
use ralph::fuzz::{self, AGENTS};

use spoil::{Spoil, spoils};

/// The page has an event of each kind in it, as a test there wants it.
const RECORD: &str = include_str!("../../docs/record.md");
const SETTINGS: &str = include_str!("settings.json");
const PLAN: &str = "# Plan\n\n- [x] Read **numbers** (specs/numbers.md)\n  - [ ] `nested`\n```sh\n- [ ] code\n```\n\
                    ## Tests\n\n```\nmake test\n```\nTEST_COMMAND=\"make\"\n${MODE} {{ITERATION}} $RALPH_MODE ${\n";

const TASKS: &str = r#"{
  "project": "p", "branchName": "main", "description": "d", "verifyCommands": ["make test"],
  "userStories": [
    {"id": "US-1", "title": "One", "description": "", "acceptanceCriteria": ["it works"], "priority": 1, "passes": true,
     "reviewStatus": "approved", "reviewCount": 2, "reviewFeedback": "", "notes": "noted", "dependsOn": []},
    {"id": "US-2", "title": "Two", "description": "", "acceptanceCriteria": ["it works"], "priority": 2, "passes": false,
     "reviewStatus": "needs_review", "reviewCount": 1, "reviewFeedback": "", "notes": "", "dependsOn": ["US-1"], "kind": "human"},
    {"id": "US-3", "title": "Three", "description": "", "acceptanceCriteria": ["it works"], "priority": 2, "passes": false,
     "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": ["US-2"]}
  ]
}"#;
const CHECK_LIST: &str = include_str!("../../crates/core/fixtures/imports/check-list/TODO.md");
const IMPORTS: [&str; 5] = [
    include_str!("../../crates/core/fixtures/imports/spec-kit/tasks.md"),
    include_str!("../../crates/core/fixtures/imports/openspec/tasks.md"),
    include_str!("../../crates/core/fixtures/imports/snarktank/prd.json"),
    include_str!("../../crates/core/fixtures/imports/ralph-tui/prd.json"),
    CHECK_LIST,
];
const BUS: &str = "## 20261116-000335-721-4f2a91c0d3e1 INFO\n- at: 2026-11-16T00:03:35.721Z\n- task: greeter\n\
                   - run: 20261116-000335-42bf\n- key: once\n\nWhat there is\n\nto say.\n\
                   <!-- end 20261116-000335-721-4f2a91c0d3e1 -->\n\n\
                   ## 20261116-000336-000-000000000001 FACT\n- at: 2026-11-16T00:03:36.000Z\n\nMore.\n\
                   <!-- end 20261116-000336-000-000000000001 -->\n\n";

const TRANSCRIPT: &str = r#"{"type":"user","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"user","content":"Fix it."}}
{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T10:00:01.000Z","content":"/cancel-ralph"}
{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T10:00:01.500Z","content":"More."}
{"type":"queue-operation","operation":"popAll","timestamp":"2026-01-01T10:00:01.600Z","content":"More."}
{"type":"queue-operation","operation":"dequeue","timestamp":"2026-01-01T09:00:00.000Z"}
{"timestamp":"2026-01-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Codex."}]}}
{"type":"assistant","timestamp":"2026-01-01T10:00:03.000Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"It is "}]}}
{"type":"assistant","timestamp":"2026-01-01T10:00:04.000Z","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"done."}],"usage":{"input_tokens":3}}}
"#;

const REQUEST: &str = "POST /api/act?id=20261116-000335-42bf&after=12.3.3400 HTTP/1.1\r\nHost: 127.0.0.1:7337\r\n\
                       Origin: http://127.0.0.1:7337\r\nSec-Fetch-Site: same-origin\r\nCookie: a=b; ralph=0123\r\n\
                       X-Ralph-Key: 4567\r\nContent-Length: 2\r\n\r\n{}";

/// What may be allocated for an input, beside a few times its size: tables, the screen, the first line.
const ROOM: usize = 1 << 20;
/// How many times its size: a line that is read as JSON, shown and kept.
const TIMES: usize = 60;

/// Command lines, each with what the guard should make of it.
const COMMANDS: &str = include_str!("../../crates/guard/fixtures/corpus.tsv");

/// All recorded streams.
fn recordings() -> Vec<Vec<u8>> {
    let mut streams: Vec<Vec<u8>> =
        AGENTS.iter().flat_map(|agent| files(&format!("crates/agents/fixtures/{agent}"))).collect();
    streams.extend(files("fuzz/recordings/stream"));
    assert!(150 < streams.len(), "the recordings were not found");
    streams
}

/// What the hooks of agents are given, and command lines.
fn tool_calls() -> Vec<Vec<u8>> {
    let mut calls = files("fuzz/recordings/guard");
    assert!(20 < calls.len(), "the recordings were not found");
    calls.extend(COMMANDS.lines().filter_map(|line| Some(line.rsplit_once('\t')?.1.as_bytes().to_vec())));
    calls
}

/// The contents of all files of a folder, in the order of their names.
fn files(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a recording")).collect()
}

/// The lines of all recordings.
fn lines() -> Vec<Vec<u8>> {
    let streams = recordings();
    streams.iter().flat_map(|stream| stream.split(|byte| *byte == b'\n')).map(<[u8]>::to_vec).collect()
}

/// Bytes that can be read when a test fails.
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

/// Some lines in a row, spoiled.
fn spoiled(lines: Vec<Vec<u8>>) -> impl Strategy<Value = Bytes> {
    let count = lines.len();
    (0..count, 1..6_usize, prop::collection::vec(spoils(), 1..6)).prop_map(
        move |(from, length, spoils): (_, _, Vec<Spoil>)| {
            let chosen = &lines[from..count.min(from + length)];
            let other = &lines[(from * 7 + 3) % count];
            Bytes(spoils.iter().fold(chosen.join(&b'\n'), |bytes, spoil| spoil.on(bytes, other)))
        },
    )
}

/// Calls it and checks what it needed.
#[track_caller]
fn check(what: fn(&[u8]), bytes: &[u8]) {
    let peak = memory::peak(|| what(bytes));
    let most = ROOM + TIMES * bytes.len();
    assert!(peak <= most, "{peak} bytes for {}, at most {most}", bytes.len());
}

fn target(name: &str) -> fn(&[u8]) {
    fuzz::TARGETS.iter().find(|(known, _)| *known == name).expect("a target").1
}

/// A journal with an event of each kind.
fn journal() -> String {
    RECORD.lines().filter(|line| line.starts_with("{\"at\"")).flat_map(|line| [line, "\n"]).collect()
}

fn lines_of(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

/// A thousand cases each, or as many as `PROPTEST_CASES` says.
fn effort() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 1000 };
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2000, ..default }
}

proptest! {
    #![proptest_config(effort())]

    #[test]
    fn streams_may_be_spoiled(bytes in spoiled(lines())) {
        check(target("stream"), &bytes.0);
    }

    #[test]
    fn journals_may_be_spoiled(
        bytes in spoiled(lines_of(&journal())),
        keeps_the_start in any::<bool>(),
        twice in any::<bool>(),
    ) {
        let journal = journal();
        let start = if keeps_the_start { journal.lines().next().unwrap_or_default() } else { "" };
        let rest = if twice { journal.as_str() } else { "" };
        check(target("journal"), &[start.as_bytes(), b"\n", rest.as_bytes(), &bytes.0, b"\n"].concat());
    }

    #[test]
    fn settings_may_be_spoiled(spoils in prop::collection::vec(spoils(), 1..6)) {
        let bytes = spoils.iter().fold(SETTINGS.as_bytes().to_vec(), |bytes, spoil| spoil.on(bytes, b"{\"agent\":[]}"));
        check(target("settings"), &bytes);
    }

    #[test]
    fn task_lists_may_be_spoiled(spoils in prop::collection::vec(spoils(), 1..6)) {
        let bytes = spoils.iter().fold(TASKS.as_bytes().to_vec(), |bytes, spoil| spoil.on(bytes, BUS.as_bytes()));
        check(target("tasks"), &bytes);
    }

    #[test]
    fn lists_of_others_may_be_spoiled(which in 0..IMPORTS.len(), spoils in prop::collection::vec(spoils(), 1..4)) {
        let whole = IMPORTS[which].as_bytes().to_vec();
        let bytes = spoils.iter().fold(whole, |bytes, spoil| spoil.on(bytes, CHECK_LIST.as_bytes()));
        check(target("imports"), &bytes);
    }

    #[test]
    fn buses_may_be_spoiled(bytes in spoiled(lines_of(&BUS.repeat(3)))) {
        check(target("bus"), &[BUS.as_bytes(), &bytes.0, BUS.as_bytes()].concat());
    }

    #[test]
    fn transcripts_may_be_spoiled(bytes in spoiled(lines_of(&TRANSCRIPT.repeat(2)))) {
        check(target("transcript"), &[TRANSCRIPT.as_bytes(), &bytes.0].concat());
    }

    #[test]
    fn requests_may_be_spoiled(spoils in prop::collection::vec(spoils(), 1..6)) {
        let bytes = spoils.iter().fold(REQUEST.as_bytes().to_vec(), |bytes, spoil| spoil.on(bytes, b"Host: [::1]\r\n"));
        check(target("request"), &bytes);
    }

    #[test]
    fn tool_calls_may_be_spoiled(bytes in spoiled(tool_calls())) {
        check(target("guard"), &bytes.0);
    }

    #[test]
    fn documents_may_be_spoiled(bytes in spoiled(lines_of(PLAN))) {
        check(target("text"), &bytes.0);
    }

    #[test]
    fn anything_may_come(bytes in prop::collection::vec(any::<u8>(), 0..600), which in 0..fuzz::TARGETS.len()) {
        check(fuzz::TARGETS[which].1, &bytes);
    }
}

#[test]
fn what_is_whole_is_understood() {
    // Otherwise the tests above would spoil what no one reads anyway.
    for stream in recordings() {
        target("stream")(&stream);
    }
    let journal = journal();
    for kind in ["run_started", "turn_ended", "gate_ended", "commit_ended", "wait_started", "run_ended"] {
        assert!(journal.contains(&format!("\"event\":\"{kind}\"")), "{kind}");
    }
    target("journal")(journal.as_bytes());
    target("settings")(SETTINGS.as_bytes());
    target("tasks")(TASKS.as_bytes());
    for list in IMPORTS {
        target("imports")(list.as_bytes());
    }
    target("bus")(BUS.as_bytes());
    target("transcript")(TRANSCRIPT.as_bytes());
    let early = jiff::Timestamp::UNIX_EPOCH;
    assert_eq!(ralph_agents::transcript::last_message(TRANSCRIPT.as_bytes(), early).0, "It is done.");
    let late = "2026-01-01T10:00:00Z".parse().expect("a moment");
    assert_eq!(ralph_agents::transcript::queue::waiting(TRANSCRIPT.as_bytes(), late).0, ["/cancel-ralph"]);
    for call in tool_calls() {
        target("guard")(&call);
    }
    assert_eq!(ralph_core::message::parse(BUS.as_bytes()).messages.len(), 2);
    assert_eq!(ralph_core::stories::read(TASKS).problems, []);
}

/// However long an agent talks, what is kept of it does not grow.
#[test]
fn memory_does_not_depend_on_the_length_of_a_stream() {
    const LENGTH: usize = 8 << 20;
    let lines = lines();
    for agent in AGENTS {
        let peak = memory::peak(|| {
            let mut parser = ralph_agents::adapter(agent).parser();
            let (mut length, mut number) = (0, 0_usize);
            while length < LENGTH {
                // Names of tools, messages and subagents that never come again.
                let line = String::from_utf8_lossy(&lines[number % lines.len()])
                    .replace("\"id\":\"", &format!("\"id\":\"{number}"));
                parser.push(line.as_bytes(), &mut drop);
                parser.push(b"\n", &mut drop);
                length += line.len() + 1;
                number += 1;
            }
            parser.finish(&mut drop);
        });
        assert!(peak < LENGTH / 4, "{agent}: {peak} bytes");
    }
}

/// A line without an end is dropped when it is too long to be one.
#[test]
fn memory_does_not_depend_on_the_length_of_a_line() {
    let block = vec![b'x'; 1 << 20];
    for agent in AGENTS {
        let peak = memory::peak(|| {
            let mut parser = ralph_agents::adapter(agent).parser();
            parser.push(b"{\"type\":\"", &mut drop);
            for _ in 0..80 {
                parser.push(&block, &mut drop);
            }
            parser.finish(&mut drop);
        });
        assert!(peak <= 2 * (32 << 20) + ROOM, "{agent}: {peak} bytes");
    }
}
