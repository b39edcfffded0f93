//! What ralph itself does: iterations, gates, commits, the end.

use std::{
    io::{self, Write},
    path::Path,
    time::Duration,
};

use super::Human;
use crate::{
    duration::format_duration,
    engine::{
        State,
        event::{CommitEnd, GateEnded, RunStarted, TurnEnd, TurnEnded},
        outcome::Outcome,
        plan::{Gate, Plan},
    },
    prompt::OUTPUT_HEADING,
    report::{Reporter, look::Marks, summary},
    term::{Palette, printable},
};

impl Human {
    pub(super) fn started(&mut self, started: &RunStarted) {
        let Palette { strong, quiet, .. } = self.look.palette;
        let (plan, setup) = (&started.plan, &started.setup);
        self.keeps_leftovers = setup.keep_leftovers;
        self.run.clone_from(&started.run);
        self.has_gates = !plan.gates.is_empty();
        let gates = summary::count(plan.gates.len() as u64, "gate");
        let agent = Path::new(&setup.agent.command).file_name().unwrap_or_default().to_string_lossy();
        self.line(&format!(
            "{strong}ralph {}{strong:#} {quiet}{}{quiet:#} · agent {agent} · at most {} · {gates}",
            plan.mode,
            started.run,
            summary::count(plan.limits.iterations.into(), "iteration")
        ));
        if plan.gates.is_empty() {
            self.line(&format!(
                "{quiet}Nothing checks the agent's word: add \"guardrails\" to .ralph/settings.json.{quiet:#}"
            ));
        }
    }

    pub(super) fn iteration(&mut self, plan: &Plan, iteration: u32, attempt: u32) {
        (self.tool_count, self.tool_errors) = (0, 0);
        let Palette { strong, accent, .. } = self.look.palette;
        let of = plan.limits.iterations;
        let retry = if 1 < attempt { format!(", attempt {attempt}") } else { String::new() };
        let title = format!("Iteration {iteration} of {of}{retry}");
        let rule = "─".repeat(self.width.min(80).saturating_sub(title.len() + 4));
        self.line(&format!("\n{accent}──{accent:#} {strong}{title}{strong:#} {accent}{rule}{accent:#}"));
    }

    pub(super) fn turn_ended(&mut self, turn: &TurnEnded) {
        self.tools.clear();
        let Palette { bad, warn, .. } = self.look.palette;
        match &turn.end {
            TurnEnd::Failed(failure) => {
                let mark = self.look.marks.bad;
                self.line(&format!("{mark} {bad}The agent failed: {}{bad:#}", printable(&failure.message)));
            }
            TurnEnd::Paused => self.line("The agent waits for someone outside."),
            TurnEnd::Interrupted => self.line(&format!("{warn}The agent was ended.{warn:#}")),
            TurnEnd::Abandoned => {
                self.line(&format!("{warn}The last turn was cut off; it runs again.{warn:#}"));
            }
            TurnEnd::Finished if turn.claimed && self.has_gates => {
                let Palette { accent, .. } = self.look.palette;
                self.line(&format!("{accent}The agent says that it is done. Ralph checks.{accent:#}"));
            }
            TurnEnd::Finished => {}
        }
        for leftover in &turn.leftovers {
            let fate = if self.keeps_leftovers { "kept" } else { "ended" };
            self.line(&format!("{warn}Left behind by the agent, {fate}: {}{warn:#}", printable(leftover)));
        }
        if !turn.denials.is_empty() {
            let tools = turn.denials.join(", ");
            self.line(&format!(
                "{warn}The agent's own permission rules refused: {tools}. To lift them: \"agent\": {{\"permissions\": \"skip\"}}{warn:#}"
            ));
        }
    }

    pub(super) fn gate_ended(&mut self, gate: &Gate, ended: &GateEnded) {
        let Palette { good, bad, quiet, .. } = self.look.palette;
        let time = format_duration(Duration::from_millis(ended.ms));
        let name = printable(gate.check.name()).into_owned();
        if ended.failure.is_none() {
            let mark = self.look.marks.good;
            self.line(&format!("{mark} {good}Guardrail passed:{good:#} {name} {quiet}({time}){quiet:#}"));
            return;
        }
        let how = ended.code.map_or("was ended".to_owned(), |code| format!("exit code {code}"));
        let mark = self.look.marks.bad;
        let action = format!("{:?}", gate.fail_action).to_uppercase();
        self.line(&format!(
            "{mark} {bad}Guardrail failed:{bad:#} {name} ({how}, {time}, {action}) {quiet}{}{quiet:#}",
            ended.log
        ));
        let output = ended.failure.as_deref().and_then(|text| text.split_once(OUTPUT_HEADING));
        self.excerpt(output.map_or("", |(_, output)| output.trim_end()));
    }

    /// The first lines of a text, and how many more there are.
    pub(super) fn excerpt(&mut self, text: &str) {
        let Palette { quiet, .. } = self.look.palette;
        for line in text.lines().take(self.look.max_lines) {
            let line: String = printable(line).chars().take(self.width.saturating_sub(5)).collect();
            self.line(&format!("  {} {quiet}{line}{quiet:#}", self.look.marks.output));
        }
        let more = text.lines().count().saturating_sub(self.look.max_lines);
        if 0 < more {
            self.line(&format!("     {quiet}... {}{quiet:#}", summary::count(more as u64, "more line")));
        }
    }

    pub(super) fn committed(&mut self, end: &CommitEnd) {
        let Palette { good, bad, quiet, .. } = self.look.palette;
        let Marks { good: ok, bad: failed, .. } = self.look.marks;
        match end {
            CommitEnd::Made { commit, subject } => {
                let subject = printable(subject).into_owned();
                self.line(&format!("{ok} {good}Committed{good:#} {quiet}{commit}{quiet:#} {subject}"));
            }
            CommitEnd::Already => {
                self.line(&format!("{quiet}The agent had committed its work itself.{quiet:#}"));
            }
            CommitEnd::NotWanted | CommitEnd::Changed => {}
            CommitEnd::Nothing => self.line(&format!("{quiet}Nothing to commit.{quiet:#}")),
            CommitEnd::Failed { output } => {
                self.line(&format!("{failed} {bad}The commit failed:{bad:#} {}", printable(output)));
            }
        }
    }

    pub(super) fn ended(&mut self, plan: &Plan, state: &State, outcome: &Outcome) {
        let Palette { good, bad, warn, .. } = self.look.palette;
        let (mark, style) = match outcome {
            Outcome::Done => (self.look.marks.good, good),
            Outcome::Exhausted { .. } | Outcome::Paused { .. } | Outcome::Interrupted => {
                (self.look.marks.pending, warn)
            }
            Outcome::Unready { .. } | Outcome::GaveUp { .. } => (self.look.marks.bad, bad),
        };
        self.line("");
        self.flush();
        if !self.look.summary {
            return;
        }
        let mut summary = io::stdout().lock();
        let line = printable(&summary::outcome(outcome, plan)).into_owned();
        let _ = writeln!(summary, "{mark} {style}{line}{style:#}\n   {}", summary::spent(state));
        if !outcome.is_final() && !matches!(outcome, Outcome::Unready { .. }) {
            let raise = match outcome {
                Outcome::Exhausted { limit } => limit.raised(plan),
                _ => String::new(),
            };
            let words = ["ralph resume", &self.run, &raise];
            let command: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let _ = writeln!(summary, "   go on with: {}", command.join(" "));
        }
        let _ = summary.flush();
    }
}
