//! Starts one process in a session of its own, with a thread for each of its pipes and one for its end.

use std::{
    io::{self, Read, Write},
    os::{
        fd::OwnedFd,
        unix::process::{CommandExt, ExitStatusExt},
    },
    process::{Command, ExitStatus, Stdio},
    sync::mpsc::SyncSender,
    thread,
};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, setsid, waitid, waitpid,
};

use super::{Message, Sink, Spec, Stream};

/// As much as a pipe holds.
const CHUNK: usize = 64 * 1024;

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

/// Starts the process and the threads that report on it.
pub(super) fn spawn(spec: Spec, serial: u64, sender: &SyncSender<Message>) -> io::Result<Child> {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).current_dir(&spec.dir);
    for (name, value) in &spec.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(if spec.input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut copies = Vec::new();
    for (stream, sink) in [(Stream::Out, spec.stdout), (Stream::Err, spec.stderr)] {
        let (stdio, copy) = match sink {
            Sink::File(file) => (Stdio::from(file), None),
            Sink::Pipe { copy } => (Stdio::piped(), Some(copy)),
            Sink::Null => (Stdio::null(), None),
        };
        match stream {
            Stream::Out => command.stdout(stdio),
            Stream::Err => command.stderr(stdio),
        };
        copies.push(copy);
    }
    // SAFETY: setsid(2) is async-signal-safe and touches nothing of this process.
    unsafe { command.pre_exec(|| Ok(setsid().map(drop)?)) };
    let mut child = command.spawn()?;
    let group = Pid::from_child(&child);

    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), spec.input) {
        // A process that does not read its input must not hold ralph; the error of one that has gone is no news.
        thread::Builder::new().name("prompt".to_owned()).spawn(move || stdin.write_all(&input))?;
    }
    let mut pipes = 0;
    let outputs = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
    for ((stream, output), copy) in [Stream::Out, Stream::Err].into_iter().zip(outputs).zip(copies) {
        if let (Some(output), Some(copy)) = (output, copy) {
            pipes += 1;
            let sender = sender.clone();
            thread::Builder::new()
                .name("output".to_owned())
                .spawn(move || read(output.into(), stream, copy, serial, &sender))?;
        }
    }
    let sender = sender.clone();
    thread::Builder::new().name("end".to_owned()).spawn(move || {
        // Not reaped here: until then the number cannot be given to another process.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(group), options) {}
        sender.send(Message::Exited { serial })
    })?;
    Ok(Child { group, pipes })
}

fn read(
    mut pipe: std::fs::File,
    stream: Stream,
    mut copy: Option<std::fs::File>,
    serial: u64,
    sender: &SyncSender<Message>,
) {
    loop {
        let mut bytes = vec![0; CHUNK];
        match pipe.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => {
                bytes.truncate(length);
                // A full disk loses the copy, not the run.
                if copy.as_mut().is_some_and(|file| file.write_all(&bytes).is_err()) {
                    copy = None;
                }
                if sender.send(Message::Output { serial, stream, bytes }).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    // Nobody listens any more when ralph is about to end.
    let _ = sender.send(Message::Closed { serial });
}
