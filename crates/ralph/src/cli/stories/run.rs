//! `ralph stories [run]`: the loop.

use std::path::Path;

use clap::Args;
use ralph_core::{
    containment::{level::Choice, wanted::Wanted},
    engine::{
        plan::{Plan, When},
        presets,
    },
    setup::{PromptSource, Setup, StoriesSetup},
    stories::{Budget, Review, TaskList, is_unreviewed, past_the_cap},
};
use ralph_sys::error::{Error, Result};
use serde::Serialize;

use super::{PlaceArgs, place::StoriesPlace};
use crate::{
    cli::loop_args::{LoopArgs, setup_with, tune},
    driver::{Start, settle},
    project::story_files::{PRD, PROMPT, TASKS},
    settings::{
        Settings,
        flags::{GuardrailFlags, IterationFlags, is_unset, layer},
    },
};

/// Work through the stories; the same as `ralph stories`
#[derive(Args, Debug, Default)]
#[command(mut_arg("model", |arg| arg.short('m')))]
pub(super) struct StoriesRunArgs {
    #[command(flatten)]
    own: StoriesFlags,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    common: LoopArgs,
}

/// The flags of this loop alone; as JSON they are a layer of settings. Here `-m` is the model.
#[derive(Args, Debug, Default, Serialize)]
#[command(mut_arg("max_iterations", |arg| arg.short('n')))]
struct StoriesFlags {
    #[command(flatten)]
    #[serde(flatten)]
    count: IterationFlags,

    #[command(flatten)]
    #[serde(flatten)]
    guardrails: GuardrailFlags,

    #[command(flatten)]
    #[serde(skip_serializing_if = "is_unset")]
    stories: ReviewFlags,
}

/// How stories are reviewed.
#[derive(Args, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReviewFlags {
    /// Do not review: a story is done when the turn that implements it says so
    #[arg(long)]
    #[serde(skip_serializing_if = "is_unset")]
    skip_review: bool,

    /// Review a story at most this often; then it is approved and the concerns are kept [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip_serializing_if = "is_unset")]
    review_cap: Option<u32>,
}

/// Runs the loop.
pub(super) fn main(args: &StoriesRunArgs, project: &Path) -> Result<u8> {
    let project = args.place.project(project)?;
    let loaded = args.common.load(&project, layer(&args.own))?;
    let place = StoriesPlace::with(&args.place, project, &loaded.settings)?;
    let files = [TASKS, PRD, PROMPT].map(|name| place.shown(name));
    if let Some(missing) = files.iter().find(|file| !place.project.join(file).is_file()) {
        return Err(Error::new(format!("{missing} not found"))
            .hint("write the files to fill in: ralph stories init --name FEATURE"));
    }
    // Before anything is believed that the list says.
    let settled = if args.common.is_dry_run() { None } else { settle(&place.project, &place.name)? };
    let list = good_list(&place)?;
    let reporters = args.common.reporters(&loaded, &place.project)?;
    let plan = args.common.limit(tune(plan(&files, &list, &loaded.settings), &loaded.settings));
    let prompt = PromptSource::Template(place.path(PROMPT));
    let setup = setup_with(&loaded, prompt, &place.project, Choice::Auto);
    let is_contained = setup.sandbox != Wanted::default();
    let setup = Setup {
        stories: Some(StoriesSetup {
            ralph_dir: place.name.clone(),
            branch: list.branch_name.clone(),
            review_cap: place.cap,
            skip_review: loaded.settings.stories.skip_review,
            containment: if is_contained { "sandbox" } else { "direct" }.to_owned(),
            verify_commands: list.verify_commands.clone(),
            budget: Budget::of(&list, place.review),
            pinned: std::collections::BTreeMap::new(),
        }),
        ..setup
    };
    let open = "the agent runs without a sandbox: nothing keeps it in the project".to_owned();
    let past_the_cap = past_the_cap(&list, place.cap).into_iter().map(|(_, text)| text);
    let past_the_cap = past_the_cap.filter(|_| place.review == Review::Required);
    let warnings = (!is_contained).then_some(open).into_iter().chain(past_the_cap).collect();
    args.common.run(Start { plan, setup, run: None, drafts: Vec::new(), reporters, warnings, settled })
}

/// The list, if a loop can begin with it.
fn good_list(place: &StoriesPlace) -> Result<TaskList> {
    // A turn that was cut off is judged by now, except where nothing may be written.
    let (tasks, _) = place.judged_tasks()?;
    let file = place.shown(TASKS);
    let problems = tasks.problems(place.review);
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(|it| format!("{file}:{}: {it}", it.line)).collect();
        let error = Error::new(lines.join("\n")).hint("`ralph stories check` shows whether it is valid");
        let is_unreviewed =
            place.review == Review::Required && tasks.list().user_stories.iter().any(is_unreviewed);
        let hint = "stories that passed without a review: `ralph stories reopen` submits them for one";
        return Err(if is_unreviewed { error.hint(hint) } else { error });
    }
    let list = tasks.list().clone();
    if list.user_stories.is_empty() {
        return Err(Error::new(format!("there are no stories in {file}"))
            .hint("add some: `ralph schema tasks` describes them"));
    }
    Ok(list)
}

fn plan(files: &[String], list: &TaskList, settings: &Settings) -> Plan {
    let when =
        if settings.stories.verify_each_turn { When::ChangedOrClaimed } else { When::SubmittedOrClaimed };
    presets::stories(files, &list.verify_commands, when).guarded(settings.gates(When::ChangedOrClaimed))
}
