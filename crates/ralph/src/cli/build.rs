//! `ralph build`: works through the implementation plan, tested and committed task by task.

use std::path::{Path, PathBuf};

use clap::Args;
use ralph_core::{
    agents_md::test_command,
    engine::{
        plan::{Check, Gate, When},
        presets,
    },
    setup::TaskFrom,
};
use ralph_sys::{
    error::{Error, Result},
    files,
    paths::is_repository,
};

use super::{
    loop_args::LoopArgs,
    modes::{CountArgs, Mode, check_plan, find_plan, template, variables},
};
use crate::settings::{
    Settings,
    flags::{self, GuardrailFlags},
};

const TEMPLATE: &str = include_str!("../../../../prompts/build.md");
const NOTES: &str = "AGENTS.md";

/// Work through the implementation plan, one tested and committed task per iteration
///
/// Needs what `ralph plan` needs, and the plan. Each iteration starts the agent with fresh context and the prompt in
/// .ralph/prompts/build.md (written on first use, yours to change). Then ralph runs the test command of AGENTS.md and
/// the guardrails; if one fails, ralph tries the same iteration again with the output, three times. Ralph commits
/// what passes. The loop ends when no task of the plan is open, or after 10 iterations. While a task is open, ralph
/// refuses the agent's `<promise>COMPLETE</promise>`.
///
/// Example: ralph build 20
#[derive(Args, Debug, Default)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    count: CountArgs,

    #[command(flatten)]
    guardrails: GuardrailFlags,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the loop.
pub(super) fn main(args: &BuildArgs, project: &Path) -> Result<u8> {
    let mut layer = args.count.layer();
    layer.extend(flags::layer(&args.guardrails));
    let loaded = args.common.load(project, layer)?;
    let plan_file = find_plan(&loaded.settings, project);
    check_plan(&plan_file, project)?;
    let command = tests(&loaded.settings, project);
    let tests = command.iter().map(|command| gate(command)).collect();
    let plan = presets::build(&plan_file.path, tests).guarded(loaded.settings.gates(When::EveryTurn));
    if let Some(need) = plan.needs.iter().find(|need| !project.join(&need.path).is_file()) {
        return Err(Error::new(&need.otherwise));
    }
    let (prompt, drafts) = template(loaded.settings.build.prompt.as_deref(), "build.md", TEMPLATE, project);
    let mut variables = variables(&plan_file);
    let shown =
        command.clone().unwrap_or_else(|| "(none is known: find out how this project is tested)".to_owned());
    variables.insert("TEST_COMMAND".to_owned(), shown);
    let mode = Mode {
        plan,
        prompt,
        task: TaskFrom::PlanFile,
        plan_file: Some(plan_file),
        may_touch: None,
        variables,
        pinned: vec![notes(project).unwrap_or_else(|| project.join(NOTES))],
        drafts,
        warnings: if command.is_none() { vec![untested()] } else { Vec::new() },
    };
    mode.run(&args.common, &loaded, project)
}

/// What runs the tests, if anything says it: the notes of the project or of the repository it is in, or the
/// settings.
fn tests(settings: &Settings, project: &Path) -> Option<String> {
    let noted = notes(project).and_then(|path| test_command(&files::read_text(&path).ok()?));
    noted.or_else(|| settings.build.test_command.clone())
}

/// The nearest notes, up to the top of the repository.
fn notes(project: &Path) -> Option<PathBuf> {
    for folder in project.ancestors() {
        let path = folder.join(NOTES);
        if path.exists() {
            return Some(path);
        }
        if is_repository(folder) {
            break;
        }
    }
    None
}

fn gate(command: &str) -> Gate {
    Gate::new(Check::Command { command: command.to_owned() }, When::EveryTurn)
}

fn untested() -> String {
    format!(
        "no test command: neither {NOTES} nor build.testCommand of the settings names one. Add to {NOTES}: \
         TEST_COMMAND=\"make test\""
    )
}
