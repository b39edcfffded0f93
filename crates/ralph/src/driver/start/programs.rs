//! Finds the programs that a run needs, or says what to do about it.

use std::{
    env, io,
    path::{Path, PathBuf},
};

use ralph_core::{
    engine::plan::{CommitRule, Plan},
    setup::{MessageFrom, ScmTask, Setup},
};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use crate::project::git::{self, Git, Unfinished};

/// The agent's program.
pub(in crate::driver) fn find_agent(setup: &Setup) -> Result<PathBuf> {
    find_program(&setup.agent.command, &setup.project)
}

/// The program of an agent; a relative path is relative to the project.
pub(crate) fn find_program(command: &str, project: &Path) -> Result<PathBuf> {
    which::which_in(command, env::var_os("PATH"), project).map_err(|_| {
        let as_path = project.join(command);
        if command.contains('/') && as_path.is_file() {
            return Error::new(format!("the agent `{command}` is not executable"))
                .hint(format!("make it so: chmod +x {}", as_path.display()));
        }
        Error::new(format!("cannot find the agent `{command}`"))
            .hint("install it, or name another: --agent COMMAND, or for good: `ralph init`")
            .hint("`ralph doctor` shows which agents are installed")
    })
}

/// The program of the first who works and has one, with its name: the others stand in for who has none.
pub(super) fn find_first(plan: &Plan, setup: &Setup) -> Result<(Option<String>, PathBuf)> {
    let first = plan.roles.work.first().cloned();
    let found = find_agent(setup);
    if found.is_ok() {
        return found.map(|program| (first, program));
    }
    for name in plan.roles.work.iter().skip(1) {
        let agent = setup.agent_named(Some(name)).clone();
        if let Ok(program) = find_agent(&Setup { agent, ..setup.clone() }) {
            return Ok((Some(name.clone()), program));
        }
    }
    found.map(|program| (first, program))
}

/// The repository, when the plan wants git to commit into one.
pub(super) fn find_git(supervisor: &mut Supervisor, plan: &Plan, setup: &Setup) -> Result<Option<Git>> {
    let wants_git = setup.scm.as_ref().is_some_and(|scm| git::is_git(&scm.command));
    if plan.checks_tree() {
        return match Git::find(supervisor, &setup.project) {
            Err(error) if error.kind() == io::ErrorKind::Other => Err(does_not_work(setup, &error)),
            // Without a repository there is nothing to check, which is said when the run begins.
            found => Ok(found.ok().flatten()),
        };
    }
    if plan.commit == CommitRule::Never || !wants_git {
        return Ok(None);
    }
    let git = Git::find(supervisor, &setup.project).map_err(|error| match error.kind() {
        io::ErrorKind::Other => does_not_work(setup, &error),
        _ => Error::new(format!("cannot run git: {error}"))
            .hint("install git, or take \"scm\" out of the settings"),
    })?;
    let git = git.ok_or_else(|| {
        let project = setup.project.display();
        let error =
            Error::new(format!("the work is to be committed, but {project} is not in a git repository"))
                .hint("make it one: git init");
        match setup.message {
            MessageFrom::Agent => error.hint("or take \"scm\" out of the settings"),
            MessageFrom::Task => error,
        }
    })?;
    if git.missing_identity(supervisor)? {
        return Err(Error::new("git does not know who you are, so it could not commit")
            .hint("git config user.name \"Your Name\"")
            .hint("git config user.email you@example.com"));
    }
    for task in setup.scm.iter().flat_map(|scm| &scm.tasks) {
        let (words, verb) = (task.words(), task.verb());
        shell_words::split(words).map_err(|error| Error::new(format!("scm task `{words}`: {error}")))?;
        if matches!(task, ScmTask::Branch | ScmTask::PullRequest) {
            continue;
        }
        if !git.knows(supervisor, verb)? {
            let near = ["commit", "push"].into_iter().find(|known| 0.7 < strsim::jaro_winkler(known, verb));
            let error = Error::new(format!("scm.tasks: git has no command `{verb}`"));
            return Err(near
                .into_iter()
                .fold(error, |error, near| error.hint(format!("did you mean `{near}`?"))));
        }
    }
    Ok(Some(git))
}

/// What is there is no repository to git, which says why.
fn does_not_work(setup: &Setup, error: &io::Error) -> Error {
    Error::new(format!("git does not work in {}:\n{error}", setup.project.display()))
        .hint("see what it says to you: git status")
}

/// Refuses to commit into what the user has begun and not ended, and to let an agent do so whose commits are looked for.
pub(super) fn refuse_unfinished(plan: &Plan, git: Option<&Git>) -> Result<()> {
    let commits = plan.commit != CommitRule::Never || plan.checks_tree();
    let Some(unfinished) = git.filter(|_| commits).and_then(Git::unfinished) else {
        return Ok(());
    };
    let Unfinished { what, ends: [end, undo], .. } = unfinished;
    let error =
        Error::new(format!("{what} is in progress in this repository; a commit would become part of it"))
            .hint(format!("end it first: {end}"));
    Err(if end == undo { error } else { error.hint(format!("or undo it: {undo}")) })
}

/// Refuses to work where git would look elsewhere: what ralph and the agent commit would go there.
pub(super) fn refuse_elsewhere() -> Result<()> {
    let set = git::led_elsewhere();
    if set.is_empty() {
        return Ok(());
    }
    let (names, options) =
        (set.join(", "), set.iter().map(|name| format!("-u {name}")).collect::<Vec<_>>().join(" "));
    Err(Error::new(format!("the environment leads git to another repository: {names}"))
        .hint(format!("start ralph without: env {options} ralph ...")))
}

/// The SCM program must be there before the first turn is paid for.
pub(super) fn find_scm(plan: &Plan, setup: &Setup) -> Result<()> {
    let Some(scm) = setup.scm.as_ref().filter(|_| plan.commit != CommitRule::Never) else { return Ok(()) };
    which::which_in(&scm.command, env::var_os("PATH"), &setup.project).map(drop).map_err(|_| {
        Error::new(format!("cannot find `{}`, which the settings want for commits", scm.command))
            .hint("install it, or change scm.command in the settings")
    })
}
