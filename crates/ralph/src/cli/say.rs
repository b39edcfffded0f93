//! `ralph say`: a word to a run on its way.

mod far;
pub(super) mod said;
mod target;

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use ralph_core::{
    engine::{PersonNote, Run, event::Event, outcome::Outcome},
    key_mask::masked_bytes,
    prompt::notes::{MAX_NOTE_LEN, NoNote, note},
};
use ralph_sys::error::{Error, Result};

use self::target::Addressee;
use super::{persons_command::refuse_inside_run, print_lines, session::bound_to};
use crate::{
    fleet::{FarRun, Word},
    journal::{
        self,
        requests::{self, PersonRequest},
        run_dir::RunDir,
    },
    report::summary::beginning,
};

/// How long a run may take to say that it has heard: it looks once in a second.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Say something to a running loop
///
/// The next turn gets your note after its prompt; a run does not complete with an unread note. With --keep, every
/// following turn gets it. With --now, ralph first ends the running turn and keeps its work. --list shows the notes,
/// --withdraw removes one.
///
/// Example: ralph say "keep the old names in the public API"
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Args, Debug)]
pub(super) struct SayArgs {
    /// The run's id or its beginning, a fleet, a lane (`lane-2`) or a worker; without it, what runs in this project
    #[arg(value_name = "RUN")]
    first: Option<String>,

    /// What to tell the agent
    #[arg(value_name = "TEXT")]
    second: Option<String>,

    /// Tell every following turn, not only the next
    #[arg(long)]
    keep: bool,

    /// End the running turn first; its work is kept
    #[arg(long)]
    now: bool,

    /// Show what was said
    #[arg(long, conflicts_with_all = ["second", "keep", "now"])]
    list: bool,

    /// Print one JSON object for each note
    #[arg(long, requires = "list")]
    json: bool,

    /// Remove this note
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["second", "keep", "now", "list"])]
    withdraw: Option<u32>,
}

/// Says, lists or withdraws.
pub(super) fn main(args: &SayArgs, project: &Path) -> Result<u8> {
    if args.list {
        return said::list(&target::runs(args.first.as_deref(), project)?, args.json);
    }
    refuse_inside_run("say")?;
    if let Some(number) = args.withdraw {
        let run = target::only(args.first.as_deref(), project)?;
        FarRun::refuse(&run, &format!("say --withdraw {number} {}", run.id()))?;
        return withdraw(&run, number);
    }
    let (run, text) = match (&args.first, &args.second) {
        (Some(run), Some(text)) => (Some(run.as_str()), text),
        (Some(text), None) if !target::is_one(text, project) => (None, text),
        (Some(_) | None, _) => return Err(Error::new("say what to tell the agent: ralph say \"...\"")),
    };
    let text = note(text).map_err(refused)?;
    for addressee in target::addressees(run, project)? {
        let text = text.clone();
        match addressee {
            Addressee::Here(run) => say(&run, &PersonRequest::Say { text, keep: args.keep, now: args.now })?,
            // What lies on the servers in plain has no keys in it.
            Addressee::Far(far) => {
                let text = String::from_utf8_lossy(&masked_bytes(text.as_bytes())).into_owned();
                far::say(&far, &Word { text, keep: args.keep, now: args.now })?;
            }
        }
    }
    Ok(0)
}

fn refused(reason: NoNote) -> Error {
    match reason {
        NoNote::Empty => Error::new("say what to tell the agent: ralph say \"...\""),
        NoNote::TooLong(len) => {
            Error::new(format!("a note has at most {MAX_NOTE_LEN} bytes, and this one has {len}"))
                .hint("write it into a file of the project, and name the file in the note")
        }
    }
}

fn say(run: &RunDir, request: &PersonRequest) -> Result<()> {
    let id = run.id();
    refuse_complete(run, &folded(run)?)?;
    let number = requests::leave(run, request)?;
    let PersonRequest::Say { keep, now, .. } = *request else { return Ok(()) };
    let is_heard = answered(run, number)?;
    let after = folded(run)?;
    let heard = requests::taken(run, after.clone());
    if after.state.requests_taken() < number {
        // It came to its end before it has looked again.
        refuse_complete(run, &after)?;
    }
    let note = heard.state.person_notes().len();
    let is_there = journal::process(run).is_some() || bound_to(run).is_some();
    let when = match (is_there, bound_to(run).is_some(), now && is_heard, keep) {
        (false, ..) => {
            format!("the run is not running; the agent reads it when you continue: ralph resume {id}")
        }
        (_, true, ..) => "the agent reads it when it next stops".to_owned(),
        (_, _, true, _) if after.state.is_in_turn() => {
            "the running turn ends, and the next one reads it".to_owned()
        }
        (.., true) => "every turn from the next on reads it".to_owned(),
        _ => "the next turn reads it".to_owned(),
    };
    print_lines(&format!("note {note} for run {id}: {when}\n"))
}

/// Refuses a word to a run that will have no turn any more.
fn refuse_complete(dir: &RunDir, run: &Run) -> Result<()> {
    let id = dir.id();
    match run.state.outcome() {
        Some(Outcome::Done) if run.state.needs_person() => {
            Err(Error::new(format!("run {id} is done as far as the checks go, and waits for you"))
                .hint(format!("send it back with your words: ralph reject {id} \"...\"")))
        }
        Some(Outcome::Done) => Err(Error::new(format!("run {id} is complete; no turn will read it"))
            .hint("start another run with your words: ralph run \"...\"")),
        Some(_) | None => Ok(()),
    }
}

fn withdraw(run: &RunDir, number: u32) -> Result<u8> {
    let (id, known) = (run.id(), requests::taken(run, folded(run)?));
    let note = known.state.person_notes().iter().find(|note| note.number == number);
    let Some(note) = note else {
        return Err(Error::new(format!("run {id} has no note {number}"))
            .hint(format!("`ralph say {id} --list` shows what was said")));
    };
    refuse_told(note, &known)?;
    let text = beginning(&note.text);
    let request = requests::leave(run, &PersonRequest::Withdraw { note: number })?;
    answered(run, request)?;
    print_lines(&format!("note {number} of run {id} is withdrawn: {text}\n"))?;
    Ok(0)
}

fn refuse_told(note: &PersonNote, run: &Run) -> Result<()> {
    let number = note.number;
    let in_turn = run.memory.turn.as_ref().filter(|_| run.state.is_in_turn());
    let is_being_told = in_turn.is_some_and(|last| last.turn.notes.contains(&number));
    if note.withdrawn {
        return Err(Error::new(format!("note {number} is withdrawn already")));
    }
    match note.told {
        Some(iteration) if !note.keep => {
            Err(Error::new(format!("note {number} was read in iteration {iteration}"))
                .hint("say what applies instead: ralph say \"...\""))
        }
        None if !note.keep && is_being_told => {
            Err(Error::new(format!("the running turn has read note {number}"))
                .hint("say what applies instead, and end the turn: ralph say --now \"...\""))
        }
        Some(_) | None => Ok(()),
    }
}

/// The run as its record has it.
pub(super) fn folded(run: &RunDir) -> Result<Run> {
    Ok(journal::fold_brief(&run.journal(), &mut |_| {})?.run)
}

/// Waits until the run says that it has taken a request; whether it has. One that is busy takes it later.
pub(super) fn answered(run: &RunDir, request: u64) -> Result<bool> {
    if journal::process(run).is_none() {
        return Ok(false);
    }
    let (started, mut position, mut is_taken) = (Instant::now(), 0, false);
    while !is_taken && started.elapsed() < ANSWER_TIMEOUT {
        position = journal::read_from(&run.journal(), position, &mut |entry| {
            is_taken |= taken_by(&entry.event).is_some_and(|taken| request <= taken);
        })?;
        if !is_taken && !journal::is_running(&run.journal()) {
            break;
        }
        thread::sleep(if is_taken { Duration::ZERO } else { POLL_INTERVAL });
    }
    Ok(is_taken)
}

fn taken_by(event: &Event) -> Option<u64> {
    match event {
        Event::NoteSaid(said) => Some(said.request),
        Event::NoteWithdrawn { request, .. }
        | Event::PauseRequested { request }
        | Event::PauseEnded { request } => Some(*request),
        _ => None,
    }
}
