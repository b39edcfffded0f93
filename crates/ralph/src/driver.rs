//! Performs what the engine decides, records what happened, and shows it.
//!
//! Invariant: what happened is in the journal before anything follows from it. A turn and a commit are
//! recorded before they begin, so that a killed ralph is known to have been in the middle of one.
//!
//! What a run remembers is in its [`Run`] alone. The parts of the driver hold what a process
//! needs to act: programs, folders, locks, the sandbox, the files that it watches. Each owns its fields.

mod abandon;
pub(crate) mod access;
mod agent;
pub(crate) mod agent_version;
mod ask;
mod assigned;
mod await_others;
mod awake;
mod budget;
mod checks;
mod commit;
mod containment;
mod conversation;
mod dry_run;
mod ended;
mod examine;
mod hook_program;
mod hooking;
mod judge;
mod last_lines;
mod ledger;
mod listener;
mod notify;
mod outside;
mod plan_tasks;
mod progress;
mod prompts;
mod propose;
mod quota;
mod refuse;
mod relay;
mod requests;
mod run_later;
pub(crate) mod session;
mod site;
mod spool;
mod stale_locks;
mod start;
pub(crate) mod steering;
pub(crate) mod stories;
pub(crate) mod superuser;
mod torn_files;
mod turn;
mod untouched;
mod wait;
mod work;
mod work_done;

use std::{fs::File, path::Path};

use jiff::Timestamp;
use ralph_core::{
    claim::Claim,
    engine::{
        Action, Run,
        event::{Event, View},
        outcome::Outcome,
        stop::Stop,
    },
    setup::Setup,
};
use ralph_sandbox::spool::FOLDER;
use ralph_sys::{error::Result, files::Root, process::Waited};

use crate::{
    journal::tries,
    project::{git::Git, own_files, own_output},
    receipt::{self, Issue},
    report::summary,
};
use agent::Agent;
use commit::Committing;
use containment::Containment;
use judge::RunJudge;
use notify::NotifyReason;
use progress::Trees;
use prompts::Prompts;
use site::Site;
use stories::StoryKeeper;

pub(crate) use commit::task_failure;
pub(crate) use start::{Resume, Revised, Start, find_program, fingerprints};
pub(crate) use stories::{PendingJudgement, pending, preview, settle};

/// Claims that came too early, each kept under a name of its own.
const MAX_REFUTED_FILES: u32 = 1000;

/// Makes the receipt of the run. What goes wrong is only shown: the receipt is about a record that has ended.
fn receipt(site: &mut Site, repository: Option<&Git>, key_reachable: bool) {
    let Site { supervisor, dir, ledger, setup } = site;
    if !setup.project.is_dir() {
        return;
    }
    let issue = Issue { repository, key_reachable: Some(key_reachable) };
    let issued = match ledger.for_receipt() {
        Some((run, seen)) => receipt::issue_live(supervisor, dir, &issue, run, seen),
        None => receipt::issue(supervisor, dir, &issue),
    };
    let warnings = issued.unwrap_or_else(|error| vec![format!("there is no receipt of the run: {error}")]);
    for warning in warnings {
        ledger.show_warning(warning);
    }
}

/// One run on its way.
pub(crate) struct Driver {
    site: Site,
    agent: Agent,
    /// Whose program, hooks and sandbox these are, by name.
    holder: Option<String>,
    prompts: Prompts,
    containment: Containment,
    /// What ralph commits with, and asks whether the tree is clean.
    git: Option<Git>,
    trees: Trees,
    /// Where claims are decided, if not in the working tree alone.
    judge: Option<RunJudge>,
    stories: Option<StoryKeeper>,
    /// Held while the run lasts.
    locks: Vec<File>,
}

impl Driver {
    /// Removes the locks that a git left behind which no one runs any more.
    fn remove_stale_locks(&mut self) {
        if let Some(git) = self.git.as_ref().or(self.trees.repository()) {
            stale_locks::remove(&mut self.site, git);
        }
    }

    /// What the rules of the run are applied to.
    pub(crate) fn setup(&self) -> &Setup {
        &self.site.setup
    }

    /// Runs the loop to its end and returns the exit code.
    pub(crate) fn drive(mut self) -> Result<u8> {
        // What a person asks for is looked at then, no matter which reporter shows the time.
        self.site.supervisor.ticking();
        budget::warn_of_blind_budget(&mut self.site);
        loop {
            // Between operations no other code takes notice of a signal.
            if self.site.supervisor.stop_requested() {
                self.site.ledger.stop_requested();
            }
            if !self.site.setup.project.is_dir() {
                let project = self.site.setup.project.clone();
                return Ok(self.finish(&Outcome::Stopped(Stop::ProjectGone { project })));
            }
            requests::take(&mut self.site.ledger, &self.site.dir);
            self.take_tries();
            if let Some(news) = own_output::news(&self.site.setup.project) {
                let _ = own_files::hide(&self.site.setup.project);
                self.site.ledger.warn(news);
                self.trees.forget();
            }
            if let Some(stories) = &mut self.stories {
                stories.take_back_unverified(&mut self.site, self.git.as_ref());
            }
            let action = self.site.run().next(Timestamp::now());
            budget::keep_time(&mut self.site, &action);
            awake::follow(&mut self.site, &action);
            // A story is judged between its turn and the commit, and that writes files.
            if !matches!(action, Action::RunTurn(_) | Action::Commit) || self.stories.is_some() {
                self.trees.forget();
            }
            match action {
                Action::Look => self.look_again(),
                Action::RunTurn(order) => self.run_turn(order)?,
                Action::AbandonTurn => {
                    if !abandon::abandon_turn(&mut self.site, &mut self.containment, self.trees.repository())
                    {
                        self.distrust_repository();
                    }
                }
                Action::JudgeTasks => self.judge_tasks(),
                Action::RunBaseline(gate) => self.run_baseline(gate),
                Action::RunGate(gate) => self.run_gate(gate),
                Action::PutAside(file) => self.put_aside(&file),
                Action::HandOver { story, reason } => self.hand_over(story, reason),
                Action::BringJudge => self.bring_judge(),
                Action::RunInJudge(gate) => self.run_in_judge(gate),
                Action::TakeBase => self.take_base(),
                Action::Examine => self.examine(),
                Action::PutBack(files) => self.put_back(&files),
                Action::AskOpinion(order) => self.ask_opinion(order)?,
                Action::AbandonOpinion => self.abandon_opinion(),
                Action::ForgoLook(why) => self.site.ledger.record(Event::LookForgone { why }),
                Action::Deliver => budget::counting_time(&mut self, Self::deliver),
                Action::Commit => budget::counting_time(&mut self, Self::commit),
                Action::AwaitFiles(files) => self.await_files(&files),
                Action::StartWait(wait) => wait::start(&mut self.site, wait),
                Action::WaitUntil(until_ms) => wait::go_on(&mut self.site, until_ms),
                Action::Hold => requests::hold(&mut self.site),
                Action::Finish(outcome) => return Ok(self.finish(&outcome)),
            }
        }
    }

    /// Records commands for a person that processes of the run have typed.
    fn take_tries(&mut self) {
        let Site { dir, ledger, .. } = &mut self.site;
        let (iteration, attempt) = ledger.run().state.position();
        let spool = self.containment.is_there().then(|| dir.turn(iteration, attempt).join(FOLDER));
        ledger.take_tries(tries::found(dir, spool.as_deref()));
    }

    fn finish(mut self, outcome: &Outcome) -> u8 {
        // Where the working tree decided, no one has looked yet.
        if *outcome == Outcome::Done {
            let findings = outside::findings(&self.site);
            self.site.ledger.found(findings);
        }
        let Run { plan, state, .. } = self.site.run();
        let exit_code = state.exit_code(plan, outcome);
        await_others::end_children(&mut self.site, outcome);
        // The marker goes before the locks do.
        if let Some(mut stories) = self.stories.take().filter(|_| *outcome == Outcome::Done) {
            stories.count_reviews(&mut self.site);
        }
        outside::leave(&mut self.site);
        self.leave_files(outcome);
        let Self { mut site, agent, containment, locks, trees, .. } = self;
        let key_reachable = containment.reaches_key();
        containment.finish(&mut site);
        agent.finish();
        run_later::note(&mut site);
        work_done::count(&mut site, trees.repository());
        propose::propose(&mut site, trees.repository(), outcome, exit_code);
        site.ledger.record(Event::RunEnded { outcome: outcome.clone(), exit_code });
        // While no other run can move HEAD.
        receipt(&mut site, trees.repository(), key_reachable);
        // The guardian shares the locks and takes a moment to go; nothing is left to guard.
        for lock in &locks {
            let _ = lock.unlock();
        }
        site.ledger.journal.unlock();
        // Last, so that a program which asks about the run is told how it ended.
        notify::notify_end(&mut site, outcome, exit_code);
        site.supervisor.release();
        exit_code
    }

    fn look_again(&mut self) {
        if let Some(stories) = &mut self.stories {
            stories.revert_outside_edits(&mut self.site, self.git.as_ref());
        }
        let view = self.observe();
        self.site.ledger.record(Event::Looked(view));
    }

    /// The directory as the plan's rules see it.
    fn observe(&mut self) -> View {
        let stories = self.stories.as_mut().map(StoryKeeper::view);
        let (plan, project) = (&self.site.run().plan, &self.site.setup.project);
        let claims = plan.claims.iter().filter_map(|claim| match claim {
            Claim::File { path } => Some(path),
            Claim::Tag { .. }
            | Claim::StoriesApproved
            | Claim::PlanSettled
            | Claim::NothingLeft
            | Claim::TurnEnd => None,
        });
        let wanted = plan.needs.iter().map(|need| &need.path).chain(claims.clone());
        let wanted = wanted.chain(&plan.pause_file).filter(|path| project.join(path).exists());
        let awaited = plan.awaits.iter().filter(|path| await_others::is_judged(project, path));
        let files = wanted.chain(awaited).cloned().collect();
        let folders = claims.filter(|path| project.join(path).is_dir()).cloned().collect();
        let at_work = await_others::at_work(&self.site);
        let notes = assigned::notes(&self.site);
        let plan = plan.reads_plan_file().then(|| plan_tasks::view(&self.site, &self.containment)).flatten();
        View { files, folders, plan, stories, at_work, notes }
    }

    /// Judges what a turn that was cut off did to the task list.
    fn judge_tasks(&mut self) {
        if let Some(stories) = &mut self.stories {
            stories.judge(&mut self.site, self.git.as_ref(), false);
        }
    }

    fn commit(&mut self) {
        self.hand_to_wording();
        let Self { site, agent, prompts, containment, git, trees, stories, holder, .. } = self;
        let wording = holder.clone().filter(|holder| holder != site.run().state.crew().worker());
        let (git, look) = (git.as_ref(), trees.take());
        let look = Committing { site, git, agent, wording, prompts, containment, look }.commit();
        trees.keep(look);
        if let Some(stories) = stories {
            // The agent may have been asked for a message, and have done something else.
            stories.forget();
        }
    }

    /// Makes a story one for a person, who is told.
    fn hand_over(&mut self, story: String, reason: String) {
        if let Some(stories) = &mut self.stories {
            stories.hand_over(&mut self.site, self.git.as_ref(), &story, &reason);
        }
        let text = summary::handed_over(&story, &reason);
        self.site.ledger.record(Event::StoryHandedOver { story, reason });
        notify::notify(&mut self.site, NotifyReason::NeedsPerson, &text, None);
    }

    /// Renames a file that said too early that the task is done; its text is kept, under the first name that is free.
    fn put_aside(&mut self, file: &str) {
        let project = &self.site.setup.project;
        let is_free = |name: &String| project.join(name).symlink_metadata().is_err();
        let to = (1..=MAX_REFUTED_FILES).map(|nth| format!("{file}.refuted-{nth}")).find(is_free);
        let renamed = to.filter(|to| {
            let name = Path::new(to).file_name().unwrap_or_default();
            Root::new(project).rename(file, name).is_ok()
        });
        self.site.ledger.record(Event::ClaimPutAside { file: file.to_owned(), to: renamed });
    }

    fn await_files(&mut self, files: &[String]) {
        if await_others::await_files(&mut self.site, files) == Waited::Elapsed {
            let view = self.observe();
            self.site.ledger.record(Event::Looked(view));
        }
    }
}
