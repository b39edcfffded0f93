//! Compares what can turn a verdict before and after a turn that nothing contains: hooks and configuration of git, and
//! what the next agent would obey.
//!
//! Invariant: what a person may edit meanwhile, because a run goes by its copy, counts only when it appears.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ralph_core::{containment::policy::Places, setup::PROJECT_DIR};
use ralph_sys::{
    files::{self, MAX_TEXT_LEN, Readers, Root},
    process::Supervisor,
};

use super::{git_rules, survey, watched};

/// The marker of a stories loop, which ralph writes itself and puts back.
const MARKER: &str = ".ralph-active";

/// Files that nothing keeps from being written, and that must stay as they are.
pub struct UnprotectedFiles {
    places: Places,
    before: BTreeMap<PathBuf, String>,
    /// Where that is kept for a process that continues the run when this one is killed.
    kept: PathBuf,
}

impl UnprotectedFiles {
    /// Those of a project; `folder` is that of the run.
    pub fn of(project: &Path, folder: &Path, supervisor: &mut Supervisor) -> Self {
        let mut places =
            Places { git: survey::git(project), project: project.to_owned(), ..Places::default() };
        // What must not appear either is noticed when it does.
        let _ = git_rules::protect(&mut places, supervisor);
        Self { places, before: BTreeMap::new(), kept: folder.join("protected.json") }
    }

    /// Looks at them before the agent has its turn.
    pub fn begin_turn(&mut self) {
        self.before = self.now();
        // A disk that is full loses what a killed process leaves, not what this one sees.
        if let (Ok(text), Some(folder)) = (serde_json::to_vec(&self.before), self.kept.parent()) {
            let _ = Root::new(folder).replace(&self.kept, &text, Readers::Owner);
        }
    }

    /// Forgets the turn before: from here on a killed process has left no word of how things were.
    pub fn forget_turn(&self) {
        let _ = std::fs::remove_file(&self.kept);
    }

    /// Remembers the turn that an earlier process began. Says whether that left word of how things were before it.
    pub fn recall_turn(&mut self) -> bool {
        let kept =
            files::read(&self.kept, MAX_TEXT_LEN).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let is_known = kept.is_some();
        self.before = kept.unwrap_or_default();
        is_known
    }

    /// What is not as it was before the turn.
    pub fn changed(&self) -> Vec<String> {
        let own = self.places.project.join(PROJECT_DIR);
        let mut now = self.now();
        for (path, before) in self.before.iter().filter(|(path, _)| path.starts_with(&own)) {
            now.insert(path.clone(), before.clone());
        }
        watched::changed(&self.before, &now, &self.places.project)
    }

    fn now(&self) -> BTreeMap<PathBuf, String> {
        let mut found = watched::fingerprints(&self.places);
        found.remove(&self.places.project.join(MARKER));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_may_edit_counts_when_it_appears() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        write(".ralph/settings.json", "{}");
        write(".claude/settings.json", "{}");
        write(".git/config", "[core]\n");
        let places =
            Places { git: survey::git(root.path()), project: root.path().to_owned(), ..Places::default() };
        let mut files = UnprotectedFiles { places, before: BTreeMap::new(), kept: root.path().join("kept") };
        files.begin_turn();
        write(".ralph/settings.json", "{\"agent\": {}}");
        write(".ralph-active", "{}");
        write("src/main.rs", "work");
        assert_eq!(files.changed(), [""; 0]);
        write(".ralph/settings.local.json", "{}");
        write(".claude/settings.json", "{\"hooks\": {}}");
        write(".git/config", "[core]\nhooksPath = x\n");
        write(".git/hooks/pre-commit", "true");
        let expected =
            [".claude/settings.json", ".git/config", ".git/hooks/pre-commit", ".ralph/settings.local.json"];
        assert_eq!(files.changed(), expected);
        // A process that comes later knows as much.
        let places = files.places.clone();
        let mut later = UnprotectedFiles { places, before: BTreeMap::new(), kept: root.path().join("kept") };
        assert!(later.recall_turn());
        assert_eq!(later.changed(), expected);
        later.forget_turn();
        assert!(!later.recall_turn());
    }
}
