//! Installs what the project's commands need in a workspace, before they run there.
//!
//! What was installed is used again as long as everything that decided it is the same: the command, the files that it
//! reads, the path that it is seen at, and the program that installs.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_core::{
    duration::millis,
    verify::preparation::{
        self, INSTALLED, Preparation, PrepareStep, ProjectFacts, VIRTUAL_ENVIRONMENT_FILE,
        VIRTUAL_ENVIRONMENTS,
    },
};
use sha2::{Digest, Sha256};

use super::{Workspace, checkout::Listing, seal::hex};

/// Lock files are long; what is asked of them is whether they are there.
const MAX_TEXT_LEN: u64 = 256 * 1024;
/// No lock file of a package manager is longer.
const MAX_LOCK_FILE_LEN: u64 = 256 * 1024 * 1024;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrepareEnd {
    /// It was done before, for the same.
    UpToDate,
    Done,
    /// With this exit code, if it ended by itself.
    Failed(Option<i32>),
}

/// A step that is due.
pub(crate) struct StepCall<'a> {
    pub(crate) command: &'a str,
    /// Where it runs, relative to the top of the tree.
    pub(crate) folder: &'a Path,
    /// Where its output goes.
    pub(crate) log: &'a Path,
}

/// How its command ended.
pub(crate) struct StepEnd {
    /// Nothing if a signal or a limit of time ended it.
    pub(crate) code: Option<i32>,
    pub(crate) took: Duration,
}

/// A step and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) step: PrepareStep,
    pub(super) key: String,
    pub(crate) end: PrepareEnd,
    pub(crate) ms: u64,
    pub(crate) log: PathBuf,
}

impl Prepared {
    /// What tells one step from the other.
    pub(super) fn id(&self) -> String {
        id(&self.step)
    }
}

fn id(step: &PrepareStep) -> String {
    format!("{}: {}", step.folder, step.command)
}

impl Workspace {
    /// What must be installed for what is checked out.
    pub(super) fn detect(&self, listing: &Listing) -> Preparation {
        let facts = self.facts(listing);
        let mut preparation = preparation::detect(&facts);
        if let Some(commands) = &self.wishes.prepare {
            let reads: Vec<String> = facts.files.keys().cloned().collect();
            let step = |command: &String| PrepareStep {
                folder: String::new(),
                command: command.clone(),
                makes: Vec::new(),
                reads: reads.clone(),
            };
            preparation.steps = commands.iter().map(step).collect();
        }
        preparation
    }

    /// The manifests of what is checked out, and what the user installed beside them.
    fn facts(&self, listing: &Listing) -> ProjectFacts {
        let tree = self.tree();
        let is_manifest = |path: &&Path| {
            let name = path.file_name().and_then(OsStr::to_str);
            name.is_some_and(preparation::is_manifest)
        };
        let manifests: Vec<&Path> = listing
            .tracked
            .iter()
            .filter_map(|name| name.strip_prefix(&self.source.prefix).ok())
            .filter(is_manifest)
            .collect();
        let project = self.source.top.join(&self.source.prefix);
        let folders: BTreeSet<&Path> = manifests.iter().filter_map(|name| name.parent()).collect();
        let mut facts = ProjectFacts::default();
        for folder in folders {
            let joined = |name: &str| folder.join(name).to_string_lossy().into_owned();
            for name in INSTALLED.iter().filter(|name| project.join(folder).join(name).is_dir()) {
                facts.installed.insert(joined(name));
            }
            for name in VIRTUAL_ENVIRONMENTS {
                let config = project.join(folder).join(name).join(VIRTUAL_ENVIRONMENT_FILE);
                if let Ok(text) = ralph_sys::files::read_text(&config) {
                    facts.environments.insert(joined(name), text);
                }
            }
        }
        for name in manifests {
            let text = beginning(&tree.join(&self.source.prefix).join(name)).unwrap_or_default();
            facts.files.insert(name.to_string_lossy().into_owned(), text);
        }
        facts
    }

    /// Does the steps that are due, by `run`, which runs a command in a folder of the view and returns how it ended.
    pub(crate) fn prepare(
        &self,
        run: &mut dyn FnMut(&StepCall<'_>) -> io::Result<StepEnd>,
    ) -> io::Result<Vec<Prepared>> {
        let mut all = Vec::new();
        for (number, step) in self.preparation.steps.iter().enumerate() {
            let key = self.key(step);
            let log = self.folder.join("logs").join(format!("prepare-{}.log", number + 1));
            let is_done = self.record.prepared.get(&id(step)) == Some(&key) && self.has_all(step);
            let (end, ms) = if is_done {
                (PrepareEnd::UpToDate, 0)
            } else {
                let folder = self.source.prefix.join(&step.folder);
                let StepEnd { code, took } =
                    run(&StepCall { command: &step.command, folder: &folder, log: &log })?;
                let end = if code == Some(0) { PrepareEnd::Done } else { PrepareEnd::Failed(code) };
                (end, millis(took))
            };
            all.push(Prepared { step: step.clone(), key, end, ms, log });
        }
        Ok(all)
    }

    fn has_all(&self, step: &PrepareStep) -> bool {
        let project = self.tree().join(&self.source.prefix);
        step.makes.iter().all(|name| project.join(name).symlink_metadata().is_ok())
    }

    /// Everything that decides what a step makes.
    fn key(&self, step: &PrepareStep) -> String {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update(bytes.len().to_le_bytes());
            hash.update(bytes);
        };
        add(id(step).as_bytes());
        add(self.record.seat.as_os_str().as_encoded_bytes());
        add(installer(&step.command).as_bytes());
        let project = self.tree().join(&self.source.prefix);
        for name in &step.reads {
            add(name.as_bytes());
            add(&ralph_sys::files::read(&project.join(name), MAX_LOCK_FILE_LEN).unwrap_or_default());
        }
        hex(&hash.finalize())
    }
}

/// The program that a command begins with, as it is on this machine.
fn installer(command: &str) -> String {
    let words = shell_words::split(command).unwrap_or_default();
    let program = words.into_iter().find(|word| !word.contains('='));
    let found =
        program.and_then(|program| which::which(program).ok()).and_then(|path| path.canonicalize().ok());
    let facts = found.and_then(|path| Some((path.metadata().ok()?, path)));
    facts.map_or(String::new(), |(metadata, path)| {
        format!("{} {} {}", path.display(), metadata.size(), metadata.mtime())
    })
}

fn beginning(path: &Path) -> io::Result<String> {
    // A link of the commit may lead anywhere.
    if !path.symlink_metadata()?.is_file() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    ralph_sys::files::open(path)?.take(MAX_TEXT_LEN).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
