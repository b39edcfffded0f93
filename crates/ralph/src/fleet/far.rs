//! A fleet on many machines: the coordinator posts items on a board, workers elsewhere take them, run them in lanes of their
//! own and hand in commits; the lander here judges them as it does those of its own lanes.

mod attempt;
mod bounds;
mod by_hand;
mod candidate;
mod desk;
mod far_lane;
mod fleet_log;
mod keeper;
mod mirror;
mod notes;
mod posting;
mod shipping;
mod watcher;
mod word;
mod worker;

use std::{path::PathBuf, sync::Arc, time::Duration};

use ralph_board::{Board, BoardLedger, Key, Login};
use ralph_core::fleet::{FleetBoard, FleetState, LANDER};
use ralph_sys::error::{Error, Result};

pub(super) use by_hand::{discard, land};
pub(super) use candidate::fetch_candidate;
pub(super) use desk::BoardDesk;
pub(crate) use far_lane::main as lane;
pub(crate) use watcher::{look, watch};
pub(crate) use word::say;
pub(crate) use worker::{WorkerSetup, drain, work};

/// As whom and how the lander comes to its board.
fn connect(board: &FleetBoard) -> Result<Board> {
    let seed = Some(board.seed.clone()).filter(|seed| *seed != PathBuf::new());
    let login = Login { name: LANDER.parse()?, seed, ca: board.ca.clone(), api: None };
    Board::connect(&board.url.parse()?, &login)
}

/// The silence after which a worker is taken for dead, if a test has no minute.
fn silence_of_tests() -> Option<Duration> {
    let text =
        if cfg!(debug_assertions) { std::env::var("RALPH_TEST_SILENCE_MS").ok()? } else { return None };
    text.parse().ok().map(Duration::from_millis)
}

/// The logs of a fleet of this machine, for what a person appends to them: everything is signed as postings are.
fn logs_of(state: &FleetState) -> Result<BoardLedger> {
    let fleet = &state.started.fleet;
    let elsewhere = || {
        Error::new(format!("fleet {fleet} belongs to another machine"))
            .hint("type it on the machine where the fleet was started: only that one has the lander's key")
    };
    let board = state.started.board.as_ref().ok_or_else(elsewhere)?;
    if board.seed == PathBuf::new() {
        return Err(elsewhere());
    }
    let key = Arc::new(Key::read(&board.seed)?);
    let connection =
        connect(board).map_err(|error| error.hint("start the board again: ralph fleet board"))?;
    Ok(connection.ledger(fleet).trusting(key.public()).signing(key))
}
