//! The guard's judgements, rules and figures in words.

use std::fmt::Write;

use ralph_guard::{
    Decision, OwnRule, Verdict,
    corpus::{Count, Measurement},
    rules::{self, Category, Tier},
};
use ralph_sys::error::Result;

use crate::term::printable;

/// A judgement, and with `explains` all that led to it.
pub(super) fn verdict(verdict: &Verdict, explains: bool) -> String {
    let mut text = match verdict.decision {
        Decision::Allow => "allowed\n".to_owned(),
        Decision::Warn => "allowed, with a warning\n".to_owned(),
        Decision::Block => "blocked\n".to_owned(),
    };
    let shown = if explains { verdict.findings.len() } else { usize::from(verdict.reason().is_some()) };
    for finding in verdict.findings.iter().take(shown) {
        let note = match (finding.is_allowed, finding.tier) {
            (true, _) => ", switched off by you",
            (false, Tier::Block) => "",
            (false, Tier::Warn) => ", a warning",
        };
        let _ = writeln!(
            text,
            "  {} ({}{note}): {}",
            finding.rule,
            name(finding.category),
            printable(&finding.found)
        );
        let _ = writeln!(text, "    {}", printable(&finding.instead));
    }
    if explains && !verdict.commands.is_empty() {
        text.push_str("would run:\n");
        for command in &verdict.commands {
            let _ = writeln!(text, "  {}", printable(command));
        }
    }
    text
}

/// The rules, by category.
pub(super) fn rules(own: &[OwnRule]) -> String {
    let mut text = String::new();
    let mut category = None;
    for rule in rules::all() {
        if category != Some(rule.category) {
            let _ = writeln!(text, "{}", name(rule.category));
            category = Some(rule.category);
        }
        let _ = writeln!(text, "  {:<24} {}  {}", rule.id, verb(rule.tier), rule.finds);
    }
    if !own.is_empty() {
        let _ = writeln!(text, "{}", name(Category::Own));
    }
    for rule in own {
        let _ = writeln!(text, "  {:<24} {}  {}", rule.id, verb(rule.tier), printable(&rule.instead));
    }
    text
}

fn verb(tier: Tier) -> &'static str {
    match tier {
        Tier::Block => "blocks",
        Tier::Warn => "warns ",
    }
}

/// The rules with their examples.
pub(super) fn rules_json(own: &[OwnRule]) -> Result<String> {
    let mut all = Vec::new();
    for rule in rules::all() {
        all.push(serde_json::to_value(rule)?);
    }
    for rule in own {
        let mut rule = serde_json::to_value(rule)?;
        rule["category"] = serde_json::to_value(Category::Own)?;
        all.push(rule);
    }
    Ok(format!("{}\n", serde_json::to_string_pretty(&all)?))
}

/// How well a corpus was judged.
pub(super) fn measurement(measurement: &Measurement, shows_wrong: bool) -> String {
    let mut text = format!("{:<22}{:>18}{:>22}\n", "category", "blocked", "falsely blocked");
    let row = |name: &str, count: &Count| {
        let caught = format!("{}/{} {:.1} %", count.caught, count.dangerous, count.recall());
        let wrong = format!("{}/{} {:.1} %", count.false_alarms, count.harmless, count.false_positives());
        format!("{name:<22}{caught:>18}{wrong:>22}\n")
    };
    for (name, count) in &measurement.categories {
        text.push_str(&row(name, count));
    }
    text.push_str(&row("all", &measurement.all));
    for (sample, rule) in measurement.wrong.iter().filter(|_| shows_wrong) {
        let what =
            rule.as_ref().map_or_else(|| "missed".to_owned(), |rule| format!("falsely blocked by {rule}"));
        let command = sample.command_line.replace('\n', "␤");
        let _ = writeln!(text, "{what}: {}", printable(&command));
    }
    text
}

/// The name of a category as it stands in JSON.
fn name(category: Category) -> String {
    serde_json::to_value(category).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}
