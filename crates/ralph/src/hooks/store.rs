//! What the hooks of one conversation remember between calls: the loop it is in, how many tools were called, and
//! how full the context was when the agent was last told.
//!
//! Hooks run side by side, so each fact has a file of its own that is appended to or locked.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use ralph_sys::{
    error::Result,
    files::{MAX_TEXT_LEN, Readers, Root},
    hash::fnv,
    paths::state_dir,
};

use crate::journal::run_dir::RunDir;

/// The longest that is written about the context: a number of percent.
const MAX_LEVEL_LEN: u64 = 16;

/// There is one if a loop was cancelled by a command that waits in the host's queue.
const OBEYED: &str = "obeyed";

/// The folder of one conversation.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    path: PathBuf,
}

impl Store {
    /// Where a conversation's facts are, if there are any.
    pub(crate) fn of(session: &str) -> Result<Self> {
        Ok(Self { path: state_dir()?.join("sessions").join(key(session)) })
    }

    /// Facts that are kept in the spool of a turn instead.
    pub(crate) fn in_spool(spool: &Path, session: &str) -> Self {
        Self { path: spool.join(key(session)) }
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The run of the loop that the conversation is in.
    pub(crate) fn run(&self) -> Option<RunDir> {
        self.lines().map(|(run, _)| RunDir::at(run))
    }

    /// The project that the loop was started in.
    pub(crate) fn project(&self) -> Option<PathBuf> {
        self.lines().map(|(_, project)| project).filter(|project| project.is_absolute())
    }

    /// The paths of the run and of its project.
    fn lines(&self) -> Option<(PathBuf, PathBuf)> {
        let text = self.root().read("loop", MAX_TEXT_LEN).ok()?;
        let text = String::from_utf8(text).ok()?;
        let (run, project) = text.split_once('\n').unwrap_or((&text, ""));
        Some((PathBuf::from(run), PathBuf::from(project.trim_end_matches('\n'))))
    }

    /// Puts the conversation into a loop and starts to count.
    pub(crate) fn bind(&self, run: &RunDir, project: &Path) -> io::Result<()> {
        self.make()?;
        let _ = fs::remove_file(self.path.join("tools"));
        let _ = fs::remove_file(self.path.join(OBEYED));
        // A hook that looks at the same moment sees the old loop or the new one.
        let lines = format!("{}\n{}\n", run.path().display(), project.display());
        self.root().replace("loop", lines.as_bytes(), Readers::AsBefore)
    }

    /// Takes the conversation out of its loop, if it is still this one.
    pub(crate) fn unbind(&self, run: &RunDir) {
        if self.run().is_some_and(|bound| bound.path() == run.path()) {
            let _ = fs::remove_file(self.path.join("loop"));
            let _ = fs::remove_file(self.path.join("tools"));
        }
    }

    /// Takes the conversation out of a loop whose record cannot be read.
    pub(crate) fn give_up(&self) {
        let _ = fs::remove_file(self.path.join("loop"));
    }

    /// Takes note that the command to cancel was obeyed before the host has read it.
    pub(crate) fn expect_cancel(&self) -> io::Result<()> {
        self.root().replace(OBEYED, b"", Readers::AsBefore)
    }

    /// Whether that command is still to come; it comes once.
    pub(crate) fn take_expected_cancel(&self) -> bool {
        fs::remove_file(self.path.join(OBEYED)).is_ok()
    }

    /// Counts one tool call: a byte each, so that calls at the same moment all count.
    pub(crate) fn count_tool(&self) -> io::Result<()> {
        self.root().append("tools")?.write_all(b".")
    }

    /// How many tool calls were counted since the loop began.
    pub(crate) fn tools(&self) -> u64 {
        fs::metadata(self.path.join("tools")).map_or(0, |file| file.len())
    }

    /// Takes note that the agent is told of this level; says whether it is higher than any before.
    pub(crate) fn announce(&self, level: u8) -> io::Result<bool> {
        self.make()?;
        let mut file = self.root().append("context")?;
        file.lock()?;
        let mut told = String::new();
        (&file).take(MAX_LEVEL_LEN).read_to_string(&mut told)?;
        if told.trim().parse().is_ok_and(|told: u8| level <= told) {
            return Ok(false);
        }
        file.set_len(0)?;
        file.write_all(level.to_string().as_bytes())?;
        Ok(true)
    }

    /// Forgets what the agent was told about its context.
    pub(crate) fn rearm(&self) {
        let _ = fs::remove_file(self.path.join("context"));
    }

    fn root(&self) -> Root {
        Root::new(&self.path)
    }

    fn make(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.path)
    }
}

/// Adds a line to the log of what hooks could not do. No one is left to tell if that fails.
pub(crate) fn log(line: &str) {
    let Ok(dir) = state_dir() else { return };
    let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir);
    let path = dir.join("hooks.log");
    let is_long = fs::metadata(&path).is_ok_and(|file| MAX_LOG_LEN < file.len());
    let file =
        if is_long { File::create(path) } else { OpenOptions::new().create(true).append(true).open(path) };
    let line = format!("{:.3} {}\n", jiff::Timestamp::now(), line.replace('\n', " "));
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

const MAX_LOG_LEN: u64 = 1024 * 1024;

/// A name that is a folder's, whatever the agent calls the conversation.
fn key(session: &str) -> String {
    let is_plain = session.len() <= 100
        && !session.starts_with('.')
        && session.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char));
    if is_plain { session.to_owned() } else { format!("~{:016x}", fnv(session.as_bytes())) }
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn no_name_leaves_the_folder() {
        assert_eq!(key("0a1b-2c_3.d"), "0a1b-2c_3.d");
        for odd in ["..", ".", "../x", "a/b", "", "ü", "a\nb", &"x".repeat(200)] {
            let key = key(odd);
            assert!(odd.is_empty() || key.starts_with('~'), "{odd}: {key}");
            assert!(!key.contains('/'), "{key}");
        }
    }
}
