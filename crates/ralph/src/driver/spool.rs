//! Starts the runs that an agent inside a sandbox asks for: inside it cannot start any that outlive its turn.
//!
//! A caller leaves its request in a folder of the turn that can be written inside, and its name in a pipe there. The
//! answer is left where only ralph writes. Nothing in that folder is followed or trusted.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use ralph_core::job_request::{Answer, JobRequest, MAX_REQUEST_LEN, is_name};
use ralph_sandbox::spool::{ANSWERS, FOLDER, PIPE};
use ralph_sys::{
    error::{Error, Result},
    files::{Readers, Root, make_pipe},
};

use crate::{
    journal::run_dir::record,
    settings::flags::LoopFlags,
    tasks::{Task, child, registration::short_title, reporter::others_running, store},
};

/// The name that is no request: the turn is over.
const END: &[u8] = b".\n";
/// The longest name, with what ends it.
const MAX_NAME_LEN: u64 = 128;
/// As many runs may work on a task while one inside a sandbox asks for another.
const MAX_RUNS: usize = 32;

/// The folder of a turn, and who looks after it.
pub(super) struct Spool {
    folder: PathBuf,
    pipe: File,
    clerk: JoinHandle<()>,
}

/// Whose requests they are.
pub(super) struct Caller {
    pub(super) project: PathBuf,
    pub(super) task: Task,
    pub(super) run: String,
    /// The agent's command.
    pub(super) agent: String,
}

impl Spool {
    /// Opens the spool in the folder of a turn.
    pub(super) fn open(turn: &Path, caller: Caller) -> io::Result<Self> {
        let (folder, answers) = (turn.join(FOLDER), turn.join(ANSWERS));
        fs_err::create_dir_all(&folder)?;
        fs_err::create_dir_all(&answers)?;
        let place = folder.join(PIPE);
        match make_pipe(&place) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // For both, so that there is always a reader and the end never comes by itself.
        let pipe = OpenOptions::new().read(true).write(true).open(&place)?;
        let (names, requests) = (pipe.try_clone()?, folder.clone());
        let clerk = thread::Builder::new()
            .name("spool".to_owned())
            .spawn(move || caller.attend(BufReader::new(names), &requests, &answers))?;
        Ok(Self { folder, pipe, clerk })
    }

    /// Where callers leave their requests.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Answers what was asked in time, and no more.
    pub(super) fn close(mut self) {
        if self.pipe.write_all(END).is_ok() {
            // One that panicked has nothing more to say.
            let _ = self.clerk.join();
        }
    }
}

impl Caller {
    fn attend(&self, mut names: impl BufRead, requests: &Path, answers: &Path) {
        let mut line = Vec::new();
        loop {
            line.clear();
            match names.by_ref().take(MAX_NAME_LEN).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line == END => return,
                Ok(_) => {}
            }
            let name = String::from_utf8_lossy(&line);
            let name = name.trim_end();
            if !is_name(name) {
                continue;
            }
            let answer = match self.begin(requests, name) {
                Ok(run) => Answer::Began { run },
                Err(error) => Answer::Refused { why: error.to_string() },
            };
            // The process that waits in vain says so.
            let _ = serde_json::to_vec(&answer)
                .map_err(io::Error::from)
                .and_then(|text| Root::new(answers).replace(name, &text, Readers::Owner));
        }
    }

    /// Begins what a request asks for, inside of a sandbox like the caller's.
    fn begin(&self, requests: &Path, name: &str) -> Result<String> {
        let Self { project, task, run, agent } = self;
        let request = read(requests, name)?;
        if request.prompt.trim().is_empty() {
            return Err(Error::new("the prompt is empty"));
        }
        let flags = LoopFlags::words_of_caller(&request.flags, agent).map_err(Error::new)?;
        if MAX_RUNS <= others_running(&store::all(task), run).len() {
            return Err(Error::new(format!("{MAX_RUNS} runs are at work on this task already"))
                .hint("wait until one of them has ended"));
        }
        let child = child::register(project, task, Some(run.clone()), short_title(&request.prompt))?;
        let prompt = child.path().join("request.md");
        record(&prompt, request.prompt.as_bytes())?;
        let id = child.id();
        let fixed: [OsString; 10] = [
            "-C".into(),
            project.into(),
            ralph_core::engine::presets::JOB.into(),
            "--task".into(),
            task.id.clone().into(),
            "--as".into(),
            id.clone().into(),
            "--of".into(),
            run.into(),
            "--prompt-file".into(),
        ];
        let words: Vec<OsString> = fixed.into_iter().chain([prompt.into()]).chain(flags).collect();
        child::start_beside(task, &id, &words, child::Logs::Apart)?;
        Ok(id)
    }
}

/// A request that is a plain file: a link could lead to what the caller must not see, a pipe could hold ralph.
fn read(requests: &Path, name: &str) -> Result<JobRequest> {
    let text = Root::new(requests).read(name, MAX_REQUEST_LEN);
    let request = text.and_then(|text| Ok(serde_json::from_slice(&text)?));
    request.map_err(|error| {
        Error::new(format!("ralph outside of the sandbox does not understand the request: {error}"))
    })
}
