//! `ralph stories import`: takes over the task list of another tool, and gives back what is done.
//!
//! Invariant: a list that is there is copied before it changes, and nothing is written when a line is not understood.

mod issues;
mod source;
mod write;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ralph_core::{
    imports::{Grouping, Imported, SourceKind, Ticked, sources, tick},
    issue::query::IssueQuery,
    stories::Story,
};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{Readers, Root},
};
use serde_json::json;

use self::{
    source::ImportSource,
    write::{ImportPlan, WrittenList},
};
use super::{PlaceArgs, place::StoriesPlace, step::turn};
use crate::{
    cli::{issue_flags::TrustFlags, print, print_lines},
    project::story_files::TASKS,
    term::fit::one_line,
};

/// Make stories of the task list of another tool
///
/// Reads tasks.md of Spec Kit, the folder of an `OpenSpec` change, prd.json of other loops, or any Markdown file with
/// check boxes; ralph recognizes which it is. What is done there must pass a review here. If there is a task list
/// already, ralph adds the new stories at its end and keeps a copy of the old file.
///
/// Example: ralph stories import specs/001-search/tasks.md --dry-run
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct ImportArgs {
    /// The file or the folder to read
    #[arg(required_unless_present = "issues")]
    file: Option<PathBuf>,

    /// Make stories of issues of the repository on GitHub instead: `label:ready`, or numbers
    ///
    /// The words can be label:, assignee:, creator: and milestone:; an open issue must match all of them. `gh` reads
    /// the issues. Ralph leaves out an issue if its author is not an owner, member or collaborator, unless
    /// --trust-author names the author or the settings have a sandbox.
    #[arg(long, value_name = "QUERY", value_parser = IssueQuery::parse, conflicts_with_all = ["file", "kind", "by", "tick", "skip_done"])]
    issues: Option<IssueQuery>,

    #[command(flatten)]
    trust: TrustFlags,

    /// What the file is [default: what it looks like]
    #[arg(long = "as", value_name = "KIND", value_parser = kind)]
    kind: Option<SourceKind>,

    /// What becomes one story: every task, or every heading with the tasks below it as criteria
    #[arg(long, value_enum, default_value = "task", value_name = "UNIT")]
    by: By,

    /// Leave out what is done there, instead of having it reviewed
    #[arg(long)]
    skip_done: bool,

    /// Begin a new list, with a copy of the old one beside it
    #[arg(long)]
    replace: bool,

    /// The other way round: tick in the file what is done in ralph's list
    #[arg(long, conflicts_with_all = ["by", "skip_done", "replace"])]
    tick: bool,

    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Task,
    Section,
}

fn kind(name: &str) -> std::result::Result<SourceKind, String> {
    let known = SourceKind::NAMES.map(|(name, _)| name).join(", ");
    let found = SourceKind::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, kind)| kind);
    found.ok_or_else(|| format!("expected one of: {known}"))
}

/// Imports, or ticks.
pub(super) fn main(args: &ImportArgs, project: &Path) -> Result<u8> {
    let place = StoriesPlace::of(&args.place, project)?;
    if turn(&place)?.0.is_some() {
        return Err(Error::new("only a person imports stories").hint("add a story to the list itself"));
    }
    if let Some(query) = &args.issues {
        return issues::import(args, query, &place);
    }
    let file = args.file.as_deref().unwrap_or(Path::new("."));
    let source = ImportSource::find(file, &place.project, args.kind)?;
    if args.tick {
        return give_back(args, &place, &source);
    }
    if !args.dry_run {
        place.settle()?;
    }
    let grouping = match args.by {
        By::Task => Grouping::Task,
        By::Section => Grouping::Section,
    };
    let mut imported = source.read(grouping)?;
    let done = if args.skip_done { imported.leave_out_done() } else { 0 };
    if imported.stories.is_empty() {
        return Err(Error::new(format!("everything in {} is done", source.shown)));
    }
    finish(args, &Import { source: &source, imported: &imported, done }, &place)
}

/// Writes what was read, and says so.
fn finish(args: &ImportArgs, import: &Import<'_>, place: &StoriesPlace) -> Result<u8> {
    let plan = ImportPlan::new(place, import.imported, import.source, args.replace)?;
    let written = if args.dry_run { plan.foreseen() } else { plan.write()? };
    tell(args, import, &written, place)?;
    Ok(0)
}

/// What was read.
struct Import<'a> {
    source: &'a ImportSource,
    imported: &'a Imported,
    /// How many were left out because they are done.
    done: usize,
}

fn tell(args: &ImportArgs, import: &Import<'_>, written: &WrittenList, place: &StoriesPlace) -> Result<()> {
    let Import { source, imported, done } = import;
    let kind = source.kind.map_or("issues", SourceKind::name);
    if args.json {
        let story = |(id, story): (&String, &ralph_core::imports::ImportedStory)| json!({"id": id, "title": story.title, "line": story.line, "done": story.is_done, "dependsOn": story.depends_on});
        let object = json!({
            "kind": kind,
            "file": source.shown,
            "dryRun": args.dry_run,
            "stories": written.ids.iter().zip(&written.stories).map(story).collect::<Vec<_>>(),
            "known": written.known,
            "leftOut": imported.left_out,
            "done": done,
            "written": written.files,
            "copy": written.copy,
        });
        return print(&format!("{object}\n"));
    }
    let mut lines =
        vec![format!("{}: {kind}, {}", source.shown, count(written.ids.len(), "new story", "new stories"))];
    for (id, story) in written.ids.iter().zip(&written.stories) {
        let state = if story.is_done { " (to be reviewed)" } else { "" };
        lines.push(format!("  {id}  {}{state}", one_line(&story.title)));
    }
    if !written.known.is_empty() {
        lines.push(format!("{} already in the list", count(written.known.len(), "story is", "stories are")));
    }
    if 0 < *done {
        lines.push(format!("{} left out: done there", count(*done, "task", "tasks")));
    }
    lines.extend(imported.left_out.iter().map(|text| format!("left out: {}", one_line(text))));
    let verb = if args.dry_run { "would write" } else { "written" };
    lines.extend(written.files.iter().map(|file| format!("{verb}: {file}")));
    lines.extend(written.copy.iter().map(|copy| format!("{verb}: {copy}, the list from before")));
    if !args.dry_run && !written.files.is_empty() {
        let tasks = place.shown(TASKS);
        lines.push(format!(
            "Next: read {tasks}, then: ralph stories check && git add -A && git commit && ralph stories"
        ));
    }
    print_lines(&format!("{}\n", lines.join("\n")))
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Ticks in the source what is done in the list.
fn give_back(args: &ImportArgs, place: &StoriesPlace, source: &ImportSource) -> Result<u8> {
    let (list, _) = place.judged_tasks()?;
    let known = sources(list.text());
    let of_source: Vec<_> = known.into_iter().filter(|(_, from)| from.file == source.shown).collect();
    if of_source.is_empty() {
        return Err(Error::new(format!("no story in {} comes from {}", place.shown(TASKS), source.shown))
            .hint(format!("import it first: ralph stories import {}", source.shown)));
    }
    let review = place.review;
    let is_done = |id: &str| list.list().story(id).is_some_and(|story: &Story| story.is_done(review));
    let done: Vec<String> =
        of_source.into_iter().filter(|(id, _)| is_done(id)).flat_map(|(_, from)| from.tasks).collect();
    let Ticked { text, ticked, missing } =
        tick(source.read_as(), &source.text, &done).map_err(|bad| source.refuse(&[bad]))?;
    if !args.dry_run && !ticked.is_empty() {
        let root = Root::around(&place.project, &source.path);
        root.replace(&source.path, text.as_bytes(), Readers::AsBefore)
            .context(format!("cannot write {}", source.shown))?;
    }
    if args.json {
        let lines: Vec<_> = ticked.iter().map(|(line, text)| json!({"line": line, "text": text})).collect();
        let object =
            json!({"file": source.shown, "dryRun": args.dry_run, "ticked": lines, "missing": missing});
        print(&format!("{object}\n"))?;
        return Ok(0);
    }
    let verb = if args.dry_run { "would tick" } else { "ticked" };
    let lines =
        ticked.iter().map(|(line, text)| format!("{}:{line}: {verb}: {}\n", source.shown, one_line(text)));
    let lines: String = lines.collect();
    for task in &missing {
        crate::cli::warn(&format!(
            "{}: `{}` is done, but not in the file any more",
            source.shown,
            one_line(task)
        ));
    }
    let nothing = format!("{}: nothing to tick\n", source.shown);
    print_lines(if lines.is_empty() { &nothing } else { &lines })?;
    Ok(0)
}
