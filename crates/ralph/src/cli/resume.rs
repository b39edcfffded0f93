//! `ralph resume`: continues a run that was killed, interrupted or reached a limit.

pub(super) mod revise;
mod taken_settings;

use std::path::Path;

use clap::Args;
use jiff::Timestamp;
use ralph_core::{
    duration::millis,
    engine::{Run, plan::Limits},
    until::Until,
};
use ralph_sys::error::Result;

use super::{display::settings_of, pause, persons_command::refuse_inside_run, runs};
use crate::{
    driver::Resume,
    fleet::FarRun,
    journal::{local_time::zone, run_dir::RunDir},
    settings::flags::{BudgetFlags, DisplayFlags, IterationFlags},
};
use revise::{Reread, revise};

/// Continue a run that was killed, interrupted, or reached a limit
///
/// The run keeps its counters. Files that you changed while no turn ran (settings, prd.md, prompt.md, verify
/// commands) apply from here on, with a line for each change; changes of the agent do not. You can raise limits; they
/// apply to the whole run, including what it has already used.
///
/// Example: ralph resume --max-iterations 20
#[derive(Args, Debug)]
pub(super) struct ResumeArgs {
    /// The run's id or its beginning; without it, the newest run of this project
    run: Option<String>,

    #[command(flatten)]
    count: IterationFlags,

    /// Ask for each changed file whether to use it, no matter who changed it
    #[arg(long)]
    reread: bool,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    look: DisplayFlags,
}

impl ResumeArgs {
    /// Whether more is asked for than to continue.
    fn asks_for_more(&self) -> bool {
        self.reread || self.count != IterationFlags::default() || self.budget != BudgetFlags::default()
    }
}

/// Goes on with the run.
pub(super) fn main(args: &ResumeArgs, project: &Path) -> Result<u8> {
    if args.reread {
        refuse_inside_run("resume --reread")?;
    }
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    FarRun::refuse(&run, &format!("resume {}", run.id()))?;
    if pause::is_pausing(&run)? {
        refuse_inside_run("resume")?;
        return pause::go_on(&run, args.asks_for_more());
    }
    let (count, budget) = (args.count.clone(), args.budget.clone());
    // Checked when it was typed.
    let until = budget.until.as_deref().and_then(|text| Until::parse(text).ok());
    let until_ms =
        until.map(|until| until.map_or(0, |it| it.moment(Timestamp::now(), &zone()).as_millisecond()));
    let raise = move |limits: Limits| Limits {
        max_iterations: count.max_iterations.unwrap_or(limits.max_iterations),
        max_time_ms: changed(budget.max_time.map(millis), limits.max_time_ms),
        max_cost: changed(budget.max_cost, limits.max_cost),
        max_tokens: changed(budget.max_tokens, limits.max_tokens),
        max_iteration_cost: changed(budget.max_iteration_cost, limits.max_iteration_cost),
        max_iteration_tokens: changed(budget.max_iteration_tokens, limits.max_iteration_tokens),
        until_ms: changed(until_ms, limits.until_ms),
        leave_quota: changed(budget.leave_quota, limits.leave_quota),
        ..limits
    };
    let reread = if args.reread { Reread::Ask } else { Reread::No };
    let revise = move |known: &Run, run: &RunDir| revise(known, run, reread);
    let reporters = args.look.reporters(&settings_of(project));
    let driver = Resume { run, raise: Box::new(raise), revise: Box::new(revise), rejected: None, reporters }
        .begin()?;
    super::modes::drive(driver, !args.look.is_json())
}

/// A limit from here on: the new one, or the one that the run had. Zero is none.
fn changed<T: Default + PartialEq>(new: Option<T>, had: Option<T>) -> Option<T> {
    new.or(had).filter(|limit| *limit != T::default())
}
