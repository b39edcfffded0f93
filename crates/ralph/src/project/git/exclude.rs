//! Files of ralph that git is not to see.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Keeps files of ralph out of git for this clone, whatever happens to `.ralph/.gitignore`.
pub(crate) fn exclude_own_files(project: &Path) -> io::Result<()> {
    const LINES: &str = "**/.ralph/*\n!**/.ralph/settings.json\n!**/.ralph/settings.schema.json\n!**/.ralph/prompts/\n!**/.ralph/implementation_plan.md\n.ralph-active\n";
    let Some(exclude) = project.ancestors().map(|dir| dir.join(".git")).find_map(|it| exclude_file(&it))
    else {
        return Ok(());
    };
    let present = match fs_err::read(&exclude) {
        Ok(present) => present,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if memchr::memmem::find(&present, LINES.as_bytes()).is_some() {
        return Ok(());
    }
    if let Some(info) = exclude.parent() {
        fs_err::create_dir_all(info)?;
    }
    // Appended: what the user keeps there must survive a full disk and a kill.
    let gap = if present.is_empty() || present.ends_with(b"\n") { "" } else { "\n" };
    let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&exclude)?;
    file.write_all(format!("{gap}# Runtime files of ralph.\n{LINES}").as_bytes())
}

/// Where a repository keeps patterns for this clone; `.git` is a file in worktrees and submodules.
fn exclude_file(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.join("info/exclude"));
    }
    let link = fs_err::read_to_string(git).ok()?;
    let real = git.parent()?.join(link.strip_prefix("gitdir:")?.trim());
    let common = fs_err::read_to_string(real.join("commondir")).unwrap_or_default();
    Some(real.join(common.trim()).join("info/exclude"))
}
