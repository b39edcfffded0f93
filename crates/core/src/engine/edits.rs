//! What a person changed between two processes of a run, and the rules that follow from it.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Check, Gate, Plan, When};
use crate::setup::Setup;

/// A run uses what a person changed while no turn ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EditsTaken {
    /// One for each thing that changed.
    pub edits: Vec<Edit>,
    /// The files, with the fingerprint of what the run uses now.
    pub files: BTreeMap<PathBuf, String>,
    /// Whether there are other checks than before.
    pub checks_changed: bool,
    /// The rules from here on.
    pub plan: Plan,
    /// What they are applied to from here on.
    pub setup: Setup,
}

/// One thing that a person changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Edit {
    /// The file, relative to the project where it is in it.
    pub file: String,
    /// What in it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
    /// What it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub was: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub now: Option<String>,
    /// Whether the run uses it.
    pub effect: Effect,
}

/// What an edit means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The run uses it.
    Taken,
    /// Only a new run uses it.
    NewRuns,
}

impl Edit {
    /// In one line, without a full stop.
    pub fn line(&self) -> String {
        let key = self.key.as_ref().map(|key| format!(": {key}")).unwrap_or_default();
        let change = match (&self.was, &self.now) {
            (Some(was), Some(now)) => format!(": {was} → {now}"),
            (None, Some(now)) => format!(": {now}"),
            (Some(was), None) => format!(": {was} removed"),
            (None, None) => String::new(),
        };
        let note = match self.effect {
            Effect::Taken => "",
            Effect::NewRuns => " (only a new run uses it)",
        };
        format!("{}{key}{change}{note}", self.file)
    }
}

impl Plan {
    /// Replaces the checks by command that came from one place by those that come from it now. They keep their place
    /// among the others and their time; where there were none, they are the last, at this time. A loop that made no use
    /// of those that were there makes none of the new ones.
    pub fn replace_commands(&mut self, before: &[Gate], now: &[Gate], otherwise: When) {
        if !before.is_empty() && !self.uses_any(before) {
            return;
        }
        let mut wanted: Vec<&Gate> = before.iter().collect();
        let mut place = None;
        let mut when = otherwise;
        let mut kept = Vec::new();
        for gate in std::mem::take(&mut self.gates) {
            let is_one = |it: &&Gate| {
                matches!(it.check, Check::Command { .. } | Check::Review { .. }) && it.check == gate.check
            };
            match wanted.iter().position(is_one) {
                Some(at) => {
                    wanted.remove(at);
                    if place.is_none() && !gate.check.is_review() {
                        (place, when) = (Some(kept.len()), gate.when);
                    }
                }
                None => kept.push(gate),
            }
        }
        let place = place.unwrap_or(kept.len());
        // A review has a time of its own.
        let timed = |gate: &Gate| Gate {
            when: if gate.check.is_review() { gate.when } else { when },
            ..gate.clone()
        };
        kept.splice(place..place, now.iter().map(timed));
        self.gates = kept;
    }

    /// Whether any of these checks is one of the loop's.
    pub fn uses_any(&self, gates: &[Gate]) -> bool {
        self.gates.iter().any(|own| gates.iter().any(|gate| gate.check == own.check))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        engine::{
            Action, Run,
            entry::Entry,
            event::{Event, GateEnded, RunStarted, Turn, TurnEnd, TurnEnded},
            outcome::Outcome,
            presets,
        },
        gate_failure::GateFailure,
        setup::PromptSource,
    };

    fn gates(commands: &[&str], when: When) -> Vec<Gate> {
        let gate = |command: &&str| Gate::new(Check::Command { command: (*command).to_owned() }, when);
        commands.iter().map(gate).collect()
    }

    #[track_caller]
    fn check(had: &[&str], before: &[&str], now: &[&str], expected: &str) {
        let mut plan = presets::stories(
            &[],
            &had.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(),
            When::ChangedOrClaimed,
        );
        plan.replace_commands(
            &gates(before, When::EveryTurn),
            &gates(now, When::EveryTurn),
            When::ChangedOrClaimed,
        );
        let names: Vec<&str> = plan.gates.iter().map(|gate| gate.check.name()).collect();
        assert_eq!(names.join(", "), format!("clean tree, task rules, every story done{expected}"));
        let commands = plan.gates.iter().filter(|gate| matches!(gate.check, Check::Command { .. }));
        assert!(commands.into_iter().all(|gate| gate.when == When::ChangedOrClaimed));
    }

    #[test]
    fn only_the_checks_of_one_place_are_replaced() {
        check(&["lint", "test"], &["test"], &["test -v"], ", lint, test -v");
        check(&["lint", "test"], &["lint"], &["a", "b"], ", a, b, test");
        check(&["lint", "test"], &["lint"], &[], ", test");
        check(&["lint"], &[], &["test"], ", lint, test");
        // The same command from two places is two checks.
        check(&["test", "test"], &["test"], &["new"], ", new, test");
        // This loop has no use for them.
        check(&["lint"], &["test"], &["new"], ", lint");
    }

    /// A run at this point, with an edit that is taken over.
    fn taken(entries: &[Event], checks_changed: bool) -> Run {
        let setup = Setup::new("/p".as_ref(), "claude", PromptSource::Text("x".to_owned()));
        let plan = presets::run("DONE", gates(&["test"], When::EveryTurn));
        let (run, version) = ("r".to_owned(), "v".to_owned());
        let mut known =
            Run::new(RunStarted { run, version, pid: 1, plan: plan.clone(), setup: setup.clone() });
        let at = Timestamp::UNIX_EPOCH;
        for event in entries {
            known.apply(&Entry { at, event: event.clone() });
        }
        let now = Plan { gates: gates(&["other"], When::EveryTurn), ..plan };
        let plan = if checks_changed { now } else { known.plan.clone() };
        let files = [(PathBuf::from("a"), "2".to_owned())].into();
        let taken = EditsTaken { edits: Vec::new(), files, checks_changed, plan, setup };
        known.apply(&Entry { at, event: Event::EditsTaken(Box::new(taken)) });
        known
    }

    fn failed_turn() -> Vec<Event> {
        let failure = Some(GateFailure::refused("no".to_owned()));
        let files = [("a", "1"), ("b", "1")].map(|(path, print)| (PathBuf::from(path), print.to_owned()));
        vec![
            Event::BaseTaken { commit: None, copies: Some(1), why: None, ms: 0 },
            Event::BaselineEnded(GateEnded::own(0, failure.clone(), String::new())),
            Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
            Event::FilesChanged { files: files.into() },
            Event::TurnEnded(Box::new(TurnEnded { claimed: true, ..TurnEnded::new(TurnEnd::Finished) })),
            Event::GateEnded(GateEnded::own(0, failure, String::new())),
        ]
    }

    #[test]
    fn what_old_checks_said_goes_with_them() {
        let same = taken(&failed_turn(), false);
        assert_eq!(same.state.feedback().len(), 2);
        assert!(same.state.baseline().still_fails(0));
        let other = taken(&failed_turn(), true);
        assert!(other.state.feedback().is_empty());
        assert!(!other.state.baseline().still_fails(0));
        assert_eq!(other.plan.gates[0].check.name(), "other");
        // What was taken over is no longer what a turn may have changed.
        assert_eq!(other.memory.files.keys().collect::<Vec<_>>(), [&PathBuf::from("b")]);
    }

    #[test]
    fn other_checks_have_no_baseline_once_a_turn_has_begun() {
        let all = failed_turn();
        assert_eq!(taken(&all[..2], true).next(Timestamp::UNIX_EPOCH), Action::RunBaseline(0));
        for count in 3..=all.len() {
            let next = taken(&all[..count], true).next(Timestamp::UNIX_EPOCH);
            assert!(!matches!(next, Action::RunBaseline(_)), "after {count} events: {next:?}");
        }
    }

    #[test]
    fn a_run_is_settled_when_its_turn_and_its_checks_are_over() {
        let all = failed_turn();
        let settled: Vec<bool> =
            (0..=all.len()).map(|count| taken(&all[..count], false).state.is_settled()).collect();
        assert_eq!(settled, [true, true, true, false, false, false, true]);
        let mut ended = all[..5].to_vec();
        ended.push(Event::RunEnded { outcome: Outcome::Interrupted, exit_code: 130 });
        assert!(taken(&ended, false).state.is_settled());
    }

    #[test]
    fn an_edit_is_one_line() {
        let edit = |key: Option<&str>, was: Option<&str>, now: Option<&str>, effect| Edit {
            file: "f".to_owned(),
            key: key.map(str::to_owned),
            was: was.map(str::to_owned),
            now: now.map(str::to_owned),
            effect,
        };
        assert_eq!(edit(None, None, None, Effect::Taken).line(), "f");
        assert_eq!(edit(Some("k"), Some("1"), Some("2"), Effect::Taken).line(), "f: k: 1 → 2");
        assert_eq!(edit(Some("k"), Some("1"), None, Effect::Taken).line(), "f: k: 1 removed");
        let later = edit(Some("k"), None, Some("2"), Effect::NewRuns);
        assert_eq!(later.line(), "f: k: 2 (only a new run uses it)");
        let value = serde_json::to_value(&later).expect("JSON");
        assert_eq!(value, serde_json::json!({"file": "f", "key": "k", "now": "2", "effect": "new_runs"}));
        assert_eq!(serde_json::from_value::<Edit>(value).expect("an edit"), later);
    }

    #[test]
    fn the_first_command_of_a_place_keeps_place_and_time_for_all() {
        let command = |name: &str, when| Gate::new(Check::Command { command: name.to_owned() }, when);
        let review = || {
            let check = Check::Review { name: "r".to_owned(), by: Vec::new(), rounds: 1 };
            Gate::new(check, When::Claimed)
        };
        let had = vec![
            review(),
            command("own", When::Claimed),
            command("a", When::EveryTurn),
            command("other", When::Claimed),
            command("b", When::ChangedOrClaimed),
        ];
        let mut plan = Plan { gates: had.clone(), ..presets::run("DONE", Vec::new()) };
        let before = [had[0].clone(), had[2].clone(), had[4].clone()];
        plan.replace_commands(&before, &gates(&["c"], When::Claimed), When::Claimed);
        let expected = [had[1].clone(), command("c", When::EveryTurn), had[3].clone()];
        assert_eq!(plan.gates, expected);
    }
}
