//! The state of an item: the fold of its log.

use super::LANDER;
use super::step::{ItemEntry, ItemStep, Offer, Refusal};

/// Where an item is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ItemPhase {
    /// No one has asked for it yet.
    #[default]
    Unknown,
    /// It waits for a lane.
    Waiting,
    /// A lane works on it.
    Held(Lease),
    /// A candidate waits to land.
    Offered(Lease, Offer),
    /// Its run ended without a result.
    Failed {
        /// Why.
        why: String,
    },
    /// The last candidate did not land.
    Refused,
    /// It is on the target.
    Merged {
        /// The commit.
        commit: String,
    },
    /// No one is to work on it.
    Cancelled,
}

/// Who may hand in a result. The number is the fencing token: a later claim has a greater one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The number of the claim.
    pub sequence: u64,
    /// The lane.
    pub worker: String,
}

/// An item, and how far its log was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Where it is.
    pub phase: ItemPhase,
    /// The number of the last entry, legal or not: what the next append expects.
    pub last: u64,
    /// How often lanes died on it since it was posted.
    pub deaths: u32,
    /// How often a candidate did not land.
    pub refusals: u32,
    /// Why the last one did not.
    pub refusal: Option<Refusal>,
    /// The last candidate, landed or not.
    pub candidate: Option<Offer>,
    /// The lane that has begun it, as long as there is something to continue in it.
    pub worker: Option<String>,
}

impl Item {
    /// The state that a log leads to.
    pub fn fold<'a>(log: impl IntoIterator<Item = &'a ItemEntry>) -> Self {
        let mut item = Self::default();
        log.into_iter().for_each(|entry| item.apply(entry));
        item
    }

    /// Takes in the next entry. What is not legal here changes nothing but `last`.
    pub fn apply(&mut self, entry: &ItemEntry) {
        self.last = entry.sequence;
        let next = match entry.step {
            ItemStep::Reoffered => self.offered_again(entry),
            _ => next(&self.phase, entry),
        };
        let Some(phase) = next else { return };
        // Who claims over a claim was given the item because nothing was heard of its holder any more.
        let is_orphan = self.held().is_some() && entry.step == ItemStep::Claimed;
        self.deaths += u32::from(is_orphan);
        self.phase = phase;
        match &entry.step {
            ItemStep::Posted => self.deaths = 0,
            ItemStep::Released { died: true, .. } => self.deaths += 1,
            ItemStep::Done(offer) => self.candidate = Some(offer.clone()),
            ItemStep::Claimed => self.worker = Some(entry.who.clone()),
            ItemStep::Refused(refusal) => {
                self.refusals += 1;
                self.refusal = Some(refusal.clone());
                // The candidate is kept apart from its lane: any lane can continue with it.
                self.worker = None;
            }
            ItemStep::Reoffered => self.worker = None,
            ItemStep::Said { .. }
            | ItemStep::Released { died: false, .. }
            | ItemStep::Failed { .. }
            | ItemStep::Merged { .. }
            | ItemStep::Withdrawn { .. }
            | ItemStep::Cancelled { .. } => {}
        }
    }

    /// The last candidate as one that waits to land: what a person wants who lands it after all. Only what came with a
    /// parcel says whose it is.
    fn offered_again(&self, entry: &ItemEntry) -> Option<ItemPhase> {
        let is_over = matches!(self.phase, ItemPhase::Offered(..) | ItemPhase::Merged { .. });
        let offer = self.candidate.clone().filter(|_| entry.who == LANDER && !is_over)?;
        let worker = offer.parcel.as_ref()?.writer.clone();
        Some(ItemPhase::Offered(Lease { sequence: offer.lease, worker }, offer))
    }

    /// Who works on it.
    pub fn held(&self) -> Option<&Lease> {
        match &self.phase {
            ItemPhase::Held(lease) => Some(lease),
            _ => None,
        }
    }

    /// What waits to land.
    pub fn offered(&self) -> Option<&Offer> {
        match &self.phase {
            ItemPhase::Offered(_, offer) => Some(offer),
            _ => None,
        }
    }

    /// Whether it is on the target.
    pub fn is_merged(&self) -> bool {
        matches!(self.phase, ItemPhase::Merged { .. })
    }

    /// Where it is, in a word, and what is to say about it.
    pub fn words(&self) -> (&'static str, String) {
        match &self.phase {
            ItemPhase::Unknown => ("open", String::new()),
            ItemPhase::Waiting => ("waiting", self.sent_back()),
            ItemPhase::Held(lease) => ("working", format!("in {}{}", lease.worker, self.sent_back())),
            ItemPhase::Offered(..) => ("landing", String::new()),
            ItemPhase::Failed { why } => ("failed", why.clone()),
            ItemPhase::Refused => ("refused", self.refusal.as_ref().map(Refusal::line).unwrap_or_default()),
            ItemPhase::Merged { commit } => ("landed", commit.chars().take(10).collect()),
            ItemPhase::Cancelled => ("cancelled", String::new()),
        }
    }

    fn sent_back(&self) -> String {
        match self.refusals {
            0 => String::new(),
            times => format!(" (sent back {times} times)"),
        }
    }
}

impl Lease {
    fn is_of(&self, entry: &ItemEntry, lease: u64) -> bool {
        self.worker == entry.who && self.sequence == lease
    }
}

/// The table of legal steps.
fn next(phase: &ItemPhase, entry: &ItemEntry) -> Option<ItemPhase> {
    use ItemPhase::{Cancelled, Failed, Held, Merged, Offered, Refused, Unknown, Waiting};
    match (phase, &entry.step) {
        (Unknown | Failed { .. } | Refused | Cancelled, ItemStep::Posted) => Some(Waiting),
        // Over another claim too: its holder may be dead. The older lease is void from here on.
        (Waiting | Held(_), ItemStep::Claimed) => {
            Some(Held(Lease { sequence: entry.sequence, worker: entry.who.clone() }))
        }
        (Held(held), ItemStep::Done(offer)) if held.is_of(entry, offer.lease) => {
            Some(Offered(held.clone(), offer.clone()))
        }
        (Held(held), ItemStep::Failed { lease, why, .. }) if held.is_of(entry, *lease) => {
            Some(Failed { why: why.clone() })
        }
        // Of an item on which worker after worker dies.
        (Waiting | Held(_), ItemStep::Failed { why, .. }) if entry.who == LANDER => {
            Some(Failed { why: why.clone() })
        }
        (Waiting | Held(_), ItemStep::Withdrawn { .. }) => Some(Unknown),
        (Held(held), ItemStep::Released { lease, .. }) if held.is_of(entry, *lease) => Some(Waiting),
        (Offered(..), ItemStep::Merged { commit }) => Some(Merged { commit: commit.clone() }),
        (Offered(..), ItemStep::Refused(_)) => Some(Refused),
        (Unknown | Waiting | Held(_) | Offered(..) | Failed { .. } | Refused, ItemStep::Cancelled { .. }) => {
            Some(Cancelled)
        }
        _ => None,
    }
}
