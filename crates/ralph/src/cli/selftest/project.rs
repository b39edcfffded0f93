//! `ralph selftest --project`: cheats on a copy of the user's project.

use std::{fmt::Write, path::Path, time::Duration};

use clap::Args;
use ralph_core::duration::{format_duration, parse_typed_duration};
use ralph_sys::error::{Error, GUARDRAIL_FAILED, INTERRUPTED, Result};
use serde_json::{Value, json};

use super::{OF_A_PROJECT, Progress, SelftestArgs, as_json, as_text, rules};
use crate::{
    cli::print,
    selftest::{
        Rules,
        project::{Asked, Told, run},
    },
    settings::{Guardrail, Settings},
    term::{self, Stream},
};

/// So many names are shown of a list.
const MAX_NAMES: usize = 5;

/// What is about a copy of the project.
#[derive(Args, Debug)]
pub(super) struct ProjectArgs {
    /// Try cheats on a copy of your project instead, with its own guardrails except those with `repeat: false`
    #[arg(long, conflicts_with_all = ["only", "list"])]
    pub(super) project: bool,

    /// What the cheats on a copy of your project may take together
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration, requires = "project", default_value = "10m")]
    max_time: Duration,
}

/// Runs the cheats and shows the result.
pub(super) fn main(args: &SelftestArgs, project: &Path) -> Result<u8> {
    let (mut rules, settings) = rules(args, project)?;
    let (repeated, single): (Vec<&Guardrail>, Vec<&Guardrail>) =
        settings.guardrails.iter().partition(|guardrail| guardrail.repeat);
    let single: Vec<String> = single.into_iter().map(|guardrail| guardrail.command.clone()).collect();
    if repeated.is_empty() {
        return Err(without_guardrails(&single));
    }
    let guardrails = repeated.iter().map(|guardrail| guardrail.command.clone()).collect();
    let prepare = settings.verify.prepare.clone().unwrap_or_default();
    complete(&mut rules, &settings, &repeated);
    let asked = Asked { project, guardrails, prepare, max_time: args.copy.max_time };
    let mut progress = Progress { all: 0, done: 0, is_shown: !args.json && term::can_erase(Stream::Err) };
    let told = run(&asked, &rules, &mut |trial, all| {
        progress.all = all;
        progress.tell(trial);
    });
    progress.end();
    let Some(told) = told? else { return Ok(INTERRUPTED) };
    if args.json {
        print(&format!("{}\n", json_of(&told, &rules, &single)))?;
    } else {
        let text = as_text(&told.trials, &settings.output);
        print(&format!("{}\n{text}{}", head(&told, &single), tail(&told, args)))?;
    }
    Ok(if told.trials.iter().any(|trial| trial.is_wrong) { GUARDRAIL_FAILED } else { 0 })
}

fn without_guardrails(single: &[String]) -> Error {
    let hint = "name one in the settings: {\"guardrails\": [{\"command\": \"make test\"}]}";
    if single.is_empty() {
        return Error::new("there are no guardrails to deceive").hint(hint);
    }
    let names = names(single);
    Error::new(format!("there are no guardrails to deceive: {names} must not be repeated")).hint(hint)
}

/// The rules of the project, and not only those of any.
fn complete(rules: &mut Rules, settings: &Settings, guardrails: &[&Guardrail]) {
    let all = json!(settings.verify);
    for key in OF_A_PROJECT {
        rules.settings["verify"][key] = all[key].clone();
    }
    if let Some(contained) = rules.settings.get("sandbox").cloned() {
        let mut sandbox = json!(settings.sandbox);
        sandbox["level"] = contained["level"].clone();
        rules.settings["sandbox"] = sandbox;
    }
    rules.settings["guardrails"] = json!(guardrails);
    rules.settings["guardrailEnv"] = json!(settings.guardrail_env);
    rules.settings["guard"] = json!(settings.guard);
    rules.settings["limits"] = json!({"gateTimeout": json!(settings.limits)["gateTimeout"]});
    rules.settings["judge"] = json!(settings.judge);
}

fn json_of(told: &Told, rules: &Rules, single: &[String]) -> Value {
    let mut value = as_json(&told.trials, rules);
    value["project"] = json!({
        "commit": told.commit,
        "broken": told.broken,
        "leftOut": told.left_out,
        "guardrailsNotRun": single,
        "ran": told.trials.len(),
        "all": told.trials.len() + told.not_run.len(),
        "notRun": told.not_run,
        "notCounted": told.not_counted,
    });
    value
}

fn head(told: &Told, single: &[String]) -> String {
    let commit = told.commit.get(..7).unwrap_or(&told.commit);
    let mut text =
        format!("A copy of {commit}, with a mistake in `{}` that each cheat hides.\n", told.broken);
    if !told.left_out.is_empty() {
        let _ = writeln!(text, "left out, not committed: {}", names(&told.left_out));
    }
    if !single.is_empty() {
        let _ = writeln!(text, "not run, `repeat` is false: {}", names(single));
    }
    text
}

fn tail(told: &Told, args: &SelftestArgs) -> String {
    let mut text = String::new();
    if !told.not_counted.is_empty() {
        let names = names(&told.not_counted);
        let _ = writeln!(text, "not counted, the guardrails fail with it anyway: {names}");
    }
    if !told.not_run.is_empty() {
        let (ran, time) = (told.trials.len(), format_duration(args.copy.max_time));
        let all = ran + told.not_run.len();
        let _ = writeln!(text, "{ran} of {all} ran in {time}; not run: {}", names(&told.not_run));
    }
    text
}

fn names(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    let more = all.len().saturating_sub(MAX_NAMES);
    let shown = shown.join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}
