//! What the page can have done: the commands that a person would type, with arguments that are made here.

use std::{ffi::OsString, path::PathBuf, sync::PoisonError, time::Instant};

use ralph_core::engine::{Run, outcome::Outcome};
use serde::Deserialize;
use serde_json::json;

use super::{
    Server,
    answer::WebAnswer,
    codes::Typed,
    connection::find,
    desk::{Job, said},
    secrets::chance,
};
use crate::journal::{self, run_dir::RunDir};

/// The most that a person says at once.
const MAX_TEXT_CHARS: usize = 4000;

/// What the page asks for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    run: String,
    act: Act,
    #[serde(default)]
    text: String,
    #[serde(default)]
    code: Option<String>,
}

/// What can be done with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Stop,
    StopNow,
    Pause,
    Resume,
    Say,
    Accept,
    Reject,
}

/// Does it.
pub(super) fn answer(server: &Server, body: &[u8]) -> WebAnswer {
    let Ok(asked) = serde_json::from_slice::<Asked>(body) else { return WebAnswer::of_status(400) };
    let text = asked.text.trim();
    if MAX_TEXT_CHARS < text.chars().count() || text.contains('\0') {
        return WebAnswer::of_status(400);
    }
    let needs_text = matches!(asked.act, Act::Say | Act::Reject);
    if needs_text && text.is_empty() {
        return said(400, "there are no words");
    }
    let Some(dir) = find(&asked.run) else { return WebAnswer::of_status(404) };
    let run = match journal::fold_brief(&dir.journal(), &mut |_| {}) {
        Ok(folded) => folded.run,
        Err(error) => return said(409, &error.to_string()),
    };
    if asked.act == Act::Accept
        && let Some(answer) = unproven(server, &dir, &run, asked.code.as_deref())
    {
        return answer;
    }
    let (id, place) = (dir.id(), folder(&run));
    (server.tell)(&format!("from the page: {} {id}\n", asked.act.command()));
    let args = arguments(asked.act, &id, text, &run);
    // A run that is paused has its process, and is only told.
    let is_paused = asked.act == Act::Resume && run.state.is_pausing() && journal::process(&dir).is_some();
    match asked.act {
        Act::Resume | Act::Reject if !is_paused => {
            server.ask(|reply| Job::Run { run: dir, args, dir: place, reply })
        }
        Act::Stop | Act::StopNow | Act::Pause | Act::Say | Act::Accept | Act::Resume | Act::Reject => {
            server.ask(|reply| Job::Command { args, dir: place, reply })
        }
    }
}

/// Why work is not accepted: without the code of the terminal no one has shown to sit there.
fn unproven(server: &Server, dir: &RunDir, run: &Run, code: Option<&str>) -> Option<WebAnswer> {
    let id = dir.id();
    if !run.state.is_done_with_findings() {
        return Some(said(409, &format!("run {id} has no findings to decide about")));
    }
    let mut codes = server.codes.lock().unwrap_or_else(PoisonError::into_inner);
    match code.map(|code| codes.type_in(&id, code, Instant::now())) {
        Some(Typed::Right) => None,
        Some(Typed::Wrong) => Some(said(403, "that is not the code that the terminal shows")),
        Some(Typed::Void) => Some(said(403, "that code is no longer valid; ask for a new one")),
        None => {
            let Ok(chance) = chance().map(u64::from_le_bytes) else { return Some(WebAnswer::of_status(503)) };
            let Some(shown) = codes.show(&id, chance, Instant::now()) else {
                return Some(said(429, "a code was shown just now; wait a few seconds"));
            };
            (server.tell)(&format!("to accept run {id}, type this code into the page: {shown}\n"));
            Some(WebAnswer::json(200, &json!({"code": "wanted"})))
        }
    }
}

/// Where the command is typed; a project that is gone is no reason not to stop its run.
fn folder(run: &Run) -> PathBuf {
    let project = &run.started.setup.project;
    if project.is_dir() { project.clone() } else { PathBuf::from("/") }
}

/// What would be typed. What a person wrote stands behind the flags, so that it is no flag.
fn arguments(act: Act, id: &str, text: &str, run: &Run) -> Vec<OsString> {
    let mut words: Vec<String> = act.command().split(' ').map(str::to_owned).collect();
    match (act, run.state.outcome()) {
        // At a limit, a plain resume would end at once.
        (Act::Resume, Some(Outcome::Exhausted { limit })) => {
            let raised = limit.raised(&run.plan, run.state.spent());
            words.extend(raised.split_whitespace().map(str::to_owned));
        }
        (Act::Accept, _) if !text.is_empty() => words.push(format!("--message={text}")),
        (_, _) => {}
    }
    words.extend(["--".to_owned(), id.to_owned()]);
    if matches!(act, Act::Say | Act::Reject) {
        words.push(text.to_owned());
    }
    words.into_iter().map(OsString::from).collect()
}

impl Act {
    fn command(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::StopNow => "stop --now",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Say => "say",
            Self::Accept => "accept",
            Self::Reject => "reject",
        }
    }
}
