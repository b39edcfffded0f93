//! Notices files of the project that run later by themselves, and that the run has made or changed.

use std::{
    collections::{BTreeMap, VecDeque},
    path::Path,
};

use ralph_core::{
    containment::run_later::{changed, running_part, runs},
    engine::event::Event,
};
use ralph_sys::{
    files::{self, MAX_TEXT_LEN},
    hash::fnv,
};

use super::site::Site;
use crate::journal::run_dir::{RunDir, record};

/// As many folders are searched.
const MAX_FOLDERS: usize = 5_000;
/// Folders of others' code and of results, where much of this is and no one opens anything.
const SKIPPED: [&str; 6] = ["node_modules", "target", ".venv", "venv", "__pycache__", ".ralph"];
/// Where it is kept how things were before the first turn.
const FILE: &str = "run_later.json";

/// Looks before the first turn; a process that continues the run knows already.
pub(super) fn begin(dir: &RunDir, project: &Path) {
    let path = dir.path().join(FILE);
    if !path.exists() {
        // A disk that is full loses what is only for people.
        let _ = serde_json::to_vec(&found(project)).map(|text| record(&path, &text));
    }
}

/// Records what is new or different at the end.
pub(super) fn note(site: &mut Site) {
    let text = files::read(&site.dir.path().join(FILE), MAX_TEXT_LEN);
    let Some(before) = text.ok().and_then(|text| serde_json::from_slice(&text).ok()) else { return };
    let files = changed(&before, &found(&site.setup.project));
    if !files.is_empty() && 0 < site.run().state.spent().turns {
        site.ledger.record(Event::RunsLater { files });
    }
}

/// What runs later, by its path with a fingerprint. The nearest first, where there is too much.
fn found(project: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = VecDeque::from([project.to_owned()]);
    let mut searched = 0;
    while let Some(folder) = waiting.pop_front().filter(|_| searched < MAX_FOLDERS) {
        searched += 1;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            let relative = path.strip_prefix(project).unwrap_or(&path).to_string_lossy().into_owned();
            if name == ".git" {
                // The project's own is looked after elsewhere.
                if relative != ".git" {
                    found.insert(relative, String::new());
                }
            } else if kind.is_dir() {
                if !SKIPPED.iter().any(|skipped| name == *skipped) {
                    waiting.push_back(path);
                }
            } else if runs(&relative).is_some() {
                // A link or a large file counts as it is, without being read.
                let part = match files::read_text(&path) {
                    Ok(text) => running_part(&relative, &text),
                    Err(_) => {
                        Some(format!("{:?}", path.symlink_metadata().and_then(|it| it.modified()).ok()))
                    }
                };
                found.extend(part.map(|part| (relative, format!("{:x}", fnv(part.as_bytes())))));
            }
        }
    }
    found
}
