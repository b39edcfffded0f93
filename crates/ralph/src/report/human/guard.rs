//! What people see of the guard.

use ralph_core::engine::judgement::Judgement;

use super::Human;
use crate::{
    report::summary::count,
    term::{Palette, printable},
};

/// As many refusals are shown after a turn; all are in the record.
const MAX_SHOWN: usize = 5;

impl Human {
    /// What was refused in a turn, and why.
    pub(super) fn tool_calls_judged(&mut self, calls: &[Judgement]) {
        let Palette { warn, .. } = self.look.palette;
        let refused: Vec<&Judgement> = calls.iter().filter(|call| call.is_refusal()).collect();
        for call in refused.iter().take(MAX_SHOWN) {
            let what = call.refusal();
            self.alert(&format!("{warn}The guard refused:{warn:#} {}", printable(&what)));
        }
        let more = refused.len().saturating_sub(MAX_SHOWN);
        if 0 < more {
            self.alert(&format!("{warn}The guard refused {} more.{warn:#}", count(more as u64, "tool call")));
        }
    }

    /// The hook was not there, or may not be there the next time.
    pub(super) fn unguarded(&mut self, changed: &[String], unjudged: &[String]) {
        let Palette { bad, .. } = self.look.palette;
        let mark = self.look.marks.bad;
        let what = match (changed, unjudged) {
            ([], []) => "The agent used tools, and ralph's hook was never called.".to_owned(),
            ([], unjudged) => {
                format!("Tools ran that ralph's guard has not checked: {}.", unjudged.join(", "))
            }
            (changed, _) => {
                format!("The turn changed files that can remove ralph's guard: {}.", changed.join(", "))
            }
        };
        self.alert(&format!("{mark} {bad}{}{bad:#}", printable(&what)));
    }
}
