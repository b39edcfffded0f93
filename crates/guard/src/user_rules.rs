//! The user's own part of the rules: which of ours are switched off, and which are added.

mod given_rule;

use schemars::JsonSchema;
use serde::Deserialize;

use given_rule::{Fault, GivenRule};

use super::{own_rule::OwnRule, rules};

/// As many rules of their own users can have, and as many patterns or examples each: all are gone through at every call.
const MAX_COUNT: usize = 100;

/// A user's own part of the rules: `{"allow": ["publish"], "rules": [...]}`.
///
/// It must come from where the agent cannot write, never from its project.
#[derive(Debug, Default, JsonSchema)]
#[schemars(with = "GivenRules")]
pub struct UserRules {
    /// The ids of rules that report what they find but do not decide.
    pub allow: Vec<String>,
    /// Rules that are added.
    pub rules: Vec<OwnRule>,
}

/// The rules as they are written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UserRules")]
struct GivenRules {
    /// The ids of rules that are switched off: they report what they find, but do not decide.
    #[serde(default)]
    allow: Vec<String>,
    /// Rules that are added.
    #[serde(default)]
    rules: Vec<GivenRule>,
    /// For editors. Ralph ignores it.
    #[serde(default, rename = "$schema")]
    #[expect(dead_code, reason = "it is there to be allowed")]
    schema: String,
}

/// What is wrong with a user's list, and in which line of it.
#[derive(Debug, PartialEq, Eq)]
pub struct UserRulesError {
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl UserRules {
    /// Reads them from JSON. What is wrong with a rule or an example of it is an error.
    pub fn parse(text: &str) -> Result<Self, UserRulesError> {
        let given: GivenRules = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            UserRulesError { line: error.line(), message: message.to_owned() }
        })?;
        if MAX_COUNT < given.rules.len() {
            return Err(UserRulesError {
                line: 1,
                message: format!("there are more than {MAX_COUNT} rules"),
            });
        }
        let mut rules: Vec<OwnRule> = Vec::new();
        for given in given.rules {
            let id = given.id.clone();
            let mut rule = given_rule::checked(given);
            if rules.iter().any(|rule| rule.id == id) {
                rule = Err(Fault::new("another rule has this id", &id));
            }
            rules.push(rule.map_err(|fault| UserRulesError {
                line: line_of(text, &id, &fault.word),
                message: format!("rule `{id}`: {}", fault.message),
            })?);
        }
        Ok(Self { allow: given.allow, rules })
    }

    /// A sentence for each id in `allow` that no rule has, with the nearest one that exists.
    pub fn warnings(&self) -> Vec<String> {
        let is_known = |id: &String| {
            rules::all().any(|rule| rule.id == *id) || self.rules.iter().any(|rule| rule.id == *id)
        };
        self.allow.iter().filter(|id| !is_known(id)).map(|id| unknown_rule_warning(id)).collect()
    }
}

/// The line in which a word of a rule stands, or else its id. The last rule of that id is the one that is read last.
fn line_of(text: &str, id: &str, word: &str) -> usize {
    let quoted = |word: &str| serde_json::Value::from(word).to_string();
    let start = text.rfind(&quoted(id)).unwrap_or_default();
    let at = text[start..].find(&quoted(word)).map_or(start, |at| start + at);
    1 + text[..at].matches('\n').count()
}

fn unknown_rule_warning(id: &str) -> String {
    let distance = |rule: &&rules::Rule| strsim::damerau_levenshtein(rule.id, id);
    let nearest = rules::all().min_by_key(distance).filter(|rule| distance(rule) <= 4.max(id.len() / 2));
    match nearest {
        Some(rule) => format!("there is no rule `{id}`; did you mean `{}`?", rule.id),
        None => format!("there is no rule `{id}`; `ralph guard rules` lists them"),
    }
}

#[cfg(test)]
mod tests;
