//! How long the hooks take that agents wait for.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;
use fs_err::File;
use serde_json::{Value, json};

use super::{
    Effort,
    clock::{self, Sample, interleave},
    place::Place,
    table::Table,
};

/// As long as the transcript of a long night.
const TRANSCRIPT: usize = 20 * 1024 * 1024;
const STORIES: usize = 50;

/// Measures the hooks of a conversation that is in a loop.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    place.renew()?;
    let case = Case::new(place)?;
    let before = case.input("PreToolUse", &json!({"tool_input": {"command": "cargo test --all"}}))?;
    let after = case
        .input("PostToolUse", &json!({"tool_input": {}, "tool_response": {"stdout": "x".repeat(20_000)}}))?;
    let ([noop, pre, post], note) = interleave(
        effort.rounds(400),
        [
            ("no-op", Box::new(|| clock::run(&mut place.command(&place.noop)?, 0))),
            ("pre-tool-use", Box::new(|| case.hook("pre-tool-use", &before))),
            ("post-tool-use", Box::new(|| case.hook("post-tool-use", &after))),
        ],
    )?;
    table.ratio("hook pre-tool-use, against a static no-op", noop.seconds, pre.seconds, 2.5);
    table.ratio("hook post-tool-use, 20 MB transcript", noop.seconds, post.seconds, 2.5);
    table.note(format!("hooks, {note}"));
    let stop = case.input("Stop", &json!({"last_assistant_message": "Not yet."}))?;
    let ([noop, status, stop], note) = interleave(
        effort.rounds(100),
        [
            ("no-op", Box::new(|| clock::run(&mut place.command(&place.noop)?, 0))),
            ("git status", Box::new(|| clock::run(case.git()?.args(["status", "--porcelain"]), 0))),
            ("stop", Box::new(|| case.hook("stop", &stop))),
        ],
    )?;
    let floor = 2.0 * noop.seconds + status.seconds;
    table.ratio("hook stop, against 2 no-ops and a git status", floor, stop.seconds, 1.0);
    table.note(format!("stop, {note}"));
    Ok(())
}

/// A conversation in a loop, in a project with stories and a repository.
struct Case<'a> {
    place: &'a Place,
    transcript: PathBuf,
}

impl<'a> Case<'a> {
    fn new(place: &'a Place) -> Result<Self> {
        let project = place.current("project");
        let stories: Vec<Value> = (0..STORIES).map(|number| json!({"id": format!("US-{number}")})).collect();
        fs_err::create_dir(project.join("ralph"))?;
        fs_err::write(project.join("ralph/tasks.json"), json!({"userStories": stories}).to_string())?;
        let case = Self { place, transcript: long_transcript(place)? };
        clock::run(case.git()?.args(["init", "--quiet"]), 0)?;
        let turns = u32::MAX.to_string();
        clock::run(
            place.ralph()?.args(["session", "start", "--session-id", "bench", "-m", &turns, "Work."]),
            0,
        )?;
        Ok(case)
    }

    /// What the agent tells a hook.
    fn input(&self, event: &str, more: &Value) -> Result<PathBuf> {
        let mut input = json!({
            "session_id": "bench",
            "transcript_path": self.transcript,
            "cwd": self.place.current("project"),
            "hook_event_name": event,
            "tool_name": "Bash",
        });
        if let (Some(input), Some(more)) = (input.as_object_mut(), more.as_object()) {
            input.extend(more.clone());
        }
        let path = self.place.current(&format!("{event}.json"));
        fs_err::write(&path, input.to_string())?;
        Ok(path)
    }

    fn hook(&self, event: &str, input: &Path) -> Result<Sample> {
        let mut ralph = self.place.ralph()?;
        clock::run(ralph.args(["hook", event]).stdin(File::open(input)?.into_file()), 0)
    }

    fn git(&self) -> Result<Command> {
        self.place.command(Path::new("git"))
    }
}

/// A transcript of 20 MB.
pub(super) fn long_transcript(place: &Place) -> Result<PathBuf> {
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 40_000, "output_tokens": 100});
    let line = json!({
        "type": "assistant",
        "timestamp": "2020-01-01T00:00:00.000Z",
        "message": {
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "x".repeat(8_000)}],
            "usage": usage,
        },
    });
    let line = format!("{line}\n");
    let path = place.current("transcript.jsonl");
    fs_err::write(&path, line.repeat(TRANSCRIPT / line.len()))?;
    Ok(path)
}
