//! Who worked, in words: the agents of a run, and why another agent than the first has a turn.

use std::path::Path;

use ralph_core::{
    engine::{
        crew::{Crew, CrewMember},
        event::{OpinionStarted, Turn},
        roles::{Absence, Because},
    },
    setup::{AgentSetup, Setup},
};
use serde_json::{Value, json};

use crate::journal::local_time;

/// The agents of a run: the program of the only one, or each by its name, who works first first.
pub(crate) fn agents(setup: &Setup) -> String {
    if setup.agents.len() < 2 {
        return program(&setup.agent);
    }
    let (first, others): (Vec<_>, Vec<_>) =
        setup.agents.iter().partition(|(_, agent)| **agent == setup.agent);
    let all = first.into_iter().chain(others).map(|(name, agent)| named(name, agent));
    all.collect::<Vec<_>>().join(", ")
}

/// Who has a turn, where there is more than one agent.
pub(crate) fn of_turn(setup: &Setup, turn: &Turn) -> Option<String> {
    let name = turn.agent.as_ref().filter(|_| 1 < setup.agents.len())?;
    Some(named(name, setup.agent_named(Some(name))))
}

/// Who is asked about a claim, where that is known.
pub(crate) fn reviewer(setup: &Setup, started: &OpinionStarted) -> String {
    let name = started.agent.as_ref();
    name.map_or_else(|| "a reviewer".to_owned(), |name| named(name, setup.agent_named(Some(name))))
}

/// Why it is not the first of its role, in words.
pub(crate) fn because(because: Option<&Because>) -> Option<String> {
    Some(match because? {
        Because::StandsIn { for_agent, absence } => {
            let until = absence.back_ms().map(|ms| format!(" until {}", local_time::shown(ms)));
            let until = until.filter(|_| matches!(absence, Absence::Limited { .. })).unwrap_or_default();
            format!("{for_agent} {}{until}", absence.words())
        }
        Because::Escalated { step } => format!("step {step} of the ladder: the guardrails stayed red"),
    })
}

/// What each agent did and used, for programs.
pub(crate) fn figures(setup: &Setup, crew: &Crew) -> Value {
    let of = |(name, member): (&str, &CrewMember)| {
        let command = &setup.agent_named(Some(name)).command;
        json!({"name": name, "command": command, "turns": member.turns, "ms": member.ms, "usage": member.usage})
    };
    crew.members().map(of).collect()
}

fn named(name: &str, agent: &AgentSetup) -> String {
    let program = program(agent);
    if program == name { program } else { format!("{name} ({program})") }
}

/// The program of an agent, without its folder.
fn program(agent: &AgentSetup) -> String {
    Path::new(&agent.command).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
