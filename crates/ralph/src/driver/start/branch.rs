//! Makes the branch that a run works on, where the settings ask for one and the user is on a branch that others build on.

use std::ffi::OsString;

use jiff::Zoned;
use ralph_core::{
    engine::plan::{CommitRule, Plan},
    pull_request::branch::{BranchStep, BranchValues, USUAL, free, is_kept, named, step},
    setup::{PromptSource, Scm, ScmTask, Setup, TaskFrom},
};
use ralph_sys::{
    calls::{looking_git, refusal, succeeded},
    error::{Error, Result},
    files,
    process::Supervisor,
};

use super::Preflight;
use crate::{
    forge,
    project::git::{Git, NO_BRANCH, is_git},
    report::streams::say,
};

/// Most of what git says.
const MAX_OUTPUT_LEN: usize = 1024 * 1024;

/// Makes it, if it is to be made.
pub(super) fn make(preflight: &mut Preflight, plan: &Plan, setup: &Setup) -> Result<()> {
    let Some(scm) = setup.scm.as_ref().filter(|scm| scm.is_proposed() && plan.commit != CommitRule::Never)
    else {
        return Ok(());
    };
    if !is_git(&scm.command) {
        return Err(Error::new(format!("scm.tasks: `branch` and `pr` need git, not `{}`", scm.command)));
    }
    let Preflight { git: Some(git), supervisor, .. } = preflight else { return Ok(()) };
    let current = git.checked_out().filter(|branch| branch != NO_BRANCH);
    let kept = kept(supervisor, git, scm);
    let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
    if !scm.tasks.contains(&ScmTask::Branch) {
        let is_told = scm.base.as_ref().is_some_and(|base| current.as_ref() != Some(base));
        return match current {
            Some(branch) if is_kept(&branch, &kept) && !is_told => Err(Error::new(format!(
                "`{branch}` is checked out, and a pull request needs a branch of its own"
            ))
            .hint("add \"branch\" to scm.tasks, or make one: git switch -c NAME")),
            Some(_) => Ok(()),
            None => Err(Error::new("no branch is checked out, and a pull request needs one")
                .hint("add \"branch\" to scm.tasks, or make one: git switch -c NAME")),
        };
    }
    let text = task(setup);
    let date = Zoned::now().strftime("%Y-%m-%d").to_string();
    let values = BranchValues {
        task: &text,
        issue: setup.issue.as_ref().map(|issue| issue.number),
        preset: &plan.preset,
        date: &date,
    };
    let template = scm.branch.as_deref().unwrap_or(USUAL);
    let wanted = named(template, &values).map_err(|error| Error::new(format!("scm.branch: {error}")))?;
    let BranchStep::Make(wanted) = step(current.as_deref(), &kept, wanted) else { return Ok(()) };
    let taken = taken(supervisor, git, setup);
    let name = free(&wanted, |name| taken.iter().any(|it| it == name || it.starts_with(&format!("{name}/"))));
    let args = ["switch", "--quiet", "--create", &name].map(OsString::from).to_vec();
    let made = supervisor.capture(looking_git(git.top(), args), MAX_OUTPUT_LEN)?;
    if !succeeded(&made) {
        return Err(Error::new(format!("cannot make the branch `{name}`: {}", refusal(&made))));
    }
    say(&format!("Working on the new branch {name}\n"));
    Ok(())
}

/// What the branch is named after.
fn task(setup: &Setup) -> String {
    let text = match (&setup.issue, &setup.prompt, &setup.task) {
        (Some(issue), _, _) => issue.title.clone(),
        (None, PromptSource::Text(text), _) => text.clone(),
        (None, PromptSource::File(path), _) => files::read_text(path).unwrap_or_default(),
        (None, PromptSource::Template(_), TaskFrom::Fixed(task)) => task.clone(),
        (None, PromptSource::Template(_), TaskFrom::Prompt | TaskFrom::PlanFile) => String::new(),
    };
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// Branches that others build on, beside the usual ones.
fn kept(supervisor: &mut Supervisor, git: &Git, scm: &Scm) -> Vec<String> {
    let heads = lines(supervisor, git, &["for-each-ref", "--format=%(symref:short)", "refs/remotes/*/HEAD"]);
    let of_remotes = heads.into_iter().filter_map(|head| Some(head.split_once('/')?.1.to_owned()));
    of_remotes.chain(scm.base.clone()).collect()
}

/// The names of branches, here and where they are pushed to.
fn taken(supervisor: &mut Supervisor, git: &Git, setup: &Setup) -> Vec<String> {
    let mut names = lines(supervisor, git, &["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"]);
    names.extend(lines(supervisor, git, &["for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes"]));
    if let Some(remote) = forge::remote_name(supervisor, &setup.project) {
        // One that does not answer refuses the push later, if the name is taken there.
        let there = lines(supervisor, git, &["ls-remote", "--heads", &remote]);
        names.extend(there.iter().filter_map(|line| Some(line.split_once("refs/heads/")?.1.to_owned())));
    }
    names
}

fn lines(supervisor: &mut Supervisor, git: &Git, args: &[&str]) -> Vec<String> {
    let spec = looking_git(git.top(), args.iter().map(OsString::from).collect())
        .within(std::time::Duration::from_secs(20));
    let captured = supervisor.capture(spec, MAX_OUTPUT_LEN).ok().filter(succeeded);
    let out =
        captured.map(|captured| String::from_utf8_lossy(&captured.out).into_owned()).unwrap_or_default();
    out.lines().map(str::to_owned).filter(|line| !line.is_empty()).collect()
}
