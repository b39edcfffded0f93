//! Everything that must be right before the first turn: a run that cannot work is refused before it begins.

mod branch;
mod drafts;
mod preflight;
mod programs;
mod protection;
mod survivors;
pub(super) mod verdict_place;

use std::{
    borrow::Cow,
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use super::{
    Driver, access,
    assigned::tell_of_end,
    ledger::Ledger,
    outside,
    refuse::{check_names, refuse_conversation, refuse_exhausted, refuse_final, refuse_late},
    steering,
    stories::{self, StoryKeeper},
    superuser,
};
use crate::{
    hidden::{self, variables},
    journal::{self, Folded, Journal, run_dir::RunDir},
    project::{own_files, own_output},
    receipt::{self, Seen, SeenJournal},
    report::{Reporter, session_log::SessionLog, style::ReportStyle},
    tasks::reporter::TaskReporter,
};

use jiff::Timestamp;
use ralph_core::{
    containment::{level::Choice, wanted::Wanted},
    engine::{
        Run,
        edits::EditsTaken,
        entry::Entry,
        event::{Event, RunStarted, TasksJudged, Topic},
        plan::{Limits, Plan},
    },
    receipt::compose::ReceiptFold,
    setup::{JudgeSetup, PROJECT_DIR, Setup, StoriesSetup},
    verify::rules::{CheckoutWhen, LookWhen},
};
use ralph_sandbox::self_test;
use ralph_sys::{
    error::{Error, Result},
    hash,
    process::Supervisor,
};

use drafts::write_absent;
use preflight::Preflight;
use programs::refuse_unfinished;

pub(super) use drafts::check_prompt;
pub(super) use programs::find_agent;
pub(crate) use programs::find_program;

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
        let Self { plan, setup, run, drafts, reporters, mut warnings, settled } = self;
        check_names(&setup)?;
        refuse_late(&plan)?;
        let odd_rules = protection::check_rules(&setup)?;
        let held_back = superuser::check(&setup)?;
        check_prompt(&setup.prompt, &drafts)?;
        let mut preflight = Preflight::take(&plan, &setup)?;
        refuse_unfinished(&plan, preflight.git.as_ref())?;
        let plan = with_reviewers(plan, &preflight)?;
        let refused = preflight.repository_refused.clone();
        let earlier = RunDir::of_project(&setup.project).unwrap_or_default();
        let ended = survivors::end(&earlier);
        if let Some(last) = earlier.last() {
            warnings.extend(receipt::catch_up(&mut preflight.supervisor, last));
        }
        let level = self_test::choose(&mut preflight.supervisor, &setup.sandbox)?;
        write_absent(&setup.project, &drafts)?;
        branch::make(&mut preflight, &plan, &setup)?;
        let dirty = preflight.dirty()?;
        let (plan, in_place) = preflight.take_judge(plan, &setup)?;
        let run = run.map_or_else(|| RunDir::create(&setup.project), Ok)?;
        preflight.register(&setup, &run).inspect_err(|_| {
            // Nothing is in it.
            let _ = run.remove();
        })?;
        let journal = Journal::open(&run.journal())?;
        hidden::keep(&run, &setup.hidden)?;
        let values = variables::keep(&run, &setup);
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
        let mut ledger = Ledger::begin(started, values, journal, with_keeper(reporters, &setup, &run));
        begin_session_log(&mut ledger, &setup);
        if let Some(judged) = settled {
            ledger.record(Event::TasksJudged(Box::new(judged)));
        }
        for warning in warnings
            .into_iter()
            .chain(ended)
            .chain(refused)
            .chain(own_output::news(&setup.project))
            .chain(odd_rules)
            .chain(held_back)
            .chain(access::obstacles(&setup))
        {
            ledger.warn(warning);
        }
        protection::warn(&mut ledger, &setup);
        if let Err(error) = hidden {
            ledger.warn(format!("ralph's files cannot be kept in {PROJECT_DIR}: {error}"));
        }
        let stories = StoryKeeper::begin(&setup, pins);
        let mut driver = preflight.driver(ledger, run, stories)?;
        outside::begin(&mut driver.site);
        driver.remove_stale_locks();
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
        let (folded, mut seen_by_receipt) = read(&run)?;
        tell_of_end(&folded, &run);
        let no_receipt = make_receipt_good(&run)?;
        let (unchained, mut since) = (folded.unchained, last_event(&folded));
        let mut known = folded.run;
        refuse_final(&with(&known, decided.as_ref()), &run)
            .map_err(|error| no_receipt.into_iter().fold(error, Error::hint))?;
        refuse_conversation(&known, &run)?;
        let mut revised = revise(&known, &run)?;
        let mut next = revised.applied_to(&with(&known, decided.as_ref()));
        let mut limits = may_go_on(&next, &raise, &run)?;
        let setup = next.started.setup.clone();
        let mut preflight = Preflight::take(&next.plan, &setup)?;
        refuse_unfinished(&next.plan, preflight.git.as_ref())?;
        if next.plan.checkout != CheckoutWhen::Never {
            preflight.take_judge(next.plan.clone(), &setup)?;
        }
        let journal = Journal::open(&run.journal())?;
        // Another process may have written until now; only what was read under the lock counts.
        if size(&run) != seen {
            let (folded, seen) = read(&run)?;
            since = last_event(&folded);
            (known, seen_by_receipt) = (folded.run, seen);
            revised = revise(&known, &run)?;
            next = revised.applied_to(&with(&known, decided.as_ref()));
            limits = may_go_on(&next, &raise, &run)?;
        }
        // In case the guardian was killed too.
        survivors::end_processes(&run, setup.leftovers.are_kept());
        let ended = survivors::end(&RunDir::of_project(&setup.project).unwrap_or_default());
        self_test::choose(&mut preflight.supervisor, &setup.sandbox)?;
        let _ = own_files::hide(&setup.project);
        preflight.register(&setup, &run)?;
        preflight.guard(&run, &journal)?;

        let reporters = with_keeper(reporters, &setup, &run);
        let mut ledger = Ledger::resume(known, journal, reporters).seen(seen_by_receipt);
        if let Some(event) = decided {
            ledger.record(event);
        }
        // Before the run is resumed: a kill between the two leaves it as settled as it was.
        if let Some(taken) = revised.taken {
            let values = variables::keep(&run, &taken.setup);
            ledger.take_edits(taken, values);
        }
        ledger.record(Event::RunResumed { pid: std::process::id(), limits });
        begin_session_log(&mut ledger, &setup);
        if 0 < unchained {
            let text =
                "an older ralph began the record of this run: damage to its first lines cannot be noticed";
            ledger.warn_once(Topic::Unchained, text.to_owned());
        }
        for warning in revised.warnings.into_iter().chain(ended).chain(own_output::news(&setup.project)) {
            ledger.warn(warning);
        }
        let stories = StoryKeeper::resume(ledger.run(), &run)?;
        let mut driver = preflight.driver(ledger, run, stories)?;
        driver.site.setup.hidden = hidden::kept(&driver.site.dir);
        outside::resume(&mut driver.site);
        driver.remove_stale_locks();
        driver.restore_torn_files(since);
        driver.take_over_files();
        Ok(driver)
    }
}

/// Refuses a review where there is nothing that a reviewer could be shown; without a repository no agent is asked to
/// look either.
fn with_reviewers(plan: Plan, preflight: &Preflight) -> Result<Plan> {
    if preflight.repository.is_some() {
        return Ok(plan);
    }
    match plan.gates.iter().find(|gate| gate.check.is_review()) {
        Some(gate) => Err(Error::new(format!(
            "`{}` is not possible: the project is not in a git repository",
            gate.check.name()
        ))
        .hint("`git init` makes it one; or remove the review from \"guardrails\"")),
        None => Ok(Plan { look: LookWhen::Off, ..plan }),
    }
}

/// A run by its record, and what its receipt will say of it.
fn read(run: &RunDir) -> Result<(Folded, Seen)> {
    let mut fold = ReceiptFold::default();
    let (mut folded, journal) = SeenJournal::read(&run.journal(), &mut |entry| fold.take_but_gates(entry))?;
    fold.take_last_gates(&folded.entries);
    variables::restore(run, &mut folded.run.started.setup)?;
    Ok((folded, Seen { fold, journal }))
}

/// When the last process of a run said something for the last time.
fn last_event(folded: &Folded) -> Option<Timestamp> {
    folded.entries.last().map(|entry| entry.at)
}

/// Makes the receipt of a run that ended and was killed before it could, also where there is nothing to resume. Returns why
/// it cannot.
fn make_receipt_good(run: &RunDir) -> Result<Option<String>> {
    if !receipt::is_absent(run) {
        return Ok(None);
    }
    let mut supervisor = Supervisor::new()?;
    let why = receipt::catch_up(&mut supervisor, run);
    supervisor.release();
    Ok(why)
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
