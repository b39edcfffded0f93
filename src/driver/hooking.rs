//! The hooks of an agent that ralph starts: which it gets, and whether they were there.

use std::{env, path::PathBuf};

use crate::{
    agent::{self, Hooking, Hooks, turn::Tally},
    engine::{
        event::HookReport,
        plan::{Plan, Work},
    },
    setup::{Guard, Setup},
};

/// The hooks that the agent gets, if it can carry them. They call this very program.
pub(super) fn hooks(plan: &Plan, setup: &Setup) -> Option<Hooks> {
    if setup.guard == Guard::Off || agent::adapter(&setup.agent.command).hooks() == Hooking::Never {
        return None;
    }
    let program = env::current_exe().ok()?.to_str()?.to_owned();
    let settings = named_settings(setup).and_then(|path| std::fs::read_to_string(path).ok());
    Some(Hooks { program, on_stop: plan.work == Work::Stories, settings })
}

/// The settings file that the agent's flags name.
fn named_settings(setup: &Setup) -> Option<PathBuf> {
    let mut flags = setup.agent.flags.iter();
    let value = flags.find_map(|flag| match flag.split_once('=') {
        Some(("--settings", value)) => Some(Some(value)),
        _ => (flag == "--settings").then_some(None),
    })?;
    let value = value.map_or_else(|| flags.next().map(String::as_str), Some)?;
    Some(setup.project.join(value))
}

/// Whether tools ran and the hook that must come before them did not. Whether it did, an agent's own stream says,
/// where the agent cannot forge it; else only the hook itself.
pub(super) fn is_unguarded(hooking: Hooking, tally: &Tally, hooks: Option<&HookReport>) -> bool {
    let Some(report) = hooks else { return false };
    0 < tally.hooked_tools
        && match hooking {
            Hooking::Never => false,
            Hooking::Shown => tally.judged == 0,
            Hooking::Silent => report.judged == 0,
        }
}
