//! `ralph job` inside a sandbox: the ralph outside starts the run, and this process shows what it says.

use std::{
    env,
    fs::File,
    io::{self, Read, Write},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use clap::CommandFactory;
use ralph_core::{job_request::JobRequest, setup::PromptSource};
use ralph_sandbox::spool;
use ralph_sys::error::{Error, Result};

use super::JobArgs;
use crate::{
    cli::{Cli, print},
    journal::{self, run_dir::JOURNAL},
    settings::flags::LoopFlags,
    tasks::{
        Task,
        child::{LOG, OUTPUT},
        record::Status,
        store, surroundings,
    },
};

/// Between two looks at a run.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a run may take to come to its journal.
const JOURNAL_TIMEOUT: Duration = Duration::from_secs(10);

/// Has the run started outside; waits for its end unless it is not to.
pub(super) fn ask(args: &JobArgs, task: &Task, prompt: &PromptSource) -> Result<u8> {
    if surroundings().is_none_or(|(_, own)| own.id != task.id) {
        return Err(Error::new(format!(
            "inside a sandbox a run can only be a part of the caller's own task, not of `{}`",
            task.id
        ))
        .hint("leave out --task, or ask on the bus: ralph bus post --project --type INFO --body \"...\""));
    }
    let prompt = match prompt {
        PromptSource::Text(text) => text.clone(),
        PromptSource::File(path) | PromptSource::Template(path) => {
            let text = fs_err::read(path).map_err(|error| {
                Error::new(format!("cannot read the prompt file `{}`: {error}", path.display()))
            })?;
            String::from_utf8_lossy(&text).into_owned()
        }
    };
    args.common.refuse_inside()?;
    let run = spool::ask(&JobRequest { prompt, flags: typed() })?;
    if args.detach {
        print(&format!("{run}\n"))?;
        return Ok(0);
    }
    follow(task, &run)
}

/// The flags of this call, as the ralph outside may be given them.
fn typed() -> Vec<String> {
    let whole = Cli::command().get_matches_from(env::args_os());
    let words = whole.subcommand().map(|(_, typed)| LoopFlags::words(typed)).unwrap_or_default();
    // Nothing else comes through: clap reads their values as texts and numbers.
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Shows what a run says until it has ended; returns its exit code.
fn follow(task: &Task, run: &str) -> Result<u8> {
    let folder = task.run_folder(run);
    let (mut out, mut log) = (Tail::new(task, &folder.join(OUTPUT)), Tail::new(task, &folder.join(LOG)));
    let started = Instant::now();
    loop {
        let ended = end(task, run, started.elapsed());
        out.pass_on(&mut io::stdout())?;
        log.pass_on(&mut io::stderr())?;
        match ended {
            Some(Ended::WithCode(code)) => return Ok(code),
            Some(Ended::WithoutAWord) => {
                return Err(Error::new(format!("run {run} ended without saying how"))
                    .hint(format!("see what it did: ralph logs {run}")));
            }
            None => thread::sleep(POLL_INTERVAL),
        }
    }
}

enum Ended {
    WithCode(u8),
    WithoutAWord,
}

/// How a run ended, if it has. Its process is not to be seen from here, but the lock on its journal is.
fn end(task: &Task, run: &str, after: Duration) -> Option<Ended> {
    let record = || store::one(task, run);
    if record().is_some_and(|record| journal::is_running(&record.paths.record.join(JOURNAL))) {
        return None;
    }
    // Read again: its last change was made while it still had its journal.
    match record() {
        Some(record) if record.status != Status::Running => {
            Some(record.exit_code.map_or(Ended::WithoutAWord, Ended::WithCode))
        }
        // It may not have come to its journal yet.
        _ => (JOURNAL_TIMEOUT < after).then_some(Ended::WithoutAWord),
    }
}

/// A file that grows.
struct Tail {
    file: Option<File>,
}

impl Tail {
    fn new(task: &Task, path: &Path) -> Self {
        Self { file: task.files().open(path).ok() }
    }

    fn pass_on(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        to.write_all(&bytes)?;
        to.flush()
    }
}
