//! Tells whether files are as they were left, without reading them.
//!
//! A seal has number, size, permissions and times of each file, and the time of the last change (`ctime`) cannot be set
//! by the process that changes a file. So a file that was changed, replaced or swapped breaks it, whatever its other
//! times say.

use std::{
    io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

/// The seal of these paths below a folder, with all that is in them. A path that is not there is sealed as such.
pub(super) fn of(root: &Path, names: &[PathBuf]) -> io::Result<String> {
    timed(root, names, |_| Times::Counted)
}

/// The same, but the times of files are not sealed that are in one of these paths: what they say must be known otherwise.
pub(super) fn without_times(root: &Path, names: &[PathBuf], untimed: &Path) -> io::Result<String> {
    timed(root, names, |name| if name == untimed { Times::OfFolders } else { Times::Counted })
}

/// Which times are sealed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Counted,
    OfFolders,
}

fn timed(root: &Path, names: &[PathBuf], times: impl Fn(&Path) -> Times) -> io::Result<String> {
    let mut names: Vec<&PathBuf> = names.iter().collect();
    names.sort();
    let mut hash = Sha256::new();
    for name in names {
        add(&mut hash, &root.join(name), name, times(name))?;
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

fn add(hash: &mut Sha256, path: &Path, name: &Path, times: Times) -> io::Result<()> {
    hash.update(name.as_os_str().as_bytes());
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            hash.update(b"\0gone\0");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let is_timed = times == Times::Counted || metadata.is_dir();
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
    for number in &numbers[..if is_timed { numbers.len() } else { 3 }] {
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
        add(hash, &path.join(&name), Path::new(&name), times)?;
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
    fn a_new_time_alone_breaks_one_that_counts_times() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir_all(at("objects/pack")).expect("a folder");
        for file in ["objects/pack/x", "index"] {
            std::fs::write(at(file), "0123").expect("a file");
        }
        let names = ["index", "objects"].map(PathBuf::from);
        let seals = || {
            let untimed = without_times(root.path(), &names, Path::new("objects")).expect("a seal");
            (of(root.path(), &names).expect("a seal"), untimed)
        };
        let touch = |name: &str| {
            let time = Timespec { tv_sec: 1_000_000, tv_nsec: 5 };
            let times = Timestamps { last_access: time, last_modification: time };
            utimensat(CWD, at(name), &times, AtFlags::empty()).expect("another time");
        };
        let before = seals();
        touch("objects/pack/x");
        let touched = seals();
        assert!(before.0 != touched.0 && before.1 == touched.1);
        for name in ["index", "objects/pack"] {
            let before = seals();
            touch(name);
            assert_ne!(before.1, seals().1, "{name}");
        }
        let before = seals();
        std::fs::write(at("objects/pack/x"), "01234").expect("a file");
        assert_ne!(before.1, seals().1);
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
