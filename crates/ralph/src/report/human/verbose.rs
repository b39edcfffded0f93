//! The details that only a user who asked for them wants: what was decided, and how long it took.

use std::time::Duration;

use ralph_core::{
    claim::Claim,
    duration::format_duration,
    engine::{
        Run,
        entry::Entry,
        event::{Event, GateEnded, TurnEnd, TurnEnded},
        plan::{Gate, Plan},
    },
};

use super::Human;
use crate::report::Reporter;

impl Human {
    /// Says the details of an event.
    pub(super) fn explain(&mut self, run: &Run, entry: &Entry) {
        let Run { plan, memory, .. } = run;
        if !self.look.verbose {
            return;
        }
        match &entry.event {
            Event::TurnStarted(turn) => {
                let retry =
                    if 1 < turn.attempt { format!(", attempt {}", turn.attempt) } else { String::new() };
                let of = plan.limits.max_iterations;
                self.detail(&format!("Iteration {}/{of} starting{retry}", turn.iteration));
            }
            Event::TurnEnded(turn) => self.explain_turn(plan, turn),
            Event::BaselineEnded(ended) | Event::GateEnded(ended) => self.explain_gate(plan, ended),
            Event::JudgeReady(ready) => {
                let steps = ready.prepared.len();
                let prepared =
                    if steps == 0 { String::new() } else { format!(", {steps} steps of preparation") };
                self.detail(&format!("The judge is at {} ({}{prepared})", ready.commit, millis(ready.ms)));
            }
            Event::JudgeGateEnded(ended) => {
                let how = if ended.ended.failure.is_some() { "failed" } else { "passed" };
                self.detail(&format!("Guardrail {how} in the judge ({})", millis(ended.ended.ms)));
            }
            Event::OldCheckEnded(ended) => {
                let how = if ended.failure.is_some() { "failed" } else { "passed" };
                self.detail(&format!("Guardrail {how} with the old checks ({})", millis(ended.ms)));
            }
            Event::BiteEnded(ended) => {
                let how = if ended.failure.is_some() { "failed" } else { "passed" };
                self.detail(&format!(
                    "Guardrail {how} with the new tests and the old code ({})",
                    millis(ended.ms)
                ));
            }
            Event::MessageAsked { message, ms, .. } => {
                let how = if message.is_some() { "answered" } else { "gave no usable answer" };
                self.detail(&format!("Asked for a commit message: the agent {how} ({})", millis(*ms)));
            }
            Event::CommitEnded(_) => {
                if let Some(took) = memory.commit_took {
                    self.detail(&format!("Commit took {}", format_duration(took)));
                }
            }
            Event::WaitEnded { ms } => self.detail(&format!("Waited {}", millis(*ms))),
            Event::TimeSpent { ms } => self.detail(&format!("That took {}", millis(*ms))),
            Event::Looked(view) => {
                self.detail(&format!("Looked at the directory, found: [{}]", view.files.join(", ")));
            }
            Event::ClaimPutAside { .. }
            | Event::ChildrenOutlived { .. }
            | Event::StoryHandedOver { .. }
            | Event::RunStarted(_)
            | Event::RunResumed { .. }
            | Event::BaselineStarted { .. }
            | Event::GateStarted { .. }
            | Event::JudgeStarted { .. }
            | Event::JudgeFailed { .. }
            | Event::JudgeGateStarted { .. }
            | Event::BaseTaken { .. }
            | Event::FilesLeft { .. }
            | Event::BaseMoved(_)
            | Event::ExamineStarted
            | Event::OldCheckStarted { .. }
            | Event::BiteStarted { .. }
            | Event::Examined(_)
            | Event::PutBack(_)
            | Event::OpinionStarted(_)
            | Event::OpinionEnded(_)
            | Event::LookForgone { .. }
            | Event::Delivered
            | Event::NoteSaid(_)
            | Event::NoteWithdrawn { .. }
            | Event::PauseRequested { .. }
            | Event::PauseStarted
            | Event::PauseEnded { .. }
            | Event::OutsideLooked(_)
            | Event::CommitStarted { .. }
            | Event::WaitStarted { .. }
            | Event::StopRequested
            | Event::Sandboxed { .. }
            | Event::Contacted { .. }
            | Event::RunsLater { .. }
            | Event::ToolCallsJudged { .. }
            | Event::Warned { .. }
            | Event::TasksJudged(_)
            | Event::EditsTaken(_)
            | Event::Found { .. }
            | Event::RecordRepaired { .. }
            | Event::Accepted { .. }
            | Event::Rejected { .. }
            | Event::FilesChanged { .. }
            | Event::ReviewsCounted(_)
            | Event::WorkCounted(_)
            | Event::PullRequest(_)
            | Event::RunEnded { .. }
            | Event::Unknown => {}
        }
    }

    /// How a command of the user's ended.
    fn explain_gate(&mut self, plan: &Plan, ended: &GateEnded) {
        let is_command = |gate: &Gate| gate.check.is_command();
        if !plan.gates.get(ended.gate).is_some_and(is_command) {
            return;
        }
        let code = ended.failure.as_ref().map_or(Some(0), |failure| failure.exit.code());
        let how = code
            .map_or_else(|| "did not exit by itself".to_owned(), |code| format!("exited with code {code}"));
        self.detail(&format!("Guardrail {how} ({})", millis(ended.ms)));
    }

    fn explain_turn(&mut self, plan: &Plan, turn: &TurnEnded) {
        self.detail(&format!("Agent turn took {}", millis(turn.ms)));
        for claim in &plan.claims {
            let has_file = |path: &String| turn.view.as_ref().is_some_and(|view| view.files.contains(path));
            let (what, found) = match claim {
                Claim::Tag { name, text, .. } => (format!("<{name}>{text}</{name}>"), turn.claimed),
                Claim::File { path } => (format!("the file {path}"), has_file(path)),
                Claim::StoriesApproved | Claim::PlanSettled | Claim::NothingLeft | Claim::TurnEnd => continue,
            };
            let found = match (&turn.end, found) {
                (_, true) => "found",
                (TurnEnd::Finished, false) => "not found",
                (_, false) => "does not count, because the turn did not finish",
            };
            self.detail(&format!("Completion response {what}: {found}"));
        }
    }
}

fn millis(ms: u64) -> String {
    format_duration(Duration::from_millis(ms))
}
