//! What was done to the judgement of a claim that the judge agrees with: compares what judges with what the run starts from,
//! and runs the guardrails once more with that where it says something.
//!
//! Both versions are read in the judge's own store, and never in the project's.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use ralph_checks::{
    counts::read_output,
    misfit::{Witnesses, misfit},
    test_files::compare::Versions,
};
use ralph_core::{
    duration::millis,
    engine::{
        event::{Event, Examined, GateEnded, JudgeFailure},
        plan::Check,
    },
    setup::Setup,
    verify::{
        changed_check::FileChange,
        changes::{ChangedFile, Compared, LaidOver, WhatJudges, has_tests_inside},
        old_checks::{Evidence, OldEnd, OldRun, conclude, runs_others},
    },
};
use ralph_sys::process::Supervisor;

use crate::{
    driver::{
        Driver,
        examine::copies,
        judge::{BroughtTo, Written},
        outside,
    },
    gates,
    journal::run_dir::record,
    workspace::{Blob, Candidate, FileDiff, MadeChange, Workspace},
};

/// The file in the folder of a turn with the difference of the checks.
const DIFF: &str = "checks.diff";

/// As much of the end of an output as is read.
const MAX_OUTPUT_LEN: u64 = 16 * 1024 * 1024;

/// So many files are read to know why old checks failed.
const MAX_TEXTS: usize = 2_000;

/// What of the checks is as it was when guardrails run once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Old {
    Everything,
    /// What runs the tests.
    Runner,
    /// The same, for what runs no tests.
    Linters,
}

/// The two commits that are compared.
pub(super) struct Pair {
    pub(super) base: String,
    pub(super) claimed: BroughtTo,
}

/// The files that differ, and how those are made what they were that are to be.
#[derive(Clone, Copy)]
struct Laying<'a> {
    differing: &'a [FileDiff],
    laid: &'a BTreeMap<String, LaidOver>,
}

impl Driver {
    /// Says what was done to what judges the claim.
    pub(in crate::driver) fn examine(&mut self) {
        self.site.ledger.record(Event::ExamineStarted);
        let started = Instant::now();
        let mut gates_ms = 0;
        let examined = self.compare_checks(&mut gates_ms);
        // What was cut off has shown nothing.
        if self.site.run().state.is_stopping() {
            return;
        }
        self.site.ledger.record(match examined {
            Ok(mut examined) => {
                examined.findings.extend(outside::findings(&self.site));
                let ms = millis(started.elapsed()).saturating_sub(gates_ms);
                Event::Examined(Box::new(Examined { ms, ..examined }))
            }
            Err(error) => {
                let why = format!("the checks cannot be compared: {error}");
                Event::JudgeFailed { cause: JudgeFailure::NotFetched, why }
            }
        });
    }

    fn compare_checks(&mut self, gates_ms: &mut u64) -> io::Result<Examined> {
        if self.site.run().state.has_copies() {
            let site = &self.site;
            return copies::examine(&site.setup, site.run(), &site.dir);
        }
        let Some(pair) = self.pair() else { return Ok(Examined::default()) };
        let Self { site, judge, .. } = self;
        let Some(judge) = judge else { return Ok(Examined::default()) };
        judge.workspace.find_base(&mut site.supervisor, &pair.base)?;
        let differing = judge.workspace.diff(&mut site.supervisor, &pair.base, &pair.claimed.commit)?;
        // What was not committed before the run, and no one touched, lies over the commit as it was.
        let differing: Vec<FileDiff> =
            differing.into_iter().filter(|file| !is_laid(&pair.claimed.laid, &file.path)).collect();
        let commands: Vec<String> = site
            .run()
            .plan
            .gates
            .iter()
            .filter_map(|gate| match &gate.check {
                Check::Command { command } if gate.is_for_judge() => Some(command.clone()),
                _ => None,
            })
            .collect();
        let compared = compared(&mut site.supervisor, &judge.workspace, &site.setup, &commands, &differing);
        let new_tests = compared.new_tests.clone();
        let mut examined = self.try_old_checks(&pair, &differing, compared, gates_ms)?;
        let (bite, on_finding) = (self.site.run().plan.bite, self.site.run().plan.on_finding);
        if new_tests.are_tried(bite, on_finding, &examined.findings) && !self.site.run().state.is_stopping() {
            examined.notes.extend(self.bite(&pair, &differing, &new_tests, gates_ms));
        }
        Ok(examined)
    }

    /// Runs the guardrails with the checks that the run began with, as far as that says something.
    fn try_old_checks(
        &mut self,
        pair: &Pair,
        differing: &[FileDiff],
        compared: Compared,
        gates_ms: &mut u64,
    ) -> io::Result<Examined> {
        if compared.facts.is_empty() {
            return Ok(Examined::default());
        }
        let site = &self.site;
        let turned_green = site
            .run()
            .state
            .baseline()
            .failed()
            .filter_map(|(gate, _)| Some(site.run().plan.gates.get(gate)?.check.name().to_owned()));
        let turned_green = turned_green.collect();
        let Compared { facts, laid, has_other_changes, .. } = compared;
        let has_linters = site.run().plan.gates.iter().any(|gate| {
            gate.check.command().is_some() && gate.can_be_repeated_in_judge() && !gate.counts_tests()
        });
        let mut evidence =
            Evidence { checks: facts, has_other_changes, has_linters, turned_green, ..Evidence::default() };
        if evidence.wants_old_checks() {
            let laying = Laying { differing, laid: &laid };
            evidence.with_old_checks = self.run_old(pair, laying, Old::Everything, gates_ms)?;
        }
        if evidence.wants_old_runner() && !self.site.run().state.is_stopping() {
            let is_runner = |path: &&String| {
                evidence.checks.iter().any(|it| it.check.file == **path && runs_others(it.check.role))
            };
            let laid = laid
                .iter()
                .filter(|(path, _)| is_runner(path))
                .map(|(a, b)| (a.clone(), b.clone()))
                .collect();
            let old = if evidence.wants_only_linters() { Old::Linters } else { Old::Runner };
            let laying = Laying { differing, laid: &laid };
            evidence.with_old_runner = self.run_old(pair, laying, old, gates_ms)?;
        }
        let conclusion = conclude(&evidence);
        let diff = self.write_diff(pair, &evidence);
        Ok(Examined { findings: conclusion.findings, notes: conclusion.notes, diff, ms: 0 })
    }

    fn pair(&self) -> Option<Pair> {
        let base = self.site.run().state.base()?.to_owned();
        let claimed = self.judge.as_ref()?.brought.clone()?;
        Some(Pair { base, claimed })
    }

    /// Runs the guardrails in the judge with checks as they were. What they write there is thrown away.
    fn run_old(
        &mut self,
        pair: &Pair,
        laying: Laying<'_>,
        old: Old,
        gates_ms: &mut u64,
    ) -> io::Result<Vec<OldRun>> {
        let Self { site, judge, .. } = self;
        let Some(judge) = judge else { return Ok(Vec::new()) };
        let Laying { differing, laid } = laying;
        let changes: Vec<MadeChange<'_>> = laid
            .iter()
            .filter_map(|(path, laid)| {
                let file = differing.iter().find(|file| file.path == Path::new(path))?;
                Some(match (laid, &file.old) {
                    (LaidOver::Text(text), _) => MadeChange::Text(&file.path, text),
                    (LaidOver::Base, Some(blob)) => MadeChange::Entry(&file.path, blob),
                    (LaidOver::Base, None) => MadeChange::Removed(&file.path),
                })
            })
            .collect();
        let made = judge.workspace.make_commit(&mut site.supervisor, &pair.claimed.commit, &changes)?;
        if self.open_judge(&Candidate::Made(&made), &pair.claimed.laid).is_err() {
            return Ok(Vec::new());
        }
        let mut runs = Vec::new();
        for (index, command) in self.guardrails_for(old) {
            self.site.ledger.record(Event::OldCheckStarted { gate: index });
            let place = match old {
                Old::Everything => "old",
                Old::Runner | Old::Linters => "old_runner",
            };
            let Some(ended) = self.check_in_judge(index, place) else { break };
            *gates_ms = gates_ms.saturating_add(ended.ended.ms);
            let end = self.end_of(&ended.ended, index, place, laying);
            self.site.ledger.record(Event::OldCheckEnded(ended.ended));
            runs.push(OldRun { command, end });
        }
        self.close_judge(Written::Dropped);
        Ok(runs)
    }

    /// The guardrails that say something: a linter says nothing about old tests.
    fn guardrails_for(&self, old: Old) -> Vec<(usize, String)> {
        let gates = self.site.run().plan.gates.iter().enumerate();
        let wanted = gates.filter_map(|(index, gate)| {
            let command = gate.check.command().filter(|_| gate.can_be_repeated_in_judge())?;
            let is_wanted = match old {
                Old::Everything => gate.counts_tests(),
                Old::Runner => true,
                Old::Linters => !gate.counts_tests(),
            };
            is_wanted.then(|| (index, command.to_owned()))
        });
        wanted.collect()
    }

    /// How old checks ended: something that they use is missing, or they say no.
    fn end_of(&mut self, ended: &GateEnded, index: usize, place: &str, laying: Laying<'_>) -> OldEnd {
        if ended.failure.is_none() {
            return OldEnd::Passed;
        }
        let (iteration, attempt) = self.site.run().state.position();
        let name = gates::log_name(&self.site.run().plan.gates, index);
        let log = self.site.dir.turn(iteration, attempt).join(format!("{name}_{place}.log"));
        let output = ralph_sys::files::read(&log, MAX_OUTPUT_LEN).unwrap_or_default();
        let report = read_output(&output);
        if !report.only_load_errors() {
            return OldEnd::Failed;
        }
        let Self { site, judge, .. } = self;
        let Some(judge) = judge else { return OldEnd::Failed };
        let runners = site.run().state.tests(&site.run().plan).find(|tests| tests.gate == index);
        let runners = runners.map(|tests| tests.now.counts.keys().copied().collect()).unwrap_or_default();
        let texts = texts(&mut site.supervisor, &judge.workspace, laying.differing);
        let (mut checks, mut sources) = (Vec::new(), Vec::new());
        for file in texts.iter().map(versions) {
            match laying.laid.get(file.path) {
                // Of a source with tests in it only those are as they were.
                Some(LaidOver::Text(text)) => {
                    checks.push(Versions { old: Some(text), ..file });
                    sources.extend(has_tests_inside(file.path).then_some(file));
                }
                Some(LaidOver::Base) => checks.push(file),
                None => sources.push(file),
            }
        }
        let why = misfit(&report, &Witnesses { runners, checks, sources });
        why.map_or(OldEnd::Failed, |why| OldEnd::NotLoaded(why.to_owned()))
    }

    /// Keeps how the checks differ; returns where, relative to the folder of the run.
    fn write_diff(&mut self, pair: &Pair, evidence: &Evidence) -> Option<String> {
        let Self { site, judge, .. } = self;
        let files: Vec<&str> = evidence.checks.iter().map(|fact| fact.check.file.as_str()).collect();
        let workspace = &judge.as_ref()?.workspace;
        let commits = (pair.base.as_str(), pair.claimed.commit.as_str());
        let text = workspace.diff_text(&mut site.supervisor, commits, &files).ok()?;
        let (iteration, attempt) = site.run().state.position();
        let place = site.dir.turn(iteration, attempt).join(DIFF);
        record(&place, &text).ok()?;
        Some(place.strip_prefix(site.dir.path()).ok()?.display().to_string())
    }
}

/// A file as it was, and as it is.
struct Texts {
    path: String,
    old: Option<String>,
    new: Option<String>,
}

fn versions(texts: &Texts) -> Versions<'_> {
    Versions { path: &texts.path, old: texts.old.as_deref(), new: texts.new.as_deref() }
}

/// Both versions of the files that differ.
fn texts(supervisor: &mut Supervisor, workspace: &Workspace, differing: &[FileDiff]) -> Vec<Texts> {
    let mut text = |blob: Option<&Blob>| {
        let blob = blob.filter(|blob| blob.is_file())?;
        String::from_utf8(workspace.blob(supervisor, &blob.id).ok()?).ok()
    };
    let files = differing.iter().take(MAX_TEXTS);
    files
        .map(|file| Texts {
            path: file.path.to_string_lossy().into_owned(),
            old: text(file.old.as_ref()),
            new: text(file.new.as_ref()),
        })
        .collect()
}

fn is_laid(laid: &[PathBuf], path: &Path) -> bool {
    laid.iter().any(|laid| path.starts_with(laid))
}

/// Reads what is needed of the files that differ, and compares it.
pub(super) fn compared(
    supervisor: &mut Supervisor,
    workspace: &Workspace,
    setup: &Setup,
    commands: &[String],
    differing: &[FileDiff],
) -> Compared {
    let prefix = workspace.source().prefix.to_string_lossy().into_owned();
    let git = RefCell::new(supervisor);
    let text = |blob: Option<&Blob>| {
        let blob = blob.filter(|blob| blob.is_file())?;
        let bytes = workspace.blob(&mut git.borrow_mut(), &blob.id).ok()?;
        String::from_utf8(bytes).ok()
    };
    let top = workspace.source().prefix.clone();
    // What does not differ is in the tree of the judge as it was.
    let read = |path: &str| {
        let path = top.join(path);
        match differing.iter().find(|file| file.path == path) {
            Some(file) => text(file.old.as_ref()),
            None => workspace.read_tree(&path),
        }
    };
    let what = WhatJudges::new(&setup.judge.checks, &prefix, commands, &read);
    let files: Vec<ChangedFile> = differing
        .iter()
        .map(|file| {
            let path = file.path.to_string_lossy().into_owned();
            let is_read = what.is_read(&path);
            let version = |blob: Option<&Blob>| blob.filter(|_| is_read).and_then(|it| text(Some(it)));
            let change = match (&file.old, &file.new) {
                (None, _) => FileChange::Added,
                (_, None) => FileChange::Deleted,
                _ => FileChange::Changed,
            };
            ChangedFile {
                change: Some(change),
                old: version(file.old.as_ref()),
                new: version(file.new.as_ref()),
                path,
            }
        })
        .collect();
    what.compare(&files)
}
