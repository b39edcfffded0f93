//! What a person asks of a run on its way: numbered files in the folder of the run, which the run reads in their order.
//!
//! Invariant: a request is whole once it has its number, and keeps both. The record says which were taken, so a kill
//! neither loses one nor has it taken twice.

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_core::{
    engine::{
        Run, State,
        entry::Entry,
        event::{Event, NoteSaid},
    },
    prompt::notes::note,
};
use ralph_sys::{
    file_lock::take_within,
    files::{self, Readers, Root},
};
use serde::{Deserialize, Serialize};

use super::run_dir::RunDir;

/// The folder of the requests.
const FOLDER: &str = "requests";
/// Another process has the lock for as long as a write to the disk takes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);
/// More than the longest note, however it is written.
const MAX_REQUEST_LEN: u64 = 1024 * 1024;

/// What a person asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PersonRequest {
    /// Tell the next turn this.
    Say {
        text: String,
        #[serde(default)]
        keep: bool,
        #[serde(default)]
        now: bool,
    },
    /// Do not tell it, after all.
    Withdraw { note: u32 },
    /// Begin no turn.
    Pause,
    /// Begin turns again.
    GoOn,
}

/// What is recorded when a run takes a request; nothing if there is nothing in it.
pub(crate) fn event(state: &State, request: u64, asked: PersonRequest) -> Option<Event> {
    Some(match asked {
        PersonRequest::Say { text, keep, now } => {
            // The process that left it has made a note of it; what is none is told to no one.
            let text = note(&text).ok()?;
            let note = u32::try_from(state.person_notes().len()).unwrap_or(u32::MAX).saturating_add(1);
            Event::NoteSaid(NoteSaid { note, text, keep, now, request })
        }
        PersonRequest::Withdraw { note } => Event::NoteWithdrawn { note, request },
        PersonRequest::Pause => Event::PauseRequested { request },
        PersonRequest::GoOn => Event::PauseEnded { request },
    })
}

/// The run as it is when it has taken all requests that are left for it.
pub(crate) fn taken(dir: &RunDir, mut run: Run) -> Run {
    for (request, asked) in after(dir, run.state.requests_taken()) {
        if let Some(event) = event(&run.state, request, asked) {
            run.apply(&Entry { at: super::now(), event });
        }
    }
    run
}

/// Leaves a request for the run; returns its number, from 1.
pub(crate) fn leave(run: &RunDir, request: &PersonRequest) -> io::Result<u64> {
    let folder = run.path().join(FOLDER);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let lock = private(&folder.join("lock"))?;
    take_within(&lock, LOCK_TIMEOUT)?;
    let number = last(&folder) + 1;
    let bytes = serde_json::to_vec(request)?;
    // What others find under its name is whole, also after a power cut.
    let write = |file: &mut File| file.write_all(&bytes).and_then(|()| file.sync_all());
    Root::new(&folder).replace_with(path(&folder, number), Readers::Owner, write)?;
    Ok(number)
}

/// The request with this number, if there is one.
fn read(run: &RunDir, number: u64) -> Option<io::Result<PersonRequest>> {
    let path = path(&run.path().join(FOLDER), number);
    path.symlink_metadata().ok()?;
    let bytes = files::read(&path, MAX_REQUEST_LEN);
    Some(bytes.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?)))
}

/// The requests after this number that can be read.
pub(crate) fn after(run: &RunDir, number: u64) -> Vec<(u64, PersonRequest)> {
    let all = (number + 1..).map_while(|number| Some((number, read(run, number)?)));
    all.filter_map(|(number, request)| Some((number, request.ok()?))).collect()
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.json"))
}

fn last(folder: &Path) -> u64 {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.strip_suffix(".json")?.parse().ok()).max().unwrap_or(0)
}

fn private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_numbers_without_a_gap() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = RunDir::at(folder.path().to_owned());
        assert!(read(&run, 1).is_none() && after(&run, 0).is_empty());
        let say = PersonRequest::Say { text: "a".to_owned(), keep: true, now: false };
        assert_eq!(
            [leave(&run, &say), leave(&run, &PersonRequest::Pause)].map(|it| it.expect("a number")),
            [1, 2]
        );
        assert_eq!(after(&run, 0), [(1, say), (2, PersonRequest::Pause)]);
        assert_eq!(after(&run, 1), [(2, PersonRequest::Pause)]);
        // What cannot be read hides nothing that comes after it.
        fs::write(folder.path().join("requests/3.json"), "{").expect("a file");
        assert_eq!(leave(&run, &PersonRequest::GoOn).expect("a number"), 4);
        assert!(read(&run, 3).is_some_and(|it| it.is_err()));
        assert_eq!(after(&run, 2), [(4, PersonRequest::GoOn)]);
    }
}
