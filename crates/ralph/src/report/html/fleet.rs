//! The report on a fleet: what landed, what did not and why, and which runs worked on it.

use std::{collections::BTreeMap, fmt::Write};

use jiff::tz::TimeZone;
use ralph_core::fleet::{FleetEntry, FleetEvent, FleetOutcome, FleetState, Item, ItemPhase, ItemStep};

use super::{document, escape, section};
use crate::report::fleet::ended;

/// What the page is made from.
pub(crate) struct FleetPage<'a> {
    pub(crate) id: &'a str,
    pub(crate) state: &'a FleetState,
    pub(crate) entries: &'a [FleetEntry],
    pub(crate) is_running: bool,
    pub(crate) zone: TimeZone,
}

impl FleetPage<'_> {
    /// The whole page.
    pub(crate) fn render(&self) -> String {
        let body = [
            self.heading(),
            self.figures(),
            section("Needs attention", self.attention()),
            section("Items", Some(self.items())),
            section("Candidates that were sent back", self.refusals()),
            section("Next steps", self.next()),
        ];
        document(self.id, &body.concat())
    }

    fn heading(&self) -> String {
        let (class, word) = match (&self.state.outcome, self.is_running) {
            (_, true) => ("warn", "running"),
            (Some(FleetOutcome::Done), _) => ("good", "complete"),
            (Some(FleetOutcome::Exhausted), _) => ("warn", "limit"),
            (Some(FleetOutcome::Stopped { .. }), _) => ("warn", "stopped"),
            (Some(FleetOutcome::Interrupted), _) => ("warn", "interrupted"),
            (None, false) => ("bad", "killed"),
        };
        let end = self.state.outcome.as_ref().filter(|_| !self.is_running).map(ended);
        let started = &self.state.started;
        format!(
            "<h1>ralph fleet <span class=\"badge {class}\">{word}</span></h1>\n<p>{}</p>\n\
             <p class=\"quiet\">{} · fleet {} · lands on {}</p>\n",
            escape(&end.unwrap_or_else(|| "The fleet has not ended by itself.".to_owned())),
            escape(&started.project.display().to_string()),
            escape(self.id),
            escape(started.target.trim_start_matches("refs/heads/")),
        )
    }

    fn figures(&self) -> String {
        let plan = &self.state.started.plan;
        let landed = plan.items.iter().filter(|item| self.state.item(&item.id).is_merged()).count();
        let refusals: u32 = self.state.items.values().map(|item| item.refusals).sum();
        let took = match (self.entries.first(), self.entries.last()) {
            (Some(first), Some(last)) => last.at.duration_since(first.at).as_secs(),
            _ => 0,
        };
        let figure = |value: String, name: &str| format!("<div><b>{value}</b><span>{name}</span></div>\n");
        let figures = [
            figure(format!("{landed} of {}", plan.items.len()), "landed"),
            figure(plan.lanes.to_string(), "lanes"),
            figure(refusals.to_string(), "sent back"),
            figure(format!("${:.2}", self.state.cost()), "cost"),
            figure(format!("{}:{:02}", took / 60, took % 60), "minutes"),
        ];
        format!("<div class=\"figures\">\n{}</div>\n", figures.concat())
    }

    fn attention(&self) -> Option<String> {
        let mut lines: Vec<String> = self.state.blocked.clone().into_iter().collect();
        if let Some(FleetOutcome::Stopped { reasons }) = &self.state.outcome {
            lines.extend(reasons.iter().filter(|it| Some(*it) != self.state.blocked.as_ref()).cloned());
        }
        let list: Vec<String> = lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
        let list = list.concat();
        (!list.is_empty()).then(|| format!("<ul>\n{list}</ul>"))
    }

    fn items(&self) -> String {
        let runs = self.runs();
        let mut rows = String::new();
        for planned in &self.state.started.plan.items {
            let item = self.state.item(&planned.id);
            let (phase, detail) = item.words();
            let landed = self.entries.iter().rev().find(|entry| is_landing(entry, &planned.id));
            let when =
                landed.map(|entry| entry.at.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string());
            let runs = runs.get(planned.id.as_str()).cloned().unwrap_or_default();
            let runs: Vec<String> = runs
                .iter()
                .map(|run| {
                    let cost = self.state.spent.get(*run).map(|cost| format!(" ${cost:.2}"));
                    format!("<code>{}</code>{}", escape(run), cost.unwrap_or_default())
                })
                .collect();
            let _ = writeln!(
                rows,
                "<tr><td class=\"who\">{}</td><td>{}</td><td class=\"{}\">{phase}</td><td>{} {}</td><td>{}</td></tr>",
                escape(&planned.id),
                escape(&planned.title),
                class(&item),
                escape(&detail),
                when.unwrap_or_default(),
                runs.join("<br>"),
            );
        }
        format!(
            "<table>\n<tr><th>item</th><th>what</th><th></th><th></th><th>runs (ralph report RUN)</th></tr>\n{rows}</table>"
        )
    }

    /// The runs that handed in a candidate, by item, oldest first.
    fn runs(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for entry in self.entries {
            let FleetEvent::Item { item, step: ItemStep::Done(offer), .. } = &entry.event else { continue };
            let known = runs.entry(item).or_default();
            if let Some(run) = offer.run.as_deref().filter(|run| !known.contains(run)) {
                known.push(run);
            }
        }
        runs
    }

    fn refusals(&self) -> Option<String> {
        let refusals = self.entries.iter().filter_map(|entry| match &entry.event {
            FleetEvent::Item { item, step: ItemStep::Refused(refusal), .. } => Some((item, refusal)),
            _ => None,
        });
        let list: Vec<String> = refusals
            .map(|(item, refusal)| {
                let detail = ralph_core::fleet::feedback(refusal, &[]);
                format!(
                    "<li>{}: {}<details><summary>what its lane was told</summary><pre>{}</pre></details></li>\n",
                    escape(item),
                    escape(&refusal.line()),
                    escape(&detail)
                )
            })
            .collect();
        let list = list.concat();
        (!list.is_empty()).then(|| format!("<ul>\n{list}</ul>"))
    }

    fn next(&self) -> Option<String> {
        if self.is_running || self.state.outcome == Some(FleetOutcome::Done) {
            return None;
        }
        let open: Vec<String> = self
            .state
            .started
            .plan
            .items
            .iter()
            .filter(|item| {
                matches!(self.state.item(&item.id).phase, ItemPhase::Failed { .. } | ItemPhase::Refused)
            })
            .map(|item| format!("ralph fleet discard {}", item.id))
            .collect();
        let commands = [vec!["ralph fleet resume".to_owned()], open].concat();
        Some(format!("<pre>{}</pre>", escape(&commands.join("\n"))))
    }
}

fn is_landing(entry: &FleetEntry, id: &str) -> bool {
    matches!(&entry.event, FleetEvent::Item { item, step: ItemStep::Merged { .. }, .. } if item == id)
}

fn class(item: &Item) -> &'static str {
    match item.phase {
        ItemPhase::Merged { .. } => "good",
        ItemPhase::Failed { .. } | ItemPhase::Refused => "bad",
        ItemPhase::Unknown
        | ItemPhase::Waiting
        | ItemPhase::Held(_)
        | ItemPhase::Offered(..)
        | ItemPhase::Cancelled => "warn",
    }
}
