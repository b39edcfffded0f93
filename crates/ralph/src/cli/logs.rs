//! `ralph logs`: a run again, from its record, while it happens or afterwards.

use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use clap::Args;
use jiff::Timestamp;
use ralph_agents::Parser;
use ralph_core::{
    engine::{
        Run,
        entry::Entry,
        event::{Event, RunStarted},
    },
    key_mask::KeyMask,
};
use ralph_sys::error::{Error, Result};

use super::{display::settings_of, fleet::seen, runs};
use crate::{
    fleet::{FarRun, FleetDir},
    journal::{
        self,
        run_dir::{AGENT_STREAM, RunDir},
    },
    report::{Reporter, streams::say},
    settings::flags::DisplayFlags,
};

/// How often a followed run is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Show what happened in a run, while it happens or afterwards
///
/// Shows the run from its record as it looked at the time, with as much detail as you ask for now.
///
/// Example: ralph logs -f
#[derive(Args, Debug)]
pub(super) struct LogsArgs {
    /// The id of a run or of a fleet, or its beginning; without it, the newest run of this project
    run: Option<String>,

    /// Continue to show the run until it ends
    #[arg(short, long)]
    follow: bool,

    /// Print the agent's streams as they were
    #[arg(long)]
    raw: bool,

    /// Show only this iteration
    #[arg(long, value_name = "N")]
    iteration: Option<u32>,

    #[command(flatten)]
    look: DisplayFlags,
}

/// Shows the run.
pub(super) fn main(args: &LogsArgs, project: &Path) -> Result<u8> {
    if let Some(fleet) = args.run.as_deref().and_then(FleetDir::by_id) {
        if args.raw || args.iteration.is_some() {
            return Err(Error::new("a fleet has no stream and no iterations of its own")
                .hint("`ralph logs RUN` shows the runs in its lanes; `ralph status --all` lists them"));
        }
        return seen::logs(&fleet, args.follow, &args.look.fleet_style(&settings_of(project)));
    }
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    if args.raw {
        FarRun::refuse(&run, &format!("logs {} --raw", run.id()))?;
    } else if let Some(far) = FarRun::of(&run) {
        let (id, worker) = (run.id(), far.worker);
        say(&format!("what its agent prints is on the machine of worker {worker}: ralph logs {id}\n"));
    }
    // A person who looks for what happened is shown what can be read.
    if let Some(damage) = journal::damage(&run.journal())? {
        super::warn(&damage.to_string());
    }
    let reporters = args.look.replayer(&settings_of(project));
    let mut replay = Replay { args, run, reporters, position: 0, known: None, turn: None, ended: false };
    loop {
        // Looked at before the record: what a run wrote before it ended is then shown.
        let is_running = journal::is_running(&replay.run.journal());
        replay.step()?;
        if !args.follow || replay.ended || !is_running {
            return replay.finish();
        }
        thread::sleep(POLL_INTERVAL);
    }
}

struct Replay<'a> {
    args: &'a LogsArgs,
    run: RunDir,
    reporters: Vec<Box<dyn Reporter>>,
    /// How far the journal was read.
    position: u64,
    /// The run as far as it was read.
    known: Option<Run>,
    turn: Option<TurnStream>,
    ended: bool,
}

/// The agent's stream of a turn, as far as it was shown.
struct TurnStream {
    path: PathBuf,
    position: u64,
    parser: Box<dyn Parser>,
    /// Records of old have keys in them.
    mask: KeyMask,
}

impl Replay<'_> {
    /// Shows everything that was recorded since the last step.
    fn step(&mut self) -> Result<()> {
        let mut entries = Vec::new();
        self.position =
            journal::read_from(&self.run.journal(), self.position, &mut |entry| entries.push(entry))?;
        for entry in entries {
            self.entry(&entry)?;
        }
        if self.args.follow {
            self.reporters.moment(Timestamp::now());
        }
        self.stream()?;
        self.reporters.flush();
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Result<()> {
        match &entry.event {
            Event::RunStarted(started) => self.known = Some(Run::new(RunStarted::clone(started))),
            Event::TurnEnded(_) => {
                // The stream itself knows no time.
                self.reporters.moment(entry.at);
                self.stream()?;
                if let Some(mut turn) = self.turn.take() {
                    let rest = turn.mask.finish();
                    turn.parser.push(&rest, &mut |event| self.reporters.agent(&event));
                    turn.parser.finish(&mut |event| self.reporters.agent(&event));
                }
            }
            Event::RunEnded { .. } => self.ended = true,
            Event::RunResumed { .. } => self.ended = false,
            _ => {}
        }
        let Some(known) = &mut self.known else { return Ok(()) };
        known.apply(entry);
        let is_wanted = self.args.iteration.is_none_or(|wanted| wanted == iteration(known));
        if let Event::TurnStarted(turn) = &entry.event {
            let path = self.run.turn(turn.iteration, turn.attempt).join(AGENT_STREAM);
            let parser =
                ralph_agents::adapter(&known.started.setup.agent_named(turn.agent.as_deref()).command)
                    .parser();
            self.turn = Some(TurnStream { path, position: 0, parser, mask: KeyMask::default() });
        }
        if is_wanted && !self.args.raw {
            self.reporters.event(known, entry);
        }
        Ok(())
    }

    /// What is being shown belongs to this one; 0 before the first.
    fn iteration(&self) -> u32 {
        self.known.as_ref().map_or(0, iteration)
    }

    /// All that there was has been shown.
    fn finish(&self) -> Result<u8> {
        match self.args.iteration {
            Some(wanted) if wanted == 0 || self.iteration() < wanted => {
                Err(Error::new(format!("run {} has no iteration {wanted}", self.run.id()))
                    .hint(format!("it came to iteration {}", self.iteration())))
            }
            Some(_) | None => Ok(0),
        }
    }

    /// Shows what the agent has printed since the last look.
    fn stream(&mut self) -> Result<()> {
        let is_wanted = self.args.iteration.is_none_or(|wanted| wanted == self.iteration());
        let Some(turn) = &mut self.turn else { return Ok(()) };
        // The file may not be there: a turn that could not start, a disk that was full.
        let Ok(mut file) = ralph_sys::files::open(&turn.path) else { return Ok(()) };
        file.seek(SeekFrom::Start(turn.position))?;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let length = file.read(&mut chunk)?;
            if length == 0 {
                return Ok(());
            }
            turn.position += length as u64;
            let shown = turn.mask.push(chunk[..length].to_vec());
            match (is_wanted, self.args.raw) {
                (false, _) => {}
                (true, true) => io::stdout().lock().write_all(&shown)?,
                (true, false) => {
                    turn.parser.push(&shown, &mut |event| self.reporters.agent(&event));
                }
            }
        }
    }
}

/// The iteration of the last turn; 0 before the first.
fn iteration(known: &Run) -> u32 {
    known.memory.turn.as_ref().map_or(0, |last| last.turn.iteration)
}
