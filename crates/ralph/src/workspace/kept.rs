//! What of a tree is kept, as it is on the disk.

use std::{
    io,
    path::{Path, PathBuf},
};

use ralph_core::verify::keep::{Fate, Keep};

use super::{checkout::remove, seal};

/// The paths that are there and kept, relative to the tree.
pub(super) fn find(tree: &Path, keep: &Keep) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    look(tree, Path::new(""), keep, &mut found)?;
    found.sort();
    Ok(found)
}

fn look(tree: &Path, folder: &Path, keep: &Keep, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match std::fs::read_dir(tree.join(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = folder.join(entry.file_name());
        match keep.fate(&name) {
            Fate::Kept => found.push(name),
            Fate::Above if entry.file_type()?.is_dir() => look(tree, &name, keep, found)?,
            Fate::Above | Fate::Dropped => {}
        }
    }
    Ok(())
}

/// The seal of all that is kept.
pub(super) fn sealed(tree: &Path, keep: &Keep) -> io::Result<String> {
    seal::of(tree, &find(tree, keep)?)
}

/// Removes all that is kept.
pub(super) fn drop_all(tree: &Path, keep: &Keep) -> io::Result<()> {
    find(tree, keep)?.iter().try_for_each(|name| remove(&tree.join(name)))
}
