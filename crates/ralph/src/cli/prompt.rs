//! `ralph prompt`: one turn for a prompt in a file.

use std::path::{Path, PathBuf};

use clap::Args;
use ralph_core::{
    engine::{plan::When, presets},
    prompt::message::first_line,
    setup::TaskFrom,
};
use ralph_sys::{error::Result, files};
use serde_json::{Map, Value};

use super::{
    loop_args::LoopArgs,
    modes::{Mode, find_plan, variables},
};
use crate::settings::flags::{self, GuardrailFlags};

/// Run the agent once with the prompt in a file, and commit what it changed
///
/// The agent need not claim to be done. The guardrails run once; if one fails, nothing is committed. Exits with 0,
/// with 3 if a guardrail failed, with 4 if the agent failed, or with 5 if the commit failed.
///
/// Example: ralph prompt prompts/refactor-analysis.md
#[derive(Args, Debug)]
pub(super) struct PromptArgs {
    /// The file with the prompt
    file: PathBuf,

    #[command(flatten)]
    guardrails: GuardrailFlags,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the turn.
pub(super) fn main(args: &PromptArgs, project: &Path) -> Result<u8> {
    // One turn is one turn, whatever the settings say about loops.
    let mut layer: Map<String, Value> = [("maximumIterations".to_owned(), 1.into())].into_iter().collect();
    layer.extend(flags::layer(&args.guardrails));
    let loaded = args.common.load(project, layer)?;
    let prompt = std::path::absolute(&args.file)?;
    let text = files::read_text(&prompt).unwrap_or_default();
    let mode = Mode {
        plan: presets::prompt().guarded(loaded.settings.gates(When::EveryTurn)),
        task: TaskFrom::Fixed(first_line(&text)),
        prompt,
        plan_file: None,
        may_touch: None,
        variables: variables(&find_plan(&loaded.settings, project)),
        pinned: Vec::new(),
        drafts: Vec::new(),
        warnings: Vec::new(),
    };
    mode.run(&args.common, &loaded, project)
}
