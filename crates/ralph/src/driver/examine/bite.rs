//! Tries the new tests of a claim in the judge, on the code that the run started from.

use std::path::Path;

use ralph_core::{
    engine::event::Event,
    verify::{
        bite::{LaidTest, NewTests},
        check_note::CheckNote,
    },
};

use super::compare::Pair;
use crate::{
    driver::{Driver, judge::Written},
    workspace::{Candidate, FileDiff, MadeChange},
};

/// What the logs of these guardrails end in.
const BITE_LOG: &str = "bite";

impl Driver {
    /// Says whether the new tests prove anything about the change. That this cannot be found out is a warning: no claim
    /// depends on it.
    pub(super) fn bite(
        &mut self,
        pair: &Pair,
        differing: &[FileDiff],
        tests: &NewTests,
        gates_ms: &mut u64,
    ) -> Option<CheckNote> {
        let gates = self.site.run().plan.gates.iter().enumerate();
        let gates: Vec<usize> =
            gates.filter(|(_, gate)| gate.tries_new_tests()).map(|(index, _)| index).collect();
        if gates.is_empty() {
            return None;
        }
        if let Err(why) = self.open_with_old_code(pair, differing, tests) {
            self.site.ledger.warn(format!("the new tests cannot be run on the old code: {why}"));
            return None;
        }
        let passed = self.try_gates(&gates, gates_ms);
        self.close_judge(Written::Dropped);
        tests.unproven(&passed?)
    }

    /// Brings the judge to the code that the run started from, with the tests of the claim.
    fn open_with_old_code(
        &mut self,
        pair: &Pair,
        differing: &[FileDiff],
        tests: &NewTests,
    ) -> Result<(), String> {
        let Self { site, judge, .. } = self;
        let judge = judge.as_mut().ok_or("there is no judge in this process")?;
        let changes: Vec<MadeChange<'_>> = tests
            .laid
            .iter()
            .filter_map(|(path, laid)| {
                let file = differing.iter().find(|file| file.path == Path::new(path))?;
                Some(match laid {
                    LaidTest::Text(text) => MadeChange::Text(&file.path, text),
                    LaidTest::Claimed => MadeChange::Entry(&file.path, file.new.as_ref()?),
                })
            })
            .collect();
        let made = judge.workspace.make_commit(&mut site.supervisor, &pair.base, &changes);
        let made = made.map_err(|error| error.to_string())?;
        let opened = self.open_judge(&Candidate::Made(&made), &pair.claimed.laid);
        opened.map(drop).map_err(|(_, why)| why)
    }

    /// Which of these gates passed, up to the first that did not: one is enough. Nothing when a person ended one.
    fn try_gates(&mut self, gates: &[usize], gates_ms: &mut u64) -> Option<Vec<bool>> {
        let mut passed = Vec::new();
        for index in gates {
            self.site.ledger.record(Event::BiteStarted { gate: *index });
            let ended = self.check_in_judge(*index, BITE_LOG)?.ended;
            *gates_ms = gates_ms.saturating_add(ended.ms);
            passed.push(ended.failure.is_none());
            self.site.ledger.record(Event::BiteEnded(ended));
            if passed.last() == Some(&false) {
                break;
            }
        }
        Some(passed)
    }
}
