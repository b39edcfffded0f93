//! Descriptors as `/proc` shows them, of this process and of those that read what it prints or record its terminal.

use std::{
    collections::BTreeSet,
    fs::FileType,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use super::PrintedInto;
use crate::process::table::{Source, ancestry};

/// Through so many pipes one after another.
const MAX_PIPES: usize = 4;
/// Programs that keep what is shown in a terminal which they have made.
const RECORDERS: [&str; 5] = ["script", "screen", "asciinema", "ttyrec", "expect"];
/// The bits of a descriptor's flags that say that it can be written to.
const WRITABLE: u32 = 0b11;

/// The files, as far as they can be seen.
pub(super) fn printed_into() -> PrintedInto {
    let mut found = Found::default();
    for number in [1, 2] {
        found.take(Path::new("/proc/self/fd").join(number.to_string()).as_path());
    }
    if found.is_terminal {
        for pid in ancestry().into_iter().skip(1).filter(|pid| is_recorder(*pid)) {
            found.take_written_by(pid);
        }
    }
    let is_settled = found.pipes.is_empty();
    for _ in 0..MAX_PIPES {
        let pipes = std::mem::take(&mut found.pipes);
        if pipes.is_empty() {
            break;
        }
        let readers = Source::Procfs.all().into_iter().map(|process| process.pid).filter(|pid| {
            fs_err::read_link(format!("/proc/{pid}/fd/0")).is_ok_and(|input| pipes.contains(&input))
        });
        for pid in readers {
            found.take_written_by(pid);
        }
    }
    PrintedInto { files: found.files, is_settled }
}

fn is_recorder(pid: i32) -> bool {
    let name = fs_err::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    RECORDERS.contains(&name.trim_end())
}

#[derive(Default)]
struct Found {
    files: BTreeSet<PathBuf>,
    /// As `/proc` names them.
    pipes: BTreeSet<PathBuf>,
    is_terminal: bool,
}

impl Found {
    /// Takes what a descriptor leads to.
    fn take(&mut self, descriptor: &Path) {
        let (Ok(leads_to), Ok(it)) = (fs_err::read_link(descriptor), fs_err::metadata(descriptor)) else {
            return;
        };
        let kind: FileType = it.file_type();
        if kind.is_fifo() {
            self.pipes.insert(leads_to);
        } else if kind.is_file() {
            self.files.insert(leads_to);
        } else if kind.is_char_device() {
            self.is_terminal |= leads_to.starts_with("/dev/pts");
        }
    }

    /// Takes what a process can write to.
    fn take_written_by(&mut self, pid: i32) {
        let open = fs_err::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for descriptor in open.filter(|it| is_writable(pid, &it.file_name().to_string_lossy())) {
            self.take(&descriptor.path());
        }
    }
}

fn is_writable(pid: i32, descriptor: &str) -> bool {
    let info = fs_err::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & WRITABLE != 0)
}
