//! The message bus: a file that many processes append to and anyone may read.
//!
//! Invariant: a message is one `write` at the end of the file, made under a lock, so no two messages mix. A
//! message that a full disk cut off is taken back; one that was torn otherwise is passed over.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::{Timestamp, tz::TimeZone};
use ralph_core::message::{self, Message};
use ralph_sys::{
    error::{Context, Error, Result},
    file_lock,
    files::Root,
    process::mark::chance,
};

/// How long others may keep the bus to themselves.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest bus that is read into memory.
const MAX_LEN: u64 = 256 * 1024 * 1024;

/// A message to post.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) kind: String,
    pub(crate) task: Option<String>,
    pub(crate) run: Option<String>,
    /// A message with the key of an earlier one about the same task is not posted again.
    pub(crate) key: Option<String>,
    pub(crate) body: String,
}

/// One bus.
#[derive(Clone, Debug)]
pub(crate) struct Bus {
    path: PathBuf,
    project: Root,
}

impl Bus {
    /// The bus at this path in a project.
    pub(crate) fn at(project: &Path, path: PathBuf) -> Self {
        Self { path, project: Root::new(project) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a message; returns it, or nothing if it had been posted before.
    pub(crate) fn post(&self, draft: Draft) -> Result<Option<Message>> {
        let mut file = self.opened(self.project.append(&self.path))?;
        self.lock(&file)?;
        if draft.key.is_some() && self.has_key(&mut file, &draft)? {
            return Ok(None);
        }
        let Draft { kind, task, run, key, body } = draft;
        // Made under the lock, so that ids are in the order of the messages.
        let at = Timestamp::now();
        let mut id = new_id(at);
        while body.contains(&id) {
            id = new_id(at);
        }
        let at = at.round(jiff::Unit::Millisecond).unwrap_or(at);
        let message = Message { id, at, kind, task, run, key, body };
        append(&mut file, &message.format())
            .context(format!("cannot post a message to {}", self.path.display()))?;
        Ok(Some(message))
    }

    /// The whole messages from a position on, and where the last of them ends.
    pub(crate) fn read_from(&self, position: u64) -> Result<(Vec<Message>, u64)> {
        let mut file = match self.project.open(&self.path) {
            // Not asked again: another process may have made it in between.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
            opened => self.opened(opened)?,
        };
        // A file that has become shorter is another file.
        let position = if file.metadata()?.len() < position { 0 } else { position };
        file.seek(SeekFrom::Start(position))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).context(format!("cannot read {}", self.path.display()))?;
        let parsed = message::parse(&bytes);
        Ok((parsed.messages, position + parsed.end as u64))
    }

    /// How long the file is.
    pub(crate) fn length(&self) -> u64 {
        std::fs::symlink_metadata(&self.path).map_or(0, |file| file.len())
    }

    fn has_key(&self, file: &mut File, draft: &Draft) -> Result<bool> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes).context(format!("cannot read {}", self.path.display()))?;
        let messages = message::parse(&bytes).messages;
        Ok(messages.iter().any(|message| message.key == draft.key && message.task == draft.task))
    }

    /// Says what stands in the place of a bus that could not be opened.
    fn opened(&self, file: io::Result<File>) -> Result<File> {
        let error = match file {
            Ok(file) if MAX_LEN < file.metadata()?.len() => {
                let path = self.path.display();
                return Err(Error::new(format!("the bus {path} is longer than {} MiB", MAX_LEN >> 20))
                    .hint("move it away, and ralph begins another"));
            }
            Ok(file) => return Ok(file),
            Err(error) => error,
        };
        let kind = std::fs::symlink_metadata(&self.path).map(|it| it.file_type()).ok();
        Err(match kind {
            Some(kind) if kind.is_symlink() => refusal(&self.path, "a symbolic link"),
            Some(kind) if kind.is_dir() => refusal(&self.path, "a directory"),
            Some(kind) if !kind.is_file() => refusal(&self.path, "no regular file"),
            _ => return Err(error).context(format!("cannot open {}", self.path.display())),
        })
    }

    /// Takes the bus, which is given back when the file is closed.
    fn lock(&self, file: &File) -> Result<()> {
        let path = self.path.display();
        match file_lock::take_within(file, LOCK_TIMEOUT) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let seconds = LOCK_TIMEOUT.as_secs();
                Err(Error::new(format!("the bus {path} was locked by others for {seconds} s")))
            }
            other => other.context(format!("cannot lock {path}")),
        }
    }
}

/// Writes the text at the end in one go. If only a part of it fits onto the disk, nothing stays.
fn append(file: &mut File, text: &str) -> io::Result<()> {
    let before = file.metadata()?.len();
    // What an interrupted writer left is no beginning of a line.
    let text = if ends_line(file, before)? { text.to_owned() } else { format!("\n{text}") };
    let written = loop {
        match file.write(text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if written == text.len() {
        return Ok(());
    }
    // Only if no process without the lock has appended meanwhile.
    if file.metadata()?.len() == before + written as u64 {
        file.set_len(before)?;
    }
    Err(io::ErrorKind::StorageFull.into())
}

fn ends_line(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn refusal(path: &Path, what: &str) -> Error {
    Error::new(format!("the bus {} is {what}", path.display()))
        .hint("it must be a plain file; remove what is there, and ralph makes one")
}

/// The moment in UTC and 48 bits of chance.
fn new_id(at: Timestamp) -> String {
    let moment = at.to_zoned(TimeZone::UTC);
    format!("{}-{:03}-{:012x}", moment.strftime("%Y%m%d-%H%M%S"), moment.millisecond(), chance() >> 16)
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;

    #[test]
    fn a_bus_that_is_made_while_it_is_read_is_no_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("BUS.md");
        let bus = Bus::at(folder.path(), path.clone());
        thread::scope(|scope| {
            let maker = scope.spawn(|| {
                for _ in 0..2_000 {
                    fs::write(&path, "").expect("made");
                    fs::remove_file(&path).expect("removed");
                }
            });
            while !maker.is_finished() {
                let (messages, position) = bus.read_from(0).expect("it can be read");
                assert_eq!((messages.len(), position), (0, 0));
            }
        });
    }
}
