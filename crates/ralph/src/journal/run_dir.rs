//! Where runs are recorded: outside the project, where an agent does not reach by accident.

use std::{
    fs::File,
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use ralph_sys::{
    error::{Context, Error, Result},
    paths::{hidden_dir, project_dir, state_dir},
    process::mark::{Mark, chance},
};

use super::local_time;

/// The journal, in the folder of a run.
pub(crate) const JOURNAL: &str = "journal.jsonl";

/// Says, in the folder of a run, that the run is at work on another machine, and only its record is here.
pub(crate) const ELSEWHERE: &str = "far.json";

/// The folder of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Makes the folder of a new run.
    pub(crate) fn create(project: &Path) -> Result<Self> {
        let runs = project_dir(project)?.join("runs");
        let refused = || format!("cannot keep a record of the run in {}", runs.display());
        // Prompts, output and variables of the agent: no one else's business.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&runs)
            .context(refused())
            .map_err(|error| error.hint("set RALPH_STATE_DIR to a folder that you can write to"))?;
        // Two runs in one part of a second: the folder decides who came first, the other tries again.
        for _ in 0..1000 {
            let path = runs.join(id_after(last_id(&runs).as_deref(), new_id()));
            match fs_err::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).context(refused()).map_err(|error| {
                        error.hint("set RALPH_STATE_DIR to a folder that you can write to")
                    });
                }
            }
        }
        Err(Error::new(refused()))
    }

    /// The folder of a run that was made for it.
    pub(crate) fn reserved(project: &Path, id: &str) -> Result<Self> {
        Ok(Self { path: project_dir(project)?.join("runs").join(id) })
    }

    /// The run whose folder this is.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The runs of a project, oldest first.
    pub(crate) fn of_project(project: &Path) -> Result<Vec<Self>> {
        Ok(runs_in(&project_dir(project)?))
    }

    /// The runs of all projects of this user, oldest first.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let root = state_dir()?;
        let projects = fs_err::read_dir(&root).into_iter().flatten().flatten();
        let mut runs: Vec<Self> = projects.flat_map(|project| runs_in(&project.path())).collect();
        runs.sort_by_key(Self::id);
        Ok(runs)
    }

    /// Removes the record.
    pub(crate) fn remove(&self) -> std::io::Result<()> {
        // What hidden guardrails left for the user goes with it; most runs have none.
        if let Ok(hidden) = hidden_dir() {
            let _ = fs_err::remove_dir_all(hidden.join(self.id()));
        }
        fs_err::remove_dir_all(&self.path)
    }

    /// The run's id.
    pub(crate) fn id(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What its processes are known by.
    pub(crate) fn mark(&self) -> Mark {
        Mark::new(&self.id(), self.path.parent().unwrap_or(&self.path))
    }

    /// Where its guardian notes who it watches.
    pub(crate) fn watched(&self) -> PathBuf {
        self.path.join("watched")
    }

    /// Whether it is at work on another machine: then the numbers of its processes mean nothing here.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.path.join(ELSEWHERE).exists()
    }

    /// The journal of the run.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// What processes inside the sandboxes of this project keep to be faster the next time.
    pub(crate) fn cache(&self) -> PathBuf {
        self.path.parent().and_then(Path::parent).unwrap_or(&self.path).join("cache")
    }

    /// The folder of one turn.
    pub(crate) fn turn(&self, iteration: u32, attempt: u32) -> PathBuf {
        self.path.join(format!("turns/{iteration:04}.{attempt}"))
    }

    /// The folder of a reviewer's turn about a claim.
    pub(crate) fn opinion(&self, number: u32) -> PathBuf {
        self.path.join(format!("opinions/{number:04}"))
    }
}

/// What the agent printed, in a turn's folder.
pub(crate) const AGENT_STREAM: &str = "agent.ndjson";

/// Makes a file of the record. A disk that is full loses the file, not the run.
pub(crate) fn record(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    record_into(path)?.write_all(contents)
}

/// Makes an empty file of the record, for others to write into.
pub(crate) fn record_into(path: &Path) -> std::io::Result<File> {
    // Prompts and output may have secrets in them.
    let create = || File::options().write(true).create(true).truncate(true).mode(0o600).open(path);
    match create() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::create_dir_all(path.parent().unwrap_or(path))?;
            create()
        }
        other => other,
    }
}

fn runs_in(project: &Path) -> Vec<RunDir> {
    let entries = fs_err::read_dir(project.join("runs")).into_iter().flatten().flatten();
    let mut runs: Vec<RunDir> =
        entries.map(|entry| RunDir { path: entry.path() }).filter(|run| run.journal().exists()).collect();
    runs.sort_by_key(RunDir::id);
    runs
}

/// Ids sort as the runs began: the last part begins with the part of the second. The rest of it is chance, because
/// runs of other projects begin at the same moment.
pub(crate) fn new_id() -> String {
    let now = local_time::now();
    let part = i64::from(now.subsec_nanosecond()) * 0x100 / 1_000_000_000;
    format!("{}-{part:02x}{:04x}", now.strftime("%Y%m%d-%H%M%S"), chance() >> 48)
}

/// The greatest id in a folder of runs.
fn last_id(runs: &Path) -> Option<String> {
    let entries = fs_err::read_dir(runs).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| part(name).is_some()).max()
}

/// The part of an id that counts the parts of a second.
fn part(id: &str) -> Option<&str> {
    let (time, part) = id.rsplit_once('-')?;
    let is_id = time.len() == 15 && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (is_id && !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(part)
}

/// An id that sorts after the last one even if the clock was put back since, as it is once a year: the newest
/// run is the one that is resumed.
fn id_after(last: Option<&str>, new: String) -> String {
    let Some(last) = last.filter(|last| new.as_str() <= *last) else { return new };
    let part = part(last).unwrap_or_default();
    let next = u64::from_str_radix(part, 16).map_or(0, |number| number.saturating_add(1));
    let next = format!("{next:0width$x}", width = part.len());
    if next.len() == part.len() {
        format!("{}{next}", &last[..last.len() - part.len()])
    } else {
        format!("{last}0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_whatever_the_clock_says() {
        for (last, new, expected) in [
            (None, "20261025-021500-0000", "20261025-021500-0000"),
            (Some("20261025-021500-00ff"), "20261025-021501-0000", "20261025-021501-0000"),
            (Some("20261025-025900-00ff"), "20261025-020000-0000", "20261025-025900-0100"),
            (Some("20261025-025900-00ff"), "20261025-025900-00ff", "20261025-025900-0100"),
            (Some("20261025-025900-ffff"), "20261025-020000-0000", "20261025-025900-ffff0"),
            (Some("20261025-025900-ffff0"), "20261025-020000-0000", "20261025-025900-ffff1"),
        ] {
            let id = id_after(last, new.to_owned());
            assert_eq!(id, expected);
            assert!(last.is_none_or(|last| last < id.as_str()));
        }
    }

    #[test]
    fn runs_that_begin_in_the_same_moment_have_different_ids() {
        let ids: std::collections::BTreeSet<String> = (0..8).map(|_| new_id()).collect();
        assert_eq!(ids.len(), 8, "{ids:?}");
    }

    #[test]
    fn only_ids_are_compared() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in
            ["zzz", "20261025-025900-xyz", "20261025-025900-", "20261025-0259-0000", "20250101-000000-0001"]
        {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        assert_eq!(last_id(folder.path()).as_deref(), Some("20250101-000000-0001"));
    }
}
