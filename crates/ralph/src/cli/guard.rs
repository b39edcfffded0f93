//! `ralph guard`: what the guard makes of a command, which rules it has, and how well it judges.

mod show;

use std::{env, path::Path};

use clap::{Args, Subcommand};
use ralph_guard::{Decision, ToolCall, corpus};
use ralph_sys::error::{BLOCKED, Error, Result};
use serde_json::Value;

use super::{print, print_lines, warn};
use crate::settings::guard;

/// Ask the guard how it would decide about a command of an agent
///
/// The guard prevents accidents. It is not a security boundary; the sandbox is.
///
/// Example: ralph guard check 'git push --force'
#[derive(Args, Debug)]
pub(super) struct GuardArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArgs),
    Rules(RulesArgs),
    Corpus(CorpusArgs),
}

/// Say whether a command would be blocked, and why
///
/// Runs nothing. Exits with 0 if the command may run (also with a warning), with 1 if it is blocked, and with 2 if
/// the guard cannot decide.
///
/// Example: ralph guard check --explain 'cd / && rm -rf *'
#[derive(Args, Debug)]
struct CheckArgs {
    /// The command line
    #[arg(required_unless_present_any = ["file", "tool"])]
    command: Option<String>,

    /// Check the contents of this file instead
    #[arg(long, value_name = "PATH", conflicts_with_all = ["command", "tool"])]
    file: Option<std::path::PathBuf>,

    /// Check a call of this agent tool instead, such as Write
    #[arg(long, value_name = "NAME", requires = "input", conflicts_with = "command")]
    tool: Option<String>,

    /// The input of the tool, as JSON
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Also show what would run, and every rule that matches
    #[arg(long)]
    explain: bool,
}

/// List the rules
///
/// Example: ralph guard rules
#[derive(Args, Debug)]
struct RulesArgs {
    /// Print a JSON array, with examples
    #[arg(long)]
    json: bool,
}

/// Measure the rules on labelled commands
///
/// Each line has `block` or `allow`, a category and a command, separated by tabs; in the command, ␤ is a newline and ␉ a
/// tab. The guard judges each command as if an agent ran it in a project in the home directory. Exits with 1 when
/// fewer than 95 % of the dangerous commands are blocked, or more than 1.5 % of the others. These limits are for
/// scripts, such as those of CI, that measure a corpus of their own; the goals for ralph's own corpora are stricter.
///
/// Example: ralph guard corpus crates/guard/fixtures/corpus.tsv
#[derive(Args, Debug)]
struct CorpusArgs {
    /// The file with the commands
    file: std::path::PathBuf,

    /// Also print the commands that were judged wrongly
    #[arg(long)]
    wrong: bool,
}

/// Runs the command.
pub(super) fn main(args: &GuardArgs, project: &Path) -> Result<u8> {
    match &args.command {
        Command::Check(args) => check(args, project),
        Command::Rules(args) => {
            let own = guard::load(project, project)?.ctx.own_rules;
            if args.json {
                print(&show::rules_json(&own)?)?;
            } else {
                print_lines(&show::rules(&own))?;
            }
            Ok(0)
        }
        Command::Corpus(args) => measure(args),
    }
}

fn check(args: &CheckArgs, project: &Path) -> Result<u8> {
    // Where it was typed, if that is in the project.
    let cwd = env::current_dir().and_then(fs_err::canonicalize).ok();
    let cwd = cwd.filter(|cwd| cwd.starts_with(project)).unwrap_or_else(|| project.to_owned());
    let loaded = guard::load(project, &cwd)?;
    for warning in loaded.warnings.iter().chain(&guard::ignored_list(project)) {
        warn(warning);
    }
    let verdict = ralph_guard::judge(&tool_call(args)?, &loaded.ctx);
    if args.json {
        print(&format!("{}\n", serde_json::to_string(&verdict)?))?;
    } else {
        print_lines(&show::verdict(&verdict, args.explain))?;
    }
    Ok(if verdict.decision == Decision::Block { BLOCKED } else { 0 })
}

fn tool_call(args: &CheckArgs) -> Result<ToolCall> {
    if let (Some(tool), Some(input)) = (&args.tool, &args.input) {
        let input: Value = serde_json::from_str(input)
            .map_err(|error| Error::new(format!("--input is not JSON: {error}")))?;
        return Ok(ToolCall::from_hook(tool, &input));
    }
    let command_line = match &args.file {
        Some(file) => String::from_utf8_lossy(&fs_err::read(file)?).into_owned(),
        None => args.command.clone().unwrap_or_default(),
    };
    Ok(ToolCall::Shell { command_line })
}

fn measure(args: &CorpusArgs) -> Result<u8> {
    let text = fs_err::read_to_string(&args.file)?;
    let samples = corpus::parse(&text).map_err(|line| {
        let place = format!("{}:{line}", args.file.display());
        Error::new(format!("{place}: expected `block` or `allow`, a category and a command"))
    })?;
    let measurement = corpus::measure(&samples, &ralph_guard::Context::new("/home/dev/proj", "/home/dev"));
    print_lines(&show::measurement(&measurement, args.wrong))?;
    Ok(if measurement.meets_targets() { 0 } else { BLOCKED })
}
