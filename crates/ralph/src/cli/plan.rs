//! `ralph plan`: compares specifications with the code and writes the implementation plan.

use std::path::Path;

use clap::Args;
use ralph_core::{
    engine::{plan::When, presets},
    setup::TaskFrom,
};
use ralph_sys::error::{Error, Result};

use super::{
    loop_args::LoopArgs,
    modes::{CountArgs, Mode, check_plan, find_plan, template, variables},
};
use crate::settings::flags::{self, GuardedFlag, GuardrailFlags};

const TEMPLATE: &str = include_str!("../../../../prompts/plan.md");

/// Compare the specifications with the code and write the implementation plan
///
/// Needs a git repository and a folder `specs/`. Each iteration starts the agent with fresh context and the
/// prompt in .ralph/prompts/plan.md (written on first use, yours to change), and ends with a commit. The loop
/// ends when the agent says `<promise>COMPLETE</promise>` or finds nothing to change, or after 10 iterations.
///
/// Example: ralph plan 3
#[derive(Args, Debug, Default)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    count: CountArgs,

    #[command(flatten)]
    guarded: GuardedFlag,

    #[command(flatten)]
    guardrails: GuardrailFlags,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the loop.
pub(super) fn main(args: &PlanArgs, project: &Path) -> Result<u8> {
    let mut layer = args.count.layer();
    layer.extend(flags::layer(&args.guardrails));
    let loaded = args.common.load(project, layer)?;
    // Checks of code say little about a plan, so they are asked for.
    let is_guarded = args.guarded.is_guarded || !args.guardrails.guardrail.is_empty();
    if is_guarded && loaded.settings.guardrails.is_empty() {
        return Err(Error::new("the settings have no guardrails that could check the plan")
            .hint("write some: ralph init"));
    }
    if !is_guarded {
        args.common.refuse_hidden("a plan is checked only with --guardrails")?;
    }
    let guardrails = if is_guarded { loaded.settings.gates(When::EveryTurn) } else { Vec::new() };
    let plan_file = find_plan(&loaded.settings, project);
    check_plan(&plan_file, project)?;
    let (prompt, drafts) = template(loaded.settings.plan.prompt.as_deref(), "plan.md", TEMPLATE, project);
    let mode = Mode {
        plan: presets::plan().guarded(guardrails),
        prompt,
        task: TaskFrom::Fixed("update the implementation plan".to_owned()),
        variables: variables(&plan_file),
        plan_file: Some(plan_file),
        may_touch: Some(loaded.settings.plan.may_touch.clone()),
        pinned: Vec::new(),
        drafts,
        warnings: Vec::new(),
    };
    mode.run(&args.common, &loaded, project)
}
