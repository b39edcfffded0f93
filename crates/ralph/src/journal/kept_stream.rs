//! What is kept of what a process prints: without keys, and not without end.
//!
//! Invariant: a stream that is longer than what is kept of it says so in its last line.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use ralph_core::key_mask::KeyMask;
use ralph_sys::{
    files::{self, Readers, Root},
    process::Filter,
};

/// The most that is kept of a stream of a turn.
const MAX_KEPT_LEN: u64 = 1024 * 1024 * 1024;

/// How much of a file is looked at at once.
const CHUNK: usize = 256 * 1024;

/// A file of the record that takes no more than so much.
pub(crate) struct KeptStream {
    file: File,
    left: u64,
}

impl KeptStream {
    /// Keeps a stream in this file.
    pub(crate) fn new(file: File) -> Self {
        Self::within(file, MAX_KEPT_LEN)
    }

    fn within(file: File, most: u64) -> Self {
        Self { file, left: most }
    }

    /// The same as what a process prints into.
    pub(crate) fn boxed(file: File) -> Box<dyn Write + Send> {
        Box::new(Self::new(file))
    }
}

impl Write for KeptStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(bytes.len());
        }
        let kept = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        self.file.write_all(&bytes[..kept])?;
        self.left -= kept as u64;
        if kept < bytes.len() {
            self.left = 0;
            self.file.write_all(b"\nralph: the rest was not kept: a turn's record has an upper limit\n")?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Takes keys out of what a process prints, before anyone sees or keeps it.
pub(crate) fn without_keys() -> Box<dyn Filter> {
    Box::new(WithoutKeys::default())
}

#[derive(Default)]
struct WithoutKeys(KeyMask);

impl Filter for WithoutKeys {
    fn push(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        self.0.push(bytes)
    }

    fn finish(&mut self) -> Vec<u8> {
        self.0.finish()
    }
}

/// Takes the keys out of a file of the record that a process has printed into.
pub(crate) fn mask_file(path: &Path) -> io::Result<()> {
    // Most have none, and stay as they are.
    if !pass(path, &mut io::sink())? {
        return Ok(());
    }
    let root = Root::new(path.parent().unwrap_or(path));
    root.replace_with(path, Readers::Owner, |to| pass(path, to).map(drop))
}

/// Writes what a file has without its keys; says whether it has any.
fn pass(path: &Path, to: &mut dyn Write) -> io::Result<bool> {
    let mut file = files::open(path)?;
    let mut mask = KeyMask::default();
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        let length = (&mut file).take(CHUNK as u64).read_to_end(&mut chunk)?;
        if length == 0 {
            to.write_all(&mask.finish())?;
            return Ok(mask.has_masked());
        }
        to.write_all(&mask.push(chunk))?;
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use ralph_sys::process::{Control, ProcessEvent, Sink, Spec, Supervisor};

    use super::*;

    #[test]
    fn a_stream_without_end_is_kept_in_part_and_without_keys() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("stream");
        let file = File::create(&path).expect("a file");
        let script = "printf 'key ghp_'; printf '%036d\\n' 7; head -c 5000 /dev/zero | tr '\\0' x";
        let copy: Box<dyn Write + Send> = Box::new(KeptStream::within(file, 1000));
        let spec = Spec::shell(script, folder.path())
            .prints(Sink::Pipe { copy: Some(copy) }, Sink::Null)
            .filtered(without_keys);
        let mut heard = Vec::new();
        let mut supervisor = Supervisor::new().expect("signals");
        let ended = supervisor.run(spec, &mut |event| {
            if let ProcessEvent::Output(_, bytes) = event {
                heard.extend_from_slice(bytes);
            }
            Control::Something
        });
        ended.expect("there is a shell");
        let expected = format!("key ghp_***\n{}", "x".repeat(5000));
        assert_eq!(String::from_utf8_lossy(&heard), expected, "a listener hears all of it");
        let kept = std::fs::read_to_string(&path).expect("a file");
        let (beginning, said) = kept.split_at(1000);
        assert_eq!(beginning, &expected[..1000]);
        assert_eq!(said, "\nralph: the rest was not kept: a turn's record has an upper limit\n");
    }

    #[test]
    fn a_log_loses_its_keys_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let far = "x".repeat(CHUNK - 20);
        std::fs::write(&path, format!("{far}{key}\nend\n")).expect("a file");
        mask_file(&path).expect("it can be masked");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), format!("{far}ghp_***\nend\n"));
        assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    }
}
