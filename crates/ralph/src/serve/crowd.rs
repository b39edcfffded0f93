//! Who is connected: never more than fit, and no client that only waits keeps others out.
//!
//! Invariant: a connection that has not shown a session is sent away when newer ones need its place, the oldest first. So a
//! thousand connections that say nothing cost a bounded number of threads, and the page is still answered.

use std::{
    collections::VecDeque,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Connections of strangers: of those that have not shown a session.
const MAX_STRANGERS: usize = 64;
/// Connections of sessions, streams among them.
const MAX_GUESTS: usize = 64;
/// Threads, with those that are about to end.
const MAX_THREADS: usize = 2 * (MAX_STRANGERS + MAX_GUESTS);

/// The connections there are.
#[derive(Default)]
pub(super) struct Crowd {
    strangers: Mutex<VecDeque<(usize, TcpStream)>>,
    guests: AtomicUsize,
    threads: AtomicUsize,
    next: AtomicUsize,
}

/// A place for one connection; it is free again when this is dropped.
pub(super) struct Ticket {
    crowd: Arc<Crowd>,
    number: usize,
    is_guest: bool,
}

impl Crowd {
    /// A place for a connection, or none.
    pub(super) fn enter(self: &Arc<Self>, stream: &TcpStream) -> Option<Ticket> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let copy = stream.try_clone().ok()?;
        if MAX_THREADS <= self.threads.fetch_add(1, Ordering::Relaxed) {
            self.threads.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.push_back((number, copy));
        if MAX_STRANGERS < strangers.len()
            && let Some((_, oldest)) = strangers.pop_front()
        {
            // Its thread waits for it to say something, and ends.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        Some(Ticket { crowd: Arc::clone(self), number, is_guest: false })
    }

    fn forget(&self, number: usize) {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != number);
    }
}

impl Ticket {
    /// It has shown a session: it stays, where there is room for another one. Returns whether there is.
    pub(super) fn welcome(&mut self) -> bool {
        if MAX_GUESTS <= self.crowd.guests.fetch_add(1, Ordering::Relaxed) {
            self.crowd.guests.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        self.is_guest = true;
        self.crowd.forget(self.number);
        true
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.is_guest {
            self.crowd.guests.fetch_sub(1, Ordering::Relaxed);
        } else {
            self.crowd.forget(self.number);
        }
        self.crowd.threads.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, net::TcpListener};

    use super::*;

    #[test]
    fn the_oldest_stranger_goes_and_guests_stay() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let crowd = Arc::new(Crowd::default());
        let connect = || {
            let client = TcpStream::connect(address).expect("a connection");
            let (server, _) = listener.accept().expect("a connection");
            let ticket = crowd.enter(&server).expect("a place");
            (client, server, ticket)
        };
        let (_guest, _, mut ticket) = connect();
        assert!(ticket.welcome());
        let (mut first, _kept, _ticket) = connect();
        let others: Vec<_> = (0..MAX_STRANGERS).map(|_| connect()).collect();
        let mut byte = [0];
        assert_eq!(first.read(&mut byte).expect("the end"), 0, "the oldest was sent away");
        assert_eq!(crowd.strangers.lock().expect("a list").len(), MAX_STRANGERS);
        drop(others);
        assert_eq!(crowd.strangers.lock().expect("a list").len(), 0);
        assert_eq!(crowd.guests.load(Ordering::Relaxed), 1);
    }
}
