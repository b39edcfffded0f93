//! What is known of the usage limit.

use ralph_agents::QuotaWindow;

use super::{
    super::{
        event::{Turn, TurnEnded, Why},
        phase::{Pause, Phase},
    },
    State,
};

/// A usage limit that a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedQuota {
    /// It is expected back then, in seconds since 1970.
    BackAt(i64),
    /// No one says when it is back.
    Unknown,
}

impl State {
    /// How much of each usage window is used, as the agent said it last.
    pub fn quota(&self) -> &[QuotaWindow] {
        &self.quota
    }

    /// The usage limit that the run waits for, if it does, or would.
    pub fn awaited_quota(&self) -> Option<AwaitedQuota> {
        match self.phase {
            Phase::Pausing(Pause::Quota { resets_at, .. }) => Some(AwaitedQuota::BackAt(resets_at)),
            Phase::Waiting { until_ms, why: Why::UsageLimit } => Some(AwaitedQuota::BackAt(until_ms / 1000)),
            Phase::Pausing(Pause::For(_, Why::UsageLimit)) => Some(AwaitedQuota::Unknown),
            _ => None,
        }
    }

    /// Remembers what a turn said about it; one that said nothing changes nothing.
    pub(super) fn take_quota(&mut self, turn: &TurnEnded) {
        if !turn.quota.is_empty() {
            self.quota.clone_from(&turn.quota);
        }
    }

    /// A turn begins: what was said of another agent's quota does not hold for this one.
    pub(super) fn turn_of(&mut self, turn: &Turn) {
        if turn.agent.as_deref().is_some_and(|agent| agent != self.crew.worker()) {
            self.quota.clear();
        }
        self.crew.turn_started(turn);
    }

    /// Forgets, after a run has ended, windows that do not say how long they last: no one knows what is left by now.
    pub(super) fn forget_quota(&mut self, has_ended: bool) {
        self.quota.retain(|window| !has_ended || window.resets_at.is_some());
    }

    /// Counts a wait; one for a usage limit twice, because those have a limit of their own.
    pub(super) fn wait_ended(&mut self, ms: u64) {
        self.spent.take_time(ms);
        if let Phase::Waiting { why: Why::UsageLimit, .. } = self.phase {
            self.spent.quota_ms = self.spent.quota_ms.saturating_add(ms);
        }
        self.phase = Phase::Idle;
        self.opinion_waited();
    }
}
