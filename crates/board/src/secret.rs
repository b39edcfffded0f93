//! Files that only their owner can read.

use std::{
    io::Write,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::Path,
};

use fs_err::{OpenOptions, os::unix::fs::OpenOptionsExt};
use ralph_sys::error::{Context, Error, Result};

/// Makes a folder that only its owner can enter.
pub fn make_dir(dir: &Path) -> Result<()> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.context(format!("cannot make {}", dir.display()))
}

/// Writes a file that only its owner can read.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    Ok(())
}

/// Reads a secret from a file that no one else can read.
pub fn read(path: &Path) -> Result<String> {
    let mode = fs_err::metadata(path)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Error::new(format_args!(
            "others can read the key in {} (mode {mode:o})",
            path.display()
        ))
        .hint(format!("chmod 600 {}", path.display())));
    }
    Ok(fs_err::read_to_string(path)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let temp = tempfile::tempdir().expect("a folder");
        let path = temp.path().join("seed");
        write(&path, "hunter2\n").expect("written");
        assert_eq!(read(&path).expect("read"), "hunter2");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
        let error = read(&path).expect_err("refused");
        assert_eq!(error.to_string(), format!("others can read the key in {} (mode 640)", path.display()));
        assert_eq!(error.hints(), [format!("chmod 600 {}", path.display())]);
        // It was there before, for everybody: not after this.
        write(&path, "new").expect("written");
        assert_eq!(read(&path).expect("read"), "new");
    }
}
