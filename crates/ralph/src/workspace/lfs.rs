//! The content of files that Git LFS keeps elsewhere: ralph itself is the filter that git calls when it writes them.
//!
//! It is copied by its hash from what the project has, and compared with that hash. Nothing is downloaded.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::seal::hex;

/// The hidden command.
pub(crate) const COMMAND: &str = "lfs-filter";

/// What a pointer begins with.
const BEGIN: &str = "version https://git-lfs.github.com/spec/v1\n";
/// No pointer is longer.
const MAX_POINTER_LEN: u64 = 1024;

/// The settings that make git call it. Names of files whose content is not there are written to `missing`.
pub(super) fn settings(objects: &Path, missing: &Path) -> io::Result<Vec<String>> {
    let ralph = std::env::current_exe()?;
    let word = |path: &Path| path.to_str().map(|path| shell_words::quote(path).into_owned());
    let words = [word(&ralph), word(objects), word(missing)].into_iter().collect::<Option<Vec<_>>>();
    let [ralph, objects, missing] = &words.unwrap_or_default()[..] else {
        return Err(io::Error::other("a path is not text"));
    };
    Ok(vec![
        format!("filter.lfs.smudge={ralph} {COMMAND} smudge {objects} {missing} %f"),
        format!("filter.lfs.clean={ralph} {COMMAND} clean {objects} {missing} %f"),
        "filter.lfs.required=true".to_owned(),
    ])
}

/// The names that were written down.
pub(super) fn missing(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// What the hidden command does: turns pointers into contents, or back.
pub(crate) fn filter(call: &FilterCall, input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    match call.kind.as_str() {
        "clean" => clean(input, output),
        _ => smudge(call, input, output),
    }
}

/// How git calls it.
#[derive(clap::Args, Debug)]
pub(crate) struct FilterCall {
    kind: String,
    objects: PathBuf,
    missing: PathBuf,
    name: String,
}

/// From the pointer to the content.
fn smudge(call: &FilterCall, input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    let mut beginning = Vec::new();
    (&mut *input).take(MAX_POINTER_LEN + 1).read_to_end(&mut beginning)?;
    let Some(pointer) = Pointer::read(&beginning) else {
        // A file that was committed as it is.
        output.write_all(&beginning)?;
        return io::copy(input, output).map(drop);
    };
    if let Some(mut content) = pointer.content(&call.objects) {
        return io::copy(&mut content, output).map(drop);
    }
    let mut log = OpenOptions::new().create(true).append(true).open(&call.missing)?;
    writeln!(log, "{}", call.name)?;
    output.write_all(&beginning)
}

/// From the content to the pointer.
fn clean(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    let mut beginning = Vec::new();
    (&mut *input).take(MAX_POINTER_LEN + 1).read_to_end(&mut beginning)?;
    if beginning.is_empty() || Pointer::read(&beginning).is_some() {
        return output.write_all(&beginning);
    }
    let (mut hash, mut size) = (Sha256::new(), beginning.len() as u64);
    hash.update(&beginning);
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match input.read(&mut chunk)? {
            0 => break,
            length => {
                hash.update(&chunk[..length]);
                size += length as u64;
            }
        }
    }
    write!(output, "{BEGIN}oid sha256:{}\nsize {size}\n", hex(&hash.finalize()))
}

/// What stands for the content.
#[derive(Debug, PartialEq, Eq)]
struct Pointer {
    id: String,
    size: u64,
}

impl Pointer {
    fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() as u64 <= MAX_POINTER_LEN)?;
        let rest = text.strip_prefix(BEGIN)?;
        let value = |key: &str| rest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        let id = value("oid")?.strip_prefix("sha256:")?;
        let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self { id: id.to_lowercase(), size: value("size")?.parse().ok()? }).filter(|_| is_id)
    }

    /// The content, if the project has it and it is what it is said to be.
    fn content(&self, objects: &Path) -> Option<File> {
        let path: PathBuf = objects.join(&self.id[..2]).join(&self.id[2..4]).join(&self.id);
        let mut file = ralph_sys::files::open(&path).ok()?;
        if file.metadata().ok()?.len() != self.size {
            return None;
        }
        let mut hash = Sha256::new();
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match file.read(&mut chunk).ok()? {
                0 => break,
                length => hash.update(&chunk[..length]),
            }
        }
        io::Seek::rewind(&mut file).ok()?;
        (hex(&hash.finalize()) == self.id).then_some(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        clean(&mut &content[..], &mut out).expect("a pointer");
        out
    }

    fn smudged(input: &[u8], objects: &Path, log: &Path) -> Vec<u8> {
        let (kind, name) = ("smudge".to_owned(), "big.bin".to_owned());
        let call = FilterCall { kind, objects: objects.to_owned(), missing: log.to_owned(), name };
        let mut out = Vec::new();
        filter(&call, &mut &input[..], &mut out).expect("content");
        out
    }

    #[test]
    fn pointers_and_contents() {
        let root = tempfile::tempdir().expect("a folder");
        let log = root.path().join("missing");
        let content = vec![7; 200_000];
        let text = pointer(&content);
        let read = Pointer::read(&text).expect("a pointer");
        assert_eq!(read.size, 200_000);
        assert_eq!(pointer(&text), text, "a pointer stays one");
        assert_eq!(pointer(b""), b"");
        let place = root.path().join(&read.id[..2]).join(&read.id[2..4]);
        std::fs::create_dir_all(&place).expect("a folder");
        std::fs::write(place.join(&read.id), &content).expect("an object");
        assert_eq!(smudged(&text, root.path(), &log), content);
        assert_eq!(smudged(&content, root.path(), &log), content, "what is no pointer is as it is");
        assert!(missing(&log).is_empty());
        // Other content of the same size is not what was committed.
        std::fs::write(place.join(&read.id), vec![8; 200_000]).expect("an object");
        assert_eq!(smudged(&text, root.path(), &log), text);
        assert_eq!(smudged(&text, Path::new("/nowhere"), &log), text);
        assert_eq!(missing(&log), ["big.bin"]);
    }

    #[test]
    fn what_is_no_pointer() {
        for text in
            ["", "x", BEGIN, "version https://git-lfs.github.com/spec/v1\noid sha256:../../etc\nsize 1\n"]
        {
            assert_eq!(Pointer::read(text.as_bytes()), None, "{text}");
        }
    }
}
