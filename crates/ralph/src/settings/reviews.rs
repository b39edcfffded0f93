//! Guardrails that are reviews: who is asked, about what, and how often.

use std::collections::BTreeMap;

use ralph_core::{
    engine::plan::{Check, Gate, When},
    located::fields::Fields,
    nearest::nearest,
    review::ROUNDS,
};
use serde::Serialize;

use super::{
    Guardrail, Settings,
    layers::Origin,
    roles::a_name,
    value::{choice, positive},
};

/// The role that a review may name instead of an agent.
const REVIEW: &str = "review";

/// What a review is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ReviewOf {
    /// That everything is done.
    Claim,
}

impl ReviewOf {
    /// Every choice with the name that settings use.
    pub(crate) const NAMES: [(&str, Self); 1] = [("claim", Self::Claim)];
}

/// What only a review has, and what it cannot have.
pub(super) fn read_review(fields: &mut Fields<'_, '_>, guardrail: &mut Guardrail) {
    guardrail.review = fields.take("review", a_name);
    guardrail.of = fields.take("of", |node| choice(node, &ReviewOf::NAMES));
    guardrail.rounds = fields.take("rounds", positive);
    let (others, why): (&[&str], _) = if fields.is_there("review") {
        (&["command", "where", "repeat", "kind", "junit"], "a review has none, because an agent decides")
    } else {
        (&["of", "rounds"], "only a review has it")
    };
    for key in others {
        if fields.is_there(key) {
            fields.problem(key, why);
        }
    }
}

impl Settings {
    /// The guardrails that are commands.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Guardrail> {
        self.guardrails.iter().filter(|guardrail| guardrail.review.is_none())
    }

    /// Those that are reviews, as gates of a plan.
    pub(super) fn reviews(&self) -> impl Iterator<Item = Gate> {
        self.guardrails.iter().filter_map(|guardrail| {
            let named = guardrail.review.as_ref()?;
            let check = Check::Review {
                name: format!("review by {named}"),
                by: self.reviewers(named).to_vec(),
                rounds: guardrail.rounds.unwrap_or(ROUNDS),
            };
            let (fail_action, hint) = (guardrail.fail_action, guardrail.hint.clone());
            Some(Gate { fail_action, hint, ..Gate::new(check, When::Claimed) })
        })
    }

    /// Who is meant by the name in a review: the agent that is called so, or those who have the role.
    pub(crate) fn reviewers<'a>(&'a self, named: &'a String) -> &'a [String] {
        if named == REVIEW && !self.agents.contains_key(named) {
            &self.roles.review
        } else {
            std::slice::from_ref(named)
        }
    }

    /// Everybody whom a review names.
    pub(crate) fn all_reviewers(&self) -> impl Iterator<Item = &String> {
        let named = self.guardrails.iter().filter_map(|guardrail| guardrail.review.as_ref());
        named.flat_map(|named| self.reviewers(named))
    }

    /// What is wrong with the names in reviews.
    pub(super) fn unknown_reviewers(&self, origins: &BTreeMap<String, Origin>) -> Vec<String> {
        let mut problems = Vec::new();
        for (index, guardrail) in self.guardrails.iter().enumerate() {
            let Some(named) = &guardrail.review else { continue };
            let key = format!("guardrails[{index}].review");
            let at = origins.get(&key).or_else(|| origins.get("guardrails"));
            let at = at.map_or_else(|| key.clone(), |origin| format!("{origin}: {key}"));
            let reviewers = self.reviewers(named);
            if reviewers.is_empty() {
                problems.push(format!("{at}: no agent has the role \"review\": name them in \"roles\""));
            }
            for name in reviewers.iter().filter(|name| !self.agents.contains_key(*name)) {
                let like = nearest(name, self.agents.keys().map(String::as_str));
                let like = like.map(|like| format!("; did you mean {like:?}?")).unwrap_or_default();
                problems.push(format!("{at}: there is no agent {name:?} in \"agents\"{like}"));
            }
        }
        problems
    }
}
