//! What judges from outside of the project: files that shells, interpreters and tools read before anything else, and the
//! programs that guardrails run.
//!
//! The table says which files those are and what of them judges. The code that looks at the files compares what judges,
//! so that honest work (a name for git's commits, an editable install of the project) is no change.

pub mod table;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What there was outside of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideSeen {
    /// Files that are read before a guardrail's own.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, SeenFile>,
    /// Programs that guardrails run, by what they call them; nothing for one that there is not.
    #[serde(default)]
    pub programs: BTreeMap<String, Option<SeenProgram>>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenFile {
    /// Who reads it.
    pub read_by: String,
    /// Number, size and times: while they are the same, no one has changed it.
    pub stat: String,
    /// A hash of what of it judges.
    pub print: String,
}

/// A program as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenProgram {
    /// Where it was found.
    pub path: PathBuf,
    /// Number, size and times.
    pub stat: String,
    /// A hash of it; the same as `stat` for a large one.
    pub print: String,
}

impl OutsideSeen {
    /// What a run goes by that begins anew, where it was left like this and this is what there is now: what a person
    /// changed in between is taken over, and what the run changed stays its doing.
    #[must_use]
    pub fn taken_over(&self, left: &Self, now: &Self) -> Self {
        let program = |it: &Option<SeenProgram>| it.as_ref().map(|it| (it.path.clone(), it.print.clone()));
        Self {
            files: merged(&self.files, &left.files, &now.files, |it| it.print.clone()),
            programs: merged(&self.programs, &left.programs, &now.programs, program),
        }
    }

    /// The files that are not as they were.
    pub fn changed_files(&self, now: &Self) -> Vec<ChangedStartUp> {
        let all: BTreeSet<&PathBuf> = self.files.keys().chain(now.files.keys()).collect();
        let changed = all.into_iter().filter_map(|path| {
            let (before, after) = (self.files.get(path), now.files.get(path));
            let change =
                OutsideChange::of(before.map(|it| it.print.as_str()), after.map(|it| it.print.as_str()))?;
            let read_by = after.or(before)?.read_by.clone();
            Some(ChangedStartUp { path: path.clone(), read_by, change })
        });
        changed.collect()
    }

    /// The programs that are not as they were.
    pub fn changed_programs(&self, now: &Self) -> Vec<ChangedProgram> {
        let changed = self.programs.iter().filter_map(|(name, before)| {
            let after = now.programs.get(name).and_then(Option::as_ref);
            let print = |it: &SeenProgram| (it.path.clone(), it.print.clone());
            (before.as_ref().map(print) != after.map(print)).then(|| ChangedProgram {
                name: name.clone(),
                was: before.as_ref().map(|it| it.path.clone()),
                now: after.map(|it| it.path.clone()),
            })
        });
        changed.collect()
    }
}

fn merged<K: Ord + Clone, V: Clone, P: PartialEq>(
    base: &BTreeMap<K, V>,
    left: &BTreeMap<K, V>,
    now: &BTreeMap<K, V>,
    print: impl Fn(&V) -> P,
) -> BTreeMap<K, V> {
    let keys: BTreeSet<&K> = base.keys().chain(left.keys()).chain(now.keys()).collect();
    let pick = |key: &K| {
        let is_same = left.get(key).map(&print) == now.get(key).map(&print);
        let value = if is_same { base.get(key) } else { now.get(key) };
        Some((key.clone(), value?.clone()))
    };
    keys.into_iter().filter_map(pick).collect()
}

/// A file that is read before a guardrail's own and is not as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedStartUp {
    /// Which.
    pub path: PathBuf,
    /// Who reads it.
    pub read_by: String,
    /// What happened to it.
    pub change: OutsideChange,
}

/// A program that guardrails run and that is not as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedProgram {
    /// What guardrails call it.
    pub name: String,
    /// Where it was; nothing if there was none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub was: Option<PathBuf>,
    /// Where it is; nothing if there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub now: Option<PathBuf>,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutsideChange {
    /// There was none.
    Added,
    /// It says something else.
    Changed,
    /// It is gone.
    Removed,
}

impl OutsideChange {
    /// Nothing if it is as it was.
    pub fn of(before: Option<&str>, now: Option<&str>) -> Option<Self> {
        match (before, now) {
            (None, Some(_)) => Some(Self::Added),
            (Some(_), None) => Some(Self::Removed),
            (Some(before), Some(now)) if before != now => Some(Self::Changed),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

impl ChangedStartUp {
    /// In a few words.
    pub fn words(&self) -> String {
        format!("{} ({} reads it) was {}", self.path.display(), self.read_by, self.change.word())
    }
}

impl ChangedProgram {
    /// In a few words.
    pub fn words(&self) -> String {
        let name = &self.name;
        match (&self.was, &self.now) {
            (Some(was), Some(now)) if was == now => format!("`{name}` ({}) was changed", now.display()),
            (Some(was), Some(now)) => format!("`{name}` is {} instead of {}", now.display(), was.display()),
            (None, Some(now)) => format!("`{name}` is {} and was not there before", now.display()),
            (_, None) => format!("`{name}` is gone"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(files: &[(&str, &str)], programs: &[(&str, Option<&str>)]) -> OutsideSeen {
        let text = |text: &str| text.to_owned();
        let file = |(path, print): &(&str, &str)| {
            let seen = SeenFile { read_by: text("git"), stat: text(print), print: text(print) };
            (PathBuf::from(path), seen)
        };
        let program = |(name, at): &(&str, Option<&str>)| {
            let seen = at.map(|at| SeenProgram { path: at.into(), stat: text(at), print: text(at) });
            (text(name), seen)
        };
        OutsideSeen {
            files: files.iter().map(file).collect(),
            programs: programs.iter().map(program).collect(),
        }
    }

    #[test]
    fn what_changed_is_named() {
        let base = seen(&[("a", "1"), ("b", "1")], &[("make", Some("/bin/make")), ("x", None)]);
        assert_eq!(base.changed_files(&base), []);
        assert_eq!(base.changed_programs(&base), []);
        let now = seen(&[("b", "2"), ("c", "1")], &[("make", Some("/b/make")), ("x", Some("/b/x"))]);
        let words: Vec<String> = base.changed_files(&now).iter().map(ChangedStartUp::words).collect();
        assert_eq!(
            words,
            ["a (git reads it) was removed", "b (git reads it) was changed", "c (git reads it) was added"]
        );
        let words: Vec<String> = base.changed_programs(&now).iter().map(ChangedProgram::words).collect();
        assert_eq!(words, ["`make` is /b/make instead of /bin/make", "`x` is /b/x and was not there before"]);
    }

    #[test]
    fn what_a_person_changes_between_two_processes_is_taken_over_and_what_the_run_changed_is_not() {
        let base = seen(&[("person", "1"), ("run", "1"), ("both", "1"), ("gone", "1")], &[("x", None)]);
        let left = seen(&[("person", "1"), ("run", "2"), ("both", "2"), ("gone", "1")], &[("x", Some("/x"))]);
        let now = seen(&[("person", "2"), ("run", "2"), ("both", "3"), ("new", "1")], &[("x", Some("/x"))]);
        let next = base.taken_over(&left, &now);
        assert_eq!(next, seen(&[("person", "2"), ("run", "1"), ("both", "3"), ("new", "1")], &[("x", None)]));
        let changed = next.changed_files(&now);
        assert_eq!(changed.iter().map(|it| it.path.clone()).collect::<Vec<_>>(), [PathBuf::from("run")]);
    }

    #[test]
    fn changes_are_told_apart() {
        assert_eq!(OutsideChange::of(None, None), None);
        assert_eq!(OutsideChange::of(Some("a"), Some("a")), None);
        assert_eq!(OutsideChange::of(Some("a"), Some("b")), Some(OutsideChange::Changed));
        assert_eq!(OutsideChange::of(None, Some("b")), Some(OutsideChange::Added));
        assert_eq!(OutsideChange::of(Some("a"), None), Some(OutsideChange::Removed));
    }

    #[test]
    fn programs_in_words() {
        let program = |was: Option<&str>, now: Option<&str>| {
            ChangedProgram { name: "pytest".to_owned(), was: was.map(Into::into), now: now.map(Into::into) }
                .words()
        };
        assert_eq!(program(Some("/bin/a"), Some("/bin/a")), "`pytest` (/bin/a) was changed");
        assert_eq!(program(Some("/bin/a"), Some("/b")), "`pytest` is /b instead of /bin/a");
        assert_eq!(program(None, Some("/b")), "`pytest` is /b and was not there before");
        assert_eq!(program(Some("/bin/a"), None), "`pytest` is gone");
    }
}
