//! Issues of a forge: what others wrote, and who they are to the repository.
//!
//! Invariant: what others wrote sets nothing. It reaches an agent between two marks that its author could not know, every
//! line quoted, with all that an agent or ralph could take for a command made harmless.

mod fenced;
pub mod query;
pub mod sifted;

pub use fenced::{FencedThread, fenced, title};

use serde::Deserialize;
use serde_json::Value;

/// An issue as its forge has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgeIssue {
    /// Its number in the repository.
    pub number: u64,
    /// In a line.
    pub title: String,
    /// In full.
    pub body: String,
    /// Who wrote it.
    pub author: String,
    /// What the author is to the repository.
    pub standing: AuthorStanding,
    /// Where people read it.
    pub url: String,
    /// How many comments there are.
    pub comments: u64,
    /// It is a pull request: forges number them together.
    pub is_pull_request: bool,
}

/// What a person said to an issue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueComment {
    /// Who wrote it.
    pub author: String,
    /// What the author is to the repository.
    pub standing: AuthorStanding,
    /// What it says.
    pub body: String,
}

/// What an author is to a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthorStanding {
    /// Owner, member of the organisation, or collaborator.
    Insider,
    /// Anyone else.
    #[default]
    Outsider,
}

impl AuthorStanding {
    fn of(association: &str) -> Self {
        match association {
            "OWNER" | "MEMBER" | "COLLABORATOR" => Self::Insider,
            // Who contributed once may write anything.
            _ => Self::Outsider,
        }
    }
}

/// Whose words may reach an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Names that the user trusts.
    pub authors: Vec<String>,
    /// A sandbox contains the agent, so anyone may ask for anything.
    pub is_contained: bool,
}

impl Trust {
    /// Whether what this author wrote may reach an agent.
    pub fn covers(&self, author: &str, standing: AuthorStanding) -> bool {
        let is_named =
            || self.authors.iter().any(|name| name.trim_start_matches('@').eq_ignore_ascii_case(author));
        standing == AuthorStanding::Insider || self.is_contained || is_named()
    }
}

#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    number: u64,
    #[serde(default)]
    title: String,
    body: Option<String>,
    user: Option<User>,
    #[serde(default)]
    author_association: String,
    #[serde(default)]
    html_url: String,
    #[serde(default)]
    comments: u64,
    pull_request: Option<Value>,
}

#[derive(Deserialize)]
struct User {
    login: String,
}

/// Stands for an account that is gone.
const NO_AUTHOR: &str = "ghost";

impl Written {
    fn author(&self) -> String {
        self.user.as_ref().map_or(NO_AUTHOR, |user| &user.login).to_owned()
    }
}

impl ForgeIssue {
    /// Reads what the forge answered.
    pub fn read(answer: Value) -> Result<Self, String> {
        let written: Written = serde_json::from_value(answer).map_err(|error| error.to_string())?;
        if written.number == 0 {
            return Err("it has no number".to_owned());
        }
        Ok(Self {
            number: written.number,
            author: written.author(),
            standing: AuthorStanding::of(&written.author_association),
            title: written.title,
            body: written.body.unwrap_or_default(),
            url: written.html_url,
            comments: written.comments,
            is_pull_request: written.pull_request.is_some(),
        })
    }

    /// Reads a list of issues; pull requests are not among them.
    pub fn read_all(answer: Value) -> Result<Vec<Self>, String> {
        let Value::Array(all) = answer else { return Err("it is not a list".to_owned()) };
        let read: Result<Vec<Self>, String> = all.into_iter().map(Self::read).collect();
        Ok(read?.into_iter().filter(|issue| !issue.is_pull_request).collect())
    }
}

impl IssueComment {
    /// Reads a list of comments.
    pub fn read_all(answer: Value) -> Result<Vec<Self>, String> {
        let all: Vec<Written> = serde_json::from_value(answer).map_err(|error| error.to_string())?;
        let read = |written: Written| Self {
            author: written.author(),
            standing: AuthorStanding::of(&written.author_association),
            body: written.body.unwrap_or_default(),
        };
        Ok(all.into_iter().map(read).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn issues_are_read_as_the_forge_writes_them() {
        let answer = json!({"number": 12, "title": "Weeks", "body": null, "user": {"login": "ann"},
            "author_association": "MEMBER", "html_url": "https://github.com/acme/tool/issues/12", "comments": 3});
        let issue = ForgeIssue::read(answer.clone()).expect("an issue");
        assert_eq!((issue.number, &*issue.title, &*issue.body, issue.comments), (12, "Weeks", "", 3));
        assert_eq!((&*issue.author, issue.standing), ("ann", AuthorStanding::Insider));
        let mut pull = answer.clone();
        pull["pull_request"] = json!({});
        assert_eq!(ForgeIssue::read_all(json!([answer, pull])).expect("a list").len(), 1);
        assert!(ForgeIssue::read(json!({"message": "Not Found"})).is_err());
        assert!(ForgeIssue::read_all(json!({"message": "Not Found"})).is_err());
        let comments = IssueComment::read_all(json!([{"body": "Yes.", "user": null}])).expect("a list");
        assert_eq!((&*comments[0].author, comments[0].standing), ("ghost", AuthorStanding::Outsider));
    }

    #[test]
    fn standing_is_what_the_forge_vouches_for() {
        #[track_caller]
        fn check(association: &str, trust: &Trust, expected: bool) {
            assert_eq!(trust.covers("Ann", AuthorStanding::of(association)), expected, "{association}");
        }
        let none = Trust::default();
        for association in ["OWNER", "MEMBER", "COLLABORATOR"] {
            check(association, &none, true);
        }
        for association in
            ["CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "NONE", "", "owner"]
        {
            check(association, &none, false);
            check(association, &Trust { authors: vec!["ann".to_owned()], is_contained: false }, true);
            check(association, &Trust { authors: vec!["@ANN".to_owned()], is_contained: false }, true);
            check(association, &Trust { authors: vec!["anne".to_owned()], is_contained: false }, false);
            check(association, &Trust { authors: Vec::new(), is_contained: true }, true);
        }
    }

    #[test]
    fn pull_requests_are_not_among_the_issues() {
        let issue = |number: u64| {
            serde_json::json!({"number": number, "title": "t", "html_url": "u", "comments": 0,
                "user": {"login": "ann"}, "author_association": "OWNER"})
        };
        let mut pull_request = issue(2);
        pull_request["pull_request"] = serde_json::json!({});
        let all = ForgeIssue::read_all(Value::Array(vec![issue(1), pull_request, issue(3)])).expect("issues");
        assert_eq!(all.iter().map(|it| it.number).collect::<Vec<_>>(), [1, 3]);
    }
}
