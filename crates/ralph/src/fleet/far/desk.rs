//! The coordinator's end of the board: posts items, appends to their logs, and takes in what others wrote.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use ralph_board::{Board, BoardLedger, Follow, Key, PublicKey, Setup};
use ralph_core::{
    fleet::{FleetBoard, FleetEvent, FleetState, ItemPhase, ItemStep, LANDER, Offer, Refusal, Stored},
    key_mask::masked_bytes,
};
use ralph_sys::{
    error::{Error, Result},
    paths::project_dir,
    process::Supervisor,
};
use serde_json::json;

use super::{
    connect,
    fleet_log::for_watchers,
    mirror::{Mirror, keep_receipt},
    posting::{Bundle, Posting},
    shipping::Shipping,
    silence_of_tests,
};
use crate::{
    fleet::FleetDir,
    report,
    workspace::{Author, Source, bundle, target::TargetBranch},
};

/// How often what is open is posted again; the queue refuses what it has.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
/// How often the logs are read, and the journals of runs.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
const EVENTS_INTERVAL: Duration = Duration::from_millis(300);

/// The coordinator's end of the board.
pub(in crate::fleet) struct BoardDesk {
    board: Board,
    ledger: BoardLedger,
    /// What this fleet signs with; entries of the lander that it has not signed change nothing.
    key: Option<PublicKey>,
    fleet: String,
    folder: PathBuf,
    source: Source,
    repository: String,
    author: Author,
    /// The repository when this process began, and what came since.
    whole: Option<Bundle>,
    since: Option<Bundle>,
    /// The numbers of postings.
    posted: BTreeMap<String, u64>,
    follow: Follow,
    mirror: Mirror,
    /// The journal of the fleet, for watchers.
    log: Shipping,
    swept: Option<Instant>,
    looked: Option<Instant>,
    followed: Option<Instant>,
}

impl BoardDesk {
    pub(in crate::fleet) fn open(
        dir: &FleetDir,
        (board, state): (&FleetBoard, &FleetState),
        supervisor: &mut Supervisor,
        source: &Source,
    ) -> Result<Self> {
        let target = TargetBranch::new(source, &state.started.target);
        let author = target.author(supervisor)?;
        let has_key = board.seed != PathBuf::new();
        let key = if has_key { Some(Arc::new(Key::read(&board.seed)?)) } else { None };
        let connection = connect(board)?;
        if connection.queue().is_err() {
            let setup = Setup::default();
            connection.set_up(&Setup { silence: silence_of_tests().unwrap_or(setup.silence), ..setup })?;
        }
        let ledger = connection.ledger(&dir.id());
        let ledger = match &key {
            Some(key) => ledger.signing(key.clone()),
            None => ledger,
        };
        let name = project_dir(&state.started.project)?;
        Ok(Self {
            follow: connection.follow(&dir.id(), 0),
            log: Shipping::of(connection.fleet_feed(&dir.id(), &dir.journal()).masked(for_watchers)),
            board: connection,
            ledger,
            key: key.map(|key| key.public()),
            fleet: dir.id(),
            folder: dir.path().to_owned(),
            source: source.clone(),
            repository: name.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            author,
            whole: None,
            since: None,
            posted: BTreeMap::new(),
            mirror: Mirror::new(&dir.id(), &state.started.plan)?,
            swept: None,
            looked: None,
            followed: None,
        })
    }

    /// Posts an item: what it begins with is the target's tip.
    pub(in crate::fleet) fn post(&mut self, state: &FleetState, id: &str) -> Result<()> {
        let started = &state.started;
        let planned = started.plan.item(id).ok_or_else(|| Error::new(format!("there is no item `{id}`")))?;
        let item = state.item(id);
        let top = self.source.top.clone();
        let base = bundle::commit_of(&top, &started.target)?;
        let has = |commit: &str| bundle::commit_of(&top, commit).is_ok();
        let sent_back = item.refusal.clone().map(|refusal| {
            let known = item.candidate.clone().filter(|it| has(&it.head) && has(&it.base));
            // What could not be taken is begun again.
            let anew = Offer {
                lease: 1,
                base: base.clone(),
                head: base.clone(),
                cost: 0.0,
                run: None,
                parcel: None,
            };
            (known.unwrap_or(anew), refusal)
        });
        let mut heads = vec![base.clone()];
        heads.extend(sent_back.iter().flat_map(|(offer, _)| [offer.base.clone(), offer.head.clone()]));
        heads.dedup();
        let bundles = self.bundles(&base, &heads)?;
        let posting = Posting {
            repository: self.repository.clone(),
            object_format: self.source.object_format.clone(),
            prefix: self.source.prefix.clone(),
            base,
            author: (self.author.name.clone(), self.author.email.clone()),
            left: started.plan.max_cost.map(|most| (most - state.cost()).max(0.0)),
            refusals: item.refusals,
            sent_back,
            ..Posting::new(started, planned.clone(), bundles)
        };
        let load = json!(posting);
        let stored = self.ledger.append_with(id, LANDER, &ItemStep::Posted, Some(&load), item.last)?;
        if let Stored::At(sequence) = stored {
            self.posted.insert(id.to_owned(), sequence);
            // If this is never reached, the next sweep does it.
            self.board.post(&self.fleet, id, sequence)?;
        }
        self.looked = None;
        Ok(())
    }

    /// The bundles from which a worker gets these commits: one whole, and one with what came since.
    fn bundles(&mut self, base: &str, heads: &[String]) -> Result<Vec<Bundle>> {
        if self.whole.is_none() {
            self.whole = Some(self.pack(&[base.to_owned()], &[])?);
        }
        let Some(whole) = self.whole.clone() else { return Ok(Vec::new()) };
        if heads.iter().all(|head| whole.heads.contains(head)) {
            return Ok(vec![whole]);
        }
        let is_same = |since: &Bundle| since.heads == heads;
        if !self.since.as_ref().is_some_and(is_same) {
            self.since = Some(self.pack(heads, &whole.heads)?);
        }
        Ok([Some(whole), self.since.clone()].into_iter().flatten().collect())
    }

    fn pack(&self, heads: &[String], known: &[String]) -> Result<Bundle> {
        let file = self.folder.join(format!("outgoing-{}.bundle", std::process::id()));
        let wanted: Vec<&str> =
            heads.iter().filter(|head| !known.contains(head)).map(String::as_str).collect();
        let left_out: Vec<&str> = known.iter().map(String::as_str).collect();
        bundle::pack(&self.source.top, (&wanted, &left_out), &file)?;
        let sent = self.board.send(&file);
        fs_err::remove_file(file)?;
        Ok(Bundle { heads: heads.to_vec(), parcel: sent?.0 })
    }

    /// Appends a step of the lander behind what was seen. If another writer was faster, that is seen next.
    pub(in crate::fleet) fn append(
        &mut self,
        state: &FleetState,
        id: &str,
        step: &ItemStep,
    ) -> Result<Stored> {
        let step = without_keys(step);
        let stored = self.ledger.append_with(id, LANDER, &step, None, state.item(id).last)?;
        self.looked = None;
        Ok(stored)
    }

    /// What others and this fleet wrote since.
    pub(in crate::fleet) fn changes(&mut self, state: &FleetState) -> Result<Vec<FleetEvent>> {
        if !is_due(&mut self.looked, LOOK_INTERVAL) {
            return Ok(Vec::new());
        }
        let mut events = Vec::new();
        for entry in self.ledger.changes(state.seen)? {
            let is_forged =
                entry.entry.who == LANDER && self.key.as_ref().is_some_and(|key| !entry.is_signed_by(key));
            if state.started.plan.item(&entry.item).is_none() {
                continue;
            }
            let (who, board) = (entry.entry.who, Some(entry.entry.sequence));
            // It counts as the last entry, and says nothing.
            let nothing = ItemStep::Released { lease: 0, died: false };
            let step = if is_forged { nothing } else { entry.entry.step };
            if step == ItemStep::Posted {
                self.posted.insert(entry.item.clone(), entry.entry.sequence);
            }
            if let (ItemStep::Done(Offer { run: Some(run), .. }), Some(load)) = (&step, &entry.load) {
                // The entry is taken in whatever came with it.
                if let Err(error) = keep_receipt(&self.fleet, &who, run, &load["receipt"]) {
                    report::fleet::line(
                        "board",
                        &format!("cannot keep the receipt of {}: {error}", entry.item),
                    );
                }
                // Its record is read to the end before anything lands.
                self.followed = None;
            }
            events.push(FleetEvent::Item { item: entry.item, who, board, step });
        }
        Ok(events)
    }

    /// What runs elsewhere have spent.
    pub(in crate::fleet) fn spent(&mut self, state: &FleetState) -> Result<Vec<FleetEvent>> {
        if !is_due(&mut self.followed, EVENTS_INTERVAL) {
            return Ok(Vec::new());
        }
        while let Some(piece) = self.follow.next(Duration::ZERO)? {
            self.mirror.take(&piece);
        }
        self.mirror.release(state);
        let is_new = |(run, cost): &(String, f64)| {
            state.spent.get(run).is_none_or(|known| known + f64::EPSILON < *cost)
        };
        let spent = self.mirror.spent().into_iter().filter(is_new);
        Ok(spent.map(|(run, cost)| FleetEvent::Spent { run, cost }).collect())
    }

    /// Ships what the journal of the fleet grew by, so that watchers see it. Returns why it does not work, once.
    pub(in crate::fleet) fn ship(&mut self) -> Option<String> {
        self.log.ship()
    }

    /// The same at once.
    pub(in crate::fleet) fn ship_now(&mut self) -> Result<()> {
        self.log.ship_now()
    }

    /// Whether the board takes the journal of the fleet.
    pub(in crate::fleet) fn has_shipped(&self) -> bool {
        self.log.has_shipped()
    }

    /// Makes sure that whatever is open is in the queue, no matter who lost it.
    pub(in crate::fleet) fn sweep(&mut self, state: &FleetState) -> Result<()> {
        let interval = silence_of_tests().map_or(SWEEP_INTERVAL, |silence| silence.min(SWEEP_INTERVAL));
        if !is_due(&mut self.swept, interval) {
            return Ok(());
        }
        for (id, item) in &state.items {
            if matches!(item.phase, ItemPhase::Waiting | ItemPhase::Held(_)) {
                let posted = self.posted.get(id).copied().unwrap_or(1);
                self.board.post(&self.fleet, id, posted)?;
            }
        }
        Ok(())
    }
}

/// What a guardrail printed may have keys in it, and lies on the servers in plain.
fn without_keys(step: &ItemStep) -> ItemStep {
    let mut step = step.clone();
    if let ItemStep::Refused(Refusal::Red { output, .. }) = &mut step {
        *output = String::from_utf8_lossy(&masked_bytes(output.as_bytes())).into_owned();
    }
    step
}

/// Whether it is time again; remembers that it was.
pub(super) fn is_due(last: &mut Option<Instant>, interval: Duration) -> bool {
    let is_due = last.is_none_or(|last| interval <= last.elapsed());
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}
