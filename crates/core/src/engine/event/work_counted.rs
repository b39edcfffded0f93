//! What a run has done to the files of its repository, committed or not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The files that are different when a run ends; what a person had not committed before it is not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkCounted {
    /// Where HEAD was before the run; nothing where there was no commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<String>,
    /// Where it is now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<String>,
    /// How many files are different.
    pub files: u64,
    /// How many of them are not committed.
    pub uncommitted: u64,
    /// Those that are not, as far as they are few.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left: Vec<String>,
    /// The tree of the files as they are, where that is no commit's; a receipt is about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tree: Option<String>,
}

impl WorkCounted {
    /// How many files, and how many of them are not committed; nothing if none is different.
    pub fn words(&self) -> Option<String> {
        let files = match self.files {
            0 => return None,
            1 => "1 file changed".to_owned(),
            several => format!("{several} files changed"),
        };
        Some(match self.uncommitted {
            0 => files,
            all if all == self.files => format!("{files}, not committed"),
            some => format!("{files}, {some} of them not committed"),
        })
    }

    /// What to type to see it. Files that are new to git are not in a diff, but in its status.
    pub fn command(&self) -> Option<String> {
        let short = |id: &String| id.chars().take(12).collect::<String>();
        let base = self.base.as_ref().filter(|_| 0 < self.files).map(short)?;
        match &self.head {
            Some(head) if self.uncommitted == 0 => Some(format!("git diff {base} {}", short(head))),
            Some(_) | None => Some(format!("git diff {base}; git status")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: u64, uncommitted: u64, words: Option<&str>, command: Option<&str>) {
        let [base, head] = ["0123456789abcdef", "fedcba9876543210"].map(|id| Some(id.to_owned()));
        let counted = WorkCounted { base, head, files, uncommitted, ..WorkCounted::default() };
        assert_eq!((counted.words().as_deref(), counted.command().as_deref()), (words, command));
    }

    #[test]
    fn it_says_what_is_different_and_how_to_see_it() {
        check(0, 0, None, None);
        check(1, 0, Some("1 file changed"), Some("git diff 0123456789ab fedcba987654"));
        check(2, 2, Some("2 files changed, not committed"), Some("git diff 0123456789ab; git status"));
        let some = "3 files changed, 1 of them not committed";
        check(3, 1, Some(some), Some("git diff 0123456789ab; git status"));
        let unborn = WorkCounted { files: 1, uncommitted: 1, ..WorkCounted::default() };
        assert_eq!(
            (unborn.words().as_deref(), unborn.command()),
            (Some("1 file changed, not committed"), None)
        );
    }
}
