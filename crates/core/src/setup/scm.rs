//! How commits are made, and what else the program that makes them does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How commits are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scm {
    /// The program.
    #[serde(default = "git")]
    #[schemars(regex(pattern = r"\S"))]
    pub command: String,
    /// What ralph does with the work: `branch` before the first turn; `commit` when all guardrails have passed, and then,
    /// in order, other commands such as `push`; `pr` and `notes` (pushes receipts) when the run has ended.
    #[serde(default)]
    #[schemars(with = "Vec<String>", inner(regex(pattern = r"\S")))]
    pub tasks: Vec<ScmTask>,
    /// How the task `branch` names a branch: with `{name}`, `{issue}`, `{preset}` (the command, such as `run`) and `{date}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub branch: Option<String>,
    /// The target branch of pull requests. Without it, the default branch of the remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub base: Option<String>,
}

impl Scm {
    /// Git, with these tasks.
    pub fn git(tasks: Vec<ScmTask>) -> Self {
        Self { command: git(), tasks, branch: None, base: None }
    }

    /// Whether the work goes to others from a branch of its own.
    pub fn is_proposed(&self) -> bool {
        self.tasks.iter().any(|task| matches!(task, ScmTask::Branch | ScmTask::PullRequest))
    }
}

fn git() -> String {
    "git".to_owned()
}

/// One thing that it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ScmTask {
    /// Ralph commits what the iteration changed, with a message.
    Commit,
    /// Ralph makes a branch before the first turn, unless one is checked out that is not what others build on.
    Branch,
    /// Ralph makes a pull request when the run has ended, or changes the one that there is.
    PullRequest,
    /// Ralph pushes the receipts of commits when the run has ended.
    Notes,
    /// Any other command of the program, with its arguments.
    Command(String),
}

impl ScmTask {
    /// The command as it is typed.
    pub fn words(&self) -> &str {
        match self {
            Self::Commit => COMMIT,
            Self::Branch => BRANCH,
            Self::PullRequest => PULL_REQUEST,
            Self::Notes => NOTES,
            Self::Command(words) => words,
        }
    }

    /// The command without its arguments.
    pub fn verb(&self) -> &str {
        self.words().split_whitespace().next().unwrap_or_default()
    }

    /// Whether it is a command that runs after a commit.
    pub fn follows_commit(&self) -> bool {
        matches!(self, Self::Command(_)) && !self.commits()
    }

    /// Whether it makes a commit, by ralph or with arguments of the user's own.
    pub fn commits(&self) -> bool {
        self.verb() == COMMIT
    }
}

const COMMIT: &str = "commit";
const BRANCH: &str = "branch";
const PULL_REQUEST: &str = "pr";
const NOTES: &str = "notes";

impl From<String> for ScmTask {
    fn from(words: String) -> Self {
        match words.as_str() {
            COMMIT => Self::Commit,
            BRANCH => Self::Branch,
            PULL_REQUEST => Self::PullRequest,
            NOTES => Self::Notes,
            _ => Self::Command(words),
        }
    }
}

impl From<ScmTask> for String {
    fn from(task: ScmTask) -> Self {
        task.words().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_and_written_as_words() {
        #[track_caller]
        fn check(words: &str, task: &ScmTask, verb: &str, commits: bool) {
            let read: ScmTask = serde_json::from_value(words.into()).expect("a word");
            assert_eq!(read, *task);
            assert_eq!(serde_json::to_value(&read).expect("JSON"), words);
            assert_eq!((read.words(), read.verb(), read.commits()), (words, verb, commits));
        }
        check("commit", &ScmTask::Commit, "commit", true);
        check("commit -s", &ScmTask::Command("commit -s".to_owned()), "commit", true);
        check("branch", &ScmTask::Branch, "branch", false);
        check("pr", &ScmTask::PullRequest, "pr", false);
        check("notes", &ScmTask::Notes, "notes", false);
        check("push origin", &ScmTask::Command("push origin".to_owned()), "push", false);
    }

    #[test]
    fn tasks_are_known_by_what_they_do() {
        let command = |words: &str| ScmTask::Command(words.to_owned());
        for (task, is_proposed, follows_commit) in [
            (ScmTask::Commit, false, false),
            (ScmTask::Branch, true, false),
            (ScmTask::PullRequest, true, false),
            (ScmTask::Notes, false, false),
            (command("push"), false, true),
            (command("commit -a"), false, false),
        ] {
            assert_eq!(task.follows_commit(), follows_commit, "{task:?}");
            let scm = Scm::git(vec![ScmTask::Commit, task]);
            assert_eq!(scm.is_proposed(), is_proposed, "{:?}", scm.tasks);
        }
    }
}
