//! Every rule with its own examples.

use super::{Category, Tier, all};
use crate::{Context, ToolCall, judge};

fn rules_that_match(command_line: &str) -> Vec<String> {
    let ctx = Context::new("/home/dev/proj", "/home/dev");
    let call = match command_line.strip_prefix("tool: ") {
        Some(tool) => ToolCall::from_hook(tool, &serde_json::json!({})),
        None => ToolCall::Shell { command_line: command_line.to_owned() },
    };
    let verdict = judge(&call, &ctx);
    verdict.findings.iter().map(|finding| finding.rule.to_string()).collect()
}

#[test]
fn examples_that_match_and_that_do_not() {
    let mut wrong = Vec::new();
    for rule in all() {
        assert!(!rule.matches.is_empty() && !rule.passes.is_empty(), "{} has no examples", rule.id);
        for example in rule.matches {
            let found = rules_that_match(example);
            if !found.iter().any(|id| id == rule.id) {
                wrong.push(format!("{} does not match `{example}`: {found:?}", rule.id));
            }
        }
        for example in rule.passes {
            let found = rules_that_match(example);
            let blocks = all()
                .filter(|rule| rule.tier == Tier::Block)
                .any(|rule| found.iter().any(|id| id == rule.id));
            if found.iter().any(|id| id == rule.id) || blocks {
                wrong.push(format!("{} does not let pass `{example}`: {found:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn ids_are_unique_and_every_category_has_a_rule() {
    let mut ids: Vec<&str> = all().map(|rule| rule.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    let mut categories: Vec<Category> = all().map(|rule| rule.category).collect();
    categories.sort_unstable();
    categories.dedup();
    assert_eq!(categories.len(), 18);
}

#[test]
fn rules_say_what_they_find_and_what_to_do() {
    for rule in all() {
        assert!(rule.id.chars().all(|next| next.is_ascii_lowercase() || next == '-'), "{}", rule.id);
        assert!(!rule.finds.ends_with('.') && rule.instead.ends_with('.'), "{}", rule.id);
    }
}
