//! What of a machine's runs a person looks at first.

use serde::Serialize;

use super::{ShownFleet, ShownRun, Standing};
use crate::engine::{Run, outcome::Outcome};

/// Why a run needs a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Attention {
    /// The checks passed, and something was done to them.
    Decide {
        /// How many findings.
        findings: usize,
    },
    /// The run stopped for a person.
    Unblock {
        /// Why.
        why: String,
    },
    /// It ended without being done, and can go on.
    GoOn {
        /// How it stands.
        standing: Standing,
    },
}

impl Attention {
    /// Whether a run that stands so needs a person. One that a person stopped does not.
    pub(super) fn of(standing: Standing, run: &Run) -> Option<Self> {
        match standing {
            Standing::Running | Standing::Paused | Standing::Complete | Standing::Interrupted => None,
            Standing::Findings => Some(Self::Decide { findings: run.state.findings().len() }),
            Standing::Stopped => {
                let why = match run.state.outcome() {
                    Some(Outcome::Stopped(stop)) => stop.reason(),
                    _ => String::new(),
                };
                Some(Self::Unblock { why: super::harmless(&why) })
            }
            Standing::Killed | Standing::Limit | Standing::GaveUp | Standing::Unready => {
                Some(Self::GoOn { standing })
            }
        }
    }

    /// In a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Decide { findings: 1 } => "1 finding to accept or reject".to_owned(),
            Self::Decide { findings } => format!("{findings} findings to accept or reject"),
            Self::Unblock { why } => why.clone(),
            Self::GoOn { standing: Standing::Killed } => "killed; resume continues it".to_owned(),
            Self::GoOn { standing: Standing::Limit } => "a limit is reached".to_owned(),
            Self::GoOn { standing } => standing.word().to_owned(),
        }
    }
}

/// Puts runs in the order in which they are looked at: those that need a person, those at work, then the newest. Only
/// the last run of a project needs a person to go on: what a later one took up is done with. A finding stays open.
pub fn overview(runs: &mut [ShownRun], fleets: &mut [ShownFleet]) {
    let newest: Vec<(String, String)> =
        runs.iter().filter(|run| !run.is_child).fold(Vec::new(), |mut all, run| {
            match all.iter_mut().find(|(project, _)| *project == run.project) {
                Some((_, id)) if *id < run.id => id.clone_from(&run.id),
                Some(_) => {}
                None => all.push((run.project.clone(), run.id.clone())),
            }
            all
        });
    for run in runs.iter_mut() {
        let is_newest = newest.iter().any(|(project, id)| *project == run.project && *id == run.id);
        let is_open = matches!(run.attention, Some(Attention::Decide { .. }));
        if !is_open && !is_newest {
            run.attention = None;
        }
    }
    runs.sort_by(|one, other| rank(one).cmp(&rank(other)).then_with(|| other.id.cmp(&one.id)));
    fleets.sort_by(|one, other| {
        let rank = |it: &ShownFleet| (it.attention.is_none(), !it.is_running);
        rank(one).cmp(&rank(other)).then_with(|| other.id.cmp(&one.id))
    });
}

fn rank(run: &ShownRun) -> (u8, bool) {
    let rank = match (&run.attention, run.standing) {
        (Some(_), _) => 0,
        (None, Standing::Running | Standing::Paused) => 1,
        (None, _) => 2,
    };
    (rank, run.is_child)
}
