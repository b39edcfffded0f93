//! A reviewer's turn must not change anything: what it changes nevertheless is put back and told.

use std::path::Path;

use ralph_core::engine::event::{KeptFiles, Turn};

use super::site::Site;
use crate::project::git::{Git, RestoredFiles};

/// Keeps the files before a turn that judges a change; nothing before other turns.
pub(super) fn keep(site: &mut Site, git: Option<&Git>, turn: &Turn) -> Option<KeptFiles> {
    site.run().plan.review.as_ref()?;
    let folder = site.dir.turn(turn.iteration, turn.attempt);
    match git?.keep(&mut site.supervisor, &folder) {
        Ok(kept) => Some(kept),
        Err(error) => {
            site.ledger.warn(format!("what the reviewer changes cannot be restored: {error}"));
            None
        }
    }
}

/// Puts back what the last turn changed though it must not, and returns what that was.
pub(super) fn put_back(site: &mut Site, git: Option<&Git>, folder: &Path) -> Vec<String> {
    let kept = site.run().memory.turn.as_ref().and_then(|last| last.turn.keeps.clone());
    restore(site, git, folder, kept.as_ref()).files
}

/// Puts these files back, and tells of it.
pub(super) fn restore(
    site: &mut Site,
    git: Option<&Git>,
    folder: &Path,
    kept: Option<&KeptFiles>,
) -> RestoredFiles {
    let (Some(kept), Some(git)) = (kept, git) else { return RestoredFiles::default() };
    match git.put_back(&mut site.supervisor, folder, kept) {
        Ok(restored) => {
            if !restored.files.is_empty() {
                let names = restored.files.join(", ");
                let left = restored.left.get(..12).unwrap_or(&restored.left);
                let text = format!(
                    "the reviewer changed files, and ralph restored them: {names}. What it did: git diff HEAD {left}"
                );
                site.ledger.warn(text);
            }
            restored
        }
        Err(error) => {
            site.ledger.warn(format!("what the reviewer changed cannot be restored: {error}"));
            RestoredFiles { meddled: true, ..RestoredFiles::default() }
        }
    }
}
