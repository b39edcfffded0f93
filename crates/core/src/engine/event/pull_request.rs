//! A pull request that a run made or changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pull request that was made or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PullRequestMade {
    /// What was done.
    pub how: HowProposed,
    /// Where people read it, or where they can make it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// The branch that it proposes.
    pub branch: String,
    /// Whether it is not ready.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub draft: bool,
}

/// How a branch was proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HowProposed {
    /// There was none.
    Created,
    /// There was one, and it says how this run ended.
    Updated,
    /// The push asked for it.
    ByPush,
    /// A person has to, at the address.
    ByLink,
}

impl PullRequestMade {
    /// In a line.
    pub fn line(&self) -> String {
        let Self { how, url, branch, draft } = self;
        let draft = if *draft { " as a draft" } else { "" };
        let at = url.as_ref().map(|url| format!(": {url}")).unwrap_or_default();
        match how {
            HowProposed::Created => format!("Pull request created{draft}{at}"),
            HowProposed::Updated => format!("Pull request updated{draft}{at}"),
            HowProposed::ByPush => format!("Merge request asked for{draft}, by the push of {branch}{at}"),
            HowProposed::ByLink => format!("Branch {branch} is pushed; propose it there{at}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_done() {
        let made = |how, draft| PullRequestMade {
            how,
            url: Some("https://x/1".to_owned()),
            branch: "b".to_owned(),
            draft,
        };
        assert_eq!(made(HowProposed::Created, true).line(), "Pull request created as a draft: https://x/1");
        assert_eq!(made(HowProposed::Updated, false).line(), "Pull request updated: https://x/1");
        assert_eq!(
            made(HowProposed::ByPush, false).line(),
            "Merge request asked for, by the push of b: https://x/1"
        );
        assert_eq!(
            made(HowProposed::ByLink, false).line(),
            "Branch b is pushed; propose it there: https://x/1"
        );
    }
}
