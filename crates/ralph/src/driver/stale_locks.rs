//! Locks of git that no process holds any more: of a git that was killed together with ralph, or of one that ran when the power
//! went. They would make every commit fail, and every agent that is told of it.
//!
//! Invariant: what may be held by a git that is alive is left alone.

use std::time::{Duration, SystemTime};

use ralph_core::engine::Run;
use ralph_sys::boot;

use super::site::Site;
use crate::project::git::{Git, locks::LockFile};

/// File systems and the kernel keep time in steps.
const MAX_CLOCK_STEP: Duration = Duration::from_millis(100);
/// The kernel says to the second when it began.
const MAX_BOOT_STEP: Duration = Duration::from_secs(2);

/// Removes the locks that no one holds, and says so.
pub(super) fn remove(site: &mut Site, git: &Git) {
    let (began, own) = (boot::began(), began_by(site.run()));
    let is_stale = |lock: &LockFile| {
        let is_older_than_boot = began.is_some_and(|began| lock.since + MAX_BOOT_STEP < began);
        let is_own = own.is_some_and(|own| own <= lock.since + MAX_CLOCK_STEP);
        is_older_than_boot || is_own
    };
    let stale: Vec<LockFile> = git.locks().into_iter().filter(is_stale).collect();
    if stale.is_empty() || git.is_at_work() {
        return;
    }
    for lock in stale.iter().filter(|lock| lock.remove()) {
        site.ledger
            .warn(format!("{} was left behind by a git that is gone and is removed", lock.path().display()));
    }
}

/// Since when a process of this run that did not live to say how that went has let a git work: for a commit, or as a tool of
/// the agent. Nothing if the machine was started since: then the locks are older.
fn began_by(run: &Run) -> Option<SystemTime> {
    let this_boot = boot::id();
    if let Some(announced) = &run.memory.announced {
        let is_this_boot = announced.boot.is_none() || announced.boot == this_boot;
        return is_this_boot.then(|| announced.at.into());
    }
    let turn = run.memory.turn.as_ref().filter(|_| run.state.is_in_turn())?;
    let at = SystemTime::from(turn.began);
    boot::began().is_none_or(|began| began <= at).then_some(at)
}
