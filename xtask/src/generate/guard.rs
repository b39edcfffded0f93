//! The rules of the guard as a page.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde::Deserialize;

/// What `ralph guard rules --json` says about a rule.
#[derive(Deserialize)]
struct Rule {
    id: String,
    category: String,
    tier: String,
    #[serde(default)]
    finds: String,
    instead: String,
    #[serde(default)]
    matches: Vec<String>,
    #[serde(default)]
    passes: Vec<String>,
}

/// A section per category, with every rule and its examples.
pub(super) fn rules(json: &str) -> Result<String> {
    let mut rules: Vec<Rule> = serde_json::from_str(json).context("the rules")?;
    // Those of the user who runs this are no part of the page.
    rules.retain(|rule| rule.category != "own");
    let mut order: Vec<String> = Vec::new();
    for rule in &rules {
        if !order.contains(&rule.category) {
            order.push(rule.category.clone());
        }
    }
    rules.sort_by_key(|rule| order.iter().position(|category| *category == rule.category));
    let mut text = String::new();
    let mut category = String::new();
    for rule in &rules {
        if category != rule.category {
            category.clone_from(&rule.category);
            write!(text, "## {category}\n\n")?;
        }
        let verb = if rule.tier == "block" { "Blocks" } else { "Warns about" };
        write!(text, "### `{}`\n\n{verb} a command that {}. {}\n\n", rule.id, rule.finds, rule.instead)?;
        writeln!(text, "```sh")?;
        for (examples, note) in [(&rule.matches, "found"), (&rule.passes, "passes")] {
            writeln!(text, "# {note}")?;
            for example in examples {
                writeln!(text, "{example}")?;
            }
        }
        writeln!(text, "```\n")?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_a_category_stand_together() {
        let rule = |id: &str, category: &str| {
            format!(
                r#"{{"id":"{id}","category":"{category}","tier":"block","finds":"f","instead":"I.","matches":["m"],"passes":["p"]}}"#
            )
        };
        let json = format!("[{},{},{}]", rule("a", "x"), rule("b", "y"), rule("c", "x"));
        let page = rules(&json).expect("rules");
        assert_eq!(page.matches("## x\n").count(), 1);
        assert!(page.find("`c`") < page.find("`b`"), "{page}");
        let expected = "Blocks a command that f. I.\n\n```sh\n# found\nm\n# passes\np\n```\n";
        assert!(page.contains(expected), "{page}");
    }
}
