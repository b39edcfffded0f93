//! Runs processes inside the sandbox of the run, if it has one, and records what it noticed.

use std::io;

use super::Driver;
use crate::{
    engine::event::{Event, TurnEnd},
    git::scm_spec,
    process::Spec,
};

/// Most of what the programs around a sandbox say.
const MOST: usize = 4096;

impl Driver {
    /// The same process inside.
    pub(super) fn contained(&mut self, spec: Spec) -> io::Result<Spec> {
        match &mut self.sandbox {
            Some(sandbox) => sandbox.wrap(spec),
            None => Ok(spec),
        }
    }

    /// Takes notice of what happened in a turn beside what the agent said.
    pub(super) fn leave_sandbox(&mut self) -> Option<TurnEnd> {
        self.note_contacts();
        let sandbox = self.sandbox.as_mut()?;
        let changed = sandbox.end_turn();
        let (is_protected, level) = (sandbox.level().protects(), sandbox.level().name());
        if changed.is_empty() {
            return None;
        }
        let names = changed.join(", ");
        if is_protected {
            self.ledger.warn(format!("protected files were changed from outside during the turn: {names}"));
            return None;
        }
        let why = "so that you can look at them";
        self.ledger.warn(format!(
            "the turn changed what the sandbox `{level}` cannot protect: {names}; the run stops, {why}"
        ));
        Some(TurnEnd::Paused { reason: Some(format!("protected files were changed: {names}")) })
    }

    /// Records whom processes inside wanted to talk to, and ends what a container left.
    pub(super) fn note_contacts(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let hosts = sandbox.contacts();
        if let Some(mut words) = sandbox.aftermath() {
            let program = words.remove(0);
            // A container that is gone already is as good.
            let spec = scm_spec(program, &self.setup.project, &self.run.id(), words);
            let _ = self.supervisor.capture(spec, MOST);
        }
        if !hosts.is_empty() {
            self.ledger.record(Event::Contacted { hosts });
        }
    }
}
