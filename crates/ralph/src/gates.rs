//! Performs the checks of a plan: runs the command, keeps its output, says how it failed.

mod log_excerpt;

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_core::{
    duration::millis,
    engine::{
        event::GateEnded,
        plan::{Check, Gate},
        progress::failure_signature::FailureSignature,
    },
    gate_failure::{GateExit, GateFailure},
    prompt::slug,
    setup::{PROJECT_DIR, Setup},
};
use ralph_sandbox::Sandbox;
use ralph_sys::{
    files::{Readers, Root},
    process::{Control, Ended, Leftovers, ProcessEvent, Sink, Spec, Supervisor},
    watch::Cause,
};

use crate::{
    journal::run_dir::{RunDir, record_into},
    workspace::view::View,
};

/// Where in a run a gate is checked.
pub(crate) struct GatePlace<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) run: &'a RunDir,
    pub(crate) iteration: u32,
    pub(crate) attempt: u32,
    /// Of the log.
    pub(crate) name: &'a str,
    /// It failed before the first iteration, and has not passed since.
    pub(crate) was_failing: bool,
    /// What it runs in, if in anything.
    pub(crate) sandbox: Option<&'a mut Sandbox>,
    /// Where in the judge it runs; nothing for the working tree.
    pub(crate) in_judge: Option<InJudge<'a>>,
}

/// A gate in the judge.
pub(crate) struct InJudge<'a> {
    pub(crate) view: &'a View,
    /// The project there.
    pub(crate) folder: PathBuf,
    /// More variables; nothing removes one.
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
}

/// Checks one gate that is a command. Nothing when the user ended it: then it has found nothing.
pub(crate) fn check(
    supervisor: &mut Supervisor,
    gates: &[Gate],
    gate: usize,
    mut place: GatePlace<'_>,
    notice: &mut dyn FnMut(&ProcessEvent<'_>),
) -> Option<GateEnded> {
    let Check::Command { command } = &gates[gate].check else { return None };
    let (contained, was_failing) = (place.sandbox.as_ref().map(|it| it.level()), place.was_failing);
    let failed = |failure| GateFailure { contained, was_failing, ..failure };
    let kept = place.run.turn(place.iteration, place.attempt).join(format!("{}.log", place.name));
    let log = format!("{PROJECT_DIR}/guardrail_{:03}_{}.log", place.iteration, place.name);
    let ran = spec(command, &place, record_into(&kept)).and_then(|spec| {
        let spec = match (&place.in_judge, place.sandbox.as_deref_mut()) {
            (Some(judge), sandbox) => judge.view.wrap(spec, sandbox)?,
            (None, Some(sandbox)) => sandbox.wrap(spec)?,
            (None, None) => spec,
        };
        supervisor.run(spec, &mut |happening| {
            notice(&happening);
            Control::Something
        })
    });
    let ended = match ran {
        Ok(ended) if ended.cause == Some(Cause::Interrupt) => return None,
        Ok(ended) => ended,
        // A machine that cannot start a process for the moment fails the gate, not the run.
        Err(error) => {
            let failure = Some(failed(GateFailure::new(GateExit::NotStarted, error.to_string())));
            return Some(GateEnded { gate, failure, ms: 0, log, signature: None });
        }
    };
    // For people and the agent; the one that counts is the run's.
    let _ = copy(&kept, &place.setup.project, &log);

    let exit = exit(&ended, place.setup);
    let failure = (exit != GateExit::Code(0)).then(|| {
        failed(
            log_excerpt::of(exit.clone(), &kept, place.setup)
                .unwrap_or_else(|error| GateFailure::new(exit, format!("(not kept: {error})"))),
        )
    });
    let signature = failure.as_ref().and_then(|failure| signature(&failure.exit, &kept).ok());
    Some(GateEnded { gate, failure, ms: millis(ended.took), log, signature })
}

/// How the command ended.
fn exit(ended: &Ended, setup: &Setup) -> GateExit {
    match (ended.cause, ended.status) {
        (Some(_), _) => GateExit::TimedOut { limit_ms: setup.timeouts.gate_timeout_ms.unwrap_or_default() },
        (None, Some(status)) => status
            .code()
            .map_or_else(|| GateExit::Signal(status.signal().unwrap_or_default()), GateExit::Code),
        // Nobody knows how it ended, so it has not passed.
        (None, None) => GateExit::Signal(0),
    }
}

/// Copies a log into the project; the agent may have removed the folder, or put a link there.
fn copy(from: &Path, project: &Path, log: &str) -> io::Result<()> {
    let mut from = File::open(from)?;
    Root::new(project).replace_with(log, Readers::AsBefore, |to| io::copy(&mut from, to).map(drop))
}

/// A name for the log of a gate: the second gate of the same name gets `_1`.
pub(crate) fn log_name(gates: &[Gate], index: usize) -> String {
    let name = slug(gates[index].check.name());
    let earlier = gates[..index].iter().filter(|gate| slug(gate.check.name()) == name).count();
    if earlier == 0 { name } else { format!("{name}_{earlier}") }
}

/// The command prints straight into its log: whatever it prints passes no memory of ralph's, and whoever
/// it leaves behind holds no pipe of ralph's.
fn spec(command: &str, place: &GatePlace<'_>, log: io::Result<File>) -> io::Result<Spec> {
    let Setup { project, timeouts, leftovers, guardrail_env, .. } = place.setup;
    let (stdout, stderr) = match log {
        Ok(file) => (Sink::File(file.try_clone()?), Sink::File(file)),
        // A full disk loses the output, not the verdict.
        Err(_) => (Sink::Null, Sink::Null),
    };
    let folder = place.in_judge.as_ref().map_or(project, |judge| &judge.folder);
    let in_judge = place.in_judge.as_ref().map(|judge| judge.env.clone()).unwrap_or_default();
    Ok(Spec::shell(command, folder)
        .env("RALPH_ITERATION", place.iteration.to_string())
        // What they print is read by agents, in logs and in reports.
        .env("NO_COLOR", "1")
        .env("TERM", "dumb")
        .envs(guardrail_env.iter().map(|(name, value)| (name.into(), Some(value.into()))))
        .envs(in_judge)
        .without("CLAUDECODE")
        .prints(stdout, stderr)
        .within(timeouts.gate_timeout_ms.map(Duration::from_millis))
        .leftovers(Leftovers::kept_if(leftovers.are_kept())))
}

/// What two failures for the same reason have in common. The end of an output says most; what is further away from it
/// than this does not matter.
fn signature(exit: &GateExit, log: &Path) -> io::Result<String> {
    const MAX_COMPARED_LEN: u64 = 1024 * 1024;
    let mut file = File::open(log)?;
    let skipped = file.metadata()?.len().saturating_sub(MAX_COMPARED_LEN);
    file.seek(SeekFrom::Start(skipped))?;
    let mut signature = FailureSignature::default();
    signature.push(format!("{}\n", name_of(exit)).as_bytes());
    let mut output = Vec::new();
    file.take(MAX_COMPARED_LEN).read_to_end(&mut output)?;
    // The first line may have lost its beginning.
    let whole = if skipped == 0 { 0 } else { output.iter().position(|byte| *byte == b'\n').unwrap_or(0) };
    signature.push(&output[whole..]);
    Ok(signature.finish())
}

/// How a command ended, in the words that signatures have been made with since the first version.
fn name_of(exit: &GateExit) -> String {
    match exit {
        GateExit::TimedOut { limit_ms } => format!("TimedOut({:?})", Duration::from_millis(*limit_ms)),
        exit => format!("{exit:?}"),
    }
}
