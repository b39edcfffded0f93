//! `ralph resume`: goes on with a run that was killed, interrupted or reached a limit.

use std::{path::Path, time::Duration};

use clap::Args;
use ralph_core::{
    duration::{millis, parse_duration},
    engine::plan::Limits,
};
use ralph_sys::error::Result;

use super::{
    display::{DisplayArgs, settings_of},
    runs,
};
use crate::driver::Resume;

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

    /// End after this time of work and waiting in all, such as 8h; 0 is no limit
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    max_time: Option<Duration>,

    /// End when this much was spent in all, in US dollars; 0 is no limit
    #[arg(long, value_name = "USD", value_parser = super::loop_args::dollars)]
    max_cost: Option<f64>,

    /// End when this many tokens were used in all; 0 is no limit
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    /// End when one iteration has cost this much, in US dollars; 0 is no limit
    #[arg(long, value_name = "USD", value_parser = super::loop_args::dollars)]
    max_iteration_cost: Option<f64>,

    /// End when one iteration has used this many tokens; 0 is no limit
    #[arg(long, value_name = "N")]
    max_iteration_tokens: Option<u64>,

    #[command(flatten)]
    look: DisplayArgs,
}

/// Goes on with the run.
pub(super) fn main(args: &ResumeArgs, project: &Path) -> Result<u8> {
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    let (iterations, time) = (args.maximum_iterations, args.max_time.map(millis));
    let (cost, tokens) = (args.max_cost, args.max_tokens);
    let (iteration_cost, max_iteration_tokens) = (args.max_iteration_cost, args.max_iteration_tokens);
    let raise = move |limits: Limits| Limits {
        max_iterations: iterations.unwrap_or(limits.max_iterations),
        max_time_ms: changed(time, limits.max_time_ms),
        max_cost: changed(cost, limits.max_cost),
        max_tokens: changed(tokens, limits.max_tokens),
        max_iteration_cost: changed(iteration_cost, limits.max_iteration_cost),
        max_iteration_tokens: changed(max_iteration_tokens, limits.max_iteration_tokens),
        ..limits
    };
    // Only how things look is taken from the settings of today; the run keeps to those it started with.
    let reporters = args.look.reporters(&settings_of(project));
    let driver = Resume { run, raise: Box::new(raise), reporters }.begin()?;
    super::modes::drive(driver, !args.look.is_json())
}

/// A limit from here on: the new one, or the one that the run had. Zero is none.
fn changed<T: Default + PartialEq>(new: Option<T>, had: Option<T>) -> Option<T> {
    new.or(had).filter(|limit| *limit != T::default())
}
