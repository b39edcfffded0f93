//! Stories from issues of the repository.

use ralph_core::{imports::of_issues, issue::query::IssueQuery};
use ralph_sys::error::{Error, Result};

use super::{Import, ImportArgs, finish, source::ImportSource};
use crate::{
    cli::{stories::place::StoriesPlace, warn},
    forge::issues::{FoundIssues, find},
    term::fit::one_line,
};

/// Reads the issues that are meant, and makes stories of them.
pub(super) fn import(args: &ImportArgs, query: &IssueQuery, place: &StoriesPlace) -> Result<u8> {
    if !args.dry_run {
        place.settle()?;
    }
    let FoundIssues { repository, issues, refused } =
        find(&place.project, query, &args.trust.trust(place.sandbox))?;
    for issue in &refused {
        let author = one_line(&issue.author);
        warn(&format!(
            "issue #{} is left out: {author} is not owner, member or collaborator; if you trust it: --trust-author {author}",
            issue.number
        ));
    }
    if issues.is_empty() {
        return Err(Error::new(format!("there is no issue to import in {}", repository.path)));
    }
    let source = ImportSource::of_issues(&format!("{}/{}", repository.host, repository.path));
    finish(args, &Import { source: &source, imported: &of_issues(&issues), done: 0 }, place)
}
