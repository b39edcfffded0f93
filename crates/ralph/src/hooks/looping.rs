//! The hooks of a conversation that is in a loop: it begins, is held, is let go, and never outlives the conversation.

use std::time::Instant;

use ralph_agents::{Failure, FailureKind};
use ralph_core::{
    claim::Scanner,
    engine::{event::TurnEnd, outcome::Outcome},
    session::slash_command::{Typed, USAGE, ask, typed},
};
use ralph_sys::error::{Error, Result};

use super::{
    Answer, Input, begin, project,
    store::{self, Store},
    transcripts,
};
use crate::{
    driver::session::{SessionLoop, Stopped, Verdict, told},
    journal::{hook_notes, run_dir::RunDir},
};

/// What the agent is told about a loop that its user has cancelled.
const CANCELLED: &str = "The ralph loop of this conversation is cancelled. Do not continue its task.";

/// The agent tries to stop.
pub(super) fn stop(input: &Input<'_>, deadline: Instant) -> Result<Answer> {
    let Some((store, run)) = bound(input)? else { return Ok(Answer::allow()) };
    judge(input, &store, &run, deadline).or_else(|error| {
        // Better no loop than a conversation that cannot end.
        store.give_up();
        store::log(&format!("{}: {error}", run.path().display()));
        let text =
            format!("ralph: the record of this loop cannot be used ({error}), so the loop is given up");
        Ok(Answer::allow().telling_user(&text))
    })
}

fn judge(input: &Input<'_>, store: &Store, run: &RunDir, deadline: Instant) -> Result<Answer> {
    let Some(session) = SessionLoop::open(run)? else {
        store.unbind(run);
        return Ok(Answer::allow());
    };
    if is_cancelled_meanwhile(input, &session) {
        let turn = session.turn();
        session.cancel("cancelled by the user")?;
        store.unbind(run);
        store.expect_cancel()?;
        return Ok(Answer::allow().telling_user(&format!("ralph loop: CANCELLED in turn {turn}")));
    }
    // What runs in the background wakes the agent when it is done; then there will be another stop.
    if input.has_background_work() {
        return Ok(Answer::allow());
    }
    let Heard { claimed, blocked } = hear(input, &session);
    let (turn, of) = (session.turn(), session.plan().limits.max_iterations);
    let calls = hook_notes::take(store.path()).calls;
    let stopped = Stopped {
        end: TurnEnd::Finished,
        claimed,
        blocked,
        tools: store.tools(),
        is_counted: input.host().counts_tools(),
        calls,
    };
    let verdict = session.stop(stopped, deadline)?;
    Ok(match verdict {
        Verdict::GoOn(text) => {
            told(run);
            let found = if claimed { "the promise was refused" } else { "no promise" };
            let caution = input.host().caution().map(|caution| format!("\n\n{caution}")).unwrap_or_default();
            Answer::block_stop(&format!("{text}{caution}"))
                .telling_user(&format!("ralph loop: turn {turn} of {of} is over, {found}"))
        }
        Verdict::LetGo { outcome, status } => {
            store.unbind(run);
            let why = why_stopped(&outcome);
            Answer::allow().telling_user(&format!("ralph loop: {why}{status} after turn {turn} of {of}"))
        }
    })
}

/// Whether the user has typed the command while the agent worked. It waits in the host's queue until the turn has
/// ended, which is what the loop prevents.
fn is_cancelled_meanwhile(input: &Input<'_>, session: &SessionLoop) -> bool {
    let waiting = input.transcript().map(|path| transcripts::waiting_since(&path, session.began()));
    waiting.into_iter().flatten().any(|prompt| typed(&prompt) == Some(Typed::Cancel))
}

/// What the user should read first.
fn why_stopped(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Stopped(stop) => format!("{}; ", stop.reason()),
        _ => String::new(),
    }
}

/// What the agent has said in a turn.
struct Heard {
    claimed: bool,
    blocked: Option<String>,
}

/// Whether the agent's last message has the promise in it, or that it cannot continue. Hosts that tell the message are
/// believed: their transcript may not have it yet.
fn hear(input: &Input<'_>, session: &SessionLoop) -> Heard {
    let told = input.last_message();
    let message = told.or_else(|| transcripts::last_message_since(&input.transcript()?, session.since()));
    let mut scanner = Scanner::new(&session.plan().claims);
    scanner.push(&message.unwrap_or_default(), false);
    Heard { claimed: scanner.claimed(), blocked: scanner.blocked() }
}

/// The agent stopped because the service failed: the same turn again, when the user goes on.
pub(super) fn stop_failure(input: &Input<'_>, deadline: Instant) -> Result<Answer> {
    let Some((store, run)) = bound(input)? else { return Ok(Answer::allow()) };
    let Some(session) = SessionLoop::open(&run)? else { return Ok(Answer::allow()) };
    let failure = Failure { kind: FailureKind::Transient, message: input.error() };
    let calls = hook_notes::take(store.path()).calls;
    let stopped = Stopped {
        end: TurnEnd::Failed(failure),
        claimed: false,
        blocked: None,
        tools: store.tools(),
        is_counted: input.host().counts_tools(),
        calls,
    };
    if let Verdict::LetGo { .. } = session.stop(stopped, deadline)? {
        store.unbind(&run);
    }
    Ok(Answer::allow())
}

/// A conversation starts or is taken up again. A loop does not outlive its conversation, also where that was killed.
pub(super) fn session_start(input: &Input<'_>) -> Result<Answer> {
    if let Some(session) = input.session() {
        Store::of(&session)?.rearm();
    }
    let Some((store, run)) = bound(input)? else { return Ok(Answer::allow()) };
    if input.source() != "resume" {
        return Ok(Answer::allow());
    }
    end(&store, &run, "the conversation was resumed")?;
    let text =
        "ralph: the loop of this conversation ended when the conversation did; /ralph-loop starts another";
    Ok(Answer::allow().telling_user(text))
}

/// A conversation ends, and its loop with it.
pub(super) fn session_end(input: &Input<'_>) -> Result<Answer> {
    if let Some((store, run)) = bound(input)? {
        end(&store, &run, "the conversation has ended")?;
    }
    Ok(Answer::allow())
}

/// The user has typed something: a loop may begin or end.
pub(super) fn user_prompt(input: &Input<'_>) -> Result<Answer> {
    let prompt = input.prompt().unwrap_or_default();
    match typed(&prompt) {
        None => Ok(Answer::allow()),
        Some(Typed::Cancel) => {
            let store = input.session().map(|session| Store::of(&session)).transpose()?;
            let is_obeyed = store.is_some_and(|store| store.take_expected_cancel());
            let text = match bound(input)? {
                Some((store, run)) => {
                    end(&store, &run, "cancelled by the user")?;
                    CANCELLED
                }
                None if is_obeyed => CANCELLED,
                None => "There is no ralph loop in this conversation to cancel.",
            };
            Ok(Answer::tell_agent(input.event(), text).telling_user(&format!("ralph: {text}")))
        }
        Some(Typed::Start { words, ultrawork }) => {
            Ok(start(input, words, ultrawork).unwrap_or_else(|error| {
                let said = std::iter::once(error.to_string()).chain(error.hints().iter().cloned());
                let said = said.collect::<Vec<_>>().join("\n");
                Answer::block_stop(&format!("ralph: the loop was not started: {said}"))
            }))
        }
    }
}

fn start(input: &Input<'_>, words: &str, ultrawork: bool) -> Result<Answer> {
    let ask = ask(words, ultrawork).map_err(|problem| Error::new(problem).hint(USAGE))?;
    let session =
        input.session().ok_or_else(|| Error::new("the agent does not say which conversation this is"))?;
    let project = project(input).ok_or_else(|| Error::new("the agent does not say where it works"))?;
    let begun = begin::begin(&ask, &session, &project, Some(input.host()))?;
    let answer = Answer::tell_agent(input.event(), &begun.contract);
    Ok(answer.telling_user(&format!("ralph: {}", begun.notes.join("; "))))
}

fn end(store: &Store, run: &RunDir, why: &str) -> Result<()> {
    let ended =
        SessionLoop::open(run).and_then(|session| session.map_or(Ok(()), |session| session.cancel(why)));
    // Whatever the record says, this loop holds no agent any more.
    store.unbind(run);
    ended
}

/// The loop that the conversation is in.
fn bound(input: &Input<'_>) -> Result<Option<(Store, RunDir)>> {
    let Some(session) = input.session() else { return Ok(None) };
    let store = Store::of(&session)?;
    Ok(store.run().map(|run| (store, run)))
}
