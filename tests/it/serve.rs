//! `ralph serve`: the page, the doors to it, and what it can have done.

mod actions;
mod attacks;
mod browser;
mod doors;
mod live;
mod looks;
mod markup;
mod stream;

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::env::{Env, PATIENCE, Running, poll};

/// A server that runs.
pub(crate) struct Served {
    pub(crate) running: Running,
    pub(crate) port: u16,
    pub(crate) link: String,
    pub(crate) token: String,
}

/// What a browser has that was shown the link.
pub(crate) struct Session {
    pub(crate) port: u16,
    pub(crate) cookie: String,
    pub(crate) key: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// Starts a server and waits for its link.
pub(crate) fn serve(env: &Env, flags: &[&str]) -> Served {
    served(env, &["--listen", "0"], flags)
}

/// The same on this port, where one was before.
pub(crate) fn serve_again(env: &Env, port: u16, flags: &[&str]) -> Served {
    served(env, &["--listen", &port.to_string()], flags)
}

pub(crate) fn served(env: &Env, place: &[&str], flags: &[&str]) -> Served {
    let running = env.start(&[&["serve"], place, flags].concat());
    let link = poll("the link", || {
        let printed = running.printed();
        printed.contains('\n').then(|| printed.trim().to_owned())
    });
    let (address, token) = link.split_once("/#token=").expect("a link");
    let port = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    Served { running, port, token: token.to_owned(), link }
}

impl Served {
    /// Opens the link as a browser does.
    pub(crate) fn session(&self) -> Session {
        let reply = self.begin(&self.token).is(200);
        let cookie = reply.head.split("Set-Cookie: ").nth(1).and_then(|rest| rest.split(';').next());
        Session {
            port: self.port,
            cookie: cookie.expect("a cookie").to_owned(),
            key: reply.json()["key"].as_str().expect("a key").to_owned(),
        }
    }

    /// Shows a token.
    pub(crate) fn begin(&self, token: &str) -> Reply {
        let body = json!({ "token": token }).to_string();
        post(self.port, "/session", &[("X-Ralph-Key", "")], &body)
    }
}

impl Session {
    pub(crate) fn get(&self, path: &str) -> Reply {
        let headers = [("Cookie", self.cookie.as_str()), ("X-Ralph-Key", &self.key)];
        ask(self.port, &request("GET", path, self.port, &headers, ""))
    }

    pub(crate) fn act(&self, body: &Value) -> Reply {
        let headers = [("Cookie", self.cookie.as_str()), ("X-Ralph-Key", &self.key)];
        post(self.port, "/api/act", &headers, &body.to_string())
    }
}

/// A request of the page.
pub(crate) fn post(port: u16, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let origin = format!("http://127.0.0.1:{port}");
    let headers = [&[("Origin", origin.as_str())], headers].concat();
    ask(port, &request("POST", path, port, &headers, body))
}

/// The text of a request.
pub(crate) fn request(method: &str, path: &str, port: u16, headers: &[(&str, &str)], body: &str) -> String {
    let more: String = headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
    let length = if method == "POST" { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
    format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}{length}\r\n{body}")
}

pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Sends these bytes and returns what comes back.
pub(crate) fn ask(port: u16, text: &str) -> Reply {
    let mut stream = connect(port);
    // A server that has heard enough need not read the rest.
    let _ = stream.write_all(text.as_bytes());
    reply(&mut stream)
}

/// Reads an answer to its end.
pub(crate) fn reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}
