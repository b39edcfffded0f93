//! Which of the files that changed are checks, what of them got worse, and how each is as it was.
//!
//! Files are named relative to the top of the repository; what guardrails lead to is relative to the project in it.

mod renamed;

use std::collections::{BTreeMap, BTreeSet};

use ralph_checks::{
    ci::judging_lines,
    glob::Glob,
    leads::{Place, Read, leads, text_of},
    manifest::{changed_parts, with_old_parts},
    protected::{Protected, Role},
    test_files::{
        Language,
        added::only_adds,
        compare::{Versions, Worse, compare},
        inline::with_old_tests,
        reach::reaches_others,
    },
};

use renamed::{Renamed, RenamedKind, follows, renamed};

use super::{
    bite::NewTests,
    changed_check::{ChangedCheck, FileChange},
    old_checks::{Addition, CheckFact},
    rules::ChecksSetup,
};

/// A file in two versions; what is `None` does not exist, or is no text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the top of the repository.
    pub path: String,
    /// What happened to it.
    pub change: Option<FileChange>,
    /// What it said.
    pub old: Option<String>,
    /// What it says.
    pub new: Option<String>,
}

/// How a file is made what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaidOver {
    /// As it was in the base; removed where it was not there.
    Base,
    /// The text that it has then.
    Text(String),
}

/// What was found out about the files that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The checks among them.
    pub facts: Vec<CheckFact>,
    /// How those are made what they were that can be.
    pub laid: BTreeMap<String, LaidOver>,
    /// Whether anything but checks changed.
    pub has_other_changes: bool,
    /// Tests that are new or changed.
    pub new_tests: NewTests,
}

/// Which files judge a project.
pub struct WhatJudges<'a> {
    setup: &'a ChecksSetup,
    prefix: &'a str,
    protected: Protected,
    globs: Vec<Glob>,
    has_table: bool,
    may_change: Vec<Glob>,
    /// What guardrails run, each place with those guardrails.
    led: BTreeMap<String, Vec<(Place, String)>>,
}

impl<'a> WhatJudges<'a> {
    /// What the settings say, and what these commands lead to in the base.
    pub fn new(setup: &'a ChecksSetup, prefix: &'a str, commands: &[String], read: &Read<'_>) -> Self {
        let is_table = |pattern: &&String| pattern.trim() == "auto";
        let protect = setup.protect.as_deref();
        let mut led: BTreeMap<String, Vec<(Place, String)>> = BTreeMap::new();
        for command in commands {
            for place in leads(command, read).into_iter().flat_map(|lead| lead.places) {
                if is_run(&place, read) {
                    let all = led.entry(below(prefix, &place.file)).or_default();
                    let entry = (place, command.clone());
                    if !all.contains(&entry) {
                        all.push(entry);
                    }
                }
            }
        }
        Self {
            setup,
            prefix,
            protected: Protected::usual(),
            globs: protect
                .unwrap_or_default()
                .iter()
                .filter(|it| !is_table(it))
                .map(|it| Glob::new(it))
                .collect(),
            has_table: protect.is_none_or(|patterns| patterns.iter().any(|it| is_table(&it))),
            may_change: setup.may_change.iter().map(|pattern| Glob::new(pattern)).collect(),
            led,
        }
    }

    /// How a file judges, by its name.
    pub fn role(&self, path: &str) -> Option<Role> {
        let inside = self.inside(path);
        let known = self.protected.role(inside);
        if self.globs.iter().any(|glob| glob.matches(inside)) {
            return known.or(Some(Role::Test));
        }
        known.filter(|_| self.has_table).or_else(|| {
            let is_led = self.led.contains_key(path);
            is_led.then(|| known.unwrap_or(Role::Runner))
        })
    }

    /// Whether a file has to be read to know: it is a check, or has tests among its code.
    pub fn is_read(&self, path: &str) -> bool {
        self.role(path).is_some() || has_tests_inside(path)
    }

    pub(super) fn inside<'p>(&self, path: &'p str) -> &'p str {
        let prefix = self.prefix.trim_end_matches('/');
        let below = path.strip_prefix(prefix).filter(|_| !prefix.is_empty());
        below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }

    /// Compares the files that changed.
    pub fn compare(&self, files: &[ChangedFile]) -> Compared {
        let has_tests = |file: &&ChangedFile| match self.role(&file.path) {
            Some(role) => role == Role::Test,
            None => has_tests_inside(&file.path),
        };
        let versions: Vec<Versions<'_>> = files
            .iter()
            .filter(has_tests)
            .map(|it| Versions { path: &it.path, old: it.old.as_deref(), new: it.new.as_deref() })
            .collect();
        let mut worse = compare(&versions).worse;
        let gone = self.deleted_sources(files);
        let renamed = renamed(files, &|file| match self.role(&file.path) {
            None => RenamedKind::Source,
            Some(_) if self.protected.role(self.inside(&file.path)).is_none() => RenamedKind::Script,
            Some(_) => RenamedKind::Named,
        });
        let mut compared = Compared { new_tests: NewTests::of(self, files), ..Compared::default() };
        for file in files {
            let Some(change) = file.change else { continue };
            let mut of_file = worse.remove(&file.path).unwrap_or_default();
            // What is no test has no tests.
            if self.role(&file.path).is_some_and(|role| role != Role::Test) {
                of_file.clear();
            }
            match self.fact(file, change, of_file, &gone).map(|found| as_renamed(file, found, &renamed)) {
                Some((fact, laid)) => {
                    compared.has_other_changes |= is_code_new(file, &fact, laid.as_ref());
                    compared.laid.extend(laid.map(|laid| (file.path.clone(), laid)));
                    compared.facts.push(fact);
                }
                None => compared.has_other_changes |= !is_talk(self.inside(&file.path)),
            }
        }
        compared
    }

    fn fact(
        &self,
        file: &ChangedFile,
        change: FileChange,
        worse: BTreeSet<Worse>,
        gone: &[String],
    ) -> Option<(CheckFact, Option<LaidOver>)> {
        let role = self.role(&file.path);
        let (parts, laid) = match role {
            None => match tests_as_they_were(file) {
                Some(text) => (vec![INSIDE.to_owned()], Some(LaidOver::Text(text))),
                None if worse.is_empty() => return None,
                None => (vec![INSIDE.to_owned()], None),
            },
            Some(Role::Ci) if judges_alike(file) => return None,
            Some(Role::Manifest) => {
                let (old, new) = (file.old.as_deref()?, file.new.as_deref()?);
                let parts = changed_parts(&file.path, old, new);
                if parts.is_empty() {
                    return None;
                }
                (parts, with_old_parts(&file.path, old, new).map(LaidOver::Text))
            }
            Some(role) if can_be_laid(role, file, change) => {
                (self.changed_places(file)?, Some(LaidOver::Base))
            }
            Some(_) => (Vec::new(), None),
        };
        let role = role.unwrap_or(Role::Test);
        let is_removed = change == FileChange::Deleted && role == Role::Test;
        let excuse = file.old.as_deref().filter(|_| is_removed).and_then(|old| excuse(&file.path, old, gone));
        let judges = self.led.get(&file.path).into_iter().flatten().map(|(_, command)| command.clone());
        let judges: BTreeSet<String> = judges.collect();
        let inside = self.inside(&file.path);
        let may_change = self.may_change.iter().any(|glob| glob.matches(inside))
            || self.setup.tests_may_change && matches!(role, Role::Test | Role::Expectation);
        let judges = judges.into_iter().collect();
        let check = ChangedCheck { file: file.path.clone(), role, change, parts, judges, worse };
        let laid = laid.filter(|_| !may_change);
        let is_new = change == FileChange::Added && role == Role::Test;
        let reaches_others = is_new && file.new.as_deref().is_some_and(|new| reaches_others(&file.path, new));
        let is_laid = laid.is_some();
        // Of a source with tests in it only those are compared.
        let before = match &laid {
            Some(LaidOver::Text(text)) => Some(text),
            Some(LaidOver::Base) | None => file.old.as_ref(),
        };
        let is_longer = role == Role::Test
            && check.worse.is_empty()
            && before.zip(file.new.as_ref()).is_some_and(|(old, new)| only_adds(old, new));
        let addition = if reaches_others {
            Some(Addition::ReachesOthers)
        } else {
            is_longer.then_some(Addition::Longer)
        };
        Some((CheckFact { check, is_laid, addition, excuse, may_change }, laid))
    }

    /// The parts that differ of a file that judges only in parts; nothing if none does.
    fn changed_places(&self, file: &ChangedFile) -> Option<Vec<String>> {
        let is_known = self.protected.role(self.inside(&file.path)).is_some();
        let Some(led) = self.led.get(&file.path).filter(|_| !is_known) else { return Some(Vec::new()) };
        if led.iter().any(|(place, _)| place.part.is_none()) {
            return Some(Vec::new());
        }
        let text = |place: &Place, contents: &Option<String>| text_of(place, contents.as_deref()?);
        let differs = led.iter().filter(|(place, _)| text(place, &file.old) != text(place, &file.new));
        let parts: BTreeSet<String> = differs.filter_map(|(place, _)| place.part.clone()).collect();
        (!parts.is_empty()).then(|| parts.into_iter().collect())
    }

    /// What a test would name to use it, of the sources that are gone.
    fn deleted_sources(&self, files: &[ChangedFile]) -> Vec<String> {
        let gone = files.iter().filter(|file| file.change == Some(FileChange::Deleted));
        let sources = gone.filter(|file| self.role(&file.path).is_none());
        let stem = |file: &ChangedFile| {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            name.split('.').next().unwrap_or_default().to_owned()
        };
        sources.map(stem).filter(|stem| stem.len() > 2).collect()
    }
}

/// The part of a source that has tests among its code.
pub(super) const INSIDE: &str = "its tests";

/// The new code of a file with the tests that stood among the old.
fn tests_as_they_were(file: &ChangedFile) -> Option<String> {
    let (old, new) = (file.old.as_deref()?, file.new.as_deref()?);
    has_tests_inside(&file.path).then(|| with_old_tests(old, new)).flatten()
}

/// Whether more than the tests of a source changed that has tests among its code.
fn is_code_new(file: &ChangedFile, fact: &CheckFact, laid: Option<&LaidOver>) -> bool {
    let Some(LaidOver::Text(text)) = laid else { return false };
    fact.check.role == Role::Test && file.old.as_deref() != Some(text)
}

/// A check that only follows a file with another name is the same check: as it was it would find nothing to run.
fn as_renamed(
    file: &ChangedFile,
    (fact, laid): (CheckFact, Option<LaidOver>),
    renamed: &[Renamed<'_>],
) -> (CheckFact, Option<LaidOver>) {
    match follows(file, renamed).filter(|_| fact.check.worse.is_empty()) {
        Some(why) => (CheckFact { is_laid: false, excuse: Some(why), ..fact }, None),
        None => (fact, laid),
    }
}

/// Whether a place is something that runs, and not something that is looked at.
fn is_run(place: &Place, read: &Read<'_>) -> bool {
    const FOLDERS: [&str; 8] = ["scripts", "script", "ci", "tools", "bin", "hack", "test", "tests"];
    const SCRIPTS: [&str; 8] = [".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php"];
    if place.part.is_some() {
        return true;
    }
    let file = &place.file;
    let is_shell = [".sh", ".bash", ".bats"].iter().any(|ending| file.ends_with(ending))
        || read(file).is_some_and(|text| {
            text.starts_with("#!") && text.lines().next().is_some_and(|line| line.ends_with("sh"))
        });
    let is_in = file.split('/').rev().skip(1).any(|folder| FOLDERS.contains(&folder));
    is_shell || is_in && SCRIPTS.iter().any(|ending| file.ends_with(ending))
}

fn below(prefix: &str, file: &str) -> String {
    if prefix.is_empty() { file.to_owned() } else { format!("{}/{file}", prefix.trim_end_matches('/')) }
}

/// Whether only versions and comments of a file for CI changed.
fn judges_alike(file: &ChangedFile) -> bool {
    let lines = |text: &Option<String>| text.as_deref().map(judging_lines);
    lines(&file.old) == lines(&file.new)
}

/// Whether guardrails can be run with a whole file as it was. New code has new snapshots, no guardrail runs what CI does,
/// and a module of the code is needed by it.
fn can_be_laid(role: Role, file: &ChangedFile, change: FileChange) -> bool {
    match role {
        Role::Ci => false,
        Role::Expectation => !is_snapshot(&file.path),
        Role::Test => change != FileChange::Added || !is_module(&file.path),
        Role::Runner | Role::Lint | Role::StartUp | Role::Manifest => true,
    }
}

/// Expectations that tools write: new code has new ones.
fn is_snapshot(path: &str) -> bool {
    [".snap", ".snap.new", ".golden", ".expected"].iter().any(|ending| path.ends_with(ending))
        || path.contains("__snapshots__/")
        || path.contains(".approved.")
}

/// Whether tests stand among the code in such files.
pub fn has_tests_inside(path: &str) -> bool {
    Language::of(path) == Language::Rust
}

/// A test file of Rust that is a module of the code.
pub(super) fn is_module(path: &str) -> bool {
    has_tests_inside(path) && path.split('/').any(|folder| folder == "src")
}

/// Files that neither work nor judge.
pub(super) fn is_talk(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with(".ralph/")
        || [".md", ".txt", ".rst", ".lock"].iter().any(|ending| name.ends_with(ending))
        || ["package-lock.json", "pnpm-lock.yaml", ".gitignore"].contains(&name)
}

/// Why a test that is gone is nothing to ask about: it used a source that is gone, too, or is called like one.
fn excuse(path: &str, old: &str, gone: &[String]) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.split('.').next().unwrap_or(name);
    let own = name
        .strip_suffix("_test")
        .or_else(|| name.strip_suffix("_spec"))
        .or_else(|| name.strip_prefix("test_"));
    let is_use = |line: &str| {
        let line = line.trim_start();
        ["import ", "from ", "use ", "require", "const ", "let ", "var ", "mod ", "#include"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let names = |line: &str, stem: &str| {
        line.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-')
            .any(|word| word == stem)
    };
    let used = |stem: &&String| old.lines().any(|line| is_use(line) && names(line, stem));
    let is_named = |stem: &&String| own == Some(stem.as_str());
    gone.iter()
        .find(|stem| is_named(stem) || used(stem))
        .map(|stem| format!("what they tested is gone, too: {stem}"))
}

#[cfg(test)]
mod tests;
