//! Who worked in a run, as its receipt says it.

use std::collections::{BTreeMap, BTreeSet};

use super::statement::AgentFacts;

/// What one agent did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) models: BTreeSet<String>,
    pub(super) roles: BTreeSet<String>,
}

/// Everybody who had a turn, by name; where only one agent has a name, its program.
pub(super) fn who_worked(
    mut crew: BTreeMap<String, Part>,
    program: &str,
    programs: &BTreeMap<String, String>,
) -> Vec<AgentFacts> {
    if programs.len() < 2 {
        let all = crew.into_values().fold(Part::default(), |mut all, part| {
            all.models.extend(part.models);
            all.roles.extend(part.roles);
            all
        });
        return vec![AgentFacts {
            name: program.to_owned(),
            agent: None,
            models: all.models,
            roles: all.roles,
        }];
    }
    // Runs of before agents had names.
    crew.retain(|_, part| *part != Part::default());
    let of = |(name, part): (String, Part)| AgentFacts {
        name: programs.get(&name).map_or(program, String::as_str).to_owned(),
        agent: Some(name),
        models: part.models,
        roles: part.roles,
    };
    crew.into_iter().map(of).collect()
}
