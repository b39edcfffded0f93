//! The end of a process as the kernel of a Mac reports it.

use std::{io, os::fd::OwnedFd, ptr};

use rustix::{
    event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue},
    io::Errno,
    process::Pid,
};

/// Becomes readable when the process ends; an error if it has gone already.
pub(super) fn readable_at_end(pid: Pid) -> io::Result<OwnedFd> {
    let queue = kqueue()?;
    rustix::io::fcntl_setfd(&queue, rustix::io::FdFlags::CLOEXEC)?;
    let filter = EventFilter::Proc { pid, flags: ProcessEvents::EXIT };
    let events = [Event::new(filter, EventFlags::ADD | EventFlags::ONESHOT, ptr::null_mut())];
    let mut none: [Event; 0] = [];
    loop {
        // SAFETY: the event names a process, not a descriptor.
        match unsafe { kevent(&queue, &events, &mut none, None) } {
            Ok(_) => return Ok(queue),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
