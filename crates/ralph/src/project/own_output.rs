//! Files in the project that ralph's own output goes into: `ralph run > run.log`, `ralph run | tee run.log`.
//!
//! Invariant: they are no work of the agent. They are not committed, and that they grow is no progress.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use ralph_sys::process::printed_into;

/// All of them; what this process prints into does not change while it runs.
fn all() -> &'static BTreeSet<PathBuf> {
    static ALL: OnceLock<BTreeSet<PathBuf>> = OnceLock::new();
    ALL.get_or_init(printed_into)
}

/// Whether a file is one.
pub(crate) fn is_own_output(path: &Path) -> bool {
    all().contains(path)
}

/// Those in a folder, relative to it.
pub(crate) fn inside(folder: &Path) -> Vec<PathBuf> {
    all().iter().filter_map(|path| path.strip_prefix(folder).ok()).map(Path::to_owned).collect()
}

/// What a person should know about them.
pub(crate) fn warning(project: &Path) -> Option<String> {
    let names: Vec<String> = inside(project).iter().map(|path| path.display().to_string()).collect();
    (!names.is_empty()).then(|| {
        format!("what ralph prints goes into {}: that is kept out of git and is no work", names.join(", "))
    })
}
