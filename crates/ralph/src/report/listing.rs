//! One run in a list of runs, as people see it.

use std::{collections::BTreeSet, fmt::Write, time::Duration};

use jiff::Timestamp;
use ralph_core::{
    containment::{contact::Contact, level::Level},
    duration::millis,
    engine::{
        Run,
        entry::Entry,
        event::{Event, GateEnded},
        judgement::Judgement,
    },
    gate_failure::GateExit,
    view::Standing,
};

use super::{screen::between, style::Marks, summary, who};
use crate::{
    journal::Folded,
    term::{
        Palette,
        fit::{columns, fit, flow, one_line},
        wrap::wrap,
    },
};

/// One run, with what its record alone does not say.
pub(crate) struct Listed<'a> {
    pub(crate) id: &'a str,
    pub(crate) folded: &'a Folded,
    pub(crate) standing: Standing,
    /// The first line of what was asked.
    pub(crate) asked: Option<String>,
    /// What it was last seen doing, if it runs.
    pub(crate) doing: Option<String>,
    pub(crate) now: Timestamp,
}

/// How a list looks.
pub(crate) struct Style {
    pub(crate) palette: Palette,
    pub(crate) marks: Marks,
    pub(crate) columns: usize,
    /// Say which project a run belongs to.
    pub(crate) with_project: bool,
}

impl Listed<'_> {
    /// A line, and below it what they may want to know.
    pub(crate) fn text(&self, style: &Style) -> String {
        let Style { palette: Palette { good, bad, warn, accent, quiet, .. }, marks, .. } = *style;
        let (mark, color) = match self.standing {
            Standing::Running => (marks.running, accent),
            Standing::Complete => (marks.good, good),
            Standing::Paused
            | Standing::Killed
            | Standing::Findings
            | Standing::Limit
            | Standing::Stopped
            | Standing::Interrupted => (marks.pending, warn),
            Standing::Unready | Standing::GaveUp => (marks.bad, bad),
        };
        let widest = columns(marks.good).max(columns(marks.bad));
        let gap = " ".repeat(widest.saturating_sub(columns(mark)) + 1);
        let word = self.standing.word();
        let margin = widest + 1 + "interrupted ".len();
        let facts = flow(&self.facts(), marks.dot, margin + self.id.len() + 2, margin, style.columns);
        let mut text = format!("{mark}{gap}{color}{word:<11}{color:#} {}  {facts}\n", self.id);
        for line in self.details(style, margin) {
            let _ = writeln!(text, "{:margin$}{line}", "");
        }
        for (what, command) in self.commands() {
            let _ = writeln!(text, "{:margin$}{quiet}{what}:{quiet:#} {command}", "");
        }
        text
    }

    /// What can be typed next, each with what it is for.
    pub(crate) fn commands(&self) -> Vec<(&'static str, String)> {
        self.standing.commands(self.id, &self.folded.run)
    }

    fn facts(&self) -> Vec<String> {
        let Folded { run: Run { started, plan, state, .. }, entries, .. } = self.folded;
        let of = plan.limits.max_iterations;
        // What has ended does not begin another.
        let iteration = if state.outcome().is_some() { state.spent().begun } else { state.position().0 };
        let mut facts = vec![started.plan.preset.clone(), format!("iteration {} of {of}", iteration.min(of))];
        // A wish to stop and a warning are no part of the work.
        let is_work = |entry: &&Entry| !matches!(entry.event, Event::StopRequested | Event::Warned { .. });
        let last = entries.iter().rev().find(is_work);
        let since = last.map_or(Duration::ZERO, |entry| between(entry.at, self.now));
        let worked = Duration::from_millis(state.spent().ms);
        let is_running = matches!(self.standing, Standing::Running | Standing::Paused);
        let worked = if self.standing == Standing::Running { worked + since } else { worked };
        facts.push(summary::time(millis(worked)));
        facts.extend(summary::cost(&state.spent().usage));
        if 0 < state.spent().commits {
            facts.push(summary::count(state.spent().commits.into(), "commit"));
        }
        facts.push(one_line(&who::agents(&started.setup)).into_owned());
        if !is_running {
            facts.push(ago(since));
        }
        facts
    }

    /// More about the run; every line has room beside the margin.
    fn details(&self, style: &Style, margin: usize) -> Vec<String> {
        let room = style.columns.saturating_sub(margin);
        let fitted = |text: &str| fit(&one_line(text), room).into_owned();
        let whole =
            |text: &str| -> Vec<String> { wrap(&one_line(text), room).lines().map(str::to_owned).collect() };
        let Run { started, plan, state, .. } = &self.folded.run;
        let mut lines = Vec::new();
        lines.extend(self.asked.as_deref().map(|asked| fitted(&format!("asked: {asked}"))));
        lines.extend(state.outcome().into_iter().flat_map(|it| whole(&summary::outcome(it, plan, state))));
        let findings = summary::findings(state);
        if !findings.is_empty() {
            lines.push("Needs attention:".to_owned());
            lines.extend(findings.iter().flat_map(|line| whole(&format!("- {line}"))));
        }
        lines.extend(summary::opinions(state).iter().flat_map(|line| whole(line)));
        let widest = room.saturating_sub("guardrails: x failed (was ended),".len()).clamp(12, 60);
        let gates: Vec<String> = self
            .gates()
            .into_iter()
            .filter_map(|ended| {
                let name = one_line(plan.gates.get(ended.gate)?.check.name()).into_owned();
                let how = ended.failure.as_ref().map(|failure| &failure.exit);
                let how = match how {
                    None => "ok".to_owned(),
                    Some(GateExit::Refused) => "failed".to_owned(),
                    Some(exit) => match exit.code() {
                        Some(code) => format!("failed (exit {code})"),
                        None => format!("failed ({})", exit.words()),
                    },
                };
                Some(format!("{} {how}", fit(&name, widest)))
            })
            .collect();
        if !gates.is_empty() {
            let label = "guardrails: ";
            let flowed = flow(&gates, ", ", margin + label.len(), margin + label.len(), style.columns);
            lines.push(format!("{label}{flowed}"));
        }
        lines.extend(summary::tests(state, plan).iter().flat_map(|line| whole(line)));
        lines.extend(summary::work(&self.folded.run.memory));
        lines.extend(self.containment().into_iter().flat_map(|line| whole(&line)));
        lines.extend(self.refusals().into_iter().flat_map(|line| whole(&line)));
        lines.extend(summary::person_notes(state).iter().map(|line| fitted(line)));
        lines.extend(self.doing.as_deref().map(fitted));
        if style.with_project {
            // A path is for copying, so it stays whole.
            lines.push(format!("in {}", started.setup.project.display()));
        }
        lines
    }

    /// The level of the sandbox and whom processes inside wanted to talk to.
    fn containment(&self) -> Option<String> {
        let level = self.level()?;
        let (refused, reached): (Vec<_>, Vec<_>) =
            self.connections().into_iter().partition(|contact| contact.refused.is_some());
        let names = |contacts: Vec<Contact>| {
            contacts.into_iter().map(|contact| contact.host).collect::<Vec<_>>().join(", ")
        };
        let mut line = format!("sandbox: {}", level.name());
        if !refused.is_empty() {
            let _ = write!(line, "; refused {}", names(refused));
        }
        if !reached.is_empty() {
            let _ = write!(line, "; reached {}", names(reached));
        }
        Some(line)
    }

    /// The level of the sandbox.
    pub(crate) fn level(&self) -> Option<Level> {
        self.folded.entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Sandboxed { level, .. } => Some(*level),
            _ => None,
        })
    }

    /// Whom processes inside wanted to talk to, each once.
    pub(crate) fn connections(&self) -> Vec<Contact> {
        connections(self.folded)
    }

    /// What the guard refused, the last first.
    fn refusals(&self) -> Option<String> {
        let (judged, refused) = self.judgements();
        let last = refused.last()?.refusal();
        Some(format!(
            "guard: refused {} of {}, last: {last}",
            refused.len(),
            summary::count(judged, "tool call")
        ))
    }

    /// How many tool calls the guard judged, and those that it refused.
    pub(crate) fn judgements(&self) -> (u64, Vec<&Judgement>) {
        let calls = self.folded.entries.iter().filter_map(|entry| match &entry.event {
            Event::ToolCallsJudged { calls } => Some(calls),
            _ => None,
        });
        let mut judged = 0;
        let refused = calls.flatten().inspect(|_| judged += 1).filter(|call| call.is_refusal()).collect();
        (judged, refused)
    }

    /// What the gates found when they were last checked.
    pub(crate) fn gates(&self) -> Vec<&GateEnded> {
        let (mut gates, mut is_over) = (Vec::new(), false);
        for entry in &self.folded.entries {
            match &entry.event {
                Event::TurnStarted(_) => is_over = true,
                Event::GateEnded(ended) => {
                    if std::mem::take(&mut is_over) {
                        gates.clear();
                    }
                    gates.push(ended);
                }
                _ => {}
            }
        }
        gates
    }
}

/// How long ago, in one unit.
fn ago(since: Duration) -> String {
    match since.as_secs() {
        0..60 => "just now".to_owned(),
        seconds @ 60..3_600 => format!("{}m ago", seconds / 60),
        seconds @ 3_600..86_400 => format!("{}h ago", seconds / 3_600),
        seconds => format!("{}d ago", seconds / 86_400),
    }
}

/// Whom processes inside the sandbox of a run wanted to talk to, each once.
pub(crate) fn connections(folded: &Folded) -> Vec<Contact> {
    let hosts = folded.entries.iter().filter_map(|entry| match &entry.event {
        Event::Contacted { hosts } => Some(hosts),
        _ => None,
    });
    hosts.flatten().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
pub(super) mod tests;
