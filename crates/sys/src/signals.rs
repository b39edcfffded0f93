//! Signals to ralph itself, turned into messages.

use std::{
    io,
    mem::MaybeUninit,
    ptr,
    sync::{Arc, Mutex, mpsc::SyncSender},
    thread,
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1},
    iterator::Signals,
};

/// How urgent a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// One more request to stop: the first lets the running operation finish, the second ends it.
    Another,
    /// What the first request does, however often it comes.
    Once,
    /// What the second request does, at once.
    Now,
}

/// After so many signals ralph goes without looking back; its guardian cleans up.
const MAX_SIGNALS: u32 = 4;

/// Reports every signal that asks ralph to stop. INT and TERM are handled even when they were ignored by
/// the parent (a shell starts background jobs so); HUP stays ignored then, which is what `nohup` is for.
pub fn listen<M: Send + 'static>(
    sender: SyncSender<M>,
    message: impl Fn(Urgency) -> M + Send + 'static,
) -> io::Result<()> {
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGQUIT, SIGUSR1].into_iter().chain(hang_up))?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut count = 0;
        for signal in signals.forever() {
            let urgency = match signal {
                SIGQUIT => Urgency::Now,
                SIGUSR1 => Urgency::Once,
                _ => Urgency::Another,
            };
            count += u32::from(urgency != Urgency::Once);
            if MAX_SIGNALS <= count {
                // The loop has not ended after three signals: it hangs in a write or in the kernel.
                std::process::exit(crate::error::INTERRUPTED.into());
            }
            // Its own thread, because the loop may be too busy to take it, and the next signal must still count.
            let (sender, message) = (sender.clone(), message(urgency));
            let _ = thread::Builder::new().spawn(move || sender.send(message));
        }
    })?;
    Ok(())
}

/// Signals to a command that asks questions: the first one ends it.
pub struct Interrupts {
    held: Arc<Mutex<()>>,
}

impl Interrupts {
    /// Ends ralph after these words at the first signal.
    pub fn watch(last_words: fn()) -> io::Result<Self> {
        let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGQUIT].into_iter().chain(hang_up))?;
        let interrupts = Self { held: Arc::default() };
        let held = Arc::clone(&interrupts.held);
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if signals.forever().next().is_some() {
                let _held = held.lock();
                last_words();
                std::process::exit(crate::error::INTERRUPTED.into());
            }
        })?;
        Ok(interrupts)
    }

    /// From here on no signal comes in between: what follows is short and must be whole.
    pub fn end(self) {
        std::mem::forget(self.held.lock());
    }
}

/// What a mask must not take from the owner of a new file.
const OWNERS_RIGHTS: libc::mode_t = 0o700;

/// Undoes what a parent may have done to what ralph cannot do without: a parent that ignores the end of its children has the
/// kernel forget how ralph's ended. A file that may not grow is an error, not the end of ralph. And what ralph makes is its own.
pub fn forget_inherited() {
    // SAFETY: no handler is set, and no other thread runs yet.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        // Folders that their own owner cannot enter would stop this run, and every later one.
        let mask = libc::umask(OWNERS_RIGHTS);
        libc::umask(mask & !OWNERS_RIGHTS);
    }
}

/// Whether this process was started with a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action it only writes the present one into the structure.
    let code = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: it was filled, and zeroes are a valid value as well.
    code == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}
