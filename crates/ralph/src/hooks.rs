//! What the hooks of an agent call: reads what the agent tells, and answers.
//!
//! Invariant: damaged input, a damaged record or a missing file never traps a user's conversation: the hook logs it
//! and lets go. Only the guard fails closed. Called on every tool call, so it reads as little as it can.

pub(crate) mod begin;
mod context;
mod judge;
mod looping;
pub(crate) mod plugin;
pub(crate) mod store;
mod transcripts;

use std::{
    env,
    io::{self, Read},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ralph_agents::hooking::{answer::Answer, input::Input};
use ralph_guard::Decision;
use ralph_sys::{
    error::{Error, Result},
    files::{MAX_TEXT_LEN, Root},
    process::{guardian::RUN_VARIABLE, is_alive},
};

use crate::{
    driver::stories::{self, stop_preview::Feedback},
    journal::{
        hook_notes::{self, Note},
        run_dir::RunDir,
    },
    project::story_files::ACTIVE,
};
use store::Store;

/// What happened in the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HookEvent {
    /// The agent tries to stop
    Stop,
    /// A tool is about to run
    PreToolUse,
    /// A tool has run
    PostToolUse,
    /// A conversation starts or is resumed
    SessionStart,
    /// The user has typed something
    UserPromptSubmit,
    /// The agent stopped because the service failed
    StopFailure,
    /// A conversation ends
    SessionEnd,
}

/// Where a hook acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everywhere.
    Always,
    /// Only in a loop whose agent ralph did not give hooks itself.
    InLoopOnly,
}

/// How often an agent is held in one turn.
const MAX_HOLDS: usize = 5;

/// How long Claude Code and Codex wait for a hook that says nothing about it.
pub(crate) const HOST_TIMEOUT: Duration = Duration::from_mins(10);

/// As much of that time is kept to end a guardrail and to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// More than any agent tells a hook.
const MAX_INPUT_LEN: u64 = 256 * 1024 * 1024;

/// Answers one call, before the agent no longer waits for it.
pub(crate) fn answer(moment: HookEvent, scope: Scope, host_timeout: Duration) -> Answer {
    let deadline = Instant::now() + host_timeout.saturating_sub(ANSWER_TIMEOUT.min(host_timeout / 2));
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_INPUT_LEN).read_to_end(&mut bytes);
    let is_extra = scope == Scope::InLoopOnly && env::var_os(RUN_VARIABLE).is_some();
    if is_extra {
        return Answer::allow();
    }
    let answer = caught(|| {
        read?;
        respond(moment, scope, &Input::read(&bytes)?, deadline)
    });
    match answer {
        Ok(answer) => answer,
        Err(error) => {
            store::log(&format!("{moment:?}: {error}"));
            if moment == HookEvent::PreToolUse && scope == Scope::Always {
                return Answer::refuse(&format!(
                    "ralph's guard cannot judge this call, so it may not run: {error}"
                ));
            }
            Answer::allow()
        }
    }
}

/// Makes a panic an error: agents take a hook that crashes as one that has no objection.
fn caught(work: impl FnOnce() -> Result<Answer>) -> Result<Answer> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::new("ralph itself failed; its message is above")))
}

fn respond(moment: HookEvent, scope: Scope, input: &Input<'_>, deadline: Instant) -> Result<Answer> {
    match moment {
        HookEvent::PreToolUse => pre_tool_use(scope, input),
        HookEvent::PostToolUse => post_tool_use(scope, input),
        HookEvent::Stop => stop(input, deadline),
        HookEvent::SessionStart => looping::session_start(input),
        HookEvent::UserPromptSubmit => looping::user_prompt(input),
        HookEvent::StopFailure => looping::stop_failure(input, deadline),
        HookEvent::SessionEnd => looping::session_end(input),
    }
}

/// Judges a tool call before it runs.
fn pre_tool_use(scope: Scope, input: &Input<'_>) -> Result<Answer> {
    if scope == Scope::InLoopOnly && !is_in_loop(input)? {
        return Ok(Answer::allow());
    }
    let (verdict, judgement) = judge::judge(input)?;
    if let Some(folder) = notebook(input) {
        // A disk that is full must not stop the work; that the hook ran is in the agent's own stream as well.
        let _ = hook_notes::add(&folder, &Note::Judged(judgement));
    }
    let message = verdict.message().unwrap_or_default();
    Ok(match verdict.decision {
        Decision::Allow => Answer::allow(),
        Decision::Warn => Answer::allow().telling_user(&message),
        Decision::Block => Answer::deny(&message),
    })
}

/// Where the hooks of this agent write down what they did, if it is in a loop.
fn notebook(input: &Input<'_>) -> Option<PathBuf> {
    hook_notes::folder().or_else(|| {
        let store = Store::of(&input.session()?).ok()?;
        store.run().map(|_| store.path().to_owned())
    })
}

/// Counts a tool call, and says when the context window fills up.
fn post_tool_use(scope: Scope, input: &Input<'_>) -> Result<Answer> {
    let Some(session) = input.session() else { return Ok(Answer::allow()) };
    if let Some(folder) = hook_notes::folder() {
        return context::watch(input, &Store::in_spool(&folder, &session), Some(&folder));
    }
    let store = Store::of(&session)?;
    let is_looping = store.run().is_some();
    if is_looping && !starts_a_loop(input) {
        store.count_tool()?;
    }
    if scope == Scope::InLoopOnly && !is_looping && !is_marked_active(input) {
        return Ok(Answer::allow());
    }
    context::watch(input, &store, None)
}

/// The call that put the conversation into its loop is no work on the task.
fn starts_a_loop(input: &Input<'_>) -> bool {
    input.tool() == "Bash" && input.command().is_some_and(|command| command.contains("session start"))
}

/// The agent tries to stop: the checks of the loop it is in decide.
fn stop(input: &Input<'_>, deadline: Instant) -> Result<Answer> {
    if input.is_of_subagent() {
        return Ok(Answer::allow());
    }
    let Feedback { objection, warning } = early_feedback();
    let answer = match objection {
        Some(reason) => {
            if let Some(folder) = hook_notes::folder() {
                let _ = hook_notes::add(&folder, &Note::Held(reason.clone()));
            }
            Answer::block_stop(&reason)
        }
        None => looping::stop(input, deadline)?,
    };
    Ok(match warning {
        Some(text) => answer.telling_user(&format!("ralph: {text}")),
        None => answer,
    })
}

/// What the gates of the run that started this agent would object to, while the agent can still mend it. An agent
/// that cannot mend it is let go in the end: ralph judges the turn itself.
fn early_feedback() -> Feedback {
    let Some(folder) = hook_notes::folder() else { return Feedback::default() };
    // The folder of the run, of its turns, of the turn.
    let Some(run) = folder.ancestors().nth(3).map(|path| RunDir::at(path.to_owned())) else {
        return Feedback::default();
    };
    if MAX_HOLDS <= hook_notes::read(&folder).report.held.len() {
        return Feedback::default();
    }
    stories::stop_preview::preview_stop(&run).unwrap_or_else(|error| {
        store::log(&format!("{}: {error}", run.path().display()));
        Feedback::default()
    })
}

/// Whether the conversation is in a loop.
fn is_in_loop(input: &Input<'_>) -> Result<bool> {
    let store = input.session().map(|session| Store::of(&session)).transpose()?;
    Ok(store.is_some_and(|store| store.run().is_some()) || is_marked_active(input))
}

/// Whether the project says that a loop runs in it, and that loop is alive.
fn is_marked_active(input: &Input<'_>) -> bool {
    #[derive(serde::Deserialize)]
    struct Mark {
        pid: i32,
    }
    let Some(project) = project(input) else { return false };
    let mark = Root::new(project).read(ACTIVE, MAX_TEXT_LEN).ok();
    let mark = mark.and_then(|text| serde_json::from_slice::<Mark>(&text).ok());
    mark.is_some_and(|mark| is_alive(mark.pid))
}

/// The project of the conversation.
fn project(input: &Input<'_>) -> Option<PathBuf> {
    let given = env::var_os("CLAUDE_PROJECT_DIR").filter(|dir| Path::new(dir).is_dir());
    given.map(PathBuf::from).or_else(|| input.folder().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_an_error() {
        let error = caught(|| panic!("a fault of ralph")).expect_err("a panic");
        assert!(error.to_string().contains("ralph itself failed"), "{error}");
        assert!(caught(|| Ok(Answer::allow())).is_ok());
    }
}
