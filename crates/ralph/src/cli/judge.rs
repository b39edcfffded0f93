//! `ralph judge`: the guardrails on a commit, in a clean clone.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use ralph_core::{
    containment::level::{Choice, Level},
    detect,
    verify::rules::{GuardrailKind, RunsWhere},
};
use ralph_sandbox::self_test;
use ralph_sys::{
    calls::{looking_git, succeeded},
    error::{Error, GUARDRAIL_FAILED, INTERRUPTED, NOT_JUDGED, Result},
    files,
    paths::is_repository,
    process::Supervisor,
};
use serde_json::json;

use super::{complain, print, safety_args::SafetyArgs};
use crate::{
    judge::{self, NoResult, PlacedGuardrail, Request, Step, What},
    report,
    report::style::Marks,
    settings::{self, Guardrail, Settings},
    term::{self, Palette, Stream, Width, fit::one_line},
    workspace::Wishes,
};

/// Run the guardrails on a commit, in a clean clone of the project
///
/// The clone contains only what was committed. It appears at the project's own path, gets the packages that the
/// project needs, and is kept for the next time. The table compares each guardrail there and in the working tree, and
/// suggests what is missing if they differ. Exits with 0 if all pass in the judge, with 3 if one fails, and with 6 if
/// the commit cannot be judged.
///
/// Example: ralph judge HEAD~1 --guardrail "make test"
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct JudgeArgs {
    /// The commit to judge; without it, the one that is checked out
    commit: Option<String>,

    /// Judge the files as they are, committed or not
    #[arg(short, long, conflicts_with = "commit")]
    worktree: bool,

    /// Judge the commit with this file of the working tree in it; may be given several times
    #[arg(long, value_name = "PATH", conflicts_with = "worktree")]
    with: Vec<PathBuf>,

    /// Run this command instead of the guardrails of the settings
    #[arg(short, long, value_name = "COMMAND")]
    guardrail: Vec<String>,

    /// Do not run the guardrails in the working tree
    #[arg(long)]
    judge_only: bool,

    /// Run nothing; show what each guardrail runs and which files are checks
    #[arg(long, conflicts_with_all = ["commit", "worktree", "with", "judge_only"])]
    explain: bool,

    #[command(flatten)]
    safety: SafetyArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Judges and shows the result.
pub(super) fn main(args: &JudgeArgs, project: &Path) -> Result<u8> {
    let settings = settings_for(args, project)?;
    let mut supervisor = Supervisor::new()?;
    if args.explain {
        return explain(args, &settings, project, supervisor);
    }
    let mut sandbox = settings.sandbox.wanted("", Choice::Level(Level::None));
    sandbox.level = Choice::Level(self_test::choose(&mut supervisor, &sandbox)?);
    let what = what(&mut supervisor, args, project)?;
    let is_comparable = !args.judge_only && !matches!(what, What::Commit { is_head: false, .. });
    let request = Request {
        project,
        guardrails: guardrails(args, &settings, project, is_comparable)?,
        what,
        with: args.with.iter().map(|path| relative(project, path)).collect(),
        wishes: wishes(&settings),
        checkout: settings.verify.checkout,
        sandbox,
        timeout: settings.limits.gate_timeout,
        fresh: None,
    };
    let talks = !args.json && term::is_terminal(Stream::Err);
    let judged = judge::judge(&mut supervisor, &request, &mut |step| {
        if talks {
            tell(&step);
        }
    });
    supervisor.release();
    match judged? {
        Ok(judged) if args.json => {
            print(&format!("{}\n", json!(judged)))?;
            Ok(if judged.passed { 0 } else { GUARDRAIL_FAILED })
        }
        Ok(judged) => {
            let palette = Palette::of(settings.output.color, &io::stdout());
            let columns = Width::of(Stream::Out).columns();
            print(&report::judge::table(&judged, Marks::of(settings.output.emoji), palette, columns))?;
            Ok(if judged.passed { 0 } else { GUARDRAIL_FAILED })
        }
        Err(NoResult::Interrupted) => Ok(INTERRUPTED),
        Err(NoResult::NotJudged(why)) => {
            complain(&Error::new(format!("not judged: {why}")));
            Ok(NOT_JUDGED)
        }
    }
}

/// Says what judges.
fn explain(args: &JudgeArgs, settings: &Settings, project: &Path, mut supervisor: Supervisor) -> Result<u8> {
    let guardrails = guardrails(args, settings, project, false)?;
    let commands: Vec<String> = guardrails.into_iter().map(|it| it.command).collect();
    let explained = judge::explain::explain(&mut supervisor, project, &commands)?;
    supervisor.release();
    let text = if args.json {
        format!("{}\n", json!(explained))
    } else {
        let palette = Palette::of(settings.output.color, &io::stdout());
        report::explain::explanation(&explained, palette, Width::of(Stream::Out).columns())
    };
    print(&text)?;
    Ok(0)
}

/// The settings, with the flags over them. Whether they name an agent does not matter.
fn settings_for(args: &JudgeArgs, project: &Path) -> Result<Settings> {
    let mut flags = json!({"agent": {"command": "none"}});
    for (key, value) in args.safety.layer() {
        flags[key] = value;
    }
    let loaded = settings::load(project, None, flags);
    loaded.map(|loaded| loaded.settings).map_err(|error| {
        let hints = error.hints.clone();
        hints.into_iter().fold(Error::new(error), Error::hint)
    })
}

/// What is judged: a commit by its id, or the files.
fn what(supervisor: &mut Supervisor, args: &JudgeArgs, project: &Path) -> Result<What> {
    let mut resolve = |name: &str| -> Result<Option<String>> {
        let revision = format!("{name}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &revision];
        let spec = looking_git(project, words.map(OsString::from).to_vec());
        let captured = supervisor.capture(spec, 4096)?;
        let id = String::from_utf8_lossy(&captured.out).trim().to_owned();
        Ok(succeeded(&captured).then_some(id))
    };
    let head = resolve("HEAD")?;
    match (&args.commit, head) {
        _ if args.worktree => Ok(What::WorkingTree),
        (None, Some(id)) => Ok(What::Commit { id, is_head: true }),
        // Before the first commit there is nothing else.
        (None, None) => Ok(What::WorkingTree),
        (Some(name), head) => match resolve(name)? {
            Some(id) => Ok(What::Commit { is_head: Some(&id) == head.as_ref(), id }),
            None => Err(Error::new(format!("`{name}` is not a commit of this project"))),
        },
    }
}

/// What the settings say about the judge.
fn wishes(settings: &Settings) -> Wishes {
    let verify = settings.verify.clone();
    Wishes {
        prepare: verify.prepare,
        keep: verify.keep,
        carry: verify.carry,
        at: verify.at,
        max_disk: settings.judge.max_disk,
    }
}

/// The commands of the flags, or those of the settings, or those that the project's files suggest.
fn guardrails(
    args: &JudgeArgs,
    settings: &Settings,
    project: &Path,
    is_comparable: bool,
) -> Result<Vec<PlacedGuardrail>> {
    let named = |command: &String| Guardrail { command: command.clone(), ..Guardrail::default() };
    let mut guardrails: Vec<Guardrail> = args.guardrail.iter().map(named).collect();
    if guardrails.is_empty() {
        guardrails = settings.commands().cloned().collect();
    }
    if guardrails.is_empty() {
        let read = |name: &&str| Some(((*name).to_owned(), files::read_text(&project.join(name)).ok()?));
        let commands = detect::guardrails(&detect::FILES.iter().filter_map(read).collect());
        if commands.is_empty() {
            return Err(Error::new("there are no guardrails to run")
                .hint("name one: ralph judge --guardrail \"make test\"")
                .hint("or write them into the settings: ralph init"));
        }
        let list = commands.join(", ");
        super::warn(&format!("the settings have no guardrails; the project's files suggest: {list}"));
        guardrails = commands.iter().map(named).collect();
    }
    Ok(guardrails.into_iter().map(|guardrail| placed(guardrail, is_comparable)).collect())
}

/// Where a guardrail runs: one that may run only once runs in the judge.
fn placed(guardrail: Guardrail, is_comparable: bool) -> PlacedGuardrail {
    let kind = guardrail.kind.unwrap_or_else(|| GuardrailKind::of(&guardrail.command));
    let (in_place, in_judge) = match guardrail.runs_where {
        RunsWhere::Both => (is_comparable && guardrail.repeat, true),
        RunsWhere::Judge => (false, true),
        RunsWhere::Project => (is_comparable, false),
    };
    PlacedGuardrail { command: guardrail.command, kind, in_place, in_judge }
}

/// A path as git knows it, from the top of the repository.
fn relative(project: &Path, path: &Path) -> PathBuf {
    let top = project.ancestors().find(|dir| is_repository(dir)).unwrap_or(project);
    let whole = std::path::absolute(project.join(path)).unwrap_or_else(|_| project.join(path));
    whole.strip_prefix(top).map_or(whole.clone(), Path::to_path_buf)
}

pub(super) fn tell(step: &Step<'_>) {
    let text = match step {
        Step::Bringing => "bringing the judge to the commit".to_owned(),
        Step::Preparing(command) => format!("preparing the judge: {}", one_line(command)),
        Step::InPlace(command) => format!("in the working tree: {}", one_line(command)),
        Step::InJudge(command) => format!("in the judge: {}", one_line(command)),
    };
    // No one is left to tell if this fails.
    let _ = writeln!(anstream::stderr().lock(), "{text} ...");
}
