//! A person on a third machine who only looks: the journals of a fleet and of its runs, copied from the board as they grow, so
//! that the commands of this machine show them.

use std::{fs::File, io::Write, os::unix::fs::OpenOptionsExt, time::Duration};

use ralph_board::{Board, LANDER, LoginDir, Piece};
use ralph_core::fleet::{FleetEntry, FleetState};
use ralph_sys::{
    error::{Error, Result},
    file_lock,
};

use super::mirror::Mirror;
use crate::{
    fleet::FleetDir,
    report::{self, fleet::FleetStyle},
};

/// Others hold a journal for the moment in which they look at whether its fleet is alive.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// How long one look for news takes.
const LOOK_TIMEOUT: Duration = Duration::from_millis(500);

/// What is known of a fleet at the moment, and the folder that a copy of it would have. Nothing is written.
pub(crate) fn look(login: &LoginDir, fleet: Option<&str>) -> Result<(FleetDir, FleetState)> {
    let board = Board::connect(&login.board, &login.login)?;
    let (fleet, log) = meant(&board, fleet)?;
    Ok((FleetDir::at(FleetDir::mirror(&fleet)?), log.state))
}

/// Copies what happens, and shows it, until the fleet has ended.
pub(crate) fn watch(login: &LoginDir, fleet: Option<&str>, style: &FleetStyle) -> Result<u8> {
    let board = Board::connect(&login.board, &login.login)?;
    let (fleet, known) = meant(&board, fleet)?;
    let path = FleetDir::mirror(&fleet)?;
    if FleetDir::by_id(&fleet).is_some_and(|known| known.id() == fleet && known.path() != path) {
        return Err(Error::new(format!("fleet {fleet} belongs to this machine"))
            .hint(format!("ralph logs {fleet} -f")));
    }
    let dir = FleetDir::create_at(path)?;
    let mut copy = take(&dir)?;
    let (mut log, mut mirror) = (FleetLog::default(), Mirror::new(&fleet, &known.state.started.plan)?);
    let mut follow = board.follow(&fleet, 0);
    let mut trouble: Option<String> = None;
    loop {
        // What was recorded before the end is shown before it.
        let wait = if log.has_ended() { Duration::ZERO } else { LOOK_TIMEOUT };
        let piece = match follow.next(wait) {
            Ok(piece) => piece,
            Err(error) => {
                let error = error.to_string();
                if trouble.as_ref() != Some(&error) {
                    report::fleet::line("board", &error);
                    trouble = Some(error);
                }
                std::thread::sleep(LOOK_TIMEOUT);
                continue;
            }
        };
        trouble = None;
        let Some(piece) = piece else {
            if log.has_ended() {
                return Ok(0);
            }
            mirror.release(&log.state);
            continue;
        };
        if piece.is_of_fleet() {
            copy.write_all(&piece.bytes)?;
            let entries = log.take(&piece);
            log.check(&fleet)?;
            entries.iter().try_for_each(|entry| style.replay(entry))?;
        } else {
            mirror.take(&piece);
        }
        mirror.release(&log.state);
    }
}

/// The fleet that was named, or the one that was heard of last, with its log.
fn meant(board: &Board, fleet: Option<&str>) -> Result<(String, FleetLog)> {
    let fleet = match fleet {
        Some(fleet) => fleet.to_owned(),
        None => board.newest_fleet()?.ok_or_else(|| {
            Error::new("there is no fleet on this board yet")
                .hint("on the machine with the project: ralph fleet --login DIR")
        })?,
    };
    let mut log = FleetLog::default();
    let mut follow = board.follow_fleet(&fleet, &LANDER.parse()?);
    while let Some(piece) = follow.next(Duration::ZERO)? {
        log.take(&piece);
    }
    log.check(&fleet)?;
    Ok((fleet, log))
}

/// The copy of the journal, empty and locked: one process follows a fleet, and others look at what it copies.
fn take(dir: &FleetDir) -> Result<File> {
    let file = File::options().create(true).append(true).mode(0o600).open(dir.journal())?;
    if file_lock::take_within(&file, LOCK_TIMEOUT).is_err() {
        return Err(Error::new(format!("another process of this machine follows fleet {}", dir.id()))
            .hint(format!("ralph logs {} -f", dir.id())));
    }
    file.set_len(0)?;
    Ok(file)
}

/// The journal of a fleet, as far as it arrived.
#[derive(Default)]
struct FleetLog {
    state: FleetState,
    /// The beginning of a line whose rest comes with the next piece.
    rest: Vec<u8>,
}

impl FleetLog {
    /// Takes a piece in; returns its entries.
    fn take(&mut self, piece: &Piece) -> Vec<FleetEntry> {
        if 0 < piece.missing {
            let missing = piece.missing;
            report::fleet::line("board", &format!("{missing} bytes of the fleet's log are no longer there"));
        }
        self.rest.extend_from_slice(&piece.bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        let lines = whole.split(|byte| *byte == b'\n');
        let entries: Vec<FleetEntry> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        for entry in &entries {
            self.state.apply(entry);
        }
        entries
    }

    /// Refuses a log without its beginning: nothing else says what the fleet is about.
    fn check(&self, fleet: &str) -> Result<()> {
        if self.state.started.fleet == fleet {
            return Ok(());
        }
        Err(Error::new(format!("the board has no beginning of the log of fleet {fleet}"))
            .hint("the id is that of a fleet which `ralph fleet` started; a board keeps logs for two weeks"))
    }

    fn has_ended(&self) -> bool {
        self.state.outcome.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn a_reader_of_the_copy_is_no_process_that_follows() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = FleetDir::at(folder.path().to_owned());
        let reader = File::create(dir.journal()).expect("a journal");
        reader.lock_shared().expect("a lock");
        thread::scope(|scope| {
            let (goes, gone) = mpsc::channel::<()>();
            scope.spawn(move || gone.recv().map(|()| drop(reader)));
            goes.send(()).expect("it waits");
            take(&dir).expect("the reader looks for a moment only");
        });
        let _other = take(&dir).expect("nothing has it any more");
        assert!(take(&dir).is_err());
    }
}
