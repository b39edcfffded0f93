//! Commands for a person that processes of a run typed: left beside the journal, for the run to record.
//!
//! A file stays until it is on record, so no kill loses one.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use ralph_sandbox::spool::VARIABLE;
use ralph_sys::process::{ancestry, variable};

use super::run_dir::{JOURNAL, RunDir, record};

/// The folder of the tries, in the folder of a run or in the spool of a turn.
const FOLDER: &str = "tries";

/// More than this is no command of ralph's.
const MAX_COMMAND_CHARS: usize = 100;

/// Notes that a process inside the run typed a command.
pub(crate) fn leave(run: &str, command: &str) -> io::Result<()> {
    let name = format!("{}-{}", std::process::id(), jiff::Timestamp::now().as_nanosecond());
    // Inside a sandbox the records of runs are not to be seen.
    let spool = env::var_os(VARIABLE).map(PathBuf::from);
    let mut result = Err(io::ErrorKind::NotFound.into());
    for place in folder(run).into_iter().chain(spool) {
        result = record(&place.join(FOLDER).join(&name), command.as_bytes());
        if result.is_ok() {
            break;
        }
    }
    result
}

/// The folder of a run: where this process looks for records, or any that started it. Variables can be taken away from
/// this one, not from those.
fn folder(run: &str) -> Option<PathBuf> {
    let places = [("RALPH_STATE_DIR", ""), ("XDG_STATE_HOME", "ralph"), ("HOME", ".local/state/ralph")];
    ancestry().into_iter().find_map(|pid| {
        let states =
            places.iter().filter_map(|(name, below)| Some(Path::new(&variable(pid, name)?).join(below)));
        let projects = states.flat_map(|state| fs::read_dir(state).into_iter().flatten().flatten());
        let mut runs = projects.map(|project| project.path().join("runs").join(run));
        runs.find(|folder| folder.join(JOURNAL).exists())
    })
}

/// What was left in the folder of a run or in a spool: the commands, and the files to remove once they are on record.
pub(crate) fn found(run: &RunDir, spool: Option<&Path>) -> Vec<(String, PathBuf)> {
    let list = |folder: &Path| fs::read_dir(folder.join(FOLDER)).into_iter().flatten().flatten();
    let files = list(run.path()).chain(spool.into_iter().flat_map(list));
    files
        .map(|file| {
            let text = ralph_sys::files::read(&file.path(), 4096).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).chars().take(MAX_COMMAND_CHARS).collect();
            (text, file.path())
        })
        .collect()
}
