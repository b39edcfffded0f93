//! Ends what a process left behind.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{
    Leftovers,
    backend::{Backend, signal},
};

/// How long a leftover may take to go by itself after it was asked to.
const TERM_TIMEOUT: Duration = Duration::from_millis(300);
/// How long all of it may take; what cannot be killed in this time cannot be killed.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(5);

/// Ends (or keeps) all that is left of the process, and names it. `kept` are not named again, and `spared`
/// are no leftovers: others look after them.
pub(super) fn sweep(
    backend: &mut dyn Backend,
    policy: Leftovers,
    kept: &mut Vec<i32>,
    spared: &dyn Fn(i32) -> bool,
) -> Vec<String> {
    let started = Instant::now();
    let mut found = Vec::new();
    let mut asked = Vec::new();
    loop {
        let left = backend.descendants(&|pid| kept.contains(&pid) || spared(pid));
        let (leaving, children) = (left.leaving, left.staying);
        if (children.is_empty() && leaving.is_empty()) || SWEEP_TIMEOUT < started.elapsed() {
            break;
        }
        if children.is_empty() {
            // Not left behind, but what it leaves behind comes to ralph when it is gone.
            backend.await_end(&leaving, TERM_TIMEOUT);
            continue;
        }
        if policy == Leftovers::Keep {
            found.extend(children.iter().map(|pid| backend.source().describe(*pid)));
            kept.extend(children);
            break;
        }
        let (known, new): (Vec<i32>, Vec<i32>) = children.into_iter().partition(|pid| asked.contains(pid));
        for pid in &known {
            signal(*pid, Signal::KILL);
        }
        for pid in &new {
            found.push(backend.source().describe(*pid));
            signal(*pid, Signal::TERM);
            signal(*pid, Signal::CONT);
        }
        backend.await_end(if new.is_empty() { &known } else { &new }, TERM_TIMEOUT);
        asked.extend(new);
    }
    backend.rest();
    found
}
