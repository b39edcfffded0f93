//! The server: one thread that accepts, one per connection, all ended when the server is dropped.

use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::conversation::{self, Next};
use crate::http;
use crate::request::Request;
use crate::script::{Script, Step};

/// A model server on loopback that follows a script until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on a free port.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_on(0, script)
    }

    /// Starts a server on this port.
    pub fn start_on(port: u16, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let (taken, after) = (vec![false; script.steps.len()], script.after.clone());
        let state = State { taken, after, ..State::default() };
        let shared = Arc::new(Shared { script, state: Mutex::new(state), changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let accepting = Some(thread::spawn(move || accept(&listener, &of_thread)));
        Ok(Self { address, shared, accepting })
    }

    /// The address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// The requests that took a step of the script.
    pub fn calls(&self) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.is_main).collect()
    }

    /// Says this from now on whenever no step is left.
    pub fn say(&self, step: Step) {
        self.shared.state().after = step;
    }

    /// Waits until so many requests have taken a step of the script, and returns whether they have in time.
    pub fn wait_for_requests(&self, count: usize, at_most: Duration) -> bool {
        let deadline = Instant::now() + at_most;
        let mut state = self.shared.state();
        loop {
            if state.requests.iter().filter(|request| request.is_main).count() >= count {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.shared.wait(state, left);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let connections = {
            let mut state = self.shared.state();
            state.stopping = true;
            std::mem::take(&mut state.connections)
        };
        self.shared.changed.notify_all();
        for connection in connections {
            // It may have gone by itself.
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    script: Script,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Which steps have been said.
    taken: Vec<bool>,
    /// Said whenever no step is left.
    after: Step,
    requests: Vec<Request>,
    connections: Vec<TcpStream>,
    stopping: bool,
}

impl Shared {
    /// Keeps a request, and returns what the script says to it.
    pub(crate) fn take(&self, mut request: Request, is_main: bool) -> Step {
        request.is_main = is_main;
        let mut state = self.state();
        let step = if is_main { self.next(&mut state, &request) } else { self.script.side.clone() };
        state.requests.push(request);
        self.changed.notify_all();
        step
    }

    fn next(&self, state: &mut State, request: &Request) -> Step {
        let is_meant = |step: &Step| step.when.as_ref().is_none_or(|text| request.says(text));
        let found =
            self.script.steps.iter().enumerate().find(|(at, step)| !state.taken[*at] && is_meant(step));
        let Some((at, step)) = found else { return state.after.clone() };
        state.taken[at] = true;
        step.clone()
    }

    /// Sleeps, but not longer than the server lives; returns whether it still does.
    pub(crate) fn sleep(&self, duration: Duration) -> bool {
        let deadline = Instant::now() + duration;
        let mut state = self.state();
        while !state.stopping {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            state = self.wait(state, left);
        }
        false
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, at_most: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let mut state = shared.state();
        if state.stopping {
            return;
        }
        if let Ok(copy) = stream.try_clone() {
            state.connections.push(copy);
        }
        let shared = Arc::clone(shared);
        // A client that goes away in the middle is no one's failure.
        thread::spawn(move || serve(&stream, &shared));
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    while let Some(request) = http::read(&mut reader, &mut writer)? {
        match conversation::answer(request, shared, &mut writer)? {
            Next::Request => {}
            Next::Close => break,
        }
    }
    stream.shutdown(Shutdown::Both)
}
