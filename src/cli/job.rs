//! `ralph job`: one run of an agent for a part of a task.
//!
//! The call registers the run before anything else, and then goes on as that run: in a session of its own,
//! marked as itself, so that it is neither a leftover of the turn that started it nor ended with it.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use jiff::Timestamp;
use serde_json::json;

use super::{
    loop_args::{LoopArgs, setup, tune},
    print,
};
use crate::{
    driver::Start,
    engine::presets,
    error::{Context, Error, REFUSED, Result},
    journal::run_dir::{RunDir, record_into},
    process::{
        detach::{become_run, own_pid, start_run},
        guardian::RUN_VARIABLE,
        is_alive,
    },
    setup::{Assignment, PromptSource, Role, Setup, Territory},
    task::{
        Task, Tasks,
        enlist::{Recruit, short_title},
        parse_id,
        record::Status,
        store, surroundings,
    },
};

/// How long a run may take to begin.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(5);

/// Run an agent once for a part of a task
///
/// How an agent that works on a task has a part done by another agent with fresh context. The run is a child of
/// the run whose agent calls; it outlives the turn in which it was started, and the task is not complete
/// before it has ended.
///
/// Example: ralph job -p "Write the tests for greet.sh." --detach
#[derive(Args, Debug)]
pub(super) struct JobArgs {
    /// What the agent shall do
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,

    /// Read the prompt from this file
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "prompt")]
    prompt_file: Option<PathBuf>,

    /// The task that it is a part of; without it, the one that the caller works on
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    task: Option<String>,

    /// Do not wait for its end: print the run's id
    #[arg(short, long)]
    detach: bool,

    /// Go on as this run
    #[arg(long = "as", value_name = "RUN", hide = true)]
    own_run: Option<String>,

    #[command(flatten)]
    common: LoopArgs,
}

/// Begins the run, or goes on as it.
pub(super) fn main(args: &JobArgs, project: &Path) -> Result<u8> {
    let task = match &args.task {
        Some(id) => Tasks::of(project).existing(id)?,
        None => surroundings().map(|(_, task)| task).ok_or_else(|| {
            Error::new("there is no task that this would be a part of")
                .hint("an agent that works on a task calls this; otherwise name the task: --task ID")
                .hint("`ralph task list` lists them, `ralph task run` starts one")
        })?,
    };
    let prompt = prompt(args)?;
    match &args.own_run {
        None => begin(args, &task, &prompt, project),
        Some(run) => work(args, &task, prompt, run, project),
    }
}

fn prompt(args: &JobArgs) -> Result<PromptSource> {
    match (&args.prompt, &args.prompt_file) {
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
    let run = RunDir::create(project)?;
    let (id, record) = (run.id(), run.path().to_owned());
    let parent = env::var(RUN_VARIABLE).ok().filter(|parent| store::one(task, parent).is_some());
    let assignment = assignment(task, parent);
    Recruit { assignment: &assignment, run: &id, record, agent: "", title }.enlist()?;
    let own: [OsString; 2] = ["--as".into(), id.clone().into()];
    let words: Vec<OsString> = env::args_os().skip(1).chain(own).collect();
    if args.detach {
        return start_beside(task, &id, &words);
    }
    Err(become_run(&id, &words)).context("cannot start the run")
}

fn assignment(task: &Task, parent: Option<String>) -> Assignment {
    let (task, folder) = (task.id.clone(), task.folder.clone());
    Assignment { task, folder, role: Role::Child, parent, previous: None }
}

/// Starts the run beside this process, and returns when it has taken over.
fn start_beside(task: &Task, run: &str, words: &[OsString]) -> Result<u8> {
    let log = task.run_folder(run).join("ralph.log");
    let pid = start_run(run, words, record_into(&log)?).context("cannot start the run")?;
    let started = Instant::now();
    while store::one(task, run).is_some_and(|record| record.pid == own_pid()) && started.elapsed() < PATIENCE
    {
        if !is_alive(pid) {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            failed(task, run);
            return Err(Error::new(format!("the run did not begin: {}", said.trim())));
        }
        thread::sleep(PAUSE);
    }
    print(&format!("{run}\n"))?;
    Ok(0)
}

/// Does the work of the run.
fn work(args: &JobArgs, task: &Task, prompt: PromptSource, run: &str, project: &Path) -> Result<u8> {
    let dir = RunDir::reserved(project, run)?;
    let parent = store::one(task, run).and_then(|record| record.parent);
    let agent = parent.as_ref().and_then(|parent| store::one(task, parent)).map(|record| record.agent);
    let start = || -> Result<Start> {
        // One turn is one turn, whatever the settings say about loops; and a part is done by the same agent as
        // the whole, unless the caller names another.
        let once = [("maximumIterations".to_owned(), 1.into())];
        let agent = agent.map(|command| ("agent".to_owned(), json!({"command": command})));
        let loaded = args.common.load(project, once.into_iter().chain(agent).collect())?;
        Ok(Start {
            plan: args.common.limit(tune(presets::job(), &loaded.settings)),
            setup: Setup {
                assignment: Some(assignment(task, parent)),
                territory: Territory::Shared,
                scm: None,
                // Whoever started it is told, not the user.
                notify: None,
                ..setup(&loaded, prompt, project)
            },
            run: Some(dir.clone()),
            drafts: Vec::new(),
            settled: None,
            reporters: args.common.reporters(&loaded, project)?,
            warnings: Vec::new(),
        })
    };
    let driver = start().and_then(Start::begin).inspect_err(|_| {
        failed(task, run);
        if !dir.journal().exists() {
            // Nothing is in it.
            let _ = dir.remove();
        }
    })?;
    driver.drive()
}

/// Notes that a run has ended before it began.
fn failed(task: &Task, run: &str) {
    // Whoever reads the record finds out by itself.
    let _ = store::update(task, run, |record| {
        (record.status, record.ended_at) = (Status::Failed, Some(Timestamp::now()));
        record.exit_code = Some(REFUSED);
    });
}
