//! `--dry-run`: what a loop would do, without doing any of it.

use std::fmt::Write;

use ralph_core::{
    claim::Claim,
    duration::format_duration,
    engine::plan::{CommitRule, Limits, Plan, When},
    setup::{ScmTask, Setup},
    verify::rules::{Bite, CheckoutWhen, OnFinding},
};
use ralph_sys::error::Result;
use serde_json::{Value, json};

use super::{print, print_lines};
use crate::{
    driver::{Start, access},
    report::summary::count,
    term::printable,
};

/// Shows what this would start: for people, or as one JSON object.
pub(super) fn show(start: &Start, is_for_people: bool) -> Result<u8> {
    let prompt = start.first_prompt()?;
    let mut warnings = start.warnings.clone();
    warnings.extend(Start::missing_agent(&start.setup));
    warnings.extend(access::obstacles(&start.setup));
    if is_for_people {
        print_lines(&text(start, &prompt, &warnings))?;
    } else {
        print(&format!("{}\n", object(start, &prompt, &warnings)))?;
    }
    Ok(0)
}

fn object(Start { plan, setup, .. }: &Start, prompt: &str, warnings: &[String]) -> Value {
    let mut setup = json!(setup);
    // They may be keys.
    for variables in [["agent", "env"], ["sandbox", "env"]] {
        let [part, name] = variables;
        if let Some(variables) = setup[part][name].as_object_mut() {
            variables.values_mut().for_each(|value| *value = json!("***"));
        }
    }
    json!({"dryRun": true, "prompt": prompt, "plan": plan, "setup": setup, "warnings": warnings})
}

fn text(Start { plan, setup, .. }: &Start, prompt: &str, warnings: &[String]) -> String {
    let mut out =
        format!("Dry run of `ralph {}`: nothing is started, and nothing is written.\n", plan.preset);
    let mut section = |title: &str, lines: Vec<String>| {
        let _ = writeln!(out, "\n{title}");
        for line in lines.iter().flat_map(|line| line.lines()) {
            let _ = writeln!(out, "  {}", printable(line));
        }
    };
    let agent = [vec![setup.agent.command.clone()], setup.agent.flags.clone()].concat().join(" ");
    section("Agent", vec![agent]);
    section("Prompt of the first iteration", vec![prompt.trim_end().to_owned()]);
    section("Guardrails", guardrails(plan));
    section("Claims", claims(plan, setup));
    section(
        "Sandbox",
        vec![format!("{}; the guard is {}", named(&setup.sandbox.level), named(&setup.guard))],
    );
    section("Commits", vec![commits(plan, setup)]);
    section("Budget", vec![budget(&plan.limits)]);
    section("Ends", ends(plan));
    if !warnings.is_empty() {
        section("Needs attention", warnings.iter().map(|line| format!("- {line}")).collect());
    }
    out
}

/// The name that settings have for a value.
fn named(value: &impl serde::Serialize) -> String {
    let value = json!(value);
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn guardrails(plan: &Plan) -> Vec<String> {
    let line = |gate: &ralph_core::engine::plan::Gate| {
        let when = match gate.when {
            When::EveryTurn => "after every turn",
            When::Claimed => "when the agent says that it is done",
            When::ChangedOrClaimed => "after turns that change code, and at the end",
            When::SubmittedOrClaimed => "when a story is submitted, and at the end",
        };
        format!("- {} ({when})", gate.check.name())
    };
    let lines: Vec<String> = plan.gates.iter().filter(|gate| gate.check.judges()).map(line).collect();
    let is_checked = plan.gates.iter().any(|gate| gate.check.is_command());
    let none = "no command checks the agent's work: add --guardrail \"make test\"";
    lines.into_iter().chain((!is_checked).then(|| none.to_owned())).collect()
}

/// Where a claim is decided, and what follows when the checks were changed.
fn claims(plan: &Plan, setup: &Setup) -> Vec<String> {
    if !plan.gates.iter().any(|gate| gate.check.is_command()) {
        return vec!["only the agent decides about them".to_owned()];
    }
    let place = match plan.checkout {
        CheckoutWhen::Claim => "decided in a clean clone",
        CheckoutWhen::Always => "every turn is decided in a clean clone",
        CheckoutWhen::Never => "decided in the working tree",
        CheckoutWhen::Require => "decided in a clean clone, never in the working tree",
    };
    let checks = &setup.judge.checks;
    let protected = match &checks.protect {
        None => "checks are those that `ralph judge --explain` lists".to_owned(),
        Some(patterns) => format!("checks: {}", patterns.join(", ")),
    };
    let follows = match plan.on_finding {
        OnFinding::Ask => "a change that weakens them: the agent is asked once, then a person decides",
        OnFinding::Refuse => "a change that weakens them: the claim does not count",
        OnFinding::Restore => "a change that weakens them: ralph restores them",
        OnFinding::Report => "a change that weakens them is only reported",
    };
    let mut lines = vec![place.to_owned(), protected, follows.to_owned()];
    lines.extend(bite(plan).map(str::to_owned));
    if checks.tests_may_change {
        lines.push("tests, fixtures and snapshots may change".to_owned());
    }
    if !checks.may_change.is_empty() {
        lines.push(format!("may change: {}", checks.may_change.join(", ")));
    }
    lines.extend(setup.judge.in_place.iter().map(|why| format!("in the working tree: {why}")));
    lines
}

/// What is done about new tests.
fn bite(plan: &Plan) -> Option<&'static str> {
    match (plan.bite, plan.checkout) {
        (Bite::Off, _) => None,
        (Bite::On, CheckoutWhen::Never) => {
            Some("new tests are not run on the old code: that needs a clean clone")
        }
        (Bite::On, CheckoutWhen::Claim | CheckoutWhen::Always | CheckoutWhen::Require) => {
            Some("new tests are run on the old code; if they pass there, they are reported as unproven")
        }
    }
}

fn commits(plan: &Plan, setup: &Setup) -> String {
    let Some(scm) = setup.scm.as_ref().filter(|_| plan.commit != CommitRule::Never) else {
        return "ralph commits nothing".to_owned();
    };
    let tasks: Vec<String> = scm.tasks.iter().map(|task: &ScmTask| named(task)).collect();
    format!("{}: {}", scm.command, tasks.join(", "))
}

fn budget(limits: &Limits) -> String {
    let time = |ms: u64| format_duration(std::time::Duration::from_millis(ms));
    let dollars = |cost: f64| format!("${cost:.2}");
    let parts = [
        Some(count(limits.max_iterations.into(), "iteration")),
        limits.max_time_ms.map(time),
        limits.max_cost.map(dollars),
        limits.max_tokens.map(|tokens| count(tokens, "token")),
        limits.max_iteration_cost.map(|cost| format!("{} in one iteration", dollars(cost))),
        limits.max_iteration_tokens.map(|tokens| format!("{} in one iteration", count(tokens, "token"))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let unlimited =
        if limits.max_cost.is_none() && limits.max_tokens.is_none() { "; no limit on cost" } else { "" };
    format!("at most {}{unlimited}", parts.join(", "))
}

fn ends(plan: &Plan) -> Vec<String> {
    let claims = plan.claims.iter().map(|claim| match claim {
        Claim::Tag { .. } => format!("the agent says `{}`", claim.marker().unwrap_or_default()),
        Claim::File { path } => format!("there is a file {path}"),
        Claim::StoriesApproved => "every story is done".to_owned(),
        Claim::PlanSettled => "no task of the plan is open".to_owned(),
        Claim::NothingLeft => "a turn finds nothing to change in the plan".to_owned(),
        Claim::TurnEnd => "the turn ends".to_owned(),
    });
    let then = if plan.is_guarded() { ", and the guardrails pass" } else { "" };
    let mut lines: Vec<String> = claims.map(|claim| format!("- when {claim}{then}: exit 0")).collect();
    lines.push(format!("- at a limit: exit {}", plan.limits.limit_exit_code));
    lines.push(format!("- done, but with findings for a person: exit {}", plan.limits.finding_exit_code));
    lines.push("- when the agent says that it cannot continue: exit 6".to_owned());
    lines.extend(
        plan.stuck_after
            .map(|after| format!("- when nothing changes for {after} iterations and one more: exit 6")),
    );
    lines
}
