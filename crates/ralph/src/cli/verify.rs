//! `ralph verify`: whether the receipt of a commit holds.

use std::{
    io,
    path::{Path, PathBuf},
};

use clap::Args;
use ralph_core::receipt::{
    policy::ReceiptPolicy,
    verdict::{ReceiptVerdict, overall},
};
use ralph_sys::{
    error::{CANNOT_TELL, DOES_NOT_HOLD, Error, INTERRUPTED, Result},
    process::Supervisor,
};
use serde_json::json;

use super::{complain, display::settings_of, judge::tell, print, print_lines};
use crate::{
    receipt::{
        rerun::{Rerun, rerun},
        verify::{self, Verified, VerifyRequest},
    },
    report,
    report::style::Marks,
    term::{self, Palette, Stream},
};

/// Check the receipt of a commit
///
/// Checks the signature, the commit and the statements of the receipt, and runs nothing of the project. `--rerun`
/// runs the guardrails again, in a fresh clone of the commit, in a sandbox; they are those in the settings of the base
/// (`--base`). You decide whom to trust: with your file of allowed signers, your policy, and the base that you name.
///
/// Exits with 0 if the receipt is valid, with 1 if it is not, and with 2 if ralph cannot tell.
///
/// Example: ralph verify HEAD --rerun --base origin/main
#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    /// A commit, or a file with a receipt; without it, the commit that is checked out
    #[arg(value_name = "COMMIT|FILE")]
    what: Option<String>,

    /// The commit that the receipt in a file must be about [default: HEAD]
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,

    /// Trust the signers in this file: a path outside the working tree, or COMMIT:PATH. Without it, the one that
    /// git has (`gpg.ssh.allowedSignersFile`)
    #[arg(long, value_name = "FILE")]
    allowed_signers: Option<String>,

    /// Also require what this policy says: a path outside the working tree, or COMMIT:PATH
    #[arg(long, value_name = "FILE")]
    policy: Option<String>,

    /// The record of the run, to compare the receipt with it
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,

    /// Run the guardrails again
    #[arg(long)]
    rerun: bool,

    /// Take the guardrails from the settings of this commit instead of the commit that the run started from
    #[arg(long, value_name = "COMMIT", requires = "rerun")]
    base: Option<String>,

    /// Let guardrails see this variable, even though its name looks like a secret
    #[arg(long, value_name = "NAME", requires = "rerun")]
    allow_env: Vec<String>,

    /// Let package managers install from their registries
    #[arg(long, requires = "rerun")]
    packages: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Verifies and shows the result. Whatever keeps it from that is "cannot tell".
pub(super) fn main(args: &VerifyArgs, project: &Path) -> Result<u8> {
    let mut supervisor = Supervisor::new()?;
    let verified = verified(args, project, &mut supervisor);
    supervisor.release();
    let verified = match verified {
        Ok(Some(verified)) => verified,
        Ok(None) => return Ok(INTERRUPTED),
        Err(error) if args.json => {
            let object = json!({"verdict": ReceiptVerdict::CannotTell, "error": error.to_string(), "hints": error.hints()});
            print(&format!("{object}\n"))?;
            return Ok(CANNOT_TELL);
        }
        Err(error) => {
            complain(&error);
            return Ok(CANNOT_TELL);
        }
    };
    let verdict = overall(&verified.items);
    if args.json {
        let mut object = json!(verified);
        object["verdict"] = json!(verdict);
        print(&format!("{object}\n"))?;
    } else {
        let output = settings_of(project).output;
        let palette = Palette::of(output.color, &io::stdout());
        print_lines(&report::verify::text(&verified, verdict, Marks::of(output.emoji), palette))?;
    }
    Ok(match verdict {
        ReceiptVerdict::Holds => 0,
        ReceiptVerdict::DoesNotHold => DOES_NOT_HOLD,
        ReceiptVerdict::CannotTell => CANNOT_TELL,
    })
}

/// What was found; nothing when a person interrupted it.
fn verified(args: &VerifyArgs, project: &Path, supervisor: &mut Supervisor) -> Result<Option<Verified>> {
    let policy = match &args.policy {
        Some(given) => Some(policy(supervisor, project, given)?),
        None => None,
    };
    let request = VerifyRequest {
        project,
        what: args.what.as_deref(),
        commit: args.commit.as_deref(),
        allowed_signers: args.allowed_signers.as_deref(),
        policy: policy.as_ref(),
        journal: args.journal.as_deref(),
    };
    let mut verified = verify::verify(supervisor, &request)?;
    if !args.rerun {
        return Ok(Some(verified));
    }
    let again = Rerun {
        project,
        base: args.base.as_deref(),
        policy: policy.as_ref(),
        allowed_env: &args.allow_env,
        packages: args.packages,
    };
    let talks = !args.json && term::is_terminal(Stream::Err);
    let interrupted = rerun(supervisor, &again, &mut verified, &mut |step| {
        if talks {
            tell(&step);
        }
    })?;
    Ok((!interrupted).then_some(verified))
}

fn policy(supervisor: &mut Supervisor, project: &Path, given: &str) -> Result<ReceiptPolicy> {
    let text = verify::trusted_file(supervisor, project, given)?;
    serde_json::from_slice(&text).map_err(|error| {
        Error::new(format!("the policy `{given}` cannot be read: {error}"))
            .hint("see what it may say: ralph schema policy")
    })
}
