//! `ralph sandbox`: the kinds of sandboxes of this machine, and a way to try things inside.

use std::{
    ffi::OsString,
    fmt::Write,
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::{Args, Subcommand};
use ralph_core::{
    containment::level::{Choice, Level},
    duration::millis,
};
use ralph_sandbox::{Sandbox, self_test};
use ralph_sys::{
    error::{Error, REFUSED, Result},
    process::Supervisor,
};
use serde_json::json;

use super::{display::settings_of, named::named, print, print_lines};
use crate::{
    report::style::Marks,
    settings::{self, Settings},
    term::{Palette, Stream, Width, fit::flow},
};

/// Look at the sandboxes of this machine, and try things inside
#[derive(Args, Debug)]
pub(super) struct SandboxArgs {
    #[command(subcommand)]
    command: SandboxCommand,
}

#[derive(Debug, Subcommand)]
enum SandboxCommand {
    /// Show which kinds of sandboxes work here
    ///
    /// Tries each kind: a program must start inside, and a forbidden write and connection must fail. Exits with 2 if
    /// none works.
    ///
    /// Example: ralph sandbox check --json
    Check {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Run a command inside, as an agent would run in this project
    ///
    /// Example: ralph sandbox exec -- sh -c 'touch /tmp/x'
    Exec {
        /// The kind of sandbox; without it, that of the settings, or else the first that works
        #[arg(long, value_name = "LEVEL", value_parser = named(&Choice::NAMES))]
        level: Option<Choice>,

        /// The command
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
}

/// What ralph types to itself.
#[derive(Args, Debug)]
pub(super) struct OutsideArgs {
    #[arg(value_parser = named(&Choice::NAMES))]
    level: Choice,
    rules: PathBuf,
    #[arg(long)]
    log: Option<PathBuf>,
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Runs a command inside, for ralph itself.
pub(super) fn outside(args: &OutsideArgs) -> Result<u8> {
    let level = match args.level {
        Choice::Level(level) => level,
        Choice::Auto => Level::None,
    };
    ralph_sandbox::outside::run(level, &args.rules, args.log.as_deref(), &args.command)
}

/// Shows or tries the sandboxes.
pub(super) fn main(args: &SandboxArgs, project: &Path) -> Result<u8> {
    match &args.command {
        SandboxCommand::Check { json } => check(*json, project),
        SandboxCommand::Exec { level, command } => exec(*level, command, project),
    }
}

fn check(as_json: bool, project: &Path) -> Result<u8> {
    let settings = settings_of(project);
    let wanted = settings.sandbox.wanted("", Choice::Auto);
    let mut supervisor = Supervisor::new()?;
    let tried: Vec<_> = Level::ALL
        .into_iter()
        .map(|level| {
            let started = Instant::now();
            let obstacle = self_test::obstacle(&mut supervisor, level, &wanted);
            (level, obstacle, millis(started.elapsed()))
        })
        .collect();
    let works = |level: Level| tried.iter().any(|(tried, why, _)| *tried == level && why.is_none());
    let auto = Level::AUTO.into_iter().find(|level| works(*level));
    if as_json {
        let levels = tried.iter().map(|(level, obstacle, ms)| {
            let uncovered = level.uncovered();
            json!({"level": level, "works": obstacle.is_none(), "obstacle": obstacle, "ms": ms, "uncovered": uncovered})
        });
        print(&format!("{}\n", json!({"auto": auto, "levels": levels.collect::<Vec<_>>()})))?;
    } else {
        let (marks, palette) =
            (Marks::of(settings.output.emoji), Palette::of(settings.output.color, &io::stdout()));
        let Palette { strong, quiet, .. } = palette;
        let mut text = String::new();
        for (level, obstacle, ms) in &tried {
            let (mark, facts) = match obstacle {
                None => (marks.good, format!("works {quiet}({ms} ms){quiet:#}")),
                Some(why) => (marks.pending, why.clone()),
            };
            let _ = writeln!(text, "{mark} {strong}{:<9}{strong:#} {facts}", level.name());
            if obstacle.is_none() {
                let label = "   does not cover: ";
                let parts: Vec<String> = level.uncovered().iter().map(|it| (*it).to_owned()).collect();
                let columns = Width::of(Stream::Out).columns();
                let parts = flow(&parts, "; ", label.len(), label.len(), columns);
                let _ = writeln!(text, "{quiet}{label}{parts}{quiet:#}");
            }
        }
        let _ = match auto {
            Some(level) => writeln!(text, "\n`--sandbox` takes {}.", level.name()),
            None => writeln!(text, "\n`--sandbox` would refuse to run: none of those that it tries works."),
        };
        print_lines(&text)?;
    }
    Ok(if auto.is_some() { 0 } else { REFUSED })
}

fn exec(level: Option<Choice>, command: &[OsString], project: &Path) -> Result<u8> {
    let settings = settings_for(project)?;
    let agent = ralph_agents::adapter(&settings.agent.command).name();
    let mut wanted = settings.sandbox.wanted(agent, Choice::Auto);
    wanted.level = level.unwrap_or(wanted.level);
    wanted.level = Choice::Level(self_test::choose(&mut Supervisor::new()?, &wanted)?);
    Ok(Sandbox::try_command(wanted, agent, project, command, &mut |text| super::warn(text))?)
}

/// The settings that a loop would have; whether they name an agent does not matter.
fn settings_for(project: &Path) -> Result<Settings> {
    let load = |flags| settings::load(project, None, flags);
    let loaded = load(json!({})).or_else(|_| load(json!({"agent": {"command": "none"}})));
    loaded.map(|loaded| loaded.settings).map_err(|error| {
        let hints = error.hints.clone();
        hints.into_iter().fold(Error::new(error), Error::hint)
    })
}
