//! `ralph session run`: the same loop from the shell, in one conversation that goes on.

use std::path::Path;

use clap::Args;
use ralph_core::setup::{InSession, PromptSource, Setup};
use ralph_sys::error::{Error, Result};
use serde_json::Map;

use super::start::AskArgs;
use crate::{
    cli::loop_args::{LoopArgs, setup, tune},
    driver::Start,
    hooks::begin::{guardrail_layer, plan},
};

/// Start an agent and keep it in a loop, in one conversation
///
/// The agent gets the task once. When it stops without the promise, ralph continues the same conversation. Works with
/// Claude Code and Codex; ralph refuses agents that cannot continue a conversation.
///
/// Example: ralph session run --agent claude -m 10 "Make the tests pass"
#[derive(Args, Debug)]
pub(super) struct SessionRunArgs {
    #[command(flatten)]
    loop_args: AskArgs,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the loop.
pub(super) fn main(args: &SessionRunArgs, project: &Path) -> Result<u8> {
    let ask = args.loop_args.ask()?;
    let mut layer = Map::new();
    layer.extend(ask.max_iterations.map(|limit| ("maximumIterations".to_owned(), limit.into())));
    layer.extend(guardrail_layer(&ask));
    let loaded = args.common.load(project, layer)?;
    let command = &loaded.settings.agent.command;
    if !ralph_agents::adapter(command).can_resume() {
        return Err(Error::new(format!("the agent `{command}` cannot continue a conversation"))
            .hint("take one that can: --agent claude, --agent codex")
            .hint("or use fresh context for each turn: ralph run"));
    }
    let reporters = args.common.reporters(&loaded, project)?;
    let plan = args.common.limit(tune(plan(&ask, &loaded.settings)?, &loaded.settings));
    let session = Some(InSession { id: None, ultrawork: ask.ultrawork });
    let setup = Setup { session, ..setup(&loaded, PromptSource::Text(ask.task), project) };
    let (drafts, warnings) = (Vec::new(), Vec::new());
    args.common.run(Start { plan, setup, run: None, drafts, reporters, warnings, settled: None })
}
