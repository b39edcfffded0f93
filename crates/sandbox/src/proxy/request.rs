//! Reads what a client asks of the proxy.

use std::{
    io::{self, Read},
    net::TcpStream,
    time::Duration,
};

use ralph_core::containment::hosts::split;

/// As long as the head of a request may be.
const MAX_HEAD_LEN: usize = 32 * 1024;
/// How long a client may take to say what it wants.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) host: String,
    pub(super) port: u16,
    /// What the server is told first; nothing where the client speaks to it by itself.
    pub(super) head: Option<Vec<u8>>,
    /// What was read beyond the head.
    pub(super) rest: Vec<u8>,
}

impl Request {
    /// Reads the head of a request; nothing if it makes no sense.
    pub(super) fn read(client: &mut TcpStream) -> io::Result<Option<Self>> {
        client.set_read_timeout(Some(REQUEST_TIMEOUT))?;
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        let end = loop {
            let length = client.read(&mut chunk)?;
            // The end of the head may lie across two chunks.
            let from = bytes.len().saturating_sub(3);
            bytes.extend_from_slice(&chunk[..length]);
            if let Some(at) = memchr::memmem::find(&bytes[from..], b"\r\n\r\n") {
                break from + at + 4;
            }
            if length == 0 || MAX_HEAD_LEN < bytes.len() {
                return Ok(None);
            }
        };
        client.set_read_timeout(None)?;
        Ok(Self::parse(&bytes[..end], bytes[end..].to_vec()))
    }

    fn parse(head: &[u8], rest: Vec<u8>) -> Option<Self> {
        let head = std::str::from_utf8(head).ok()?;
        let (first, headers) = head.split_once("\r\n")?;
        let [method, target, version] = first.split(' ').collect::<Vec<_>>().try_into().ok()?;
        if !version.starts_with("HTTP/1.") || method.is_empty() {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = split(target)?;
            return Some(Self { host, port: port?, head: None, rest });
        }
        let address = target.strip_prefix("http://")?;
        let slash = address.find(['/', '?']).unwrap_or(address.len());
        let (authority, path) = address.split_at(slash);
        let (host, port) = split(authority)?;
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        let head = rewritten(&format!("{method} {path} {version}"), headers);
        Some(Self { host, port: port.unwrap_or(80), head: Some(head), rest })
    }
}

/// As the server expects it, and for one request only: the next may be for another server.
fn rewritten(first: &str, headers: &str) -> Vec<u8> {
    let is_hop = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
        !matches!(name.as_str(), "connection" | "proxy-connection" | "proxy-authorization" | "keep-alive")
    };
    let kept = headers.split("\r\n").filter(|line| !line.is_empty()).filter(is_hop);
    let lines: Vec<&str> = std::iter::once(first).chain(kept).chain(["Connection: close", "", ""]).collect();
    lines.join("\r\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Option<(String, u16, Option<String>)> {
        let request = Request::parse(head.as_bytes(), Vec::new())?;
        Some((request.host, request.port, request.head.map(|head| String::from_utf8(head).expect("text"))))
    }

    #[test]
    fn tunnels_name_host_and_port() {
        let head = "CONNECT Example.com:443 HTTP/1.1\r\nHost: evil.org:443\r\n\r\n";
        assert_eq!(parsed(head), Some(("example.com".to_owned(), 443, None)));
        assert_eq!(parsed("CONNECT [::1]:80 HTTP/1.1\r\n\r\n"), Some(("::1".to_owned(), 80, None)));
        for bad in [
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "CONNECT :443 HTTP/1.1\r\n\r\n",
            "CONNECT a:b:443 HTTP/9\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://example.com/ HTTP/1.1\r\n\r\n",
            "nonsense\r\n\r\n",
        ] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }

    #[test]
    fn plain_requests_are_rewritten() {
        let head = "GET http://Example.com:8080/a?b HTTP/1.1\r\nHost: example.com\r\nProxy-Connection: keep-alive\r\nX: y\r\n\r\n";
        let expected = "GET /a?b HTTP/1.1\r\nHost: example.com\r\nX: y\r\nConnection: close\r\n\r\n";
        assert_eq!(parsed(head), Some(("example.com".to_owned(), 8080, Some(expected.to_owned()))));
        let head = "GET http://example.com HTTP/1.0\r\n\r\n";
        let expected = "GET / HTTP/1.0\r\nConnection: close\r\n\r\n";
        assert_eq!(parsed(head), Some(("example.com".to_owned(), 80, Some(expected.to_owned()))));
    }
}
