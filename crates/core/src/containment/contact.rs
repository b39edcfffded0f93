//! Whom processes inside a sandbox wanted to talk to.

use std::net::{IpAddr, Ipv4Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host that a process inside the sandbox wanted to talk to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Contact {
    /// `host:port`.
    pub host: String,
    /// Why it was refused; nothing if it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
}

impl Contact {
    /// What the list of hosts must have for it: a name opens the ports of the web. Nothing for what hands the credentials
    /// of the machine to all who ask: no one should be told to open that.
    pub fn entry(&self) -> Option<&str> {
        if hands_out_credentials(&self.host) {
            return None;
        }
        let is_address = |name: &str| name.contains(':') || name.parse::<std::net::IpAddr>().is_ok();
        let named = [":443", ":80"].into_iter().find_map(|port| self.host.strip_suffix(port));
        Some(named.filter(|name| !is_address(name) && *name != "localhost").unwrap_or(&self.host))
    }

    /// How to allow it, in words, unless no one should.
    pub fn hint(&self) -> Option<String> {
        self.entry().map(|entry| format!("\"sandbox\": {{\"hosts\": [\"{entry}\"]}}"))
    }
}

/// Whether this is where clouds answer the machines that they run, by name or by address, however that is written.
fn hands_out_credentials(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_lowercase();
    let is_name = ["metadata", "instance-data"].contains(&name.as_str())
        || ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"]
            .contains(&name.as_str());
    let number =
        name.strip_prefix("0x").map_or_else(|| name.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
    let address = name.parse().ok().or(number.map(|number| IpAddr::V4(number.into())));
    is_name
        || address.is_some_and(|address: IpAddr| match address.to_canonical() {
            IpAddr::V4(v4) => v4.is_link_local() || v4 == Ipv4Addr::new(100, 100, 100, 200),
            IpAddr::V6(v6) => v6.segments()[..2] == [0xfd00, 0x0ec2] || v6.segments()[0] & 0xffc0 == 0xfe80,
        })
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
            assert_eq!(contact.entry(), Some(entry));
        }
    }

    #[test]
    fn no_one_is_told_to_open_what_hands_out_credentials() {
        for host in [
            "169.254.169.254:80",
            "169.254.170.2:80",
            "100.100.100.200:80",
            "metadata.google.internal:80",
            "Metadata.Google.Internal.:80",
            "metadata:80",
            "[fd00:ec2::254]:80",
            "fd00:ec2::254:80",
            "[::ffff:169.254.169.254]:80",
            "2852039166:80",
            "0xa9fea9fe:80",
        ] {
            let contact = Contact { host: host.to_owned(), refused: Some("no".to_owned()) };
            assert_eq!((contact.entry(), contact.hint()), (None, None), "{host}");
        }
        let contact = Contact { host: "example.org:443".to_owned(), refused: Some("no".to_owned()) };
        assert_eq!(contact.hint().as_deref(), Some("\"sandbox\": {\"hosts\": [\"example.org\"]}"));
    }

    #[test]
    fn addresses_of_the_link_are_where_credentials_are_handed_out() {
        for host in [
            "[fe80::1]:80",
            "[fe80::a9fe:a9fe]:80",
            "[febf::1]:80",
            "[fd00:ec2::254]:80",
            "169.254.169.254:80",
        ] {
            assert!(hands_out_credentials(host), "{host}");
        }
        for host in ["[2001:db8::1]:80", "[140::1]:80", "[fec0::1]:80", "[fd00:ec3::254]:80", "8.8.8.8:80"] {
            assert!(!hands_out_credentials(host), "{host}");
        }
    }
}
