//! `ralph init`: writes the settings of a project after a short dialogue.
//!
//! Invariant: the settings file is the old one or the whole new one, whatever happens meanwhile.

mod ask;
mod dialogue;
mod file;
mod found;

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use clap::Args;
use ralph_sys::{
    error::{Error, INTERRUPTED, Result},
    signals::Interrupts,
};

use self::{
    ask::{Answer, NoAnswer, Terminal},
    file::SettingsDraft,
    found::Found,
};
use super::{print, print_lines, warn};
use crate::settings::{self, Inspected, LOCAL_FILE, PROJECT_FILE};

/// Ask a few questions and write the settings of this project
///
/// Finds the installed agents and the checks of the project, and suggests them. Writes nothing before the last
/// answer.
///
/// Example: ralph init --yes --agent claude
#[derive(Args, Debug)]
pub(super) struct InitArgs {
    /// Ask nothing and take every suggestion
    #[arg(short, long)]
    yes: bool,

    /// Replace existing settings without asking
    #[arg(long)]
    force: bool,

    /// Suggest this agent instead of the first one that is installed
    #[arg(short, long, value_name = "COMMAND")]
    agent: Option<String>,
}

/// Asks, or takes what was found, and writes the file.
pub(super) fn main(args: &InitArgs, project: &Path) -> Result<u8> {
    if !args.yes && !io::stdin().is_terminal() {
        return Err(Error::new("there is no terminal to ask questions on")
            .hint("take the defaults: `ralph init --yes`"));
    }
    let interrupts = Interrupts::watch(last_words)?;
    let found = Found::in_project(project, args.agent.as_deref());
    let draft = if args.yes {
        Some(unasked(args, project, &found)?)
    } else {
        match asked(args, project, &found) {
            Ok(draft) => draft,
            Err(NoAnswer::Broken(error)) => return Err(error),
            Err(NoAnswer::Gone) => {
                last_words();
                return Ok(INTERRUPTED);
            }
        }
    };
    let Some(draft) = draft else { return Ok(0) };
    interrupts.end();
    file::write(project, &draft)?;
    let gap = if args.yes { "" } else { "\n" };
    print_lines(&format!(
        "{gap}Settings written to {PROJECT_FILE}\nNext: ralph run \"Say here what to do\"\n"
    ))?;
    Ok(0)
}

fn last_words() {
    // No one is left to tell if this fails.
    let _ = ask::say("\nnothing was written");
}

fn unasked(args: &InitArgs, project: &Path, found: &Found) -> Result<SettingsDraft> {
    if project.join(PROJECT_FILE).exists() && !args.force {
        return Err(Error::new(format!("`{PROJECT_FILE}` exists"))
            .hint("replace it: `ralph init --yes --force`")
            .hint("or be asked: `ralph init`"));
    }
    let Some(agent) = &found.agent else {
        return Err(Error::new("no agent is installed that ralph knows")
            .hint("name the one to use: `ralph init --yes --agent COMMAND`"));
    };
    Ok(SettingsDraft::unasked(agent, found))
}

/// Nothing means that the settings that exist shall stay.
fn asked(args: &InitArgs, project: &Path, found: &Found) -> Answer<Option<SettingsDraft>> {
    let mut terminal = Terminal::new();
    if project.join(PROJECT_FILE).exists() && !args.force {
        show(&settings::inspect(project)).map_err(NoAnswer::Broken)?;
        if !terminal.confirm("Overwrite? (y/N): ", ask::Default::No)? {
            return Ok(None);
        }
    }
    ask::say(&found.words()).map_err(NoAnswer::Broken)?;
    dialogue::conduct(&mut terminal, found).map(Some)
}

/// The settings that exist, as data; where they come from, as talk.
fn show(inspected: &Inspected) -> Result<()> {
    for problem in inspected.problems.iter().chain(&inspected.loaded.warnings) {
        warn(problem);
    }
    print(&format!("{:#}\n", inspected.merged))?;
    let local = Path::new(LOCAL_FILE);
    let with_local = inspected.loaded.files.iter().any(|file| file == local);
    let overlay = if with_local { " (with local overlay from settings.local.json)" } else { "" };
    ask::say(&format!("Loaded from {PROJECT_FILE}{overlay}"))
}
