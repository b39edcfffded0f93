//! What a workspace remembers between two uses: which of its parts can be believed.
//!
//! Before a part is changed, its seal is taken out of the record, and put in again when the change is done. So whatever
//! ralph died of, a part that has a seal which fits is whole.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use ralph_sys::files::{Readers, Root};
use serde::{Deserialize, Serialize};

/// Counts up when the folder is laid out in another way; then it begins anew.
const VERSION: u32 = 1;

/// The file.
pub(super) const FILE: &str = "record.json";

/// What is known of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkspaceRecord {
    version: u32,
    /// The project.
    pub(super) project: PathBuf,
    /// The path at which commands see it: what was installed may say so.
    pub(super) seat: PathBuf,
    /// The seal of the objects and of the index.
    pub(super) store: Option<String>,
    /// The same without the times of objects.
    #[serde(default)]
    pub(super) store_untimed: Option<String>,
    /// The commit that is checked out.
    pub(super) commit: Option<String>,
    /// The seal of what is kept.
    pub(super) keep: Option<String>,
    /// The patterns of what is kept.
    pub(super) keep_patterns: Vec<String>,
    /// The steps of preparation that were done, with what they were done for.
    pub(super) prepared: BTreeMap<String, String>,
    /// LFS files whose content was not there.
    pub(super) lfs_missing: Vec<String>,
    /// What it takes on the disk, in bytes, when it was last looked at.
    pub(super) disk: u64,
}

impl WorkspaceRecord {
    /// Nothing is believed.
    pub(super) fn new(project: &Path) -> Self {
        Self {
            version: VERSION,
            project: project.to_owned(),
            seat: PathBuf::new(),
            store: None,
            store_untimed: None,
            commit: None,
            keep: None,
            keep_patterns: Vec::new(),
            prepared: BTreeMap::new(),
            lfs_missing: Vec::new(),
            disk: 0,
        }
    }

    /// What was written last; nothing if it is damaged, or says something else.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(FILE)).ok()?;
        let record: Self = serde_json::from_slice(&text).ok()?;
        (record.version == VERSION).then_some(record)
    }

    /// Writes it whole.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        Root::new(folder).replace(FILE, &serde_json::to_vec_pretty(self)?, Readers::Owner)
    }

    /// Forgets what was kept.
    pub(super) fn forget_kept(&mut self) {
        self.keep = None;
        self.prepared.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_record_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(WorkspaceRecord::read(folder.path()), None);
        let mut record = WorkspaceRecord::new(Path::new("/p"));
        record.keep = Some("x".to_owned());
        record.write(folder.path()).expect("it is written");
        assert_eq!(WorkspaceRecord::read(folder.path()), Some(record.clone()));
        let text = std::fs::read_to_string(folder.path().join(FILE)).expect("a file");
        std::fs::write(folder.path().join(FILE), &text[..text.len() / 2]).expect("a torn file");
        assert_eq!(WorkspaceRecord::read(folder.path()), None);
        std::fs::write(folder.path().join(FILE), text.replace("\"version\": 1", "\"version\": 0"))
            .expect("an old one");
        assert_eq!(WorkspaceRecord::read(folder.path()), None);
    }
}
