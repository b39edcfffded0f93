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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn two_programs_have_names_and_one_alone_is_its_program() {
        let part = |model: &str, role: &str| Part { models: names(&[model]), roles: names(&[role]) };
        let crew: BTreeMap<String, Part> = [
            ("main".to_owned(), part("opus", "work")),
            ("second".to_owned(), part("o9", "review")),
            // Of a run of before agents had names.
            (String::new(), Part::default()),
        ]
        .into();
        let program = |name: &str, program: &str| (name.to_owned(), program.to_owned());
        let both = [program("main", "claude"), program("second", "codex")].into();
        let named = |name: &str, agent: Option<&str>, models: &[&str], roles: &[&str]| AgentFacts {
            name: name.to_owned(),
            agent: agent.map(str::to_owned),
            models: names(models),
            roles: names(roles),
        };
        assert_eq!(
            who_worked(crew.clone(), "claude", &both),
            [
                named("claude", Some("main"), &["opus"], &["work"]),
                named("codex", Some("second"), &["o9"], &["review"]),
            ]
        );
        let one = [program("main", "claude")].into();
        for programs in [BTreeMap::new(), one] {
            assert_eq!(
                who_worked(crew.clone(), "claude", &programs),
                [named("claude", None, &["o9", "opus"], &["review", "work"])]
            );
        }
    }
}
