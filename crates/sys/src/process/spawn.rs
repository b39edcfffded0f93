//! Starts one process in a session of its own, with a thread that reports what it prints and when it ends.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::ExitStatusExt},
    },
    process::ExitStatus,
    sync::mpsc::{Receiver, SyncSender},
    thread,
};

use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, poll},
    fs::{OFlags, fcntl_setfl},
    io::Errno,
    process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, waitid, waitpid},
};

use super::{Filter, Message, Sink, Spec, Stream, backend::Backend, launch::Launch};

/// How much is read at once.
const CHUNK: usize = 256 * 1024;
/// As much as the pipe of standard output holds. More than usual: an agent that prints much waits less. Not more still:
/// a user's pipes may hold 64 MiB together, and many loops run at once.
#[cfg(target_os = "linux")]
const PIPE: usize = 2 * CHUNK;

/// A running process that leads its own session and group.
pub(super) struct Child {
    pub(super) group: Pid,
    pub(super) pipes: u8,
}

impl Child {
    /// Signals the whole group. The leader is not reaped before [`Child::reap`], so the number is still ours.
    pub(super) fn signal(&self, signal: Signal) {
        // It may be gone by now: that is what the signal is for.
        let _ = kill_process_group(self.group, signal);
    }

    /// Frees the process's number and says how it ended; nothing if it is still there.
    pub(super) fn reap(&mut self) -> Option<ExitStatus> {
        let (_, status) = waitpid(Some(self.group), WaitOptions::NOHANG).ok()??;
        Some(ExitStatus::from_raw(status.as_raw()))
    }
}

/// Starts the process and the thread that reports on it.
pub(super) fn spawn(
    backend: &mut dyn Backend,
    spec: Spec,
    more: Option<Receiver<Vec<u8>>>,
    serial: u64,
    sender: &SyncSender<Message>,
) -> io::Result<Child> {
    let mut outputs = Vec::new();
    let (stdin, input) = match spec.input {
        Some(first) => {
            let (theirs, pipe) = io::pipe()?;
            (theirs.into(), Some(Input { pipe: pipe.into(), first, more }))
        }
        None => (nothing()?, None),
    };
    let stdout = target(Stream::Out, spec.stdout, &mut outputs)?;
    let stderr = target(Stream::Err, spec.stderr, &mut outputs)?;
    for output in &mut outputs {
        output.filter = spec.filter.map(|filter| filter());
    }
    let launch = Launch {
        program: &spec.program,
        args: &spec.args,
        dir: &spec.dir,
        env: &spec.env,
        stdio: [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()],
    };
    let group = backend.start(&launch)?;
    // The pipes must close when the process has closed its ends.
    drop((stdin, stdout, stderr));

    let pipes = u8::try_from(outputs.len()).unwrap_or(u8::MAX);
    let mut child = Child { group, pipes };
    let reporter = Reporter { serial, sender: sender.clone() };
    match attend(backend, group, input, outputs, reporter) {
        Ok(()) => Ok(child),
        // No one would watch it.
        Err(error) => {
            child.signal(Signal::KILL);
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(Errno::INTR) = waitid(WaitId::Pid(group), options) {}
            child.reap();
            Err(error)
        }
    }
}

/// Starts the threads that serve a process.
fn attend(
    backend: &dyn Backend,
    group: Pid,
    input: Option<Input>,
    outputs: Vec<Output>,
    reporter: Reporter,
) -> io::Result<()> {
    if let Some(input) = input {
        input.feed()?;
    }
    let end = backend.watch_exit(group)?;
    thread::Builder::new().name("process".to_owned()).spawn(move || reporter.report(outputs, Some(end)))?;
    Ok(())
}

/// A pipe that a process prints into.
struct Output {
    stream: Stream,
    pipe: OwnedFd,
    copy: Option<Box<dyn Write + Send>>,
    filter: Option<Box<dyn Filter>>,
}

/// What a process prints to; a pipe's other end is added to `outputs`.
fn target(stream: Stream, sink: Sink, outputs: &mut Vec<Output>) -> io::Result<OwnedFd> {
    match sink {
        Sink::File(file) => Ok(file.into()),
        Sink::Null => nothing(),
        Sink::Pipe { copy } => {
            let (pipe, theirs) = io::pipe()?;
            #[cfg(target_os = "linux")]
            if stream == Stream::Out {
                // A user with very many pipes is refused; the usual size does as well.
                let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE);
            }
            outputs.push(Output { stream, pipe: pipe.into(), copy, filter: None });
            Ok(theirs.into())
        }
        Sink::Socket { copy } => {
            let (ours, theirs) = UnixStream::pair()?;
            outputs.push(Output { stream, pipe: ours.into(), copy, filter: None });
            Ok(theirs.into())
        }
    }
}

fn nothing() -> io::Result<OwnedFd> {
    Ok(OpenOptions::new().read(true).write(true).open("/dev/null")?.into())
}

/// What a process is told.
struct Input {
    pipe: OwnedFd,
    first: Vec<u8>,
    /// What comes later, until no one can send any more.
    more: Option<Receiver<Vec<u8>>>,
}

impl Input {
    /// Writes the input of a process. A process that does not read it must not hold ralph, so what does not fit
    /// into the pipe is left to a thread.
    fn feed(self) -> io::Result<()> {
        let Self { pipe, first, more } = self;
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        let written = rustix::io::write(&pipe, &first).unwrap_or(0);
        if written == first.len() && more.is_none() {
            return Ok(());
        }
        fcntl_setfl(&pipe, OFlags::empty())?;
        let write = move || -> io::Result<()> {
            let mut pipe = File::from(pipe);
            // The error of a process that has gone is no news.
            pipe.write_all(&first[written..])?;
            more.into_iter().flatten().try_for_each(|text| pipe.write_all(&text))
        };
        thread::Builder::new().name("prompt".to_owned()).spawn(write)?;
        Ok(())
    }
}

/// Tells the loop about one process.
struct Reporter {
    serial: u64,
    sender: SyncSender<Message>,
}

impl Reporter {
    /// Reports until the pipes are closed and the process has ended. When no one listens any more, ralph is about
    /// to end.
    fn report(&self, mut outputs: Vec<Output>, mut end: Option<OwnedFd>) {
        let serial = self.serial;
        while !outputs.is_empty() || end.is_some() {
            let mut waits: Vec<PollFd<'_>> = outputs
                .iter()
                .map(|output| &output.pipe)
                .chain(&end)
                .map(|fd| PollFd::new(fd, PollFlags::IN))
                .collect();
            if poll(&mut waits, None).is_err() {
                continue;
            }
            let ready: Vec<bool> = waits.iter().map(|wait| !wait.revents().is_empty()).collect();
            let has_ended = end.is_some() && ready.last() == Some(&true);
            let mut ready = ready.into_iter();
            outputs.retain_mut(|output| ready.next() != Some(true) || self.read(output));
            // After what it printed.
            if has_ended {
                end = None;
                let _ = self.sender.send(Message::Exited { serial });
            }
        }
    }

    /// Passes on what is there; says whether there may be more.
    fn read(&self, output: &mut Output) -> bool {
        let serial = self.serial;
        let mut bytes = Vec::with_capacity(CHUNK);
        match rustix::io::read(&output.pipe, spare_capacity(&mut bytes)) {
            Err(Errno::INTR | Errno::AGAIN) => true,
            Ok(0) | Err(_) => {
                if let Some(mut filter) = output.filter.take() {
                    self.pass_on(output, filter.finish());
                }
                let _ = self.sender.send(Message::Closed { serial });
                false
            }
            Ok(_) => {
                let bytes = match &mut output.filter {
                    Some(filter) => filter.push(bytes),
                    None => bytes,
                };
                self.pass_on(output, bytes)
            }
        }
    }

    /// Keeps and reports what was printed; says whether anyone listens.
    fn pass_on(&self, output: &mut Output, bytes: Vec<u8>) -> bool {
        if bytes.is_empty() {
            return true;
        }
        // A full disk loses the copy, not the run.
        if output.copy.as_mut().is_some_and(|copy| copy.write_all(&bytes).is_err()) {
            output.copy = None;
        }
        self.sender.send(Message::Output { serial: self.serial, stream: output.stream, bytes }).is_ok()
    }
}
