//! Performs the checks of a plan: runs the command, keeps its output, says how it failed.

mod log_excerpt;
mod still_there;
mod tests_run;

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
    setup::Setup,
};
use ralph_sandbox::Sandbox;
use ralph_sys::{
    error::Result,
    files::{self, Readers, Root},
    process::{Control, Ended, Leftovers, ProcessEvent, Sink, Spec, Supervisor},
    watch::Cause,
};

use tests_run::{NamesFile, Report};

use crate::{
    hidden,
    journal::{
        kept_stream::mask_file,
        run_dir::{RunDir, record_into},
    },
    project::iteration_files,
    receipt,
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
    let is_hidden = matches!(gates[gate].check, Check::Hidden { .. });
    let command = match &gates[gate].check {
        Check::Command { command } => Some(command.as_str()),
        Check::Hidden { name } => place.setup.hidden.command(name),
        Check::ChildrenEnded { .. }
        | Check::TaskRules
        | Check::CleanTree
        | Check::StoriesDone
        | Check::PlanSettled
        | Check::Review { .. }
        | Check::Work { .. } => return None,
    };
    let (contained, was_failing) = (place.sandbox.as_ref().map(|it| it.level()), place.was_failing);
    let failed = |failure| GateFailure { contained, was_failing, ..failure };
    let not_started = |why: String, log: String| {
        Some(GateEnded::own(gate, Some(failed(GateFailure::new(GateExit::NotStarted, why))), log))
    };
    let Some(command) = command else {
        return not_started("its command is not known any more".to_owned(), String::new());
    };
    let (kept, log) = match place.logs(is_hidden) {
        Ok(logs) => logs,
        Err(error) => return not_started(error.to_string(), String::new()),
    };
    let tests = place.tests(&gates[gate]);
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
        Err(error) => return not_started(error.to_string(), log),
    };
    // A log that cannot be masked is still the one that counts.
    let _ = mask_file(&kept);
    // For people and the agent; the one that counts is the run's.
    if !is_hidden {
        let _ = copy(&kept, &place.setup.project, &log);
    }

    let exit = exit(&ended, place.setup);
    let failure = (exit != GateExit::Code(0)).then(|| {
        if is_hidden {
            return failed(GateFailure::new(exit.clone(), String::new()));
        }
        failed(
            log_excerpt::of(exit.clone(), &kept, place.setup)
                .unwrap_or_else(|error| GateFailure::new(exit, format!("(not kept: {error})"))),
        )
    });
    let signature = failure.as_ref().and_then(|failure| signature(&failure.exit, &kept).ok());
    let tests = tests_run::read(&gates[gate], &kept, tests.as_ref(), &place.names());
    let output_sha256 = receipt::sha256_of(&kept);
    Some(GateEnded { gate, failure, ms: millis(ended.took), log, signature, tests, output_sha256 })
}

impl GatePlace<'_> {
    /// Where the output is kept, and what the record calls that. What hidden guardrails print no agent may see.
    fn logs(&self, is_hidden: bool) -> Result<(PathBuf, String)> {
        let kept = self.run.turn(self.iteration, self.attempt).join(format!("{}.log", self.name));
        if !is_hidden {
            return Ok((kept, iteration_files::log(self.iteration, self.name)));
        }
        let kept = hidden::log(self.run, self.name, self.iteration, self.attempt)?;
        let log = kept.display().to_string();
        Ok((kept, log))
    }

    /// The report of its tests that the gate will write, if it does.
    fn tests(&self, gate: &Gate) -> Option<Report> {
        match &self.in_judge {
            None => Report::expect(gate, &self.setup.project, Path::new("")),
            Some(judge) => {
                let folder = judge.folder.strip_prefix(judge.view.seat()).unwrap_or(Path::new(""));
                Report::expect(gate, &judge.view.written(), folder)
            }
        }
    }

    /// What its tests were called before the first iteration.
    fn names(&self) -> NamesFile<'_> {
        let files = self.in_judge.as_ref().map_or(self.setup.project.as_path(), |judge| judge.view.tree());
        NamesFile::new(self.run, self.name, self.iteration == 0, files)
    }
}

/// A check for which no time is left.
pub(crate) fn not_run(gate: usize) -> GateEnded {
    let output = "the checks before it took all the time that the agent's program waits for ralph".to_owned();
    let failure = GateFailure::new(GateExit::NotStarted, output);
    GateEnded::own(gate, Some(failure), String::new())
}

/// How the command ended.
fn exit(ended: &Ended, setup: &Setup) -> GateExit {
    match (ended.cause, ended.status) {
        (Some(_), _) => {
            // Its own limit, or what was left of the run's.
            let took = millis(ended.took);
            GateExit::TimedOut {
                limit_ms: setup.timeouts.gate_timeout_ms.map_or(took, |limit| limit.min(took)),
            }
        }
        (None, Some(status)) => status
            .code()
            .map_or_else(|| GateExit::Signal(status.signal().unwrap_or_default()), GateExit::Code),
        // No one knows how it ended, so it has not passed.
        (None, None) => GateExit::Signal(0),
    }
}

/// Copies a log into the project; the agent may have removed the folder, or put a link there.
fn copy(from: &Path, project: &Path, log: &str) -> io::Result<()> {
    let mut from = files::open(from)?;
    Root::new(project).replace_with(log, Readers::AsBefore, |to| io::copy(&mut from, to).map(drop))
}

/// A name for the log of a gate: the second gate of the same name gets `_1`.
pub(crate) fn log_name(gates: &[Gate], index: usize) -> String {
    let name = slug(gates[index].check.name());
    let earlier = gates[..index].iter().filter(|gate| slug(gate.check.name()) == name).count();
    if earlier == 0 { name } else { format!("{name}_{earlier}") }
}

/// The command prints straight into its log: what it prints passes no memory of ralph's, and a process that
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
        // What lies in the user's site-packages is no part of the project.
        .env("PYTHONNOUSERSITE", "1")
        .envs(place.setup.withheld().iter().map(|name| (name.into(), None)))
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
    let mut file = files::open(log)?;
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
