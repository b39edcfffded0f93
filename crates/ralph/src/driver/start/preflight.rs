//! What a run stands on: its programs, its repository, its locks, and who ends its processes.

use std::{collections::BTreeMap, fs::File, io, os::fd::OwnedFd, path::PathBuf};

use ralph_core::{
    engine::plan::Plan,
    setup::{LockScope, Role, Setup},
};
use ralph_sys::{
    error::{Context, Result},
    files::Root,
    process::{Supervisor, guardian::Guardian},
};

use super::programs::{find_first, find_git, find_scm, refuse_elsewhere};
use crate::{
    driver::{
        Driver, agent::Agent, agent_version, containment::Containment, judge::RunJudge, ledger::Ledger,
        progress::Trees, prompts::Prompts, relay, site::Site, stories::StoryKeeper,
    },
    journal::{Journal, run_dir::RunDir},
    project::{git::Git, lock},
    tasks::{
        self, Task,
        registration::{Registration, is_of_another, title},
        store,
    },
};

/// What a run stands on, new or resumed.
pub(super) struct Preflight {
    /// Of whom, by name, and where it is.
    program: (Option<String>, PathBuf),
    pub(super) supervisor: Supervisor,
    pub(super) git: Option<Git>,
    pub(super) repository: Option<Git>,
    /// What git says where it does not take what is there for a repository.
    pub(super) repository_refused: Option<String>,
    pub(super) judge: Option<RunJudge>,
    pub(super) locks: Vec<File>,
}

impl Preflight {
    /// Finds the programs and takes the tree.
    pub(super) fn take(plan: &Plan, setup: &Setup) -> Result<Self> {
        refuse_elsewhere()?;
        let program = find_first(plan, setup)?;
        let mut supervisor = Supervisor::new()?;
        find_scm(plan, setup)?;
        let git = find_git(&mut supervisor, plan, setup)?;
        let locks = match &setup.territory {
            LockScope::Tree => lock::take(&setup.project, git.as_ref().map(Git::top))?,
            LockScope::Folder(folder) => {
                Root::around(&setup.project, folder)
                    .make_folder(folder)
                    .context(format!("cannot make {}", folder.display()))?;
                vec![lock::take_folder(folder, &setup.project)?]
            }
            LockScope::Shared => Vec::new(),
        };
        let (mut repository, mut repository_refused) = (git.clone(), None);
        if git.is_none() {
            match Git::find(&mut supervisor, &setup.project) {
                Ok(found) => repository = found,
                Err(error) if error.kind() == io::ErrorKind::Other => {
                    repository_refused = Some(format!("git does not work here: {error}"));
                }
                // Without git there is none.
                Err(_) => {}
            }
        }
        Ok(Self { program, supervisor, git, repository, repository_refused, judge: None, locks })
    }

    /// What is not committed before the run begins: none of it is the run's.
    pub(super) fn dirty(&mut self) -> Result<BTreeMap<String, String>> {
        let changes = match (&self.git, &self.repository) {
            (Some(git), _) => git.changes(&mut self.supervisor)?,
            // Nothing is committed: it is only for people.
            (None, Some(repository)) => repository.changes(&mut self.supervisor).unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        Ok(changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect())
    }

    /// Makes the run known to the others that work on its task, and leaves their processes alone.
    pub(super) fn register(&mut self, setup: &Setup, run: &RunDir) -> Result<()> {
        let id = run.id();
        if let Some(assignment) = &setup.assignment {
            let agent = &setup.agent.command;
            let record = run.path().to_owned();
            Registration { assignment, run: &id, record, agent, title: title(setup) }.register()?;
            let (task, id) = (Task::of(assignment), id.clone());
            self.supervisor.tell_groups(move |group| {
                // Those who read the record can do without.
                let _ = store::update(&task, &id, |record| record.group = Some(group));
            });
        }
        // A loop inside a task finds the children of others among its own leftovers too.
        let task = setup.assignment.as_ref().map(Task::of);
        if let Some(task) = task.or_else(|| tasks::surroundings().map(|(_, task)| task)) {
            self.supervisor.spare(move |pid| is_of_another(&task, pid, &id));
        }
        Ok(())
    }

    /// Adds the agent's version to the record of a run that others may look at.
    pub(super) fn note_version(&mut self, setup: &Setup, run: &RunDir) {
        let Some(assignment) = &setup.assignment else { return };
        let task = Task::of(assignment);
        let of_parent = assignment.parent.as_ref().and_then(|parent| store::one(&task, parent));
        let known = of_parent.filter(|parent| parent.agent == setup.agent.command);
        let version = match known.and_then(|parent| parent.agent_version) {
            Some(version) => Some(version),
            // Its program may be one that the caller wrote, and nothing contains it yet.
            None if assignment.role == Role::Child && setup.sandbox.level().contains() => None,
            None => agent_version::of_agent(
                &mut self.supervisor,
                &setup.agent.command,
                &self.program.1,
                &setup.project,
            ),
        };
        if version.is_some() {
            // It is only for people.
            let _ = store::update(&task, &run.id(), |record| record.agent_version = version);
        }
    }

    /// From here on the run's processes do not outlive ralph, nor do they outlive the locks.
    pub(super) fn guard(&mut self, run: &RunDir, journal: &Journal) -> Result<()> {
        let mut locks = vec![OwnedFd::from(journal.lock()?)];
        for file in &self.locks {
            locks.push(file.try_clone()?.into());
        }
        let guardian = Guardian::start(run.mark(), &locks).context("cannot start the guardian")?;
        self.supervisor.guarded(guardian.noting_in(&run.watched()));
        Ok(())
    }

    pub(super) fn driver(self, ledger: Ledger, dir: RunDir, stories: Option<StoryKeeper>) -> Result<Driver> {
        let Self { program: (holder, program), supervisor, git, repository, judge, locks, .. } = self;
        let mut site = Site::new(ledger, supervisor, dir);
        relay::take_seat(&mut site, holder.as_deref());
        let containment = Containment::prepare(&mut site, &program).context("cannot prepare the sandbox")?;
        let agent = Agent::new(program, &mut site);
        let watches = site.run().plan.stuck_after.is_some();
        let (prompts, trees) = (Prompts::default(), Trees::new(repository, watches));
        Ok(Driver { site, agent, holder, prompts, containment, git, trees, judge, stories, locks })
    }
}
