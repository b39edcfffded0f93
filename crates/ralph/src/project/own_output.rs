//! Files in the project that ralph's own output goes into: `ralph run > run.log`, `ralph run | tee run.log`.
//!
//! Invariant: they are no work of the agent. They are not committed, and that they grow is no progress.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ralph_sys::process::{PrintedInto, printed_into};

/// What this process knows of them.
#[derive(Default)]
struct Known {
    files: BTreeSet<PathBuf>,
    /// Whether there will be no more.
    is_settled: bool,
    /// How many a person was told of.
    told: usize,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

impl Known {
    /// Who reads a pipe may take a while to open its file, so it is looked for until it is found.
    fn look(&mut self) {
        if !self.is_settled {
            let PrintedInto { files, is_settled } = printed_into();
            self.files.extend(files);
            self.is_settled = is_settled;
        }
    }
}

fn with<T>(ask: impl FnOnce(&mut Known) -> T) -> T {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    ask(known.get_or_insert_with(|| {
        let mut known = Known::default();
        known.look();
        known
    }))
}

/// Looks for them again, where there may be more by now. Code that lists files calls this after the listing.
pub(crate) fn look_again() {
    with(Known::look);
}

/// Whether a file is one.
pub(crate) fn is_own_output(path: &Path) -> bool {
    with(|known| known.files.contains(path))
}

/// Those in a folder, relative to it.
pub(crate) fn inside(folder: &Path) -> Vec<PathBuf> {
    with(|known| {
        known.files.iter().filter_map(|path| path.strip_prefix(folder).ok()).map(Path::to_owned).collect()
    })
}

/// What a person should know about those that no one was told of.
pub(crate) fn news(project: &Path) -> Option<String> {
    let has_more = with(|known| std::mem::replace(&mut known.told, known.files.len()) < known.files.len());
    let names: Vec<String> = inside(project).iter().map(|path| path.display().to_string()).collect();
    (has_more && !names.is_empty()).then(|| {
        format!(
            "ralph's output goes into {}: ralph keeps this file out of git and does not count it as work",
            names.join(", ")
        )
    })
}
