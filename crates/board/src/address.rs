//! Where a board is.

use std::{fmt, str::FromStr};

use ralph_sys::error::{Error, Result};

/// The port of a server that names none.
const PORT: u16 = 4222;

/// The servers of a board: one, or those of a cluster with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardAddress {
    urls: Vec<String>,
    tls: bool,
}

impl BoardAddress {
    /// Each server, as the client wants it.
    pub fn urls(&self) -> &[String] {
        &self.urls
    }

    /// Whether nothing may go in the clear.
    pub fn is_tls(&self) -> bool {
        self.tls
    }
}

impl FromStr for BoardAddress {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let servers: Vec<(bool, String)> = text.split(',').map(server).collect::<Result<_>>()?;
        let tls = servers.iter().any(|(tls, _)| *tls);
        if !servers.iter().all(|server| server.0 == tls) {
            return Err(Error::new(format_args!("`{text}` mixes servers with TLS and without")));
        }
        Ok(Self { urls: servers.into_iter().map(|(_, url)| url).collect(), tls })
    }
}

impl fmt::Display for BoardAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.urls.join(","))
    }
}

fn server(text: &str) -> Result<(bool, String)> {
    let text = text.trim();
    // Everybody on the machine can read a command line.
    if text.contains('@') {
        return Err(Error::new(format_args!("`{}` has a secret in it", masked(text)))
            .hint("a login is a folder or a file of mode 600, never part of an address"));
    }
    let (scheme, rest) = text.split_once("://").unwrap_or(("nats", text));
    let tls = match scheme {
        "nats" => false,
        "tls" => true,
        _ => return Err(strange(text)),
    };
    let (host, port) = host_and_port(rest.trim_end_matches('/')).ok_or_else(|| strange(text))?;
    Ok((tls, format!("{scheme}://{host}:{port}")))
}

fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        // An address with colons of its own stands in brackets.
        Some(rest) => match &text[rest.find(']')? + 2..] {
            "" => (text, None),
            tail => (&text[..text.len() - tail.len()], Some(tail.strip_prefix(':')?)),
        },
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
    let port = port.map_or(Some(PORT), |port| port.parse().ok().filter(|port| *port != 0))?;
    (!host.is_empty() && host.chars().all(is_plain)).then_some((host, port))
}

fn strange(text: &str) -> Error {
    Error::new(format_args!("`{text}` is not the address of a board"))
        .hint("nats://HOST:PORT or tls://HOST:PORT")
}

/// A server without what stands before its host.
fn masked(text: &str) -> String {
    let at = text.rfind('@').unwrap_or(text.len());
    let scheme = text[..at].find("://").map_or(0, |at| at + 3);
    format!("{}***{}", &text[..scheme], &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, expected) in [
            ("nats://host:4111", Ok("nats://host:4111")),
            ("tls://host", Ok("tls://host:4222")),
            ("host:1", Ok("nats://host:1")),
            ("nats://10.0.0.1/", Ok("nats://10.0.0.1:4222")),
            ("tls://[::1]:5", Ok("tls://[::1]:5")),
            ("tls://[::1]", Ok("tls://[::1]:4222")),
            ("nats://a:1,nats://b:2", Ok("nats://a:1,nats://b:2")),
            ("nats://a,tls://b", Err("`nats://a,tls://b` mixes servers with TLS and without")),
            ("http://a", Err("`http://a` is not the address of a board")),
            ("nats://", Err("`nats://` is not the address of a board")),
            ("nats://a:b", Err("`nats://a:b` is not the address of a board")),
            ("nats://a:0", Err("`nats://a:0` is not the address of a board")),
            ("nats://user:hunter2@host:4222", Err("`nats://***@host:4222` has a secret in it")),
            ("hunter2@host", Err("`***@host` has a secret in it")),
            ("hunter2@x://host", Err("`***@x://host` has a secret in it")),
        ] {
            let found =
                text.parse().map(|it: BoardAddress| it.to_string()).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
        }
    }
}
