//! What stops ralph itself, and the exit code for it.
//!
//! A failing agent, gate or commit is data, not an error: see `ralph-core`'s `engine::outcome`, which has the exit
//! codes of runs. An [`Error`] means that ralph cannot go on.

use std::fmt;

/// The exit codes, for `--help` and the documentation.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    complete; also: plan and build at the iteration limit
  1    a limit was reached without completion: iterations, time, cost, tokens
  2    configuration, usage or prerequisite error; nothing was run
  3    guardrails kept failing beyond the retries
  4    the agent kept failing beyond the retries
  5    git or another SCM command failed beyond the retries
  6    stopped: a person has to do something first
  7    done as far as the checks go, with findings: look, then ralph accept or reject
  130  interrupted by SIGINT or SIGTERM";

/// Nothing was run.
pub const REFUSED: u8 = 2;
/// The guard would not let a command run, or judges a corpus too badly.
pub const BLOCKED: u8 = 1;
/// A guardrail failed.
pub const GUARDRAIL_FAILED: u8 = 3;
/// Something outside must change before ralph can say anything.
pub const NOT_JUDGED: u8 = 6;
/// A receipt does not hold.
pub const DOES_NOT_HOLD: u8 = 1;
/// Whether a receipt holds cannot be told.
pub const CANNOT_TELL: u8 = 2;
/// Interrupted by a signal.
pub const INTERRUPTED: u8 = 130;

/// Why ralph cannot go on, with what to type next.
#[derive(Debug)]
pub struct Error {
    source: anyhow::Error,
    hints: Vec<String>,
}

/// What ralph does, unless it cannot go on.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error in words.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { source: anyhow::anyhow!("{message}"), hints: Vec::new() }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What the user can do about it.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Whether the reader of ralph's output has gone, which is no error to talk about.
    pub fn is_broken_pipe(&self) -> bool {
        self.source.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#}", self.source)
    }
}

impl<E: Into<anyhow::Error>> From<E> for Error {
    fn from(source: E) -> Self {
        Self { source: source.into(), hints: Vec::new() }
    }
}

/// Adds words to an error.
pub trait Context<T> {
    /// Says what was being done.
    fn context(self, message: impl fmt::Display + Send + Sync + 'static) -> Result<T>;
}

impl<T, E: Into<anyhow::Error>> Context<T> for std::result::Result<T, E> {
    fn context(self, message: impl fmt::Display + Send + Sync + 'static) -> Result<T> {
        self.map_err(|error| Error { source: error.into().context(message), hints: Vec::new() })
    }
}
