//! Compares what is protected inside the project before and after a turn: some kinds of sandboxes cannot keep it
//! from being written, and from outside it can be changed in all of them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ralph_core::containment::policy::{PROTECTED, PROTECTED_GIT, Places};
use ralph_core::setup::PROJECT_DIR;
use ralph_sys::hash;

/// As many files are looked at.
const MAX_FILES: usize = 2_000;
/// What of ralph's own folder is not written by ralph during a run.
const OF_RALPH: [&str; 3] = ["settings.json", "settings.local.json", "prompts"];

/// What is there, by path with a fingerprint. Folders are there by their files, and links as links.
pub(super) fn fingerprints(places: &Places) -> BTreeMap<PathBuf, String> {
    let own = places.project.join(PROJECT_DIR);
    let protected =
        PROTECTED.into_iter().filter(|name| *name != PROJECT_DIR).map(|name| places.project.join(name));
    let of_ralph = OF_RALPH.map(|name| own.join(name));
    let dirs = places.git.iter().flat_map(|git| [git.common.clone(), git.dir.clone()]);
    let of_git = dirs.flat_map(|dir| PROTECTED_GIT.map(|name| dir.join(name)));
    // What appears where no repository is.
    let of_new = Some(places.project.join(".git")).filter(|_| !has_own(places));
    let mut found = BTreeMap::new();
    for path in of_new
        .into_iter()
        .chain(protected)
        .chain(of_ralph)
        .chain(of_git)
        .chain(places.git_rules.iter().cloned())
    {
        add(&path, &mut found);
    }
    found.retain(|path, _| !places.writable.iter().any(|open| path.starts_with(open)));
    found
}

/// Whether the repository that was found is the project's own.
fn has_own(places: &Places) -> bool {
    let own = places.project.join(".git");
    places.git.as_ref().is_some_and(|git| git.dir.starts_with(&own) || git.link.as_ref() == Some(&own))
}

fn add(path: &Path, into: &mut BTreeMap<PathBuf, String>) {
    if MAX_FILES <= into.len() || path.ends_with(".claude/rules") {
        return;
    }
    match path.symlink_metadata() {
        Err(_) => {}
        Ok(metadata) if metadata.is_dir() => {
            for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
                add(&entry.path(), into);
            }
        }
        Ok(_) => drop(into.insert(path.to_owned(), hash::fingerprint(path))),
    }
}

/// The names of what is not as it was.
pub(super) fn changed(
    before: &BTreeMap<PathBuf, String>,
    after: &BTreeMap<PathBuf, String>,
    project: &Path,
) -> Vec<String> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let other = after.iter().filter(|(path, now)| before.get(*path) != Some(now)).map(|(path, _)| path);
    let mut names: Vec<String> = gone
        .chain(other)
        .map(|path| path.strip_prefix(project).unwrap_or(path).display().to_string())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_named() {
        let root = tempfile::tempdir().expect("a folder");
        let places = Places { project: root.path().to_owned(), ..Places::default() };
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        for name in [".claude/settings.json", ".mcp.json", ".codex/config.toml", ".ralph/settings.json"] {
            write(name, "{}");
        }
        let before = fingerprints(&places);
        assert_eq!(changed(&before, &fingerprints(&places), root.path()), [""; 0]);
        write(".claude/settings.json", "{\"hooks\":{}}");
        write(".claude/rules/x.md", "a rule");
        write(".claude/hooks/x", "new");
        write(".ralph/prompt_001.txt", "ralph's own");
        write("src/main.rs", "work");
        // There was no repository.
        write(".git/config", "[core]\nfsmonitor = x\n");
        std::fs::remove_file(root.path().join(".mcp.json")).expect("it was there");
        let expected = [".claude/hooks/x", ".claude/settings.json", ".git/config", ".mcp.json"];
        assert_eq!(changed(&before, &fingerprints(&places), root.path()), expected);
    }
}
