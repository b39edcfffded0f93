//! One time of judging: the working tree first, then the commit in the judge, then what differs.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ralph_core::{
    containment::{level::Level, wanted::GatesRun},
    duration::millis,
    engine::progress::failure_signature::signature,
    verify::{
        caveat::Caveat,
        environment::{self, Contained, misleads_git},
        missing::{self, OnlyInTree},
        proof::{Proof, prove},
    },
};
use ralph_sandbox::{Sandbox, SandboxRequest};
use ralph_sys::{
    error::Result,
    process::{Control, Sink, Spec, Supervisor},
    watch::Cause,
};

use super::{Ended, Judged, NoResult, PreparedRow, Request, Row, Step, What};
use crate::{
    journal::{kept_stream::mask_file, run_dir::record_into},
    workspace::{
        Candidate, NotJudged, Prepared, StepCall, StepEnd, Workspace,
        view::{Layering, View},
    },
};

/// How much of an output is looked through for what is missing.
const MAX_OUTPUT_LEN: u64 = 256 * 1024;

/// One time of judging.
pub(super) struct Session<'a> {
    supervisor: &'a mut Supervisor,
    request: &'a Request<'a>,
    notice: &'a mut dyn FnMut(Step<'_>),
    sandbox: Option<Sandbox>,
    folder: PathBuf,
    is_interrupted: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        supervisor: &'a mut Supervisor,
        request: &'a Request<'a>,
        notice: &'a mut dyn FnMut(Step<'_>),
        folder: &Path,
    ) -> Result<Self> {
        let sandbox = contained(supervisor, request, folder)?;
        Ok(Self { supervisor, request, notice, sandbox, folder: folder.to_owned(), is_interrupted: false })
    }

    /// Removes what was made for the sandbox.
    pub(super) fn finish(self) {
        if let Some(sandbox) = &self.sandbox {
            sandbox.finish(self.supervisor);
        }
    }

    /// Judges in this workspace.
    pub(super) fn judge(
        &mut self,
        workspace: &mut Workspace,
    ) -> Result<std::result::Result<Judged, NoResult>> {
        let mut rows = self.rows_in_place()?;
        if self.is_interrupted {
            return Ok(Err(NoResult::Interrupted));
        }
        (self.notice)(Step::Bringing);
        let started = Instant::now();
        let target = match &self.request.what {
            What::Commit { id, .. } => Candidate::Commit(id),
            What::WorkingTree => Candidate::WorkingTree,
            What::Made { id } => Candidate::Made(id),
        };
        let brought = match workspace.bring_to(self.supervisor, &target, &self.request.with) {
            Ok(brought) => brought,
            Err(NotJudged(why)) => return Ok(Err(NoResult::NotJudged(why))),
        };
        let (view, elsewhere) = match workspace.view(self.supervisor, self.sandbox.as_mut()) {
            Ok(opened) => opened,
            Err(error) => return Ok(Err(NoResult::NotJudged(format!("the judge cannot be shown: {error}")))),
        };
        let bring_ms = millis(started.elapsed());
        let prepared = self.prepare(workspace, &view)?;
        for row in &mut rows {
            let guardrail =
                self.request.guardrails.iter().find(|it| it.command == row.command && it.in_judge);
            if self.is_interrupted || guardrail.is_none() {
                continue;
            }
            (self.notice)(Step::InJudge(&row.command));
            let prefix = workspace.source().prefix.clone();
            row.in_judge = Some(self.run_in(workspace, &view, &row.command, &prefix)?);
        }
        if self.is_interrupted {
            view.close()?;
            return Ok(Err(NoResult::Interrupted));
        }
        self.compare(workspace, &view, &mut rows)?;
        let passed = rows.iter().all(|row| row.counts().is_none_or(|ended| ended.passed));
        let (seat, layering) = (view.seat().to_owned(), view.layering());
        if passed {
            workspace.accept(self.supervisor, view, &prepared)?;
        } else {
            view.close()?;
        }
        Ok(Ok(Judged {
            commit: Some(brought.commit),
            folder: Some(workspace.folder().to_owned()),
            seat: Some(seat),
            layering: Some(match layering {
                Layering::Overlay => "overlay",
                Layering::Copy => "copy",
            }),
            bring_ms,
            caveats: brought.caveats.into_iter().chain(elsewhere).collect(),
            prepared: prepared.into_iter().map(PreparedRow::from).collect(),
            guardrails: rows,
            passed,
        }))
    }

    /// Runs the guardrails in the working tree alone.
    pub(super) fn judge_in_place(&mut self, why: &str) -> Result<std::result::Result<Judged, NoResult>> {
        let rows = self.rows_in_place()?;
        if self.is_interrupted {
            return Ok(Err(NoResult::Interrupted));
        }
        Ok(Ok(Judged {
            commit: None,
            folder: None,
            seat: None,
            layering: None,
            bring_ms: 0,
            caveats: vec![Caveat::JudgedInPlace { why: why.to_owned() }],
            prepared: Vec::new(),
            passed: rows.iter().all(|row| row.counts().is_none_or(|ended| ended.passed)),
            guardrails: rows,
        }))
    }

    fn rows_in_place(&mut self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for (number, guardrail) in self.request.guardrails.iter().enumerate() {
            let mut in_place = None;
            if guardrail.in_place && !self.is_interrupted {
                (self.notice)(Step::InPlace(&guardrail.command));
                let log = self.log("place", number);
                let spec = Spec::shell(&guardrail.command, self.request.project);
                in_place = Some(self.run(spec, &log, None)?);
            }
            rows.push(Row {
                command: guardrail.command.clone(),
                kind: guardrail.kind,
                in_place,
                in_judge: None,
                proof: None,
                missing: Vec::new(),
            });
        }
        Ok(rows)
    }

    fn prepare(&mut self, workspace: &Workspace, view: &View) -> Result<Vec<Prepared>> {
        let prepared = workspace.prepare(&mut |&StepCall { command, folder, log }| {
            (self.notice)(Step::Preparing(command));
            let spec = self.spec_in(workspace, view, command, folder);
            let ended =
                self.run(spec, log, Some(view)).map_err(|error| io::Error::other(error.to_string()))?;
            Ok(StepEnd { code: ended.code, took: Duration::from_millis(ended.ms) })
        })?;
        Ok(prepared)
    }

    fn run_in(&mut self, workspace: &Workspace, view: &View, command: &str, folder: &Path) -> Result<Ended> {
        let number = self.request.guardrails.iter().position(|it| it.command == command).unwrap_or_default();
        let log = self.log("judge", number);
        let spec = self.spec_in(workspace, view, command, folder);
        self.run(spec, &log, Some(view))
    }

    /// A command in a folder of the judge, relative to the top of the repository.
    fn spec_in(&self, workspace: &Workspace, view: &View, command: &str, folder: &Path) -> Spec {
        let contained = if self.sandbox.is_some() { Contained::Yes } else { Contained::No };
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let variables = environment::variables(view.seat(), workspace.number(), contained, is_set);
        let misleading = std::env::vars_os().map(|(name, _)| name).filter(|name| misleads_git(name));
        Spec::shell(command, &view.seat().join(folder))
            .envs(misleading.map(|name| (name, None)))
            .envs(variables.into_iter().map(|(name, value)| (name, Some(value))))
    }

    fn log(&self, place: &str, number: usize) -> PathBuf {
        self.folder.join("logs").join(format!("{place}-{}.log", number + 1))
    }

    /// Runs a command to its end; its output goes into a file.
    fn run(&mut self, spec: Spec, log: &Path, view: Option<&View>) -> Result<Ended> {
        let file = record_into(log)?;
        let spec = spec
            .prints(Sink::File(file.try_clone()?), Sink::File(file))
            .within(self.request.timeout)
            .env("PYTHONNOUSERSITE", "1")
            .without("CLAUDECODE");
        let spec = match (view, self.sandbox.as_mut()) {
            (Some(view), sandbox) => view.wrap(spec, sandbox)?,
            (None, Some(sandbox)) => sandbox.wrap(spec)?,
            (None, None) => spec,
        };
        let ended = self.supervisor.run(spec, &mut |_| Control::Something)?;
        let _ = mask_file(log);
        self.is_interrupted |= ended.cause == Some(Cause::Interrupt) || self.supervisor.stop_requested();
        let code = ended.status.filter(|_| ended.cause.is_none()).and_then(|status| status.code());
        let signal = ended.status.and_then(|status| status.signal());
        let said = signature(&format!("{signal:?}\n{}", beginning(log)));
        let signature = (code != Some(0)).then_some(said);
        Ok(Ended { passed: code == Some(0), code, ms: millis(ended.took), log: log.to_owned(), signature })
    }

    /// Says what differs between the two places, and what seems to be missing in the judge.
    fn compare(&mut self, workspace: &mut Workspace, view: &View, rows: &mut [Row]) -> Result<()> {
        let mut only_in_tree = None;
        for row in rows {
            let (Some(in_place), Some(in_judge)) = (&row.in_place, &row.in_judge) else { continue };
            let proof = prove(&in_place.ending(), &in_judge.ending());
            row.proof = Some(match proof {
                Proof::Proven => "proven",
                Proof::FailsInJudge => "fails-in-judge",
                Proof::FailsOtherwise => "fails-otherwise",
            });
            if proof != Proof::Proven {
                let only = match &only_in_tree {
                    Some(only) => only,
                    None => only_in_tree.insert(workspace.only_in_tree(self.supervisor, view)?),
                };
                row.missing = guesses(&beginning(&in_judge.log), only);
            }
        }
        Ok(())
    }
}

fn guesses(output: &str, only_in_tree: &OnlyInTree) -> Vec<String> {
    missing::guess(output, only_in_tree).iter().map(ToString::to_string).collect()
}

/// What the guardrails run in, if in anything.
fn contained(supervisor: &mut Supervisor, request: &Request<'_>, folder: &Path) -> Result<Option<Sandbox>> {
    if request.sandbox.level() == Level::None || request.sandbox.gates == GatesRun::Outside {
        return Ok(None);
    }
    let folder = folder.join("sandbox");
    fs_err::create_dir_all(&folder)?;
    let folder = fs_err::canonicalize(folder)?;
    let sandbox = SandboxRequest {
        project: request.project,
        agent: "",
        program: Path::new(""),
        env: &BTreeMap::new(),
        work: None,
        folder: &folder,
        cache: folder.join("cache"),
        id: format!("judge-{}", std::process::id()),
        secrets: Vec::new(),
    };
    Ok(Some(Sandbox::prepare(request.sandbox.clone(), sandbox, supervisor)?))
}

/// The beginning of an output, as text.
fn beginning(log: &Path) -> String {
    let mut bytes = Vec::new();
    let read = ralph_sys::files::open(log).and_then(|file| file.take(MAX_OUTPUT_LEN).read_to_end(&mut bytes));
    read.map(|_| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
