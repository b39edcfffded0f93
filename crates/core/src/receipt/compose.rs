//! Makes the statement of a run from its record and from what the machine says.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    crew::{Part, who_worked},
    private::Private,
    sha256,
    statement::{
        Acceptance, ContainmentFacts, GuardrailFacts, GuardrailSource, JournalFacts, PREDICATE_TYPE,
        Predicate, ProtectedFacts, Remark, Revision, RunEnding, RunFacts, STATEMENT_TYPE, SpentFacts,
        Statement, Subject, TestCounts, ToolFacts,
    },
};
use crate::{
    containment::wanted::GatesRun,
    engine::{
        Run,
        entry::Entry,
        event::{Event, GateEnded},
        outcome::Outcome,
        plan::{Check, Gate},
        roles::MAIN,
    },
    gate_failure::GateExit,
    review::{Opinion, OpinionAbout},
    setup::Guard,
    verify::{rules::Repeats, tested::Tested},
};

/// What the record does not say.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What the run started from.
    pub base: Option<Revision>,
    /// What it ended with.
    pub result: Option<Revision>,
    /// Whether that is a commit; else it is the files as they are.
    pub is_committed: bool,
    /// How many files the run left that are not committed.
    pub uncommitted: u64,
    /// The checks of the project.
    pub protected: Option<ProtectedFacts>,
    /// The SHA-256 of hidden guardrails, by the name that stands for each.
    pub hidden: BTreeMap<String, String>,
    /// The program of who works first.
    pub agent: String,
    /// The programs of all agents, where there are several, by what the settings call them.
    pub agents: BTreeMap<String, String>,
    /// Whether processes of the run could reach the key that signs.
    pub key_reachable: bool,
    /// What makes the receipt.
    pub tools: ToolFacts,
    /// The record.
    pub journal: JournalFacts,
    /// What must not be in it.
    pub private: Private,
}

/// Makes the statement of a run that has ended, from all of its record.
pub fn compose(run: &Run, seen: ReceiptFold, facts: Facts) -> Statement {
    let Facts { base, result, is_committed, uncommitted, protected, hidden, agent, .. } = facts;
    let Facts { agents, key_reachable, tools, journal, private, .. } = facts;
    let subject = subjects(result.as_ref(), is_committed, &journal);
    let Run { started, plan, state, .. } = run;
    let spent = state.spent();
    let outcome = state.outcome();
    let plan_bytes = serde_json::to_vec(plan).expect("a plan has only string keys and plain values");
    let sandbox = started.setup.sandbox.level();
    let mut statement = Statement {
        kind: STATEMENT_TYPE.to_owned(),
        subject,
        predicate_type: PREDICATE_TYPE.to_owned(),
        predicate: Predicate {
            run: RunFacts {
                id: started.run.clone(),
                preset: plan.preset.clone(),
                began: seen.began,
                ended: seen.ended,
                outcome: outcome.map_or("unknown", name).to_owned(),
                exit_code: outcome.map_or(1, |outcome| state.exit_code(plan, outcome)),
            },
            base,
            result,
            uncommitted,
            plan: sha256(&plan_bytes),
            guardrails: (0..plan.gates.len())
                .filter(|gate| plan.gates[*gate].check.judges())
                .map(|gate| seen.guardrail(gate, &plan.gates[gate], &hidden, state.opinions()))
                .collect(),
            protected,
            findings: state.findings().iter().map(|it| remark(it, "finding", it.line())).collect(),
            opinions: state
                .opinions()
                .iter()
                .map(|it| Remark { kind: it.kind().to_owned(), text: it.line() })
                .collect(),
            accepted: seen.accepted.filter(|_| state.is_accepted()),
            caveats: state
                .caveats(plan)
                .iter()
                .map(|it| Remark { kind: it.name().to_owned(), text: it.to_string() })
                .chain(seen.repaired)
                .chain(left_out(uncommitted, is_committed))
                .collect(),
            containment: ContainmentFacts {
                sandbox: sandbox.name().to_owned(),
                gates_inside: sandbox.contains() && started.setup.sandbox.gates == GatesRun::Inside,
                guard: started.setup.guard == Guard::On && 0 < seen.turns && seen.guarded == seen.turns,
                refused: seen.refused,
                hosts: seen.hosts,
                hosts_refused: seen.hosts_refused,
                key_reachable,
            },
            agents: who_worked(seen.crew, &agent, &agents),
            spent: SpentFacts {
                iterations: spent.begun,
                turns: spent.turns,
                ms: spent.ms,
                tokens: spent.usage.tokens(),
                cost_usd: spent.usage.cost_usd,
            },
            tools,
            journal,
        },
    };
    private.scrub(&mut statement);
    statement
}

/// What is said where the run left files beside its commits.
fn left_out(uncommitted: u64, is_committed: bool) -> Option<Remark> {
    (is_committed && 0 < uncommitted).then(|| Remark {
        kind: "uncommitted-files".to_owned(),
        text: format!("{uncommitted} files of the working tree were not committed when the run ended"),
    })
}

/// What the statement is about. Where files are not committed it is about those, and not about the commit below them.
pub(super) fn subjects(
    result: Option<&Revision>,
    is_committed: bool,
    journal: &JournalFacts,
) -> Vec<Subject> {
    let subject = |name: &str, algorithm: &str, digest: &str| Subject {
        name: name.to_owned(),
        digest: BTreeMap::from([(algorithm.to_owned(), digest.to_owned())]),
    };
    match result {
        Some(result) if is_committed => {
            vec![subject("commit", "gitCommit", &result.commit), subject("tree", "gitTree", &result.tree)]
        }
        Some(result) => vec![subject("tree", "gitTree", &result.tree)],
        None => vec![subject("record", "sha256", &journal.sha256)],
    }
}

/// What the record says, as far as the state of the run does not. A process that writes a record folds it on the way: at the
/// end of a long run no one needs to read it again.
#[derive(Clone, Debug)]
pub struct ReceiptFold {
    began: Timestamp,
    ended: Timestamp,
    is_begun: bool,
    before: BTreeMap<usize, Tested>,
    in_project: BTreeMap<usize, GateEnded>,
    in_judge: BTreeMap<usize, GateEnded>,
    accepted: Option<Acceptance>,
    repaired: Vec<Remark>,
    refused: u64,
    turns: u64,
    /// Turns in which hooks were there.
    guarded: u64,
    hosts: BTreeSet<String>,
    hosts_refused: BTreeSet<String>,
    /// What each agent did, by name.
    crew: BTreeMap<String, Part>,
    /// Who has the turn, or is asked.
    acting: String,
}

impl Default for ReceiptFold {
    fn default() -> Self {
        Self {
            began: Timestamp::UNIX_EPOCH,
            ended: Timestamp::UNIX_EPOCH,
            is_begun: false,
            before: BTreeMap::new(),
            in_project: BTreeMap::new(),
            in_judge: BTreeMap::new(),
            accepted: None,
            repaired: Vec::new(),
            refused: 0,
            turns: 0,
            guarded: 0,
            hosts: BTreeSet::new(),
            hosts_refused: BTreeSet::new(),
            crew: BTreeMap::new(),
            acting: MAIN.to_owned(),
        }
    }
}

impl ReceiptFold {
    /// What this much of a record says.
    pub fn of(entries: &[Entry]) -> Self {
        let mut seen = Self::default();
        for entry in entries {
            seen.take_but_gates(entry);
        }
        seen.take_last_gates(entries);
        seen
    }

    /// Takes in what was recorded next, but not what was checked: in a long record most of that is forgotten again.
    pub fn take_but_gates(&mut self, entry: &Entry) {
        if !matches!(entry.event, Event::GateEnded(_) | Event::JudgeGateEnded(_)) {
            self.take(entry);
        }
    }

    /// Takes in what was checked since the last turn, after all the rest.
    pub fn take_last_gates(&mut self, entries: &[Entry]) {
        let is_turn = |entry: &Entry| matches!(entry.event, Event::TurnStarted(_));
        let last_turn = entries.iter().rposition(is_turn).unwrap_or(0);
        let is_gate = |it: &&Entry| matches!(it.event, Event::GateEnded(_) | Event::JudgeGateEnded(_));
        for entry in entries.iter().skip(last_turn).filter(is_gate) {
            self.take(entry);
        }
    }

    /// Takes in what was recorded next.
    pub fn take(&mut self, entry: &Entry) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.began = entry.at;
        }
        match &entry.event {
            Event::TurnStarted(turn) => {
                // What was checked before a turn says nothing about what it left.
                self.in_project.clear();
                self.in_judge.clear();
                self.acts(turn.agent.as_deref(), turn.mode.name());
            }
            Event::TurnEnded(ended) => {
                self.turns += 1;
                self.guarded += u64::from(ended.hooks.is_some());
                self.part().models.extend(ended.model.clone());
            }
            Event::OpinionStarted(started) => {
                self.acts(
                    started.agent.as_deref(),
                    match started.about {
                        OpinionAbout::Review { .. } => "review",
                        OpinionAbout::Look => "look",
                    },
                );
            }
            Event::OpinionEnded(ended) => self.part().models.extend(ended.model.clone()),
            Event::BaselineEnded(ended) => {
                self.before.extend(ended.tests.clone().map(|tests| (ended.gate, tests)));
            }
            Event::GateEnded(ended) => {
                self.in_judge.remove(&ended.gate);
                self.in_project.insert(ended.gate, ended.clone());
            }
            Event::JudgeGateEnded(ended) => drop(self.in_judge.insert(ended.ended.gate, ended.ended.clone())),
            Event::ToolCallsJudged { calls } => {
                self.refused += calls.iter().filter(|call| call.is_refusal()).count() as u64;
            }
            Event::Contacted { hosts } => {
                for contact in hosts {
                    let list =
                        if contact.refused.is_none() { &mut self.hosts } else { &mut self.hosts_refused };
                    list.insert(contact.host.clone());
                }
            }
            Event::Accepted { why } => self.accepted = Some(Acceptance { at: entry.at, why: why.clone() }),
            Event::RecordRepaired { lost, lines } => self.repaired.push(Remark {
                kind: "record-repaired".to_owned(),
                text: format!("{} of {lines} lines of the record were damaged and are lost", lost.len()),
            }),
            Event::RunEnded { .. } => self.ended = entry.at,
            _ => {}
        }
    }

    fn acts(&mut self, agent: Option<&str>, role: &str) {
        agent.unwrap_or(MAIN).clone_into(&mut self.acting);
        self.part().roles.insert(role.to_owned());
    }

    fn part(&mut self) -> &mut Part {
        self.crew.entry(self.acting.clone()).or_default()
    }

    fn guardrail(
        &self,
        index: usize,
        gate: &Gate,
        hidden: &BTreeMap<String, String>,
        opinions: &[Opinion],
    ) -> GuardrailFacts {
        let asked = OpinionAbout::Review { gate: index };
        let reviewed = opinions.iter().rfind(|it| it.about == asked).map(|it| RunEnding {
            passed: it.is_approval(),
            exit_code: None,
            ms: it.ms,
            output_sha256: None,
            tests: None,
        });
        let (kind, command, sha256) = match &gate.check {
            Check::Command { command } => {
                (GuardrailSource::Command, Some(command.clone()), Some(sha256(command.as_bytes())))
            }
            Check::Hidden { name } => (GuardrailSource::Hidden, None, hidden.get(name).cloned()),
            Check::ChildrenEnded { .. }
            | Check::TaskRules
            | Check::CleanTree
            | Check::StoriesDone
            | Check::PlanSettled
            | Check::Work { .. } => (GuardrailSource::Rule, Some(gate.check.name().to_owned()), None),
            Check::Review { name, .. } => (GuardrailSource::Review, Some(name.clone()), None),
        };
        GuardrailFacts {
            kind,
            command,
            sha256,
            once: gate.repeats == Repeats::No,
            in_project: self.in_project.get(&index).map(ending).or(reviewed),
            in_judge: self.in_judge.get(&index).map(ending),
            tests_before: self.before.get(&index).map(|tests| TestCounts::from(tests.total())),
        }
    }
}

fn ending(ended: &GateEnded) -> RunEnding {
    let exit_code = match ended.failure.as_ref().map(|failure| &failure.exit) {
        None => Some(0),
        Some(GateExit::Code(code)) => Some(*code),
        Some(GateExit::Recorded { code, .. }) => *code,
        Some(
            GateExit::Signal(_)
            | GateExit::TimedOut { .. }
            | GateExit::NotStarted
            | GateExit::Refused
            | GateExit::OpenTasks(_),
        ) => None,
    };
    RunEnding {
        passed: ended.failure.is_none(),
        exit_code,
        ms: ended.ms,
        output_sha256: ended.output_sha256.clone(),
        tests: ended.tests.as_ref().map(|tests| TestCounts::from(tests.total())),
    }
}

/// A finding by the name that records have for it.
fn remark(value: &impl serde::Serialize, tag: &str, text: String) -> Remark {
    let value = serde_json::to_value(value).unwrap_or_default();
    Remark { kind: value[tag].as_str().unwrap_or(tag).to_owned(), text }
}

/// How a run ended, in the word that records have for it.
fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::Exhausted { .. } => "exhausted",
        Outcome::Stopped(_) => "stopped",
        Outcome::Interrupted => "interrupted",
        Outcome::Unready { .. } => "unready",
        Outcome::GaveUp { .. } => "gave_up",
    }
}
