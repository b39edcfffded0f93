//! Old checks on new code: what follows when what judges was changed, as one table.
//!
//! Facts in, findings and notes out. The program compares the files and runs the guardrails once more with the checks that
//! the run began with; what that means is decided here.

use std::collections::BTreeSet;

use ralph_checks::protected::Role;

use super::{
    changed_check::{ChangedCheck, FileChange},
    check_note::CheckNote,
    finding::Finding,
};

/// A changed check, with what the table needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFact {
    /// The file.
    pub check: ChangedCheck,
    /// Whether guardrails can be run with it as it was when the run began.
    pub is_laid: bool,
    /// What came with it, where that says something.
    pub addition: Option<Addition>,
    /// Why a weaker one is nothing to ask about: what it tested is gone.
    pub excuse: Option<String>,
    /// The settings say that it may change.
    pub may_change: bool,
}

/// What a change of tests brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addition {
    /// A test file only became longer, with nothing in it that got worse.
    Longer,
    /// A new file can change how other tests end.
    ReachesOthers,
}

/// How a guardrail ended with checks that the run began with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldRun {
    /// The guardrail.
    pub command: String,
    /// How it ended.
    pub end: OldEnd,
}

/// How old checks ended on new code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OldEnd {
    /// They pass.
    Passed,
    /// They do not fit the new code: something that they use is not there. This is the first reason.
    NotLoaded(String),
    /// They could be run, and say no.
    Failed,
}

/// What is known about the checks of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The checks that changed.
    pub checks: Vec<CheckFact>,
    /// How guardrails ended with everything that judges as it was.
    pub with_old_checks: Vec<OldRun>,
    /// How they ended with only that as it was which runs the tests.
    pub with_old_runner: Vec<OldRun>,
    /// Whether anything but checks changed.
    pub has_other_changes: bool,
    /// Whether a guardrail only reads the code. Such a one says nothing about old tests, and is not run with them.
    pub has_linters: bool,
    /// Guardrails that failed before the run and pass.
    pub turned_green: Vec<String>,
}

/// What follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conclusion {
    /// What a person would want to know before the claim counts.
    pub findings: Vec<Finding>,
    /// What else is said.
    pub notes: Vec<CheckNote>,
}

/// How several guardrails ended together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Together {
    NotRun,
    Passed,
    NotLoaded,
    Failed,
}

/// Whether a file decides how others judge.
pub fn runs_others(role: Role) -> bool {
    match role {
        Role::Runner | Role::Lint | Role::StartUp | Role::Manifest => true,
        Role::Test | Role::Expectation | Role::Ci => false,
    }
}

/// Whether a file decides how the code is read by programs that run no test.
fn may_rule_linters(role: Role) -> bool {
    match role {
        Role::Lint | Role::Manifest => true,
        Role::Runner | Role::StartUp | Role::Test | Role::Expectation | Role::Ci => false,
    }
}

impl Evidence {
    /// Whether the guardrails are to be run with everything as it was.
    pub fn wants_old_checks(&self) -> bool {
        let is_laid = |fact: &&CheckFact| fact.is_laid && !runs_others(fact.check.role);
        // New tests may need what is new of what runs them: as it was, they were not there.
        self.counted().any(|fact| is_laid(&fact))
            || self.has_runner() && self.checks.iter().any(|it| is_laid(&it))
    }

    /// Whether they are to be run once more, with only that as it was which runs the tests: to know which of the two it was.
    pub fn wants_old_runner(&self) -> bool {
        if !self.wants_only_linters() {
            return self.has_runner();
        }
        self.has_linters && self.counted().any(|fact| fact.is_laid && may_rule_linters(fact.check.role))
    }

    /// Whether only what was not run with everything as it was is still to be run.
    pub fn wants_only_linters(&self) -> bool {
        together(&self.with_old_checks) == Together::Passed
    }

    fn has_runner(&self) -> bool {
        self.counted().any(|fact| fact.is_laid && runs_others(fact.check.role))
    }

    /// New tests judge more, not less, unless they reach for the others.
    fn counted(&self) -> impl Iterator<Item = &CheckFact> {
        let touches = |fact: &&CheckFact| {
            fact.check.change != FileChange::Added
                || runs_others(fact.check.role)
                || fact.addition == Some(Addition::ReachesOthers)
                || !fact.check.worse.is_empty()
        };
        self.checks.iter().filter(|fact| !fact.may_change).filter(touches)
    }
}

/// The table.
pub fn conclude(evidence: &Evidence) -> Conclusion {
    let mut conclusion = Conclusion::default();
    let allowed: Vec<ChangedCheck> =
        evidence.checks.iter().filter(|fact| fact.may_change).map(|fact| fact.check.clone()).collect();
    if !allowed.is_empty() {
        conclusion.notes.push(CheckNote::MayChange { files: allowed });
    }
    let (mut runners, tests): (Vec<&CheckFact>, Vec<&CheckFact>) =
        evidence.counted().partition(|fact| runs_others(fact.check.role));
    let checks = together(&evidence.with_old_checks);
    if checks == Together::Passed {
        runners.retain(|fact| may_rule_linters(fact.check.role));
    }
    let runner = match together(&evidence.with_old_runner) {
        // With everything as it was, what runs the tests was as it was.
        Together::NotRun if checks == Together::Passed => Together::Passed,
        other => other,
    };
    let is_clear = if evidence.with_old_checks.is_empty() { runner } else { checks } == Together::Passed;
    if !is_clear && !evidence.has_other_changes && !evidence.turned_green.is_empty() {
        let files: Vec<ChangedCheck> = evidence.counted().map(|fact| fact.check.clone()).collect();
        if !files.is_empty() {
            let commands = evidence.turned_green.clone();
            conclusion.findings.push(Finding::OnlyChecksChanged { files, commands });
            return conclusion;
        }
    }
    if is_runner_red(&runners, runner) {
        let commands = red(&evidence.with_old_runner);
        conclusion.findings.push(Finding::RunnerChanged { files: copied(&runners), commands });
    }
    let weaker: Vec<&CheckFact> = tests.iter().copied().filter(|fact| is_weaker(fact, checks)).collect();
    let is_runner_fault = is_runner_red(&runners, runner);
    if !weaker.is_empty() || checks == Together::Failed && !is_runner_fault {
        let is_failed = checks == Together::Failed;
        let told: Vec<&CheckFact> =
            tests.iter().copied().filter(|fact| weaker.contains(fact) || is_failed && fact.is_laid).collect();
        let commands = if is_failed { red(&evidence.with_old_checks) } else { Vec::new() };
        conclusion.findings.push(Finding::ChecksChanged { files: copied(&told), commands });
    }
    conclusion.notes.extend(rest(evidence, &conclusion.findings, checks, runner));
    conclusion
}

/// What runs the tests changed, and as it was the guardrails fail. What is code like the tests may not fit the new code any
/// more; a setting, a script or a recipe has no such excuse.
fn is_runner_red(runners: &[&CheckFact], runner: Together) -> bool {
    let is_code = |fact: &&CheckFact| {
        let ending = fact.check.file.rsplit('.').next().unwrap_or_default();
        fact.check.role == Role::Runner && ["py", "rb", "js", "ts", "mjs", "exs", "php"].contains(&ending)
    };
    match runner {
        Together::Failed => true,
        Together::NotLoaded => !runners.iter().all(is_code),
        Together::NotRun | Together::Passed => false,
    }
}

/// Where the old ones pass, nothing was lost by the change. What cannot be laid over was not tried.
fn is_weaker(fact: &CheckFact, checks: Together) -> bool {
    let is_tried = fact.is_laid && checks == Together::Passed;
    !fact.check.worse.is_empty() && fact.excuse.is_none() && !is_tried
}

/// What is said about changes that are nothing to ask about.
fn rest(evidence: &Evidence, findings: &[Finding], checks: Together, runner: Together) -> Vec<CheckNote> {
    let found: BTreeSet<&str> =
        findings.iter().flat_map(Finding::checks).map(|check| check.file.as_str()).collect();
    let is_passed = |fact: &&CheckFact| {
        let role = fact.check.role;
        let is_of_runner = runs_others(role) && (checks != Together::Passed || may_rule_linters(role));
        let ended = if is_of_runner { runner } else { checks };
        fact.is_laid && ended == Together::Passed
    };
    let (passed, other): (Vec<&CheckFact>, Vec<&CheckFact>) =
        evidence.counted().filter(|fact| !found.contains(fact.check.file.as_str())).partition(is_passed);
    let mut notes = Vec::new();
    // More tests beside the old ones, which pass, are what everybody hopes for.
    let passed: Vec<&CheckFact> =
        passed.into_iter().filter(|fact| fact.addition != Some(Addition::Longer)).collect();
    if !passed.is_empty() {
        notes.push(CheckNote::OldChecksPass { files: copied(&passed) });
    }
    if !other.is_empty() {
        let why = why(evidence, &other);
        notes.push(CheckNote::NotComparable { files: copied(&other), why });
    }
    notes
}

/// Why the old ones cannot be compared.
fn why(evidence: &Evidence, facts: &[&CheckFact]) -> String {
    if let Some(excuse) = facts.iter().find_map(|fact| fact.excuse.clone()) {
        return excuse;
    }
    if facts.iter().all(|fact| !fact.is_laid) {
        return "no guardrail can be run with the old ones".to_owned();
    }
    let runs = evidence.with_old_checks.iter().chain(&evidence.with_old_runner);
    let load = runs.into_iter().find_map(|run| match &run.end {
        OldEnd::NotLoaded(why) => Some(format!("the old ones do not fit the new code: {why}")),
        OldEnd::Passed | OldEnd::Failed => None,
    });
    load.unwrap_or_else(|| "no guardrail runs them".to_owned())
}

fn together(runs: &[OldRun]) -> Together {
    let ends = || runs.iter().map(|run| &run.end);
    match runs {
        [] => Together::NotRun,
        _ if ends().any(|end| *end == OldEnd::Failed) => Together::Failed,
        _ if ends().any(|end| matches!(end, OldEnd::NotLoaded(_))) => Together::NotLoaded,
        _ => Together::Passed,
    }
}

fn red(runs: &[OldRun]) -> Vec<String> {
    runs.iter().filter(|run| run.end != OldEnd::Passed).map(|run| run.command.clone()).collect()
}

fn copied(facts: &[&CheckFact]) -> Vec<ChangedCheck> {
    facts.iter().map(|fact| fact.check.clone()).collect()
}

#[cfg(test)]
mod tests;
