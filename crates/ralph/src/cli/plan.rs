//! `ralph plan`: compares specifications with the code and writes the implementation plan.

use std::path::Path;

use clap::Args;
use ralph_core::{engine::presets, setup::TaskFrom};
use ralph_sys::error::Result;

use super::{
    loop_args::LoopArgs,
    modes::{CountArgs, Mode, check_plan, find_plan, template, variables},
};

const TEMPLATE: &str = include_str!("../../../../prompts/plan.md");

/// Compare the specifications with the code and write the implementation plan
///
/// Needs a git repository and a folder `specs/`. Each iteration starts the agent with fresh context and the
/// prompt in .ralph/prompts/plan.md (written on first use, yours to change), and ends with a commit. The loop
/// ends when the agent says `<promise>COMPLETE</promise>`, or after 10 iterations.
///
/// Example: ralph plan 3
#[derive(Args, Debug, Default)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    count: CountArgs,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the loop.
pub(super) fn main(args: &PlanArgs, project: &Path) -> Result<u8> {
    let loaded = args.common.load(project, args.count.layer())?;
    let plan_file = find_plan(&loaded.settings, project);
    check_plan(&plan_file, project)?;
    let (prompt, drafts) = template(loaded.settings.plan.prompt.as_deref(), "plan.md", TEMPLATE, project);
    let mode = Mode {
        plan: presets::plan(),
        prompt,
        task: TaskFrom::Fixed("update the implementation plan".to_owned()),
        variables: variables(&plan_file),
        plan_file: Some(plan_file),
        pinned: Vec::new(),
        drafts,
        warnings: Vec::new(),
    };
    mode.run(&args.common, &loaded, project)
}
