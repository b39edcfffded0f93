//! `ralph job`: one run of an agent for a part of a task.
//!
//! The call registers the run before anything else, and then goes on as that run: in a session of its own,
//! marked as itself, so that it is neither a leftover of the turn that started it nor ended with it.

mod inside;

use std::{env, ffi::OsString, path::Path};

use clap::Args;
use ralph_agents::Permissions;
use ralph_core::{
    engine::presets,
    setup::{Guard, LockScope, PromptSource, Setup},
};
use ralph_sys::{
    error::{Context, Error, Result},
    process::{detach::become_run, guardian::RUN_VARIABLE},
};
use serde_json::json;

use super::{
    given_prompt::PromptFlags,
    loop_args::{LoopArgs, setup, tune},
    print,
};
use crate::{
    driver::Start,
    journal::{self, run_dir::RunDir},
    tasks::{
        Task, Tasks,
        child::{self, Logs, assignment, failed},
        parse_id,
        registration::short_title,
        store, surroundings,
    },
};

/// Run an agent once for a part of a task
///
/// An agent that works on a task can give a part of it to another agent with fresh context. The new run is a child of
/// the calling run. It outlives the turn that started it, and the task is not complete before it has ended.
///
/// Example: ralph job -p "Write the tests for greet.sh." --detach
#[derive(Args, Debug)]
pub(super) struct JobArgs {
    #[command(flatten)]
    prompt: PromptFlags,

    /// The task; without it, the one that the caller works on
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    task: Option<String>,

    /// Do not wait for the end; print the run's id
    #[arg(short, long)]
    detach: bool,

    /// Go on as this run
    #[arg(long = "as", value_name = "RUN", hide = true)]
    own_run: Option<String>,

    /// The run whose agent asked for this one
    #[arg(long = "of", value_name = "RUN", hide = true)]
    parent: Option<String>,

    #[command(flatten)]
    common: LoopArgs,
}

/// Begins the run, or goes on as it.
pub(super) fn main(args: &JobArgs, project: &Path) -> Result<u8> {
    args.common.refuse_hidden("a job makes no claim that guardrails judge")?;
    let task = match &args.task {
        Some(id) => Tasks::of(project).existing(id)?,
        None => surroundings().map(|(_, task)| task).ok_or_else(|| {
            Error::new("there is no task that this job belongs to")
                .hint("an agent that works on a task calls this; otherwise name the task: --task ID")
                .hint("`ralph task list` lists them, `ralph task run` starts one")
        })?,
    };
    let prompt = prompt(args)?;
    if args.common.is_dry_run() {
        return args.common.show(&start(args, &task, prompt, env::var(RUN_VARIABLE).ok(), project)?);
    }
    match &args.own_run {
        None if ralph_sandbox::is_inside() => inside::ask(args, &task, &prompt),
        None => begin(args, &task, &prompt, project),
        Some(run) => work(args, &task, prompt, run, project),
    }
}

fn prompt(args: &JobArgs) -> Result<PromptSource> {
    match (&args.prompt.prompt, &args.prompt.prompt_file) {
        (Some(text), _) if text.trim().is_empty() => Err(Error::new("the prompt is empty")),
        (Some(text), _) => Ok(PromptSource::Text(text.clone())),
        (None, Some(path)) => Ok(PromptSource::File(std::path::absolute(path)?)),
        (None, None) => {
            Err(Error::new("there is no prompt").hint("say what to do: ralph job -p \"Write the tests.\""))
        }
    }
}

/// Registers the run and turns this process, or one beside it, into it.
fn begin(args: &JobArgs, task: &Task, prompt: &PromptSource, project: &Path) -> Result<u8> {
    let title = match prompt {
        PromptSource::Text(text) => short_title(text),
        PromptSource::File(path) | PromptSource::Template(path) => path.display().to_string(),
    };
    let parent = env::var(RUN_VARIABLE).ok().filter(|parent| store::one(task, parent).is_some());
    let id = child::register(project, task, parent, title)?.id();
    let own: [OsString; 2] = ["--as".into(), id.clone().into()];
    let words: Vec<OsString> = env::args_os().skip(1).chain(own).collect();
    if args.detach {
        child::start_beside(task, &id, &words, Logs::Together)?;
        print(&format!("{id}\n"))?;
        return Ok(0);
    }
    Err(become_run(&id, &words)).context("cannot start the run")
}

/// Does the work of the run.
fn work(args: &JobArgs, task: &Task, prompt: PromptSource, run: &str, project: &Path) -> Result<u8> {
    let dir = RunDir::reserved(project, run)?;
    let parent = args.parent.clone().or_else(|| store::one(task, run)?.parent);
    let start = || Ok(Start { run: Some(dir.clone()), ..start(args, task, prompt, parent, project)? });
    let driver = start().and_then(Start::begin).inspect_err(|_| {
        failed(task, run);
        if !dir.journal().exists() {
            // Nothing is in it.
            let _ = dir.remove();
        }
    })?;
    driver.drive()
}

/// What the agent is started with.
fn start(
    args: &JobArgs,
    task: &Task,
    prompt: PromptSource,
    parent: Option<String>,
    project: &Path,
) -> Result<Start> {
    // As ralph's own record has it, and not the one in the project.
    let of_parent = parent.as_ref().and_then(|parent| RunDir::reserved(project, parent).ok());
    let of_parent = of_parent.and_then(|parent| journal::started(&parent.journal())).map(|it| it.setup);
    // One turn is one turn, whatever the settings say about loops; and a part is done by the same agent as the whole,
    // unless the caller names another.
    let once = [("maximumIterations".to_owned(), 1.into())];
    let agent = of_parent.as_ref().map(|parent| parent.agent.command.clone());
    let agent = agent.map(|command| ("agent".to_owned(), json!({"command": command})));
    let loaded = args.common.load(project, once.into_iter().chain(agent).collect())?;
    Ok(Start {
        plan: args.common.limit(tune(presets::job(), &loaded.settings)),
        setup: Setup {
            assignment: Some(assignment(task, parent)),
            territory: LockScope::Shared,
            scm: None,
            // The agent that started it is told, not the user.
            notify: None,
            ..contained(setup(&loaded, prompt, project), of_parent, loaded.settings.agent.permissions)
        },
        run: None,
        drafts: Vec::new(),
        settled: None,
        reporters: args.common.reporters(&loaded, project)?,
        warnings: Vec::new(),
    })
}

/// A part is contained and guarded as the whole is.
fn contained(mut part: Setup, whole: Option<Setup>, permissions: Option<Permissions>) -> Setup {
    let Some(whole) = whole else { return part };
    if whole.guard == Guard::On {
        part.guard = Guard::On;
    }
    if !whole.sandbox.level().contains() {
        return part;
    }
    let agent = ralph_agents::adapter(&part.agent.command).name();
    let mut part = Setup { sandbox: whole.sandbox.for_agent(agent), ..part };
    part.agent.permissions = permissions.unwrap_or(Permissions::Skip);
    part
}
