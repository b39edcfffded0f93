//! What each iteration leaves in `.ralph/` for people and the agent: its prompt, and what guardrails printed.
//!
//! Invariant: there are only so many, however long a run is, because every `git status` visits them. The record of the run has
//! all of them.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ralph_core::setup::PROJECT_DIR;
use ralph_sys::files::Root;

/// The files of so many iterations stay.
pub(crate) const MAX_KEPT_ITERATIONS: u32 = 100;

const PROMPT: &str = "prompt_";
const LOG: &str = "guardrail_";

/// The name of the prompt of an iteration.
pub(crate) fn prompt(iteration: u32) -> String {
    format!("{PROMPT}{iteration:03}.txt")
}

/// The log of a gate in an iteration, relative to the project.
pub(crate) fn log(iteration: u32, gate: &str) -> String {
    format!("{PROJECT_DIR}/{LOG}{iteration:03}_{gate}.log")
}

/// Removes what the oldest iteration left when another begins: its prompt in `folder`, and the logs of these gates, in the
/// working tree and wherever else they are checked when the agent says that it is done.
pub(crate) fn forget_oldest(
    project: &Path,
    folder: &Path,
    iteration: u32,
    gates: impl Iterator<Item = String>,
) {
    let Some(oldest) = iteration.checked_sub(MAX_KEPT_ITERATIONS).filter(|oldest| 0 < *oldest) else {
        return;
    };
    let root = Root::new(project);
    // What is not there was removed by someone else.
    let _ = root.remove(folder.join(prompt(oldest)));
    for gate in gates {
        for where_else in ["", "_judge", "_old", "_bite"] {
            let _ = root.remove(log(oldest, &format!("{gate}{where_else}")));
        }
    }
}

/// What iterations left in this project at least so long ago.
pub(crate) fn older(project: &Path, age: Duration) -> Vec<PathBuf> {
    let is_older = |path: &PathBuf| {
        let written = project.join(path).symlink_metadata().and_then(|file| file.modified());
        written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|passed| age <= passed))
    };
    all(project).into_iter().filter(is_older).collect()
}

fn all(project: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project.join(PROJECT_DIR)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| is_ours(name)).map(|name| Path::new(PROJECT_DIR).join(name)).collect()
}

/// Removes these.
pub(crate) fn remove(project: &Path, files: &[PathBuf]) {
    let root = Root::new(project);
    for file in files {
        // What stays is removed another time.
        let _ = root.remove(file);
    }
}

/// Whether an iteration has left this: `prompt_001.txt`, `guardrail_001_make_test.log`.
fn is_ours(name: &str) -> bool {
    let is_number = |text: &str| 3 <= text.len() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(number) = name.strip_prefix(PROMPT).and_then(|rest| rest.strip_suffix(".txt")) {
        return is_number(number);
    }
    let log = name.strip_prefix(LOG).and_then(|rest| rest.strip_suffix(".log"));
    log.and_then(|rest| rest.split_once('_')).is_some_and(|(number, _)| is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_iteration_left_is_ours() {
        for name in ["prompt_001.txt", "prompt_12345.txt", "guardrail_000_make_test.log"] {
            assert!(is_ours(name), "{name}");
        }
        for name in [
            "prompt_.txt",
            "prompt_x.txt",
            "prompt_001.md",
            "guardrail_1_a.log",
            "guardrail_001.log",
            "settings.json",
        ] {
            assert!(!is_ours(name), "{name}");
        }
    }

    #[test]
    fn the_files_of_the_last_iterations_stay() {
        let project = tempfile::tempdir().expect("a folder");
        let folder = project.path().join(PROJECT_DIR);
        std::fs::create_dir(&folder).expect("a folder");
        for iteration in 1..=2 * MAX_KEPT_ITERATIONS {
            forget_oldest(project.path(), &folder, iteration, ["a".to_owned()].into_iter());
            std::fs::write(folder.join(prompt(iteration)), "").expect("a file");
            std::fs::write(project.path().join(log(iteration, "a")), "").expect("a file");
        }
        assert_eq!(all(project.path()).len(), 2 * MAX_KEPT_ITERATIONS as usize);
        assert!(!folder.join(prompt(MAX_KEPT_ITERATIONS)).exists());
        assert!(folder.join(prompt(MAX_KEPT_ITERATIONS + 1)).exists());
        assert_eq!(older(project.path(), Duration::from_hours(1)), Vec::<PathBuf>::new());
        remove(project.path(), &older(project.path(), Duration::ZERO));
        assert_eq!(all(project.path()), Vec::<PathBuf>::new());
    }
}
