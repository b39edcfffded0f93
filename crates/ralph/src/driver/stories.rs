//! The stories loop: the list is copied before each turn, and what the turn did to it is judged by the copy.
//!
//! Invariant: what a turn did to the task list is judged before the next turn begins, by this process or by the
//! next one. The copy is in the run's folder, and its hash in the journal.

mod assignment;
mod checks;
mod commits;
mod files;
pub(crate) mod stop_preview;
mod unjudged_turn;

use std::path::{Path, PathBuf};

use ralph_core::{
    engine::{
        Run,
        event::{Event, StoryView, Turn},
    },
    setup::{Setup, StoriesSetup},
    stories::{Mode, check, read, select},
};
use ralph_sys::{
    error::{Error, Result},
    files::Root,
};

use super::Driver;
use crate::{
    journal::run_dir::{RunDir, record},
    project::story_files::{self, ACTIVE, Active, TASKS},
};
use commits::Ranges;
use files::{Findings, Pin, Snapshot};

pub(crate) use unjudged_turn::{preview, settle};

/// The list before a turn, in the turn's folder.
const SNAPSHOT: &str = "tasks.json";

const NO_GIT: &str = "this is not a git repository: ralph cannot tell whether the work is committed, nor which \
                      commits a review is about";

/// What the driver remembers of a stories loop.
pub(super) struct Stories {
    setup: StoriesSetup,
    pins: Vec<Pin>,
    /// The list before the turn that is not judged yet.
    before: Option<Snapshot>,
    /// The list as it was when it was last judged: until the next turn nobody changes it.
    settled: Option<String>,
    /// What ralph wrote into the marker.
    active: Option<String>,
    ranges: Ranges,
    project: PathBuf,
}

impl Stories {
    /// Copies what must not change, and notes it in the setup that is recorded.
    pub(super) fn begin(setup: &mut Setup, run: &RunDir) -> Result<Option<Self>> {
        let Some(stories) = &mut setup.stories else { return Ok(None) };
        let pins = files::pin(&setup.project, stories, run)?;
        remove_stale_marker(&setup.project);
        let ranges = unjudged_turn::ranges(&setup.project, &stories.dir);
        Ok(Self::new(setup, pins, ranges))
    }

    /// Takes up what an earlier process of the run has left.
    pub(super) fn resume(known: &Run, run: &RunDir) -> Result<Option<Self>> {
        let setup = &known.started.setup;
        let Some(stories) = &setup.stories else { return Ok(None) };
        let pins = files::pinned(stories, run);
        remove_stale_marker(&setup.project);
        let ranges = unjudged_turn::ranges(&setup.project, &stories.dir);
        let Some(mut it) = Self::new(setup, pins, ranges) else { return Ok(None) };
        // A later run has judged it; what it says by now is not this run's business.
        let is_ours =
            known.state.is_unjudged() && !unjudged_turn::is_superseded(&setup.project, &stories.dir, run);
        if let Some(last) = known.memory.turn.as_ref().filter(|_| is_ours) {
            it.before = Some(files::snapshot(run, &last.turn)?);
        }
        Ok(Some(it))
    }

    fn new(setup: &Setup, pins: Vec<Pin>, ranges: Ranges) -> Option<Self> {
        let (before, settled, active) = (None, None, None);
        let project = setup.project.clone();
        Some(Self { setup: setup.stories.clone()?, pins, before, settled, active, ranges, project })
    }

    /// The text of the task list; nothing if it cannot be read.
    fn read(&self) -> Option<String> {
        files::read_text(&self.project, &self.project.join(&self.setup.dir).join(TASKS))
    }

    fn shown(&self) -> String {
        self.setup.dir.join(TASKS).display().to_string()
    }
}

/// Whoever left a marker has no loop here any more: this one has the tree.
fn remove_stale_marker(project: &Path) {
    let _ = std::fs::remove_file(project.join(ACTIVE));
}

impl Drop for Stories {
    /// The marker is removed by whoever wrote it, and by nobody else.
    fn drop(&mut self) {
        let path = self.project.join(ACTIVE);
        let is_ours = Active::read(&self.project).is_some_and(|active| active.pid == std::process::id());
        if self.active.is_some() && is_ours {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Driver {
    /// What the task list says about the next turn.
    pub(super) fn story_view(&self) -> Option<StoryView> {
        let stories = self.stories.as_ref()?;
        let review = stories.setup.review();
        let Some(text) = stories.read() else {
            let why = format!("{} is gone", stories.shown());
            return Some(StoryView { next: Err(why), story: None, all_approved: false });
        };
        if let Some(problem) = check(&text, review, stories.setup.review_cap).first() {
            let why = format!("{}:{}: {problem}", stories.shown(), problem.line);
            return Some(StoryView { next: Err(why), story: None, all_approved: false });
        }
        let list = read(&text).list;
        if list.is_complete(review) {
            // Only reached when ralph's own checks say otherwise: then they are what is to be mended.
            return Some(StoryView { next: Ok(Mode::Fix), story: None, all_approved: true });
        }
        let (next, story) = match select(&list, review) {
            Ok(selected) => (Ok(selected.mode), Some(selected.id)),
            Err(why) => (Err(why), None),
        };
        Some(StoryView { next, story, all_approved: false })
    }

    /// Copies the list into the run's folder and says in the project which turn this is.
    /// Returns a hash of the list.
    pub(super) fn before_story_turn(&mut self, turn: &Turn) -> Result<Option<String>> {
        let Some(stories) = &mut self.stories else { return Ok(None) };
        let text = stories.read().ok_or_else(|| Error::new(format!("cannot read {}", stories.shown())))?;
        let hash = files::hash(text.as_bytes());
        let folder = self.run.turn(turn.iteration, turn.attempt);
        if let Err(error) = record(&folder.join(SNAPSHOT), text.as_bytes()) {
            // What is in memory is judged by; only a crash would need the copy.
            self.ledger.warn(format!("the task list cannot be copied for this turn: {error}"));
        }
        stories.ranges.turn(turn);
        let list = read(&text).list;
        let active = Active {
            timestamp: jiff::Timestamp::now().to_string(),
            pid: std::process::id(),
            max_iterations: self.ledger.run().plan.limits.iterations,
            mode: stories.setup.containment.clone(),
            skip_review: stories.setup.skip_review,
            review_cap: stories.setup.review_cap,
            run: self.run.id(),
            iteration: turn.iteration,
            iteration_mode: Some(turn.mode.name().to_owned()),
            story: turn.story.clone(),
            ralph_dir: stories.setup.dir.display().to_string(),
            snapshot: story_files::snapshot(&list),
        };
        let marker = active.text();
        if let Err(error) = Root::new(&self.setup.project).restore(ACTIVE, marker.as_bytes()) {
            self.ledger.warn(format!("{ACTIVE} cannot be written: {error}"));
        }
        stories.active = Some(marker);
        stories.before = Some(Snapshot { text, mode: turn.mode, story: turn.story.clone() });
        Ok(Some(hash))
    }

    /// What ralph tells the turn before anything else.
    pub(super) fn assignment(&self, turn: &Turn) -> Option<String> {
        let stories = self.stories.as_ref()?;
        let list = read(&stories.before.as_ref()?.text).list;
        let story = turn.story.as_deref().and_then(|id| list.story(id));
        let ranges =
            story.map(|story| stories.ranges.of(&story.id, turn.head.as_deref())).unwrap_or_default();
        let of = self.ledger.run().plan.limits.iterations;
        Some(assignment::text(turn, of, story, &ranges, &stories.setup))
    }

    /// The variables of the prompt that are about the story.
    pub(super) fn story_variables(&self, turn: &Turn) -> Vec<(&'static str, String)> {
        let Some(stories) = &self.stories else { return Vec::new() };
        let list = stories.before.as_ref().map(|before| read(&before.text).list).unwrap_or_default();
        let story = turn.story.as_deref().and_then(|id| list.story(id));
        let (id, title) = story.map(|story| (story.id.clone(), story.title.clone())).unwrap_or_default();
        let dir = stories.setup.dir.display().to_string();
        vec![
            ("MODE", turn.mode.name().to_owned()),
            ("STORY_ID", id),
            ("STORY_TITLE", title),
            ("RALPH_DIR", dir),
        ]
    }

    /// Judges the last turn by the copy that was made before it, and undoes what it may not do.
    pub(super) fn judge_tasks(&mut self, finished: bool) {
        let Some(stories) = &mut self.stories else { return };
        let Some(before) = stories.before.take() else {
            // Another run has judged it meanwhile.
            return self.ledger.record(Event::TasksJudged(Box::default()));
        };
        let mut findings =
            files::judge(&self.setup.project, &stories.setup, &stories.pins, &before, finished);
        if let Some(marker) = &stories.active {
            findings.marker(&self.setup.project, marker);
        }
        self.ledger.record(Event::TasksJudged(Box::new(findings.judged.clone())));
        self.repair(&findings);
    }

    /// Between two turns nobody changes review fields: not what a turn left running, nor anybody else.
    pub(super) fn revert_outside_edits(&mut self) {
        let Some(stories) = &mut self.stories else { return };
        let Some(text) = stories.settled.clone() else { return };
        if stories.read().as_ref() == Some(&text) {
            return;
        }
        let before = Snapshot { text, mode: Mode::Work, story: None };
        let findings = files::judge(&self.setup.project, &stories.setup, &stories.pins, &before, false);
        if !findings.judged.broken.is_empty() {
            self.ledger.record(Event::TasksJudged(Box::new(findings.judged.clone())));
        }
        self.repair(&findings);
    }

    fn repair(&mut self, findings: &Findings) {
        if let Some(after) = &findings.replaced {
            let (iteration, attempt) = self.ledger.run().state.position();
            let _ = record(&self.run.turn(iteration, attempt).join("tasks.after.json"), after.as_bytes());
        }
        for warning in findings.write(&self.setup.project) {
            self.ledger.warn(warning);
        }
        if let Some(stories) = &mut self.stories {
            stories.settled = Some(findings.tasks.clone());
        }
        let Some(git) = self.git.clone().filter(|_| !self.supervisor.is_ending()) else { return };
        if let Err(error) = findings.commit(&mut self.supervisor, &git, &self.setup.dirty) {
            self.ledger.warn(format!("what ralph has put right could not be committed: {error}"));
        }
    }

    /// What git has to say about the loop before it begins.
    pub(super) fn notice_git(&mut self) -> Result<()> {
        let Some(stories) = &self.stories else { return Ok(()) };
        let Some(git) = self.git.clone() else {
            self.ledger.warn(NO_GIT.to_owned());
            return Ok(());
        };
        let wanted = stories.setup.branch.clone();
        let present = git.branch(&mut self.supervisor)?;
        if !wanted.is_empty() && present.as_ref().is_some_and(|present| *present != wanted) {
            let present = present.unwrap_or_default();
            self.ledger
                .warn(format!("the task list is for branch `{wanted}`, but `{present}` is checked out"));
        }
        Ok(())
    }
}
