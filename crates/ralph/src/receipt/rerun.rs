//! Runs the guardrails of a receipt once more: in a fresh clone, in a sandbox, with what the verifier trusts.

use std::{collections::BTreeSet, env, path::Path};

use ralph_checks::counts::{Counts, read_output};
use ralph_core::{
    containment::level::Choice,
    receipt::{
        policy::ReceiptPolicy,
        rerun::{self, Planned, Ran},
        statement::{Statement, TestCounts},
        verdict::{VerdictItem, VerdictTopic},
    },
    verify::rules::{CheckoutWhen, GuardrailKind},
};
use ralph_sandbox::self_test;
use ralph_sys::{
    error::{Error, Result},
    files,
    paths::project_dir,
    process::Supervisor,
};

use super::{repository::Commits, verify::Verified};
use crate::{
    judge::{self, NoResult, PlacedGuardrail, Step, What},
    project::git::Git,
    settings::{self, Guardrail, SandboxSettings, Settings},
    workspace::Wishes,
};

/// As much of an output is read for its tests.
const MAX_OUTPUT_LEN: u64 = 16 * 1024 * 1024;
/// The branch that everyone's work ends up in, as a clone knows it.
const TRUNK: &str = "refs/remotes/origin/HEAD";
/// The settings, below the project.
const SETTINGS: &str = ".ralph/settings.json";

/// How guardrails are run once more.
pub(crate) struct Rerun<'a> {
    pub(crate) project: &'a Path,
    /// The commit whose settings are trusted; nothing means what the run started from.
    pub(crate) base: Option<&'a str>,
    pub(crate) policy: Option<&'a ReceiptPolicy>,
    /// Variables that look like secrets and that the guardrails may have.
    pub(crate) allowed_env: &'a [String],
    /// Whether package managers may install.
    pub(crate) packages: bool,
}

/// Runs them and adds what follows. Returns whether a person interrupted it.
pub(crate) fn rerun(
    supervisor: &mut Supervisor,
    request: &Rerun<'_>,
    verified: &mut Verified,
    notice: &mut dyn FnMut(Step<'_>),
) -> Result<bool> {
    refuse_secrets(request.allowed_env)?;
    let git =
        Git::find(supervisor, request.project)?.ok_or_else(|| Error::new("there is no repository here"))?;
    let commits = Commits::of(git.top());
    let (Some(statement), Some(commit)) = (verified.statement.clone(), verified.commit.clone()) else {
        return Ok(false);
    };
    let wanted = SandboxSettings { packages: request.packages, ..SandboxSettings::default() };
    let mut sandbox = wanted.wanted("", Choice::Auto);
    // What the project's own settings open is not opened: the commit may have written them.
    sandbox.level = Choice::Level(self_test::choose(supervisor, &sandbox)?);
    let (trusted, items) = trusted(supervisor, &commits, request, &statement, &commit)?;
    verified.items.extend(items);
    let mut commands = request.policy.map(|policy| policy.guardrails.clone()).unwrap_or_default();
    commands.extend(trusted.commands().map(|it| it.command.clone()));
    let once: BTreeSet<String> =
        trusted.commands().filter(|it| !it.repeat).map(|it| it.command.clone()).collect();
    let (planned, items) = rerun::plan(&statement, &commands, &once);
    verified.items.extend(items);
    if planned.is_empty() {
        verified
            .items
            .push(VerdictItem::unknown(VerdictTopic::Rerun, "there is nothing to run again".to_owned()));
        return Ok(false);
    }
    let state = project_dir(request.project)?;
    fs_err::create_dir_all(&state)?;
    let folder = tempfile::Builder::new().prefix("verify-").tempdir_in(state)?;
    let request = judge::Request {
        project: request.project,
        guardrails: planned.iter().map(|it| placed(&it.command)).collect(),
        what: What::Commit { id: commit, is_head: false },
        with: Vec::new(),
        wishes: wishes(&trusted),
        checkout: CheckoutWhen::Require,
        sandbox,
        timeout: trusted.limits.gate_timeout,
        fresh: Some(folder.path()),
    };
    let ran = match judge::judge(supervisor, &request, notice)? {
        // Its logs go with the clone.
        Ok(judged) => results(&judged),
        Err(NoResult::Interrupted) => return Ok(true),
        Err(NoResult::NotJudged(why)) => {
            verified.items.push(VerdictItem::unknown(
                VerdictTopic::Rerun,
                format!("the commit cannot be cloned: {why}"),
            ));
            return Ok(false);
        }
    };
    for Planned { command, source } in &planned {
        let found = ran.iter().find(|it| it.command == *command);
        verified.items.extend(match found {
            Some(ran) => {
                rerun::compare(&statement, &Planned { command: command.clone(), source: *source }, ran)
            }
            None => vec![VerdictItem::unknown(VerdictTopic::Rerun, format!("`{command}` was not run"))],
        });
    }
    Ok(false)
}

/// Code of others runs: it must not see what opens doors.
fn refuse_secrets(allowed: &[String]) -> Result<()> {
    let names =
        env::vars_os().filter(|(_, value)| !value.is_empty()).filter_map(|(name, _)| name.into_string().ok());
    let secrets: Vec<String> = names.filter(|it| rerun::is_secret(it) && !allowed.contains(it)).collect();
    if secrets.is_empty() {
        return Ok(());
    }
    let unset: Vec<String> = secrets.iter().map(|name| format!("-u {name}")).collect();
    Err(Error::new(format!(
        "the environment has secrets that the guardrails would see: {}",
        secrets.join(", ")
    ))
    .hint(format!("run it without them: env {} ralph verify --rerun", unset.join(" ")))
    .hint(format!("or allow one: --allow-env {}", secrets[0])))
}

/// The settings that the verifier trusts: those of the commit that they name, or of what the run started from.
fn trusted(
    supervisor: &mut Supervisor,
    commits: &Commits,
    request: &Rerun<'_>,
    statement: &Statement,
    commit: &str,
) -> Result<(Settings, Vec<VerdictItem>)> {
    let mut items = Vec::new();
    if let Some(name) = request.base {
        commits.refuse_ambiguous(supervisor, name)?;
    }
    let base = match (request.base, &statement.predicate.base) {
        (Some(name), _) => Some(
            commits
                .revision(supervisor, name)?
                .ok_or_else(|| Error::new(format!("`{name}` is not a commit of this project")))?
                .commit,
        ),
        (None, Some(base)) => {
            let trunk = commits.revision(supervisor, TRUNK)?;
            // The author chose the base. One that everyone has is not the author's alone.
            if let Some(trunk) = trunk
                && !commits.is_in_history(supervisor, &base.commit, &trunk.commit)?
            {
                let name = base.commit.get(..12).unwrap_or(&base.commit);
                items.push(
                    VerdictItem::unknown(
                        VerdictTopic::Rerun,
                        format!("the base {name} is not in origin/HEAD: its guardrails are the author's"),
                    )
                    .hint("name the branch that you trust: --base origin/main"),
                );
            }
            Some(base.commit.clone())
        }
        (None, None) => None,
    };
    let Some(base) = base.filter(|base| base != commit || request.base.is_some()) else {
        return Ok((Settings::default(), items));
    };
    let prefix = request.project.strip_prefix(commits.top()).unwrap_or(Path::new(""));
    let path = prefix.join(SETTINGS);
    let Some(bytes) = commits.file(supervisor, &base, &path.to_string_lossy())? else {
        return Ok((Settings::default(), items));
    };
    let inspected = settings::of_bytes(&bytes);
    for problem in &inspected.problems {
        items.push(VerdictItem::unknown(
            VerdictTopic::Rerun,
            format!("the settings of the base cannot be read: {problem}"),
        ));
    }
    Ok((inspected.loaded.settings, items))
}

/// Only in the clone: there is no working tree to compare with.
fn placed(command: &str) -> PlacedGuardrail {
    let guardrail = Guardrail { command: command.to_owned(), ..Guardrail::default() };
    let kind = GuardrailKind::of(command);
    PlacedGuardrail { command: guardrail.command, kind, in_place: false, in_judge: true }
}

fn wishes(settings: &Settings) -> Wishes {
    let verify = settings.verify.clone();
    Wishes { prepare: verify.prepare, keep: verify.keep, carry: Vec::new(), at: verify.at, max_disk: None }
}

/// How the guardrails ended.
fn results(judged: &judge::Judged) -> Vec<Ran> {
    let rows = judged.guardrails.iter();
    rows.filter_map(|row| {
        let ended = row.in_judge.as_ref()?;
        let output = files::read(&ended.log, MAX_OUTPUT_LEN).unwrap_or_default();
        let counts = read_output(&output).counts;
        let mut total = Counts::default();
        for counts in counts.values() {
            total.add(*counts);
        }
        let tests = (!counts.is_empty()).then(|| TestCounts::from(total));
        Some(Ran { command: row.command.clone(), code: ended.code, tests })
    })
    .collect()
}
