//! What must be installed in a workspace before the project's commands work there, and which folders are worth keeping.
//!
//! Like [`crate::detect`]: names and contents in, commands out. What is in the working tree already says what its user
//! installed, and where; a folder below the top is prepared only if something was installed there.

mod javascript;
mod python;

use std::collections::{BTreeMap, BTreeSet};

use super::keep::Keep;

/// Whether a file of this name, tracked or not, says what to prepare.
pub fn is_manifest(name: &str) -> bool {
    let lists: [&[&str]; 3] = [&javascript::READS, &python::REQUIREMENTS, &OTHER_MANIFESTS];
    lists.iter().any(|list| list.contains(&name))
}

const OTHER_MANIFESTS: [&str; 28] = [
    "pyproject.toml",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "noxfile.py",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "composer.lock",
    "mix.exs",
    "mix.lock",
    "pubspec.yaml",
    "pubspec.lock",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "CMakeLists.txt",
    "meson.build",
    "Makefile",
    ".gitignore",
];

/// Folders that are looked for beside a manifest: what a package manager made there.
pub const INSTALLED: [&str; 6] = ["node_modules", "vendor/bundle", "vendor", "deps", "target", ".dart_tool"];

/// The names that virtual environments usually have.
pub const VIRTUAL_ENVIRONMENTS: [&str; 5] = [".venv", "venv", "env", ".env", "virtualenv"];

/// The file that makes a folder a virtual environment.
pub const VIRTUAL_ENVIRONMENT_FILE: &str = "pyvenv.cfg";

/// What there is, by paths relative to the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFacts {
    /// The manifests of the commit, with their contents.
    pub files: BTreeMap<String, String>,
    /// Folders of the working tree that package managers made.
    pub installed: BTreeSet<String>,
    /// The virtual environments of the working tree, each with its `pyvenv.cfg`.
    pub environments: BTreeMap<String, String>,
}

/// What to do, and what to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preparation {
    /// In this order.
    pub steps: Vec<PrepareStep>,
    /// Patterns, relative to the project, of what survives; see [`Keep`].
    pub keep: Vec<String>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrepareStep {
    /// Where it runs, relative to the project; empty for the project itself.
    pub folder: String,
    /// What the shell runs.
    pub command: String,
    /// What is there when it has worked, relative to the project.
    pub makes: Vec<String>,
    /// The files that decide what it makes, relative to the project.
    pub reads: Vec<String>,
}

/// Finds out what to prepare.
pub fn detect(facts: &ProjectFacts) -> Preparation {
    let mut preparation = Preparation::default();
    for folder in folders(facts) {
        let place = Place { facts, folder: &folder };
        preparation.steps.extend(javascript::step(&place));
        preparation.steps.extend(python::step(&place));
        preparation.steps.extend(others(&place));
        preparation.keep.extend(keep(&place));
    }
    preparation.keep.sort();
    preparation.keep.dedup();
    preparation
}

/// The patterns that [`Preparation::keep`] and the settings name.
pub fn kept(prefix: &std::path::Path, preparation: &Preparation, more: &[String]) -> Keep {
    Keep::new(prefix, preparation.keep.iter().chain(more).map(String::as_str))
}

/// The project, and the folders in it where something was installed.
fn folders(facts: &ProjectFacts) -> BTreeSet<String> {
    let with_manifest = facts.files.keys().map(|path| folder_of(path).to_owned());
    let is_used = |folder: &String| {
        let below = |path: &String| folder_of(path) == folder || folder_of(folder_of(path)) == folder;
        folder.is_empty() || facts.installed.iter().any(below) || facts.environments.keys().any(below)
    };
    with_manifest.filter(is_used).collect()
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A folder of the project.
struct Place<'a> {
    facts: &'a ProjectFacts,
    folder: &'a str,
}

impl Place<'_> {
    /// A path in this folder, relative to the project.
    fn path(&self, name: &str) -> String {
        if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.facts.files.get(&self.path(name)).map(String::as_str)
    }

    fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    fn is_installed(&self, name: &str) -> bool {
        self.facts.installed.contains(&self.path(name))
    }

    /// A step in this folder.
    fn step(&self, command: impl Into<String>, makes: &[&str], reads: &[&str]) -> PrepareStep {
        let there = reads.iter().filter(|name| self.has(name));
        PrepareStep {
            folder: self.folder.to_owned(),
            command: command.into(),
            makes: makes.iter().map(|name| self.path(name)).collect(),
            reads: there.map(|name| self.path(name)).collect(),
        }
    }
}

/// Package managers with one command.
fn others(place: &Place<'_>) -> Vec<PrepareStep> {
    let mut steps = Vec::new();
    if place.has("Gemfile") {
        // Gems that the machine has are used as they are; else they go into the project, which needs no password.
        let into_project = "bundle config set --local path vendor/bundle && bundle install";
        let command = if place.is_installed("vendor/bundle") {
            into_project.to_owned()
        } else {
            format!("bundle check >/dev/null 2>&1 || {{ {into_project}; }}")
        };
        steps.push(place.step(command, &[], &["Gemfile", "Gemfile.lock"]));
    }
    if place.has("composer.json") {
        let command = "composer install --no-interaction --no-progress";
        steps.push(place.step(command, &["vendor"], &["composer.json", "composer.lock"]));
    }
    if place.has("mix.exs") {
        steps.push(place.step("mix deps.get", &[], &["mix.exs", "mix.lock"]));
    }
    if place.has("pubspec.yaml") {
        steps.push(place.step("dart pub get", &[".dart_tool"], &["pubspec.yaml", "pubspec.lock"]));
    }
    steps
}

/// A cache that is kept beside any of these files; those of the third kind only where the project has git ignore them.
const CACHES: [(&[&str], &[&str], Kept); 10] = [
    (&["Cargo.toml"], &["target"], Kept::Always),
    (&["package.json"], &["**/node_modules", ".pnp.cjs", ".pnp.loader.mjs", ".yarn/cache"], Kept::Always),
    (&["Gemfile"], &["vendor/bundle", ".bundle"], Kept::Always),
    (&["composer.json"], &["vendor"], Kept::Always),
    (&["mix.exs"], &["deps", "_build"], Kept::Always),
    (&["pubspec.yaml"], &[".dart_tool"], Kept::Always),
    (&["pom.xml"], &["**/target"], Kept::Always),
    (
        &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        &["**/build", ".gradle"],
        Kept::Always,
    ),
    (&["tox.ini", "noxfile.py", "pyproject.toml"], &[".tox", ".nox"], Kept::Always),
    (
        &["CMakeLists.txt", "meson.build", "Makefile"],
        &["build", "builddir", "_build", "obj", "out"],
        Kept::IfIgnored,
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Always,
    IfIgnored,
}

fn keep(place: &Place<'_>) -> Vec<String> {
    let ignored: BTreeSet<&str> = place
        .text(".gitignore")
        .unwrap_or_default()
        .lines()
        .map(|line| line.trim().trim_matches('/'))
        .collect();
    let mut all = Vec::new();
    for (manifests, caches, kept) in CACHES {
        if manifests.iter().any(|name| place.has(name)) {
            let named = caches.iter().filter(|name| kept == Kept::Always || ignored.contains(*name));
            all.extend(named.map(|name| match name.strip_prefix("**/") {
                Some(_) if place.folder.is_empty() => (*name).to_owned(),
                Some(last) => place.path(last),
                None => place.path(name),
            }));
        }
    }
    all.extend(python::environments(place).map(|(path, _)| path.to_owned()));
    all.extend(python::made(place).map(|name| place.path(name)));
    all
}

#[cfg(test)]
mod tests;
