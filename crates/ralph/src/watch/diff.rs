//! What a run has done to the files, as git says it.

use std::path::Path;

use crate::{project::git::Git, term::fit::one_line};

/// More of a difference is not looked at here, in bytes.
const MAX_DIFF_LEN: usize = 1024 * 1024;

/// The files that git does not know yet, then the difference to what the run started from.
pub(super) fn lines(project: &Path, base: Option<&str>) -> Vec<String> {
    let Some(git) = Git::near(project) else {
        return vec!["the project is not in a git repository".to_owned()];
    };
    let base = base.unwrap_or("HEAD");
    let (new, text) = match (git.unknown_at_once(), git.patch_at_once(base, MAX_DIFF_LEN)) {
        (Ok(new), Ok(text)) => (new, text),
        (Err(error), _) | (_, Err(error)) => return vec![one_line(&error.to_string()).into_owned()],
    };
    let mut lines: Vec<String> =
        new.iter().map(|path| format!("new, not in git: {}", one_line(&path.to_string_lossy()))).collect();
    // The empty line between keeps its place.
    lines.extend(text.lines().map(|line| one_line(line).into_owned()));
    if text.len() == MAX_DIFF_LEN {
        lines.push(format!("… the rest: git diff {base}"));
    }
    if lines.is_empty() {
        lines.push("nothing has changed since the start of the run".to_owned());
    }
    lines
}
