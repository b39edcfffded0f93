//! The files that a person steers a run with: settings, notes that name the tests, and what no turn of a stories loop may change.
//!
//! Invariant: a run goes by copies of them, where agents cannot read them. Whatever changes while a turn or its checks run is recorded
//! before they are recorded as over, so a difference that a resume finds in a settled run is a person's.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use ralph_core::{
    engine::Run,
    setup::{Setup, StoriesSetup},
    stories::TaskFile,
};
use ralph_sys::{
    files::{self, MAX_TEXT_LEN, Root},
    hash,
    paths::hidden_dir,
};

use super::stories::files::hash as contents;
use crate::{
    hidden,
    journal::run_dir::{RunDir, record},
    project::story_files::TASKS,
};

/// The folder of the copies, in the folder of a run.
const COPIES: &str = "pinned";

/// A file that a person steers a run with.
#[derive(Clone, Debug)]
pub(crate) struct Steered {
    /// Where it is.
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    /// What the run goes by.
    used: String,
    /// What it was like when a turn and its checks had ended.
    seen: String,
    /// What it is like.
    pub(crate) now: String,
}

/// What it is for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A settings file, or notes that name the tests.
    Settings,
    /// What is wanted, or the prompt: no turn may change it.
    Pinned,
    /// The task list, of which the verify commands count.
    Tasks,
}

impl Steered {
    /// Whether the run goes by something else.
    pub(crate) fn differs(&self) -> bool {
        self.now != self.used
    }

    /// Whether it changed after the last turn and its checks had ended.
    pub(crate) fn changed_since(&self) -> bool {
        self.now != self.seen
    }

    /// What people call it.
    pub(crate) fn name(&self, project: &Path) -> String {
        self.path.strip_prefix(project).unwrap_or(&self.path).display().to_string()
    }
}

/// The files of a run as they are now.
pub(crate) fn steered(run: &Run) -> Vec<Steered> {
    let setup = &run.started.setup;
    let known = |path: PathBuf, kind, used: &str, now| {
        let seen = run.memory.files.get(&path).map_or(used, String::as_str).to_owned();
        Steered { path, kind, used: used.to_owned(), seen, now }
    };
    let settings = setup.settings.iter().map(|(path, used)| {
        let now = hash::fingerprint(path);
        known(path.clone(), Kind::Settings, used, now)
    });
    let mut all: Vec<Steered> = settings.collect();
    if let Some(stories) = &setup.stories {
        all.extend(stories.pinned.iter().map(|(path, used)| {
            let path = setup.project.join(path);
            let now = read(&setup.project, &path).map_or_else(|_| hash::GONE.to_owned(), |it| contents(&it));
            known(path, Kind::Pinned, used, now)
        }));
        let path = setup.project.join(&stories.ralph_dir).join(TASKS);
        let now =
            verify_commands(setup, stories).map_or_else(|| hash::GONE.to_owned(), |it| of_commands(&it));
        all.push(known(path, Kind::Tasks, &of_commands(&stories.verify_commands), now));
    }
    all
}

/// Those that are not as they were recorded last, with what they are like.
pub(super) fn changed(run: &Run) -> BTreeMap<PathBuf, String> {
    steered(run).into_iter().filter(Steered::changed_since).map(|it| (it.path, it.now)).collect()
}

/// The commands of the task list as it is; nothing if it cannot be read.
pub(crate) fn verify_commands(setup: &Setup, stories: &StoriesSetup) -> Option<Vec<String>> {
    let bytes = read(&setup.project, &setup.project.join(&stories.ralph_dir).join(TASKS)).ok()?;
    Some(TaskFile::new(String::from_utf8_lossy(&bytes)).list().verify_commands.clone())
}

fn of_commands(commands: &[String]) -> String {
    contents(commands.join("\n").as_bytes())
}

/// Reads such a file, if no link leads elsewhere.
pub(crate) fn read(project: &Path, path: &Path) -> io::Result<Vec<u8>> {
    Root::around(project, path).read(path, MAX_TEXT_LEN)
}

/// Copies a file into the run's folder, beside the copies of what it was before.
pub(crate) fn keep(run: &RunDir, path: &Path, fingerprint: &str, bytes: &[u8]) -> io::Result<()> {
    // The user's own settings may have keys in them, and agents can read the record.
    let hidden = hidden::folder(run).map(|folder| copy(&folder, path, fingerprint));
    match hidden.map(|hidden| record(&hidden, bytes)) {
        Ok(Ok(())) => Ok(()),
        _ => record(&copy(run.path(), path, fingerprint), bytes),
    }
}

/// The file as the run goes by it; `NotFound` where it was not there.
pub(crate) fn kept(run: &RunDir, path: &Path, fingerprint: &str) -> io::Result<Vec<u8>> {
    if fingerprint == hash::GONE {
        return Err(io::ErrorKind::NotFound.into());
    }
    let hidden = hidden_dir().map(|dir| copy(&dir.join(run.id()), path, fingerprint));
    let known = hidden
        .map_or_else(|_| Err(io::ErrorKind::NotFound.into()), |hidden| files::read(&hidden, MAX_TEXT_LEN))
        .or_else(|_| files::read(&copy(run.path(), path, fingerprint), MAX_TEXT_LEN));
    // A copy is never NotFound in this sense: that would be a file that was not there.
    known.map_err(|_| io::Error::other("there is no copy of it in the record of the run"))
}

/// Each state of a file has a copy of its own, so none is lost and a kill between copy and record changes nothing.
fn copy(place_of_run: &Path, path: &Path, fingerprint: &str) -> PathBuf {
    let place: String = fingerprint.chars().map(|it| if it.is_alphanumeric() { it } else { '-' }).collect();
    // Two files may have one name.
    let folder = format!("{place}-{:x}", hash::fnv(path.as_os_str().as_encoded_bytes()));
    place_of_run.join(COPIES).join(folder).join(path.file_name().unwrap_or_default())
}

/// Copies what the settings of a new run say.
pub(super) fn keep_settings(run: &RunDir, setup: &Setup) -> io::Result<()> {
    for (path, fingerprint) in setup.settings.iter().filter(|(_, it)| *it != hash::GONE) {
        // What is no regular file has no text, and may hold the process that opens it.
        if let Ok(bytes) = files::read(path, MAX_TEXT_LEN) {
            keep(run, path, fingerprint, &bytes)?;
        }
    }
    Ok(())
}
