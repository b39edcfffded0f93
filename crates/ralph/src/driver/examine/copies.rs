//! What judges, copied before the first turn, where no judge keeps what the run starts from: claims are decided in the working
//! tree, or a conversation begins that its host waits for. Guardrails cannot be run with the copies; they are compared.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use ralph_core::{
    engine::{
        Run,
        event::{BaseMoved, Examined, PutBack},
    },
    setup::Setup,
    verify::{
        carried_over::carried_over,
        changed_check::FileChange,
        changes::{ChangedFile, Compared, WhatJudges},
        old_checks::{Evidence, conclude},
    },
};
use ralph_sys::files::Root;
use serde::{Deserialize, Serialize};

use crate::journal::run_dir::{RunDir, record};

/// The file in the folder of a run.
const FILE: &str = "checks.json";

/// The one with what judged when the last process of the run ended.
const LEFT_FILE: &str = "checks-left.json";

/// So many files and folders are looked at.
const MAX_ENTRIES: usize = 200_000;

/// A longer file is no check that a person wrote.
const MAX_FILE_LEN: u64 = 1024 * 1024;

/// So much is copied.
const MAX_COPIED_LEN: usize = 64 * 1024 * 1024;

/// All copies together, as they lie on the disk.
const MAX_COPIES_LEN: u64 = 512 * 1024 * 1024;

/// Folders that others wrote, or that are made.
const FOREIGN: [&str; 14] = [
    ".git",
    ".hg",
    ".svn",
    ".ralph",
    "node_modules",
    "target",
    "vendor",
    "__pycache__",
    ".tox",
    ".nox",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".gradle",
];

/// What judged when the run began, by name relative to the project.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Copies(BTreeMap<String, Copy>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Copy {
    text: String,
    is_executable: bool,
}

/// Copies what judges. Returns how many files that are.
pub(in crate::driver) fn take(setup: &Setup, run: &Run, dir: &RunDir) -> Result<u64, String> {
    let copies = copy(setup, run)?;
    write(dir, FILE, &copies).map_err(|error| error.to_string())?;
    Ok(copies.0.len() as u64)
}

/// A process of the run ends: copies what judges, so that what a person changes later is known.
pub(super) fn leave(setup: &Setup, run: &Run, dir: &RunDir) -> io::Result<()> {
    write(dir, LEFT_FILE, &copy(setup, run).map_err(io::Error::other)?)
}

/// What a person changed since the last process ended becomes part of the copies.
pub(super) fn take_over(setup: &Setup, run: &Run, dir: &RunDir) -> io::Result<Option<BaseMoved>> {
    let (mut base, left) = (read_copies(dir, FILE)?, read_copies(dir, LEFT_FILE)?);
    let now = copy(setup, run).map_err(io::Error::other)?;
    let is_changed = |path: &&String| left.0.get(*path) != now.0.get(*path);
    let mut files = Vec::new();
    for path in left.0.keys().chain(now.0.keys()).filter(is_changed) {
        if files.contains(path) {
            continue;
        }
        files.push(path.clone());
        let copy = match (base.0.get(path), left.0.get(path), now.0.get(path)) {
            (was, left, now) if was == left => now.cloned(),
            // The agent had changed it: only what the person did to it counts.
            (Some(was), Some(left), Some(now)) => {
                let text = carried_over(&was.text, &left.text, &now.text);
                Some(text.map_or_else(|| was.clone(), |text| Copy { text, ..now.clone() }))
            }
            (was, _, Some(_)) => was.cloned(),
            (_, _, None) => None,
        };
        match copy {
            Some(copy) => drop(base.0.insert(path.clone(), copy)),
            None => drop(base.0.remove(path)),
        }
    }
    if files.is_empty() {
        return Ok(None);
    }
    write(dir, FILE, &base)?;
    Ok(Some(BaseMoved { commit: None, files, tests: Vec::new(), ms: 0 }))
}

fn write(dir: &RunDir, name: &str, copies: &Copies) -> io::Result<()> {
    record(&dir.path().join(name), &serde_json::to_vec(copies).map_err(io::Error::other)?)
}

fn copy(setup: &Setup, run: &Run) -> Result<Copies, String> {
    let root = Root::new(&setup.project);
    let read = |path: &str| text(&root, path).map(|copy| copy.text);
    let what = WhatJudges::new(&setup.judge.checks, "", &commands(run), &read);
    let mut copies = Copies::default();
    let mut len = 0;
    for path in files(&setup.project)?.into_iter().filter(|path| what.is_read(path)) {
        let Some(copy) = text(&root, &path) else { continue };
        len += copy.text.len();
        if MAX_COPIED_LEN < len {
            return Err("there are too many checks to copy".to_owned());
        }
        copies.0.insert(path, copy);
    }
    Ok(copies)
}

/// Compares what judges with the copies.
pub(in crate::driver) fn examine(setup: &Setup, run: &Run, dir: &RunDir) -> io::Result<Examined> {
    let copies = read_copies(dir, FILE)?;
    let root = Root::new(&setup.project);
    let old = |path: &str| match copies.0.get(path) {
        Some(copy) => Some(copy.text.clone()),
        None => text(&root, path).map(|copy| copy.text),
    };
    let what = WhatJudges::new(&setup.judge.checks, "", &commands(run), &old);
    let mut changed = Vec::new();
    let there = files(&setup.project).map_err(io::Error::other)?;
    let new = there.iter().filter(|path| !copies.0.contains_key(*path) && what.is_read(path));
    for path in copies.0.keys().chain(new) {
        let before = copies.0.get(path);
        let now = text(&root, path);
        let change = match (before, &now) {
            (None, None) => continue,
            (None, Some(_)) => FileChange::Added,
            (Some(_), None) => FileChange::Deleted,
            (Some(before), Some(now)) if before.text == now.text => continue,
            (Some(_), Some(_)) => FileChange::Changed,
        };
        let (old, new) = (before.map(|copy| copy.text.clone()), now.map(|copy| copy.text));
        changed.push(ChangedFile { path: path.clone(), change: Some(change), old, new });
    }
    let Compared { mut facts, .. } = what.compare(&changed);
    for fact in &mut facts {
        fact.is_laid = false;
    }
    // What is no check was not copied.
    let evidence = Evidence { checks: facts, has_other_changes: true, ..Evidence::default() };
    let conclusion = conclude(&evidence);
    Ok(Examined { findings: conclusion.findings, notes: conclusion.notes, diff: None, ms: 0 })
}

/// Puts files back as they were copied. What is there is kept first.
pub(in crate::driver) fn put_back(setup: &Setup, dir: &RunDir, kept: &Path, files: &[String]) -> PutBack {
    let mut done = PutBack { files: Vec::new(), failed: Vec::new(), kept: None };
    let root = Root::new(&setup.project);
    let copies = read_copies(dir, FILE);
    for file in files {
        let restored = match &copies {
            Ok(copies) => restore(&root, copies.0.get(file), kept, file),
            Err(error) => Err(io::Error::other(error.to_string())),
        };
        match restored {
            Ok(()) => done.files.push(file.clone()),
            Err(error) => done.failed.push(format!("{file}: {error}")),
        }
    }
    done
}

fn restore(root: &Root, copy: Option<&Copy>, kept: &Path, file: &str) -> io::Result<()> {
    if let Ok(there) = root.read(file, MAX_FILE_LEN) {
        record(&kept.join(file), &there)?;
    }
    let Some(copy) = copy else {
        return match root.remove(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
    };
    root.restore(file, copy.text.as_bytes())?;
    let mode = if copy.is_executable { 0o755 } else { 0o644 };
    root.open(file)?.set_permissions(fs::Permissions::from_mode(mode))
}

fn read_copies(dir: &RunDir, name: &str) -> io::Result<Copies> {
    let bytes = ralph_sys::files::read(&dir.path().join(name), MAX_COPIES_LEN)?;
    serde_json::from_slice(&bytes).map_err(io::Error::other)
}

/// The guardrails that anyone may know.
pub(super) fn commands(run: &Run) -> Vec<String> {
    run.plan.gates.iter().filter_map(|gate| gate.check.command().map(str::to_owned)).collect()
}

/// A file, if it is text.
fn text(root: &Root, path: &str) -> Option<Copy> {
    let text = String::from_utf8(root.read(path, MAX_FILE_LEN).ok()?).ok()?;
    let mode = root.open(path).and_then(|file| file.metadata()).map(|it| it.permissions().mode()).ok()?;
    Some(Copy { text, is_executable: mode & 0o100 != 0 })
}

/// The files of a project that a person wrote, by name relative to it; links are not followed.
fn files(project: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        let listed = fs::read_dir(project.join(&folder)).into_iter().flatten().flatten();
        for entry in listed {
            entries += 1;
            if MAX_ENTRIES < entries {
                return Err("there are too many files to look at".to_owned());
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = folder.join(entry.file_name());
            let is_foreign = || entry.file_name().to_str().is_none_or(|name| FOREIGN.contains(&name));
            // What was installed for Python may lie anywhere.
            if kind.is_dir() && !is_foreign() && !entry.path().join("pyvenv.cfg").exists() {
                folders.push(path);
            } else if kind.is_file() {
                found.extend(path.to_str().map(str::to_owned));
            }
        }
    }
    found.sort();
    Ok(found)
}
