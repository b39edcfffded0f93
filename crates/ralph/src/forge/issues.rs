//! Reads issues, with what was said to them.

use std::path::Path;

use ralph_core::{
    forge::RemoteRepository,
    issue::{FencedThread, ForgeIssue, IssueComment, Trust, fenced, query::IssueQuery},
    setup::IssueSetup,
};
use ralph_sys::{
    error::{Error, Result},
    process::{Supervisor, mark::chance},
};

use super::{Gh, remote};
use crate::term::fit::one_line;

/// So many comments are in one answer.
const PAGE: u64 = 100;
/// So many answers make a list of issues.
const MAX_PAGES: u64 = 5;

/// Issues of a project, as far as their authors are trusted.
pub(crate) struct FoundIssues {
    pub(crate) repository: RemoteRepository,
    /// Each with what a prompt says of it.
    pub(crate) issues: Vec<(ForgeIssue, String)>,
    /// Those that are left out because of their authors.
    pub(crate) refused: Vec<ForgeIssue>,
}

/// Reads one issue for a run.
pub(crate) fn one(project: &Path, number: u64, trust: &Trust) -> Result<IssueSetup> {
    let query = IssueQuery::Numbers(vec![number]);
    let FoundIssues { repository, issues, refused } = find(project, &query, trust)?;
    if let Some(issue) = refused.first() {
        let author = one_line(&issue.author);
        return Err(Error::new(format!(
            "issue #{number} is by {author}, who is not owner, member or collaborator of {}",
            repository.path
        ))
        .hint(format!("read it, and if you trust what it says: --trust-author {author}"))
        .hint("or contain what it may lead to: --sandbox"));
    }
    let (issue, text) =
        issues.into_iter().next().ok_or_else(|| Error::new(format!("there is no issue #{number}")))?;
    Ok(IssueSetup {
        repository: repository.path,
        number,
        title: ralph_core::issue::title(&issue),
        url: one_line(&issue.url).into_owned(),
        text,
    })
}

/// Reads those that are meant.
pub(crate) fn find(project: &Path, query: &IssueQuery, trust: &Trust) -> Result<FoundIssues> {
    let mut supervisor = Supervisor::new()?;
    let found = find_with(&mut supervisor, project, query, trust);
    supervisor.release();
    found
}

fn find_with(
    supervisor: &mut Supervisor,
    project: &Path,
    query: &IssueQuery,
    trust: &Trust,
) -> Result<FoundIssues> {
    let repository = remote(supervisor, project)?;
    let mut gh = Gh { supervisor, repository: &repository };
    let all = match query {
        IssueQuery::Numbers(numbers) => {
            let read = numbers.iter().map(|number| {
                let issue = understood(ForgeIssue::read(gh.get(&format!("issues/{number}"))?))?;
                if issue.is_pull_request {
                    return Err(Error::new(format!("#{number} is a pull request, not an issue")));
                }
                Ok(issue)
            });
            read.collect::<Result<Vec<ForgeIssue>>>()?
        }
        IssueQuery::Matching(words) => matching(&mut gh, words)?,
    };
    let (trusted, refused): (Vec<ForgeIssue>, Vec<ForgeIssue>) =
        all.into_iter().partition(|issue| trust.covers(&issue.author, issue.standing));
    let mut issues = Vec::new();
    for issue in trusted {
        let comments = comments(&mut gh, &issue)?;
        let thread = FencedThread { issue: &issue, comments: &comments, repository: &repository.path };
        let text = fenced(&thread, trust, &format!("{:016x}{:016x}", chance(), chance()));
        issues.push((issue, text));
    }
    Ok(FoundIssues { repository, issues, refused })
}

fn matching(gh: &mut Gh<'_>, words: &str) -> Result<Vec<ForgeIssue>> {
    let mut all = Vec::new();
    for page in 1..=MAX_PAGES {
        let query =
            format!("issues?state=open&sort=created&direction=asc&per_page={PAGE}&page={page}&{words}");
        let answer = gh.get(&query)?;
        let count = answer.as_array().map_or(0, Vec::len) as u64;
        all.extend(understood(ForgeIssue::read_all(answer))?);
        if count < PAGE {
            break;
        }
    }
    Ok(all)
}

/// The newest comments, oldest first.
fn comments(gh: &mut Gh<'_>, issue: &ForgeIssue) -> Result<Vec<IssueComment>> {
    let last = issue.comments.div_ceil(PAGE);
    let mut all = Vec::new();
    for page in last.saturating_sub(1).max(1)..=last {
        let answer = gh.get(&format!("issues/{}/comments?per_page={PAGE}&page={page}", issue.number))?;
        all.extend(understood(IssueComment::read_all(answer))?);
    }
    Ok(all)
}

fn understood<T>(read: std::result::Result<T, String>) -> Result<T> {
    read.map_err(|error| Error::new(format!("GitHub sent an answer that ralph does not understand: {error}")))
}
