//! `ralph serve`: the runs of this user as a page, while they happen.
//!
//! Theory of operation: one thread takes connections, each connection has a thread of its own as long as the crowd
//! has room (`crowd.rs`), and everything that starts a process waits for its turn at one desk, which is the thread that began.
//! What is shown is folded from journals, the same model as `ralph watch` has; what is done is done by the commands that a
//! person would type. Invariant: who may ask for what is decided in [`ralph_core::serve_access`] before anything is looked up.

mod act;
mod answer;
mod codes;
mod connection;
mod crowd;
mod desk;
mod diff;
mod feed;
mod files;
mod overview;
mod position;
mod request;
mod secrets;
mod turn_stream;

use std::{
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex, mpsc::SyncSender},
    thread,
    time::Duration,
};

use jiff::Timestamp;
use ralph_core::serve_access::{Actions, WebPlace};
use ralph_sys::error::{Context, Error, Result};

use codes::Codes;
use crowd::Crowd;
use desk::{Desk, Job};
use overview::RunList;
use secrets::Secrets;

use crate::journal::run_dir::RunDir;

/// After a connection that could not be taken: the machine is out of something, and it must not spin.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(50);

/// What the person asked for.
pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    /// Names under which something with TLS on this machine hands on requests.
    pub(crate) names: Vec<String>,
    pub(crate) wants_actions: bool,
    /// Whether a conversation drives a run.
    pub(crate) is_bound: fn(&RunDir) -> bool,
    /// Says something in the terminal.
    pub(crate) tell: fn(&str),
}

/// What all connections share.
struct Server {
    place: WebPlace,
    port: u16,
    secrets: Secrets,
    codes: Mutex<Codes>,
    overview: RunList,
    desk: SyncSender<Job>,
    is_bound: fn(&RunDir) -> bool,
    tell: fn(&str),
}

/// A server that has its port and waits for `run`.
pub(crate) struct Serving {
    listener: TcpListener,
    server: Arc<Server>,
    desk: Desk,
}

impl Serving {
    /// Takes the port.
    pub(crate) fn begin(options: Options) -> Result<Self> {
        let Options { listen, names, wants_actions, is_bound, tell } = options;
        let listener = TcpListener::bind(listen).context(format!("cannot listen on `{listen}`")).map_err(
            |error: Error| {
                error.hint("another port: ralph serve --listen 127.0.0.1:0 takes one that is free")
            },
        )?;
        let address = listener.local_addr()?;
        let is_loopback = address.ip().is_loopback();
        let place = WebPlace { is_loopback, names, actions: Actions::of(wants_actions, is_loopback) };
        let (desk, jobs) = Desk::new()?;
        let server = Server {
            place,
            port: address.port(),
            secrets: Secrets::new(Timestamp::now())?,
            codes: Mutex::default(),
            overview: RunList::new(is_bound),
            desk: jobs,
            is_bound,
            tell,
        };
        Ok(Self { listener, server: Arc::new(server), desk })
    }

    /// Where it is, and what its page can do.
    pub(crate) fn place(&self) -> Result<(SocketAddr, Actions)> {
        Ok((self.listener.local_addr()?, self.server.place.actions))
    }

    /// What a browser must know to be let in.
    pub(crate) fn token(&self) -> &str {
        self.server.secrets.token()
    }

    /// Answers until someone asks it to stop.
    pub(crate) fn run(self) -> Result<()> {
        let Self { listener, server, desk } = self;
        thread::Builder::new().name("accept".to_owned()).spawn(move || accept(&listener, &server))?;
        desk.work();
        Ok(())
    }
}

/// Reads the head of a request as a connection does, and decides about it; returns its length when it is whole.
pub(crate) fn read_head(bytes: &[u8]) -> Option<usize> {
    connection::read_head(bytes)
}

fn accept(listener: &TcpListener, server: &Arc<Server>) {
    let crowd = Arc::new(Crowd::default());
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            thread::sleep(ACCEPT_INTERVAL);
            continue;
        };
        // Without a place it is closed, which browsers take as a reason to try again.
        let Some(ticket) = crowd.enter(&stream) else { continue };
        let server = Arc::clone(server);
        let started = thread::Builder::new()
            .name("connection".to_owned())
            .spawn(move || connection::answer(&server, stream, ticket));
        if started.is_err() {
            thread::sleep(ACCEPT_INTERVAL);
        }
    }
}
