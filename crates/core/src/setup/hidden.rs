//! Commands that the agent must not know.

use std::{collections::BTreeMap, fmt};

/// Commands that judge and that the agent must not know, by the name that stands for each in the plan.
///
/// Invariant: they are in no record and in no text that is made from one.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HiddenCommands(BTreeMap<String, String>);

impl HiddenCommands {
    /// Pairs of a name and what the shell runs.
    pub fn new(commands: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(commands.into_iter().collect())
    }

    /// The same with one more.
    #[must_use]
    pub fn with(mut self, pair: Option<(String, String)>) -> Self {
        self.0.extend(pair);
        self
    }

    /// What the shell runs for a name.
    pub fn command(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Every name with its command.
    pub fn pairs(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

impl fmt::Debug for HiddenCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HiddenCommands({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_shows_them() {
        let hidden = HiddenCommands::new([("hidden guardrail 1".to_owned(), "pytest /secret".to_owned())]);
        assert_eq!(hidden.command("hidden guardrail 1"), Some("pytest /secret"));
        assert_eq!(hidden.command("pytest /secret"), None);
        assert_eq!(format!("{hidden:?}"), "HiddenCommands(1)");
        // What runs them needs them all.
        let pairs: Vec<(&str, &str)> =
            hidden.pairs().iter().map(|(name, command)| (name.as_str(), command.as_str())).collect();
        assert_eq!(pairs, [("hidden guardrail 1", "pytest /secret")]);
    }

    #[test]
    fn one_more_is_known_beside_the_others() {
        let pair = |name: &str, command: &str| (name.to_owned(), command.to_owned());
        let commands = HiddenCommands::new([pair("a", "1")]).with(Some(pair("b", "2"))).with(None);
        assert_eq!(
            [commands.command("a"), commands.command("b"), commands.command("c")],
            [Some("1"), Some("2"), None]
        );
    }
}
