//! Settings that a person changed while a run was paused: which keys, and what the run makes of them.

use std::{io, path::Path};

use jiff::Timestamp;
use ralph_core::{
    agents_md::test_command,
    claim::Claim,
    containment::level::{Choice, Level},
    duration::millis,
    engine::{
        edits::{Edit, Effect},
        plan::{Check, Gate, Plan, When, Work},
    },
    setup::{Role, Setup},
};
use ralph_sys::{
    error::{Error, Result},
    files::{self, MAX_TEXT_LEN},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    cli::loop_args::{setup_with, tune_at},
    driver::steering::{Steered, kept},
    journal::run_dir::RunDir,
    settings::{self, Loaded, Settings},
};

/// What decides what kind of run it is, and so is not changed inside one.
const OF_NEW_RUNS: [&str; 9] = [
    "baseline",
    "build.planFile",
    "build.prompt",
    "build.specsDir",
    "contract",
    "plan",
    "sandbox.level",
    "stories.ralphDir",
    "stories.verifyEachTurn",
];

/// What only says how things look; a resume goes by the settings of the day anyway.
const OF_DISPLAY: [&str; 3] = ["output", "streamAgentOutput", "retention"];

/// How much of a value stands in a line.
const MAX_SHOWN_CHARS: usize = 100;

/// The settings of a run before and after an edit.
pub(super) struct SettingsEdit {
    was: Loaded,
    now: Loaded,
    /// The test command of the project's notes, before and after.
    tests: [Option<String>; 2],
    /// The files that were edited, as people call them.
    names: Vec<String>,
}

impl SettingsEdit {
    /// Reads what the run went by, and the same with these files as they are now.
    pub(super) fn between(setup: &Setup, dir: &RunDir, files: &[&Steered]) -> Result<Self> {
        let copy = |path: &Path| match setup.settings.get(path) {
            Some(used) => kept(dir, path, used),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        let is_taken = |path: &Path| files.iter().any(|file| file.path == path);
        let edited = |path: &Path| if is_taken(path) { files::read(path, MAX_TEXT_LEN) } else { copy(path) };
        let load = |read: settings::ReadFile<'_>| {
            let (config, flags) = (setup.invocation.config.as_deref(), setup.invocation.flags.clone());
            settings::load_with(&setup.project, config, Value::Object(flags), read).map_err(|error| {
                let hints: Vec<String> = error.hints.clone();
                hints.into_iter().fold(Error::new(error), Error::hint)
            })
        };
        let (was, now) = (load(&copy)?, load(&edited)?);
        let notes = setup.settings.keys().find(|path| is_notes(path));
        let tests = |read: settings::ReadFile<'_>, settings: &Settings| {
            let named = notes.and_then(|path| test_command(&String::from_utf8_lossy(&read(path).ok()?)));
            named.or_else(|| settings.build.test_command.clone())
        };
        let tests = [tests(&copy, &was.settings), tests(&edited, &now.settings)];
        let names = files.iter().map(|file| file.name(&setup.project)).collect();
        Ok(Self { was, now, tests, names })
    }

    /// What is odd in the new settings.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.now.warnings.clone()
    }

    /// Brings the rules up to date; returns what changed, one for each key.
    pub(super) fn apply(&self, plan: &mut Plan, setup: &mut Setup) -> Vec<Edit> {
        let (was, now) = (&self.was.settings, &self.now.settings);
        let ours = plan.clone();
        // Both at the same moment: the time of day that has just passed is no edit.
        let at = Timestamp::now();
        let tuned = |settings: &Settings| with_task(tune_at(ours.clone(), settings, at), setup, settings);
        *plan = three_way(&ours, &tuned(was), &tuned(now));
        replace_response(plan, &was.completion_response, &now.completion_response);
        let time = guardrail_time(plan, setup);
        let is_guarded =
            time.is_some_and(|time| was.guardrails.is_empty() || plan.uses_any(&was.gates(time)));
        if let Some(time) = time {
            plan.replace_commands(&was.gates(time), &now.gates(time), time);
        }
        self.replace_tests(plan, setup);

        let (scm, level) = (setup.scm.clone(), setup.sandbox.level);
        let usual = Choice::Level(Level::None);
        let resolved = |loaded: &Loaded| setup_with(loaded, setup.prompt.clone(), &setup.project, usual);
        let (before, after) = (resolved(&self.was), resolved(&self.now));
        let known = (setup.settings.clone(), setup.invocation.clone());
        *setup = three_way(setup, &before, &after);
        (setup.settings, setup.invocation) = known;
        setup.sandbox.level = level;
        let follows_scm =
            scm.is_some() && scm == was.scm && now.scm.as_ref().is_some_and(|it| !it.tasks.is_empty());
        if !follows_scm {
            setup.scm = scm;
        }
        if let Some(patterns) = &mut setup.may_touch
            && was.plan.may_touch != now.plan.may_touch
        {
            patterns.clone_from(&now.plan.may_touch);
        }
        if let Some(stories) = &mut setup.stories {
            stories.review_cap = changed(stories.review_cap, was.stories.review_cap, now.stories.review_cap);
            stories.skip_review =
                changed(stories.skip_review, was.stories.skip_review, now.stories.skip_review);
        }
        let mut unused = Vec::new();
        unused.extend((!follows_scm).then_some("scm"));
        unused.extend((!is_guarded).then_some("guardrails"));
        self.edits(&unused)
    }

    /// The tests that the project's notes name, or the settings where they do not.
    fn replace_tests(&self, plan: &mut Plan, setup: &mut Setup) {
        let [was, now] = &self.tests;
        let Some(shown) = setup.variables.get_mut("TEST_COMMAND").filter(|_| was != now) else { return };
        let gates =
            |command: &Option<String>| command.iter().map(|it| command_gate(it)).collect::<Vec<Gate>>();
        plan.replace_commands(&gates(was), &gates(now), When::EveryTurn);
        if let Some(now) = now {
            shown.clone_from(now);
        }
    }

    fn edits(&self, unused: &[&str]) -> Vec<Edit> {
        let mut edits = Vec::new();
        self.compare(&json!(self.was.settings), &json!(self.now.settings), "", unused, &mut edits);
        let [was, now] = &self.tests;
        if was != now && self.was.settings.build.test_command == self.now.settings.build.test_command {
            let name = self.names.iter().find(|name| is_notes(Path::new(name))).unwrap_or(&self.names[0]);
            let key = Some("TEST_COMMAND".to_owned());
            edits.push(Edit {
                file: name.clone(),
                key,
                was: was.clone(),
                now: now.clone(),
                effect: Effect::Taken,
            });
        }
        for name in self.names.iter().filter(|_| edits.is_empty()).collect::<Vec<_>>() {
            let key = Some("nothing that this run uses".to_owned());
            edits.push(Edit { file: name.clone(), key, was: None, now: None, effect: Effect::Taken });
        }
        edits
    }

    fn compare(&self, was: &Value, now: &Value, path: &str, unused: &[&str], edits: &mut Vec<Edit>) {
        if was == now || OF_DISPLAY.contains(&path) {
            return;
        }
        if let (Value::Object(was), Value::Object(now)) = (was, now)
            && path != "agent.env"
        {
            for key in was.keys().chain(now.keys().filter(|key| !was.contains_key(*key))) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let (was, now) = (was.get(key).unwrap_or(&Value::Null), now.get(key).unwrap_or(&Value::Null));
                self.compare(was, now, &path, unused, edits);
            }
            return;
        }
        let is_of = |key: &&str| path == *key || path.starts_with(&format!("{key}."));
        let is_of_new_runs = OF_NEW_RUNS.iter().any(is_of) || unused.iter().any(is_of);
        let effect = if is_of_new_runs { Effect::NewRuns } else { Effect::Taken };
        let origin = self.now.origins.get(path).or_else(|| self.was.origins.get(path));
        let file = origin.map_or_else(|| self.names[0].clone(), ToString::to_string);
        let (was, now) = (shown(path, was), shown(path, now));
        edits.push(Edit { file, key: Some(path.to_owned()), was: Some(was), now: Some(now), effect });
    }
}

/// Whether a file that the run goes by is no settings file but notes for agents.
fn is_notes(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// A check that a command makes.
pub(super) fn command_gate(command: &str) -> Gate {
    let check = Check::Command { command: command.to_owned() };
    Gate::new(check, When::EveryTurn)
}

/// When commands are checked in a loop that had none.
pub(super) fn usual_time(plan: &Plan) -> When {
    match plan.work {
        Work::Prompt => When::EveryTurn,
        Work::Stories => When::ChangedOrClaimed,
    }
}

/// When the guardrails of the settings are checked in this loop, if they are: a plan is checked only where the user asked
/// for it, and a part of a task is its caller's business.
fn guardrail_time(plan: &Plan, setup: &Setup) -> Option<When> {
    let is_part = setup.assignment.as_ref().is_some_and(|assignment| assignment.role == Role::Child);
    let is_plan = setup.plan_file.is_some() && !setup.variables.contains_key("TEST_COMMAND");
    let guardrails = plan.gates.iter().filter(|gate| matches!(gate.check, Check::Command { .. }));
    match usual_time(plan) {
        _ if is_part || is_plan && guardrails.count() == 0 => None,
        _ if setup.assignment.is_some() || setup.session.is_some() => Some(When::Claimed),
        time => Some(time),
    }
}

/// How often a task is started, and how long its children are waited for, has settings of its own.
fn with_task(mut plan: Plan, setup: &Setup, settings: &Settings) -> Plan {
    if setup.assignment.as_ref().is_none_or(|assignment| assignment.role != Role::Root) {
        return plan;
    }
    let task = &settings.task;
    plan.limits.max_iterations = task.max_restarts;
    plan.limits.restart_delay_ms = millis(task.restart_delay);
    for gate in &mut plan.gates {
        if let Check::ChildrenEnded { child_wait_timeout_ms, poll_interval_ms } = &mut gate.check {
            *child_wait_timeout_ms = millis(task.child_wait_timeout);
            *poll_interval_ms = millis(task.poll_interval);
        }
    }
    plan
}

/// What the agent answers when it is done, where it was what the settings said.
fn replace_response(plan: &mut Plan, was: &str, now: &str) {
    for claim in &mut plan.claims {
        if let Claim::Tag { name, text, .. } = claim
            && name == "response"
            && text == was
        {
            now.clone_into(text);
        }
    }
}

fn changed<T: Copy + PartialEq>(ours: T, was: T, now: T) -> T {
    if was == now { ours } else { now }
}

/// What we have, with what differs between what was and what is: flags and raised limits stay as they are.
fn three_way<T: Clone + Serialize + DeserializeOwned>(ours: &T, was: &T, now: &T) -> T {
    let merged = merge(json!(ours), &json!(was), &json!(now));
    serde_json::from_value(merged).unwrap_or_else(|_| ours.clone())
}

fn merge(ours: Value, was: &Value, now: &Value) -> Value {
    if was == now {
        return ours;
    }
    match (ours, was, now) {
        (Value::Object(mut ours), Value::Object(was), Value::Object(now)) => {
            for key in was.keys().chain(now.keys()) {
                let (was, now) = (was.get(key), now.get(key));
                match (was, now) {
                    (Some(was), Some(now)) => match ours.remove(key) {
                        Some(own) => drop(ours.insert(key.clone(), merge(own, was, now))),
                        // What is not written down is what it is by default.
                        None if was == now => {}
                        None => drop(ours.insert(key.clone(), now.clone())),
                    },
                    (None, Some(now)) => drop(ours.insert(key.clone(), now.clone())),
                    (_, None) => drop(ours.remove(key)),
                }
            }
            Value::Object(ours)
        }
        // What a flag has added stays behind what the settings say.
        (Value::Array(ours), Value::Array(was), Value::Array(now)) if ours.starts_with(was) => {
            Value::Array(now.iter().chain(&ours[was.len()..]).cloned().collect())
        }
        (_, _, now) => now.clone(),
    }
}

/// A value for people; what the agent's variables are is no one's business.
fn shown(path: &str, value: &Value) -> String {
    let text = match value {
        _ if path == "agent.env" => "***".to_owned(),
        Value::Array(items) if path == "guardrails" => {
            let commands = items.iter().filter_map(|item| item["command"].as_str());
            let commands: Vec<String> = commands.map(|command| format!("`{command}`")).collect();
            if commands.is_empty() { "none".to_owned() } else { commands.join(", ") }
        }
        Value::Null => "none".to_owned(),
        value => value.to_string(),
    };
    ralph_core::prompt::truncate(&text, MAX_SHOWN_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: &str, was: &str, now: &str, expected: &str) {
        let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert_eq!(merge(value(ours), &value(was), &value(now)), value(expected));
    }

    #[test]
    fn only_what_was_edited_changes() {
        let was = r#"{"a": 1, "b": 2}"#;
        check(r#"{"a": 9, "b": 2}"#, was, r#"{"a": 1, "b": 3}"#, r#"{"a": 9, "b": 3}"#);
        check(r#"{"a": 9, "b": 2}"#, was, was, r#"{"a": 9, "b": 2}"#);
        check(r#"{"a": 9, "b": 2}"#, was, r#"{"a": 1}"#, r#"{"a": 9}"#);
        check(
            r#"{"a": {"x": 1, "y": 2}}"#,
            r#"{"a": {"x": 1}}"#,
            r#"{"a": {"x": 5}}"#,
            r#"{"a": {"x": 5, "y": 2}}"#,
        );
        check("{}", "{}", r#"{"c": [1]}"#, r#"{"c": [1]}"#);
    }

    #[test]
    fn what_a_flag_added_stays() {
        check(r#"["-q", "--model", "m"]"#, r#"["-q"]"#, r#"["-v"]"#, r#"["-v", "--model", "m"]"#);
        check(r#"["other"]"#, r#"["-q"]"#, r#"["-v"]"#, r#"["-v"]"#);
    }
}
