//! `ralph stories list`: how far every story is.

use std::path::Path;

use clap::Args;
use ralph_core::stories::{Kind, Review, Statistics, Status, Story, TaskList, blocked, read, select};
use ralph_sys::error::{Error, Result};
use serde_json::{Value, json};

use super::{
    PlaceArgs,
    place::{StoriesPlace, undone},
};
use crate::{
    cli::{display::settings_of, print, print_lines},
    project::story_files::TASKS,
    report::style::Marks,
    term::{
        Stream, Width,
        fit::{columns, fit, one_line},
    },
};

/// Show the stories: how far each is, how often it was reviewed, what it waits for
///
/// If a run was killed during a turn, this command leaves out the changes that the turn was not allowed to make.
///
/// Example: ralph stories list --json
#[derive(Args, Debug)]
pub(super) struct StoryListArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Prints the table; when every story is done, also what the reviews say.
pub(super) fn main(args: &StoryListArgs, project: &Path) -> Result<u8> {
    let place = StoriesPlace::of(&args.place, project)?;
    let (tasks, judged) = place.judged_tasks()?;
    for line in judged.iter().flat_map(undone) {
        crate::cli::warn(&line);
    }
    let reading = read(tasks.text());
    if let Some(problem) = reading.problems.first().filter(|_| reading.list.user_stories.is_empty()) {
        return Err(Error::new(format!("{}:{}: {problem}", place.shown(TASKS), problem.line))
            .hint("`ralph stories check` shows everything that is wrong"));
    }
    if args.json {
        print(&format!("{}\n", as_json(&reading.list, &place)))?;
        return Ok(0);
    }
    for problem in &reading.problems {
        crate::cli::warn(&format!("{}:{}: {problem}", place.shown(TASKS), problem.line));
    }
    print_lines(&table(&reading.list, &place, Width::of(Stream::Out).room()))?;
    Ok(0)
}

fn as_json(list: &TaskList, place: &StoriesPlace) -> Value {
    let stories = list.user_stories.iter().map(|story| {
        json!({
            "id": story.id,
            "title": story.title,
            "status": word(story, place.review),
            "priority": story.priority,
            "passes": story.passes,
            "reviewStatus": story.review_status,
            "reviews": story.review_count,
            "dependsOn": story.depends_on,
            "kind": story.kind,
            "blocked": blocked(list, story, place.review),
        })
    });
    let is_complete = list.is_complete(place.review);
    let statistics = is_complete.then(|| Statistics::of(list, place.cap));
    json!({
        "stories": stories.collect::<Vec<_>>(),
        "complete": is_complete,
        "next": select(list, place.review).ok().map(|it| json!({"story": it.id, "mode": it.mode.name()})),
        "reviewCap": place.cap,
        "statistics": statistics.map(|it| json!({"stories": it.stories, "says": it.lines()})),
    })
}

/// How far a story is, in a word or two.
fn word(story: &Story, review: Review) -> &'static str {
    match (review, story.review_status) {
        (_, Some(Status::Approved)) => "approved",
        (Review::Skipped, _) if story.passes => "passes",
        (_, Some(Status::NeedsReview)) => "needs review",
        (_, Some(Status::ChangesRequested)) => "changes requested",
        (_, None) => "open",
    }
}

/// The columns of the table; the title is the last.
const HEADS: [&str; 5] = ["STORY", "STATUS", "REVIEWS", "AFTER", "TITLE"];

/// A title with less room than this has a line of its own.
const MIN_TITLE: usize = 16;

fn table(list: &TaskList, place: &StoriesPlace, room: Option<usize>) -> String {
    let marks = Marks::of(settings_of(&place.project).output.emoji);
    let room = room.unwrap_or(usize::MAX);
    // Names of any length come from people and agents.
    let name = |text: &str| fit(&one_line(text), (room / 4).max(HEADS[3].len())).into_owned();
    let rows: Vec<[String; 5]> = list
        .user_stories
        .iter()
        .map(|story| {
            let waits = blocked(list, story, place.review).map(|why| format!(" ({why})")).unwrap_or_default();
            [
                name(&story.id),
                word(story, place.review).to_owned(),
                format!("{} of {}", story.review_count, place.cap),
                name(&story.depends_on.join(" ")),
                one_line(&format!("{}{waits}", story.title)).into_owned(),
            ]
        })
        .collect();
    let heads = HEADS.map(str::to_owned);
    let width = |column: usize| {
        rows.iter().chain([&heads]).map(|row| columns(&row[column])).max().unwrap_or_default()
    };
    let widths = [0, 1, 2, 3].map(width);
    let used = widths.iter().sum::<usize>() + 2 * widths.len();
    let line = |row: &[String; 5]| {
        let [cells @ .., title] = row;
        let cells = cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width.saturating_sub(columns(cell)))));
        let cells = cells.collect::<Vec<_>>().join("  ");
        if room.saturating_sub(used) < MIN_TITLE {
            return format!("{}\n    {}\n", cells.trim_end(), fit(title, room.saturating_sub(4)));
        }
        format!("{}\n", format!("{cells}  {}", fit(title, room - used)).trim_end())
    };
    let mut text = line(&heads);
    text.extend(rows.iter().map(line));
    text.push_str(&verdict(list, place, &marks));
    text
}

fn verdict(list: &TaskList, place: &StoriesPlace, marks: &Marks) -> String {
    if list.is_complete(place.review) {
        let lines = Statistics::of(list, place.cap).lines();
        let lines: Vec<String> = lines.into_iter().map(|line| format!("   {line}\n")).collect();
        return format!("\n{} Every story is done.\n{}", marks.good, lines.concat());
    }
    let human =
        list.user_stories.iter().filter(|it| it.kind == Kind::Human && !it.is_done(place.review)).count();
    let people = if human == 0 { String::new() } else { format!(" {human} for a person.") };
    match select(list, place.review) {
        Ok(next) => {
            format!("\nNext: {} {} - {}.{people}\n", next.mode.name(), next.id, one_line(&next.title))
        }
        Err(why) => format!("\nNext: nothing; {why}.\n"),
    }
}
