//! What a run proposes to others: when, as what, and in which words.
//!
//! Invariant: what an agent or a stranger wrote mentions no one, closes nothing, and stays in its place in a description.

mod body;
pub mod branch;
mod quoted;

pub use body::{Asked, Described, body, merged, summary};
pub use quoted::title;

use crate::engine::{outcome::Outcome, stop::Stop};

/// Whether a run that ends is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// No: it was stopped by its user, or there is nothing to propose from.
    No,
    /// A person decides about its findings first.
    Waits,
    /// Yes.
    Propose {
        /// What was judged is pushed; what was not judged is proposed as far as it is there already.
        pushes: bool,
        /// It did not exit with 0.
        draft: bool,
    },
}

/// Whether a run that ends like this is proposed.
pub fn due(outcome: &Outcome, exit_code: u8, needs_person: bool) -> Due {
    match outcome {
        Outcome::Interrupted | Outcome::Unready { .. } | Outcome::Stopped(Stop::ProjectGone { .. }) => {
            Due::No
        }
        Outcome::Done if needs_person => Due::Waits,
        Outcome::Done => Due::Propose { pushes: true, draft: exit_code != 0 },
        // A limit with exit code 0 is no verdict.
        Outcome::Exhausted { .. } | Outcome::Stopped(_) | Outcome::GaveUp { .. } => {
            Due::Propose { pushes: false, draft: true }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{outcome::Exhausted, plan::Cause};

    #[test]
    fn only_what_was_judged_is_pushed_and_only_what_is_complete_is_ready() {
        let exhausted = Outcome::Exhausted { limit: Exhausted::MaxIterations };
        let gave_up = Outcome::GaveUp { cause: Cause::Gate, reason: String::new() };
        let gone = Outcome::Stopped(Stop::ProjectGone { project: "/p".into() });
        let blocked = Outcome::Stopped(Stop::Blocked { reason: String::new() });
        let cases = [
            (Outcome::Done, 0, false, Due::Propose { pushes: true, draft: false }),
            (Outcome::Done, 7, true, Due::Waits),
            // Findings that are only reported.
            (Outcome::Done, 7, false, Due::Propose { pushes: true, draft: true }),
            (exhausted.clone(), 4, false, Due::Propose { pushes: false, draft: true }),
            (exhausted, 0, false, Due::Propose { pushes: false, draft: true }),
            (gave_up, 3, false, Due::Propose { pushes: false, draft: true }),
            (blocked, 6, false, Due::Propose { pushes: false, draft: true }),
            (Outcome::Interrupted, 130, false, Due::No),
            (gone, 6, false, Due::No),
        ];
        for (outcome, code, needs_person, expected) in cases {
            assert_eq!(due(&outcome, code, needs_person), expected, "{outcome:?} {code}");
        }
    }
}
