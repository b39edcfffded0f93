//! What a person changed between two processes of a run: none of it is held against the agent.
//!
//! A process leaves a picture of the files. What differs from it at the next start becomes part of what the run starts from,
//! line by line where the agent had changed the same file, and tests are counted anew. After a kill there is no picture, and
//! no one knows whose change it is.

use std::{io, time::Instant};

use ralph_core::{
    duration::millis,
    engine::{
        event::{BaseMoved, Event, GateEnded},
        outcome::Outcome,
    },
    verify::carried_over::carried_over,
};
use ralph_sys::process::Supervisor;

use super::{compare::compared, copies};
use crate::{
    driver::{Driver, judge::Written},
    project::git::Git,
    workspace::{Blob, Candidate, FileDiff, MadeChange, Workspace},
};

/// What the logs of guardrails end in that run once more for their counts: they are compared with what the judge counts.
const JUDGE_LOG: &str = "judge";

/// What a file of the base becomes.
enum Moved<'a> {
    Entry(&'a Blob),
    Removed,
    Merged(String, String),
}

impl Driver {
    /// A process of the run ends: keeps how it leaves the files, if the run may go on.
    pub(in crate::driver) fn leave_files(&mut self, outcome: &Outcome) {
        let state = &self.site.run().state;
        if *outcome == Outcome::Done && state.findings().is_empty() {
            return;
        }
        if state.has_copies() {
            let site = &self.site;
            if copies::leave(&site.setup, site.run(), &site.dir).is_ok() {
                self.site.ledger.record(Event::FilesLeft { commit: None });
            }
        } else if state.base().is_some()
            && let Ok(commit) = self.picture()
        {
            self.site.ledger.record(Event::FilesLeft { commit: Some(commit) });
        }
    }

    /// A run goes on: what a person changed since its last process ended is part of what it starts from.
    pub(in crate::driver) fn take_over_files(&mut self) {
        let Some(left) = self.site.run().memory.files_left.clone() else { return };
        let moved = match left {
            Some(left) => self.move_base(&left),
            None => copies::take_over(&self.site.setup, self.site.run(), &self.site.dir),
        };
        match moved {
            Ok(Some(moved)) => self.site.ledger.record(Event::BaseMoved(Box::new(moved))),
            Ok(None) => {}
            Err(error) => self.site.ledger.warn(format!(
                "what you changed since the run stopped cannot be told from what the agent changed: {error}"
            )),
        }
    }

    /// A commit of the files as they are, in the judge's own store.
    fn picture(&mut self) -> io::Result<String> {
        let Self { site, judge, .. } = self;
        let judge = judge.as_mut().ok_or_else(|| io::Error::other("there is no judge in this process"))?;
        let head = Git::at(&judge.workspace.source().top).head(&mut site.supervisor)?;
        judge.workspace.has_head(head);
        let kept = judge.workspace.keep_base(&mut site.supervisor, &Candidate::WorkingTree);
        kept.map_err(|why| io::Error::other(why.to_string()))
    }

    fn move_base(&mut self, left: &str) -> io::Result<Option<BaseMoved>> {
        let started = Instant::now();
        let Some(base) = self.site.run().state.base().map(str::to_owned) else { return Ok(None) };
        let now = self.picture()?;
        let Self { site, judge, .. } = self;
        let Some(judge) = judge else { return Ok(None) };
        let workspace = &mut judge.workspace;
        workspace.find_base(&mut site.supervisor, &base)?;
        workspace.find_base(&mut site.supervisor, left)?;
        let differing = workspace.diff(&mut site.supervisor, left, &now)?;
        if differing.is_empty() {
            return Ok(None);
        }
        let mut moved = Vec::new();
        for file in &differing {
            moved.extend(move_file(&mut site.supervisor, workspace, &base, file)?.map(|it| (file, it)));
        }
        let changes: Vec<MadeChange<'_>> = moved
            .iter()
            .map(|(file, moved)| match moved {
                Moved::Entry(blob) => MadeChange::Entry(&file.path, blob),
                Moved::Removed => MadeChange::Removed(&file.path),
                Moved::Merged(mode, text) => MadeChange::Merged { path: &file.path, mode, text },
            })
            .collect();
        let commit = workspace.make_commit(&mut site.supervisor, &base, &changes)?;
        workspace.hold_base(&mut site.supervisor, &commit)?;
        let commands = copies::commands(site.run());
        let compared = compared(&mut site.supervisor, workspace, &site.setup, &commands, &differing);
        let files: Vec<String> = compared.facts.into_iter().map(|fact| fact.check.file).collect();
        let ms = millis(started.elapsed());
        let tests = if files.is_empty() { Vec::new() } else { self.count_again(&commit) };
        Ok(Some(BaseMoved { commit: Some(commit), files, tests, ms }))
    }

    /// Runs the guardrails that count tests on what the run starts from, with what a person changed. What they write there is
    /// thrown away.
    fn count_again(&mut self, commit: &str) -> Vec<GateEnded> {
        let plan = &self.site.run().plan;
        if !plan.baseline {
            return Vec::new();
        }
        let counting = plan.gates.iter().enumerate().filter(|(_, gate)| {
            gate.check.command().is_some() && gate.can_be_repeated_in_judge() && gate.counts_tests()
        });
        let counting: Vec<usize> = counting.map(|(index, _)| index).collect();
        if counting.is_empty() || self.open_judge(&Candidate::Made(commit), &[]).is_err() {
            return Vec::new();
        }
        let mut takes = Vec::new();
        for index in counting {
            let command = self.site.run().plan.gates[index].check.name();
            let detail = format!("You changed checks; counting tests again: {command}");
            self.site.ledger.reporters_detail(&detail);
            let Some(ended) = self.check_in_judge(index, JUDGE_LOG) else { break };
            takes.push(ended.ended);
        }
        self.close_judge(Written::Dropped);
        takes
    }
}

/// What becomes of a file of the base that a person changed; nothing for one that only the agent and the person had.
fn move_file<'a>(
    supervisor: &mut Supervisor,
    workspace: &Workspace,
    base: &str,
    file: &'a FileDiff,
) -> io::Result<Option<Moved<'a>>> {
    let was = workspace.entry(supervisor, base, &file.path)?;
    Ok(match (&was, &file.old, &file.new) {
        (was, left, Some(now)) if was == left => Some(Moved::Entry(now)),
        (Some(_), _, None) => Some(Moved::Removed),
        // The agent had changed it: only what the person did to it counts.
        (Some(was), Some(left), Some(now)) if was.is_file() && left.is_file() && now.is_file() => {
            let text = |supervisor: &mut Supervisor, blob: &Blob| {
                let bytes = workspace.blob(supervisor, &blob.id)?;
                String::from_utf8(bytes).map_err(io::Error::other)
            };
            let texts = [text(supervisor, was)?, text(supervisor, left)?, text(supervisor, now)?];
            carried_over(&texts[0], &texts[1], &texts[2]).map(|text| Moved::Merged(now.mode.clone(), text))
        }
        (Some(_), _, Some(now)) => Some(Moved::Entry(now)),
        (None, _, _) => None,
    })
}
