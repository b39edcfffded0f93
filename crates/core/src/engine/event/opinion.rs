//! A reviewer's turn about a claim: how it began and what it said.

use ralph_agents::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KeptFiles, TurnEnd};
use crate::{
    engine::{OpinionOrder, judgement::HookReport, roles::Because},
    review::{LookAnswer, OpinionAbout, ReviewVerdict},
};

/// One process of a reviewer that is asked about a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionStarted {
    /// What it is asked.
    #[serde(flatten)]
    pub about: OpinionAbout,
    /// Which one of the run, from 1.
    pub number: u32,
    /// Who is asked, by name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Why another agent than the first is asked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub because: Option<Because>,
    /// The files before it: they are put back as they were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keeps: Option<KeptFiles>,
}

impl From<OpinionOrder> for OpinionStarted {
    fn from(OpinionOrder { about, number, chosen }: OpinionOrder) -> Self {
        let (agent, because) = chosen.map_or((None, None), |it| (Some(it.agent), it.because));
        Self { about, number, agent, because, keeps: None }
    }
}

/// What a reviewer said about a claim, and what its turn used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionEnded {
    /// What it was asked.
    #[serde(flatten)]
    pub about: OpinionAbout,
    /// How its turn ended.
    pub end: TurnEnd,
    /// Whether the change is good as it is, where it was asked that and said it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<ReviewVerdict>,
    /// What the change fixes, where it was asked that and said it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub look: Option<LookAnswer>,
    /// Files that it changed though it must not, and that were put back.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub undone: Vec<String>,
    /// Something of that was there before, so what it judged is not what was claimed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub meddled: bool,
    /// How long it took.
    pub ms: u64,
    /// What it used.
    pub usage: Usage,
    /// The model that answered, where the agent says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// What ralph's hooks did in it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hooks: Option<HookReport>,
}

impl OpinionEnded {
    /// A turn of which nothing is known but how it ended.
    pub fn new(about: OpinionAbout, end: TurnEnd) -> Self {
        Self {
            about,
            end,
            verdict: None,
            look: None,
            undone: Vec::new(),
            meddled: false,
            ms: 0,
            usage: Usage::default(),
            model: None,
            hooks: None,
        }
    }
}
