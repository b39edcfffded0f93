//! `ralph fleet`: the stories of the list, as far as what they depend on has landed.

use std::{ffi::OsString, path::Path};

use ralph_core::{
    fleet::{FleetItem, FleetWork, Pick},
    stories::{Kind, Review, TaskFile, TaskList},
};
use ralph_sys::{
    calls::{looking_git, succeeded},
    error::{Error, Result},
    files,
    process::Supervisor,
};

use super::{FleetLoopArgs, begin::Work};
use crate::project::story_files::TASKS;

/// Begins.
pub(super) fn main(args: &FleetLoopArgs, project: &Path) -> Result<u8> {
    let loaded = args.load(project)?;
    let stories = &loaded.settings.stories;
    let file = Path::new(&stories.ralph_dir).join(TASKS);
    let shown = file.display();
    let text = files::read_text(&project.join(&file)).map_err(|_| {
        Error::new(format!("{shown} not found"))
            .hint("write the files to fill in: ralph stories init --name FEATURE")
            .hint("or give a prompt: ralph fleet run \"...\"")
    })?;
    must_be_committed(project, &file)?;
    let review = if stories.skip_review { Review::Skipped } else { Review::Required };
    let tasks = TaskFile::new(text);
    let problems = tasks.problems(review);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(|it| format!("{shown}:{}: {it}", it.line)).collect();
        return Err(Error::new(lines.join("\n")).hint("`ralph stories check` shows whether it is valid"));
    }
    let account = ralph_agents::adapter(&loaded.settings.agent.command).name();
    let items = items(tasks.list(), review, account);
    if items.is_empty() {
        return Err(Error::new(format!("no story of {shown} is open for an agent")));
    }
    let work = Work {
        items,
        pick: Pick::First,
        ralph_dir: Some(stories.ralph_dir.clone()),
        verify_commands: tasks.list().verify_commands.clone(),
    };
    args.begin(&loaded, project, work)
}

/// What is open, the most important first.
fn items(list: &TaskList, review: Review, account: &str) -> Vec<FleetItem> {
    let mut open: Vec<_> = list
        .user_stories
        .iter()
        .filter(|story| !story.is_done(review) && story.kind == Kind::Agent)
        .collect();
    open.sort_by(|one, other| one.priority.total_cmp(&other.priority));
    let is_done = |id: &str| list.story(id).is_some_and(|story| story.is_done(review));
    let item = |story: &&ralph_core::stories::Story| FleetItem {
        id: story.id.clone(),
        title: story.title.clone(),
        after: story.depends_on.iter().filter(|id| !is_done(id)).cloned().collect(),
        touches: story.touches.clone(),
        labels: story.labels.clone(),
        work: FleetWork::Story,
        account: account.to_owned(),
        ..FleetItem::default()
    };
    open.iter().map(item).collect()
}

/// Lanes begin with what is committed, and landings commit the list.
fn must_be_committed(project: &Path, file: &Path) -> Result<()> {
    let mut supervisor = Supervisor::new()?;
    let mut call = |words: &[&str]| {
        let words = words.iter().map(OsString::from).chain([file.into()]).collect();
        supervisor.capture(looking_git(project, words), 64 * 1024)
    };
    let is_known = succeeded(&call(&["ls-files", "--error-unmatch", "--"])?);
    let is_clean = call(&["status", "--porcelain", "--"])?.out.is_empty();
    supervisor.release();
    if is_known && is_clean {
        return Ok(());
    }
    Err(Error::new(format!("{} is not committed", file.display()))
        .hint("lanes begin with what is committed, and every landing commits the list"))
}
