//! `ralph review`: one turn of a reviewer on a range of commits, with a verdict.

use std::path::Path;

use clap::Args;
use ralph_core::{
    engine::presets,
    prompt::message::first_line,
    review::{
        ReviewRange,
        prompt::{MAX_DIFF_LEN, ReviewSubject, review},
    },
    setup::{PromptSource, Setup, TaskFrom},
    verify::rules::CheckoutWhen,
};
use ralph_sys::{
    error::{Error, Result},
    hash::fnv,
    process::Supervisor,
};
use serde_json::{Map, json};

use super::loop_args::{LoopArgs, setup, tune};
use crate::{
    driver::Start,
    journal::{self, run_dir::RunDir},
    project::git::Git,
    settings::Loaded,
};

/// The branches that work usually is for.
const TARGETS: [&str; 5] = ["@{upstream}", "origin/main", "origin/master", "main", "master"];

/// Ask another agent to review a range of commits
///
/// The first agent of the role `review` approves or asks for changes, with comments on files and lines. If it changes
/// files, ralph restores them. Exits with 0 if it approves, with 3 if it asks for changes, or with 4 if it gives no
/// verdict.
///
/// Example: ralph review main..HEAD --reviewer codex
#[derive(Args, Debug)]
pub(super) struct ReviewArgs {
    /// The commits, as git names them: A..B, or A for everything since A [default: what the last run made, or else the branch]
    range: Option<String>,

    #[command(flatten)]
    common: LoopArgs,
}

/// Runs the turn.
pub(super) fn main(args: &ReviewArgs, project: &Path) -> Result<u8> {
    let loaded = load(&args.common, project)?;
    let mut supervisor = Supervisor::new()?;
    let found = subject(&mut supervisor, args.range.as_deref(), project);
    supervisor.release();
    let (range, subject) = found?;
    let reporters = args.common.reporters(&loaded, project)?;
    let task = format!("review {}", range.name);
    let mut plan = args.common.limit(tune(presets::review(range), &loaded.settings));
    plan.checkout = CheckoutWhen::Never;
    plan.limits.max_iterations = 1;
    let mark = subject.mark(fnv(format!("{}{}", subject.task, subject.diff).as_bytes()));
    let setup = Setup {
        task: TaskFrom::Fixed(task),
        scm: None,
        ..setup(&loaded, PromptSource::Text(review(&subject, &mark)), project)
    };
    let (drafts, warnings) = (Vec::new(), Vec::new());
    args.common.run(Start { plan, setup, run: None, drafts, reporters, warnings, settled: None })
}

/// The settings. A review needs no agent but the reviewer: where none is named for the work, it is the one that is named.
fn load(args: &LoopArgs, project: &Path) -> Result<Loaded> {
    args.load(project, Map::new()).or_else(|error| {
        let Some(reviewer) = args.only_reviewer() else { return Err(error) };
        let layer = Map::from_iter([("agent".to_owned(), json!({"command": reviewer}))]);
        args.load(project, layer).map_err(|_| error)
    })
}

/// What is reviewed, and the commits that it is.
fn subject(
    supervisor: &mut Supervisor,
    named: Option<&str>,
    project: &Path,
) -> Result<(ReviewRange, ReviewSubject)> {
    let git = Git::find(supervisor, project)?
        .ok_or_else(|| Error::new(format!("there is no git repository in {}", project.display())))?;
    let last = RunDir::of_project(project)?.into_iter().rev().find_map(|run| {
        let run = journal::fold(&run.journal()).ok()?.run;
        run.plan.review.is_none().then_some(run)
    });
    let began_at = last.as_ref().and_then(|run| run.memory.first_head.clone());
    let range = match named {
        Some(named) => of_words(supervisor, &git, named)?,
        None => usual(supervisor, &git, began_at.as_deref())?,
    };
    let commits = git.between(supervisor, &range.from, &range.to)?;
    let diff = git.patch(supervisor, &range.from, &range.to, 2 * MAX_DIFF_LEN)?;
    if diff.trim().is_empty() {
        return Err(Error::new(format!("nothing differs in {}", range.name))
            .hint("name the commits: ralph review main..HEAD"));
    }
    // The task of the run that made them; else their own words.
    let of_run = last.filter(|run| run.memory.first_head.as_ref() == Some(&range.from));
    let own_words = || {
        let lines = commits.iter().map(|(id, subject)| format!("{id} {}", first_line(subject)));
        lines.collect::<Vec<_>>().join("\n")
    };
    let task = of_run.and_then(|run| match run.started.setup {
        Setup { prompt: PromptSource::Text(text), .. } | Setup { task: TaskFrom::Fixed(text), .. } => {
            Some(text)
        }
        _ => None,
    });
    let task = task.unwrap_or_else(own_words);
    let more = (MAX_DIFF_LEN < diff.len()).then(|| format!("git diff {} {}", range.from, range.to));
    let change = range.name.clone();
    Ok((range, ReviewSubject { task, change, diff, more, ..ReviewSubject::default() }))
}

/// The commits that the user names.
fn of_words(supervisor: &mut Supervisor, git: &Git, named: &str) -> Result<ReviewRange> {
    let mut commit = |word: &str| {
        let word = if word.is_empty() { "HEAD" } else { word };
        git.commit_of(supervisor, word).map_err(|_| {
            Error::new(format!("git knows no commit `{word}`"))
                .hint("name the commits: ralph review main..HEAD")
        })
    };
    let (from, to) = match named.split_once("...").or_else(|| named.split_once("..")) {
        Some((from, to)) => (commit(from)?, commit(to)?),
        None => (commit(named)?, commit("HEAD")?),
    };
    let from =
        if named.contains("...") { git.merge_base(supervisor, &from, &to)?.unwrap_or(from) } else { from };
    Ok(ReviewRange { name: named.to_owned(), from, to })
}

/// What the last run made, or else the branch.
fn usual(supervisor: &mut Supervisor, git: &Git, began_at: Option<&str>) -> Result<ReviewRange> {
    let nothing = || {
        Error::new("there is nothing to review: no run made commits, and the branch has none of its own")
            .hint("name the commits: ralph review HEAD~1")
    };
    let to = git.head(supervisor)?.ok_or_else(nothing)?;
    if let Some(from) = began_at.filter(|from| *from != to)
        && git.is_in_history(supervisor, from, &to)?
    {
        return Ok(ReviewRange { name: "what the last run made".to_owned(), from: from.to_owned(), to });
    }
    for target in TARGETS {
        let Ok(commit) = git.commit_of(supervisor, target) else { continue };
        let from = git.merge_base(supervisor, &commit, &to)?;
        if let Some(from) = from.filter(|from| *from != to) {
            return Ok(ReviewRange { name: format!("{target}..HEAD"), from, to });
        }
    }
    Err(nothing())
}
