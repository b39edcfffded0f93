//! How a turn ended, by what its process did and said.

use std::{io, os::unix::process::ExitStatusExt, path::Path, time::Duration};

use ralph_agents::{
    Failure, FailureKind, Usage,
    turn::{Exit, Tally, conclude},
};
use ralph_core::duration::millis;
use ralph_core::{
    engine::{
        event::{Tree, TurnEnd, TurnEnded, View},
        judgement::Judgement,
        outcome::Exhausted,
    },
    review::{ReviewVerdict, verdict},
    setup::Setup,
};
use ralph_sys::{process::Ended, watch::Cause};

use super::{
    assigned::Posts,
    budget::{time_left, worth},
    hooking::{Settled, Unguarded},
    listener::Listener,
    site::Site,
};

/// A turn that is over, as its process told it.
pub(super) struct Over {
    pub(super) end: TurnEnd,
    /// The agent said that the work is done, whether or not that counts.
    pub(super) claimed: bool,
    /// Why it cannot continue, if it said so.
    pub(super) blocked: Option<String>,
    /// Why it changed what checks its work, if it said so.
    pub(super) reason: Option<String>,
    pub(super) code: Option<i32>,
    /// It failed only by saying nothing.
    pub(super) is_mute: bool,
    pub(super) ms: u64,
    pub(super) usage: Usage,
    pub(super) leftovers: Vec<String>,
    /// What it said last to people, if it failed.
    pub(super) last_lines: Vec<String>,
    pub(super) tally: Tally,
    /// What a reviewer says about the change that it was asked about.
    pub(super) review: Option<ReviewVerdict>,
}

/// What ralph noticed of a turn beside that.
#[derive(Default)]
pub(super) struct Noticed {
    /// What it changed that its sandbox cannot protect.
    pub(super) tampered: Option<Vec<String>>,
    /// What the hooks did.
    pub(super) hooks: Option<Settled>,
    /// The directory, where the rules look at it.
    pub(super) view: Option<View>,
    /// The files, where the caller wants to know.
    pub(super) tree: Option<Tree>,
    /// The branch that it left checked out, where that is not the run's.
    pub(super) branch: Option<String>,
    /// Files that it changed though it must not.
    pub(super) undone: Vec<String>,
}

impl Over {
    /// The same turn, of an agent whose program is gone: no attempt will find it.
    pub(super) fn of_gone_program(mut self, program: &Path) -> Self {
        if let TurnEnd::Failed(failure) = &mut self.end {
            failure.kind = FailureKind::Permanent;
            failure.message = format!("its program is gone: {}", program.display());
        }
        self
    }

    /// The same turn, of an agent that writes a file when it is done: it need not say anything beside that.
    pub(super) fn by_file(mut self, is_claimed: bool) -> Self {
        if self.is_mute && is_claimed {
            (self.end, self.last_lines) = (TurnEnd::Finished, Vec::new());
        }
        self
    }

    /// The turn as it is recorded, after the tool calls that the guard judged in it.
    pub(super) fn recorded(self, noticed: Noticed) -> (Vec<Judgement>, TurnEnded) {
        let Self {
            end, claimed, blocked, reason, code, ms, usage, leftovers, last_lines, tally, review, ..
        } = self;
        let Noticed { tampered, hooks, view, tree, branch, undone } = noticed;
        let Settled { report, calls, unguarded } = hooks.unwrap_or_default();
        let end = match (tampered, unguarded, end) {
            // What the sandbox found is worse than anything else.
            (Some(changed), _, _) => TurnEnd::Tampered { changed },
            (None, Some(Unguarded { changed, unjudged }), end) if !matches!(end, TurnEnd::Interrupted) => {
                TurnEnd::Unguarded { changed, unjudged }
            }
            (None, _, end) => end,
        };
        // What the guard refused was not refused by the agent's own rules, though the agent says so.
        let is_ours = |tool: &String| calls.iter().any(|call| call.is_refusal() && call.tool == *tool);
        let ended = TurnEnded {
            claimed: claimed && end == TurnEnd::Finished,
            blocked: blocked.filter(|_| end == TurnEnd::Finished),
            reason: reason.filter(|_| end == TurnEnd::Finished),
            end,
            view,
            code,
            ms,
            usage,
            tools: tally.tools,
            tool_errors: tally.tool_errors,
            leftovers,
            last_lines,
            denials: tally.denials.into_iter().filter(|tool| !is_ours(tool)).collect(),
            session: tally.session,
            hooks: report,
            tree,
            branch,
            model: tally.model,
            quota: tally.limit.map(|limit| limit.windows).unwrap_or_default(),
            review,
            undone,
            untold: Vec::new(),
        };
        (calls, ended)
    }
}

/// What the process of a turn came to.
pub(super) fn over(site: &Site, ended: io::Result<Ended>, listener: Listener, posts: &Posts) -> Over {
    let code = ended.as_ref().ok().and_then(|ended| ended.status?.code());
    let has_succeeded = ended.as_ref().is_ok_and(|ended| exit(ended, &site.setup) == Some(Exit::Code(0)));
    let (end, ms, leftovers) = match ended {
        Ok(ended) => (turn_end(site, &ended, &listener, posts), millis(ended.took), ended.leftovers),
        Err(error) => {
            let message = format!("it could not be started: {error}");
            (TurnEnd::Failed(Failure { kind: FailureKind::Transient, message }), 0, Vec::new())
        }
    };
    let usage = worth(&site.setup, &listener);
    let claimed = listener.scanner.claimed() && listener.is_whole();
    let blocked = listener.scanner.blocked().filter(|_| listener.is_whole());
    let reason = listener.scanner.reason();
    let last_lines = if matches!(end, TurnEnd::Failed(_)) { listener.last_lines() } else { Vec::new() };
    let is_mute = has_succeeded && listener.tally.failure.is_none() && matches!(end, TurnEnd::Failed(_));
    Over {
        end,
        claimed,
        blocked,
        reason,
        code,
        is_mute,
        ms,
        usage,
        leftovers,
        last_lines,
        review: listener.words.as_deref().and_then(|words| verdict(words, &listener.question)),
        tally: listener.tally,
    }
}

fn turn_end(site: &Site, ended: &Ended, listener: &Listener, posts: &Posts) -> TurnEnd {
    let is_finished = || {
        // It may have come to its end while it was told to.
        let has_exited = ended.status.is_some_and(|status| status.success());
        (listener.has_result || has_exited)
            && conclude(listener.structured, Exit::Code(0), &listener.tally).is_ok()
    };
    let over = match ended.cause {
        Some(Cause::Enough) if listener.over.is_none() && listener.is_cut_short => {
            return if is_finished() { TurnEnd::Finished } else { TurnEnd::Interrupted };
        }
        Some(Cause::Enough) => listener.over,
        Some(Cause::Until) => Some(Exhausted::Until),
        Some(Cause::Timeout) if is_time_of_run(site, ended.took) => Some(Exhausted::MaxTime),
        _ => None,
    };
    if let Some(limit) = over {
        return if is_finished() { TurnEnd::Finished } else { TurnEnd::OverBudget { limit } };
    }
    let Some(exit) = exit(ended, &site.setup) else { return TurnEnd::Interrupted };
    if matches!((exit, site.run().plan.pause_code), (Exit::Code(code), Some(pause)) if code == pause) {
        return TurnEnd::Paused { reason: None };
    }
    if let Some(reason) = posts.asked_to_pause(site) {
        return TurnEnd::Paused { reason: Some(reason).filter(|reason| !reason.is_empty()) };
    }
    match conclude(listener.structured, exit, &listener.tally) {
        Ok(()) => TurnEnd::Finished,
        Err(mut failure) => {
            if let (FailureKind::Transient, Exit::Code(code)) = (failure.kind, exit) {
                failure.kind = site.adapter().exit_means(code).unwrap_or(failure.kind);
            }
            if let Some(complaint) = listener.last_lines().pop() {
                failure.message = format!("{} ({complaint})", failure.message);
            }
            TurnEnd::Failed(failure)
        }
    }
}

/// Whether a turn that was ended after so long met the end of the run and not its own.
fn is_time_of_run(site: &Site, took: Duration) -> bool {
    let own = site.setup.timeouts.iteration_timeout_ms.map(Duration::from_millis);
    is_nearer(time_left(site.run()), own, took)
}

/// The time of a run goes on while a turn is prepared, so that it may end a turn that took a little less than was left.
fn is_nearer(left: Option<Duration>, own: Option<Duration>, took: Duration) -> bool {
    left.is_some_and(|left| left <= took || own.is_none_or(|own| took < own))
}

/// How the process ended, in the agent's terms; nothing if the user ended it.
fn exit(ended: &Ended, setup: &Setup) -> Option<Exit> {
    let limit = |ms: Option<u64>| Duration::from_millis(ms.unwrap_or_default());
    Some(match ended.cause {
        Some(Cause::Interrupt) => return None,
        Some(Cause::Timeout) => Exit::TimedOut(limit(setup.timeouts.iteration_timeout_ms)),
        Some(Cause::Idle) => Exit::Idle(limit(setup.timeouts.idle_timeout_ms)),
        Some(Cause::NoStart) => Exit::NoStart(limit(setup.timeouts.start_timeout_ms)),
        Some(Cause::Lingered) => Exit::Lingered,
        Some(Cause::Enough | Cause::Until) | None => match ended.status {
            Some(status) => {
                status.code().map_or_else(|| Exit::Signal(status.signal().unwrap_or_default()), Exit::Code)
            }
            // No one knows how it ended, so it has not succeeded.
            None => Exit::Signal(0),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_limit_ended_the_turn() {
        let check = |left: Option<u64>, own: Option<u64>, took, expected| {
            let (left, own) = (left.map(Duration::from_millis), own.map(Duration::from_millis));
            assert_eq!(
                is_nearer(left, own, Duration::from_millis(took)),
                expected,
                "{left:?} {own:?} {took}"
            );
        };
        // A little was used up before the process started.
        check(Some(3000), None, 2995, true);
        check(Some(3000), Some(5000), 2995, true);
        check(Some(3000), None, 3000, true);
        check(Some(3000), Some(3000), 3000, true);
        check(Some(9000), Some(5000), 5001, false);
        check(None, Some(5000), 5001, false);
        check(None, None, 5001, false);
    }
}
