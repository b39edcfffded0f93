//! How long the stop hook takes in a stories loop.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    process::Child,
};

use anyhow::{Context, Result, ensure};
use fs_err::File;
use serde_json::{Value, json};

use super::{
    Effort,
    clock::{self, Sample, interleave},
    hook::long_transcript,
    place::Place,
    stop::until,
    table::Table,
};

const STORIES: usize = 50;

/// Measures the hook of an agent that tries to stop with everything in order, so that every check is made.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    place.renew()?;
    let turn = Turn::begin(place)?;
    let ([noop, status, stop], note) = interleave(
        effort.rounds(100),
        [
            ("no-op", Box::new(|| clock::run(&mut place.command(&place.noop)?, 0))),
            ("git status", Box::new(|| clock::run(git(place)?.args(["status", "--porcelain"]), 0))),
            ("stop", Box::new(|| turn.stop())),
        ],
    )?;
    let said = fs_err::read_to_string(place.current("stdout"))?;
    ensure!(said.is_empty(), "the hook held the agent: {said}");
    let floor = 2.0 * noop.seconds + status.seconds;
    table.ratio("hook stop, 50 stories, against the same", floor, stop.seconds, 1.0);
    table.note(format!("stop in a stories loop, {note}"));
    Ok(())
}

/// A turn of a stories loop that goes on until it is dropped.
struct Turn<'a> {
    place: &'a Place,
    ralph: Child,
    spool: PathBuf,
    input: PathBuf,
}

impl<'a> Turn<'a> {
    fn begin(place: &'a Place) -> Result<Self> {
        furnish(place)?;
        let (ready, agent) = (place.current("ready"), place.current("agent"));
        fs_err::write(&agent, format!("#!/bin/sh\n: >'{}'\nexec sleep 1000\n", ready.display()))?;
        clock::run(place.command(Path::new("chmod"))?.arg("+x").arg(&agent), 0)?;
        let ralph = place.ralph()?.args(["stories", "--no-sandbox", "--agent"]).arg(&agent).spawn()?;
        let mut turn = Self { place, ralph, spool: PathBuf::new(), input: place.current("Stop.json") };
        until("the agent to start", || ready.exists())?;
        let journal = journal(&place.current("state")).context("the run has a journal")?;
        turn.spool = journal.with_file_name("turns").join("0001.1/spool");
        fs_err::create_dir_all(&turn.spool)?;
        let input = json!({
            "session_id": "bench",
            "transcript_path": long_transcript(place)?,
            "cwd": place.current("project"),
            "hook_event_name": "Stop",
            "last_assistant_message": "Done for now.",
        });
        fs_err::write(&turn.input, input.to_string())?;
        Ok(turn)
    }

    fn stop(&self) -> Result<Sample> {
        let mut ralph = self.place.ralph()?;
        ralph.env("RALPH_SPOOL", &self.spool).args(["hook", "stop"]);
        clock::run(ralph.stdin(File::open(&self.input)?.into_file()), 0)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Its guardian ends the agent.
        let _ = self.ralph.kill();
        let _ = self.ralph.wait();
    }
}

/// A repository with a task list in which everything is committed.
fn furnish(place: &Place) -> Result<()> {
    let stories: Vec<Value> = (1..=STORIES)
        .map(|number| {
            json!({
                "id": format!("US-{number}"), "title": format!("Story {number}"), "description": "x".repeat(500),
                "acceptanceCriteria": ["it is there", "it is tested"], "priority": number, "passes": false,
                "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "", "dependsOn": [],
            })
        })
        .collect();
    let list = json!({"project": "bench", "branchName": "main", "description": "", "userStories": stories});
    let folder = place.current("project/ralph");
    fs_err::create_dir(&folder)?;
    let mut text = String::new();
    writeln!(text, "{list:#}")?;
    fs_err::write(folder.join("tasks.json"), text)?;
    fs_err::write(folder.join("prd.md"), "# Bench\n")?;
    fs_err::write(folder.join("prompt.md"), "Do {{STORY_ID}}.\n")?;
    clock::run(git(place)?.args(["init", "--quiet"]), 0)?;
    clock::run(git(place)?.args(["add", "-A"]), 0)?;
    clock::run(git(place)?.args(["commit", "--quiet", "-m", "Plan"]), 0)?;
    Ok(())
}

fn git(place: &Place) -> Result<std::process::Command> {
    let mut git = place.command(Path::new("git"))?;
    for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
        git.env(name, "Bench");
    }
    for name in ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
        git.env(name, "bench@localhost");
    }
    Ok(git)
}

/// The only journal below a folder.
fn journal(folder: &Path) -> Option<PathBuf> {
    let entries = fs_err::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.into_iter().find_map(|path| {
        if path.is_dir() { journal(&path) } else { path.ends_with("journal.jsonl").then_some(path) }
    })
}
