//! Everything that must be right before the first turn: a run that cannot work is refused before it begins.

mod programs;
mod protection;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    env,
    fs::File,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use super::{
    Driver,
    assigned::tell_of_end,
    hooking,
    ledger::Ledger,
    refuse::{check_names, refuse_conversation, refuse_exhausted, refuse_final},
    stories::Stories,
};
use crate::{
    driver::{agent_version, sandboxed},
    journal::{self, Journal, run_dir::RunDir},
    project::{git::Git, lock, own_files},
    report::{Reporter, session_log::SessionLog, style::ReportStyle},
    tasks::{
        self, Task,
        registration::{Registration, is_of_another, title},
        reporter::TaskReporter,
        store,
    },
};

use ralph_core::setup::PROJECT_DIR;
use ralph_core::{
    containment::level::Choice,
    engine::{
        Run,
        event::{Event, RunStarted, TasksJudged},
        plan::{Limits, Plan},
    },
    setup::{LockScope, PromptSource, Role, Setup},
};
use ralph_sandbox::{Sandbox, self_test};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{self, MAX_TEXT_LEN, Readers, Root},
    hash,
    process::{
        Supervisor,
        guardian::{self, Guardian},
    },
};

use programs::{find_agent, find_git, find_scm};

/// A run to begin.
pub(crate) struct Start {
    pub(crate) plan: Plan,
    pub(crate) setup: Setup,
    /// Its folder, where it has one already.
    pub(crate) run: Option<RunDir>,
    /// Files to write once nothing stands against the run, where there are none.
    pub(crate) drafts: Vec<(PathBuf, Cow<'static, str>)>,
    pub(crate) reporters: Vec<Box<dyn Reporter>>,
    /// What a person should know from the start.
    pub(crate) warnings: Vec<String>,
    /// A turn of an earlier run that was judged just now.
    pub(crate) settled: Option<TasksJudged>,
}

/// A run to go on with.
pub(crate) struct Resume {
    pub(crate) run: RunDir,
    /// The limits from here on, made from those it had.
    pub(crate) raise: Box<dyn Fn(Limits) -> Limits>,
    pub(crate) reporters: Vec<Box<dyn Reporter>>,
}

impl Start {
    /// Checks what the run needs, takes the tree, and records the start.
    pub(crate) fn begin(self) -> Result<Driver> {
        let Self { plan, mut setup, run, drafts, reporters, warnings, settled } = self;
        check_names(&setup)?;
        let odd_rules = protection::check_rules(&setup)?;
        if !drafts.iter().any(|(path, _)| setup.prompt.path() == Some(path)) {
            check_prompt(&setup.prompt)?;
        }
        let mut ground = Preflight::take(&plan, &setup)?;
        setup.sandbox.level = Choice::Level(self_test::choose(&mut ground.supervisor, &setup.sandbox)?);
        write_absent(&setup.project, &drafts)?;
        check_prompt(&setup.prompt)?;
        if let Some(git) = &ground.git {
            let changes = git.changes(&mut ground.supervisor)?;
            setup.dirty = changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect();
        }
        let run = run.map_or_else(|| RunDir::create(&setup.project), Ok)?;
        ground.register(&setup, &run).inspect_err(|_| {
            // Nothing is in it.
            let _ = run.remove();
        })?;
        let journal = Journal::open(&run.journal())?;
        let stories = Stories::begin(&mut setup, &run)?;
        let hidden = own_files::hide(&setup.project);
        ground.guard(&run, &journal)?;
        ground.note_version(&setup, &run);

        let started = RunStarted {
            run: run.id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            plan,
            setup: setup.clone(),
        };
        let mut ledger = Ledger::begin(started, journal, with_keeper(reporters, &setup, &run));
        begin_session_log(&mut ledger, &setup);
        if let Some(judged) = settled {
            ledger.record(Event::TasksJudged(Box::new(judged)));
        }
        for warning in warnings.into_iter().chain(odd_rules) {
            ledger.warn(warning);
        }
        protection::warn(&mut ledger, &setup);
        if let Err(error) = hidden {
            ledger.warn(format!("ralph's files cannot be kept in {PROJECT_DIR}: {error}"));
        }
        let mut driver = ground.driver(ledger, setup, run, stories)?;
        driver.notice_git()?;
        Ok(driver)
    }
}

impl Resume {
    /// Takes the tree, ends what is left of the process that died, and goes on where the journal ends.
    pub(crate) fn begin(self) -> Result<Driver> {
        let Self { run, raise, reporters } = self;
        let size = |run: &RunDir| run.journal().metadata().map(|it| it.len()).ok();
        let seen = size(&run);
        let folded = journal::fold(&run.journal())?;
        tell_of_end(&folded, &run);
        let mut known = folded.run;
        let mut limits = may_go_on(&known, &raise, &run)?;
        let setup = known.started.setup.clone();
        let mut ground = Preflight::take(&known.plan, &setup)?;
        let journal = Journal::open(&run.journal())?;
        // Another process may have written until now; only what was read under the lock counts.
        if size(&run) != seen {
            known = journal::fold(&run.journal())?.run;
            limits = may_go_on(&known, &raise, &run)?;
        }
        // In case the guardian was killed too.
        if !setup.keep_leftovers {
            guardian::end_run(&run.id());
        }
        self_test::choose(&mut ground.supervisor, &setup.sandbox)?;
        let _ = own_files::hide(&setup.project);
        ground.register(&setup, &run)?;
        ground.guard(&run, &journal)?;

        let reporters = with_keeper(reporters, &setup, &run);
        let mut ledger = Ledger::resume(known, journal, reporters);
        ledger.record(Event::RunResumed { pid: std::process::id(), limits });
        begin_session_log(&mut ledger, &setup);
        let stories = Stories::resume(ledger.run(), &run)?;
        ground.driver(ledger, setup, run, stories)
    }
}

/// The limits that a run goes on with, if it may.
fn may_go_on(known: &Run, raise: &dyn Fn(Limits) -> Limits, run: &RunDir) -> Result<Limits> {
    refuse_final(known, run)?;
    refuse_conversation(known, run)?;
    let had = known.plan.limits;
    let limits = raise(had);
    if limits.iterations < had.iterations {
        return Err(Error::new(format!(
            "the run may already have {} iterations; a resume can only raise that",
            had.iterations
        )));
    }
    refuse_exhausted(known, limits, run)?;
    Ok(limits)
}

/// What a run stands on, new or resumed.
struct Preflight {
    program: PathBuf,
    supervisor: Supervisor,
    git: Option<Git>,
    repository: Option<Git>,
    tree: Vec<File>,
}

impl Preflight {
    /// Finds the programs and takes the tree.
    fn take(plan: &Plan, setup: &Setup) -> Result<Self> {
        let program = find_agent(setup)?;
        let mut supervisor = Supervisor::new()?;
        find_scm(plan, setup)?;
        let git = find_git(&mut supervisor, plan, setup)?;
        let tree = match &setup.territory {
            LockScope::Tree => lock::take(&setup.project, git.as_ref().map(Git::top))?,
            LockScope::Folder(folder) => {
                Root::around(&setup.project, folder)
                    .make_folder(folder)
                    .context(format!("cannot make {}", folder.display()))?;
                vec![lock::take_folder(folder, &setup.project)?]
            }
            LockScope::Shared => Vec::new(),
        };
        let repository = match &git {
            _ if plan.stuck_after.is_none() => None,
            Some(git) => Some(git.clone()),
            None => Git::find(&mut supervisor, &setup.project).ok().flatten(),
        };
        Ok(Self { program, supervisor, git, repository, tree })
    }

    /// Makes the run known to the others that work on its task, and leaves their processes alone.
    fn register(&mut self, setup: &Setup, run: &RunDir) -> Result<()> {
        let id = run.id();
        if let Some(assignment) = &setup.assignment {
            let agent = &setup.agent.command;
            let record = run.path().to_owned();
            Registration { assignment, run: &id, record, agent, title: title(setup) }.register()?;
            let (task, id) = (Task::of(assignment), id.clone());
            self.supervisor.tell_groups(move |group| {
                // Whoever reads the record can do without.
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
    fn note_version(&mut self, setup: &Setup, run: &RunDir) {
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
                &self.program,
                &setup.project,
            ),
        };
        if version.is_some() {
            // It is only for people.
            let _ = store::update(&task, &run.id(), |record| record.agent_version = version);
        }
    }

    /// From here on the run's processes do not outlive ralph, nor do they outlive the locks.
    fn guard(&mut self, run: &RunDir, journal: &Journal) -> Result<()> {
        let mut locks = vec![OwnedFd::from(journal.lock()?)];
        for file in &self.tree {
            locks.push(file.try_clone()?.into());
        }
        self.supervisor.guarded(Guardian::start(&run.id(), &locks).context("cannot start the guardian")?);
        Ok(())
    }

    fn driver(
        self,
        mut ledger: Ledger,
        setup: Setup,
        run: RunDir,
        stories: Option<Stories>,
    ) -> Result<Driver> {
        let Self { program, mut supervisor, git, repository, tree } = self;
        let sandbox = sandboxed::of_run(&setup, &run, &program, &mut supervisor)
            .context("cannot prepare the sandbox")?;
        if let Some(level) = sandbox.as_ref().map(Sandbox::level) {
            let uncovered = level.uncovered().iter().map(|it| (*it).to_owned()).collect();
            ledger.record(Event::Sandboxed { level, uncovered });
        }
        for warning in sandbox.iter().flat_map(Sandbox::warnings) {
            ledger.warn(warning);
        }
        let hooks = hooking::hooks(&ledger.run().plan, &setup);
        Ok(Driver {
            ledger,
            setup,
            run,
            supervisor,
            program,
            git,
            repository,
            base_prompt: None,
            bus_length: 0,
            sandbox,
            spool: None,
            hooks,
            stories,
            tree,
        })
    }
}

/// Adds who tells the others of the run's task.
fn with_keeper(mut reporters: Vec<Box<dyn Reporter>>, setup: &Setup, run: &RunDir) -> Vec<Box<dyn Reporter>> {
    if let Some(assignment) = &setup.assignment {
        reporters.push(Box::new(TaskReporter::new(assignment, setup, &run.id())));
    }
    reporters
}

/// Adds the session log where the run writes one.
fn begin_session_log(ledger: &mut Ledger, setup: &Setup) {
    if !setup.session_log {
        return;
    }
    match SessionLog::begin(&setup.project, &Path::new(PROJECT_DIR).join("logs"), ReportStyle::of_a_file()) {
        Ok(log) => ledger.reporters.push(Box::new(log)),
        Err(error) => ledger.warn(format!("there is no session log: {error}")),
    }
}

fn write_absent(project: &Path, drafts: &[(PathBuf, Cow<'static, str>)]) -> Result<()> {
    for (path, text) in drafts.iter().filter(|(path, _)| path.symlink_metadata().is_err()) {
        Root::around(project, path)
            .replace(path, text.as_bytes(), Readers::AsBefore)
            .context(format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn check_prompt(prompt: &PromptSource) -> Result<()> {
    let Some(path) = prompt.path() else { return Ok(()) };
    let text = files::read(path, MAX_TEXT_LEN)
        .map_err(|error| Error::new(format!("cannot read the prompt file `{}`: {error}", path.display())))?;
    if text.trim_ascii().is_empty() {
        return Err(Error::new(format!("the prompt file `{}` is empty", path.display())));
    }
    Ok(())
}

/// A fingerprint of each settings file, to notice a change.
pub(crate) fn fingerprints<'a>(files: impl Iterator<Item = &'a Path>) -> BTreeMap<PathBuf, String> {
    files.map(|path| (path.to_owned(), hash::fingerprint(path))).collect()
}
