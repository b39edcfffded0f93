//! The survivors that are known, each with the reason why no test notices it: `xtask/mutants.json`.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::outcomes::Mutant;

/// A survivor that is known. It is named by the line itself and not by its number, which changes all the time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    pub(super) file: String,
    /// The line on which the change begins, without its indentation.
    pub(super) code: String,
    pub(super) change: String,
    /// Why no test notices it.
    pub(super) reason: String,
}

impl Known {
    /// All of them.
    pub(super) fn read(root: &Path) -> Result<Vec<Self>> {
        let path = root.join("xtask/mutants.json");
        serde_json::from_str(&fs_err::read_to_string(&path)?).with_context(|| path.display().to_string())
    }

    /// Whether this is the mutant, which begins on the line `code`.
    pub(super) fn is(&self, mutant: &Mutant, code: Option<&str>) -> bool {
        self.file == mutant.file && self.change == mutant.change && Some(self.code.as_str()) == code
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::root;

    #[test]
    fn every_known_survivor_is_still_there_and_has_a_reason() {
        for known in Known::read(root()).expect("a list") {
            assert!(20 < known.reason.len(), "no reason is given: {known:?}");
            let text = fs_err::read_to_string(root().join(&known.file)).expect("a source file");
            assert!(
                text.lines().any(|line| line.trim() == known.code),
                "the line is gone; correct or remove its entry in xtask/mutants.json: {known:?}"
            );
        }
    }
}
