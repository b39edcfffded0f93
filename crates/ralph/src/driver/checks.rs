//! Checks the gates of the plan: commands, and what ralph finds out by itself.

use ralph_core::{
    engine::{
        event::{Event, GateEnded},
        plan::Check,
    },
    gate_failure::GateFailure,
};
use ralph_sys::files::{Readers, Root};

use super::{Driver, await_others::await_children, plan_tasks, site::Site, work};
use crate::{gates, project::iteration_files};

impl Driver {
    /// Checks a gate after a turn.
    pub(super) fn run_gate(&mut self, index: usize) {
        if let Check::ChildrenEnded { child_wait_timeout_ms, poll_interval_ms } =
            self.site.run().plan.gates[index].check
        {
            return await_children(&mut self.site, index, child_wait_timeout_ms, poll_interval_ms);
        }
        if let Some(ended) = self.check_in_process(index) {
            return self.site.ledger.record(Event::GateEnded(ended));
        }
        self.site.ledger.gate_started(index);
        let (iteration, attempt) = self.site.run().state.position();
        if let Some(ended) = self.run_command(index, iteration, attempt) {
            self.site.ledger.record(Event::GateEnded(ended));
        }
    }

    /// Checks a gate before the first turn; what it finds is held against no one.
    pub(super) fn run_baseline(&mut self, index: usize) {
        self.site.ledger.baseline_started(index);
        if let Some(ended) = self.run_command(index, 0, 1) {
            self.site.ledger.record(Event::BaselineEnded(ended));
        }
    }

    /// Runs the command of a gate; nothing when someone ended it.
    fn run_command(&mut self, index: usize, iteration: u32, attempt: u32) -> Option<GateEnded> {
        let Self { site, containment, stories, .. } = self;
        let Site { ledger, setup, dir, supervisor } = &mut *site;
        let plan = ledger.run().plan.gates.clone();
        let name = gates::log_name(&plan, index);
        let was_failing = ledger.run().state.baseline().still_fails(index);
        let sandbox = containment.of_gates(setup);
        let place = gates::GatePlace {
            setup,
            run: dir,
            iteration,
            attempt,
            name: &name,
            was_failing,
            sandbox,
            in_judge: None,
        };
        let found = gates::check(supervisor, &plan, index, place, &mut |happening| ledger.notice(happening));
        containment.note_contacts(site);
        if let Some(stories) = stories {
            // A command may run what the agent wrote.
            stories.forget();
        }
        found
    }

    /// Checks that need no command. Nothing for those that do.
    fn check_in_process(&mut self, index: usize) -> Option<GateEnded> {
        let Self { site, git, stories, containment, .. } = self;
        let (git, stories) = (git.as_ref(), stories.as_mut());
        let failure = match site.run().plan.gates[index].check {
            Check::Command { .. }
            | Check::Hidden { .. }
            | Check::Review { .. }
            | Check::ChildrenEnded { .. } => return None,
            Check::Work { tool_calls, otherwise } => {
                let is_enough = u64::from(tool_calls) <= site.run().state.spent().tools;
                let failure = work::judge(&mut site.ledger, is_enough, otherwise);
                return Some(GateEnded::own(index, failure, String::new()));
            }
            Check::CleanTree => {
                stories.and_then(|stories| stories.unclean_tree(site, git)).map(GateFailure::refused)
            }
            Check::TaskRules => {
                stories.and_then(|stories| stories.broken_rules(site, git)).map(GateFailure::refused)
            }
            Check::StoriesDone => {
                stories.and_then(|stories| stories.open_stories(site)).map(GateFailure::refused)
            }
            Check::PlanSettled => plan_tasks::unsettled(site, containment),
        };
        let (iteration, _) = site.run().state.position();
        let name = gates::log_name(&site.run().plan.gates, index);
        let log = iteration_files::log(iteration, &name);
        if let Some(failure) = &failure {
            let _ =
                Root::new(&site.setup.project).replace(&log, failure.output.as_bytes(), Readers::AsBefore);
        }
        Some(GateEnded::own(index, failure, log))
    }
}
