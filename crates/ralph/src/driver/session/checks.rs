//! The checks of a loop inside a conversation, in the working tree.

use std::{os::fd::OwnedFd, time::Instant};

use ralph_core::{
    duration::millis,
    engine::{event::GateEnded, plan::Check},
    setup::Setup,
};
use ralph_sys::{
    error::{Context, Error, Result},
    process::{ProcessEvent, Supervisor, guardian::Guardian},
};

use super::SessionLoop;
use crate::{
    driver::work,
    gates,
    project::{git::Git, own_files},
};

impl SessionLoop {
    pub(super) fn run_gate(&mut self, index: usize) -> Result<GateEnded> {
        let gate = self.ledger.run().plan.gates[index].clone();
        let started = Instant::now();
        Ok(match &gate.check {
            Check::Work { tool_calls, otherwise } => {
                let counted = self.ledger.run().state.spent().tools;
                // Where calls are counted, a changed tree says nothing: the user saves files as well.
                let is_evident = !self.is_counted && counted == 0 && self.tree_has_changed()?;
                let is_enough = u64::from(*tool_calls) <= counted || is_evident;
                let failure = work::judge(&mut self.ledger, is_enough, *otherwise);
                let ms = millis(started.elapsed());
                GateEnded { ms, ..GateEnded::own(index, failure, String::new()) }
            }
            Check::Command { .. }
            | Check::Hidden { .. }
            | Check::ChildrenEnded { .. }
            | Check::TaskRules
            | Check::CleanTree
            | Check::StoriesDone
            | Check::PlanSettled
            | Check::Review { .. } => {
                let Some(setup) = self.setup_in_time() else { return Ok(gates::not_run(index)) };
                self.supervise(true)?;
                let Self { ledger, run, supervisor, .. } = self;
                let (iteration, attempt) = ledger.run().state.position();
                let gates = ledger.run().plan.gates.clone();
                let (name, sandbox) = (gates::log_name(&gates, index), None);
                let was_failing = ledger.run().state.baseline().still_fails(index);
                let (setup, name) = (&setup, name.as_str());
                let place = gates::GatePlace {
                    setup,
                    run,
                    iteration,
                    attempt,
                    name,
                    was_failing,
                    sandbox,
                    in_judge: None,
                };
                let mut notice = |happening: &ProcessEvent<'_>| ledger.notice(happening);
                let supervisor = supervisor.as_mut();
                let found = supervisor.and_then(|it| gates::check(it, &gates, index, place, &mut notice));
                found.ok_or_else(|| Error::new("the check was interrupted"))?
            }
        })
    }

    /// The setup for a check that ends before the host no longer waits; nothing if there is no time left.
    pub(super) fn setup_in_time(&self) -> Option<Setup> {
        let Some(deadline) = self.deadline else { return Some(self.setup.clone()) };
        let left = millis(deadline.saturating_duration_since(Instant::now()));
        let mut setup = self.setup.clone();
        setup.timeouts.gate_timeout_ms =
            Some(setup.timeouts.gate_timeout_ms.map_or(left, |limit| limit.min(left)));
        (0 < left).then_some(setup)
    }

    /// Where no one has counted tool calls, another tree or another HEAD is evidence of work.
    fn tree_has_changed(&mut self) -> Result<bool> {
        self.supervise(false)?;
        let Self { supervisor: Some(supervisor), setup, head, .. } = self else { return Ok(false) };
        let Ok(Some(git)) = Git::find(supervisor, &setup.project) else { return Ok(false) };
        if git.head(supervisor).unwrap_or_default() != *head {
            return Ok(true);
        }
        let changes = git.changes(supervisor).unwrap_or_default();
        let now: std::collections::BTreeMap<_, _> =
            changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect();
        Ok(now != setup.dirty)
    }

    /// Makes processes possible; guarded ones end with this process.
    pub(super) fn supervise(&mut self, guarded: bool) -> Result<()> {
        let supervisor = match &mut self.supervisor {
            Some(supervisor) => supervisor,
            none => none.insert(Supervisor::new()?),
        };
        if guarded && !self.is_guarded {
            let _ = own_files::hide(&self.setup.project);
            let mut locks = vec![OwnedFd::from(self.ledger.journal.lock()?)];
            if let Some(judge) = &self.judge {
                locks.push(judge.workspace.lock().try_clone()?.into());
            }
            let guardian = Guardian::start(self.run.mark(), &locks).context("cannot start the guardian")?;
            supervisor.guarded(guardian);
            self.is_guarded = true;
        }
        Ok(())
    }
}
