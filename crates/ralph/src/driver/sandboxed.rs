//! Runs processes inside the sandbox of the run, if it has one, and records what it noticed.

use std::{io, path::Path};

use ralph_core::{engine::event::Event, setup::Setup};
use ralph_sandbox::{Sandbox, SandboxRequest, spool::VARIABLE};
use ralph_sys::{
    calls::unattended,
    files::{self, MAX_TEXT_LEN},
    process::{Spec, Supervisor},
};

use super::{
    Driver,
    spool::{Caller, Spool},
};
use crate::{journal::run_dir::RunDir, tasks::Task};

/// Most of what the programs around a sandbox say.
const MAX_OUTPUT_LEN: usize = 4096;

/// Prepares the sandbox of a run; nothing if it wants none.
pub(super) fn of_run(
    setup: &Setup,
    run: &RunDir,
    program: &Path,
    supervisor: &mut Supervisor,
) -> io::Result<Option<Sandbox>> {
    if !setup.sandbox.level().contains() {
        return Ok(None);
    }
    let plan = setup.variables.get("PLAN_FILE").map(|name| setup.project.join(name));
    let request = SandboxRequest {
        project: &setup.project,
        agent: ralph_agents::adapter(&setup.agent.command).name(),
        program,
        env: &setup.agent.env,
        work: plan,
        folder: run.path(),
        cache: run.cache(),
        id: run.id(),
    };
    Sandbox::prepare(setup.sandbox.clone(), request, supervisor).map(Some)
}

impl Driver {
    /// Gets ready for a turn whose record is in this folder.
    pub(super) fn enter_sandbox(&mut self, turn: &Path) {
        let Some(sandbox) = &mut self.sandbox else { return };
        sandbox.begin_turn();
        let Some(assignment) = self.setup.assignment.as_ref().filter(|_| sandbox.level().has_ralph()) else {
            return;
        };
        let caller = Caller {
            project: self.setup.project.clone(),
            task: Task::of(assignment),
            run: self.run.id(),
            agent: self.setup.agent.command.clone(),
        };
        match Spool::open(turn, caller) {
            Ok(spool) => self.spool = Some(spool),
            Err(error) => {
                self.ledger.warn(format!("the agent cannot start other runs in this turn: {error}"));
            }
        }
    }

    /// The contents of a file, for the agent: nothing that its sandbox hides from it.
    pub(super) fn read_for_agent(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.sandbox.as_ref().is_some_and(|sandbox| sandbox.hides(path)) {
            return Err(io::Error::other("it leads to what the sandbox hides from the agent"));
        }
        files::read(path, MAX_TEXT_LEN)
    }

    /// The same process inside.
    pub(super) fn contained(&mut self, mut spec: Spec) -> io::Result<Spec> {
        if let Some(spool) = &self.spool
            && !spec.env.iter().any(|(name, _)| name == VARIABLE)
        {
            spec.env.push((VARIABLE.into(), Some(spool.folder().into())));
        }
        match &mut self.sandbox {
            Some(sandbox) => sandbox.wrap(spec),
            None => Ok(spec),
        }
    }

    /// Takes notice of what happened in a turn beside what the agent said. Returns what it changed that it must not.
    pub(super) fn leave_sandbox(&mut self) -> Option<Vec<String>> {
        if let Some(spool) = self.spool.take() {
            spool.close();
        }
        self.note_contacts();
        let sandbox = self.sandbox.as_mut()?;
        sandbox.end_turn();
        if let Some(changed) = tampered(sandbox) {
            return Some(changed);
        }
        if sandbox.level().protects() && !sandbox.changed().is_empty() {
            let names = sandbox.changed().join(", ");
            self.ledger.warn(format!("protected files were changed from outside during the turn: {names}"));
        }
        None
    }

    /// Says what was changed when the last turn of a process was on record already.
    pub(super) fn warn_of_late_changes(&mut self, tampered: Option<Vec<String>>) {
        if let Some(changed) = tampered {
            let names = changed.join(", ");
            self.ledger.warn(format!("protected files were changed after the turn had ended: {names}"));
        }
    }

    /// Records whom processes inside wanted to talk to, and ends what a container left.
    pub(super) fn note_contacts(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let hosts = sandbox.connections();
        if let Some(mut words) = sandbox.cleanup_command() {
            let program = words.remove(0);
            // A container that is gone already is as good.
            let spec = unattended(program, &self.setup.project, words);
            let _ = self.supervisor.capture(spec, MAX_OUTPUT_LEN);
        }
        if !hosts.is_empty() {
            self.ledger.record(Event::Contacted { hosts });
        }
    }
}

/// What a turn changed that its sandbox cannot protect; nothing when it changed nothing.
pub(super) fn tampered(sandbox: &Sandbox) -> Option<Vec<String>> {
    if sandbox.level().protects() {
        return None;
    }
    Some(sandbox.changed()).filter(|changed| !changed.is_empty())
}
