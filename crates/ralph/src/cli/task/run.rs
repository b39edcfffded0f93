//! `ralph task run`: starts a task, or continues it.

use std::{env, path::Path, time::Duration};

use clap::Args;
use jiff::Zoned;
use ralph_core::{
    duration::{millis, parse_typed_duration},
    engine::{
        plan::{Check, Gate, Plan, When},
        presets,
    },
    prompt::slug,
    setup::{Assignment, LockScope, PROJECT_DIR, PromptSource, Role, Setup},
};
use ralph_sys::{
    error::{Context, Error, Result},
    files,
    process::guardian::RUN_VARIABLE,
};
use serde::Serialize;

use super::{
    super::{
        given_prompt::PromptFlags,
        loop_args::{LoopArgs, setup, tune},
    },
    earlier::Earlier,
};
use crate::{
    driver::Start,
    settings::{
        TaskSettings,
        flags::{GuardrailFlags, is_unset, layer},
        seconds_or_off,
    },
    tasks::{DONE, MARKER, Task, Tasks, parse_id, store},
};

/// Start a task, or continue it
///
/// The prompt becomes the task's text, TASK.md, unless there is one; ralph reads TASK.md again before each turn.
/// Ralph starts the agent until it writes DONE into the task's folder. Then ralph waits for the runs that the agent
/// started, and runs the guardrails. If one fails, or a run takes too long, ralph renames DONE to DONE.refuted-N
/// and starts the agent again. When the task stops, ralph names and ends the runs that are still working. The agent
/// can also say that it waits for a person: with exit code 42, a message of type `wait_without_restart`, or a file
/// `WAIT_WITHOUT_RESTART`. Then ralph exits with 6, and `ralph task resume` continues.
///
/// Example: ralph task run --task greeter -p "Make greet.sh greet the name it is given."
#[derive(Args, Debug)]
pub(super) struct TaskRunArgs {
    /// The name of the task; without it, ralph makes one
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    task: Option<String>,

    #[command(flatten)]
    prompt: PromptFlags,

    /// Wait until this other task is done; may be given several times
    #[arg(long, value_name = "TASK", value_parser = parse_id)]
    depends_on: Vec<String>,

    #[command(flatten)]
    going: GoingArgs,
}

/// How an agent is kept going.
#[derive(Args, Debug)]
pub(super) struct GoingArgs {
    #[command(flatten)]
    own: TaskFlags,

    #[command(flatten)]
    pub(super) common: LoopArgs,
}

/// The flags of this loop alone; as JSON they are a layer of settings.
#[derive(Args, Debug, Default, Serialize)]
struct TaskFlags {
    #[command(flatten)]
    #[serde(flatten)]
    guardrails: GuardrailFlags,

    #[command(flatten)]
    #[serde(skip_serializing_if = "is_unset")]
    task: RestartFlags,
}

/// How often the agent is started, and what is waited for.
#[derive(Args, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct RestartFlags {
    /// Start the agent at most this many times [default: 100]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "is_unset")]
    max_restarts: Option<u32>,

    /// Wait this long before starting the agent again [default: 1s]
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration)]
    #[serde(serialize_with = "seconds_or_off", skip_serializing_if = "is_unset")]
    restart_delay: Option<Duration>,

    /// Wait this long for the runs that the agent started, when the task is done [default: 5m]
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration)]
    #[serde(serialize_with = "seconds_or_off", skip_serializing_if = "is_unset")]
    child_wait_timeout: Option<Duration>,

    /// Do not wait for the runs that the agent started when the task is done, and do not end them when it stops
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    keep_children: bool,
}

/// Runs the loop.
pub(super) fn main(args: &TaskRunArgs, project: &Path) -> Result<u8> {
    let text = given_text(args)?;
    let tasks = Tasks::of(project);
    let id = args.task.clone().unwrap_or_else(|| new_id(text.as_deref().unwrap_or_default()));
    let task = tasks.task(&id);
    if text.is_none() && !task.text_file().exists() {
        return Err(Error::new(format!("task `{id}` has no text"))
            .hint(format!("say what to do: ralph task run --task {id} -p \"...\""))
            .hint(format!("or write it into {}", task.text_file().display())));
    }
    if args.going.common.is_dry_run() {
        let start = start(&args.going, &task, text, project, Earlier::default())?;
        return args.going.common.show(&start);
    }
    if !args.depends_on.is_empty() {
        task.files().make_folder(&task.folder).context(format!("cannot make the folder of task `{id}`"))?;
        tasks.depend(&task, &args.depends_on)?;
    }
    start(&args.going, &task, text, project, Earlier::default())?.begin()?.drive()
}

/// What the agent of a task is started with; nothing of the task is changed when something stands against it.
pub(super) fn start(
    args: &GoingArgs,
    task: &Task,
    text: Option<String>,
    project: &Path,
    earlier: Earlier,
) -> Result<Start> {
    let loaded = args.common.load_again(project, earlier.invocation, layer(&args.own))?;
    let reporters = args.common.reporters(&loaded, project)?;
    let settings = &loaded.settings;
    let mut tuned = with_task_limits(
        tune(plan(task, &settings.task).guarded(settings.gates(When::Claimed)), settings),
        &settings.task,
    );
    tuned.limits.limit_exit_code = earlier.limit_exit_code.unwrap_or(tuned.limits.limit_exit_code);
    let plan = args.common.limit(tuned);
    let mut warnings = Vec::new();
    let mut drafts = Vec::new();
    match (text, files::read_text(&task.text_file())) {
        (Some(text), Ok(present)) if present.trim() != text.trim() => warnings.push(format!(
            "task `{}` keeps the text that it has in TASK.md; what was given now is not used",
            task.id
        )),
        (Some(text), Err(_)) => drafts.push((task.text_file(), text.into())),
        (Some(_) | None, _) => {}
    }
    let others = plan.awaits.iter().filter_map(|path| Path::new(path).parent());
    for other in others.filter(|folder| !project.join(folder).exists()) {
        let name = other.file_name().unwrap_or_default().display();
        warnings.push(format!("there is no task `{name}` yet; this one waits for it"));
    }
    let setup = Setup {
        assignment: Some(Assignment {
            task: task.id.clone(),
            folder: task.folder.clone(),
            role: Role::Root,
            parent: env::var(RUN_VARIABLE).ok().filter(|run| !run.is_empty()),
            previous: previous(task),
        }),
        territory: LockScope::Folder(task.folder.clone()),
        scm: None,
        ..setup(&loaded, PromptSource::File(task.text_file()), project)
    };
    Ok(Start { plan, setup, run: None, drafts, reporters, warnings, settled: None })
}

fn given_text(args: &TaskRunArgs) -> Result<Option<String>> {
    let text = match (&args.prompt.prompt, &args.prompt.prompt_file) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => {
            let bytes = std::fs::read(path).map_err(|error| {
                Error::new(format!("cannot read the prompt file `{}`: {error}", path.display()))
            })?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        (None, None) => return Ok(None),
    };
    if text.trim().is_empty() { Err(Error::new("the prompt is empty")) } else { Ok(Some(text)) }
}

/// A name from the moment and what is to be done.
fn new_id(text: &str) -> String {
    let moment = Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    let words = slug(&words.join(" ")).replace('_', "-").to_lowercase();
    format!("{moment}-{words}")
}

/// The rules of the loop; its files are named relative to the project.
fn plan(task: &Task, settings: &TaskSettings) -> Plan {
    let file = |task: &str, name: &str| format!("{PROJECT_DIR}/tasks/{task}/{name}");
    let check = Check::ChildrenEnded {
        child_wait_timeout_ms: millis(settings.child_wait_timeout),
        poll_interval_ms: millis(settings.poll_interval),
    };
    let gate = Gate::new(check, When::Claimed);
    let gates = if settings.keep_children { Vec::new() } else { vec![gate] };
    Plan {
        awaits: task.depends_on().iter().map(|other| file(other, DONE)).collect(),
        ..presets::task(&file(&task.id, DONE), &file(&task.id, MARKER), gates)
    }
}

/// How often a task is started has a setting of its own.
fn with_task_limits(mut plan: Plan, settings: &TaskSettings) -> Plan {
    plan.limits.max_iterations = settings.max_restarts;
    plan.limits.restart_delay_ms = millis(settings.restart_delay);
    plan
}

/// The run that kept the task going before.
fn previous(task: &Task) -> Option<String> {
    let records = store::all(task);
    records.into_values().rfind(|record| record.role == Role::Root).map(|record| record.run)
}
