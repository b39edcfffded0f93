//! Runs processes inside the sandbox of the run, if it has one, and records what it noticed.

use std::{
    io,
    path::{Path, PathBuf},
};

use ralph_core::{containment::wanted::GatesRun, engine::event::Event, setup::Setup};
use ralph_sandbox::{Sandbox, SandboxRequest, spool::VARIABLE, unprotected::UnprotectedFiles};
use ralph_sys::{
    calls::unattended,
    files::{self, MAX_TEXT_LEN},
    process::Spec,
};

use super::{
    run_later,
    site::Site,
    spool::{Caller, Spool},
};
use crate::{receipt::signing, tasks::Task};

/// Most of what the programs around a sandbox say.
const MAX_OUTPUT_LEN: usize = 4096;

/// What contains the processes of a run, if anything does.
pub(super) struct Containment {
    sandbox: Option<Sandbox>,
    /// What can turn a verdict, where nothing contains a loop of agents that judge each other.
    unprotected: Option<UnprotectedFiles>,
    /// Starts what the agent inside asks for, while it has its turn.
    spool: Option<Spool>,
    /// What the key that signs receipts is reached by.
    key: Vec<PathBuf>,
}

impl Containment {
    /// Prepares the sandbox that the run wants, and says what it leaves open.
    pub(super) fn prepare(site: &mut Site, agent_program: &Path) -> io::Result<Self> {
        run_later::begin(&site.dir, &site.setup.project);
        let made = Self::prepare_again(site, agent_program)?;
        if let Some(sandbox) = &made.sandbox {
            let level = sandbox.level();
            let uncovered = level.uncovered().iter().map(|it| (*it).to_owned()).collect();
            let (withheld, warnings) = (sandbox.withheld_variables(), sandbox.warnings());
            site.ledger.record(Event::Sandboxed { level, uncovered, withheld });
            for warning in warnings {
                site.ledger.warn(warning);
            }
        }
        Ok(made)
    }

    /// The same for another agent of the run: nothing of it is news.
    pub(super) fn prepare_again(site: &mut Site, agent_program: &Path) -> io::Result<Self> {
        let Site { setup, dir, supervisor, .. } = site;
        if !setup.sandbox.level().contains() {
            let unprotected =
                setup.stories.is_some().then(|| UnprotectedFiles::of(&setup.project, dir.path(), supervisor));
            return Ok(Self { sandbox: None, unprotected, spool: None, key: Vec::new() });
        }
        let plan = setup.variables.get("PLAN_FILE").map(|name| setup.project.join(name));
        let key = signing::key(supervisor, &setup.project).secrets();
        let request = SandboxRequest {
            project: &setup.project,
            agent: ralph_agents::adapter(&setup.agent.command).name(),
            program: agent_program,
            env: &setup.agent.env,
            work: plan,
            folder: dir.path(),
            cache: dir.cache(),
            id: dir.id(),
            secrets: key.clone(),
        };
        let sandbox = Sandbox::prepare(setup.sandbox.clone(), request, supervisor)?;
        Ok(Self { sandbox: Some(sandbox), unprotected: None, spool: None, key })
    }

    /// Whether there is any.
    pub(super) fn is_there(&self) -> bool {
        self.sandbox.is_some()
    }

    /// Whether processes of the run can get at the key that signs receipts.
    pub(super) fn reaches_key(&self) -> bool {
        self.sandbox.as_ref().is_none_or(|sandbox| self.key.iter().any(|path| sandbox.reaches(path)))
    }

    /// The sandbox, for who looks what is changed while a process runs in it.
    pub(super) fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    /// What a gate runs in, if in anything.
    pub(super) fn of_gates(&mut self, setup: &Setup) -> Option<&mut Sandbox> {
        self.sandbox.as_mut().filter(|_| setup.sandbox.gates == GatesRun::Inside)
    }

    /// A turn is about to be recorded.
    pub(super) fn expect_turn(&self) {
        if let Some(sandbox) = &self.sandbox {
            sandbox.forget_turn();
        }
        if let Some(files) = &self.unprotected {
            files.forget_turn();
        }
    }

    /// Gets ready for a turn whose record is in this folder.
    pub(super) fn enter(&mut self, site: &mut Site, turn: &Path) {
        if let Some(files) = &mut self.unprotected {
            files.begin_turn();
        }
        let Some(sandbox) = &mut self.sandbox else { return };
        sandbox.begin_turn();
        let Some(assignment) = site.setup.assignment.as_ref().filter(|_| sandbox.level().has_ralph()) else {
            return;
        };
        let caller = Caller {
            project: site.setup.project.clone(),
            task: Task::of(assignment),
            run: site.dir.id(),
            agent: site.setup.agent.command.clone(),
        };
        match Spool::open(turn, caller) {
            Ok(spool) => self.spool = Some(spool),
            Err(error) => {
                site.ledger.warn(format!("the agent cannot start other runs in this turn: {error}"));
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
    pub(super) fn wrap(&mut self, mut spec: Spec) -> io::Result<Spec> {
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
    pub(super) fn leave(&mut self, site: &mut Site) -> Option<Vec<String>> {
        if let Some(spool) = self.spool.take() {
            spool.close();
        }
        self.note_contacts(site);
        if let Some(files) = &self.unprotected {
            return Some(files.changed()).filter(|changed| !changed.is_empty());
        }
        let sandbox = self.sandbox.as_mut()?;
        sandbox.end_turn();
        if let Some(changed) = tampered(sandbox) {
            return Some(changed);
        }
        if sandbox.level().protects() && !sandbox.changed().is_empty() {
            let names = sandbox.changed().join(", ");
            site.ledger.warn(format!("protected files were changed from outside during the turn: {names}"));
        }
        None
    }

    /// What a turn changed that it must not, though the process that looked after it was killed.
    pub(super) fn left_by_the_dead(&mut self) -> Option<Vec<String>> {
        if let Some(files) = &mut self.unprotected {
            return files.recall_turn().then(|| files.changed()).filter(|changed| !changed.is_empty());
        }
        let sandbox = self.sandbox.as_mut()?;
        if sandbox.level().protects() || !sandbox.recall_turn() {
            return None;
        }
        tampered(sandbox)
    }

    /// Records whom processes inside wanted to talk to, and ends what a container left.
    pub(super) fn note_contacts(&mut self, site: &mut Site) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let hosts = sandbox.connections();
        if let Some(mut words) = sandbox.cleanup_command() {
            let program = words.remove(0);
            // A container that is gone already is as good.
            let spec = unattended(program, &site.setup.project, words);
            let _ = site.supervisor.capture(spec, MAX_OUTPUT_LEN);
        }
        if !hosts.is_empty() {
            site.ledger.record(Event::Contacted { hosts });
        }
    }

    /// Removes what was made for the run.
    pub(super) fn finish(&self, site: &mut Site) {
        if let Some(sandbox) = &self.sandbox {
            sandbox.finish(&mut site.supervisor);
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
