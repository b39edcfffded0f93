//! Workers that do nothing but what the protocol asks of them, and a lander that lands whatever they hand in.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use ralph_board::{Answer, Board, BoardLedger, Key, Login, PublicKey, Queue};
use ralph_core::fleet::{ItemPhase, ItemStep, LANDER, Offer, Stored};
use ralph_sys::error::{Error, Result};

/// How long one look into an empty queue takes.
const TAKE_TIMEOUT: Duration = Duration::from_millis(500);
/// Between two looks at the logs.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Connects without a key.
pub fn connect(url: &str, name: &str) -> Result<Board> {
    Board::connect(&url.parse()?, &Login::anonymous(name.parse()?))
}

/// A result of nothing.
pub fn done(lease: u64) -> ItemStep {
    ItemStep::Done(Offer { lease, base: "b".into(), head: "h".into(), cost: 0.0, run: None, parcel: None })
}

/// One item, from the queue to the result: which one, if there was one. An error is a server that is away: nothing was
/// settled, so the item comes again.
pub fn work_once(board: &Board, queue: &Queue, ledger: &BoardLedger) -> Result<Option<String>> {
    let Some(delivery) = queue.take(TAKE_TIMEOUT)? else { return Ok(None) };
    let who = board.name().to_string();
    let item = ledger.item(&delivery.item)?;
    if item.last < delivery.posted {
        delivery.give_back()?;
        return Ok(None);
    }
    if !matches!(item.phase, ItemPhase::Waiting | ItemPhase::Held(_)) {
        delivery.settle()?;
        return Ok(None);
    }
    let Stored::At(lease) = ledger.append_with(&delivery.item, &who, &ItemStep::Claimed, None, item.last)?
    else {
        return Ok(None);
    };
    let stored = ledger.append_with(&delivery.item, &who, &done(lease), None, lease)?;
    if stored == Stored::Overtaken {
        return Ok(None);
    }
    // Unanswered, the item is given to another worker, who finds nothing left to do.
    let _ = delivery.settle();
    Ok(Some(delivery.item))
}

/// A fleet whose items are nothing, and its lander.
pub struct IdleFleet {
    ledger: BoardLedger,
    lander: PublicKey,
    fleet: String,
    url: String,
    items: BTreeSet<String>,
}

impl IdleFleet {
    /// Posts so many items, signed as a lander does.
    pub fn post(url: &str, fleet: &str, count: usize) -> Result<Self> {
        let (board, key) = (connect(url, LANDER)?, Arc::new(Key::generate()));
        let ledger = board.ledger(fleet).signing(key.clone());
        let items: BTreeSet<String> = (0..count).map(|number| format!("i{number}")).collect();
        for item in &items {
            let Stored::At(posted) = ledger.append_with(item, LANDER, &ItemStep::Posted, None, 0)? else {
                return Err(Error::new(format_args!("the board has a fleet `{fleet}` already")));
            };
            if !matches!(board.post(fleet, item, posted)?, Answer::At(_) | Answer::There) {
                return Err(Error::new("the queue does not answer"));
            }
        }
        Ok(Self { ledger, lander: key.public(), fleet: fleet.to_owned(), url: url.to_owned(), items })
    }

    /// Has so many workers work on all items, each with a connection of its own, and lands what they hand in. Tells of each
    /// item that has landed. Servers may be away for a while.
    pub fn work(mut self, workers: usize, mut landed: impl FnMut(&str)) -> Result<()> {
        let is_over = AtomicBool::new(false);
        let shops = (0..workers).map(|number| {
            let board = connect(&self.url, &format!("w{number}"))?;
            let ledger = board.ledger(&self.fleet).trusting(self.lander.clone());
            Ok((board.queue()?, ledger, board))
        });
        let shops = shops.collect::<Result<Vec<_>>>()?;
        thread::scope(|scope| {
            for (queue, ledger, board) in &shops {
                let is_over = &is_over;
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        // An item that failed comes again.
                        let _ = work_once(board, queue, ledger);
                    }
                });
            }
            let mut seen = 0;
            while !self.items.is_empty() {
                seen = self.land(seen, &mut landed).unwrap_or(seen);
                thread::sleep(LOOK_INTERVAL);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        Ok(())
    }

    /// Lands what was handed in behind this number of the logs; returns how far they were read.
    fn land(&mut self, seen: u64, landed: &mut impl FnMut(&str)) -> Result<u64> {
        let mut seen = seen;
        for entry in self.ledger.changes(seen)? {
            let (item, at) = (entry.item.as_str(), entry.entry.sequence);
            if matches!(entry.entry.step, ItemStep::Done(_)) && self.items.contains(item) {
                let step = ItemStep::Merged { commit: "c".into() };
                self.ledger.append_with(item, LANDER, &step, None, at)?;
                self.items.remove(item);
                landed(item);
            }
            seen = at;
        }
        Ok(seen)
    }
}
