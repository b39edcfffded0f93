//! The way of a request from a process inside to the ralph outside.

use std::{
    env,
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use ralph_core::job_request::{Answer, JobRequest};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{Readers, Root},
    process::detach::own_pid,
};

/// Names the folder for processes inside.
pub const VARIABLE: &str = "RALPH_SPOOL";
/// That folder, in the folder of a turn.
pub const FOLDER: &str = "spool";
/// Where answers are, in the folder of a turn. No process inside writes there.
pub const ANSWERS: &str = "answers";
/// Where names of requests are written, in the spool.
pub const PIPE: &str = "requests";

/// How long the ralph outside may take: a run has 20 seconds to begin, and others may have asked before.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Asks for a run; returns its id once it has begun.
pub fn ask(request: &JobRequest) -> Result<String> {
    let folder = env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join(PIPE).exists()).ok_or_else(unheard)?;
    let name = name();
    Root::new(&folder)
        .replace(&name, &serde_json::to_vec(request)?, Readers::Owner)
        .context("cannot ask for a run")?;
    tell(&folder.join(PIPE), &name).map_err(|_| unheard())?;
    let answer = folder.parent().unwrap_or(&folder).join(ANSWERS).join(&name);
    match read(&answer)? {
        Answer::Began { run } => Ok(run),
        Answer::Refused { why } => Err(Error::new(why)),
    }
}

fn unheard() -> Error {
    Error::new("no ralph outside of this sandbox starts runs for this turn").hint(
        "do this part yourself, or leave it to the next turn: ralph bus post --type INFO --body \"...\"",
    )
}

fn name() -> String {
    // Processes inside have numbers of their own, so the time must tell apart those of two turns' leftovers.
    let now = jiff::Timestamp::now().as_nanosecond();
    format!("{}-{now}", own_pid())
}

fn tell(pipe: &Path, name: &str) -> io::Result<()> {
    // Without a reader this fails, where it would otherwise wait for one.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut pipe = OpenOptions::new().write(true).custom_flags(flags).open(pipe)?;
    pipe.write_all(format!("{name}\n").as_bytes())
}

fn read(answer: &Path) -> Result<Answer> {
    let started = Instant::now();
    while started.elapsed() < ANSWER_TIMEOUT {
        match std::fs::read(answer) {
            Ok(text) => return serde_json::from_slice(&text).context("the answer is damaged"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(error).context("cannot read the answer"),
        }
    }
    Err(unheard())
}
