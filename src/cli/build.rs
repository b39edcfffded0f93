//! `ralph build`: works through the implementation plan, tested and committed task by task.

use std::path::Path;

use clap::Args;

use super::{
    loop_args::LoopArgs,
    modes::{CountArgs, Files, Mode, template},
};
use crate::{
    agents_md::test_command,
    engine::{
        plan::{Check, Gate, When},
        presets,
    },
    error::{Error, Result},
    fail_action::FailAction,
    settings::Settings,
    setup::TaskFrom,
};

const TEMPLATE: &str = include_str!("../../prompts/build.md");
const NOTES: &str = "AGENTS.md";

/// Work through the implementation plan, one tested and committed task per iteration
///
/// Needs what `ralph plan` needs, and the plan. Each iteration starts the agent with fresh context and the
/// prompt in .ralph/prompts/build.md (written on first use, yours to change). Then ralph runs the test command
/// of AGENTS.md; when it fails, the same iteration is tried again with the output, three times. What passes is
/// committed. The loop ends when the agent says `<promise>COMPLETE</promise>`, or after 10 iterations.
///
/// Example: ralph build 20
#[derive(Args, Debug, Default)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    count: CountArgs,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the loop.
pub(super) fn main(args: &BuildArgs, project: &Path) -> Result<u8> {
    let loaded = args.common.load(project, args.count.layer())?;
    let files = Files::find(&loaded.settings, project)?;
    let command = tests(&loaded.settings, project);
    let plan = presets::build(&files.plan, command.iter().map(|command| gate(command)).collect());
    if let Some(need) = plan.needs.iter().find(|need| !project.join(&need.path).exists()) {
        return Err(Error::new(&need.otherwise));
    }
    let (prompt, drafts) = template(loaded.settings.build.prompt.as_deref(), "build.md", TEMPLATE, project);
    let mut variables = files.variables();
    let shown =
        command.clone().unwrap_or_else(|| "(none is known: find out how this project is tested)".to_owned());
    variables.insert("TEST_COMMAND".to_owned(), shown);
    let mode = Mode {
        plan,
        prompt,
        task: TaskFrom::PlanFile(files.plan.into()),
        variables,
        pinned: vec![project.join(NOTES)],
        drafts,
        warnings: if command.is_none() { vec![untested()] } else { Vec::new() },
    };
    mode.run(&args.common, &loaded, project)
}

/// What runs the tests, if anything says it.
fn tests(settings: &Settings, project: &Path) -> Option<String> {
    let notes = std::fs::read(project.join(NOTES)).unwrap_or_default();
    test_command(&String::from_utf8_lossy(&notes)).or_else(|| settings.build.test_command.clone())
}

fn gate(command: &str) -> Gate {
    Gate {
        check: Check::Command { command: command.to_owned() },
        when: When::EveryTurn,
        fail_action: FailAction::Append,
        hint: None,
    }
}

fn untested() -> String {
    format!(
        "no test command: neither {NOTES} nor the settings name one, so nothing is tested. Add to {NOTES}: \
         TEST_COMMAND=\"make test\""
    )
}
