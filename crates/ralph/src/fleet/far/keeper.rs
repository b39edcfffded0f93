//! Signs of life: looks whether each lease still counts, then keeps its item from being given to others.
//!
//! In a thread of its own, from the claim to the end: fetching a repository and sending a result can take longer than the
//! silence that is allowed. First it looks: the queue takes signs of life from everybody who ever had an item, so a worker
//! that lost its lease would keep the item of a dead successor. Servers that cannot be reached end nothing.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use ralph_board::{BoardLedger, Delivery};
use ralph_sys::error::Result;

const TICK_INTERVAL: Duration = Duration::from_millis(20);

/// A lease that is kept.
pub(super) struct Hold {
    pub(super) ledger: BoardLedger,
    pub(super) item: String,
    pub(super) lease: u64,
    delivery: Mutex<Delivery>,
    is_lost: AtomicBool,
}

impl Hold {
    pub(super) fn new(ledger: BoardLedger, item: &str, lease: u64, delivery: Delivery) -> Self {
        let is_lost = AtomicBool::new(false);
        Self { ledger, item: item.to_owned(), lease, delivery: Mutex::new(delivery), is_lost }
    }

    /// The delivery to answer: the last one, if the queue gave the item more than once.
    pub(super) fn delivery(&self) -> MutexGuard<'_, Delivery> {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    fn look_and_keep(&self) {
        match self.ledger.is_held(&self.item, self.lease) {
            // Unanswered: the next sign of life says the same.
            Ok(true) => drop(self.delivery().keep()),
            Ok(false) => self.is_lost.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
    }
}

/// The thread that keeps. It ends with this.
pub(super) struct Keeper {
    holds: Arc<Mutex<Vec<Weak<Hold>>>>,
}

impl Keeper {
    pub(super) fn start(silence: Duration) -> Result<Self> {
        let holds: Arc<Mutex<Vec<Weak<Hold>>>> = Arc::default();
        let known = Arc::downgrade(&holds);
        thread::Builder::new().name("keeper".to_owned()).spawn(move || {
            let mut last = Instant::now();
            while let Some(holds) = known.upgrade() {
                thread::sleep(TICK_INTERVAL);
                if last.elapsed() < silence / 3 {
                    continue;
                }
                last = Instant::now();
                for hold in alive(&holds) {
                    hold.look_and_keep();
                }
            }
        })?;
        Ok(Self { holds })
    }

    pub(super) fn add(&self, hold: &Arc<Hold>) {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(hold));
    }
}

/// Those that a thread works for. The list is free again before any of them is asked anything.
fn alive(holds: &Mutex<Vec<Weak<Hold>>>) -> Vec<Arc<Hold>> {
    let mut all = holds.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|hold| 0 < hold.strong_count());
    all.iter().filter_map(Weak::upgrade).collect()
}
