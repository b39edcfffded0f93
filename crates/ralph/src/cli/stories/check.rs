//! `ralph stories check`: the rules of the task list, for people, editors and agents.

use std::path::Path;

use clap::Args;
use ralph_core::stories::{Problem, Review, blocked, past_the_cap};
use ralph_sys::{
    error::{REFUSED, Result},
    process::guardian::RUN_VARIABLE,
};
use serde_json::json;

use super::{
    PlaceArgs,
    place::{StoriesPlace, undone},
};
use crate::{
    cli::{print, print_lines},
    driver::preview,
    project::story_files::TASKS,
};

/// Say what is wrong with the task list
///
/// Checks what ralph checks after every turn: the format of the file, and that the review fields fit together; during
/// a turn, and after a run that was killed in one, also what the turn may do. Exits with 0 if the list is valid and
/// with 2 if not.
///
/// Example: ralph stories check
#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Prints every problem with its line.
pub(super) fn main(args: &CheckArgs, project: &Path) -> Result<u8> {
    let place = StoriesPlace::of(&args.place, project)?;
    let (tasks, judged) = place.judged_tasks()?;
    for line in judged.iter().flat_map(undone) {
        crate::cli::warn(&line);
    }
    let file = place.shown(TASKS);
    let problems = tasks.problems(place.review);
    let list = tasks.list();
    let unknown = list.user_stories.iter().flat_map(|story| {
        let missing = story.depends_on.iter().filter(|id| list.story(id).is_none());
        missing.map(|id| (story.line, format!("{} depends on {id}, which is not in the list", story.id)))
    });
    let past_the_cap = past_the_cap(list, place.cap).into_iter().filter(|_| place.review == Review::Required);
    let notes: Vec<(usize, String)> = unknown.chain(past_the_cap).collect();
    let broken = judged.map_or_else(|| in_turn(&place), |judged| judged.broken);
    let is_good = problems.is_empty() && broken.is_empty();
    if args.json {
        let problem = |it: &Problem| json!({"file": file, "line": it.line, "path": it.path, "story": it.story, "text": it.text});
        let object = json!({
            "ok": is_good,
            "turn": broken,
            "problems": problems.iter().map(problem).collect::<Vec<_>>(),
            "warnings": notes.iter().map(|(line, text)| json!({"file": file, "line": line, "text": text})).collect::<Vec<_>>(),
        });
        print(&format!("{object}\n"))?;
    } else {
        for (line, text) in &notes {
            crate::cli::warn(&format!("{file}:{line}: {text}"));
        }
        let lines = problems.iter().map(|it| format!("{file}:{}: {it}\n", it.line));
        let lines: Vec<String> = lines.chain(broken.iter().map(|text| format!("{file}: {text}\n"))).collect();
        let open = list.user_stories.iter().filter(|story| !story.is_done(place.review)).count();
        let stuck = list.user_stories.iter().filter(|it| blocked(list, it, place.review).is_some()).count();
        let verdict = match (is_good, list.user_stories.len()) {
            (true, 0) => format!("{file}: no stories\n"),
            (true, all) => format!("{file}: good. {all} stories, {open} open, {stuck} of them blocked\n"),
            (false, _) => String::new(),
        };
        print_lines(&format!("{}{verdict}", lines.concat()))?;
    }
    Ok(if is_good { 0 } else { REFUSED })
}

/// What ralph would say about the turn in which this is called, if it ended now.
fn in_turn(place: &StoriesPlace) -> Vec<String> {
    let run = std::env::var(RUN_VARIABLE).unwrap_or_default();
    preview(&place.project, &place.name, &run).map(|judged| judged.broken).unwrap_or_default()
}
