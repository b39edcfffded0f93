//! What makes git run programs or obey others, beside the usual files of a repository: hooks that are kept
//! elsewhere, files that its configuration includes, submodules and other working trees.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use ralph_core::containment::policy::{GitPlaces, PROTECTED_GIT, Places};
use ralph_sys::{calls, process::Supervisor};

use super::survey;

/// As many submodules, one in another, are looked at.
const MAX_MODULES: usize = 500;
/// Most of what git says about its configuration.
const MAX_OUTPUT_LEN: usize = 1024 * 1024;

/// What must stay as it is, of those that are there or could be.
#[derive(Debug, Default, PartialEq, Eq)]
struct GitRules {
    files: Vec<PathBuf>,
    /// Folders of hooks, which must not appear either.
    hooks: Vec<PathBuf>,
    /// Repositories in the repository.
    modules: Vec<PathBuf>,
    /// Whether working trees have configurations of their own, which must not appear either.
    has_worktree_config: bool,
}

/// Adds to what is protected what else makes git run programs. Returns what must not appear, and is not there yet:
/// folders of hooks, and files with what may stand in them.
pub(super) fn protect(
    places: &mut Places,
    supervisor: &mut Supervisor,
) -> (Vec<PathBuf>, Vec<(PathBuf, &'static str)>) {
    let Some(git) = &places.git else { return (Vec::new(), Vec::new()) };
    let rules = find(supervisor, &places.project, git);
    // Elsewhere no process inside writes.
    let inside = [&places.project, &git.common];
    let is_inside = |path: &PathBuf| inside.iter().any(|dir| path.starts_with(dir));
    let hooks = rules.hooks.into_iter().map(|path| std::fs::canonicalize(&path).unwrap_or(path));
    let hooks: Vec<PathBuf> = hooks.filter(is_inside).collect();
    // A repository whose shared part is itself: git takes it as it is, and no process inside can name another.
    let repositories = || rules.modules.iter().chain([&git.common]);
    let mut files: Vec<_> = repositories().map(|dir| (dir.join("commondir"), ".\n")).collect();
    if rules.has_worktree_config {
        files.extend([&git.common, &git.dir].map(|dir| (dir.join("config.worktree"), "")));
    }
    let of_modules = rules.modules.iter().flat_map(|dir| PROTECTED_GIT.map(|name| dir.join(name)));
    let found = survey::real(rules.files).into_iter().filter(is_inside);
    places.git_rules = found.chain(of_modules).chain(hooks.clone()).collect();
    (hooks, files)
}

/// Asks git, and looks into the repository.
fn find(supervisor: &mut Supervisor, project: &Path, places: &GitPlaces) -> GitRules {
    let args: Vec<OsString> = ["config", "-z", "--list", "--show-origin"].map(OsString::from).to_vec();
    let said = supervisor.capture(calls::looking_git(project, args), MAX_OUTPUT_LEN);
    let said = said.map(|captured| String::from_utf8_lossy(&captured.out).into_owned()).unwrap_or_default();
    let top = places.link.as_deref().and_then(Path::parent).or(places.common.parent()).unwrap_or(project);
    let mut rules = configured(&said, project, top, survey::home().as_deref());
    rules.hooks.push(places.common.join("hooks"));
    modules(&places.common.join("modules"), &mut rules);
    for tree in entries(&places.common.join("worktrees")) {
        rules.files.extend(["config.worktree", "commondir", "gitdir"].map(|name| tree.join(name)));
    }
    rules
}

/// What the configuration leads to. It is a list of `origin NUL key LF value NUL`.
fn configured(list: &str, project: &Path, top: &Path, home: Option<&Path>) -> GitRules {
    let mut rules = GitRules::default();
    let mut parts = list.split('\0');
    while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        let from = |dir: &Path| match (value.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => dir.join(value),
        };
        if key == "core.hookspath" {
            rules.hooks.push(from(top));
        } else if let ("include" | "includeif", "path") = ends(key) {
            // Git says where it found a file as seen from where it was called.
            let origin = project.join(origin.strip_prefix("file:").unwrap_or(origin));
            rules.files.push(from(origin.parent().unwrap_or(top)));
        } else if key == "extensions.worktreeconfig" {
            rules.has_worktree_config = value != "false";
        }
    }
    rules
}

/// The first and the last part of a key; what is between may have dots.
fn ends(key: &str) -> (&str, &str) {
    (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default())
}

/// The rules of submodules, which may have submodules.
fn modules(folder: &Path, rules: &mut GitRules) {
    let mut waiting = vec![folder.to_owned()];
    let mut searched = 0;
    while let Some(folder) = waiting.pop().filter(|_| searched < MAX_MODULES) {
        searched += 1;
        for module in entries(&folder) {
            if module.join("HEAD").is_file() {
                waiting.push(module.join("modules"));
                rules.hooks.push(module.join("hooks"));
                rules.modules.push(module);
            } else {
                // A name with a slash in it.
                waiting.push(module);
            }
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path()).collect()
}

/// Which of these files git tracks: a tracked file that cannot be read breaks commits.
pub(super) fn tracked(supervisor: &mut Supervisor, project: &Path, paths: &[PathBuf]) -> Vec<PathBuf> {
    if paths.is_empty() {
        return Vec::new();
    }
    let mut args: Vec<OsString> = ["ls-files", "-z", "--"].map(OsString::from).to_vec();
    args.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
    let Ok(captured) = supervisor.capture(calls::looking_git(project, args), MAX_OUTPUT_LEN) else {
        return Vec::new();
    };
    let names = captured.out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| project.join(String::from_utf8_lossy(name).as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_leads_elsewhere() {
        let list = "file:/home/me/.gitconfig\0include.path\nwork.inc\0file:.git/config\0core.hookspath\n.husky/_\0\
                    file:.git/config\0includeif.onbranch:main.path\n../shared.inc\0file:.git/config\0core.bare\nfalse\0\
                    file:.git/config\0includeif.gitdir:~/x/.path\n~/mine.inc\0file:.git/config\0extensions.worktreeconfig\ntrue\0\
                    file:.git/config\0core.ignorecase\0";
        let rules = configured(list, Path::new("/p"), Path::new("/p"), Some(Path::new("/home/me")));
        assert_eq!(rules.hooks, [PathBuf::from("/p/.husky/_")]);
        let files = ["/home/me/work.inc", "/p/.git/../shared.inc", "/home/me/mine.inc"].map(PathBuf::from);
        assert_eq!(rules.files, files);
        assert!(rules.has_worktree_config);
    }

    #[test]
    fn submodules_have_rules_of_their_own() {
        let root = tempfile::tempdir().expect("a folder");
        for module in ["one", "libs/two", "one/modules/three"] {
            let module = root.path().join(module);
            std::fs::create_dir_all(&module).expect("a folder");
            std::fs::write(module.join("HEAD"), "").expect("a file");
        }
        let mut rules = GitRules::default();
        modules(root.path(), &mut rules);
        let mut hooks = rules.hooks;
        hooks.sort();
        let expected = ["libs/two/hooks", "one/hooks", "one/modules/three/hooks"];
        assert_eq!(hooks, expected.map(|path| root.path().join(path)));
        assert!(rules.modules.contains(&root.path().join("libs/two")));
    }
}
