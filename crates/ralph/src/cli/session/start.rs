//! `ralph session start`: puts a conversation into a loop.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use clap::{Args, value_parser};
use ralph_core::{
    engine::plan::NoWork,
    session::{
        MIN_TOOL_CALLS, PROMISE,
        slash_command::{Ask, promise},
    },
};
use ralph_sys::error::{Context, Error, Result};
use serde_json::json;

use crate::{
    cli::{named::named, print, warn},
    hooks::begin::{begin, caller},
    settings::flags::{GuardedFlag, GuardrailFlags, IterationFlags},
};

/// Put a conversation into a loop, and print what the agent must know
///
/// The conversation needs ralph's hooks: `ralph plugin install`. If it is in a loop already, that loop ends.
///
/// Example: ralph session start --max-iterations 10 "Make the tests pass"
#[derive(Args, Debug)]
pub(super) struct StartArgs {
    #[command(flatten)]
    loop_args: AskArgs,

    /// The conversation; without it, the one that ralph is called from
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What a loop is about, and its limits.
#[derive(Args, Debug)]
#[command(mut_arg("max_iterations", |arg| arg.required(true).value_parser(value_parser!(u32).range(1..))))]
pub(super) struct AskArgs {
    /// The task for the agent
    #[arg(value_name = "TASK")]
    task: Option<String>,

    /// Read the task from this file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    task_file: Option<PathBuf>,

    #[command(flatten)]
    count: IterationFlags,

    /// What the agent says in a `<promise>` tag when it is done
    #[arg(long, value_name = "TEXT", default_value = PROMISE, value_parser = promise)]
    completion_promise: String,

    /// Believe no promise before this many tool calls
    #[arg(long, value_name = "N", default_value_t = MIN_TOOL_CALLS)]
    min_tool_calls: u32,

    /// What happens to a promise before that
    #[arg(long, value_name = "POLICY", default_value = "reject", value_parser = named(&NoWork::NAMES))]
    on_promise_no_work: NoWork,

    /// Call for full effort each time the task is given again
    #[arg(long)]
    ultrawork: bool,

    #[command(flatten)]
    guarded: GuardedFlag,

    #[command(flatten)]
    guardrails: GuardrailFlags,
}

impl AskArgs {
    /// The loop that is asked for.
    pub(super) fn ask(&self) -> Result<Ask> {
        Ok(Ask {
            task: self.task()?,
            max_iterations: self.count.max_iterations,
            promise: Some(self.completion_promise.clone()),
            min_tool_calls: Some(self.min_tool_calls),
            no_work: Some(self.on_promise_no_work),
            guardrails: self.guarded.is_guarded,
            guardrail: self.guardrails.guardrail.clone(),
            ultrawork: self.ultrawork,
        })
    }

    fn task(&self) -> Result<String> {
        let task = match (&self.task, &self.task_file) {
            (Some(task), _) => task.clone(),
            (None, Some(path)) if path.as_os_str() == "-" => {
                let mut task = String::new();
                io::stdin().lock().read_to_string(&mut task).context("cannot read the task")?;
                task
            }
            (None, Some(path)) => fs_err::read_to_string(path)?,
            (None, None) => String::new(),
        };
        if task.trim().is_empty() {
            return Err(
                Error::new("there is no task").hint("say what to do: ralph session start -m 10 \"...\"")
            );
        }
        Ok(task.trim().to_owned())
    }
}

/// Starts the loop.
pub(super) fn main(args: &StartArgs, project: &Path) -> Result<u8> {
    let conversation = super::conversation(args.session_id.as_deref()).ok_or_else(|| {
        Error::new("it is not clear which conversation is meant").hint("name it: --session-id ID")
    })?;
    // The conversation of another caller may be held in another host.
    let host = caller().and_then(|(own, host)| (own == conversation).then_some(host));
    let begun = begin(&args.loop_args.ask()?, &conversation, project, host)?;
    if args.json {
        let object = json!({
            "session": conversation, "run": begun.run.id(), "contract": begun.contract, "notes": begun.notes,
        });
        print(&format!("{object}\n"))?;
    } else {
        for note in begun.notes.iter().skip(1) {
            warn(note);
        }
        print(&begun.contract)?;
    }
    Ok(0)
}
