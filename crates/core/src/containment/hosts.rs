//! Which hosts a process inside a sandbox may talk to.
//!
//! A name opens ports 80 and 443. Everything else (another port, an address, the machine itself) is open only
//! if it is listed to the letter, with its port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ports that a name alone opens.
const WEB_PORTS: [u16; 2] = [80, 443];

/// Where package managers get packages from, and version managers get versions.
pub const REGISTRIES: [&str; 20] = [
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org",
    "files.pythonhosted.org",
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "proxy.golang.org",
    "sum.golang.org",
    "rubygems.org",
    "index.rubygems.org",
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "services.gradle.org",
    "api.nuget.org",
    "repo.packagist.org",
    "static.rust-lang.org",
    "nodejs.org",
    "www.python.org",
];

/// What an agent talks to: its model, and where its login is renewed.
pub fn of_agent(name: &str) -> &'static [&'static str] {
    match name {
        "claude" => &["api.anthropic.com", "platform.claude.com", "console.anthropic.com"],
        "codex" => &["api.openai.com", "auth.openai.com", "chatgpt.com", "github.com", "api.github.com"],
        "amp" => &["ampcode.com"],
        "gemini" => {
            &["generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"]
        }
        "qwen" => &["chat.qwen.ai", "portal.qwen.ai", "dashscope.aliyuncs.com"],
        "opencode" => &["opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"],
        "copilot" => &["github.com", "api.github.com", "*.githubcopilot.com"],
        "pi" => &["api.anthropic.com", "api.openai.com"],
        _ => &[],
    }
}

/// The variables that give an agent another model server than its own.
pub fn variables_of_server(agent: &str) -> &'static [&'static str] {
    match agent {
        "claude" => &["ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"],
        "codex" | "qwen" => &["OPENAI_BASE_URL"],
        "gemini" => &["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"],
        "opencode" | "pi" => &["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"],
        "copilot" => &["COPILOT_PROVIDER_BASE_URL"],
        "amp" => &["AMP_URL"],
        _ => &[],
    }
}

/// The servers whose URLs stand in a text.
pub fn servers_in(text: &str) -> Vec<Host> {
    let begins = text.match_indices("http").filter_map(|(at, _)| {
        let url = text.get(at..)?;
        let end = url.find(|c: char| c.is_whitespace() || "\"'`,<>)}".contains(c)).unwrap_or(url.len());
        Host::of_url(&url[..end])
    });
    begins.collect()
}

/// One entry of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Host {
    /// In lower case, without a dot at the end; of a wildcard what comes after the `*`.
    name: String,
    is_wildcard: bool,
    port: Option<u16>,
}

impl Host {
    /// Reads `example.com`, `*.example.com`, `example.com:8443`, `127.0.0.1:8080` or `[::1]:8080`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected a host such as example.com, *.example.com or example.com:8443";
        let (name, port) = split(text.trim()).ok_or(expected)?;
        let wildcard = name.strip_prefix('*');
        let is_address = name.parse::<IpAddr>().is_ok();
        let rest = wildcard.unwrap_or(&name);
        let is_name = !rest.trim_matches('.').is_empty()
            && rest.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
            && wildcard.is_none_or(|rest| rest.starts_with('.'));
        if !is_name && !is_address {
            return Err(expected.to_owned());
        }
        if port.is_none() && (is_address || is_this_machine(&name)) {
            return Err(format!("`{name}` needs a port: {name}:8080"));
        }
        Ok(Self { name: rest.to_owned(), is_wildcard: wildcard.is_some(), port })
    }

    /// The server of a URL: a name alone where its port is the usual one, and this machine always with its port.
    pub fn of_url(url: &str) -> Option<Self> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let usual = match scheme.to_ascii_lowercase().as_str() {
            "http" => 80,
            "https" => 443,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#']).next()?;
        let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
        Self::parse(server).or_else(|_| Self::parse(&format!("{server}:{usual}"))).ok()
    }

    /// Whether this opens what a name alone cannot: a port, an address, the machine itself.
    pub fn is_explicit(&self) -> bool {
        self.port.is_some()
    }

    /// The port of the machine itself that this opens, if it does.
    pub fn loopback_port(&self) -> Option<u16> {
        let is_loopback =
            self.name.parse::<IpAddr>().map_or_else(|_| self.name == "localhost", |it| it.is_loopback());
        self.port.filter(|_| is_loopback)
    }

    fn opens(&self, name: &str, port: u16) -> bool {
        let is_port = self.port.map_or_else(|| WEB_PORTS.contains(&port), |own| own == port);
        is_port && if self.is_wildcard { name.ends_with(&self.name) } else { name == self.name }
    }
}

impl TryFrom<String> for Host {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        let star = if host.is_wildcard { "*" } else { "" };
        let name = if host.name.contains(':') { format!("[{}]", host.name) } else { host.name };
        host.port.map_or_else(|| format!("{star}{name}"), |port| format!("{star}{name}:{port}"))
    }
}

/// What the list says of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostVerdict {
    /// It is listed by its name: the address behind it must not be of the inner network.
    Named,
    /// It is listed to the letter, with its port.
    Explicit,
    /// It is not open, and this is why.
    Refused(&'static str),
}

/// Judges a host and a port by the list.
pub fn judge(list: &[Host], host: &str, port: u16) -> HostVerdict {
    let name = normal(host);
    let mut open = list.iter().filter(|entry| entry.opens(&name, port)).peekable();
    let is_explicit = |entry: &&Host| entry.is_explicit() && !entry.is_wildcard;
    if open.peek().is_none() {
        return HostVerdict::Refused(if name.parse::<IpAddr>().is_ok() {
            "an address, and not listed with its port"
        } else if is_this_machine(&name) {
            "the machine itself, and not listed with its port"
        } else if list.iter().any(|entry| WEB_PORTS.iter().any(|web| entry.opens(&name, *web))) {
            "this port of it is not listed"
        } else {
            "not in the list of hosts"
        });
    }
    if open.any(|entry| is_explicit(&entry)) { HostVerdict::Explicit } else { HostVerdict::Named }
}

/// Whether an address may be connected to because a name leads to it. A name that is open must not lead to the
/// machine itself, nor to what answers only in its neighbourhood, such as the metadata of a cloud.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            let is_near = v4.is_loopback() || v4.is_link_local() || is_shared;
            !(is_near || a == 0 || v4.is_multicast() || v4.is_broadcast())
        }
        IpAddr::V6(v6) => {
            if let Some(v4) = embedded(v6) {
                return is_public(IpAddr::V4(v4));
            }
            let is_link_local = v6.segments()[0] & 0xffc0 == 0xfe80;
            let is_metadata = v6.segments()[..2] == [0xfd00, 0x0ec2];
            !(v6.is_loopback() || v6.is_unspecified() || v6.is_multicast() || is_link_local || is_metadata)
        }
    }
}

/// The address of the older kind inside one of the newer.
fn embedded(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let translated = v6.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let [.., a, b, c, d] = v6.octets();
    v6.to_ipv4_mapped().or_else(|| translated.then(|| Ipv4Addr::new(a, b, c, d)))
}

/// Splits `host:port`, `[::1]:port`, or either without the port.
pub fn split(text: &str) -> Option<(String, Option<u16>)> {
    if text.parse::<Ipv6Addr>().is_ok() {
        return Some((text.to_owned(), None));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_whole = bare == host || bare.parse::<Ipv6Addr>().is_ok();
    (is_whole && !bare.is_empty()).then(|| (normal(bare), port))
}

fn normal(host: &str) -> String {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.strip_suffix('.').unwrap_or(bare).to_lowercase()
}

fn is_this_machine(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests;
