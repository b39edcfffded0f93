//! How the run was contained, and whom it talked to; whom it wanted to talk to in vain stands with what was refused.

use ralph_core::engine::event::Event;

use super::{Page, escape};
use crate::report::listing::connections;

impl Page<'_> {
    /// The sandbox, what it leaves open, and the hosts; nothing where there was none.
    pub(super) fn contained(&self) -> Option<String> {
        let (level, uncovered, withheld) =
            self.folded.entries.iter().rev().find_map(|entry| match &entry.event {
                Event::Sandboxed { level, uncovered, withheld } => Some((level, uncovered, withheld)),
                _ => None,
            })?;
        let reached = connections(self.folded).into_iter().filter(|contact| contact.refused.is_none());
        let reached: Vec<String> =
            reached.map(|contact| format!("<code>{}</code>", escape(&contact.host))).collect();
        let hosts = match reached.as_slice() {
            [] => "No host was reached.".to_owned(),
            several => format!("Reached: {}.", several.join(", ")),
        };
        let open = match uncovered.as_slice() {
            [] => String::new(),
            several => format!(" Not covered: {}.", escape(&several.join("; "))),
        };
        let names: Vec<String> =
            withheld.iter().map(|name| format!("<code>{}</code>", escape(name))).collect();
        let outside = match names.as_slice() {
            [] => String::new(),
            several => format!("\n<p>Variables that stayed outside: {}.</p>", several.join(", ")),
        };
        Some(format!("<p>{}.{open}</p>\n<p>{hosts}</p>{outside}", escape(level.name())))
    }
}
