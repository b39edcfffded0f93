//! The checks of a stories loop that need no command: task rules, clean tree, every story done.

use ralph_core::{
    engine::{
        event::{Event, GateEnded},
        outcome::Outcome,
        plan::Check,
    },
    gate_failure::GateFailure,
    setup::PROJECT_DIR,
    stories::{Statistics, check, read},
};
use ralph_sys::files::{Readers, Root};

use super::assignment;
use crate::{
    driver::{Driver, work},
    project::git,
};

impl Driver {
    /// Checks that need no command. Nothing for those that do.
    pub(in crate::driver) fn check_in_process(&mut self, index: usize) -> Option<GateEnded> {
        let gate = self.ledger.run().plan.gates[index].clone();
        let failure = match gate.check {
            Check::Command { .. } | Check::ChildrenEnded { .. } => return None,
            Check::Work { tool_calls, otherwise } => {
                let is_enough = u64::from(tool_calls) <= self.ledger.run().state.spent().tools;
                let failure = work::judge(&mut self.ledger, is_enough, otherwise);
                let log = String::new();
                return Some(GateEnded { gate: index, failure, ms: 0, log, signature: None });
            }
            Check::CleanTree => self.unclean_tree(),
            Check::TaskRules => self.broken_rules(),
            Check::StoriesDone => self.open_stories(),
        };
        let (iteration, _) = self.ledger.run().state.position();
        let name = crate::gates::log_name(&self.ledger.run().plan.gates, index);
        let log = format!("{PROJECT_DIR}/guardrail_{iteration:03}_{name}.log");
        if let Some(failure) = &failure {
            let _ = Root::new(&self.setup.project).replace(&log, failure.as_bytes(), Readers::AsBefore);
        }
        let failure = failure.map(GateFailure::refused);
        Some(GateEnded { gate: index, failure, ms: 0, log, signature: None })
    }

    fn broken_rules(&mut self) -> Option<String> {
        if self.ledger.run().state.is_unjudged() {
            self.judge_tasks(true);
        }
        if let Some(broken) = self.ledger.run().state.broken() {
            return Some(broken.to_owned());
        }
        let stories = self.stories.as_ref()?;
        let text = stories.read().unwrap_or_default();
        let problems = check(&text, stories.setup.review(), stories.setup.review_cap);
        let lines: Vec<String> =
            problems.iter().map(|it| format!("- {}:{}: {it}", stories.shown(), it.line)).collect();
        (!lines.is_empty()).then(|| format!("The task list is not in order:\n{}", lines.join("\n")))
    }

    fn unclean_tree(&mut self) -> Option<String> {
        let git = self.git.clone()?;
        let changes = match git.changes(&mut self.supervisor) {
            Ok(changes) => git::since(&self.setup.dirty, changes),
            Err(error) => return Some(format!("git could not say what is committed: {error}")),
        };
        (!changes.is_empty()).then(|| assignment::unclean(&changes, &self.stories.as_ref()?.setup)).flatten()
    }

    fn open_stories(&mut self) -> Option<String> {
        let stories = self.stories.as_ref()?;
        let review = stories.setup.review();
        let list = read(&stories.read().unwrap_or_default()).list;
        if list.is_complete(review) {
            return None;
        }
        let open: Vec<&str> = list
            .user_stories
            .iter()
            .filter(|story| !story.is_done(review))
            .map(|story| story.id.as_str())
            .collect();
        let open = open.join(", ");
        let done = if stories.setup.skip_review { "pass" } else { "pass and are approved" };
        let text = format!("Not every story is done. These do not {done} yet: {open}.");
        self.ledger.warn(format!("the agent says that all is complete, but these stories are open: {open}"));
        Some(text)
    }

    /// What the reviews of a list that is done say.
    pub(in crate::driver) fn count_reviews(&mut self, outcome: &Outcome) {
        let Some(stories) = self.stories.as_ref().filter(|_| *outcome == Outcome::Done) else { return };
        let list = read(&stories.read().unwrap_or_default()).list;
        let statistics = Statistics::of(&list, stories.setup.review_cap);
        self.ledger.record(Event::ReviewsCounted(statistics));
    }
}
