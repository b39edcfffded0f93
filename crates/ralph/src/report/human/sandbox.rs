//! What people see of the sandbox.

use ralph_core::containment::{
    contact::Contact,
    environment::stays_outside,
    level::Level,
    run_later::{LaterFile, explained},
};

use super::Human;
use crate::term::{Palette, fit::flow, printable};

impl Human {
    /// How the run is contained, and what that leaves open.
    pub(super) fn sandboxed(&mut self, level: Level, uncovered: &[String], withheld: &[String]) {
        let Palette { quiet, strong, .. } = self.look.palette;
        let label = format!("Sandbox: {}. Not covered: ", level.name());
        let facts = flow(uncovered, "; ", label.len(), 2, self.screen.columns());
        let rest = label.strip_prefix("Sandbox: ").unwrap_or(&label);
        self.line(&format!("{strong}Sandbox:{strong:#} {quiet}{rest}{facts}{quiet:#}"));
        if let Some(words) = stays_outside(withheld) {
            self.line(&format!("{quiet}{}{quiet:#}", printable(&words)));
        }
    }

    /// The turn changed what the sandbox cannot protect.
    pub(super) fn tampered(&mut self, changed: &[String]) {
        let Palette { bad, .. } = self.look.palette;
        let (mark, names) = (self.look.marks.bad, changed.join(", "));
        self.alert(&format!("{mark} {bad}The turn changed protected files: {}.{bad:#}", printable(&names)));
    }

    /// What runs later without being asked.
    pub(super) fn runs_later(&mut self, files: &[LaterFile]) {
        let Palette { warn, .. } = self.look.palette;
        let (mark, text) = (self.look.marks.pending, explained(files));
        self.alert(&format!("{mark} {warn}{}{warn:#}", printable(&text)));
    }

    /// Who was not reached; those who were are in the record.
    pub(super) fn contacted(&mut self, hosts: &[Contact]) {
        let Palette { warn, .. } = self.look.palette;
        for contact in hosts {
            if let Some(why) = &contact.refused {
                let host = printable(&contact.host);
                let hint = contact.hint().map(|hint| format!(" To allow it: {}", printable(&hint)));
                let hint = hint.unwrap_or_default();
                self.alert(&format!(
                    "{warn}The sandbox refused a connection to {host}: {why}.{warn:#}{hint}"
                ));
            }
        }
    }
}
