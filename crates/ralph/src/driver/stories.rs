//! The stories loop: the list is copied before each turn, and what the turn did to it is judged by the copy.
//!
//! Invariant: what a turn did to the task list is judged before the next turn begins, by this process or by the
//! next one. The copy is in the run's folder, and its hash in the journal.

mod assignment;
mod checks;
mod commits;
pub(super) mod files;
mod first_turn;
pub(crate) mod stop_preview;
mod touched;
mod unjudged_turn;

use std::path::{Path, PathBuf};

use ralph_core::{
    engine::{
        Run,
        event::{Event, StoryView, Turn},
    },
    setup::{Setup, StoriesSetup},
    stories::{Mode, TaskFile, TaskList, hand_over, select},
};
use ralph_sys::{
    error::{Error, Result},
    files::Root,
};

use super::site::Site;
use crate::{
    journal::run_dir::{RunDir, record},
    project::{
        git::Git,
        story_files::{self, ACTIVE, Active, TASKS},
    },
};
use commits::{Ranges, ReviewedCommits};
use files::{Findings, Snapshot, StoryFiles, TurnOver};
use touched::TreeBefore;

pub(super) use files::{Pin, hashes};
pub(super) use first_turn::{FirstTurn, first_turn};
pub(crate) use unjudged_turn::{PendingJudgement, pending, preview, settle};

/// The list before a turn, in the turn's folder.
const SNAPSHOT: &str = "tasks.json";

const NO_GIT: &str = "this is not a git repository: ralph cannot tell whether the work is committed, nor which \
                      commits a review is about";

/// What the driver remembers of a stories loop.
pub(super) struct StoryKeeper {
    setup: StoriesSetup,
    pins: Vec<Pin>,
    /// The list before the turn that is not judged yet.
    before: Option<Snapshot>,
    /// The list as it was when it was last judged: until the next turn no one changes it.
    settled: Option<TaskFile>,
    /// The list as it was read last, while no one else has had a chance to change it.
    now: Seen,
    /// What ralph wrote into the marker.
    active: Option<String>,
    ranges: Ranges,
    /// What the turn that is about to begin reviews.
    reviewed: ReviewedCommits,
    project: PathBuf,
}

/// A list that is looked at.
enum Seen {
    /// No one has, since someone else had a chance to change it.
    Not,
    /// It cannot be read.
    Gone,
    There(TaskFile),
}

impl StoryKeeper {
    /// Looks after the list of a new run, where there is one.
    pub(super) fn begin(setup: &Setup, pins: Vec<Pin>) -> Option<Self> {
        let stories = setup.stories.as_ref()?;
        remove_stale_marker(&setup.project);
        Self::new(setup, pins, unjudged_turn::ranges(&setup.project, &stories.ralph_dir))
    }

    /// Takes up what an earlier process of the run has left.
    pub(super) fn resume(known: &Run, run: &RunDir) -> Result<Option<Self>> {
        let setup = &known.started.setup;
        let Some(stories) = &setup.stories else { return Ok(None) };
        let pins = files::pinned(&setup.project, stories, run);
        remove_stale_marker(&setup.project);
        let ranges = unjudged_turn::ranges(&setup.project, &stories.ralph_dir);
        let Some(mut it) = Self::new(setup, pins, ranges) else { return Ok(None) };
        // A later run has judged it; what it says by now is not this run's business.
        let is_ours = known.state.is_unjudged()
            && !unjudged_turn::is_superseded(&setup.project, &stories.ralph_dir, run);
        if let Some(last) = known.memory.turn.as_ref().filter(|_| is_ours) {
            it.before = Some(files::snapshot(run, setup, &last.turn)?);
        }
        Ok(Some(it))
    }

    fn new(setup: &Setup, pins: Vec<Pin>, ranges: Ranges) -> Option<Self> {
        let (before, settled, active, now) = (None, None, None, Seen::Not);
        let (project, reviewed) = (setup.project.clone(), ReviewedCommits::default());
        Some(Self {
            setup: setup.stories.clone()?,
            pins,
            before,
            settled,
            active,
            ranges,
            reviewed,
            project,
            now,
        })
    }

    /// The list; nothing if it cannot be read.
    fn list(&mut self) -> Option<&TaskFile> {
        if matches!(self.now, Seen::Not) {
            self.now = self.files().list().map_or(Seen::Gone, Seen::There);
        }
        match &self.now {
            Seen::There(file) => Some(file),
            Seen::Not | Seen::Gone => None,
        }
    }

    /// Someone else may have changed the list: it must be read again before anything follows from it.
    pub(super) fn forget(&mut self) {
        self.now = Seen::Not;
    }

    fn files(&self) -> StoryFiles<'_> {
        StoryFiles { project: &self.project, setup: &self.setup, pins: &self.pins }
    }

    fn shown(&self) -> String {
        self.setup.ralph_dir.join(TASKS).display().to_string()
    }
}

/// Copies what no turn may change into the run's folder.
pub(super) fn pin(setup: &Setup, run: &RunDir) -> Result<Vec<Pin>> {
    match &setup.stories {
        Some(stories) => files::pin(&setup.project, stories, run),
        None => Ok(Vec::new()),
    }
}

/// The process that left a marker has no loop here any more: this one has the tree.
fn remove_stale_marker(project: &Path) {
    let _ = std::fs::remove_file(project.join(ACTIVE));
}

impl Drop for StoryKeeper {
    /// The marker is removed by the process that wrote it, and by no other.
    fn drop(&mut self) {
        let path = self.project.join(ACTIVE);
        let is_ours = Active::read(&self.project).is_some_and(|active| active.pid == std::process::id());
        if self.active.is_some() && is_ours {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl StoryKeeper {
    /// What the task list says about the next turn.
    pub(super) fn view(&mut self) -> StoryView {
        let before = self.before.take();
        let view = self.view_since(before.as_ref().map(|before| before.file.list()));
        self.before = before;
        view
    }

    fn view_since(&mut self, before: Option<&TaskList>) -> StoryView {
        let (review, shown) = (self.setup.review(), self.shown());
        let nothing = |why: String| StoryView { next: Err(why), ..StoryView::default() };
        let Some(file) = self.list() else { return nothing(format!("{shown} is gone")) };
        if let Some(problem) = file.problems(review).first() {
            return nothing(format!("{shown}:{}: {problem}", problem.line));
        }
        let list = file.list();
        let submitted = before.is_some_and(|before| list.submits_since(before, review));
        let view = StoryView { submitted, for_people: list.for_people(review), ..StoryView::default() };
        if list.is_complete(review) {
            // Only reached when ralph's own checks say otherwise: then they are what is to be mended.
            return StoryView { next: Ok(Mode::Fix), all_approved: true, ..view };
        }
        match select(list, review) {
            Ok(selected) => StoryView { next: Ok(selected.mode), story: Some(selected.id), ..view },
            Err(why) => StoryView { next: Err(why), ..view },
        }
    }

    /// Copies the list into the run's folder and says in the project which turn this is. Returns a hash of the list.
    pub(super) fn before_turn(&mut self, site: &mut Site, git: Option<&Git>, turn: &Turn) -> Result<String> {
        let shown = self.shown();
        let file = self.list().ok_or_else(|| Error::new(format!("cannot read {shown}")))?.clone();
        let hash = files::hash(file.text().as_bytes());
        let folder = site.dir.turn(turn.iteration, turn.attempt);
        if let Err(error) = record(&folder.join(SNAPSHOT), file.text().as_bytes()) {
            // What is in memory is judged by; only a crash would need the copy.
            site.ledger.warn(format!("the task list cannot be copied for this turn: {error}"));
        }
        self.ranges.turn(turn);
        self.reviewed = self.commits_to_review(site, git, turn);
        let active = Active {
            timestamp: jiff::Timestamp::now().to_string(),
            pid: std::process::id(),
            max_iterations: site.run().plan.limits.max_iterations,
            mode: self.setup.containment.clone(),
            skip_review: self.setup.skip_review,
            review_cap: self.setup.review_cap,
            run: site.dir.id(),
            iteration: turn.iteration,
            iteration_mode: Some(turn.mode.name().to_owned()),
            story: turn.story.clone(),
            ralph_dir: self.setup.ralph_dir.display().to_string(),
            snapshot: story_files::snapshot(file.list()),
        };
        let marker = active.text();
        if let Err(error) = Root::new(&self.project).restore(ACTIVE, marker.as_bytes()) {
            site.ledger.warn(format!("{ACTIVE} cannot be written: {error}"));
        }
        self.active = Some(marker);
        let tree = TreeBefore::keep(&mut site.supervisor, git, &site.dir, turn).unwrap_or_else(|error| {
            site.ledger.warn(format!("what the review changed cannot be told: {error}"));
            None
        });
        self.before = Some(Snapshot { file, mode: turn.mode, story: turn.story.clone(), tree });
        // From here on the agent has it.
        self.forget();
        Ok(hash)
    }

    /// What ralph tells the turn before anything else.
    pub(super) fn assignment(&self, turn: &Turn, max_iterations: u32) -> Option<String> {
        let list = self.before.as_ref()?.file.list();
        let story = turn.story.as_deref().and_then(|id| list.story(id));
        Some(assignment::text(turn, max_iterations, story, &self.reviewed, &self.setup))
    }

    /// The commits of the story that a turn reviews, as far as they are in the history of HEAD.
    fn commits_to_review(&self, site: &mut Site, git: Option<&Git>, turn: &Turn) -> ReviewedCommits {
        let (Some(git), Some(head), Some(story), Mode::Review) = (git, &turn.head, &turn.story, turn.mode)
        else {
            return ReviewedCommits::default();
        };
        let recorded = self.ranges.of(story, Some(head));
        let merge_base =
            |one: &str, other: &str| git.merge_base(&mut site.supervisor, one, other).unwrap_or_default();
        ReviewedCommits::in_history(&recorded, head, merge_base)
    }

    /// The variables of the prompt that are about the story.
    pub(super) fn variables(&self, turn: &Turn) -> Vec<(&'static str, String)> {
        let list = self.before.as_ref().map(|before| before.file.list());
        let story = turn.story.as_deref().and_then(|id| list?.story(id));
        assignment::variables(turn, story, &self.setup)
    }

    /// Judges the last turn by the copy that was made before it, and undoes what it may not do.
    pub(super) fn judge(&mut self, site: &mut Site, git: Option<&Git>, finished: bool) {
        let Some(before) = self.before.take() else {
            // Another run has judged it meanwhile.
            return site.ledger.record(Event::TasksJudged(Box::default()));
        };
        let after = self.list().cloned();
        let touched = match (&before.tree, git) {
            (Some(tree), Some(git)) => {
                tree.touched(&mut site.supervisor, git, &self.project.join(&self.setup.ralph_dir))
            }
            (Some(_), None) | (None, _) => Ok(Vec::new()),
        };
        let touched = touched.unwrap_or_else(|error| {
            site.ledger.warn(format!("what the review changed cannot be told: {error}"));
            Vec::new()
        });
        let mut findings = self.files().judge(&before, after.as_ref(), TurnOver { finished, touched });
        if site.run().state.is_unready() {
            findings = self.files().without_submission(&before.file, findings);
        }
        if let Some(marker) = &self.active {
            findings.marker(&self.project, marker);
        }
        self.ranges.judged(&findings.judged);
        site.ledger.capped(&findings.judged.capped);
        self.put_right(site, git, &findings);
        site.ledger.record(Event::TasksJudged(Box::new(findings.judged.clone())));
    }

    /// Between two turns no one changes review fields: not what a turn left running, nor anyone else.
    pub(super) fn revert_outside_edits(&mut self, site: &mut Site, git: Option<&Git>) {
        self.forget();
        let Some(file) = self.settled.clone() else { return };
        let after = self.list().cloned();
        if after.as_ref() == Some(&file) {
            return;
        }
        let before = Snapshot { file, mode: Mode::Work, story: None, tree: None };
        let findings = self.files().judge(&before, after.as_ref(), TurnOver::default());
        self.put_right(site, git, &findings);
        if !findings.judged.broken.is_empty() {
            site.ledger.record(Event::TasksJudged(Box::new(findings.judged.clone())));
        }
    }

    /// Makes a story one for a person, with what the agent lacks in its notes.
    pub(super) fn hand_over(&mut self, site: &mut Site, git: Option<&Git>, story: &str, reason: &str) {
        let Some(text) = self.list().and_then(|file| hand_over(file.text(), story, reason)) else { return };
        let findings = self.files().handed_over(story, text);
        self.put_right(site, git, &findings);
    }

    /// A submitted story is a claim: what did not pass its checks is again what it was before the turn, and no review is
    /// spent on it. Asked before every action, because ralph may have been killed when it was due.
    pub(super) fn take_back_unverified(&mut self, site: &mut Site, git: Option<&Git>) {
        let run = site.run();
        if !run.state.is_unready() || run.state.is_unjudged() {
            return;
        }
        let Some(turn) = run.memory.turn.as_ref().map(|last| last.turn.clone()) else { return };
        let Ok(before) = files::snapshot(&site.dir, &site.setup, &turn) else { return };
        self.forget();
        let now = self.list().cloned().unwrap_or_default();
        let files = self.files();
        let findings = files.without_submission(&before.file, Findings::none(now));
        self.put_right(site, git, &findings);
        site.ledger.record(Event::TasksJudged(Box::new(findings.judged)));
    }

    /// Writes and commits what must be. Before the judgement is on record: who is killed in between judges again and
    /// finds nothing, while a judgement on record would be believed though nothing was put right.
    fn put_right(&mut self, site: &mut Site, git: Option<&Git>, findings: &Findings) {
        if let Some(after) = &findings.replaced {
            let _ = record(&site.turn_folder().join("tasks.after.json"), after.as_bytes());
        }
        for warning in findings.write(&self.project, &site.dir) {
            site.ledger.warn(warning);
        }
        self.settled = Some(findings.file.clone());
        self.now = Seen::There(findings.file.clone());
        let Some(git) = git.filter(|_| !site.supervisor.is_ending()) else { return };
        if let Err(error) = findings.commit(&mut site.supervisor, git, &site.setup.dirty) {
            site.ledger.warn(format!("what ralph has restored could not be committed: {error}"));
        }
    }

    /// What git has to say about the loop before it begins.
    pub(super) fn notice_git(&self, site: &mut Site, git: Option<&Git>) -> Result<()> {
        let Some(git) = git else {
            site.ledger.warn(NO_GIT.to_owned());
            return Ok(());
        };
        let wanted = &self.setup.branch;
        let present = git.branch(&mut site.supervisor)?;
        if !wanted.is_empty() && present.as_ref().is_some_and(|present| present != wanted) {
            let present = present.unwrap_or_default();
            site.ledger
                .warn(format!("the task list is for branch `{wanted}`, but `{present}` is checked out"));
        }
        Ok(())
    }
}
