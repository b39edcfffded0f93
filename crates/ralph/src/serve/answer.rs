//! One answer, with what every answer says about itself.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// How long a client may take to read.
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// What of a request that is not read any more is taken off the socket, so that the answer is not lost with it.
const MAX_DRAINED_LEN: u64 = 256 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Nothing is loaded from elsewhere, no text becomes markup or script, no other page frames this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// What a client is sent.
#[derive(Debug)]
pub(super) struct WebAnswer {
    pub(super) status: u16,
    kind: &'static str,
    body: Vec<u8>,
    cookie: Option<String>,
}

impl WebAnswer {
    /// A file of the page.
    pub(super) fn file(kind: &'static str, body: &[u8]) -> Self {
        Self { status: 200, kind, body: body.to_vec(), cookie: None }
    }

    /// Data.
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self { status, kind: "application/json", body: body.to_string().into_bytes(), cookie: None }
    }

    /// One line in words.
    pub(super) fn text(status: u16, body: &str) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{body}\n").into_bytes(),
            cookie: None,
        }
    }

    /// Only a status.
    pub(super) fn of_status(status: u16) -> Self {
        Self::text(status, reason(status))
    }

    /// The browser keeps this.
    pub(super) fn with_cookie(self, cookie: String) -> Self {
        Self { cookie: Some(cookie), ..self }
    }

    /// Sends it and closes the connection.
    pub(super) fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let (head, length) = (head(self.status, self.kind), self.body.len());
        let cookie = self.cookie.as_ref().map(|cookie| format!("Set-Cookie: {cookie}\r\n"));
        let cookie = cookie.unwrap_or_default();
        stream.write_all(format!("{head}Content-Length: {length}\r\n{cookie}\r\n").as_bytes())?;
        stream.write_all(&self.body)?;
        stream.flush()?;
        stream.shutdown(Shutdown::Write)?;
        drain(stream);
        Ok(())
    }
}

/// Begins an answer that has no end.
pub(super) fn begin_stream(stream: &mut TcpStream) -> io::Result<()> {
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    stream.set_nodelay(true)?;
    stream.write_all(format!("{}X-Accel-Buffering: no\r\n\r\n", head(200, "text/event-stream")).as_bytes())
}

/// The lines that every answer begins with. No header allows other sites anything.
fn head(status: u16, kind: &str) -> String {
    format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n",
        reason(status)
    )
}

/// Closing a socket with unread bytes in it takes the answer back.
fn drain(stream: &mut TcpStream) {
    if stream.set_read_timeout(Some(DRAIN_TIMEOUT)).is_ok() {
        let _ = io::copy(&mut stream.take(MAX_DRAINED_LEN), &mut io::sink());
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Error",
    }
}
