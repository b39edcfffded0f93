//! `ralph stories init`: writes the files that a loop begins with.

use std::{
    io::{self, Read, Write},
    path::Path,
};

use clap::Args;
use ralph_sys::{
    error::{Context, Error, Result},
    files::{MAX_TEXT_LEN, Root},
};

use super::{
    PlaceArgs,
    place::StoriesPlace,
    templates::{Feature, PRD_TEMPLATE, files},
};
use crate::{
    cli::print_lines,
    project::{
        archived,
        story_files::{ACTIVE, PRD, TASKS},
    },
};

/// Write the files of a stories loop: PRD, task list, progress log, prompt
///
/// Example: ralph stories init --name search
#[derive(Args, Debug)]
pub(super) struct StoriesInitArgs {
    /// What you want to build, in a word or two; the branch gets this name
    #[arg(long, value_name = "FEATURE")]
    name: Option<String>,

    /// Replace existing files, but never a PRD that a person has written
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Writes the files and says what comes next.
pub(super) fn main(args: &StoriesInitArgs, project: &Path) -> Result<u8> {
    let place = StoriesPlace::of(&args.place, project)?;
    let files =
        files(&Feature { project: &place.project, name: args.name.as_deref(), verify: &place.guardrails });
    let present: Vec<String> = files
        .iter()
        .filter(|(name, _)| place.path(name).symlink_metadata().is_ok())
        .map(|(name, _)| place.shown(name))
        .collect();
    if !present.is_empty() && !args.force {
        return Err(Error::new(format!("already there: {}", present.join(", ")))
            .hint("put finished work away first: ralph stories archive")
            .hint("or replace them: ralph stories init --force"));
    }
    let kept = has_own_prd(&place).then_some(PRD);
    let written: Vec<_> = files.into_iter().filter(|(name, _)| Some(*name) != kept).collect();
    if place.path(TASKS).exists() {
        // What was done for the stories that go was not done for those that come.
        archived::note(&place.project, &place.name, jiff::Timestamp::now())?;
    }
    for (name, text) in &written {
        place.write(name, text)?;
    }
    ignore_marker(&place.project)?;
    if let Some(kept) = kept {
        let kept = place.shown(kept);
        crate::cli::warn(&format!(
            "{kept} is not the template any more and was kept; `ralph stories archive` puts it away"
        ));
    }
    print_lines(&next_steps(&place, &written))?;
    Ok(0)
}

/// Whether there is a PRD that is not as `init` writes it. Only its title differs from feature to feature.
fn has_own_prd(place: &StoriesPlace) -> bool {
    let body = |text: &str| text.split_once('\n').map(|(_, body)| body.to_owned());
    match place.root().read(place.path(PRD), MAX_TEXT_LEN) {
        Ok(bytes) => body(&String::from_utf8_lossy(&bytes)) != body(PRD_TEMPLATE),
        // What cannot be read is not ours to replace either.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Keeps the marker of a running loop out of git, for everybody who clones the project.
fn ignore_marker(project: &Path) -> Result<()> {
    let mut file = Root::new(project).append(".gitignore").context("cannot open .gitignore")?;
    let mut present = Vec::new();
    (&file).take(MAX_TEXT_LEN).read_to_end(&mut present).context("cannot read .gitignore")?;
    let mut lines = present.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    if lines.any(|line| line == ACTIVE.as_bytes() || line == format!("/{ACTIVE}").as_bytes()) {
        return Ok(());
    }
    let gap = if present.is_empty() || present.ends_with(b"\n") { "" } else { "\n" };
    Ok(file.write_all(format!("{gap}{ACTIVE}\n").as_bytes())?)
}

fn next_steps(place: &StoriesPlace, files: &[(&str, String)]) -> String {
    let written: Vec<String> = files.iter().map(|(name, _)| format!("  {}\n", place.shown(name))).collect();
    let [prd, tasks, ..] = ["prd.md", "tasks.json"].map(|name| place.shown(name));
    let tests = match place.guardrails.as_slice() {
        [] => "put your tests into \"verifyCommands\"",
        [_] => "your guardrail is in \"verifyCommands\"",
        [..] => "your guardrails are in \"verifyCommands\"",
    };
    format!(
        "Written:\n{}\nNext:\n  1. Say what is wanted in {prd}.\n  2. Break it into stories in {tasks}, each small \
         enough for one session,\n     with criteria that can be checked; {tests}.\n  \
         3. ralph stories check\n  4. Commit these files, then: ralph stories\n",
        written.concat()
    )
}
