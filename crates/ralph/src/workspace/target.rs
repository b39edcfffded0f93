//! The user's repository as the lander of a fleet knows it: the branch that everything lands on, and candidates.
//!
//! No hook and no program of the repository runs. A candidate comes through a fetch that hashes every object; the target
//! moves only from the commit that was judged against.

use std::{
    io,
    path::{Path, PathBuf},
};

use ralph_sys::process::Supervisor;

use super::{
    call::{Config, GitCall, text},
    landing::Author,
    source::Source,
};

/// Where candidates are kept until they land or a person discards them.
pub(crate) const CANDIDATES: &str = "refs/ralph/candidates";

/// Where work is kept that a run did not finish.
pub(crate) const UNFINISHED: &str = "refs/ralph/unfinished";

/// The repository, and its branch.
#[derive(Clone, Debug)]
pub(crate) struct TargetBranch {
    /// The top of the user's working tree.
    top: PathBuf,
    common_dir: PathBuf,
    /// The branch, as `refs/heads/name`.
    branch: String,
}

/// What came of moving the target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    Landed,
    /// Someone else moved it first.
    Overtaken,
    /// The user's files are in the way.
    InTheWay(String),
}

impl TargetBranch {
    /// A branch of a repository.
    pub(crate) fn new(source: &Source, branch: &str) -> Self {
        let Source { top, common_dir, .. } = source.clone();
        Self { top, common_dir, branch: branch.to_owned() }
    }

    /// Removes what a git that was killed left of a ref. It is ralph's own, and one process at a time writes it.
    fn unlock(&self, name: &str) {
        debug_assert!(name.starts_with("refs/ralph/"), "{name}");
        // Nearly always there is none.
        let _ = fs_err::remove_file(self.common_dir.join(format!("{name}.lock")));
    }

    fn call(&self) -> GitCall {
        GitCall::new(&self.top, Config::User)
    }

    /// Where it is.
    pub(crate) fn tip(&self, supervisor: &mut Supervisor) -> io::Result<String> {
        let call = self.call().args(["rev-parse", "--verify", &format!("{}^{{commit}}", self.branch)]);
        Ok(text(&call.must(supervisor, "cannot find the branch that is landed on")?))
    }

    /// Whose name is on the user's commits.
    pub(crate) fn author(&self, supervisor: &mut Supervisor) -> io::Result<Author> {
        let ident = text(&self.call().args(["var", "GIT_COMMITTER_IDENT"]).must(supervisor, "no identity")?);
        let (name, rest) = ident.split_once(" <").unwrap_or((&ident, ""));
        let email = rest.split_once('>').map_or("", |(email, _)| email);
        Ok(Author { name: name.to_owned(), email: email.to_owned() })
    }

    /// The commit since `base` whose message ends with this line, if there is one.
    pub(crate) fn with_trailer(
        &self,
        supervisor: &mut Supervisor,
        base: &str,
        trailer: &str,
    ) -> io::Result<Option<String>> {
        let range = format!("{base}..{}", self.branch);
        let call = self.call().args(["log", "--format=%H %(trailers:only,unfold)%x00", "--first-parent"]);
        let log = text(&call.args([&range]).must(supervisor, "cannot look for what has landed")?);
        let mut commits = log.split('\0').filter_map(|entry| entry.trim_start().split_once(' '));
        let found = commits.find(|(_, trailers)| trailers.lines().any(|line| line.trim() == trailer));
        Ok(found.map(|(id, _)| id.to_owned()))
    }

    /// The first line of a commit's message.
    pub(crate) fn subject(&self, supervisor: &mut Supervisor, commit: &str) -> io::Result<String> {
        let call = self.call().args(["log", "-1", "--format=%s", commit]);
        Ok(text(&call.must(supervisor, "cannot read a commit")?))
    }

    /// What landed between two commits, each in a line.
    pub(crate) fn landed(&self, supervisor: &mut Supervisor, base: &str) -> io::Result<Vec<String>> {
        let range = format!("{base}..{}", self.branch);
        let call = self.call().args(["log", "--format=%h %s", "--first-parent", "-n", "20", &range]);
        Ok(text(&call.run(supervisor)?.unwrap_or_default()).lines().map(str::to_owned).collect())
    }

    /// Fetches a commit from a repository that is not believed, and holds it.
    pub(crate) fn fetch(
        &self,
        supervisor: &mut Supervisor,
        from: &Path,
        commit: &str,
        name: &str,
    ) -> io::Result<()> {
        self.unlock(name);
        let call = self.call().setting("protocol.file.allow=always").setting("fetch.fsckObjects=true");
        let flags = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
        ];
        let call = call.args(flags).args([from]).args([format!("+{commit}:{name}")]);
        call.must(supervisor, "the candidate cannot be fetched").map(drop)
    }

    /// Where a ref leads.
    pub(crate) fn held(&self, supervisor: &mut Supervisor, name: &str) -> io::Result<Option<String>> {
        let call = self.call().args(["rev-parse", "--verify", "--quiet", name]);
        Ok(call.run(supervisor)?.ok().map(|id| text(&id)))
    }

    /// The refs that a pattern names.
    pub(crate) fn like(&self, supervisor: &mut Supervisor, pattern: &str) -> io::Result<Vec<String>> {
        let call = self.call().args(["for-each-ref", "--format=%(refname)", pattern]);
        Ok(text(&call.must(supervisor, "cannot list refs")?).lines().map(str::to_owned).collect())
    }

    /// Lets a ref go.
    pub(crate) fn release(&self, supervisor: &mut Supervisor, name: &str) -> io::Result<()> {
        self.unlock(name);
        self.call().args(["update-ref", "-d", name]).must(supervisor, "cannot remove a ref").map(drop)
    }

    /// The commit that a repository has on this branch.
    pub(crate) fn head_of(&self, supervisor: &mut Supervisor, repository: &Path) -> io::Result<String> {
        let call = GitCall::new(repository, Config::User).git_dir(repository);
        let call = call.args(["rev-parse", "--verify", &format!("{}^{{commit}}", self.branch)]);
        Ok(text(&call.must(supervisor, "the lane has no commit")?))
    }

    /// Moves the branch from `old` to `new`, with the user's files where it is checked out.
    pub(crate) fn advance(&self, supervisor: &mut Supervisor, old: &str, new: &str) -> io::Result<Moved> {
        if self.tip(supervisor)? != old {
            return Ok(Moved::Overtaken);
        }
        let checked_out = self.call().args(["symbolic-ref", "--quiet", "HEAD"]).run(supervisor)?;
        if checked_out.is_ok_and(|name| text(&name) == self.branch) {
            let merge = self.call().args(["merge", "--ff-only", "--quiet", "--no-autostash", new]);
            return Ok(match merge.run(supervisor)? {
                Ok(_) if self.tip(supervisor)? == new => Moved::Landed,
                Ok(_) => Moved::Overtaken,
                Err(_) if self.tip(supervisor)? != old => Moved::Overtaken,
                Err(why) => Moved::InTheWay(why),
            });
        }
        let update = self.call().args(["update-ref", &self.branch, new, old]).run(supervisor)?;
        match update {
            Ok(_) => Ok(Moved::Landed),
            Err(_) if self.tip(supervisor)? != old => Ok(Moved::Overtaken),
            Err(why) => Ok(Moved::InTheWay(why)),
        }
    }
}
