//! How a run stands, in a word, and what a person can type about it.

use serde::Serialize;

use crate::engine::{Run, State, outcome::Outcome};

/// How a run stands, in a word that scripts may rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// A process works on it.
    Running,
    /// It has its process, and waits for a person to continue it.
    Paused,
    /// No process works on it, and none recorded an end.
    Killed,
    /// The claim was verified.
    Complete,
    /// Complete as far as the checks go; a person must look.
    Findings,
    /// A limit was reached.
    Limit,
    /// A person has to do something first.
    Stopped,
    /// A person stopped it.
    Interrupted,
    /// It could not begin.
    Unready,
    /// The same failure came back beyond the retries.
    #[serde(rename = "gave up")]
    GaveUp,
}

impl Standing {
    /// How a run stands.
    pub fn of(is_running: bool, state: &State) -> Self {
        match state.outcome() {
            _ if is_running && state.is_held() => Self::Paused,
            _ if is_running => Self::Running,
            Some(Outcome::Done) if state.needs_person() => Self::Findings,
            None => Self::Killed,
            Some(Outcome::Done) => Self::Complete,
            Some(Outcome::Exhausted { .. }) => Self::Limit,
            Some(Outcome::Stopped(_)) => Self::Stopped,
            Some(Outcome::Interrupted) => Self::Interrupted,
            Some(Outcome::Unready { .. }) => Self::Unready,
            Some(Outcome::GaveUp { .. }) => Self::GaveUp,
        }
    }

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Killed => "killed",
            Self::Complete => "complete",
            Self::Findings => "findings",
            Self::Limit => "limit",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::Unready => "unready",
            Self::GaveUp => "gave up",
        }
    }

    /// Whether something is left to do with it: to go on, or to decide on what was found.
    pub fn can_go_on(self) -> bool {
        match self {
            Self::Running | Self::Paused | Self::Complete | Self::Unready => false,
            Self::Findings
            | Self::Killed
            | Self::Limit
            | Self::Stopped
            | Self::Interrupted
            | Self::GaveUp => true,
        }
    }

    /// What can be typed next, each with what it is for.
    pub fn commands(self, id: &str, run: &Run) -> Vec<(&'static str, String)> {
        let setup = &run.started.setup;
        let in_session = setup.session.as_ref().is_some_and(|session| session.id.is_some());
        match (self, setup.root_task()) {
            // A loop inside a conversation is started again there.
            (_, _) if in_session && self != Self::Running => Vec::new(),
            // What the agent waits for stands in the way of a plain resume.
            (Self::Stopped, Some(task)) if run.state.outcome().is_some_and(Outcome::is_wait) => {
                vec![("continue with", format!("ralph task resume {task}"))]
            }
            (_, _) => self.plain_commands(id, run),
        }
    }

    fn plain_commands(self, id: &str, run: &Run) -> Vec<(&'static str, String)> {
        // At a limit, a plain resume would end at once.
        let raise = match run.state.outcome() {
            Some(Outcome::Exhausted { limit }) => {
                format!(" {}", limit.raised(&run.plan, run.state.spent()))
            }
            _ => String::new(),
        };
        match self {
            Self::Running => {
                vec![("watch it", format!("ralph logs -f {id}")), ("end it", format!("ralph stop {id}"))]
            }
            Self::Paused => {
                vec![("continue with", format!("ralph resume {id}")), ("end it", format!("ralph stop {id}"))]
            }
            Self::Findings => vec![
                ("take it as it is", format!("ralph accept {id}")),
                ("send it back", format!("ralph reject {id} \"why\"")),
            ],
            Self::Complete | Self::Unready => Vec::new(),
            Self::Killed | Self::Limit | Self::Stopped | Self::Interrupted | Self::GaveUp => {
                vec![("continue with", format!("ralph resume {id}{raise}"))]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_read_the_word() {
        for standing in [Standing::Running, Standing::GaveUp, Standing::Interrupted, Standing::Findings] {
            assert_eq!(serde_json::to_value(standing).expect("a word"), standing.word());
        }
    }
}
