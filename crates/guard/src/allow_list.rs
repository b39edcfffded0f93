//! The user's list of rules that are switched off.

use serde::Deserialize;

use super::rules;

/// A user's list of rules that are switched off, such as `{"allow": ["publish"]}`.
///
/// It must come from where the agent cannot write, never from its project.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowList {
    /// The ids of rules that report what they find but do not decide.
    #[serde(default)]
    pub allow: Vec<String>,
}

impl AllowList {
    /// Reads the list from JSON.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// A sentence for each id that no rule has, with the nearest one that exists.
    pub fn warnings(&self) -> Vec<String> {
        let unknown = self.allow.iter().filter(|id| rules::all().all(|rule| rule.id != **id));
        unknown.map(|id| unknown_rule_warning(id)).collect()
    }
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
mod tests {
    use super::*;

    #[test]
    fn unknown_ids_are_named_with_the_nearest() {
        let list = AllowList::parse(r#"{"allow": ["git-pushforce", "git-push-force", "xyzzyxyzzyxyzzy"]}"#)
            .expect("JSON");
        let warnings = list.warnings();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].contains("did you mean `git-push-force`?"), "{warnings:?}");
        assert!(warnings[1].contains("lists them"), "{warnings:?}");
        assert!(AllowList::parse(r#"{"alow": []}"#).is_err());
    }
}
