//! `ralph stories archive`: puts finished work away and begins with fresh files.
//!
//! Invariant: a file is copied before the fresh one takes its place, so nothing is lost whatever happens meanwhile.

use std::{
    io,
    path::{Path, PathBuf},
};

use clap::Args;
use jiff::{Timestamp, Zoned};
use ralph_core::stories::{Review, Statistics, TaskList, read, status_name};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{MAX_TEXT_LEN, Readers, Root},
    process::Supervisor,
};

use super::{
    PlaceArgs,
    place::StoriesPlace,
    templates::{Feature, branch, files},
};
use crate::{
    cli::print_lines,
    project::{
        archived,
        git::{self, Git},
        lock,
        story_files::{PRD, PROGRESS, PROMPT, TASKS},
    },
};

/// Put the PRD, the task list and the progress log away and begin with fresh ones
///
/// They go into ralph-archive/DATE-BRANCH/ with a summary, and the move is committed. Refused while a loop is
/// running.
///
/// Example: ralph stories archive --label search
#[derive(Args, Debug)]
pub(super) struct ArchiveArgs {
    /// Name the folder like this instead of after the branch
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Archives and commits.
pub(super) fn main(args: &ArchiveArgs, project: &Path) -> Result<u8> {
    let place = StoriesPlace::of(&args.place, project)?;
    place.settle()?;
    let text = place.tasks()?;
    let mut supervisor = Supervisor::new()?;
    let git = Git::find(&mut supervisor, &place.project)?;
    if let Some(git) = &git
        && git.missing_identity(&mut supervisor)?
    {
        return Err(Error::new("git does not know who you are, so it could not commit")
            .hint("git config user.name \"Your Name\"")
            .hint("git config user.email you@example.com"));
    }
    let _tree = lock::take(&place.project, git.as_ref().map(Git::top))?;
    let list = read(&text).list;
    let name = folder_name(args.label.as_deref(), &list, &place);
    let folder = PathBuf::from("ralph-archive").join(&name);
    put_away(&place, &folder)?;
    let summary = summary(&name, &list, &place);
    Root::new(&place.project)
        .replace(folder.join("summary.md"), summary.as_bytes(), Readers::AsBefore)
        .context("cannot write the summary")?;
    archived::note(&place.project, &place.name, Timestamp::now())?;
    renew(&place)?;
    let committed = match &git {
        Some(git) => commit(&mut supervisor, git, &place, &folder, &name)?,
        None => false,
    };
    let (done, all) = counts(&list, place.review);
    let fate = if committed { "committed" } else { "not committed: this is not a git repository" };
    print_lines(&format!("{} ({done} of {all} stories done, {fate})\n", folder.display()))?;
    Ok(0)
}

/// `2026-11-16-ralph-search`, with a number behind it where that is taken.
fn folder_name(label: Option<&str>, list: &TaskList, place: &StoriesPlace) -> String {
    let called = branch(label.unwrap_or(&list.branch_name)).replace('/', "-");
    let name = format!("{}-{called}", Zoned::now().strftime("%Y-%m-%d"));
    let is_free = |name: &String| !place.project.join("ralph-archive").join(name).exists();
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}

/// Copies what there is.
fn put_away(place: &StoriesPlace, folder: &Path) -> Result<()> {
    let archive = Root::new(&place.project);
    for file in [PRD, TASKS, PROGRESS, PROMPT] {
        let copied = match place.root().open(place.path(file)) {
            Ok(mut from) => archive
                .replace_with(folder.join(file), Readers::AsBefore, |to| io::copy(&mut from, to).map(drop)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        copied.context(format!("cannot archive {}", place.shown(file)))?;
    }
    Ok(())
}

/// Fresh files; the prompt stays as the project has made it.
fn renew(place: &StoriesPlace) -> Result<()> {
    for (file, text) in files(&Feature { project: &place.project, name: None, verify: &place.guardrails }) {
        if file == PROMPT && place.path(PROMPT).exists() {
            continue;
        }
        place.write(file, &text)?;
    }
    Ok(())
}

fn commit(
    supervisor: &mut Supervisor,
    git: &Git,
    place: &StoriesPlace,
    folder: &Path,
    name: &str,
) -> Result<bool> {
    let (mine, archive) = (place.project.join(&place.name), place.project.join(folder));
    let changes = git.changes(supervisor)?.into_iter().filter(|change| {
        let path = git.top().join(&change.path);
        path.starts_with(&mine) || path.starts_with(&archive)
    });
    let changes: Vec<git::Change> = changes.collect();
    if changes.is_empty() {
        return Ok(false);
    }
    match git.commit(supervisor, &changes, None, &format!("chore: archive {name}"), &mut Ok)? {
        Ok(_) => Ok(true),
        Err(refusal) => Err(Error::new(format!(
            "the files are in {}, but git could not commit them: {refusal}",
            folder.display()
        ))
        .hint("fix what git reports and commit them yourself")),
    }
}

fn counts(list: &TaskList, review: Review) -> (usize, usize) {
    (list.user_stories.iter().filter(|story| story.is_done(review)).count(), list.user_stories.len())
}

fn summary(name: &str, list: &TaskList, place: &StoriesPlace) -> String {
    let progress = place.root().read(place.path(PROGRESS), MAX_TEXT_LEN).unwrap_or_default();
    let progress = String::from_utf8_lossy(&progress).into_owned();
    let started = progress.lines().find_map(|line| line.strip_prefix("Started:")).unwrap_or("unknown").trim();
    let (done, all) = counts(list, place.review);
    let stories = list.user_stories.iter().map(|story| {
        let mark = if story.is_done(place.review) { "x" } else { " " };
        let (id, title, count) = (&story.id, &story.title, story.review_count);
        format!("- [{mark}] {id}: {title} ({}, reviewed {count} times)\n", status_name(story.review_status))
    });
    let reviews = Statistics::of(list, place.cap).lines().into_iter().map(|line| format!("- {line}\n"));
    let reviews: String = reviews.collect();
    let reviews = if reviews.is_empty() { reviews } else { format!("\n## Reviews\n\n{reviews}") };
    format!(
        "# {name}\n\n- Project: {}\n- Branch: {}\n- Stories: {done} of {all} done\n- From {started} to {}\n\n## \
         Stories\n\n{}{reviews}",
        list.project,
        list.branch_name,
        Zoned::now().strftime("%Y-%m-%d"),
        stories.collect::<String>(),
    )
}
