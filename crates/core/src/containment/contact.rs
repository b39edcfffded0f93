//! Whom processes inside a sandbox wanted to talk to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Somebody that a process inside the sandbox wanted to talk to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    /// `host:port`.
    pub host: String,
    /// Why it was refused; nothing if it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
}

impl Contact {
    /// What the list of hosts must have for it: a name opens the ports of the web.
    pub fn entry(&self) -> &str {
        let is_address = |name: &str| name.contains(':') || name.parse::<std::net::IpAddr>().is_ok();
        let named = [":443", ":80"].into_iter().find_map(|port| self.host.strip_suffix(port));
        named.filter(|name| !is_address(name) && *name != "localhost").unwrap_or(&self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_hosts_needs_the_name_alone_for_the_web() {
        for (host, entry) in [
            ("example.org:443", "example.org"),
            ("example.org:80", "example.org"),
            ("example.org:8443", "example.org:8443"),
            ("example.org:22", "example.org:22"),
            // A name opens the ports of the web; an address and this machine open nothing by themselves.
            ("192.0.2.7:443", "192.0.2.7:443"),
            ("2001:db8::7:443", "2001:db8::7:443"),
            ("localhost:80", "localhost:80"),
        ] {
            let contact = Contact { host: host.to_owned(), refused: None };
            assert_eq!(contact.entry(), entry);
        }
    }
}
