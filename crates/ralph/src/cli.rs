//! What a user can type.

mod accept;
mod build;
mod bus;
mod clean;
mod completions;
mod demo;
mod display;
mod doctor;
mod dry_run;
mod fleet;
mod given_prompt;
mod guard;
mod hook;
mod init;
mod issue_flags;
mod job;
mod judge;
mod logs;
mod loop_args;
mod man;
mod modes;
mod named;
mod overview;
mod pause;
mod persons_command;
mod plan;
mod plugin;
mod pr;
mod prompt;
mod reject;
mod report;
mod resume;
mod review;
mod run;
mod runs;
mod safety_args;
mod sandbox;
mod say;
pub(crate) mod schema;
mod selftest;
mod serve;
mod session;
mod sign;
mod status;
mod stop;
mod stories;
mod task;
#[cfg(test)]
mod tests;
mod typed;
mod verify;
mod watch;

use std::{
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, error::ErrorKind};
use ralph_sys::{
    error::{EXIT_CODES, Error, REFUSED, Result},
    process::guardian,
    signals,
};

use crate::{
    report::streams::say,
    scripted,
    tasks::surroundings,
    term::{Stream, Width, wrap::wrap},
};

/// Help in wider lines is hard to read.
const MAX_HELP_WIDTH: usize = 100;

/// Run a coding agent again and again until the work is verifiably done
#[derive(Debug, Parser)]
#[command(
    name = "ralph",
    version,
    disable_version_flag = true,
    arg_required_else_help = true,
    after_help = EXIT_CODES,
    max_term_width = MAX_HELP_WIDTH
)]
struct Cli {
    /// Work in this directory instead of the current one
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    project_dir: Option<PathBuf>,

    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: (),

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::InitArgs),
    Run(run::RunArgs),
    Plan(plan::PlanArgs),
    Build(build::BuildArgs),
    Prompt(prompt::PromptArgs),
    Task(task::TaskArgs),
    Job(job::JobArgs),
    Review(review::ReviewArgs),
    Bus(bus::BusArgs),
    Stories(stories::StoriesArgs),
    Fleet(fleet::FleetArgs),
    Status(status::StatusArgs),
    Logs(logs::LogsArgs),
    Watch(watch::WatchArgs),
    Resume(resume::ResumeArgs),
    Accept(accept::AcceptArgs),
    Reject(reject::RejectArgs),
    Stop(stop::StopArgs),
    Say(say::SayArgs),
    Pause(pause::PauseArgs),
    Report(report::ReportArgs),
    Serve(serve::ServeArgs),
    Judge(judge::JudgeArgs),
    Verify(verify::VerifyArgs),
    Sign(sign::SignArgs),
    Pr(pr::PrArgs),
    Selftest(selftest::SelftestArgs),
    Clean(clean::CleanArgs),
    Session(session::SessionArgs),
    Plugin(plugin::PluginArgs),
    Hook(hook::HookArgs),
    Doctor(doctor::DoctorArgs),
    Sandbox(sandbox::SandboxArgs),
    Guard(guard::GuardArgs),
    Demo(demo::DemoArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    /// Follow a script instead of a model
    #[command(name = ralph_agents::scripted::COMMAND, hide = true)]
    ScriptedAgent {
        #[arg(long)]
        text: bool,
        script: PathBuf,
    },
    /// End the processes of a run when its ralph is gone
    #[command(name = guardian::COMMAND, hide = true)]
    Guardian {
        run: String,
        mark: String,
    },
    /// Run a command inside a sandbox and answer for it outside
    #[command(name = ralph_sandbox::COMMAND, hide = true)]
    Sandboxed(sandbox::OutsideArgs),
    /// Take the last steps into a sandbox that another program made
    #[command(name = ralph_sandbox::bwrap::COMMAND, hide = true)]
    SandboxInside {
        link: i32,
        rules: PathBuf,
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Run a command that sees a folder at the path of another
    #[command(name = ralph_sandbox::moved::COMMAND, hide = true)]
    Moved {
        views: String,
        #[arg(last = true, required = true)]
        command: Vec<OsString>,
    },
    /// Give git the content of an LFS file
    #[command(name = crate::workspace::lfs::COMMAND, hide = true)]
    LfsFilter(crate::workspace::lfs::FilterCall),
    /// Work on one item of a fleet
    #[command(name = crate::fleet::LANE_COMMAND, hide = true)]
    FleetLane(crate::fleet::lane_process::LaneCall),
    /// Work on one item of a fleet on another machine
    #[cfg(feature = "nats")]
    #[command(name = crate::fleet::FAR_LANE_COMMAND, hide = true)]
    FleetFarLane(crate::fleet::lane_process::LaneCall),
    /// Land one candidate of a fleet
    #[command(name = crate::fleet::LANDER_COMMAND, hide = true)]
    FleetLander(crate::fleet::lander::LanderCall),
    /// Try what is forbidden inside a sandbox
    #[command(name = ralph_sandbox::self_test::COMMAND, hide = true)]
    SandboxProbe {
        inside: PathBuf,
        outside: PathBuf,
        port: u16,
    },
}

/// Runs the program.
pub fn main() -> ExitCode {
    signals::forget_inherited();
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some(call) = hook::quick(&args) {
        return exit(hook::main(&call));
    }
    let (cli, is_watched) = match read(args) {
        Ok(read) => read,
        Err(error) => {
            // Help and version are data; what is wrong with the arguments is talk.
            let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            if is_answer {
                let _ = error.print();
                return ExitCode::SUCCESS;
            }
            let _ = write!(
                anstream::stderr().lock(),
                "{}",
                broken(Stream::Err, &error.render().ansi().to_string())
            );
            return ExitCode::from(REFUSED);
        }
    };
    exit(dispatch(cli, is_watched))
}

fn exit(result: Result<u8>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        // Its reader has gone; that is no error to talk about.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::from(REFUSED)
        }
    }
}

fn dispatch(cli: Cli, is_watched: bool) -> Result<u8> {
    if let Command::ScriptedAgent { text, script } = &cli.command {
        return scripted::main(script, *text);
    }
    if let Command::Guardian { run, mark } = &cli.command {
        return Ok(guardian::main(run, mark).map(|()| 0)?);
    }
    match &cli.command {
        Command::Sandboxed(args) => return sandbox::outside(args),
        Command::SandboxInside { link, rules, command } => {
            return ralph_sandbox::bwrap::inside(*link, rules, command);
        }
        Command::LfsFilter(call) => {
            let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
            return Ok(crate::workspace::lfs::filter(call, &mut input, &mut output).map(|()| 0)?);
        }
        Command::Moved { views, command } => return ralph_sandbox::moved::run(views, command),
        Command::SandboxProbe { inside, outside, port } => {
            return ralph_sandbox::self_test::probe(inside, outside, *port);
        }
        Command::Hook(args) => return hook::main(args),
        Command::FleetLane(call) => return crate::fleet::lane_process::main(call),
        #[cfg(feature = "nats")]
        Command::FleetFarLane(call) => return crate::fleet::far::lane(call),
        Command::FleetLander(call) => return crate::fleet::lander::main(call),
        _ => {}
    }
    let works_on_task = matches!(cli.command, Command::Task(_) | Command::Job(_) | Command::Bus(_));
    let project = match surroundings() {
        // An agent may be in any folder when it calls.
        Some((project, _)) if works_on_task && cli.project_dir.is_none() => project_dir(Some(project))?,
        Some(_) | None => project_dir(cli.project_dir)?,
    };
    if is_watched {
        return watch::own(&project);
    }
    match cli.command {
        Command::Init(args) => init::main(&args, &project),
        Command::Run(args) => run::main(&args, &project),
        Command::Plan(args) => plan::main(&args, &project),
        Command::Build(args) => build::main(&args, &project),
        Command::Prompt(args) => prompt::main(&args, &project),
        Command::Review(args) => review::main(&args, &project),
        Command::Task(args) => task::main(&args, &project),
        Command::Job(args) => job::main(&args, &project),
        Command::Bus(args) => bus::main(&args, &project),
        Command::Stories(args) => stories::main(&args, &project),
        Command::Fleet(args) => fleet::main(&args, &project),
        Command::Session(args) => session::main(&args, &project),
        Command::Plugin(args) => plugin::main(&args, &project),
        Command::Status(args) => status::main(&args, &project),
        Command::Logs(args) => logs::main(&args, &project),
        Command::Watch(args) => watch::main(&args, &project),
        Command::Resume(args) => resume::main(&args, &project),
        Command::Accept(args) => accept::main(&args, &project),
        Command::Reject(args) => reject::main(&args, &project),
        Command::Stop(args) => stop::main(&args, &project),
        Command::Say(args) => say::main(&args, &project),
        Command::Pause(args) => pause::main(&args, &project),
        Command::Report(args) => report::main(&args, &project),
        Command::Serve(args) => serve::main(&args),
        Command::Judge(args) => judge::main(&args, &project),
        Command::Verify(args) => verify::main(&args, &project),
        Command::Sign(args) => sign::main(&args, &project),
        Command::Pr(args) => pr::main(&args, &project),
        Command::Selftest(args) => selftest::main(&args, &project),
        Command::Clean(args) => clean::main(&args, &project),
        Command::Doctor(args) => doctor::main(&args, &project),
        Command::Sandbox(args) => sandbox::main(&args, &project),
        Command::Guard(args) => guard::main(&args, &project),
        Command::Demo(args) => demo::main(&args),
        Command::Schema(args) => schema::main(&args),
        Command::Completions(args) => completions::main(&args),
        Command::Man(args) => man::main(&args),
        Command::Hook(_)
        | Command::ScriptedAgent { .. }
        | Command::Guardian { .. }
        | Command::Sandboxed(_)
        | Command::SandboxInside { .. }
        | Command::LfsFilter(_)
        | Command::Moved { .. }
        | Command::FleetLane(_)
        | Command::FleetLander(_)
        | Command::SandboxProbe { .. } => Ok(0),
        #[cfg(feature = "nats")]
        Command::FleetFarLane(_) => Ok(0),
    }
}

/// Whether a loop is to be shown on a screen: it then runs beside this process.
fn is_watched(typed: &ArgMatches) -> bool {
    let is_given = matches!(typed.try_get_one::<bool>("watch"), Ok(Some(true)));
    is_given || typed.subcommand().is_some_and(|(_, typed)| is_watched(typed))
}

/// What was typed. All that could have been typed is a large tree, which is made once.
fn read(args: Vec<OsString>) -> std::result::Result<(Cli, bool), clap::Error> {
    let mut command = Cli::command();
    let args = typed::meant(&command, args);
    if overview::is_wanted(&args) {
        let columns = Width::of(Stream::Out).room().map_or(MAX_HELP_WIDTH, |room| room.min(MAX_HELP_WIDTH));
        command = overview::grouped(command, columns);
    }
    let words = args.clone();
    let typed = command
        .try_get_matches_from_mut(args)
        .and_then(|typed| Ok((Cli::from_arg_matches(&typed)?, is_watched(&typed))));
    typed.map_err(|error| overview::with_suggestion(error, &command, &words).format(&mut command))
}

fn project_dir(given: Option<PathBuf>) -> Result<PathBuf> {
    let dir = given.unwrap_or_else(|| PathBuf::from("."));
    // Resolved, so that one project has one record whatever way it is named.
    fs_err::canonicalize(&dir)
        .ok()
        .filter(|path| path.is_dir())
        .ok_or_else(|| Error::new(format!("`{}` is not a directory", dir.display())))
}

fn complain(error: &Error) {
    let (red, cyan) = (anstyle::AnsiColor::Red.on_default(), anstyle::AnsiColor::Cyan.on_default());
    let hints = error.hints().iter().map(|hint| format!("{cyan}hint:{cyan:#} {hint}\n"));
    let text = format!("{red}error:{red:#} {error}\n{}", hints.collect::<String>());
    say(&coloured(&broken(Stream::Err, &text)));
}

/// Says something that does not stop ralph.
fn warn(text: &str) {
    let yellow = anstyle::AnsiColor::Yellow.on_default();
    let text = format!("{yellow}warning:{yellow:#} {text}\n");
    say(&coloured(&broken(Stream::Err, &text)));
}

/// The text as standard error wants it: with its colours or without.
fn coloured(text: &str) -> String {
    match anstream::AutoStream::choice(&io::stderr()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(text).to_string(),
        anstream::ColorChoice::Auto | anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => {
            text.to_owned()
        }
    }
}

/// The text with its lines broken where a terminal would break words.
fn broken(stream: Stream, text: &str) -> String {
    Width::of(stream).room().map_or_else(|| text.to_owned(), |room| wrap(text, room))
}

/// Prints what people read.
fn print_lines(text: &str) -> Result<()> {
    print(&broken(Stream::Out, text))
}

/// Prints data.
fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
