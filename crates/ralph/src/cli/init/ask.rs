//! Questions on the terminal and the answers to them.

use std::io::{self, BufRead, StdinLock, Write, stderr};

use ralph_sys::error::{Error, Result};

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// No one is there to answer any more.
    Gone,
    /// The terminal does not work.
    Broken(Error),
}

impl From<io::Error> for NoAnswer {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.into())
    }
}

pub(super) type Answer<T> = std::result::Result<T, NoAnswer>;

/// What Enter alone means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Default {
    Yes,
    No,
}

/// The person who answers. Questions are talk, so they stand on standard error.
pub(super) struct Terminal {
    answers: StdinLock<'static>,
}

impl Terminal {
    pub(super) fn new() -> Self {
        Self { answers: io::stdin().lock() }
    }

    /// Asks until the answer can be read.
    pub(super) fn ask<T>(
        &mut self,
        question: &str,
        mut read: impl FnMut(&str) -> std::result::Result<T, String>,
    ) -> Answer<T> {
        loop {
            let mut err = stderr().lock();
            write!(err, "{question}")?;
            err.flush()?;
            drop(err);
            match self.line()?.and_then(|line| read(line.trim())) {
                Ok(answer) => return Ok(answer),
                Err(why) => writeln!(stderr().lock(), "{why}")?,
            }
        }
    }

    /// Asks for yes or no.
    pub(super) fn confirm(&mut self, question: &str, default: Default) -> Answer<bool> {
        self.ask(question, |answer| match answer.to_lowercase().as_str() {
            "" => Ok(default == Default::Yes),
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("Please answer y or n.".to_owned()),
        })
    }

    /// The next line, or why it is none. A line that was not finished with Enter is no answer.
    fn line(&mut self) -> Answer<std::result::Result<String, String>> {
        let mut bytes = Vec::new();
        self.answers.read_until(b'\n', &mut bytes)?;
        if bytes.pop() != Some(b'\n') {
            return Err(NoAnswer::Gone);
        }
        let line = String::from_utf8(bytes).ok().filter(|line| !line.trim().contains(char::is_control));
        Ok(line.ok_or_else(|| "That has characters that are no text; please type it again.".to_owned()))
    }
}

/// Says something to the person who answers.
pub(super) fn say(text: &str) -> Result<()> {
    Ok(writeln!(stderr().lock(), "{text}")?)
}
