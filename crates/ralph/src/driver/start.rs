//! Everything that must be right before the first turn: a run that cannot work is refused before it begins.

mod drafts;
mod programs;
mod protection;
mod verdict_place;

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
    agent::Agent,
    agent_version,
    assigned::tell_of_end,
    containment::Containment,
    judge::RunJudge,
    ledger::Ledger,
    progress::Trees,
    prompts::Prompts,
    refuse::{check_names, refuse_conversation, refuse_exhausted, refuse_final, refuse_late},
    site::Site,
    steering,
    stories::{self, StoryKeeper},
    superuser,
};
use crate::{
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

use ralph_core::{
    containment::{level::Choice, wanted::Wanted},
    engine::{
        Run,
        edits::EditsTaken,
        entry::Entry,
        event::{Event, RunStarted, TasksJudged},
        plan::{Limits, Plan},
    },
    setup::{JudgeSetup, LockScope, PROJECT_DIR, Role, Setup, StoriesSetup},
    verify::rules::CheckoutWhen,
};
use ralph_sandbox::self_test;
use ralph_sys::{
    error::{Context, Error, Result},
    files::Root,
    hash,
    process::{
        Supervisor,
        guardian::{self, Guardian},
    },
};

use drafts::write_absent;
use programs::{find_git, find_scm};

pub(super) use drafts::check_prompt;
pub(super) use programs::find_agent;

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

/// A run to continue.
pub(crate) struct Resume {
    pub(crate) run: RunDir,
    /// The limits from here on, made from those it had.
    pub(crate) raise: Box<dyn Fn(Limits) -> Limits>,
    /// What a person changed since its last process.
    pub(crate) revise: Box<Revise>,
    /// Why a person sends it back, if one does.
    pub(crate) rejected: Option<String>,
    pub(crate) reporters: Vec<Box<dyn Reporter>>,
}

/// Finds what a person changed since the last process of a run.
pub(crate) type Revise = dyn Fn(&Run, &RunDir) -> Result<Revised>;

/// What a person changed since the last process of a run.
pub(crate) struct Revised {
    /// What applies from here on, if anything changed.
    pub(crate) taken: Option<EditsTaken>,
    /// What a person should know about the rest.
    pub(crate) warnings: Vec<String>,
}

impl Revised {
    /// The run with it; its record does not have it yet.
    fn applied_to(&self, known: &Run) -> Run {
        with(known, self.taken.clone().map(|taken| Event::EditsTaken(Box::new(taken))).as_ref())
    }
}

impl Start {
    /// Checks what the run needs, takes the tree, and records the start.
    pub(crate) fn begin(self) -> Result<Driver> {
        let Self { plan, setup, run, drafts, reporters, warnings, settled } = self;
        check_names(&setup)?;
        refuse_late(&plan)?;
        let odd_rules = protection::check_rules(&setup)?;
        let held_back = superuser::check(&setup)?;
        check_prompt(&setup.prompt, &drafts)?;
        let mut preflight = Preflight::take(&plan, &setup)?;
        let level = self_test::choose(&mut preflight.supervisor, &setup.sandbox)?;
        write_absent(&setup.project, &drafts)?;
        let dirty = preflight.dirty()?;
        let (plan, in_place) = preflight.take_judge(plan, &setup)?;
        let run = run.map_or_else(|| RunDir::create(&setup.project), Ok)?;
        preflight.register(&setup, &run).inspect_err(|_| {
            // Nothing is in it.
            let _ = run.remove();
        })?;
        let journal = Journal::open(&run.journal())?;
        let pins = stories::pin(&setup, &run)?;
        // A full disk loses the copies, not the run: then a resume takes no settings over, and says why.
        let _ = steering::keep_settings(&run, &setup);
        let setup = Setup {
            sandbox: Wanted { level: Choice::Level(level), ..setup.sandbox },
            stories: setup.stories.map(|it| StoriesSetup { pinned: stories::hashes(&pins), ..it }),
            dirty,
            judge: JudgeSetup { in_place, ..setup.judge },
            ..setup
        };
        let hidden = own_files::hide(&setup.project);
        preflight.guard(&run, &journal)?;
        preflight.note_version(&setup, &run);

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
        for warning in warnings.into_iter().chain(odd_rules).chain(held_back) {
            ledger.warn(warning);
        }
        protection::warn(&mut ledger, &setup);
        if let Err(error) = hidden {
            ledger.warn(format!("ralph's files cannot be kept in {PROJECT_DIR}: {error}"));
        }
        let stories = StoryKeeper::begin(&setup, pins);
        let mut driver = preflight.driver(ledger, run, stories)?;
        if let Some(stories) = &driver.stories {
            stories.notice_git(&mut driver.site, driver.git.as_ref())?;
        }
        Ok(driver)
    }
}

impl Resume {
    /// Takes the tree, ends what is left of the process that died, and goes on where the journal ends.
    pub(crate) fn begin(self) -> Result<Driver> {
        let Self { run, raise, revise, rejected, reporters } = self;
        let decided = rejected.map(|why| Event::Rejected { why });
        let size = |run: &RunDir| run.journal().metadata().map(|it| it.len()).ok();
        let seen = size(&run);
        let folded = journal::fold(&run.journal())?;
        tell_of_end(&folded, &run);
        let mut known = folded.run;
        refuse_final(&with(&known, decided.as_ref()), &run)?;
        refuse_conversation(&known, &run)?;
        let mut revised = revise(&known, &run)?;
        let mut next = revised.applied_to(&with(&known, decided.as_ref()));
        let mut limits = may_go_on(&next, &raise, &run)?;
        let setup = next.started.setup.clone();
        let mut preflight = Preflight::take(&next.plan, &setup)?;
        if next.plan.checkout != CheckoutWhen::Never {
            preflight.take_judge(next.plan.clone(), &setup)?;
        }
        let journal = Journal::open(&run.journal())?;
        // Another process may have written until now; only what was read under the lock counts.
        if size(&run) != seen {
            known = journal::fold(&run.journal())?.run;
            revised = revise(&known, &run)?;
            next = revised.applied_to(&with(&known, decided.as_ref()));
            limits = may_go_on(&next, &raise, &run)?;
        }
        // In case the guardian was killed too.
        if !setup.leftovers.are_kept() {
            guardian::end_run(&run.id());
        }
        self_test::choose(&mut preflight.supervisor, &setup.sandbox)?;
        let _ = own_files::hide(&setup.project);
        preflight.register(&setup, &run)?;
        preflight.guard(&run, &journal)?;

        let reporters = with_keeper(reporters, &setup, &run);
        let mut ledger = Ledger::resume(known, journal, reporters);
        if let Some(event) = decided {
            ledger.record(event);
        }
        // Before the run is resumed: a kill between the two leaves it as settled as it was.
        if let Some(taken) = revised.taken {
            ledger.record(Event::EditsTaken(Box::new(taken)));
        }
        ledger.record(Event::RunResumed { pid: std::process::id(), limits });
        begin_session_log(&mut ledger, &setup);
        for warning in revised.warnings {
            ledger.warn(warning);
        }
        let stories = StoryKeeper::resume(ledger.run(), &run)?;
        preflight.driver(ledger, run, stories)
    }
}

/// A run with an event that its record does not have yet.
fn with(known: &Run, event: Option<&Event>) -> Run {
    let mut run = known.clone();
    if let Some(event) = event {
        run.apply(&Entry { at: journal::now(), event: event.clone() });
    }
    run
}

/// The limits that a run continues with, if it may.
fn may_go_on(known: &Run, raise: &dyn Fn(Limits) -> Limits, run: &RunDir) -> Result<Limits> {
    refuse_final(known, run)?;
    refuse_conversation(known, run)?;
    let had = known.plan.limits;
    let limits = raise(had);
    if limits.max_iterations < had.max_iterations {
        return Err(Error::new(format!(
            "the run may already have {} iterations; a resume can only raise that",
            had.max_iterations
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
    judge: Option<RunJudge>,
    locks: Vec<File>,
}

impl Preflight {
    /// Finds the programs and takes the tree.
    fn take(plan: &Plan, setup: &Setup) -> Result<Self> {
        let program = find_agent(setup)?;
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
        let repository = git.clone().or_else(|| Git::find(&mut supervisor, &setup.project).ok().flatten());
        Ok(Self { program, supervisor, git, repository, judge: None, locks })
    }

    /// What is not committed before the run begins: none of it is the run's.
    fn dirty(&mut self) -> Result<BTreeMap<String, String>> {
        let changes = match (&self.git, &self.repository) {
            (Some(git), _) => git.changes(&mut self.supervisor)?,
            // Nothing is committed: it is only for people.
            (None, Some(repository)) => repository.changes(&mut self.supervisor).unwrap_or_default(),
            (None, None) => Vec::new(),
        };
        Ok(changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect())
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
        for file in &self.locks {
            locks.push(file.try_clone()?.into());
        }
        self.supervisor.guarded(Guardian::start(&run.id(), &locks).context("cannot start the guardian")?);
        Ok(())
    }

    fn driver(self, ledger: Ledger, dir: RunDir, stories: Option<StoryKeeper>) -> Result<Driver> {
        let Self { program, supervisor, git, repository, judge, locks } = self;
        let mut site = Site::new(ledger, supervisor, dir);
        let containment = Containment::prepare(&mut site, &program).context("cannot prepare the sandbox")?;
        let agent = Agent::new(program, &site.run().plan, &site.setup);
        let watches = site.run().plan.stuck_after.is_some();
        let (prompts, trees) = (Prompts::default(), Trees::new(repository, watches));
        Ok(Driver { site, agent, prompts, containment, git, trees, judge, stories, locks })
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

/// A fingerprint of each settings file, to notice a change.
pub(crate) fn fingerprints<'a>(files: impl Iterator<Item = &'a Path>) -> BTreeMap<PathBuf, String> {
    files.map(|path| (path.to_owned(), hash::fingerprint(path))).collect()
}
