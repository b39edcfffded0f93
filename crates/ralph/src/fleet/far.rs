//! A fleet on many machines: the coordinator posts items on a board, workers elsewhere take them, run them in lanes of their
//! own and hand in commits; the lander here judges them as it does those of its own lanes.

mod attempt;
mod bounds;
mod candidate;
mod desk;
mod far_lane;
mod keeper;
mod mirror;
mod posting;
mod worker;

use std::{path::PathBuf, time::Duration};

use ralph_board::{Board, Login};
use ralph_core::fleet::{FleetBoard, LANDER};
use ralph_sys::error::Result;

pub(super) use candidate::fetch_candidate;
pub(super) use desk::BoardDesk;
pub(crate) use far_lane::main as lane;
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
