//! Tells whether files are as they were left, without reading them.
//!
//! A seal has number, size, permissions and times of each file, and the time of the last change (`ctime`) cannot be set
//! by whoever changes a file. So a file that was changed, replaced or swapped breaks it, whatever its other times say.

use std::{
    io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

/// The seal of these paths below a folder, with all that is in them. A path that is not there is sealed as such.
pub(super) fn of(root: &Path, names: &[PathBuf]) -> io::Result<String> {
    let mut names: Vec<&PathBuf> = names.iter().collect();
    names.sort();
    let mut hash = Sha256::new();
    for name in names {
        add(&mut hash, &root.join(name), name)?;
    }
    Ok(hex(&hash.finalize()))
}

/// Bytes as letters.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn add(hash: &mut Sha256, path: &Path, name: &Path) -> io::Result<()> {
    hash.update(name.as_os_str().as_bytes());
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            hash.update(b"\0gone\0");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let numbers = [
        metadata.ino().cast_signed(),
        i64::from(metadata.mode()),
        metadata.size().cast_signed(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ];
    hash.update(b"\0");
    for number in numbers {
        hash.update(number.to_le_bytes());
    }
    if !metadata.is_dir() {
        return Ok(());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path)? {
        names.push(entry?.file_name());
    }
    names.sort();
    hash.update(names.len().to_le_bytes());
    for name in names {
        add(hash, &path.join(&name), Path::new(&name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

    use super::*;

    /// A folder with files, and whether what is done to it breaks the seal.
    #[track_caller]
    fn check(change: impl FnOnce(&Path), is_broken: bool) {
        let root = tempfile::tempdir().expect("a folder");
        for path in ["kept/a/x", "kept/y", "other"] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, "0123").expect("a file");
        }
        let names = [PathBuf::from("kept"), PathBuf::from("gone")];
        let before = of(root.path(), &names).expect("a seal");
        // Times are counted in steps of some milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(15));
        change(root.path());
        assert_eq!(before != of(root.path(), &names).expect("a seal"), is_broken);
    }

    #[test]
    fn only_a_change_breaks_it() {
        check(|_| {}, false);
        check(|root| std::fs::write(root.join("other"), "new").expect("a file"), false);
        check(|root| drop(std::fs::read(root.join("kept/y")).expect("a file")), false);
        check(|root| std::fs::write(root.join("kept/new"), "").expect("a file"), true);
        check(|root| std::fs::write(root.join("gone"), "").expect("a file"), true);
        check(|root| std::fs::remove_file(root.join("kept/a/x")).expect("a file"), true);
    }

    #[test]
    fn old_times_and_the_same_size_do_not_help() {
        let swap = |root: &Path| {
            let file = root.join("kept/a/x");
            let old = file.metadata().expect("a file");
            std::fs::write(&file, "9876").expect("a file");
            let time = Timespec { tv_sec: old.mtime(), tv_nsec: old.mtime_nsec() };
            let times = Timestamps { last_access: time, last_modification: time };
            utimensat(CWD, &file, &times, AtFlags::empty()).expect("the old time");
            let new = file.metadata().expect("a file");
            assert_eq!((new.mtime(), new.size()), (old.mtime(), old.size()));
        };
        check(swap, true);
    }
}
