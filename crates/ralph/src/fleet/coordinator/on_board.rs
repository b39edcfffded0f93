//! The coordinator of a fleet whose workers are on other machines.

use std::{
    thread,
    time::{Duration, Instant},
};

use ralph_core::fleet::{FleetState, ItemPhase};
use ralph_sys::error::Result;

use super::Coordinator;
use crate::fleet::far::BoardDesk;

/// How long a board that does not answer is left alone.
const BOARD_INTERVAL: Duration = Duration::from_millis(500);
/// How long a board that does not answer is waited for when the fleet has ended.
const SHIP_TIMEOUT: Duration = Duration::from_secs(20);

impl Coordinator {
    /// Takes in what workers elsewhere wrote, and makes sure that nothing that is open is lost.
    pub(super) fn look_far(&mut self) -> Result<()> {
        let changes = self.on_board(BoardDesk::changes);
        changes.into_iter().try_for_each(|event| self.record(event))?;
        let spent = self.on_board(BoardDesk::spent);
        spent.into_iter().try_for_each(|event| self.record(event))?;
        self.on_board(BoardDesk::sweep);
        // Work does not wait for watchers, so this trouble is none of the board's.
        if let Some(trouble) = self.desk.as_mut().and_then(BoardDesk::ship) {
            self.style
                .line("fleet", &format!("the board: watchers do not see this fleet for now: {trouble}"));
        }
        Ok(())
    }

    /// Ships the last entries: nothing does it later. A server that never took any is not waited for.
    pub(super) fn ship_end(&mut self) {
        let until = Instant::now() + SHIP_TIMEOUT;
        let Some(desk) = &mut self.desk else { return };
        while let Err(error) = desk.ship_now() {
            let is_hurried = self.supervisor.stop_requested() && self.supervisor.is_ending();
            if is_hurried || !desk.has_shipped() || until < Instant::now() {
                let text = format!("the board: watchers do not see the end of this fleet: {error}");
                self.style.line("fleet", &text);
                return;
            }
            thread::sleep(BOARD_INTERVAL);
        }
    }

    /// Does something on the board, if there is one. One that does not answer is asked again later: nothing is lost by it.
    pub(super) fn on_board<T: Default>(
        &mut self,
        act: impl FnOnce(&mut BoardDesk, &FleetState) -> Result<T>,
    ) -> T {
        let Some(desk) = &mut self.desk else { return T::default() };
        match act(desk, self.ledger.state()) {
            Ok(done) => {
                self.trouble = None;
                done
            }
            Err(error) => {
                let error = error.to_string();
                if self.trouble.as_ref() != Some(&error) {
                    self.style.line("fleet", &format!("the board: {error}"));
                    self.trouble = Some(error);
                }
                thread::sleep(BOARD_INTERVAL);
                T::default()
            }
        }
    }

    /// Says whose candidate did not pass here, though its run did there.
    pub(super) fn name_worker(&self, item: &str) {
        if let ItemPhase::Offered(lease, _) = &self.ledger.state().item(item).phase
            && self.desk.is_some()
        {
            self.style.line("lander", &format!("the candidate of {} for {item} does not land", lease.worker));
        }
    }
}
