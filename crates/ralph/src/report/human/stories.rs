//! What people see of a stories loop: the budget, what was undone, the checks that need no command, the reviews.

use ralph_core::{
    engine::{
        event::{GateEnded, RunStarted, TasksJudged, Turn},
        plan::{Check, Gate, Plan},
    },
    gate_failure::GateExit,
    stories::{DroppedCriterion, Undone},
};

use super::Human;
use crate::term::{Palette, fit::one_line, printable};

impl Human {
    /// What the list will take, and whether it is allowed.
    pub(super) fn budget(&mut self, started: &RunStarted) {
        let Palette { warn, quiet, .. } = self.look.palette;
        let Some(stories) = &started.setup.stories else { return };
        let allowed = started.plan.limits.max_iterations;
        let line = stories.budget.line(allowed);
        if stories.budget.needed() <= allowed {
            self.line(&format!("{quiet}{line}{quiet:#}"));
        } else {
            self.line(&format!("{warn}{line}; more: --max-iterations N{warn:#}"));
        }
    }

    /// What a turn is about, for the head of its iteration.
    pub(super) fn about(plan: &Plan, turn: &Turn) -> String {
        match &turn.story {
            Some(story) => format!(": {} {story}", turn.mode.name()),
            None if plan.judges_tasks() => format!(": {}", turn.mode.name()),
            None => String::new(),
        }
    }

    pub(super) fn tasks_judged(&mut self, judged: &TasksJudged) {
        let Palette { warn, good, .. } = self.look.palette;
        if let Some(run) = judged.run.as_ref().filter(|_| !judged.broken.is_empty()) {
            self.alert(&format!(
                "{warn}The last turn of run {run} was never judged. Ralph did it now.{warn:#}"
            ));
        }
        for Undone { story, field, was, now } in &judged.undone {
            let story = story.as_ref().map(|story| format!("{story} ")).unwrap_or_default();
            let text = format!("{story}{field}: {was}, restored to {now}");
            self.alert(&format!("{warn}Undone:{warn:#} {}", printable(&text)));
        }
        for DroppedCriterion { story, criterion } in &judged.dropped {
            let text = format!("{story} no longer demands: {criterion}");
            self.alert(&format!("{warn}Split:{warn:#} {}", one_line(&text)));
        }
        for story in &judged.capped {
            let mark = self.look.marks.good;
            let story = printable(story).into_owned();
            self.line(&format!("{mark} {good}Approved at the review cap:{good:#} {story}"));
        }
    }

    /// A check that ralph makes without a command.
    pub(super) fn check_ended(&mut self, gate: &Gate, ended: &GateEnded) {
        let Palette { good, bad, .. } = self.look.palette;
        let name = gate.check.name();
        let Some(failure) = &ended.failure else {
            let mark = self.look.marks.good;
            if gate.check == Check::PlanSettled {
                return self.line(&format!("{mark} {good}Plan settled:{good:#} no task is open"));
            }
            return self.line(&format!("{mark} {good}Guardrail passed:{good:#} {name}"));
        };
        let mark = self.look.marks.bad;
        match &failure.exit {
            GateExit::OpenTasks(open) => {
                let open = printable(&open.sentence()).into_owned();
                self.line(&format!("{mark} {bad}Claim refused:{bad:#} {open}"));
            }
            _ => self.line(&format!("{mark} {bad}Guardrail failed:{bad:#} {name}")),
        }
        self.excerpt(&failure.output, failure.output.lines().count(), "");
    }
}
