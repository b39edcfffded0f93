//! What earlier runs of the project have left: a turn that no one judged, and the commits of the stories.

use std::path::Path;

use jiff::Timestamp;
use ralph_core::{
    engine::{
        Run,
        entry::Entry,
        event::{Event, TasksJudged, Turn},
    },
    stories::TaskFile,
    verify::finding::Finding,
};
use ralph_sys::{
    error::{Context, Result},
    process::Supervisor,
};

use super::{
    commits::Ranges,
    files::{Findings, StoryFiles, TurnOver, pinned, snapshot},
    stop_preview::touched_by_review,
};
use crate::{
    journal::{self, Folded, Journal, run_dir::RunDir},
    project::{archived, git::Git, lock},
};

/// A turn that was cut off with its ralph, and what no one has done about it yet.
pub(crate) struct PendingJudgement {
    /// What is found when it is judged.
    pub(crate) judged: TasksJudged,
    /// The list as it is then.
    pub(crate) list: TaskFile,
}

/// Judges the last turn of the project's last stories loop, if that was killed before it could, and puts right what
/// the turn may not have done. A cheat must not be laundered by starting anew.
pub(crate) fn settle(project: &Path, dir: &Path) -> Result<Option<TasksJudged>> {
    match last_loop(project, dir)? {
        Some((_, known)) if is_open(&known) => {}
        Some((run, known)) => return Ok(inherited(&run, &known)),
        None => return Ok(None),
    }
    let mut supervisor = Supervisor::new()?;
    let git = Git::find(&mut supervisor, project).ok().flatten();
    // Its guardian may still be ending what it had started.
    let _tree = lock::take(project, git.as_ref().map(Git::top))?;
    // Another process may have judged it until now; only what is read under the lock counts.
    let Some((run, known)) = last_loop(project, dir)? else { return Ok(None) };
    let Some(findings) = findings(&run, &known)? else { return Ok(inherited(&run, &known)) };
    let mut journal = Journal::open(&run.journal())?;
    let refused = || format!("cannot record that the last turn of run {} was judged", run.id());
    // Before the list says so: who is killed in between finds them approved, and must know how.
    if let Some(found) = at_cap(&known, &findings.judged.capped) {
        journal.append(&Entry { at: journal::now(), event: found }).context(refused())?;
    }
    // Put right first: who is killed in between judges again, and finds nothing.
    if let Some(problem) = findings.write(project, &run).into_iter().next() {
        return Err(ralph_sys::error::Error::new(problem));
    }
    if let Some(git) = git {
        // What cannot be committed now is committed with the next turn's work.
        let _ = findings.commit(&mut supervisor, &git, &known.started.setup.dirty);
    }
    let event = Event::TasksJudged(Box::new(TasksJudged { run: None, ..findings.judged.clone() }));
    journal.append(&Entry { at: journal::now(), event }).context(refused())?;
    let mut judged = findings.judged;
    judged.capped.extend(inherited(&run, &known).into_iter().flat_map(|it| it.capped));
    judged.capped.dedup();
    Ok(Some(judged))
}

/// What stories were approved at the cap, as a finding of their run.
fn at_cap(known: &Run, stories: &[String]) -> Option<Event> {
    let cap = known.started.setup.stories.as_ref()?.review_cap;
    let findings = stories.iter().map(|story| Finding::ApprovedAtCap { story: story.clone(), cap });
    (!stories.is_empty()).then(|| Event::Found { findings: findings.collect() })
}

/// What a run that never came to its end knows of stories that the cap approved: a fresh run has the same list, and must know
/// it too.
fn inherited(run: &RunDir, known: &Run) -> Option<TasksJudged> {
    let findings = known.state.findings().iter().filter(|_| known.state.outcome().is_none());
    let capped: Vec<String> = findings
        .filter_map(|finding| match finding {
            Finding::ApprovedAtCap { story, .. } => Some(story.clone()),
            Finding::PersonsCommand { .. }
            | Finding::NotApproved { .. }
            | Finding::NotReviewed { .. }
            | Finding::NotTheTask { .. }
            | Finding::JudgeDisagrees { .. }
            | Finding::FewerTests { .. }
            | Finding::StartUpChanged { .. }
            | Finding::ProgramChanged { .. }
            | Finding::ChecksChanged { .. }
            | Finding::RunnerChanged { .. }
            | Finding::OnlyChecksChanged { .. } => None,
        })
        .collect();
    (!capped.is_empty()).then(|| TasksJudged { run: Some(run.id()), capped, ..TasksJudged::default() })
}

/// What [`settle`] would find and leave; nothing if the last turn was judged, or its loop is alive.
pub(crate) fn pending(project: &Path, dir: &Path) -> Result<Option<PendingJudgement>> {
    let Some((run, known)) = last_loop(project, dir)?.filter(|(_, known)| is_open(known)) else {
        return Ok(None);
    };
    if journal::is_running(&run.journal()) {
        return Ok(None);
    }
    let found = findings(&run, &known)?;
    Ok(found.map(|Findings { judged, file, .. }| PendingJudgement { judged, list: file }))
}

/// Whether something is to be done about the last turn of a run that has gone.
fn is_open(known: &Run) -> bool {
    known.state.is_unjudged() || known.state.leaves_unverified()
}

/// Judges the last turn of a run that ended before it could, and takes back what it submitted and no one verified.
fn findings(run: &RunDir, known: &Run) -> Result<Option<Findings>> {
    let whole = &known.started.setup;
    let (Some(last), Some(setup), true) = (&known.memory.turn, &whole.stories, is_open(known)) else {
        return Ok(None);
    };
    let before = snapshot(run, whole, &last.turn)?;
    let files = StoryFiles { project: &whole.project, setup, pins: &pinned(&whole.project, setup, run) };
    let mut findings = if known.state.is_unjudged() {
        let touched = touched_by_review(whole, setup, &before);
        files.judge(&before, files.list().as_ref(), TurnOver { finished: false, touched })
    } else {
        Findings::none(files.list().unwrap_or_default())
    };
    if known.state.leaves_unverified() {
        findings = files.without_submission(&before.file, findings);
    }
    let is_nothing = !known.state.is_unjudged() && findings.judged.taken_back.is_empty();
    findings.judged.run = Some(run.id());
    Ok((!is_nothing).then_some(findings))
}

/// What would be found if the running turn of this run were judged now; nothing if there is no such turn.
pub(crate) fn preview(project: &Path, dir: &Path, run: &str) -> Option<TasksJudged> {
    let (run, known) = last_loop(project, dir).ok()?.filter(|(last, _)| last.id() == run)?;
    let turn = unjudged(&known)?;
    let whole = &known.started.setup;
    let setup = whole.stories.as_ref()?;
    let before = snapshot(&run, whole, turn).ok()?;
    let files = StoryFiles { project, setup, pins: &pinned(project, setup, &run) };
    let touched = touched_by_review(whole, setup, &before);
    Some(files.judge(&before, files.list().as_ref(), TurnOver { finished: true, touched }).judged)
}

/// Whether a later run has worked on the list since this one did.
pub(super) fn is_superseded(project: &Path, dir: &Path, run: &RunDir) -> bool {
    last_loop(project, dir).ok().flatten().is_some_and(|(last, _)| run.id() < last.id())
}

/// The commits that the project's runs have made for each story of the list, since the last one was put away.
pub(super) fn ranges(project: &Path, dir: &Path) -> Ranges {
    let mut ranges = Ranges::default();
    let archived = archived::when(project, dir);
    let is_current = |at: Timestamp| archived.is_none_or(|archived| archived < at);
    for run in RunDir::of_project(project).unwrap_or_default() {
        let mut is_ours = false;
        let _ = journal::read_from(&run.journal(), 0, &mut |entry| match &entry.event {
            Event::RunStarted(started) => {
                is_ours = started.setup.stories.as_ref().is_some_and(|stories| stories.ralph_dir == dir);
            }
            Event::TurnStarted(turn) if is_ours && is_current(entry.at) => ranges.turn(turn),
            Event::TasksJudged(judged) if is_ours && is_current(entry.at) => ranges.judged(judged),
            _ => {}
        });
    }
    ranges
}

/// The newest run that has done something to this list.
fn last_loop(project: &Path, dir: &Path) -> Result<Option<(RunDir, Run)>> {
    for run in RunDir::of_project(project)?.into_iter().rev() {
        let (known, entries) = match journal::fold(&run.journal()) {
            Ok(Folded { run: known, entries, .. }) => (known, entries),
            // What a damaged record says about the list is not known, and must not be passed over.
            Err(error) if journal::started(&run.journal()).is_some() => return Err(error),
            Err(_) => continue,
        };
        let is_ours = known.started.setup.stories.as_ref().is_some_and(|stories| stories.ralph_dir == dir);
        let touched = |event: &Event| matches!(event, Event::TurnStarted(_) | Event::TasksJudged(_));
        if is_ours && entries.iter().any(|entry| touched(&entry.event)) {
            return Ok(Some((run, known)));
        }
    }
    Ok(None)
}

/// The last turn of a run, if no one has judged it.
fn unjudged(known: &Run) -> Option<&Turn> {
    known.memory.turn.as_ref().filter(|_| known.state.is_unjudged()).map(|last| &last.turn)
}
