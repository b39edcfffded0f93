//! What people see of the gates: which one runs, and what it found.

use std::time::Duration;

use ralph_core::{
    duration::format_duration,
    engine::{
        Run,
        event::{GateEnded, JudgeGateEnded, JudgeReady},
        plan::Gate,
    },
    gate_failure::GateFailure,
    verify::rules::RunsWhere,
};

use super::Human;
use crate::{
    report::Reporter,
    term::{
        Palette,
        fit::{columns, fit, one_line},
        printable,
    },
};

/// A command is not cut to less.
const MIN_NAME_WIDTH: usize = 12;

impl Human {
    pub(super) fn gate_started(&mut self, gate: &Gate) {
        if !gate.check.judges() {
            let Palette { quiet, .. } = self.look.palette;
            self.line(&format!("{quiet}Waiting until {}.{quiet:#}", gate.check.name()));
            return;
        }
        if !gate.check.is_command() {
            return;
        }
        if self.look.verbose {
            self.detail(&format!("Running guardrail: {}", gate.check.name()));
        } else {
            let Palette { quiet, .. } = self.look.palette;
            self.line(&format!("{quiet}Running guardrail: {}{quiet:#}", one_line(gate.check.name())));
        }
    }

    pub(super) fn baseline_started(&mut self, gate: &Gate) {
        let Palette { quiet, .. } = self.look.palette;
        self.line(&format!("{quiet}Before the first iteration: {}{quiet:#}", one_line(gate.check.name())));
    }

    pub(super) fn gate_ended(&mut self, gate: &Gate, ended: &GateEnded) {
        if !gate.check.is_command() {
            return self.check_ended(gate, ended);
        }
        let Palette { good, bad, quiet, .. } = self.look.palette;
        if !gate.check.judges() {
            return;
        }
        let time = format_duration(Duration::from_millis(ended.ms));
        let name = one_line(gate.check.name());
        let room = |rest: usize| self.screen.columns().saturating_sub(rest).max(MIN_NAME_WIDTH);
        let Some(failure) = &ended.failure else {
            let mark = self.look.marks.good;
            let used = columns(mark) + " Guardrail passed:  ()".len() + time.len();
            let name = fit(&name, room(used));
            self.line(&format!("{mark} {good}Guardrail passed:{good:#} {name} {quiet}({time}){quiet:#}"));
            return;
        };
        let how = failure.exit.words();
        let mark = self.look.marks.bad;
        let action = format!("{:?}", gate.fail_action).to_uppercase();
        let place = if failure.contained.is_some() { "inside the sandbox, " } else { "" };
        let facts = format!("({how}, {place}{time}, {action})");
        let used = columns(mark) + " Guardrail failed:  ".len() + facts.len();
        let name = fit(&name, room(used)).into_owned();
        let used = used + columns(&name);
        // The path stands on a line of its own where both do not fit.
        let is_wide = used + 1 + columns(&ended.log) <= self.screen.columns();
        let before = if is_wide { " ".to_owned() } else { format!("\n  {} ", self.look.marks.output) };
        self.line(&format!(
            "{mark} {bad}Guardrail failed:{bad:#} {name} {facts}{before}{quiet}{}{quiet:#}",
            ended.log
        ));
        self.ending(failure);
        if failure.was_failing {
            self.line(&format!("  {quiet}It was already failing before the first iteration.{quiet:#}"));
        }
    }

    /// The line that looks like the reason, and the last lines: what a person would look for in the log.
    fn ending(&mut self, failure: &GateFailure) {
        let Palette { bad, quiet, .. } = self.look.palette;
        let mark = self.look.marks.output;
        let room = self.screen.columns().saturating_sub(columns(mark) + 3);
        let (last, has_more) = failure.ending(self.look.max_lines);
        let told = |line: &str| fit(&printable(line).replace('\t', "    "), room).into_owned();
        let reason =
            failure.error_line.as_deref().filter(|reason| !last.iter().any(|line| line.contains(reason)));
        if let Some(reason) = reason {
            self.line(&format!("  {mark} {bad}{}{bad:#}", told(reason)));
        }
        if has_more {
            self.line(&format!("  {mark} {quiet}...{quiet:#}"));
        }
        for line in last {
            self.line(&format!("  {mark} {quiet}{}{quiet:#}", told(line.trim_end())));
        }
    }

    /// Only what fails is worth a line before anything has been done.
    /// Says what could not be installed in the judge.
    pub(super) fn judge_ready(&mut self, ready: &JudgeReady) {
        let Palette { warn, .. } = self.look.palette;
        for step in ready.prepared.iter().filter(|step| !step.passed) {
            let command = one_line(&step.command);
            self.alert(&format!("{warn}warning:{warn:#} preparing the clean clone failed: {command}"));
        }
    }

    /// Says how a guardrail ended in the judge: before the first iteration only where that is a surprise.
    pub(super) fn judge_gate_ended(&mut self, run: &Run, ended: &JudgeGateEnded) {
        let JudgeGateEnded { ended, differs } = ended;
        let Some(gate) = run.plan.gates.get(ended.gate) else { return };
        let Palette { good, bad, warn, quiet, .. } = self.look.palette;
        let (name, time) = (one_line(gate.check.name()), format_duration(Duration::from_millis(ended.ms)));
        let is_base = run.state.spent().turns == 0;
        let Some(failure) = &ended.failure else {
            if !is_base {
                let mark = self.look.marks.good;
                self.line(&format!(
                    "{mark} {good}Passed in a clean clone:{good:#} {name} {quiet}({time}){quiet:#}"
                ));
            }
            return;
        };
        if is_base && run.state.baseline().still_fails(ended.gate) {
            return;
        }
        let (how, log) = (failure.exit.words(), &ended.log);
        if is_base && gate.runs_where == RunsWhere::Judge {
            return self.baseline_ended(gate, ended);
        }
        if is_base {
            self.alert(&format!(
                "{warn}warning:{warn:#} {name} passes here and fails in a clean clone of the commit ({how}, {time}); the \
                 working tree decides about it {quiet}{log}{quiet:#}"
            ));
        } else {
            let mark = self.look.marks.bad;
            self.line(&format!(
                "{mark} {bad}Failed in a clean clone:{bad:#} {name} ({how}, {time}) {quiet}{log}{quiet:#}"
            ));
        }
        for line in differs {
            self.line(&format!("   {}", one_line(line)));
        }
    }

    pub(super) fn baseline_ended(&mut self, gate: &Gate, ended: &GateEnded) {
        let Some(failure) = &ended.failure else { return };
        let Palette { warn, quiet, .. } = self.look.palette;
        let how = failure.exit.words();
        let time = format_duration(Duration::from_millis(ended.ms));
        let name = one_line(gate.check.name());
        self.line(&format!(
            "{warn}Already failing:{warn:#} {name} ({how}, {time}) {quiet}{}{quiet:#}",
            ended.log
        ));
    }
}
