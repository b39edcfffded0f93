//! A rule as a user writes it, checked against its examples when it is read.

use schemars::JsonSchema;
use serde::Deserialize;

use super::MAX_COUNT;
use crate::{
    context::Context,
    file_access, flatten,
    own_rule::OwnRule,
    pattern,
    rules::{self, RuleInput, own},
    tier::Tier,
};

/// A rule as it is written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OwnRule")]
pub(super) struct GivenRule {
    /// Its name: small letters, digits and `-`, and none that ralph's own rules have.
    pub(super) id: String,
    /// Commands that it finds, such as `terraform workspace select|new`. The guard's page says how to write them.
    #[serde(default)]
    patterns: Vec<String>,
    /// Commands among those that pass.
    #[serde(default)]
    unless: Vec<String>,
    /// Files and folders that may not be written or deleted: from the project, from the home (`~/x`), or whole (`/x`).
    #[serde(default)]
    writes: Vec<String>,
    /// Whether it blocks or only warns.
    #[serde(default = "block")]
    tier: Tier,
    /// What the agent should do instead.
    #[serde(default = "ask")]
    instead: String,
    /// Command lines that it must find.
    #[serde(rename = "match")]
    matches: Vec<String>,
    /// Command lines that it must not find.
    #[serde(default)]
    not_match: Vec<String>,
}

/// What is wrong with a rule, and the word of it that is.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) word: String,
}

impl Fault {
    pub(super) fn new(message: &str, word: &str) -> Self {
        Self { message: message.to_owned(), word: word.to_owned() }
    }
}

fn block() -> Tier {
    Tier::Block
}

fn ask() -> String {
    "Ask the user.".to_owned()
}

/// The rule, if it can be read and does what its examples say.
pub(super) fn checked(given: GivenRule) -> Result<OwnRule, Fault> {
    let id = given.id.as_str();
    let is_name = |next: char| next.is_ascii_lowercase() || next.is_ascii_digit() || next == '-';
    let lists = [&given.patterns, &given.unless, &given.writes, &given.matches, &given.not_match];
    let fault = if id.is_empty() || !id.chars().all(is_name) {
        Some("an id has small letters, digits and `-` only")
    } else if rules::all().any(|rule| rule.id == id) {
        Some("a rule of ralph has this id; choose another one")
    } else if given.patterns.is_empty() && given.writes.is_empty() {
        Some("it finds nothing; it needs `patterns` or `writes`")
    } else if given.matches.is_empty() {
        Some("it has no example; `match` needs a command line that it finds")
    } else if lists.iter().any(|list| MAX_COUNT < list.len()) {
        Some("one of its lists has more than 100 entries")
    } else {
        None
    };
    if let Some(message) = fault {
        return Err(Fault::new(message, id));
    }
    for pattern in given.patterns.iter().chain(&given.unless) {
        if let Some(fault) = pattern::fault(pattern) {
            return Err(Fault::new(&format!("`{pattern}` is not a pattern of commands: {fault}"), pattern));
        }
    }
    let rule = OwnRule {
        id: given.id,
        tier: given.tier,
        instead: given.instead,
        patterns: given.patterns,
        unless: given.unless,
        writes: given.writes,
    };
    check_examples(&rule, &given.matches, &given.not_match)?;
    Ok(rule)
}

/// Whether a rule does what its examples say.
fn check_examples(rule: &OwnRule, matches: &[String], not_match: &[String]) -> Result<(), Fault> {
    if let Some(example) = matches.iter().find(|example| !finds_in(rule, example)) {
        return Err(Fault::new(&format!("it does not find `{example}`, which is in `match`"), example));
    }
    match not_match.iter().find(|example| finds_in(rule, example)) {
        Some(example) => Err(Fault::new(&format!("it finds `{example}`, which is in `not_match`"), example)),
        None => Ok(()),
    }
}

/// Whether it finds something in a command line that is typed in a project below a home.
fn finds_in(rule: &OwnRule, command_line: &str) -> bool {
    let ctx = Context::new("/home/dev/project", "/home/dev");
    flatten::flatten(command_line, &ctx).commands.iter().any(|command| {
        let files = file_access::accessed_files(command, &ctx);
        own::find(rule, &RuleInput::new(command, &files, &ctx)).is_some()
    })
}
