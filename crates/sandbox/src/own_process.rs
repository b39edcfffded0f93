//! What a process around a sandbox gives up so that it does not come between the command and its caller: signals and
//! the standard streams.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    sync::{Arc, atomic::AtomicBool},
};

/// Signals that end the command, and this process only with it.
const PASSED_BY: [i32; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// Takes no notice of those signals from here on.
pub(super) fn pass_signals_by() -> io::Result<()> {
    for signal in PASSED_BY {
        // A handler, and not the order to ignore it, which the command would inherit.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Lets signals end this process again, as they end others: it is about to become the command.
pub(super) fn restore_signals() {
    for signal in PASSED_BY {
        // SAFETY: a call without pointers to memory; the disposition is the system's own.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Reads nothing that is meant for the command, and prints nothing between its lines.
pub(super) fn let_go_of_input() {
    replace(&[0, 1]);
}

/// Has nothing to say from here on.
pub(super) fn let_go_of_output() {
    replace(&[0, 1, 2]);
}

fn replace(numbers: &[i32]) {
    let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") else { return };
    for number in numbers {
        // SAFETY: both are descriptors of this process; what had the number before is closed.
        unsafe { libc::dup2(nothing.as_raw_fd(), *number) };
    }
}
