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
