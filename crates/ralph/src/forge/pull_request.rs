//! Proposes the branch of a run to others: pushes it, and makes a pull request or changes the one that there is.
//!
//! Invariant: an open pull request of the branch is looked for first, so that a process that is killed in between and
//! tries again makes no second one.

use std::{ffi::OsString, time::Duration};

use ralph_core::{
    engine::{
        Run,
        event::{HowProposed, PullRequestMade},
    },
    forge::{Forge, Proposal, RemoteRepository, encoded},
    pull_request::{Asked, Described, body, branch::is_kept, merged, summary, title},
    receipt::statement::Statement,
    setup::{PromptSource, ScmTask, TaskFrom},
};
use ralph_sys::{
    calls::{looking_git, refusal, succeeded, was_hung_up_on},
    error::{Error, Result},
    process::{Captured, Supervisor},
};
use serde_json::{Value, json};

use super::{Gh, anywhere};
use crate::{
    project::git::{Git, NO_BRANCH},
    report::summary::outcome,
    term::fit::one_line,
};

/// Most of what git says.
const MAX_OUTPUT_LEN: usize = 64 * 1024;
/// A remote that takes longer is not there.
const PUSH_TIMEOUT: Duration = Duration::from_mins(2);

/// A run to propose.
pub(crate) struct Proposed<'a> {
    pub(crate) supervisor: &'a mut Supervisor,
    pub(crate) git: &'a Git,
    pub(crate) run: &'a Run,
    /// What its receipt says.
    pub(crate) judged: &'a Statement,
    /// What was judged is pushed; else only what was pushed before is proposed.
    pub(crate) pushes: bool,
    pub(crate) draft: bool,
}

impl Proposed<'_> {
    /// Proposes it. Nothing where the run has made no commit.
    pub(crate) fn propose(&mut self) -> Result<Option<PullRequestMade>> {
        let project = &self.run.started.setup.project;
        let branch = self.git.checked_out().filter(|branch| branch != NO_BRANCH);
        let branch = branch.ok_or_else(|| Error::new("no branch is checked out"))?;
        if let Some(expected) = self.run.plan.branch.as_ref().filter(|expected| **expected != branch) {
            return Err(Error::new(format!("`{branch}` is checked out, and the run is for `{expected}`"))
                .hint(format!("check it out: git switch {expected}")));
        }
        let head = self.git.head(self.supervisor)?;
        let first = self.run.memory.first_head.clone();
        if head.is_none() || head == first {
            return Ok(None);
        }
        let found = anywhere(self.supervisor, project);
        let known = found.iter().find(|it| it.forge != Forge::Other).or(found.first());
        let remote = known.cloned().ok_or_else(|| Error::new("the project has no remote repository"))?;
        let base = self.base(&remote)?;
        let is_told = self.run.started.setup.scm.as_ref().is_some_and(|scm| scm.base.is_some());
        if branch == base || is_kept(&branch, &[]) && !is_told {
            return Err(Error::new(format!("the work is on `{branch}`, which others build on"))
                .hint("add \"branch\" to scm.tasks: ralph makes one of its own"));
        }
        let commits = match (&first, &head) {
            (Some(first), Some(head)) => self.git.between(self.supervisor, first, head).unwrap_or_default(),
            _ => Vec::new(),
        };
        let words = Words::of(self.run, &remote, self.judged, &commits);
        self.push(&remote, &branch, &base, &words)?;
        let link = remote.link(&base, &branch);
        let (how, url) = match remote.forge {
            Forge::GitHub => self.on_github(&remote, &branch, &base, &words)?,
            Forge::GitLab if self.pushes => (HowProposed::ByPush, link),
            Forge::GitLab | Forge::Gitea | Forge::Bitbucket | Forge::Other => (HowProposed::ByLink, link),
        };
        let draft = self.draft && how != HowProposed::ByLink;
        Ok(Some(PullRequestMade { how, url, branch, draft }))
    }

    /// The branch that it is for: what the settings say, or what the remote calls its own.
    fn base(&mut self, remote: &RemoteRepository) -> Result<String> {
        if let Some(base) = self.run.started.setup.scm.as_ref().and_then(|scm| scm.base.clone()) {
            return Ok(base);
        }
        let name = format!("refs/remotes/{}/HEAD", remote.remote);
        let known = self.git_says(&["symbolic-ref", "--quiet", "--short", &name])?;
        if let Some(base) = known.strip_prefix(&format!("{}/", remote.remote)) {
            return Ok(base.to_owned());
        }
        if remote.forge == Forge::GitHub {
            let answer = Gh { supervisor: self.supervisor, repository: remote }.get("")?;
            if let Some(base) = answer["default_branch"].as_str() {
                return Ok(base.to_owned());
            }
        }
        Ok("main".to_owned())
    }

    fn push(&mut self, remote: &RemoteRepository, branch: &str, base: &str, words: &Words) -> Result<()> {
        if !self.pushes {
            let there =
                self.git_says(&["ls-remote", "--heads", &remote.remote, &format!("refs/heads/{branch}")])?;
            return if there.is_empty() {
                Err(Error::new(format!("nothing of `{branch}` was pushed"))
                    .hint("open the pull request yourself: ralph pr, which pushes the branch"))
            } else {
                Ok(())
            };
        }
        let proposal =
            Proposal { base, title: &words.title, description: &words.summary, is_draft: self.draft };
        let options = remote.push_options(&proposal);
        let refspec = format!("HEAD:refs/heads/{branch}");
        let mut args = vec!["push", "--quiet", "--no-verify", "--set-upstream"];
        args.extend(options.iter().flat_map(|option| ["--push-option", option]));
        args.extend([remote.remote.as_str(), &refspec]);
        let mut pushed = self.git(&args)?;
        if was_hung_up_on(&pushed) {
            // Whether everything had arrived, another push tells.
            pushed = self.git(&args)?;
        }
        if succeeded(&pushed) {
            return Ok(());
        }
        let error = Error::new(format!("git push failed: {}", one_line(&refusal(&pushed))));
        Err(error.hint(format!("if `{branch}` has other commits there, choose another name: scm.branch")))
    }

    fn on_github(
        &mut self,
        remote: &RemoteRepository,
        branch: &str,
        base: &str,
        words: &Words,
    ) -> Result<(HowProposed, Option<String>)> {
        let owner = remote.path.split('/').next().unwrap_or_default();
        let draft = self.draft;
        let mut gh = Gh { supervisor: self.supervisor, repository: remote };
        let query = format!("pulls?state=open&head={owner}:{}", encoded(branch).replace('/', "%2F"));
        let open = gh.get(&query)?;
        let Some(pull) = open.as_array().and_then(|all| all.first()) else {
            let mut asked = json!({"title": words.title, "head": branch, "base": base, "body": words.body, "draft": draft});
            let made = gh.call("POST", "pulls", Some(&asked)).or_else(|error| {
                // Not every repository has drafts.
                if !draft || !error.to_string().contains("HTTP 422") {
                    return Err(error);
                }
                asked["draft"] = json!(false);
                asked["title"] = json!(format!("Draft: {}", words.title));
                gh.call("POST", "pulls", Some(&asked))
            })?;
            return Ok((HowProposed::Created, url(&made)));
        };
        let number = pull["number"]
            .as_u64()
            .ok_or_else(|| Error::new("GitHub did not return the number of the pull request"))?;
        // A person who took ralph's part out wants other words.
        if let Some(body) = merged(pull["body"].as_str().unwrap_or_default(), &words.body) {
            gh.call("PATCH", &format!("pulls/{number}"), Some(&json!({ "body": body })))?;
        }
        if pull["draft"].as_bool().unwrap_or(false) != draft {
            let change = if draft { "convertPullRequestToDraft" } else { "markPullRequestReadyForReview" };
            let query = format!(
                "mutation($id: ID!) {{ {change}(input: {{pullRequestId: $id}}) {{ clientMutationId }} }}"
            );
            gh.mutate(&json!({"query": query, "variables": {"id": pull["node_id"]}}))?;
        }
        Ok((HowProposed::Updated, url(pull)))
    }

    fn git(&mut self, args: &[&str]) -> Result<Captured> {
        let spec =
            looking_git(self.git.top(), args.iter().map(OsString::from).collect()).within(PUSH_TIMEOUT);
        Ok(self.supervisor.capture(spec, MAX_OUTPUT_LEN)?)
    }

    fn git_says(&mut self, args: &[&str]) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.git(args)?.out).trim().to_owned())
    }
}

/// What others read.
pub(crate) struct Words {
    pub(crate) title: String,
    pub(crate) body: String,
    summary: String,
}

impl Words {
    /// The words about a run.
    pub(crate) fn of(
        run: &Run,
        remote: &RemoteRepository,
        judged: &Statement,
        commits: &[(String, String)],
    ) -> Self {
        let Run { started, plan, state, .. } = run;
        let setup = &started.setup;
        let text = match (&setup.prompt, &setup.task) {
            (PromptSource::Text(text), _) => text.clone(),
            (PromptSource::File(path), _) => ralph_sys::files::read_text(path).unwrap_or_default(),
            (PromptSource::Template(_), TaskFrom::Fixed(task)) => task.clone(),
            (PromptSource::Template(_), TaskFrom::Prompt | TaskFrom::PlanFile) => {
                format!("ralph {}", plan.preset)
            }
        };
        let issue = setup.issue.as_ref();
        let ended = state.outcome().map(|it| outcome(it, plan, state)).unwrap_or_default();
        let has_notes = setup.scm.as_ref().is_some_and(|scm| scm.tasks.contains(&ScmTask::Notes));
        let asked =
            Asked { text: &text, issue: issue.filter(|it| it.repository == remote.path).map(|it| it.number) };
        let described = Described { asked, outcome: &ended, judged: &judged.predicate, commits, has_notes };
        let named = title(issue.map_or(&text, |issue| &issue.title));
        let title = if named.is_empty() { format!("Work of ralph run {}", started.run) } else { named };
        Self { title, body: body(&described), summary: summary(&described) }
    }
}

fn url(pull: &Value) -> Option<String> {
    pull["html_url"].as_str().map(|url| one_line(url).into_owned())
}
