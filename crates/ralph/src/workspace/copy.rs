//! Copies of files and folders that share nothing with the original but, where the file system can, its blocks.

use std::{
    io,
    os::unix::fs::{MetadataExt, symlink},
    path::Path,
};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

/// Copies whatever is at a path, with its times and permissions. What is no file, folder or link is left out.
pub(super) fn whole(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = from.symlink_metadata()?;
    if metadata.is_symlink() {
        symlink(std::fs::read_link(from)?, to)?;
    } else if metadata.is_dir() {
        std::fs::create_dir(to)?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            whole(&entry.path(), &to.join(entry.file_name()))?;
        }
        std::fs::set_permissions(to, metadata.permissions())?;
    } else if metadata.is_file() {
        // Blocks are shared where the file system can do that; a later write to one of the two parts them.
        std::fs::copy(from, to)?;
    } else {
        return Ok(());
    }
    keep_times(to, &metadata)
}

/// Gives a path the times that another has.
pub(super) fn keep_times(path: &Path, metadata: &std::fs::Metadata) -> io::Result<()> {
    let time = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = Timestamps {
        last_access: time(metadata.atime(), metadata.atime_nsec()),
        last_modification: time(metadata.mtime(), metadata.mtime_nsec()),
    };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_copy_is_the_same_and_apart() {
        let root = tempfile::tempdir().expect("a folder");
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        std::fs::create_dir_all(from.join("a")).expect("a folder");
        std::fs::write(from.join("a/x"), "one").expect("a file");
        std::fs::set_permissions(from.join("a/x"), std::fs::Permissions::from_mode(0o751))
            .expect("permissions");
        std::fs::hard_link(from.join("a/x"), from.join("y")).expect("a second name");
        symlink("nowhere", from.join("link")).expect("a link");
        let _socket = std::os::unix::net::UnixListener::bind(from.join("socket")).expect("a socket");
        let old = Timespec { tv_sec: 1_000_000, tv_nsec: 5 };
        let times = Timestamps { last_access: old, last_modification: old };
        utimensat(CWD, from.join("a/x"), &times, AtFlags::empty()).expect("old times");
        whole(&from, &to).expect("a copy");
        let copied = to.join("a/x").metadata().expect("a file");
        assert_eq!((copied.mtime(), copied.mtime_nsec(), copied.mode() & 0o777), (1_000_000, 5, 0o751));
        assert_eq!(copied.nlink(), 1);
        assert_eq!(std::fs::read_link(to.join("link")).expect("a link"), Path::new("nowhere"));
        std::fs::write(to.join("y"), "two").expect("it can be written");
        assert_eq!(std::fs::read_to_string(from.join("a/x")).expect("a file"), "one");
        assert!(!to.join("socket").exists());
    }
}
