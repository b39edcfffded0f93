//! Files of ralph that git is not to see.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use ralph_sys::{
    files::{self, MAX_TEXT_LEN, Root},
    paths::is_repository,
};

use crate::project::own_output;

/// Patterns of the files of ralph that are no part of a project.
pub(crate) const OWN_FILES: &str = "**/.ralph/*\n!**/.ralph/settings.json\n!**/.ralph/settings.schema.json\n!**/.ralph/prompts/\n!**/.ralph/implementation_plan.md\n.ralph-active\n";

const INFO: &str = "info";
/// Patterns for this clone alone.
const EXCLUDE: &str = "info/exclude";

/// Keeps files of ralph out of git for this clone, whatever happens to `.ralph/.gitignore`.
pub(crate) fn exclude_own_files(project: &Path) -> io::Result<()> {
    let found = project
        .ancestors()
        .filter(|dir| is_repository(dir))
        .find_map(|dir| Some((dir, git_folder(&dir.join(".git"))?)));
    let Some((top, folder)) = found else { return Ok(()) };
    // Where the list is a link it is another project's or the user's own: `.ralph/.gitignore` has to do there.
    if [INFO, EXCLUDE].iter().any(|name| folder.join(name).is_symlink()) {
        return Ok(());
    }
    let mut file = Root::new(folder).append(EXCLUDE)?;
    let mut present = Vec::new();
    (&file).take(MAX_TEXT_LEN).read_to_end(&mut present)?;
    let has = |text: &[u8]| memchr::memmem::find(&present, text).is_some();
    let mut lines = String::new();
    if !has(OWN_FILES.as_bytes()) {
        lines = format!("# Runtime files of ralph.\n{OWN_FILES}");
    }
    for pattern in own_output::inside(top).iter().filter_map(|path| pattern(path)) {
        if !has(format!("\n{pattern}").as_bytes()) {
            lines.push_str(&pattern);
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    // Appended: what the user keeps there must survive a full disk and a kill.
    let gap = if present.is_empty() || present.ends_with(b"\n") { "" } else { "\n" };
    file.write_all(format!("{gap}{lines}").as_bytes())
}

/// The line that means this file alone; nothing if there is none.
fn pattern(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|path| !path.contains('\n'))?;
    let mut line = "/".to_owned();
    for letter in path.chars() {
        if matches!(letter, '\\' | '*' | '?' | '[' | ' ') {
            line.push('\\');
        }
        line.push(letter);
    }
    line.push('\n');
    Some(line)
}

/// Where a repository keeps what all its worktrees share; `.git` is a file in worktrees and submodules.
fn git_folder(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let link = files::read_text(git).ok()?;
    let real = git.parent()?.join(link.strip_prefix("gitdir:")?.trim());
    let common = files::read_text(&real.join("commondir")).unwrap_or_default();
    Some(real.join(common.trim()))
}
