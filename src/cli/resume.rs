//! `ralph resume`: goes on with a run that was killed, interrupted or reached a limit.

use std::path::Path;

use clap::Args;
use serde_json::json;

use super::{run::LookArgs, runs};
use crate::{
    driver::Resume,
    engine::plan::Limits,
    error::Result,
    settings::{self, Settings},
};

/// Go on with a run that was killed, interrupted, or reached a limit
///
/// The run keeps the settings it started with and all it has counted; only limits may be raised.
///
/// Example: ralph resume --max-iterations 20
#[derive(Args, Debug)]
pub(super) struct ResumeArgs {
    /// The run's id or its beginning; without it, the newest run of this project
    run: Option<String>,

    /// End after this many iterations in all
    #[arg(short, long, visible_alias = "max-iterations", value_name = "N")]
    maximum_iterations: Option<u32>,

    #[command(flatten)]
    look: LookArgs,
}

/// Goes on with the run.
pub(super) fn main(args: &ResumeArgs, project: &Path) -> Result<u8> {
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    let iterations = args.maximum_iterations;
    let limits =
        move |limits: Limits| Limits { iterations: iterations.unwrap_or(limits.iterations), ..limits };
    // Only how things look is taken from the settings of today; the run keeps to those it started with.
    let settings =
        settings::load(project, None, json!({})).map_or_else(|_| Settings::default(), |it| it.settings);
    let reporters = args.look.reporters(&settings);
    Resume { run, limits: Box::new(limits), reporters }.begin()?.drive()
}
