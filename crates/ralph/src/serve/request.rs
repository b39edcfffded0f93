//! One request, read from a socket that may be anyone's.
//!
//! Invariant: no more is read than the limits say and no longer than the deadline, however the bytes arrive. What can be read
//! in two ways (a header twice, a body of unknown length) is refused.

use std::{
    io::{self, Read},
    net::TcpStream,
    time::{Duration, Instant},
};

/// The most that a head may have: a browser's has about one kilobyte.
const MAX_HEAD_LEN: usize = 16 * 1024;
/// The most headers.
const MAX_HEADERS: usize = 64;
/// The most that a body may have: a word for the agent.
const MAX_BODY_LEN: usize = 16 * 1024;
/// How long a whole request may take to arrive.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// What is read at once.
const CHUNK_LEN: usize = 4 * 1024;

/// What a client wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WebRequest {
    pub(super) method: String,
    pub(super) path: String,
    query: String,
    /// Names in small letters.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Why a request cannot be answered with what it asks for.
#[derive(Debug)]
pub(super) enum Unread {
    /// The client has gone, or was too slow to say what it wants, or was sent away to make room.
    Gone,
    /// It is not to be had like this: the status of the answer.
    Refused(u16),
}

impl From<io::Error> for Unread {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl WebRequest {
    /// Reads a request.
    pub(super) fn read(stream: &mut TcpStream) -> Result<Self, Unread> {
        let deadline = Instant::now() + REQUEST_TIMEOUT;
        let mut bytes = Vec::new();
        let (mut request, head_len) = loop {
            let seen = bytes.len();
            more(stream, &mut bytes, deadline)?;
            // A head ends with a line.
            if bytes[seen..].contains(&b'\n')
                && let Some(found) = parse(&bytes)?
            {
                break found;
            }
            if MAX_HEAD_LEN < bytes.len() {
                return Err(Unread::Refused(431));
            }
        };
        let length = request.body_len()?;
        let mut body = bytes.split_off(head_len);
        while body.len() < length {
            more(stream, &mut body, deadline)?;
        }
        // What follows belongs to a second request, which no one waits for here.
        body.truncate(length);
        request.body = body;
        Ok(request)
    }

    /// The header of this name, which is there once or not at all.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The cookie of this name.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.header("cookie")?.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// A value of the query: an id, a position. Anything else than letters, digits, points and dashes is none.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.find(|(known, _)| *known == name).map(|(_, value)| value)?;
        let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
        (is_plain && !value.is_empty()).then_some(value)
    }

    /// How long its body is.
    fn body_len(&self) -> Result<usize, Unread> {
        if self.header("transfer-encoding").is_some() {
            return Err(Unread::Refused(501));
        }
        let length = match self.header("content-length") {
            None if self.method == "POST" => return Err(Unread::Refused(411)),
            None => 0,
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().map_err(|_| Unread::Refused(413))?
            }
            Some(_) => return Err(Unread::Refused(400)),
        };
        if MAX_BODY_LEN < length { Err(Unread::Refused(413)) } else { Ok(length) }
    }
}

/// Reads what is there, or waits for it.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> Result<(), Unread> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(Unread::Refused(408));
    }
    stream.set_read_timeout(Some(left))?;
    let mut chunk = [0; CHUNK_LEN];
    match stream.read(&mut chunk) {
        Ok(0) => Err(Unread::Gone),
        Ok(length) => {
            bytes.extend_from_slice(&chunk[..length]);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Err(Unread::Refused(408))
        }
        Err(_) => Err(Unread::Gone),
    }
}

/// The head and its length, when it is whole.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(WebRequest, usize)>, Unread> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Unread::Refused(431)),
        Err(_) => return Err(Unread::Refused(400)),
    };
    if MAX_HEAD_LEN < length {
        return Err(Unread::Refused(431));
    }
    let (method, target) = (head.method.unwrap_or_default(), head.path.unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut known: Vec<(String, String)> = Vec::new();
    for header in head.headers.iter() {
        let name = header.name.to_ascii_lowercase();
        let value = str::from_utf8(header.value).map_err(|_| Unread::Refused(400))?;
        if known.iter().any(|(before, _)| *before == name) {
            return Err(Unread::Refused(400));
        }
        known.push((name, value.trim().to_owned()));
    }
    let request = WebRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: known,
        body: Vec::new(),
    };
    Ok(Some((request, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn status(text: &str) -> Option<u16> {
        let read = parse(text.as_bytes()).and_then(|found| match found {
            Some((request, _)) => request.body_len(),
            None => Err(Unread::Gone),
        });
        match read {
            Ok(_) => Some(200),
            Err(Unread::Refused(status)) => Some(status),
            Err(Unread::Gone) => None,
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (text, expected) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Some(200)),
            ("GET / HTTP/1.1\r\nHost: a\r\n", None),
            ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", Some(400)),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", Some(400)),
            ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", Some(400)),
            ("POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\n", Some(413)),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", Some(413)),
            ("POST / HTTP/1.1\r\n\r\n", Some(411)),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", Some(501)),
            ("GET / HTTP/1.1\r\nA : b\r\n\r\n", Some(400)),
            ("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", Some(400)),
            ("GET / HTTP/9\r\n\r\n", Some(400)),
            ("\u{16}\u{3}\u{1}", Some(400)),
        ] {
            assert_eq!(status(text), expected, "{text:?}");
        }
        let many: String =
            (0..100).flat_map(|number| ["A".to_owned(), number.to_string(), ": b\r\n".to_owned()]).collect();
        assert_eq!(status(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Some(431));
    }

    #[test]
    fn cookies_and_values_are_found_by_their_whole_name() {
        let text =
            "GET /e?id=2026-a&after=3.7&bad=a%2fb&none= HTTP/1.1\r\nCookie: xralph=0; ralph=1; b=2\r\n\r\n";
        let Ok(Some((request, _))) = parse(text.as_bytes()) else { panic!("a head") };
        assert_eq!(request.path, "/e");
        assert_eq!((request.cookie("ralph"), request.cookie("c")), (Some("1"), None));
        assert_eq!((request.value("id"), request.value("after")), (Some("2026-a"), Some("3.7")));
        assert_eq!((request.value("bad"), request.value("none"), request.value("un")), (None, None, None));
    }
}
