//! Whether the disk has room for what the checks build. A linker that runs out of it half an hour later says so in a
//! way that no one understands.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::{cargo::target_dir, dist::HOST, say};

const GIB: u64 = 1 << 30;
/// What a folder that has built nothing yet must have room for.
const MIN_FREE_COLD: u64 = 10 * GIB;
/// The same where most of it is built: the new builds lie beside the old ones.
const MIN_FREE_WARM: u64 = 4 * GIB;
/// With less than this, what the tests were built into goes before what is shipped is built.
const MIN_FREE_TO_KEEP: u64 = 5 * GIB;

/// Fails with one sentence where the disk is too full to begin.
pub(super) fn ensure_enough() -> Result<()> {
    let target = target_dir();
    fs_err::create_dir_all(&target)?;
    let is_warm = tests(&target).join("deps").is_dir();
    enough(free(&target)?, is_warm, &target)
}

fn enough(free: u64, is_warm: bool, target: &Path) -> Result<()> {
    let needed = if is_warm { MIN_FREE_WARM } else { MIN_FREE_COLD };
    ensure!(
        needed <= free,
        "the disk of `{}` has {} free, and the checks need {}\nhint: make room, or set CARGO_TARGET_DIR to a folder on another disk",
        target.display(),
        gib(free),
        gib(needed)
    );
    Ok(())
}

/// Removes what only the tests needed, where the rest of the checks may not have room beside it.
pub(super) fn make_room() -> Result<()> {
    let target = target_dir();
    let before = free(&target)?;
    if MIN_FREE_TO_KEEP <= before {
        return Ok(());
    }
    for folder in [tests(&target), target.join(HOST).join("doc"), target.join("doc")] {
        if folder.exists() {
            fs_err::remove_dir_all(&folder)?;
        }
    }
    say(&format!("the disk had {} free: removed what the tests were built into\n", gib(before)));
    Ok(())
}

/// Where tests are built. Build scripts and procedural macros are elsewhere, and other targets use them too.
fn tests(target: &Path) -> std::path::PathBuf {
    target.join(HOST).join("debug")
}

fn free(folder: &Path) -> Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn gib(bytes: u64) -> String {
    format!("{}.{} GiB", bytes / GIB, bytes % GIB * 10 / GIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_before_anything_is_built() {
        let target = Path::new("/somewhere/target");
        assert!(enough(10 * GIB, false, target).is_ok());
        assert!(enough(4 * GIB, true, target).is_ok());
        let error = enough(GIB * 7 / 2, true, target).expect_err("too little").to_string();
        assert!(
            error.starts_with(
                "the disk of `/somewhere/target` has 3.5 GiB free, and the checks need 4.0 GiB\nhint:"
            ),
            "{error}"
        );
        assert!(enough(9 * GIB, false, target).is_err());
    }

    #[test]
    fn a_folder_has_free_space() {
        assert!(free(Path::new("/")).expect("a disk") < u64::MAX);
    }
}
