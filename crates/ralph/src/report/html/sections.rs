//! The parts of the report that are words.

use std::fmt::Write;

use ralph_agents::Usage;
use ralph_core::{
    engine::{
        Run,
        event::{Event, WorkCounted},
    },
    gate_failure::GateFailure,
    view::Standing,
};

use super::{
    Page, escape,
    recap::{Checked, Recap, TurnRow},
};
use crate::{
    project::git::FileChange,
    report::{
        summary::{self, count},
        who,
    },
};

/// Longer tables are cut in the middle: the beginning and the end tell most.
const MAX_ROWS: usize = 400;

impl Page<'_> {
    pub(super) fn heading(&self, story: &Recap) -> String {
        let Run { started, plan, state, .. } = &self.folded.run;
        let class = match self.standing {
            Standing::Complete => "good",
            Standing::Unready | Standing::GaveUp | Standing::Killed => "bad",
            Standing::Running
            | Standing::Paused
            | Standing::Findings
            | Standing::Limit
            | Standing::Stopped
            | Standing::Interrupted => "warn",
        };
        let end = self.folded.entries.iter().rev().find_map(|entry| match &entry.event {
            Event::RunEnded { outcome, .. } => Some(summary::outcome(outcome, plan, state)),
            _ => None,
        });
        let sandbox = story.sandbox.map(|level| format!(" · sandbox {}", level.name())).unwrap_or_default();
        format!(
            "<h1>ralph {} <span class=\"badge {class}\">{}</span></h1>\n<p>{}</p>\n\
             <p class=\"quiet\">{} · run {} · agent {}{sandbox}</p>\n",
            escape(&started.plan.preset),
            self.standing.word(),
            escape(&end.unwrap_or_else(|| "The run has not ended by itself.".to_owned())),
            escape(&started.setup.project.display().to_string()),
            escape(self.id),
            escape(&who::agents(&started.setup)),
        )
    }

    pub(super) fn figures(&self, story: &Recap) -> String {
        let entries = &self.folded.entries;
        let spent = self.folded.run.state.spent();
        let mut figures = Vec::new();
        let mut add = |value: String, what: &str| figures.push((value, what.to_owned()));
        let of = self.folded.run.plan.limits.max_iterations;
        let iterations = story.turns.iter().map(|told| told.turn.iteration).max().unwrap_or(0);
        add(format!("{iterations} of {of}"), "iterations");
        if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
            let from = first.at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
            let to = last.at.to_zoned(self.zone.clone()).strftime("%H:%M");
            add(summary::time(spent.ms), &format!("{from} to {to}"));
        }
        let unknown = if 0 < spent.unmetered { "unmetered" } else { "not reported" };
        let cost = summary::cost(&spent.usage).unwrap_or(unknown.to_owned());
        add(cost, "cost");
        if 0 < spent.usage.tokens() {
            let Usage { input, cached, output, .. } = spent.usage;
            add(
                summary::short(spent.usage.tokens()),
                &format!("tokens: {}", summary::tokens(input, cached, output)),
            );
        }
        add(spent.tools.to_string(), "tool calls");
        add(self.commits.len().max(spent.commits as usize).to_string(), "commits");
        let Run { plan, state, .. } = &self.folded.run;
        for tests in state.tests(plan) {
            let words = tests.now.words(tests.before);
            let (ran, rest) = words.split_once(' ').unwrap_or((&words, ""));
            add(ran.to_owned(), &format!("{rest} ({})", plan.gates[tests.gate].check.name()));
        }
        if 0 < spent.asked.turns {
            add(spent.asked.turns.to_string(), &summary::asked(state));
        }
        if 0 < story.waited_ms {
            add(summary::time(story.waited_ms), "spent waiting");
        }
        let cells = figures
            .iter()
            .map(|(value, what)| format!("<div><b>{}</b><span>{}</span></div>", escape(value), escape(what)));
        format!("<div class=\"figures\">{}</div>\n", cells.collect::<String>())
    }

    /// A guardrail that failed after the last turn.
    fn failed_check(&self, checked: &Checked) -> Option<String> {
        let failure = checked.failure.as_ref()?;
        let gate = self.folded.run.plan.gates.get(checked.gate);
        let mut facts = vec![failure.exit.words()];
        facts.extend(failure.contained.map(|level| format!("inside the sandbox {}", level.name())));
        facts.extend(failure.was_failing.then(|| "already failing before the first iteration".to_owned()));
        Some(format!(
            "<code>{}</code> failed after the last turn ({}; <code>{}</code>):<pre>{}</pre>",
            escape(gate.map_or("a guardrail", |gate| gate.check.name())),
            escape(&facts.join(", ")),
            escape(&checked.log),
            escape(&ending(failure))
        ))
    }

    /// What a person should know in the morning.
    pub(super) fn concerns(&self, story: &Recap) -> Option<String> {
        let findings = summary::findings(&self.folded.run.state);
        let mut concerns: Vec<String> =
            findings.iter().map(|line| format!("Finding: {}.", escape(line))).collect();
        concerns.extend(
            summary::notes(&self.folded.run.state).iter().map(|line| format!("Note: {}.", escape(line))),
        );
        let opinions = summary::opinions(&self.folded.run.state);
        concerns.extend(opinions.iter().map(|line| format!("{}.", escape(line))));
        let said = self.folded.run.state.person_notes().iter();
        concerns.extend(said.map(|note| {
            let (number, state) = (note.number, summary::note_state(note));
            format!("You said (note {number}, {state}): {}", escape(&note.text))
        }));
        let diff = self.checks_diff.as_ref().filter(|diff| !diff.is_empty());
        concerns.extend(diff.map(|diff| {
            format!("<details><summary>How the checks differ</summary><pre>{}</pre></details>", escape(diff))
        }));
        concerns.extend(story.blocks.iter().map(|block| escape(block)));
        if let Some(last) = story.turns.last() {
            concerns.extend(last.gates.iter().filter_map(|checked| self.failed_check(checked)));
        }
        concerns.extend(
            summary::baseline(&self.folded.run.state, &self.folded.run.plan).map(|line| escape(&line)),
        );
        let refuted = story.turns.iter().filter(|told| told.claimed && told.is_refused()).count();
        if 0 < refuted {
            concerns.push(format!(
                "The agent said that it was done when it was not: {}.",
                count(refuted as u64, "time")
            ));
        }
        let failed = story.turns.iter().filter(|told| told.problem.is_some()).count();
        if 0 < failed {
            let said = escape(&story.last_lines.join("\n"));
            let said = if said.is_empty() { said } else { format!(" It said last:<pre>{said}</pre>") };
            concerns.push(format!("{} of the agent failed.{said}", count(failed as u64, "turn")));
        }
        if 0 < story.failed_commits {
            concerns.push(format!("{} could not be made.", count(story.failed_commits.into(), "commit")));
        }
        if 0 < story.resumes {
            concerns.push(format!(
                "The run was interrupted and resumed: {}.",
                count(story.resumes.into(), "time")
            ));
        }
        concerns.extend(story.warnings.iter().map(|text| escape(text)));
        let fate = summary::leftovers(&self.folded.run.started.setup);
        concerns.extend(
            story
                .leftovers
                .iter()
                .map(|text| format!("Left behind after a turn, {fate}: <code>{}</code>", escape(text))),
        );
        (!concerns.is_empty()).then(|| format!("<ul>\n<li>{}</li>\n</ul>", concerns.join("</li>\n<li>")))
    }

    /// How to go on, and how to take it back.
    pub(super) fn commands(&self) -> String {
        let typed = self.standing.commands(self.id, &self.folded.run).into_iter();
        let mut lines: Vec<(String, &str)> = typed.map(|(what, command)| (command, what)).collect();
        lines.push((format!("ralph logs {}", self.id), "all of it again"));
        if let Some((base, last)) = &self.range {
            let short = |id: &str| id.chars().take(12).collect::<String>();
            let (base, last) = (short(base), short(last));
            lines.push((format!("git diff {base} {last}"), "what it did"));
            lines.push((format!("git revert --no-edit {base}..{last}"), "undo its commits with new ones"));
        } else if let Some(command) = self.folded.run.memory.work.as_ref().and_then(WorkCounted::command) {
            lines.push((command, "what it did; nothing is committed"));
        }
        let width = lines.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
        let lines = lines.iter().map(|(command, what)| format!("{command:<width$}  # {what}"));
        format!("<pre>{}</pre>", escape(&lines.collect::<Vec<_>>().join("\n")))
    }

    pub(super) fn committed(&self) -> Option<String> {
        let row = |(id, subject): &(String, String)| {
            format!(
                "<tr><td class=\"number\"><code>{}</code></td><td>{}</td></tr>\n",
                escape(id),
                escape(subject)
            )
        };
        let rows: Vec<String> = self.commits.iter().map(row).collect();
        (!rows.is_empty()).then(|| format!("<table>\n{}</table>", middle_cut(&rows, 2)))
    }

    pub(super) fn changed(&self) -> Option<String> {
        let rows: Vec<String> = self
            .files
            .iter()
            .map(|FileChange { path, added, removed }| {
                let lines = |lines: &Option<u64>| lines.map_or("?".to_owned(), |lines| lines.to_string());
                format!(
                    "<tr><td><code>{}</code></td><td class=\"number\"><span class=\"plus\">+{}</span> <span class=\"minus\">−{}</span></td></tr>\n",
                    escape(path), lines(added), lines(removed)
                )
            })
            .collect();
        (!rows.is_empty()).then(|| format!("<table>\n{}</table>", middle_cut(&rows, 2)))
    }

    pub(super) fn turns(&self, story: &Recap) -> Option<String> {
        let rows: Vec<String> = story.turns.iter().map(|told| self.row(told)).collect();
        let head =
            "<tr><th>iteration</th><th>began</th><th>took</th><th>cost</th><th>tools</th><th></th></tr>\n";
        (!rows.is_empty()).then(|| format!("<table>\n{head}{}</table>", middle_cut(&rows, 6)))
    }

    fn row(&self, told: &TurnRow) -> String {
        let attempt =
            if 1 < told.turn.attempt { format!(", attempt {}", told.turn.attempt) } else { String::new() };
        let (class, mut says) = match (&told.problem, told.is_refused(), told.claimed) {
            (Some(problem), ..) => ("bad", format!("The agent failed: {problem}")),
            (None, true, true) => ("warn", "Claimed to be done; the guardrails refused it".to_owned()),
            (None, true, false) => ("warn", "The guardrails refused it".to_owned()),
            (None, false, true) => ("good", "Claimed to be done".to_owned()),
            (None, false, false) => ("good", "Continued".to_owned()),
        };
        let setup = &self.folded.run.started.setup;
        for who in who::of_turn(setup, &told.turn).into_iter().chain(who::because(told.turn.because.as_ref()))
        {
            let _ = write!(says, " · {who}");
        }
        if let Some(task) = &told.turn.task {
            let _ = write!(says, " · {task}");
        }
        format!(
            "<tr><td class=\"number\">{}{attempt}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"{class}\">{}</td></tr>\n",
            told.turn.iteration,
            told.at.to_zoned(self.zone.clone()).strftime("%H:%M:%S"),
            summary::time(told.ms),
            summary::cost(&told.usage).unwrap_or("–".to_owned()),
            told.tools,
            escape(&says),
        )
    }
}

/// The rows, without most of the middle when there are very many.
pub(super) fn middle_cut(rows: &[String], columns: usize) -> String {
    if rows.len() <= MAX_ROWS {
        return rows.concat();
    }
    let half = MAX_ROWS / 2;
    let left_out = rows.len() - 2 * half;
    let gap = format!(
        "<tr><td class=\"quiet\" colspan=\"{columns}\">({left_out} more; ralph logs has all)</td></tr>\n"
    );
    [rows[..half].concat(), gap, rows[rows.len() - half..].concat()].concat()
}

/// How many of the last lines of a failed guardrail a page has.
const MAX_LAST_LINES: usize = 20;

/// The line that looks like the reason, and the last lines.
fn ending(failure: &GateFailure) -> String {
    let (last, has_more) = failure.ending(MAX_LAST_LINES);
    let reason =
        failure.error_line.as_deref().filter(|reason| !last.iter().any(|line| line.contains(reason)));
    let lines = reason.into_iter().chain(has_more.then_some("...")).chain(last);
    lines.collect::<Vec<_>>().join("\n")
}
