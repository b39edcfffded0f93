//! `ralph run`: the guarded loop.

use std::path::{Path, PathBuf};

use clap::Args;
use ralph_core::{
    engine::{
        plan::{Check, CommitRule, Gate, Plan, When},
        presets,
    },
    setup::PromptSource,
};
use ralph_sys::{
    error::{Error, Result},
    files,
};
use serde_json::{Map, Value, json};

use super::loop_args::{LoopArgs, setup, tune};
use crate::{driver::Start, settings::Settings};

/// Run the agent in a loop until it says that it is done and every guardrail passes
///
/// Each iteration starts the agent with fresh context. Then all guardrails run; what fails is told to the
/// next iteration. When they pass, the work is committed (if the settings say so), and a completion response
/// of the agent ends the loop.
///
/// Example: ralph run --agent claude --guardrail "make test" -p "Make the tests pass. Say
/// `<response>DONE</response>` when they do."
#[derive(Args, Debug, Default)]
pub(super) struct RunArgs {
    /// What the agent shall do
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,

    /// Read the prompt from this file, again before each iteration
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "prompt")]
    prompt_file: Option<PathBuf>,

    /// End after this many iterations
    #[arg(short, long, visible_alias = "max-iterations", value_name = "N")]
    maximum_iterations: Option<u32>,

    /// What the agent answers in a `<response>` tag when it is done
    #[arg(short, long, value_name = "TEXT")]
    completion_response: Option<String>,

    /// Check the work with this shell command; may be given several times, and replaces those of the settings
    #[arg(short, long, value_name = "COMMAND")]
    guardrail: Vec<String>,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the loop.
pub(super) fn main(args: &RunArgs, project: &Path) -> Result<u8> {
    let prompt = prompt(args)?;
    let loaded = args.common.load(project, layer(args))?;
    let reporters = args.common.reporters(&loaded, project)?;
    let warnings = endless_prompt(&prompt, &loaded.settings.completion_response).into_iter().collect();
    let plan = args.common.limit(plan(&loaded.settings));
    let setup = setup(&loaded, prompt, project);
    Start { plan, setup, run: None, drafts: Vec::new(), reporters, warnings, settled: None }.begin()?.drive()
}

fn prompt(args: &RunArgs) -> Result<PromptSource> {
    match (&args.prompt, &args.prompt_file) {
        (Some(text), None) if text.trim().is_empty() => Err(Error::new("the prompt is empty")),
        (Some(text), None) => Ok(PromptSource::Text(text.clone())),
        (None, Some(path)) => Ok(PromptSource::File(std::path::absolute(path)?)),
        (Some(_), Some(_)) => Err(Error::new("give either --prompt or --prompt-file, not both")),
        (None, None) => Err(Error::new("there is no prompt")
            .hint("say what to do: ralph run -p \"Make the tests pass. Say <response>DONE</response> when they do.\"")
            .hint("or name a file: ralph run -f TASK.md")),
    }
}

/// An agent that is not told how to say that it is done works until the limit.
fn endless_prompt(prompt: &PromptSource, response: &str) -> Option<String> {
    let text = match prompt {
        PromptSource::Text(text) => text.clone(),
        PromptSource::File(path) | PromptSource::Template(path) => files::read_text(path).unwrap_or_default(),
    };
    (!text.to_lowercase().contains("<response>")).then(|| {
        format!(
            "the prompt does not say how to end: unless the agent knows it from elsewhere, the run goes on to its \
             limit. Add to the prompt: Say <response>{response}</response> when it is done."
        )
    })
}

/// The flags of this loop as a layer of settings; only those that were given.
fn layer(args: &RunArgs) -> Map<String, Value> {
    let mut layer = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            layer.insert(key.to_owned(), value);
        }
    };
    set("maximumIterations", args.maximum_iterations.map(Value::from));
    set("completionResponse", args.completion_response.clone().map(Value::from));
    let guardrails: Vec<Value> = args.guardrail.iter().map(|command| json!({"command": command})).collect();
    set("guardrails", (!guardrails.is_empty()).then(|| Value::from(guardrails)));
    layer
}

/// The rules of the loop as the settings have them.
fn plan(settings: &Settings) -> Plan {
    let gates = settings.guardrails.iter().map(|guardrail| Gate {
        check: Check::Command { command: guardrail.command.clone() },
        when: When::EveryTurn,
        fail_action: guardrail.fail_action,
        hint: guardrail.hint.clone(),
    });
    let mut plan = tune(presets::run(&settings.completion_response, gates.collect()), settings);
    if settings.scm.as_ref().is_none_or(|scm| scm.tasks.is_empty()) {
        plan.commit = CommitRule::Never;
    }
    plan
}
