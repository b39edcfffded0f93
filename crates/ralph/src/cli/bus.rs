//! `ralph bus`: what those who work on a task tell each other.

use std::{
    env,
    fmt::Write,
    io::{self, IsTerminal, Read},
    path::Path,
    thread,
    time::Duration,
};

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use ralph_core::message::{Message, is_kind};
use ralph_sys::{
    error::{Error, Result},
    process::guardian::RUN_VARIABLE,
};
use serde_json::json;

use super::{display::settings_of, print};
use crate::{
    tasks::{
        Tasks,
        bus::{Bus, Draft},
        parse_id, surroundings,
    },
    term::{Palette, printable},
};

/// Between two looks at a bus that is followed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Post to the message bus of a task, or read it
///
/// Agents that work on a task use the bus to tell each other, and you, what they find. It is a file in the task's
/// folder, TASK-MESSAGE-BUS.md; the project has one too. Inside a task, ralph uses the bus of that task.
///
/// Example: ralph bus read --task greeter --follow
#[derive(Args, Debug)]
pub(super) struct BusArgs {
    #[command(subcommand)]
    command: BusCommand,
}

#[derive(Debug, Subcommand)]
enum BusCommand {
    Post(PostArgs),
    Read(ReadArgs),
}

/// Whose bus.
#[derive(Args, Debug)]
struct Whose {
    /// The bus of this task; without it, of the task that the caller works on, or else of the project
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    task: Option<String>,

    /// The bus of the project, even inside a task
    #[arg(long, conflicts_with = "task")]
    project: bool,
}

/// Post a message and print its id
///
/// Example: ralph bus post --type FACT --body "The parser is done."
#[derive(Args, Debug)]
struct PostArgs {
    #[command(flatten)]
    whose: Whose,

    /// What kind of message: INFO, WARNING, ERROR, FACT, or any other word
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "INFO", value_parser = kind)]
    kind: String,

    /// The text; without it, ralph reads standard input
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,

    /// Print the whole message as JSON instead of its id
    #[arg(long)]
    json: bool,
}

/// Print messages, the oldest first
///
/// Example: ralph bus read --tail 20 --type ERROR
#[derive(Args, Debug)]
struct ReadArgs {
    #[command(flatten)]
    whose: Whose,

    /// Only this many of the newest
    #[arg(short = 'n', long, value_name = "N")]
    tail: Option<usize>,

    /// Only those after the message with this id
    #[arg(short, long, value_name = "ID")]
    since: Option<String>,

    /// Print new messages as they come, until interrupted
    #[arg(short, long)]
    follow: bool,

    /// Only those of this type; may be given several times
    #[arg(short = 't', long = "type", value_name = "TYPE", value_parser = kind)]
    kinds: Vec<String>,

    /// Print one JSON object per message
    #[arg(long)]
    json: bool,
}

/// Posts or reads.
pub(super) fn main(args: &BusArgs, project: &Path) -> Result<u8> {
    match &args.command {
        BusCommand::Post(args) => post(args, project),
        BusCommand::Read(args) => read(args, project),
    }
}

impl Whose {
    /// The bus, and the task whose it is.
    fn find(&self, project: &Path) -> Result<(Bus, Option<String>)> {
        let tasks = Tasks::of(project);
        let task = match &self.task {
            Some(id) => Some(tasks.existing(id)?),
            None if self.project => None,
            None => surroundings().map(|(_, task)| task),
        };
        Ok(match task {
            Some(task) => (task.bus(), Some(task.id)),
            None => (tasks.bus(), None),
        })
    }
}

fn post(args: &PostArgs, project: &Path) -> Result<u8> {
    let (bus, task) = args.whose.find(project)?;
    let body = match &args.body {
        Some(body) => body.clone(),
        None => standard_input()?,
    };
    if task.is_none() {
        Tasks::of(project).make()?;
    }
    // What an agent says about its task on the bus of the project should say which task it is.
    let task = task.or_else(|| surroundings().map(|(_, task)| task.id));
    let run = env::var(RUN_VARIABLE).ok().filter(|run| !run.is_empty() && !run.contains(char::is_control));
    let draft = Draft { kind: args.kind.clone(), task, run, key: None, body };
    if let Some(message) = bus.post(draft)? {
        print(&if args.json { format!("{}\n", json!(message)) } else { format!("{}\n", message.id) })?;
    }
    Ok(0)
}

fn standard_input() -> Result<String> {
    if io::stdin().is_terminal() {
        return Err(Error::new("there is no message").hint("say it: --body TEXT, or on standard input"));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| {
        Error::new("the message is not text in UTF-8").hint("put it into a file, and say where that is")
    })
}

fn read(args: &ReadArgs, project: &Path) -> Result<u8> {
    let (bus, _) = args.whose.find(project)?;
    let (mut messages, mut position) = bus.read_from(0)?;
    if let Some(since) = &args.since {
        let Some(at) = messages.iter().position(|message| message.id == *since) else {
            return Err(Error::new(format!("there is no message `{since}` on {}", bus.path().display()))
                .hint("`ralph bus read` shows the ids"));
        };
        messages.drain(..=at);
    }
    messages.retain(|message| args.wants(message));
    let surplus = args.tail.map_or(0, |tail| messages.len().saturating_sub(tail));
    messages.drain(..surplus);
    let palette = Palette::of(settings_of(project).output.color, &io::stdout());
    args.show(&messages, palette)?;
    if !args.follow {
        return Ok(0);
    }
    loop {
        thread::sleep(POLL_INTERVAL);
        (messages, position) = bus.read_from(position)?;
        messages.retain(|message| args.wants(message));
        args.show(&messages, palette)?;
    }
}

impl ReadArgs {
    fn wants(&self, message: &Message) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kind| kind.eq_ignore_ascii_case(&message.kind))
    }

    fn show(&self, messages: &[Message], palette: Palette) -> Result<()> {
        let text = |message: &Message| {
            if self.json { format!("{}\n", json!(message)) } else { for_people(message, palette) }
        };
        print(&messages.iter().map(text).collect::<String>())
    }
}

fn for_people(message: &Message, palette: Palette) -> String {
    let Palette { strong, quiet, .. } = palette;
    let Message { id, at, kind, task, run, body, .. } = message;
    let at = at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
    let mut text = format!("{strong}{kind}{strong:#} {quiet}{at}  {id}");
    for (name, value) in [("task", task), ("run", run)] {
        if let Some(value) = value {
            let _ = write!(text, "  {name} {value}");
        }
    }
    let _ = writeln!(text, "{quiet:#}");
    for line in body.trim_end().lines() {
        let _ = writeln!(text, "  {}", printable(line));
    }
    text
}

fn kind(text: &str) -> std::result::Result<String, String> {
    let expected = "expected one word of letters, digits, `_`, `-` and `.`";
    if is_kind(text) { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}
