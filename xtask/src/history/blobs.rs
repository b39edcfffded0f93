//! Contents of a repository, asked of one git that stays.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use anyhow::{Context, Result};

/// Longer files are no tests.
const MAX_LEN: usize = 2 * 1024 * 1024;

/// A `git cat-file` that answers.
pub(super) struct Blobs {
    git: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Blobs {
    pub(super) fn open(repository: &Path) -> Result<Self> {
        let mut command = Command::new("git");
        command.arg("-C").arg(repository).args(["--no-replace-objects", "cat-file", "--batch"]);
        let mut git =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start git")?;
        let questions = git.stdin.take();
        let answers = BufReader::new(git.stdout.take().context("git has no output")?);
        Ok(Self { git, questions, answers })
    }

    /// The text of an object; nothing if there is none, or if it is no text.
    pub(super) fn text(&mut self, id: &str) -> Result<Option<String>> {
        if id.bytes().all(|digit| digit == b'0') {
            return Ok(None);
        }
        writeln!(self.questions.as_mut().context("git has no input")?, "{id}")?;
        let mut head = String::new();
        self.answers.read_line(&mut head)?;
        let mut words = head.split_whitespace().skip(1);
        let (Some("blob"), Some(Ok(length))) = (words.next(), words.next().map(str::parse::<usize>)) else {
            return Ok(None);
        };
        let mut bytes = vec![0; length + 1];
        self.answers.read_exact(&mut bytes)?;
        bytes.truncate(length);
        Ok(String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_LEN))
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // It ends when no one asks any more.
        drop(self.questions.take());
        let _ = self.git.wait();
    }
}
