//! What lanes print, side by side: whole lines, each with the name of its lane.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

/// As much as is read at once from one lane, so that none keeps the others waiting.
const MAX_CHUNK_LEN: u64 = 64 * 1024;

/// The logs of lanes, and how far each was shown.
#[derive(Default)]
pub(super) struct Tail {
    logs: BTreeMap<PathBuf, (u64, Vec<u8>)>,
}

impl Tail {
    /// What is in a log already was shown before.
    pub(super) fn skip(&mut self, log: PathBuf) {
        let length = log.metadata().map_or(0, |metadata| metadata.len());
        self.logs.entry(log).or_insert((length, Vec::new()));
    }

    /// The lines that are whole by now.
    pub(super) fn lines(&mut self, log: &Path) -> Vec<String> {
        let (position, rest) = self.logs.entry(log.to_owned()).or_default();
        let mut bytes = Vec::new();
        let read = File::open(log).and_then(|mut file| {
            file.seek(SeekFrom::Start(*position))?;
            file.take(MAX_CHUNK_LEN).read_to_end(&mut bytes)
        });
        *position += read.unwrap_or_default() as u64;
        rest.extend(bytes);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let whole: Vec<u8> = rest.drain(..=end).collect();
        let lines = whole.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned());
        lines.filter(|line| !line.trim().is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_whole_lines_are_shown_and_each_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("lane-1.log");
        let mut tail = Tail::default();
        assert!(tail.lines(&log).is_empty());
        let mut file = File::create(&log).expect("a file");
        file.write_all(b"one\ntw").expect("it is written");
        assert_eq!(tail.lines(&log), ["one"]);
        file.write_all(b"o\n\nthree\n").expect("it is written");
        assert_eq!(tail.lines(&log), ["two", "three"]);
        assert!(tail.lines(&log).is_empty());
        let mut later = Tail::default();
        later.skip(log.clone());
        assert!(later.lines(&log).is_empty());
    }
}
