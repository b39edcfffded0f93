//! Who may ask the server of the page for what: rules over the head of a request, without a socket.
//!
//! Invariant: a page of another site, another site's name that leads to this machine, and a process without the link of the
//! terminal get nothing but the empty page. What changes something needs, on top, a header that no other site can send and
//! that another server of this machine never sees, as it sees cookies.

use std::net::IpAddr;

/// Where the server listens, and what it may do there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebPlace {
    /// Only this machine can connect.
    pub is_loopback: bool,
    /// Names under which something with TLS on this machine hands on what it is asked.
    pub names: Vec<String>,
    /// Whether the person allowed actions.
    pub actions: Actions,
}

/// Whether the page can do more than show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actions {
    /// It can, for anyone who has the key of this process.
    Allowed,
    /// The person did not ask for it.
    NotAllowed,
    /// The person asked for it, but anyone on the way could read and repeat what is sent.
    NoTls,
}

impl Actions {
    /// What the person asked for, where the server listens.
    pub fn of(wants_actions: bool, is_loopback: bool) -> Self {
        match (wants_actions, is_loopback) {
            (false, _) => Self::NotAllowed,
            (true, true) => Self::Allowed,
            (true, false) => Self::NoTls,
        }
    }
}

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// A file of the page; it has nothing of any run in it.
    File,
    /// To show the token and become a session.
    Begin,
    /// What runs do and did.
    Look,
    /// To change something.
    Act,
}

/// What the head of a request says, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The name and port that the browser believes to talk to.
    pub host: Option<&'a str>,
    /// The site of the page that asks.
    pub origin: Option<&'a str>,
    /// How that site and this one are related, where the browser says so.
    pub fetch_site: Option<&'a str>,
    /// Whether its cookie is of a session.
    pub has_session: bool,
    /// Whether it carries the key that only the page of this process knows.
    pub has_key: bool,
    /// Whether it carries the header that forms and links of other sites cannot send.
    pub has_header: bool,
}

/// Why a request gets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebRefusal {
    /// The name it asked for is not one of this server's: another site's name may lead here.
    Host,
    /// A page of another site asks.
    Origin,
    /// The header is missing that only a page of this server sends.
    Header,
    /// There is no session: the link that the terminal shows was not opened in this browser.
    Session,
    /// The session is older than this process: reading goes on, acting needs the link again.
    Key,
    /// The page only shows.
    ReadOnly(Actions),
}

impl WebRefusal {
    /// The status of the answer.
    pub fn status(self) -> u16 {
        match self {
            Self::Host => 421,
            Self::Session => 401,
            Self::Origin | Self::Header | Self::Key | Self::ReadOnly(_) => 403,
        }
    }

    /// In a word that the page can rely on.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Origin => "origin",
            Self::Header => "no_header",
            Self::Session => "no_session",
            Self::Key => "no_key",
            Self::ReadOnly(_) => "read_only",
        }
    }

    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Host => "this server does not have that name; open the link that `ralph serve` printed",
            Self::Origin => "a page of another site asked",
            Self::Header => "the request does not come from the page",
            Self::Session => "open the link that `ralph serve` printed in this browser",
            Self::Key => "`ralph serve` was started again; to act, open the link that it printed",
            Self::ReadOnly(Actions::NoTls) => {
                "no actions over a network without TLS; use a tunnel to the loopback address"
            }
            Self::ReadOnly(Actions::Allowed | Actions::NotAllowed) => {
                "this page only shows; for actions, start `ralph serve --allow`"
            }
        }
    }
}

/// Decides about a request.
pub fn judge(place: &WebPlace, want: Want, head: &Head<'_>) -> Result<(), WebRefusal> {
    let host = head.host.filter(|host| is_own_host(place, host)).ok_or(WebRefusal::Host)?;
    let origin_fits = head.origin.is_none_or(|origin| is_own_origin(place, origin, host));
    // Browsers that say it say it of every request, also of those that carry no origin.
    let is_foreign = head.fetch_site.is_some_and(|site| match want {
        // A person may follow a link to the page from anywhere.
        Want::File => false,
        Want::Begin | Want::Look | Want::Act => !matches!(site, "same-origin" | "none"),
    });
    if !origin_fits || is_foreign {
        return Err(WebRefusal::Origin);
    }
    let (changes, needs_session) = match want {
        Want::File => (false, false),
        Want::Begin => (true, false),
        Want::Look => (false, true),
        Want::Act => (true, true),
    };
    // What changes something says where it comes from: browsers always do.
    if changes && head.origin.is_none() {
        return Err(WebRefusal::Origin);
    }
    if changes && !head.has_header {
        return Err(WebRefusal::Header);
    }
    if needs_session && !head.has_session {
        return Err(WebRefusal::Session);
    }
    match want {
        Want::Act if place.actions != Actions::Allowed => Err(WebRefusal::ReadOnly(place.actions)),
        Want::Act if !head.has_key => Err(WebRefusal::Key),
        Want::File | Want::Begin | Want::Look | Want::Act => Ok(()),
    }
}

/// Whether this is a name of the server. Numbers cannot be made to lead elsewhere; names can, except those that were agreed on
/// and `localhost`, which browsers keep for the machine itself. Any port: a tunnel begins at another one.
fn is_own_host(place: &WebPlace, host: &str) -> bool {
    let Some((name, _)) = split(host) else { return false };
    if is_named(place, name) {
        return true;
    }
    match address(name) {
        Some(address) => !place.is_loopback || address.is_loopback(),
        None => place.is_loopback && name.eq_ignore_ascii_case("localhost"),
    }
}

/// Whether a page of this site is a page of the server that was asked as `host`. Behind a name there is TLS.
fn is_own_origin(place: &WebPlace, origin: &str, host: &str) -> bool {
    let scheme = match split(host) {
        Some((name, _)) if is_named(place, name) => "https://",
        Some(_) | None => "http://",
    };
    origin.strip_prefix(scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(host))
}

fn is_named(place: &WebPlace, name: &str) -> bool {
    place.names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a browser that asked with this name has TLS before it.
pub fn has_tls(place: &WebPlace, host: &str) -> bool {
    split(host).is_some_and(|(name, _)| is_named(place, name))
}

/// A name and its port.
fn split(host: &str) -> Option<(&str, Option<u16>)> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        Some(_) | None => (host, None),
    };
    let port = match port {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
        Some(_) => return None,
        None => None,
    };
    (!name.is_empty()).then_some((name, port))
}

/// The address that a name is, if it is one: `127.0.0.1`, `[::1]`.
fn address(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse().ok().map(IpAddr::V6),
        None => name.parse().ok().map(IpAddr::V4),
    }
}

#[cfg(test)]
mod tests;
