//! Since when this machine is up. What an earlier boot left behind belongs to no process.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use crate::files;

/// What tells this boot from every other.
pub fn id() -> Option<String> {
    let id = files::read_text(Path::new("/proc/sys/kernel/random/boot_id")).ok()?;
    Some(id.trim().to_owned())
}

/// When this boot began, by the clock as it is now.
pub fn began() -> Option<SystemTime> {
    began_in(&files::read_text(Path::new("/proc/stat")).ok()?)
}

fn began_in(stat: &str) -> Option<SystemTime> {
    let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_when_it_began() {
        let stat = "cpu 1 2 3\nctxt 7\nbtime 1700000000\nprocesses 12\n";
        assert_eq!(began_in(stat), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)));
        assert_eq!(began_in("cpu 1\n"), None);
        assert_eq!(began_in("btime soon\n"), None);
    }

    #[test]
    fn this_boot_has_begun() {
        assert!(began().is_some_and(|began| began < SystemTime::now()));
        assert_eq!(id().map(|id| id.len()), Some("00000000-0000-0000-0000-000000000000".len()));
    }
}
