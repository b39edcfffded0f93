//! Puts the figures into `docs/performance.md`, with the machine and the date.

use std::{env, path::Path, process::Command, thread};

use anyhow::{Context, Result};
use jiff::Timestamp;

use super::table::Table;
use crate::{cargo::root, say};

const PAGE: &str = "docs/performance.md";
const BEGIN: &str = "<!-- figures: cargo xtask bench --save -->\n";
const END: &str = "<!-- end of figures -->";

/// Writes the figures of this program in place of those that are there.
pub(super) fn write(table: &Table, program: &Path) -> Result<()> {
    let version = Command::new(program).arg("--version").output()?;
    let version = String::from_utf8_lossy(&version.stdout);
    let path = root().join(PAGE);
    let page = fs_err::read_to_string(&path)?;
    let page = replaced(&page, &format!("{}\n\n{}", machine(version.trim()), table.markdown()))?;
    fs_err::write(&path, page)?;
    say(&format!("written: {}\n", path.display()));
    Ok(())
}

fn replaced(page: &str, figures: &str) -> Result<String> {
    let (before, rest) =
        page.split_once(BEGIN).with_context(|| format!("{PAGE} has no `{}`", BEGIN.trim()))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{PAGE} has no `{END}`"))?;
    Ok(format!("{before}{BEGIN}{figures}{END}{after}"))
}

/// When and on what it was measured.
fn machine(version: &str) -> String {
    let file = |path: &str| fs_err::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| -> String {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        line.split_once(':').map_or("unknown", |(_, value)| value.trim()).to_owned()
    };
    let processor = value(&file("/proc/cpuinfo"), "model name");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let memory = value(&file("/proc/meminfo"), "MemTotal");
    let memory: u64 = memory.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default();
    let kernel = file("/proc/sys/kernel/osrelease");
    format!(
        "Measured on {} with {version}: {processor}, {cores} cores, {} GB, {} {} ({}).",
        Timestamp::now().strftime("%Y-%m-%d"),
        (memory * 1024).div_ceil(1_000_000_000),
        env::consts::OS,
        kernel.trim(),
        env::consts::ARCH,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_take_the_place_of_older_ones() {
        let page = |figures: &str| format!("# Performance\n\n{BEGIN}{figures}{END}\n\nWhat they mean.\n");
        let once = replaced(&page(""), "new\n").expect("marks");
        assert_eq!(once, page("new\n"));
        assert_eq!(replaced(&once, "newer\n").expect("marks"), page("newer\n"));
        assert!(replaced("no marks", "new").is_err());
    }
}
