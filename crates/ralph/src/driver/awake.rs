//! When the machine must not fall asleep: while an agent or its checks are at work, not while the run waits.

use jiff::Timestamp;
use ralph_core::engine::Action;

use super::site::Site;

/// A wait that is longer lets the machine sleep.
const MAX_WAIT_AWAKE_MS: i64 = 60_000;

/// Keeps the machine awake for the action, or lets it sleep.
pub(super) fn follow(site: &mut Site, action: &Action) {
    if site.setup.keep_awake {
        site.supervisor.keep_awake(is_work(action, Timestamp::now().as_millisecond()));
    }
}

/// Whether something is done, or will be in a moment.
fn is_work(action: &Action, now: i64) -> bool {
    match action {
        Action::WaitUntil(until_ms) => until_ms.saturating_sub(now) <= MAX_WAIT_AWAKE_MS,
        Action::Hold | Action::AwaitFiles(_) | Action::Finish(_) => false,
        Action::Look
        | Action::RunTurn(_)
        | Action::AbandonTurn
        | Action::JudgeTasks
        | Action::RunBaseline(_)
        | Action::RunGate(_)
        | Action::PutAside(_)
        | Action::HandOver { .. }
        | Action::BringJudge
        | Action::RunInJudge(_)
        | Action::TakeBase
        | Action::Examine
        | Action::PutBack(_)
        | Action::AskOpinion(_)
        | Action::AbandonOpinion
        | Action::ForgoLook(_)
        | Action::Deliver
        | Action::Commit
        | Action::StartWait(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_let_the_machine_sleep() {
        for (action, expected) in [
            (Action::Commit, true),
            (Action::RunGate(0), true),
            (Action::WaitUntil(60_001), true),
            (Action::WaitUntil(60_002), false),
            (Action::Hold, false),
            (Action::AwaitFiles(Vec::new()), false),
        ] {
            assert_eq!(is_work(&action, 1), expected, "{action:?}");
        }
    }
}
