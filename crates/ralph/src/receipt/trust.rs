//! What a verifier trusts: files that the author of a commit cannot have written.
//!
//! Invariant: nothing that is trusted is read from the working tree, which has what the commit says.

use std::path::{Path, PathBuf};

use ralph_sys::{
    error::{Context, Error, Result},
    files::{self, MAX_TEXT_LEN},
    process::Supervisor,
};

use super::repository::Commits;

/// A file that the verifier names: `PATH` outside of the working tree, or `COMMIT:PATH`.
pub(crate) fn read(
    supervisor: &mut Supervisor,
    commits: Option<&Commits>,
    given: &str,
    from: &Path,
) -> Result<Vec<u8>> {
    if let (Some((commit, path)), Some(commits)) = (given.split_once(':'), commits)
        && let Some(revision) = commits.revision(supervisor, commit)?
    {
        commits.refuse_ambiguous(supervisor, commit)?;
        let found = commits.file(supervisor, &revision.commit, path)?;
        return found.ok_or_else(|| Error::new(format!("`{commit}` has no file `{path}`")));
    }
    let place = from.join(given);
    let real = fs_err::canonicalize(&place)?;
    if let Some(inside) = inside(commits, &real) {
        return Err(Error::new(format!(
            "`{given}` is in the working tree: the author of the commit can have written it"
        ))
        .hint(format!("name the branch that you trust: origin/main:{}", inside.display())));
    }
    files::read(&real, MAX_TEXT_LEN).context(format!("cannot read {}", real.display()))
}

/// Where in the working tree a file is, if it is in it.
fn inside(commits: Option<&Commits>, real: &Path) -> Option<PathBuf> {
    let top = fs_err::canonicalize(commits?.top()).ok()?;
    let inside = real.strip_prefix(&top).ok()?;
    // What git keeps there is the verifier's own.
    (!inside.starts_with(".git")).then(|| inside.to_owned())
}
