//! Whether a receipt holds: one item for each thing that was looked at, and what follows from all of them.
//!
//! Invariant: a receipt holds only if everything does. What contradicts it outweighs what is not known.

use schemars::JsonSchema;
use serde::Serialize;

use super::statement::{GuardrailFacts, GuardrailSource, Statement};

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptVerdict {
    /// It holds.
    Holds,
    /// It does not.
    DoesNotHold,
    /// No one can tell from here.
    CannotTell,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictTopic {
    /// Whether it can be read.
    Receipt,
    /// Who vouches for it.
    Signature,
    /// Whether it is about this commit.
    Subject,
    /// Whether the commit follows from what the run started from.
    Base,
    /// How the run ended.
    Outcome,
    /// What checked the work.
    Guardrails,
    /// What was done to the judgement.
    Findings,
    /// The record of the run, where it is there.
    Journal,
    /// What the verifier asks for beyond that.
    Policy,
    /// The guardrails, run once more.
    Rerun,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictItem {
    /// What.
    pub topic: VerdictTopic,
    /// What follows from it alone.
    pub verdict: ReceiptVerdict,
    /// In one line.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

impl VerdictItem {
    /// Something that holds.
    pub fn holds(topic: VerdictTopic, text: String) -> Self {
        Self { topic, verdict: ReceiptVerdict::Holds, text, hints: Vec::new() }
    }

    /// Something that does not.
    pub fn broken(topic: VerdictTopic, text: String) -> Self {
        Self { topic, verdict: ReceiptVerdict::DoesNotHold, text, hints: Vec::new() }
    }

    /// Something that no one can tell from here.
    pub fn unknown(topic: VerdictTopic, text: String) -> Self {
        Self { topic, verdict: ReceiptVerdict::CannotTell, text, hints: Vec::new() }
    }

    /// The same with something to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// What follows from all of them.
pub fn overall(items: &[VerdictItem]) -> ReceiptVerdict {
    let is_any = |verdict| items.iter().any(|item| item.verdict == verdict);
    if is_any(ReceiptVerdict::DoesNotHold) {
        ReceiptVerdict::DoesNotHold
    } else if items.is_empty() || is_any(ReceiptVerdict::CannotTell) {
        ReceiptVerdict::CannotTell
    } else {
        ReceiptVerdict::Holds
    }
}

/// A commit that a receipt is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its id.
    pub commit: String,
    /// The id of its tree.
    pub tree: String,
}

/// How a commit and the base of a receipt belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseSeen {
    /// It is in the history of the commit.
    Ancestor,
    /// Another commit with the same files is.
    SameTree,
    /// It is not.
    Elsewhere,
    /// The history is cut off here.
    Shallow,
}

/// The record of a run, as it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalSeen {
    /// This line is not as it was written.
    Damaged(u64),
    /// It has fewer lines than the receipt says.
    Short(u64),
    /// As many lines as the receipt says have this head and this SHA-256.
    Whole {
        /// The head of the chain.
        chain: String,
        /// Of all of them.
        sha256: String,
    },
}

/// Whether the receipt is about this commit: itself, or another with the same files.
pub fn subject(statement: &Statement, target: &Target) -> VerdictItem {
    let (commit, tree) = (statement.digest("commit", "gitCommit"), statement.digest("tree", "gitTree"));
    let short = |id: &str| id.get(..12).unwrap_or(id).to_owned();
    let name = short(&target.commit);
    if tree != Some(target.tree.as_str()) {
        let other = tree.or(commit).map_or_else(|| "nothing that git knows".to_owned(), short);
        return VerdictItem::broken(
            VerdictTopic::Subject,
            format!("it is about {other}, and {name} has other files"),
        );
    }
    VerdictItem::holds(
        VerdictTopic::Subject,
        match commit {
            Some(commit) if commit == target.commit => format!("commit {name}"),
            Some(_) | None => format!("commit {name} has the files that were judged"),
        },
    )
}

/// Whether the commit follows from what the run started from.
pub fn base(statement: &Statement, seen: Option<BaseSeen>) -> VerdictItem {
    let Some(base) = &statement.predicate.base else {
        return VerdictItem::holds(VerdictTopic::Base, "the run started without a commit".to_owned());
    };
    let name = base.commit.get(..12).unwrap_or(&base.commit);
    match seen {
        Some(BaseSeen::Ancestor) => {
            VerdictItem::holds(VerdictTopic::Base, format!("{name} is in its history"))
        }
        Some(BaseSeen::SameTree) => VerdictItem::holds(
            VerdictTopic::Base,
            format!("a commit with the files of {name} is in its history"),
        ),
        Some(BaseSeen::Elsewhere) => VerdictItem::broken(
            VerdictTopic::Base,
            format!("the run started from {name}, which is not in its history"),
        ),
        Some(BaseSeen::Shallow) | None => VerdictItem::unknown(
            VerdictTopic::Base,
            format!("the history here does not reach back to {name}"),
        )
        .hint("get the whole history: git fetch --unshallow"),
    }
}

/// What the receipt itself says about the work.
pub fn work(statement: &Statement) -> Vec<VerdictItem> {
    let predicate = &statement.predicate;
    let run = &predicate.run;
    let outcome = if run.outcome == "done" {
        VerdictItem::holds(VerdictTopic::Outcome, format!("`ralph {}` ended as done", run.preset))
    } else {
        VerdictItem::broken(
            VerdictTopic::Outcome,
            format!("the run is not done: it ended as `{}`", run.outcome),
        )
    };
    // That a reviewer did not approve is a finding, too, and a person may have accepted it.
    let is_accepted =
        |it: &&GuardrailFacts| it.kind == GuardrailSource::Review && predicate.accepted.is_some();
    let failed: Vec<String> = predicate
        .guardrails
        .iter()
        .filter(|it| !it.passed() && !is_accepted(it))
        .map(|it| format!("`{}`", it.name()))
        .collect();
    let commands = predicate.guardrails.iter().filter(|it| it.kind.is_command()).count();
    let guardrails = if !failed.is_empty() {
        VerdictItem::broken(VerdictTopic::Guardrails, format!("not passed: {}", failed.join(", ")))
    } else if commands == 0 {
        VerdictItem::unknown(VerdictTopic::Guardrails, "no guardrail checked the work".to_owned())
    } else {
        let judged = predicate.guardrails.iter().filter(|it| it.in_judge.is_some()).count();
        let text = format!("{commands} passed, {judged} of them in a clean clone of the commit");
        VerdictItem::holds(VerdictTopic::Guardrails, text)
    };
    let found = predicate.findings.len();
    let lines: Vec<&str> = predicate.findings.iter().map(|finding| finding.text.as_str()).collect();
    let findings = match (found, &predicate.accepted) {
        (0, _) => VerdictItem::holds(VerdictTopic::Findings, "none".to_owned()),
        (_, Some(_)) => {
            VerdictItem::holds(VerdictTopic::Findings, format!("accepted by a person: {}", lines.join("; ")))
        }
        (_, None) => VerdictItem::broken(
            VerdictTopic::Findings,
            format!("no person has accepted: {}", lines.join("; ")),
        ),
    };
    vec![outcome, guardrails, findings]
}

/// Whether the record that is here is the one that the receipt is made from.
pub fn journal(statement: &Statement, seen: &JournalSeen) -> VerdictItem {
    let said = &statement.predicate.journal;
    let broken = |text: String| VerdictItem::broken(VerdictTopic::Journal, text);
    match seen {
        JournalSeen::Damaged(line) => broken(format!("line {line} of the record is not as it was written")),
        JournalSeen::Short(lines) => broken(format!(
            "the record has {lines} lines; there were {} when the receipt was made",
            said.lines
        )),
        JournalSeen::Whole { chain, sha256 } if *chain == said.chain && *sha256 == said.sha256 => {
            VerdictItem::holds(
                VerdictTopic::Journal,
                format!("the record of the run is here: {} lines", said.lines),
            )
        }
        JournalSeen::Whole { .. } => {
            broken("the record is not the one that the receipt was made from".to_owned())
        }
    }
}
