//! Takes over what the project's commands wrote in a view, as far as it is kept.
//!
//! An overlay keeps what was written apart: changed and new files as they are, removed ones as devices without a number,
//! and a folder that replaces another with a mark.

use std::{
    io,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

use ralph_core::verify::keep::{Fate, Keep};

use super::{checkout::remove, copy::keep_times};

/// The mark of a folder that hides the one below it.
const OPAQUE: &str = "user.overlay.opaque";

/// Takes over what is kept from the upper folder of an overlay into the lower.
pub(super) fn overlay(upper: &Path, lower: &Path, keep: &Keep) -> io::Result<()> {
    descend(upper, lower, Path::new(""), keep)
}

fn descend(upper: &Path, lower: &Path, name: &Path, keep: &Keep) -> io::Result<()> {
    for entry in std::fs::read_dir(upper.join(name))? {
        let name = name.join(entry?.file_name());
        let (from, to) = (upper.join(&name), lower.join(&name));
        match keep.fate(&name) {
            Fate::Kept => take(&from, &to)?,
            Fate::Above if from.symlink_metadata()?.is_dir() => {
                // What is kept may be in a folder that the commit does not have.
                match to.symlink_metadata() {
                    Ok(metadata) if metadata.is_dir() => {}
                    Ok(_) => continue,
                    Err(_) => std::fs::create_dir(&to)?,
                }
                descend(upper, lower, &name, keep)?;
            }
            Fate::Above | Fate::Dropped => {}
        }
    }
    Ok(())
}

/// Puts one path of the upper folder in its place.
fn take(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = from.symlink_metadata()?;
    if metadata.file_type().is_char_device() && metadata.rdev() == 0 {
        return remove(to);
    }
    let is_folder_there = to.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if !metadata.is_dir() || !is_folder_there || is_opaque(from) {
        remove(to)?;
        return std::fs::rename(from, to);
    }
    for entry in std::fs::read_dir(from)? {
        let name = entry?.file_name();
        take(&from.join(&name), &to.join(&name))?;
    }
    std::fs::set_permissions(to, metadata.permissions())?;
    keep_times(to, &metadata)
}

fn is_opaque(folder: &Path) -> bool {
    let mut value = [0; 8];
    rustix::fs::lgetxattr(folder, OPAQUE, &mut value[..]).is_ok_and(|length| &value[..length] == b"y")
}

/// Takes over what is kept from a copy of the whole tree.
pub(super) fn copy(copy: &Path, tree: &Path, keep: &Keep) -> io::Result<()> {
    move_kept(copy, tree, Path::new(""), keep)?;
    drop_removed(copy, tree, Path::new(""), keep)
}

fn move_kept(copy: &Path, tree: &Path, name: &Path, keep: &Keep) -> io::Result<()> {
    for entry in std::fs::read_dir(copy.join(name))? {
        let name = name.join(entry?.file_name());
        let (from, to) = (copy.join(&name), tree.join(&name));
        match keep.fate(&name) {
            Fate::Kept => {
                remove(&to)?;
                std::fs::rename(&from, &to)?;
                // The place says that it was there.
                std::fs::write(&from, "")?;
            }
            Fate::Above if from.symlink_metadata()?.is_dir() => {
                match to.symlink_metadata() {
                    Ok(metadata) if metadata.is_dir() => {}
                    Ok(_) => continue,
                    Err(_) => std::fs::create_dir(&to)?,
                }
                move_kept(copy, tree, &name, keep)?;
            }
            Fate::Above | Fate::Dropped => {}
        }
    }
    Ok(())
}

/// Removes what is kept in the tree and was removed in the copy.
fn drop_removed(copy: &Path, tree: &Path, name: &Path, keep: &Keep) -> io::Result<()> {
    for entry in std::fs::read_dir(tree.join(name))? {
        let name = name.join(entry?.file_name());
        let (there, here) = (copy.join(&name), tree.join(&name));
        match keep.fate(&name) {
            Fate::Kept if there.symlink_metadata().is_err() => remove(&here)?,
            Fate::Above if here.symlink_metadata()?.is_dir() && there.is_dir() => {
                drop_removed(copy, tree, &name, keep)?;
            }
            Fate::Kept | Fate::Above | Fate::Dropped => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(root: &Path, names: &[&str]) {
        for name in names {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, *name).expect("a file");
        }
    }

    fn listed(root: &Path, name: &Path, into: &mut Vec<String>) {
        for entry in std::fs::read_dir(root.join(name)).expect("a folder").flatten() {
            let name = name.join(entry.file_name());
            if entry.path().is_dir() {
                listed(root, &name, into);
            } else {
                into.push(name.display().to_string());
            }
        }
        into.sort();
    }

    #[test]
    fn a_copy_gives_only_what_is_kept() {
        let root = tempfile::tempdir().expect("a folder");
        let (made, tree) = (root.path().join("copy"), root.path().join("tree"));
        files(&tree, &["src/x", "target/old", "a/node_modules/gone", "b/node_modules/same"]);
        files(
            &made,
            &["src/changed", "src/x", "target/new", "a/new", "b/node_modules/same", "c/node_modules/new"],
        );
        copy(&made, &tree, &Keep::new(Path::new(""), ["target", "**/node_modules"]))
            .expect("it is taken over");
        let mut all = Vec::new();
        listed(&tree, Path::new(""), &mut all);
        assert_eq!(all, ["b/node_modules/same", "c/node_modules/new", "src/x", "target/new"]);
    }
}
