//! The program that the hooks of a run call: a copy of ralph in the run's folder.
//!
//! Invariant: who replaces the installed ralph while a run goes on does not replace what judges its agent, and
//! who replaces the copy is found out after the turn.

use std::{
    fs::{self, Metadata, Permissions},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use ralph_sys::files;
use sha2::{Digest, Sha256};

/// A copy of ralph.
#[derive(Clone, Debug)]
pub(super) struct HookProgram {
    path: PathBuf,
    hash: Vec<u8>,
    stamp: Stamp,
}

/// What changes with a file, and only the kernel sets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl HookProgram {
    /// Copies the running program into the folder of a run.
    pub(super) fn copy_into(run: &Path) -> io::Result<Self> {
        let folder = run.join("bin");
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let path = folder.join("ralph");
        // One that an earlier process of the run left may have been changed.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::copy(running()?, &path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o500))?;
        let stamp = Stamp::of(&path.symlink_metadata()?);
        Ok(Self { hash: hash(&path)?, path, stamp })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is what was copied. It is read only when something about the file is different.
    pub(super) fn is_unchanged(&self) -> bool {
        let Ok(metadata) = self.path.symlink_metadata() else { return false };
        Stamp::of(&metadata) == self.stamp
            || (metadata.is_file() && hash(&self.path).is_ok_and(|hash| hash == self.hash))
    }

    /// Removes it. What cannot be removed goes with the run's folder.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The very program that runs, also when another file stands at its path by now.
fn running() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

fn hash(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut hash) = (files::open(path)?, Sha256::new());
    let mut chunk = vec![0; 256 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hash.finalize().to_vec()),
            length => hash.update(&chunk[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_private_and_a_changed_one_is_found_out() {
        let run = tempfile::tempdir().expect("a folder");
        let program = HookProgram::copy_into(run.path()).expect("a copy");
        let mode = |path: &Path| path.metadata().expect("it is there").mode() & 0o777;
        assert_eq!((mode(program.path()), mode(&run.path().join("bin"))), (0o500, 0o700));
        assert!(program.is_unchanged());
        // Touched, and still the same.
        fs::set_permissions(program.path(), Permissions::from_mode(0o700)).expect("permissions");
        assert!(program.is_unchanged());
        fs::write(program.path(), "#!/bin/sh").expect("a file");
        assert!(!program.is_unchanged());
        let again = HookProgram::copy_into(run.path()).expect("a copy");
        assert!(again.is_unchanged() && again.hash == program.hash);
        fs::remove_file(again.path()).expect("it was there");
        assert!(!again.is_unchanged());
        std::os::unix::fs::symlink("/bin/true", again.path()).expect("a link");
        assert!(!again.is_unchanged());
        again.remove();
        assert_eq!(fs::read_dir(run.path()).expect("the folder").count(), 0);
    }
}
