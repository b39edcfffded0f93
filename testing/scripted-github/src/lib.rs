//! A small GitHub on a socket of this machine, so that the real `gh` can be tested without GitHub.
//!
//! `gh` speaks plain HTTP through a socket when its configuration has `http_unix_socket`. Issues, comments and pull requests
//! are kept as values; every request is kept, so that a test can assert what was asked.

mod answer;
mod http;

use std::{
    fs, io,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use serde_json::{Value, json};

pub use http::Request;

/// The repository that there is.
pub const REPOSITORY: &str = "acme/tool";
/// The key that is let in.
pub const TOKEN: &str = "scripted-token";

/// A GitHub with one repository, until it is dropped.
#[derive(Debug)]
pub struct Server {
    socket: PathBuf,
    state: Arc<Mutex<State>>,
    accepting: Option<JoinHandle<()>>,
}

/// What there is.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) issues: Vec<Value>,
    /// The number of the issue, and what was said to it.
    pub(crate) comments: Vec<(u64, Value)>,
    pub(crate) pulls: Vec<Value>,
    pub(crate) requests: Vec<Request>,
    /// Refuse everything with this status.
    pub(crate) refuses: Option<u16>,
    stopping: bool,
}

impl Server {
    /// Starts one whose socket and whose configuration of `gh` are in this folder.
    pub fn start(folder: &Path) -> io::Result<Self> {
        let socket = folder.join("github.sock");
        let listener = UnixListener::bind(&socket)?;
        let config = folder.join("gh");
        fs::create_dir_all(&config)?;
        fs::write(
            config.join("config.yml"),
            format!("version: \"1\"\ngit_protocol: https\nhttp_unix_socket: {}\n", socket.display()),
        )?;
        let state = Arc::new(Mutex::new(State::default()));
        let of_thread = Arc::clone(&state);
        let accepting = Some(thread::spawn(move || accept(&listener, &of_thread)));
        Ok(Self { socket, state, accepting })
    }

    /// The folder that `GH_CONFIG_DIR` must name.
    pub fn config(&self) -> PathBuf {
        self.socket.with_file_name("gh")
    }

    /// Adds an issue by an author of this standing.
    pub fn issue(&self, number: u64, title: &str, body: &str, author: (&str, &str)) {
        let (login, association) = author;
        self.state().issues.push(json!({
            "number": number, "title": title, "body": body, "state": "open", "user": {"login": login},
            "author_association": association, "comments": 0, "labels": [],
            "html_url": format!("https://github.com/{REPOSITORY}/issues/{number}"),
        }));
    }

    /// Gives an issue a label.
    pub fn label(&self, number: u64, label: &str) {
        let mut state = self.state();
        if let Some(labels) = state.issue(number).and_then(|issue| issue["labels"].as_array_mut()) {
            labels.push(json!({ "name": label }));
        }
    }

    /// Adds a comment by an author of this standing.
    pub fn comment(&self, number: u64, body: &str, author: (&str, &str)) {
        let (login, association) = author;
        let mut state = self.state();
        state.comments.push((
            number,
            json!({"body": body, "user": {"login": login}, "author_association": association}),
        ));
        if let Some(issue) = state.issue(number) {
            issue["comments"] = json!(issue["comments"].as_u64().unwrap_or(0) + 1);
        }
    }

    /// Refuses everything with this status from now on; nothing is normal again.
    pub fn refuse(&self, status: Option<u16>) {
        self.state().refuses = status;
    }

    /// The pull requests that there are.
    pub fn pulls(&self) -> Vec<Value> {
        self.state().pulls.clone()
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

impl State {
    fn issue(&mut self, number: u64) -> Option<&mut Value> {
        self.issues.iter_mut().find(|issue| issue["number"] == number)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state().stopping = true;
        // Wakes the thread that accepts. Where its folder is gone already, it stays until the process ends.
        let is_awake = UnixStream::connect(&self.socket).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| is_awake) {
            let _ = accepting.join();
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &UnixListener, state: &Arc<Mutex<State>>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        if locked(state).stopping {
            return;
        }
        let state = Arc::clone(state);
        // A client that goes away in the middle is no one's failure.
        thread::spawn(move || serve(&stream, &state));
    }
}

fn serve(stream: &UnixStream, state: &Mutex<State>) -> io::Result<()> {
    let Some(request) = http::read(stream)? else { return Ok(()) };
    let (status, body) = {
        let mut state = locked(state);
        state.requests.push(request.clone());
        answer::answer(&mut state, &request)
    };
    http::write(stream, status, &body)
}
