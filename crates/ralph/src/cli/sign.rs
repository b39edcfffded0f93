//! `ralph sign`: a person vouches for the receipt of a run.

use std::path::Path;

use clap::Args;
use ralph_sys::{error::Result, process::Supervisor};

use super::{fleet::seen, persons_command::refuse_inside_run, print_lines, runs, warn};
use crate::{fleet::FleetDir, receipt};

/// Sign the receipt of a run with your git signing key
///
/// Ralph signs when a run ends, if git has an SSH signing key that needs no password. If the key was locked then,
/// unlock it (`ssh-add`) and use this command. It asks for nothing: a key that does not answer within 10 s does not
/// sign.
///
/// Example: ralph sign 20261116-0003
#[derive(Args, Debug)]
pub(super) struct SignArgs {
    /// The id of a run or of a fleet, or its beginning; without it, the newest run of this project
    run: Option<String>,
}

/// Signs, and replaces the note of the commit.
pub(super) fn main(args: &SignArgs, project: &Path) -> Result<u8> {
    refuse_inside_run("sign")?;
    if let Some(fleet) = args.run.as_deref().and_then(FleetDir::by_id) {
        return seen::sign(&fleet);
    }
    let dir = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    let mut supervisor = Supervisor::new()?;
    let signed = receipt::sign(&mut supervisor, &dir);
    supervisor.release();
    let (envelope, warnings) = signed?;
    for warning in warnings {
        warn(&warning);
    }
    let key = envelope.signatures.first().map(|signature| signature.keyid.as_str()).unwrap_or_default();
    print_lines(&format!("signed the receipt of run {} with {key}\n", dir.id()))?;
    Ok(0)
}
