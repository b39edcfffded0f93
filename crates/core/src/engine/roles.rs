//! Who is started for what: the agents of a run by name, the order in which they stand in for each other, and the ladder of
//! stronger ones, as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stories::Mode;

/// What the only agent of a run is called, and the first of several unless the user says otherwise.
pub const MAIN: &str = "main";

/// Red iterations before a stronger agent works, unless the settings say otherwise.
pub const ESCALATE_AFTER: u32 = 2;

/// Which agents do what, by name; each list is an order in which they stand in for each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Roles {
    /// Who works. Nothing in records of runs that had one agent without a name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub work: Vec<String>,
    /// Who reviews; nothing where that is who works.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub review: Vec<String>,
    /// Who mends what a review found; nothing where that is who works.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fix: Vec<String>,
    /// Who words commit messages; nothing where that is who did the work.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub message: Vec<String>,
    /// The agents that take over when the others fail, the strongest last.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub escalate: Vec<String>,
    /// After how many red iterations the next of them does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub escalate_after: Option<u32>,
    /// What single agents may use in the whole run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub budgets: BTreeMap<String, AgentBudget>,
}

/// What one agent may use in a run; then the others stand in for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentBudget {
    /// In US dollars.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_cost: Option<f64>,
    /// Tokens in and out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_tokens: Option<u64>,
}

/// What an agent is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRole {
    /// The task.
    Work,
    /// To judge what another did.
    Review,
    /// To mend what a review found.
    Fix,
    /// The words of a commit.
    Message,
}

impl AgentRole {
    /// Whether stronger agents have it when others fail.
    pub fn climbs(self) -> bool {
        matches!(self, Self::Work | Self::Fix)
    }
}

impl From<Mode> for AgentRole {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Work | Mode::Implement => Self::Work,
            Mode::Review => Self::Review,
            Mode::Fix => Self::Fix,
        }
    }
}

/// Why an agent cannot work for now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "absent", rename_all = "snake_case")]
pub enum Absence {
    /// Its usage limit is reached.
    Limited {
        /// When it is asked again, in milliseconds since 1970.
        back_ms: i64,
    },
    /// Its service is overloaded.
    Overloaded {
        /// When it is asked again, in milliseconds since 1970.
        back_ms: i64,
    },
    /// It cannot work before a person acts: its login is lost, its program is gone.
    Refused {
        /// What it said.
        message: String,
    },
    /// What the settings let it use is used up.
    Spent,
}

impl Absence {
    /// When it may be asked again, in milliseconds since 1970; nothing where a person has to act first.
    pub fn back_ms(&self) -> Option<i64> {
        match self {
            Self::Limited { back_ms } | Self::Overloaded { back_ms } => Some(*back_ms),
            Self::Refused { .. } | Self::Spent => None,
        }
    }

    /// After the agent's name, in a sentence.
    pub fn words(&self) -> String {
        match self {
            Self::Limited { .. } => "has reached its usage limit".to_owned(),
            Self::Overloaded { .. } => "is overloaded".to_owned(),
            Self::Refused { message } => format!("cannot work: {message}"),
            Self::Spent => "has used up its budget".to_owned(),
        }
    }
}

/// Why another agent than the first of its role has a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Because {
    /// The first cannot work for now.
    StandsIn {
        /// Who would be next.
        for_agent: String,
        /// Why it is not.
        absence: Absence,
    },
    /// The others failed so often.
    Escalated {
        /// How high on the ladder, from 1.
        step: u32,
    },
}

/// Who has a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// By name.
    pub agent: String,
    /// Why not the first of its role.
    pub because: Option<Because>,
}

/// Who may be asked at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnOf {
    /// This one.
    Agent(Chosen),
    /// No agent before then, in milliseconds since 1970.
    NotBefore(i64),
    /// No agent any more.
    NoOne,
}

impl Roles {
    /// The order of a role, so high on the ladder of stronger agents.
    pub fn order(&self, role: AgentRole, step: usize) -> Vec<&str> {
        let own = match role {
            AgentRole::Work => &self.work,
            AgentRole::Review => &self.review,
            AgentRole::Fix => &self.fix,
            AgentRole::Message => &self.message,
        };
        let own = if own.is_empty() { &self.work } else { own };
        let stronger = self.escalate.get(step.wrapping_sub(1)).filter(|_| role.climbs());
        let mut order: Vec<&str> = Vec::new();
        for name in stronger.into_iter().chain(own) {
            if !order.contains(&name.as_str()) {
                order.push(name);
            }
        }
        order
    }

    /// Whether it need not be recorded.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Everybody who is named in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.work, &self.review, &self.fix, &self.message, &self.escalate];
        lists.into_iter().flatten().map(String::as_str)
    }
}
