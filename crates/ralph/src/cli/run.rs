//! `ralph run`: the guarded loop.

use std::path::Path;

use clap::Args;
use ralph_core::{
    claim::Claim,
    engine::{
        plan::{CommitRule, Plan, When},
        presets,
    },
    prompt::finish::names_tag,
    setup::PromptSource,
};
use ralph_sys::{error::Result, files};
use serde::Serialize;

use super::{
    given_prompt::GivenPrompt,
    loop_args::{LoopArgs, setup, tune},
};
use crate::{
    driver::Start,
    settings::{
        Settings,
        flags::{GuardrailFlags, IterationFlags, is_unset, layer},
    },
};

/// Run the agent in a loop until it says that it is done and every guardrail passes
///
/// Each iteration reads the prompt file (`-f`) again and starts the agent with fresh context. Then all guardrails run. If
/// one fails, the next iteration gets its output. If all pass, ralph commits the work (if the settings say so), and a
/// completion response of the agent ends the loop.
///
/// Example: ralph run --agent claude --guardrail "make test" "Make the tests pass"
#[derive(Args, Debug, Default)]
pub(super) struct RunArgs {
    #[command(flatten)]
    prompt: GivenPrompt,

    #[command(flatten)]
    own: RunFlags,

    #[command(flatten)]
    common: LoopArgs,
}

/// The flags of this loop alone; as JSON they are a layer of settings.
#[derive(Args, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunFlags {
    #[command(flatten)]
    #[serde(flatten)]
    count: IterationFlags,

    /// What the agent answers in a `<response>` tag when it is done [default: DONE]
    #[arg(short, long, value_name = "TEXT")]
    #[serde(skip_serializing_if = "is_unset")]
    completion_response: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    guardrails: GuardrailFlags,
}

/// Runs the loop.
pub(super) fn main(args: &RunArgs, project: &Path) -> Result<u8> {
    // What is wrong with the settings is said before anyone writes a prompt.
    let loaded = args.common.load(project, layer(&args.own))?;
    let mut given = args.prompt.read()?;
    let reporters = args.common.reporters(&loaded, project)?;
    let plan = args.common.limit(plan(&loaded.settings));
    let warnings = endless_prompt(&given.source, &plan).into_iter().collect();
    let mut setup = setup(&loaded, given.source.clone(), project);
    args.prompt.issue.read_into(&mut setup).map_err(|error| given.keep(error))?;
    let start = Start { plan, setup, run: None, drafts: Vec::new(), reporters, warnings, settled: None };
    if args.common.is_dry_run() {
        return args.common.show(&start);
    }
    start.begin().map_err(|error| given.keep(error))?.drive()
}

/// An agent that no one tells how to finish works until the limit.
fn endless_prompt(prompt: &PromptSource, plan: &Plan) -> Option<String> {
    if plan.done_when.is_some() {
        return None;
    }
    let text = match prompt {
        PromptSource::Text(text) => text.clone(),
        PromptSource::File(path) | PromptSource::Template(path) => files::read_text(path).unwrap_or_default(),
    };
    let marker = plan.claims.iter().find_map(Claim::marker)?;
    (!names_tag(&text, &plan.claims))
        .then(|| format!("the prompt never asks for `{marker}`; the run can only end at its limit"))
}

/// The rules of the loop as the settings have them.
fn plan(settings: &Settings) -> Plan {
    let gates = settings.gates(When::EveryTurn);
    let mut plan = tune(presets::run(&settings.completion_response, gates), settings);
    if settings.scm.as_ref().is_none_or(|scm| scm.tasks.is_empty()) {
        plan.commit = CommitRule::Never;
    }
    plan
}
