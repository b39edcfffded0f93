//! What a person does to an item on a board: land its last candidate after all, or give it up. Both are entries in the log of
//! the item. A fleet that runs takes them in and does the rest; for one that does not, this process does.

use std::{
    thread,
    time::{Duration, Instant},
};

use ralph_board::BoardLedger;
use ralph_core::fleet::{FleetItem, FleetState, Item, ItemPhase, ItemStep, LANDER, Pick, Refusal, Stored};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::{desk::BoardDesk, logs_of};
use crate::{
    fleet::{
        FileLedger, FleetDir,
        answer::{self, LandingAnswer},
        lander::{self, LanderCall},
    },
    report,
    workspace::Source,
};

/// How often others may write to the log meanwhile.
const MAX_TRIES: usize = 8;
/// How long a server may take to show what it has stored.
const SEEN_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Lands the last candidate of an item because a person wants it.
pub(in crate::fleet) fn land(dir: &FleetDir, id: &str) -> Result<()> {
    if is_at_work(dir)? && land_beside(dir, id)? {
        return Ok(());
    }
    Alone::open(dir)?.land(id)
}

/// Gives an item up.
pub(in crate::fleet) fn discard(dir: &FleetDir, id: &str) -> Result<()> {
    if is_at_work(dir)? && discard_beside(dir, id)? {
        return Ok(());
    }
    Alone::open(dir)?.discard(id)
}

fn is_at_work(dir: &FleetDir) -> Result<bool> {
    Ok(dir.is_running(FileLedger::look(dir)?.pid))
}

/// Has the fleet that runs land it. `false` if that has ended before.
fn land_beside(dir: &FleetDir, id: &str) -> Result<bool> {
    let state = FileLedger::look(dir)?;
    refuse_beside(&state, id)?;
    let (number, before) = append(&logs_of(&state)?, id, &ItemStep::Reoffered, |item| can_land(item, id))?;
    loop {
        let state = FileLedger::look(dir)?;
        let item = state.item(id);
        if number <= item.last {
            if item.is_merged() {
                return Ok(true);
            }
            if before.refusals < item.refusals {
                return Err(not_landed(id, item.refusal.as_ref()));
            }
            if let Some(why) = state.blocked {
                return Err(blocked(why));
            }
            if item.offered().is_none() {
                return Err(Error::new(format!("{id} is not landed: something else became of it meanwhile"))
                    .hint("`ralph fleet status` shows what"));
            }
        }
        if !dir.is_running(state.pid) {
            return Ok(false);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Refuses what a fleet that runs would not do, or would do with another candidate.
fn refuse_beside(state: &FleetState, id: &str) -> Result<()> {
    if let Some(why) = state.blocked.clone() {
        return Err(blocked(why));
    }
    if let Some(winner) = rivals(state, id).find(|(_, item)| item.is_merged()) {
        let winner = winner.0;
        return Err(Error::new(format!(
            "{winner} has landed for the same prompt, and this fleet lands one of them"
        ))
        .hint(format!("when the fleet has ended: ralph fleet land {id}")));
    }
    let plan = &state.started.plan;
    let is_open = |item: &Item| match item.phase {
        ItemPhase::Unknown | ItemPhase::Waiting | ItemPhase::Held(_) | ItemPhase::Offered(..) => true,
        ItemPhase::Refused => item.refusals <= plan.evictions,
        ItemPhase::Failed { .. } | ItemPhase::Merged { .. } | ItemPhase::Cancelled => false,
    };
    let open = rivals(state, id).find(|(_, item)| plan.pick == Pick::Cheapest && is_open(item));
    if let Some((rival, _)) = open {
        return Err(Error::new(format!(
            "this fleet lands the cheapest candidate when all have ended, and {rival} has not ended"
        ))
        .hint(format!("give the others up first: ralph fleet discard {rival}"))
        .hint(format!("or when the fleet has ended: ralph fleet land {id}")));
    }
    Ok(())
}

/// What nothing can land before; a fleet finds out whether it is done when it is continued.
fn blocked(why: String) -> Error {
    Error::new(why).hint("when that is done: ralph fleet stop, and when it has ended: ralph fleet resume")
}

/// Has the fleet that runs give it up. `false` if that has ended before.
fn discard_beside(dir: &FleetDir, id: &str) -> Result<bool> {
    let logs = logs_of(&FileLedger::look(dir)?)?;
    let (number, _) = append(&logs, id, &given_up(), |item| match item.phase {
        ItemPhase::Offered(..) => Err(Error::new(format!("{id} is landing at this moment"))
            .hint("`ralph fleet status` shows what becomes of it")),
        ItemPhase::Merged { .. } => Err(landed(id)),
        ItemPhase::Cancelled => Ok(false),
        _ => Ok(true),
    })?;
    loop {
        let state = FileLedger::look(dir)?;
        if number <= state.item(id).last {
            return Ok(true);
        }
        if !dir.is_running(state.pid) {
            return Ok(false);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Appends a step behind whatever is the last entry, if it is wanted there; returns the number of what is the last entry
/// then, and the item as it was before.
fn append(
    logs: &BoardLedger,
    id: &str,
    step: &ItemStep,
    is_wanted: impl Fn(&Item) -> Result<bool>,
) -> Result<(u64, Item)> {
    for _ in 0..MAX_TRIES {
        let item = logs.item(id)?;
        if !is_wanted(&item)? {
            return Ok((item.last, item));
        }
        if let Stored::At(number) = logs.append_with(id, LANDER, step, None, item.last)? {
            return Ok((number, item));
        }
    }
    Err(busy(id))
}

fn busy(id: &str) -> Error {
    Error::new(format!("others write to the log of {id} all the time; try again"))
}

/// Whether a person has to say that it is to land: not if that is about to happen anyway.
fn can_land(item: &Item, id: &str) -> Result<bool> {
    if item.is_merged() {
        return Err(landed(id));
    }
    if item.candidate.is_none() {
        return Err(
            Error::new(format!("{id} has no candidate")).hint("`ralph fleet status` shows what there is")
        );
    }
    Ok(item.offered().is_none())
}

fn landed(id: &str) -> Error {
    Error::new(format!("{id} has landed already"))
}

fn not_landed(id: &str, why: Option<&Refusal>) -> Error {
    Error::new(format!("{id} does not land: {}", why.map(Refusal::line).unwrap_or_default()))
}

fn given_up() -> ItemStep {
    ItemStep::Cancelled { why: "discarded by a person".to_owned() }
}

/// The other candidates for the same.
fn rivals<'a>(state: &'a FleetState, id: &'a str) -> impl Iterator<Item = (&'a str, Item)> {
    let plan = &state.started.plan;
    let group = plan.item(id).and_then(|item| item.group.as_ref());
    let is_rival = move |item: &&FleetItem| group.is_some() && item.group.as_ref() == group && item.id != id;
    plan.items.iter().filter(is_rival).map(|item| (item.id.as_str(), state.item(&item.id)))
}

/// A fleet that does not run, with its journal and its end of the board.
struct Alone<'a> {
    dir: &'a FleetDir,
    ledger: FileLedger,
    desk: BoardDesk,
}

impl<'a> Alone<'a> {
    fn open(dir: &'a FleetDir) -> Result<Self> {
        let ledger = FileLedger::open(dir)?;
        // Says whose machine this is to be, and whether the servers are there.
        logs_of(ledger.state())?;
        let mut supervisor = Supervisor::new()?;
        let source = Source::find(&mut supervisor, &ledger.state().started.project)?
            .ok_or_else(|| Error::new("the project is not in a git repository any more"))?;
        let board = ledger.state().started.board.clone().unwrap_or_default();
        let desk = BoardDesk::open(dir, (&board, ledger.state()), &mut supervisor, &source)?;
        supervisor.release();
        let mut alone = Self { dir, ledger, desk };
        alone.take_in()?;
        Ok(alone)
    }

    fn item(&self, id: &str) -> Item {
        self.ledger.state().item(id)
    }

    /// Records what workers wrote meanwhile.
    fn take_in(&mut self) -> Result<()> {
        let changes = self.desk.changes(self.ledger.state())?;
        changes.into_iter().try_for_each(|event| self.ledger.record(event).map(drop))?;
        let spent = self.desk.spent(self.ledger.state())?;
        Ok(spent.into_iter().try_for_each(|event| self.ledger.record(event).map(drop))?)
    }

    /// Appends a step to the log on the board, behind what others write meanwhile, until the item is where it leads to.
    fn put(&mut self, id: &str, step: &ItemStep, is_there: impl Fn(&Item) -> bool) -> Result<()> {
        for _ in 0..MAX_TRIES {
            let before = self.item(id).last;
            let stored = self.desk.append(self.ledger.state(), id, step)?;
            self.await_entry(id, before)?;
            if is_there(&self.item(id)) {
                return Ok(());
            }
            if let Stored::At(_) = stored {
                return Err(Error::new(format!("{id} is elsewhere by now: another machine was faster"))
                    .hint("`ralph fleet status` shows what became of it"));
            }
        }
        Err(busy(id))
    }

    /// Waits until what is behind this entry is seen.
    fn await_entry(&mut self, id: &str, before: u64) -> Result<()> {
        let end = Instant::now() + SEEN_TIMEOUT;
        while self.item(id).last == before {
            if end < Instant::now() {
                return Err(Error::new(format!("the board does not show what was written about {id}")));
            }
            self.take_in()?;
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Shows watchers what was done. They can see it later, too.
    fn show(mut self) {
        if let Err(error) = self.desk.ship_now() {
            report::fleet::line("board", &format!("watchers do not see this for now: {error}"));
        }
    }

    fn land(mut self, id: &str) -> Result<()> {
        if can_land(&self.item(id), id)? {
            self.put(id, &ItemStep::Reoffered, |item| item.offered().is_some())?;
        }
        let Some(lease) = self.item(id).offered().map(|offer| offer.lease) else {
            return Err(Error::new(format!("{id} is not landed: another machine was faster; try again")));
        };
        let path = self.dir.answer("landing", lease);
        let _ = fs_err::remove_file(&path);
        lander::main(&LanderCall { fleet: self.dir.path().into(), item: id.to_owned(), lease })?;
        let answer: Option<LandingAnswer> = answer::read(&path);
        let _ = fs_err::remove_file(path);
        match answer {
            Some(LandingAnswer::Merged { commit }) => {
                self.put(id, &ItemStep::Merged { commit }, Item::is_merged)?;
            }
            Some(LandingAnswer::Refused(refusal)) => {
                self.put(id, &ItemStep::Refused(refusal.clone()), |item| item.phase == ItemPhase::Refused)?;
                self.show();
                return Err(not_landed(id, Some(&refusal)));
            }
            Some(LandingAnswer::Blocked { why }) => return Err(Error::new(why)),
            Some(LandingAnswer::Overtaken | LandingAnswer::Interrupted) | None => {
                return Err(Error::new(format!("{id} did not land; try again")));
            }
        }
        self.show();
        Ok(())
    }

    fn discard(mut self, id: &str) -> Result<()> {
        match self.item(id).phase {
            ItemPhase::Merged { .. } => return Err(landed(id)),
            ItemPhase::Cancelled => return Ok(()),
            _ => self.put(id, &given_up(), |item| item.phase == ItemPhase::Cancelled)?,
        }
        self.show();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ralph_core::fleet::FleetPlan;

    use super::*;

    /// A fleet with three candidates for one prompt, of which the first is meant, and another item.
    fn state(pick: Pick, rivals: [ItemPhase; 2]) -> FleetState {
        let item = |(id, group): (&str, Option<&str>)| FleetItem {
            id: id.to_owned(),
            group: group.map(str::to_owned),
            ..FleetItem::default()
        };
        let group = Some("g");
        let items = [("a", group), ("b", group), ("c", group), ("other", None)].map(item).to_vec();
        let mut state = FleetState::default();
        state.started.plan = FleetPlan { items, pick, ..FleetPlan::default() };
        for (id, phase) in ["b", "c"].into_iter().zip(rivals) {
            state.items.insert(id.to_owned(), Item { phase, refusals: 1, ..Item::default() });
        }
        state
    }

    fn merged() -> ItemPhase {
        ItemPhase::Merged { commit: "c".to_owned() }
    }

    fn failed() -> ItemPhase {
        ItemPhase::Failed { why: "w".to_owned() }
    }

    #[test]
    fn a_fleet_that_runs_is_not_asked_for_what_it_would_not_do() {
        for (pick, rivals, expected) in [
            (Pick::First, [ItemPhase::Waiting, ItemPhase::Unknown], None),
            (Pick::First, [failed(), merged()], Some("c has landed for the same prompt")),
            (Pick::Cheapest, [failed(), merged()], Some("c has landed for the same prompt")),
            (Pick::Cheapest, [failed(), ItemPhase::Waiting], Some("and c has not ended")),
            (Pick::Cheapest, [ItemPhase::Unknown, failed()], Some("and b has not ended")),
            // It is sent back no more.
            (Pick::Cheapest, [ItemPhase::Refused, ItemPhase::Cancelled], None),
        ] {
            let refused = refuse_beside(&state(pick, rivals), "a").err().map(|error| error.to_string());
            let is_as_expected = match (&refused, expected) {
                (Some(refused), Some(expected)) => refused.contains(expected),
                (refused, expected) => refused.is_none() && expected.is_none(),
            };
            assert!(is_as_expected, "{pick:?} {refused:?} {expected:?}");
        }
        let mut sent_back = state(Pick::Cheapest, [ItemPhase::Refused, failed()]);
        sent_back.started.plan.evictions = 1;
        assert!(refuse_beside(&sent_back, "a").is_err());
        assert!(refuse_beside(&sent_back, "other").is_ok());
    }

    #[test]
    fn nothing_is_appended_for_a_fleet_that_cannot_land() {
        let why = "the working tree is in the way".to_owned();
        let blocked = FleetState { blocked: Some(why), ..state(Pick::First, [failed(), failed()]) };
        let refused = refuse_beside(&blocked, "a").expect_err("nothing lands");
        assert_eq!(refused.to_string(), "the working tree is in the way");
    }
}
