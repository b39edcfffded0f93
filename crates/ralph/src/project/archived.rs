//! When the stories of a folder were put away. What was done before that was done for other stories, though they may
//! have had the same names.
//!
//! Kept beside the runs, not in the project: an agent must not decide which commits its reviewer sees.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use ralph_sys::{
    error::{Context, Result},
    files::{MAX_TEXT_LEN, Readers, Root},
    paths::project_dir,
};

/// Each folder of stories with the time when it was emptied last.
const FILE: &str = "archived.json";

/// When the stories of this folder were put away last, if they were.
pub(crate) fn when(project: &Path, dir: &Path) -> Option<Timestamp> {
    read(&project_dir(project).ok()?).remove(dir)
}

/// The stories of this folder are put away: what is done from now on is done for others.
pub(crate) fn note(project: &Path, dir: &Path, now: Timestamp) -> Result<()> {
    let folder = project_dir(project)?;
    let mut times = read(&folder);
    times.insert(dir.to_owned(), now);
    let text = serde_json::to_vec(&times).context("cannot write down when stories were put away")?;
    std::fs::create_dir_all(&folder).context(format!("cannot make {}", folder.display()))?;
    let written = Root::new(&folder).replace(FILE, &text, Readers::Owner);
    written.context(format!("cannot write {}", folder.join(FILE).display()))
}

fn read(folder: &Path) -> BTreeMap<PathBuf, Timestamp> {
    let bytes = Root::new(folder).read(FILE, MAX_TEXT_LEN).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
