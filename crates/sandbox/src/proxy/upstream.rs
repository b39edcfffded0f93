//! The proxy that the machine itself must use, if it must.

use std::{
    env,
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Duration,
};

use ralph_core::containment::hosts::{HostVerdict, split};

/// How long it may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// As long as its answer may be.
const MAX_ANSWER_LEN: usize = 16 * 1024;

/// A proxy that makes connections for the machine.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Upstream {
    host: String,
    port: u16,
    /// Hosts that are reached without it.
    direct: Vec<String>,
}

impl Upstream {
    /// The one that the environment names. One that wants a password, or speaks anything but HTTP, is not used.
    pub(super) fn from_environment() -> Option<Self> {
        let set = |names: [&str; 2]| {
            names.into_iter().find_map(|name| env::var(name).ok().filter(|it| !it.is_empty()))
        };
        Self::parse(&set(["HTTPS_PROXY", "https_proxy"])?, &set(["NO_PROXY", "no_proxy"]).unwrap_or_default())
    }

    fn parse(address: &str, direct: &str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
        let (host, port) = split(rest.trim_end_matches('/'))?;
        let direct = direct.split(',').map(|it| it.trim().trim_start_matches('*').to_lowercase());
        let direct = direct.filter(|it| !it.is_empty()).collect();
        (scheme == "http" && !host.contains('@')).then(|| Self { host, port: port.unwrap_or(80), direct })
    }

    /// Whether a host is reached through it.
    pub(super) fn serves(&self, host: &str, verdict: HostVerdict) -> bool {
        // What is listed with its port is often the machine itself.
        verdict == HostVerdict::Named
            && !self.direct.iter().any(|it| {
                host == it.trim_start_matches('.')
                    || host.ends_with(&format!(".{}", it.trim_start_matches('.')))
            })
    }

    /// A tunnel through it.
    pub(super) fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let address =
            (self.host.as_str(), self.port).to_socket_addrs()?.next().ok_or(io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream
            .write_all(format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n").as_bytes())?;
        let mut answer = Vec::new();
        // One byte at a time: what follows the head belongs to the client.
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte)? == 0 || MAX_ANSWER_LEN < answer.len() {
                return Err(io::Error::other("the proxy of the machine broke off"));
            }
            answer.push(byte[0]);
        }
        let first = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
        if first.split(' ').nth(1) != Some("200") {
            return Err(io::Error::other(format!("the proxy of the machine says: {first}")));
        }
        stream.set_read_timeout(None)?;
        Ok(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_it() {
        let found =
            Upstream::parse("http://proxy.example.com:3128/", "localhost, .inner.example.com").expect("one");
        assert_eq!((found.host.as_str(), found.port), ("proxy.example.com", 3128));
        assert!(found.serves("api.example.org", HostVerdict::Named));
        assert!(!found.serves("git.inner.example.com", HostVerdict::Named));
        assert!(!found.serves("api.example.org", HostVerdict::Explicit));
        assert_eq!(Upstream::parse("socks5://proxy:1080", ""), None);
        assert_eq!(Upstream::parse("http://me:secret@proxy:1080", ""), None);
    }
}
