//! `ralph hook`: what the hooks of an agent call.

use std::{
    ffi::OsString,
    io::{self, Write},
    time::Duration,
};

use clap::{Args, ValueEnum};
use ralph_sys::error::{REFUSED, Result};

use crate::hooks::{self, HookEvent, Scope};

/// Answer a hook of Claude Code or Codex
///
/// Reads the event from standard input and prints the answer. The plugin and ralph's own runs call this; you do not
/// need to.
///
/// Example: ralph hook stop < input.json
#[derive(Args, Debug)]
pub(super) struct HookArgs {
    /// What happened in the agent
    #[arg(value_enum, value_name = "EVENT")]
    event: HookEvent,

    /// Do nothing outside a loop, or in an agent that already has ralph's hooks
    #[arg(long)]
    in_loop_only: bool,

    /// How long the agent waits for the answer, in seconds; ralph ends guardrails before that
    #[arg(long, value_name = "SECONDS", default_value_t = hooks::HOST_TIMEOUT.as_secs())]
    host_timeout: u64,
}

/// Answers.
pub(super) fn main(args: &HookArgs) -> Result<u8> {
    let scope = if args.in_loop_only { Scope::InLoopOnly } else { Scope::Always };
    let answer = hooks::answer(args.event, scope, Duration::from_secs(args.host_timeout));
    if let Some(reason) = answer.refusal() {
        writeln!(io::stderr(), "{reason}")?;
        return Ok(REFUSED);
    }
    io::stdout().write_all(answer.text().as_bytes())?;
    Ok(0)
}

/// Recognises a call that needs no parser: agents wait for each one. Anything unusual is left to the parser.
pub(super) fn quick(args: &[OsString]) -> Option<HookArgs> {
    let words: Vec<&str> = args.iter().skip(1).map(|arg| arg.to_str()).collect::<Option<_>>()?;
    let (event, in_loop_only) = match words[..] {
        ["hook", event] => (event, false),
        ["hook", event, "--in-loop-only"] | ["hook", "--in-loop-only", event] => (event, true),
        _ => return None,
    };
    let event = HookEvent::from_str(event, false).ok()?;
    Some(HookArgs { event, in_loop_only, host_timeout: hooks::HOST_TIMEOUT.as_secs() })
}
