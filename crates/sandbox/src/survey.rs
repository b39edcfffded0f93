//! Finds out where things are that a sandbox opens, protects or hides.

use std::{
    collections::VecDeque,
    env,
    path::{Path, PathBuf},
};

use ralph_core::containment::policy::{
    GitPlaces, PROTECTED, Places, SYSTEM_SECRETS, is_secret, secrets_in_home,
};
use ralph_sys::{
    files,
    paths::{HIDDEN_FILE, hidden_dir, is_repository},
};

/// As many folders are searched for secrets.
const MAX_FOLDERS: usize = 5_000;
/// Folders of others' code and of results, where no one keeps secrets and there is much.
const SKIPPED: [&str; 8] =
    [".git", "node_modules", "target", "vendor", ".venv", "venv", "__pycache__", ".ralph"];

/// The places of a project, without what belongs to a single run.
pub(super) fn survey(project: &Path) -> Places {
    Places {
        git: git(project),
        tasks: folders(&project.join(".ralph/tasks")),
        secrets: secrets(project),
        led_to: PROTECTED.into_iter().filter_map(|name| led_to(&project.join(name))).collect(),
        hidden: hidden(),
        project: project.to_owned(),
        ..Places::default()
    }
}

/// The secrets of the user and of the machine that are there, each where it really is.
fn hidden() -> Vec<PathBuf> {
    let homes = home().into_iter().chain(home_of_record());
    let of_homes = homes.flat_map(|home| secrets_in_home().map(move |name| home.join(name)));
    let config = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.or_else(|| home().map(|home| home.join(".config")));
    let guardrails = config.map(|config| config.join(HIDDEN_FILE)).into_iter().chain(hidden_dir().ok());
    let system = SYSTEM_SECRETS.map(PathBuf::from);
    let keys = std::fs::read_dir("/etc/ssh").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_key = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("ssh_host_") && name.ends_with("_key")
    };
    real(of_homes.chain(guardrails).chain(system).chain(keys.filter(is_key)))
}

/// Those that are there, without links.
pub(super) fn real(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    paths.into_iter().filter_map(|path| std::fs::canonicalize(path).ok()).collect()
}

/// The home that the machine has for this user, whatever the environment says.
pub(super) fn home_of_record() -> Option<PathBuf> {
    let user = rustix::process::geteuid().as_raw().to_string();
    let list = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = list.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut own = fields.filter(|fields| fields.get(2) == Some(&user.as_str()));
    std::fs::canonicalize(own.next()?.get(5).filter(|home| !home.is_empty())?).ok()
}

/// The user's home, without links.
pub(super) fn home() -> Option<PathBuf> {
    env::var_os("HOME").filter(|home| !home.is_empty()).and_then(|home| std::fs::canonicalize(home).ok())
}

/// A path of the settings, without links; nothing if there is no such place.
pub(super) fn resolve(text: &str, project: &Path) -> Option<PathBuf> {
    let path = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => home()?.join(rest.trim_start_matches('/')),
        _ => project.join(text),
    };
    std::fs::canonicalize(path).ok()
}

/// Where the repository of a folder is; `.git` is a file in working trees beside the first and in submodules.
pub(super) fn git(project: &Path) -> Option<GitPlaces> {
    let found = project.ancestors().find(|dir| is_repository(dir))?.join(".git");
    if found.is_dir() {
        let dir = std::fs::canonicalize(&found).ok()?;
        return Some(GitPlaces { common: dir.clone(), dir, link: None });
    }
    let text = files::read_text(&found).ok()?;
    let dir = std::fs::canonicalize(found.parent()?.join(text.strip_prefix("gitdir:")?.trim())).ok()?;
    let common = files::read_text(&dir.join("commondir")).unwrap_or_default();
    let common = std::fs::canonicalize(dir.join(common.trim())).ok()?;
    Some(GitPlaces { dir, common, link: Some(found) })
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Where a protected path leads to, if it is a link or in a folder that is one.
fn led_to(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok().filter(|real| real != path)
}

/// Files whose names say that they hold secrets, tracked or not. The nearest ones first.
fn secrets(project: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([project.to_owned()]);
    let mut searched = 0;
    while let Some(folder) = waiting.pop_front().filter(|_| searched < MAX_FOLDERS) {
        searched += 1;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if kind.is_dir() && !SKIPPED.contains(&name.as_ref()) {
                waiting.push_back(entry.path());
                continue;
            }
            let path = entry.path();
            if !is_secret(&path.strip_prefix(project).unwrap_or(&path).to_string_lossy()) {
                continue;
            }
            if kind.is_file() {
                found.push(path);
            } else if kind.is_symlink() {
                found.extend(real([path]).into_iter().filter(|target| target.is_file()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_where_people_keep_them() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().join(name);
        let open =
            ["environment", "node_modules/x/.env", ".git/.env", "id_rsa.pub", "tests/server.key", "key.rs"];
        let secret = [".env", ".env.local", "app/.env", "id_rsa", "deploy/server.key", "client_secret.json"];
        for file in open.into_iter().chain(secret) {
            std::fs::create_dir_all(path(file).parent().expect("a folder")).expect("a folder");
            std::fs::write(path(file), "").expect("a file");
        }
        std::os::unix::fs::symlink("environment", path(".env.link")).expect("a link");
        let mut found = secrets(root.path());
        found.sort();
        let led_to = std::fs::canonicalize(path("environment")).expect("a path");
        let mut expected: Vec<PathBuf> = secret.into_iter().map(path).chain([led_to]).collect();
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn repositories_are_found_from_below_and_from_other_working_trees() {
        let root = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(root.path()).expect("a path").join("x");
        let git_dir = root.join("main/.git");
        std::fs::create_dir_all(git_dir.join("worktrees/one")).expect("a folder");
        std::fs::create_dir_all(root.join("main/sub")).expect("a folder");
        std::fs::create_dir_all(root.join("one")).expect("a folder");
        std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
        // As a placeholder is, which no one takes for a repository.
        std::fs::create_dir_all(root.join("main/sub/.git")).expect("a folder");
        std::fs::write(git_dir.join("worktrees/one/commondir"), "../..\n").expect("a file");
        let link = root.join("one/.git");
        std::fs::write(&link, format!("gitdir: {}\n", git_dir.join("worktrees/one").display()))
            .expect("a file");
        let plain = GitPlaces { dir: git_dir.clone(), common: git_dir.clone(), link: None };
        assert_eq!(git(&root.join("main/sub")), Some(plain));
        let other = GitPlaces { dir: git_dir.join("worktrees/one"), common: git_dir, link: Some(link) };
        assert_eq!(git(&root.join("one")), Some(other));
        std::fs::remove_dir_all(root).expect("it was there");
    }
}
