//! Finds what is seen of homes inside a sandbox: tools, programs on the path, what the agent needs, what the user opens.
//!
//! Invariant: a home is hidden as a whole or not at all; what is shown of it is named, path by path.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::{Component, Path, PathBuf},
};

use ralph_core::containment::{
    home::{STARTUP_FILES, TOOL_FILES, TOOL_FOLDERS, TOOL_VARIABLES, sets_a_secret},
    policy::Places,
    tools::fits,
};
use ralph_sys::{files, paths};

use super::{login, survey};

/// As many links of a folder of programs are followed.
const MAX_PROGRAMS: usize = 2_000;
/// As many homes of others are hidden from the superuser.
const MAX_HOMES: usize = 200;

/// Who asks, and what the user opens.
pub(super) struct HomeNeeds<'a> {
    pub(super) agent: &'a str,
    /// The agent's program.
    pub(super) program: &'a Path,
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(super) readable: &'a [PathBuf],
}

/// What is seen, and where links lead to it.
#[derive(Default)]
struct Seen {
    homes: Vec<PathBuf>,
    shown: BTreeSet<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
    /// Files that shells read, and that have keys in them.
    withheld: Vec<PathBuf>,
}

/// Hides the homes, and shows what is needed of them. Returns links to what is shown, and what a person should
/// know of what was left out.
pub(super) fn hide(places: &mut Places, asked: &HomeNeeds<'_>) -> (Vec<(PathBuf, PathBuf)>, Vec<String>) {
    let mut seen = Seen { homes: homes(places, asked.readable), ..Seen::default() };
    if seen.homes.is_empty() {
        return (Vec::new(), Vec::new());
    }
    seen.tools();
    seen.startup_files();
    for name in TOOL_VARIABLES {
        let list = (asked.variable)(name).unwrap_or_default();
        for path in env::split_paths(&list).filter(|path| path.is_absolute()) {
            seen.show(&path);
        }
    }
    let path = (asked.variable)("PATH").unwrap_or_default();
    for folder in env::split_paths(&path).filter(|folder| folder.is_absolute()) {
        seen.programs(&folder);
    }
    seen.program(asked.program);
    if let Ok(own) = env::current_exe() {
        seen.show(&own);
    }
    for path in login::linked(asked.agent, asked.variable) {
        seen.show(&path);
    }
    for path in asked.readable {
        seen.show(path);
    }
    // Ralph's own commands look into the records of the project.
    if let Ok(records) = paths::project_dir(&places.project) {
        seen.show(&records);
    }
    // A project that is a part of a repository is built with the rest of it.
    if let Some(top) =
        places.git.as_ref().filter(|git| git.link.is_none()).and_then(|git| git.common.parent())
        && places.project.starts_with(top)
    {
        seen.show(top);
    }
    let Seen { homes, shown, links, mut withheld } = seen;
    withheld.retain(|path| !asked.readable.iter().any(|open| path.starts_with(open)));
    places.homes = homes;
    places.shown = shown.iter().filter(|path| !is_inside(path, &shown)).cloned().collect();
    let is_needed = |link: &Path| !is_inside(link, &shown) && !link.starts_with(&places.project);
    let links = links.into_iter().filter(|(link, _)| is_needed(link)).collect();
    (links, withheld.iter().map(|path| left_out(path)).collect())
}

fn left_out(path: &Path) -> String {
    let path = path.display();
    format!(
        "{path} sets a key, so it is not seen inside; keep keys in another file, or open it: \
         \"sandbox\": {{\"readable\": [\"{path}\"]}}"
    )
}

/// Whether a path lies in a folder of these.
fn is_inside(path: &Path, folders: &BTreeSet<PathBuf>) -> bool {
    path.ancestors().skip(1).any(|above| folders.contains(above))
}

/// The homes that are hidden: the user's, and from the superuser those of others.
fn homes(places: &Places, readable: &[PathBuf]) -> Vec<PathBuf> {
    let own = survey::home().into_iter().chain(survey::home_of_record());
    let others = rustix::process::geteuid().is_root().then(others).unwrap_or_default();
    let mut homes: Vec<PathBuf> = own.filter(|home| is_a_home(home)).chain(others).collect();
    // One that is the project, or in it, is what the work is about.
    homes.retain(|home| !home.starts_with(&places.project) && !readable.contains(home));
    homes.sort();
    homes.dedup();
    homes
}

/// A folder that only some user has: what everybody needs may be the home of a user of a service.
fn is_a_home(path: &Path) -> bool {
    path == Path::new("/root")
        || 3 <= path.components().filter(|it| matches!(it, Component::Normal(_))).count()
        || path.parent().is_some_and(|above| [Path::new("/home"), Path::new("/Users")].contains(&above))
}

fn others() -> Vec<PathBuf> {
    let list = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let homes = list.lines().filter_map(|line| line.split(':').nth(5)).map(PathBuf::from);
    let usual = ["/home", "/root", "/Users"].map(Path::new);
    let of_people =
        homes.filter(|home| usual.iter().any(|above| home.starts_with(above) && home != Path::new("/home")));
    let real = of_people.filter_map(|home| std::fs::canonicalize(home).ok());
    real.filter(|home| is_a_home(home) && home.is_dir()).take(MAX_HOMES).collect()
}

impl Seen {
    /// The home that a path lies in.
    fn home_of(&self, path: &Path) -> Option<PathBuf> {
        self.homes.iter().find(|home| path != home.as_path() && path.starts_with(home)).cloned()
    }

    /// Shows a path, wherever links on the way lead.
    fn show(&mut self, path: &Path) {
        let mut at = PathBuf::new();
        for part in path.components() {
            at.push(part);
            let Ok(metadata) = at.symlink_metadata() else { return };
            if metadata.is_symlink() {
                let Ok(real) = std::fs::canonicalize(&at) else { return };
                if self.home_of(&at).is_some() {
                    self.links.insert(at, real.clone());
                }
                at = real;
            }
        }
        if self.home_of(&at).is_some() {
            self.shown.insert(at);
        }
    }

    fn tools(&mut self) {
        for home in self.homes.clone() {
            for pattern in TOOL_FOLDERS.into_iter().chain(TOOL_FILES) {
                for path in matching(&home, pattern) {
                    self.show(&path);
                }
            }
        }
    }

    fn startup_files(&mut self) {
        for home in self.homes.clone() {
            for path in STARTUP_FILES.iter().map(|name| home.join(name)) {
                match files::read_text(&path) {
                    Ok(text) if sets_a_secret(&text) => self.withheld.push(path),
                    Ok(_) => self.show(&path),
                    Err(_) => {}
                }
            }
        }
    }

    /// Shows a folder of programs, and where its links lead.
    fn programs(&mut self, folder: &Path) {
        if self.home_of(folder).is_none() {
            return;
        }
        self.show(folder);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_PROGRAMS) {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.program(&entry.path());
            }
        }
        // Interpreters have their libraries beside `bin`.
        if folder.file_name().is_some_and(|name| name == "bin")
            && let Some(above) = folder.parent()
            && self.home_of(above).is_some()
            && !above.ends_with(".local")
        {
            self.show(above);
        }
    }

    /// Shows a program with what belongs to it.
    fn program(&mut self, path: &Path) {
        let Ok(real) = std::fs::canonicalize(path) else { return };
        if self.home_of(path).is_some() {
            self.show(path);
        }
        self.show(&package(&real));
    }
}

/// What a program needs beside itself: the packages that it is one of, or nothing.
fn package(program: &Path) -> PathBuf {
    let modules = program.ancestors().filter(|above| above.ends_with("node_modules")).last();
    modules.unwrap_or(program).to_owned()
}

/// The paths in a home that fit a pattern, which may have a `*` in its last name.
fn matching(home: &Path, pattern: &str) -> Vec<PathBuf> {
    if !pattern.contains('*') {
        return vec![home.join(pattern)];
    }
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| fits(name, pattern)).map(|name| home.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_everybody_needs_is_no_home() {
        for path in ["/", "/usr", "/tmp", "/var/lib", "/app", "/home"] {
            assert!(!is_a_home(Path::new(path)), "{path}");
        }
        for path in ["/root", "/home/me", "/Users/me", "/var/lib/jenkins", "/data/home/me"] {
            assert!(is_a_home(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn links_lead_to_what_is_shown() {
        let root = tempfile::tempdir().expect("a folder");
        let home = std::fs::canonicalize(root.path()).expect("a path").join("home");
        let write = |name: &str| {
            std::fs::create_dir_all(home.join(name).parent().expect("a folder")).expect("a folder");
            std::fs::write(home.join(name), "").expect("a file");
        };
        for name in [
            "dotfiles/gitconfig",
            "dotfiles/config/git/config",
            "private/letter",
            ".local/share/tool/1.0/tool",
            "apps/lib/node_modules/agent/node_modules/x/y.js",
            "apps/lib/node_modules/agent/cli.js",
            "opt/node/bin/node",
            "opt/node/lib/x",
        ] {
            write(name);
        }
        std::fs::create_dir_all(home.join(".local/bin")).expect("a folder");
        for (link, target) in [
            (".gitconfig", "dotfiles/gitconfig"),
            (".config", "dotfiles/config"),
            (".local/bin/tool", "../share/tool/1.0/tool"),
            (".local/bin/agent", "../../apps/lib/node_modules/agent/cli.js"),
        ] {
            std::os::unix::fs::symlink(target, home.join(link)).expect("a link");
        }
        let mut seen = Seen { homes: vec![home.clone()], ..Seen::default() };
        seen.tools();
        seen.programs(&home.join(".local/bin"));
        seen.programs(&home.join("opt/node/bin"));
        seen.programs(Path::new("/usr/bin"));
        let shown: Vec<PathBuf> = seen.shown.iter().cloned().collect();
        let expected = [
            ".local/bin",
            ".local/share/tool/1.0/tool",
            "apps/lib/node_modules",
            "apps/lib/node_modules/agent/cli.js",
            "dotfiles/config/git",
            "dotfiles/gitconfig",
            "opt/node",
            "opt/node/bin",
        ];
        assert_eq!(shown, expected.map(|name| home.join(name)));
        let link = |name: &str| seen.links.get(&home.join(name)).cloned();
        assert_eq!(link(".gitconfig"), Some(home.join("dotfiles/gitconfig")));
        assert_eq!(link(".config"), Some(home.join("dotfiles/config")));
    }
}
