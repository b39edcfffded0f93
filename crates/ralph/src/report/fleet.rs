//! A fleet as people and scripts see it while it works, and afterwards: one line each, with the name of who says it. Lanes
//! write side by side, and never into each other's lines.

use std::io::{self, Write};

use jiff::{Timestamp, tz::TimeZone};
use ralph_core::{
    fleet::{FleetEntry, FleetEvent, FleetOutcome, FleetStarted, ItemStep},
    key_mask::masked_bytes,
};

use serde_json::Value;

use super::summary::count;
use crate::term::fit::one_line;

/// How a fleet is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct FleetStyle {
    /// Only what a person has to know.
    pub(crate) quiet: bool,
    /// Events on standard output too.
    pub(crate) json: bool,
    /// Each line begins with the time of this zone.
    pub(crate) timestamps: Option<TimeZone>,
}

impl FleetStyle {
    /// Shows an event while it happens: talk on standard error, data on standard output.
    pub(crate) fn event(&self, entry: &FleetEntry) {
        if self.json {
            // A reader that has gone does not end the fleet.
            let _ = write(&mut io::stdout().lock(), &json(entry));
        }
        if let Some(line) = self.told(entry) {
            let _ = write(&mut anstream::stderr().lock(), &line);
        }
    }

    /// Shows an event of a record: all of it is data.
    pub(crate) fn replay(&self, entry: &FleetEntry) -> io::Result<()> {
        let line = if self.json { Some(json(entry)) } else { self.told(entry) };
        line.map_or(Ok(()), |line| write(&mut anstream::stdout().lock(), &line))
    }

    /// Shows a line that a lane or the lander printed.
    pub(crate) fn line(&self, who: &str, text: &str) {
        if !self.quiet {
            let line = self.shaped(Timestamp::now(), who, text);
            let _ = write(&mut anstream::stderr().lock(), &line);
        }
    }

    fn told(&self, entry: &FleetEntry) -> Option<String> {
        if self.quiet && !is_needed(&entry.event) {
            return None;
        }
        let (who, text) = told(&entry.event)?;
        Some(self.shaped(entry.at, &who, &text))
    }

    fn shaped(&self, at: Timestamp, who: &str, text: &str) -> String {
        let time = self.timestamps.as_ref().map(|zone| at.to_zoned(zone.clone()));
        let time = time.map(|time| format!("{} ", time.strftime("%H:%M:%S"))).unwrap_or_default();
        format!("{time}{who} | {}", one_line(text))
    }
}

/// One write for a line, so that no other process gets between.
fn write(out: &mut dyn Write, line: &str) -> io::Result<()> {
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

/// Says something in a line of its own.
pub(crate) fn line(who: &str, text: &str) {
    FleetStyle::default().line(who, text);
}

/// The event as the journal has it, without the values of variables.
fn json(entry: &FleetEntry) -> String {
    let mut value = serde_json::to_value(entry).unwrap_or_default();
    let hide = |variables: Option<&mut Value>| {
        let variables = variables.and_then(|it| it.as_object_mut());
        variables.into_iter().flatten().for_each(|(_, value)| *value = "***".into());
    };
    hide(value.pointer_mut("/settings/agent/env"));
    hide(value.pointer_mut("/settings/guardrailEnv"));
    let agents = value.pointer_mut("/settings/agents").and_then(|it| it.as_object_mut());
    agents.into_iter().flatten().for_each(|(_, agent)| hide(agent.get_mut("env")));
    String::from_utf8_lossy(&masked_bytes(value.to_string().as_bytes())).into_owned()
}

/// Whether a person who wants to hear little must hear it.
fn is_needed(event: &FleetEvent) -> bool {
    match event {
        FleetEvent::Item { step, .. } => matches!(step, ItemStep::Failed { .. } | ItemStep::Refused(_)),
        FleetEvent::LimitSeen { .. } | FleetEvent::LandingBlocked { .. } | FleetEvent::FleetEnded { .. } => {
            true
        }
        FleetEvent::FleetStarted(_)
        | FleetEvent::FleetResumed { .. }
        | FleetEvent::Spent { .. }
        | FleetEvent::StopRequested
        | FleetEvent::Unknown => false,
    }
}

/// Who says what about an event, if there is something to say.
fn told(event: &FleetEvent) -> Option<(String, String)> {
    let fleet = |text: String| Some(("fleet".to_owned(), text));
    match event {
        FleetEvent::FleetStarted(started) => fleet(begun(started)),
        FleetEvent::FleetResumed { .. } => fleet("continued".to_owned()),
        FleetEvent::Item { item, who, step, .. } => Some((who.clone(), step_text(item, step)?)),
        FleetEvent::LimitSeen { account, until_ms } => {
            let until = Timestamp::from_millisecond(*until_ms).ok()?.to_zoned(TimeZone::system());
            let until = until.strftime("%H:%M:%S");
            fleet(format!("usage limit of {account}: no turn of it begins before {until}"))
        }
        FleetEvent::LandingBlocked { why } => Some(("lander".to_owned(), why.clone())),
        FleetEvent::StopRequested => fleet("stopping after the running turns".to_owned()),
        FleetEvent::FleetEnded { outcome, .. } => fleet(ended(outcome)),
        FleetEvent::Spent { .. } | FleetEvent::Unknown => None,
    }
}

fn begun(started: &FleetStarted) -> String {
    let FleetStarted { fleet, target, guardrails, plan, .. } = started;
    let (items, lanes) = (count(plan.items.len() as u64, "item"), count(u64::from(plan.lanes), "lane"));
    let place = started.board.as_ref().map_or(format!("in {lanes}"), |board| format!("on {}", board.url));
    let branch = target.trim_start_matches("refs/heads/");
    let checks = if guardrails.is_empty() {
        "without any guardrail".to_owned()
    } else {
        format!("after {}", guardrails.join(", "))
    };
    format!("{fleet}: {items} {place}, landing on {branch} {checks}")
}

fn step_text(item: &str, step: &ItemStep) -> Option<String> {
    Some(match step {
        ItemStep::Claimed => format!("works on {item}"),
        ItemStep::Done(offer) => format!("{item} is done: ${:.2}", offer.cost),
        ItemStep::Failed { why, .. } => format!("{item} failed: {why}"),
        ItemStep::Released { died: true, .. } => format!("died on {item}; it is continued"),
        ItemStep::Released { died: false, .. } => format!("stopped working on {item}"),
        ItemStep::Merged { commit } => format!("{item} landed as {}", &commit[..commit.len().min(10)]),
        ItemStep::Refused(refusal) => format!("{item} is sent back: {}", refusal.line()),
        ItemStep::Withdrawn { why } => format!("{item} is withdrawn: {why}"),
        ItemStep::Cancelled { why } => format!("{item} is cancelled: {why}"),
        ItemStep::Reoffered => format!("a person wants the last candidate of {item} to land"),
        ItemStep::Said { text, .. } => format!("says to {item}: {text}"),
        ItemStep::Posted => return None,
    })
}

/// How a fleet ended, in one line.
pub(crate) fn ended(outcome: &FleetOutcome) -> String {
    match outcome {
        FleetOutcome::Done => "Complete: everything has landed".to_owned(),
        FleetOutcome::Exhausted => {
            "Maximum cost reached; continue with: ralph fleet resume --max-cost USD".to_owned()
        }
        FleetOutcome::Stopped { reasons } => format!("Stopped for a person: {}", reasons.join("; ")),
        FleetOutcome::Interrupted => "Interrupted; continue with: ralph fleet resume".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ralph_core::fleet::FleetPlan;
    use serde_json::json;

    use super::*;

    fn entry(event: FleetEvent) -> FleetEntry {
        FleetEntry { n: 1, at: Timestamp::UNIX_EPOCH, event }
    }

    #[test]
    fn values_of_variables_are_not_shown() {
        let agent = json!({"env": {"KEY": "secret"}});
        let settings =
            json!({"agent": agent, "agents": {"second": agent}, "guardrailEnv": {"PORT": "12345"}});
        let started = FleetStarted { settings, plan: FleetPlan::default(), ..FleetStarted::default() };
        let line = json(&entry(FleetEvent::FleetStarted(Box::new(started))));
        assert!(line.contains("\"KEY\":\"***\"") && !line.contains("secret"), "{line}");
        assert!(line.contains("\"PORT\":\"***\"") && !line.contains("12345"), "{line}");
    }

    #[test]
    fn a_quiet_fleet_says_what_needs_a_person() {
        let style = FleetStyle { quiet: true, timestamps: Some(TimeZone::UTC), ..FleetStyle::default() };
        let item =
            |step| FleetEvent::Item { item: "A".to_owned(), who: "lane-1".to_owned(), board: None, step };
        assert_eq!(style.told(&entry(item(ItemStep::Claimed))), None);
        let failed = ItemStep::Failed { lease: 1, exit: None, why: "two\nlines".to_owned() };
        let line = style.told(&entry(item(failed))).expect("a line");
        assert!(line.starts_with("00:00:00 lane-1 | A failed: two") && !line.contains('\n'), "{line}");
    }
}
