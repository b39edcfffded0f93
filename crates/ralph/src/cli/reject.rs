//! `ralph reject`: a person looked at the findings of a run, and sends the work back.

use std::path::Path;

use clap::Args;
use ralph_core::engine::Run;
use ralph_sys::error::{Error, Result};

use super::{
    accept::with_findings,
    display::settings_of,
    persons_command::refuse_inside_run,
    resume::revise::{Reread, revise},
    runs,
};
use crate::{driver::Resume, fleet::FarRun, journal::run_dir::RunDir, settings::flags::DisplayFlags};

/// Send back a run that is done, with findings
///
/// The run continues with one more iteration. Its prompt contains your reason; without one, the agent would only
/// claim again that it is done.
///
/// Example: ralph reject "US-2 still fails for empty input"
#[derive(Args, Debug)]
pub(super) struct RejectArgs {
    /// The run's id or its beginning; without it, the newest run of this project
    #[arg(value_name = "RUN")]
    first: String,

    /// What the agent must do differently
    #[arg(value_name = "WHY")]
    second: Option<String>,

    #[command(flatten)]
    look: DisplayFlags,
}

/// Records it, and continues the run.
pub(super) fn main(args: &RejectArgs, project: &Path) -> Result<u8> {
    refuse_inside_run("reject")?;
    let (dir, why) = match &args.second {
        Some(why) => (runs::by_id(&args.first)?, why),
        None => (runs::newest(project)?, &args.first),
    };
    if why.trim().is_empty() {
        return Err(Error::new("say what the agent must do differently: ralph reject \"...\""));
    }
    FarRun::refuse(&dir, &format!("reject {}", dir.id()))?;
    drop(with_findings(&dir)?);
    let revise = |known: &Run, run: &RunDir| revise(known, run, Reread::No);
    let reporters = args.look.reporters(&settings_of(project));
    let driver = Resume {
        run: dir,
        raise: Box::new(|limits| limits),
        revise: Box::new(revise),
        rejected: Some(why.clone()),
        reporters,
    }
    .begin()?;
    super::modes::drive(driver, !args.look.is_json())
}
