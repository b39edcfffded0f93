//! One item in one lane of a worker: from the claim to what the log says of its end.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use ralph_board::{Board, BoardAddress, Feed, Login};
use ralph_core::{
    fleet::{FleetEntry, FleetState, Item, ItemStep, Stored, after_death},
    key_mask::masked_bytes,
};
use ralph_sys::{
    error::{Context, Result},
    files::{self, Readers, Root},
    paths::project_dir,
    process::mark::Mark,
};
use serde_json::{Value, json};

use super::{
    far_lane::FarCall,
    keeper::{Hold, Keeper},
    notes::FarNotes,
    posting::Posting,
};
use crate::{
    fleet::{
        FAR_LANE_COMMAND, FleetDir,
        answer::{self, LaneAnswer},
        crew::LaneProcess,
    },
    journal::run_dir::RunDir,
    receipt::RECEIPT,
};

/// How often events are shipped.
const SHIP_INTERVAL: Duration = Duration::from_millis(200);

/// The longest receipt that is sent.
const MAX_RECEIPT_LEN: u64 = 512 * 1024;

/// What attempts of one worker share.
pub(super) struct Shop {
    pub(super) address: BoardAddress,
    pub(super) login: Login,
    pub(super) board: Board,
    pub(super) keeper: Keeper,
    pub(super) mark: Mark,
    /// Where the repositories of this worker are.
    pub(super) place: PathBuf,
}

/// A lane at work for a lease.
pub(super) struct Attempt {
    pub(super) hold: Arc<Hold>,
    fleet: String,
    process: LaneProcess,
    dir: FleetDir,
    /// What the lane knows of its item.
    state: FleetState,
    feed: Option<Feed>,
    notes: FarNotes,
    shipped: Instant,
    is_asked: bool,
}

/// How an attempt ended for this worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AttemptEnd {
    HandedIn,
    Failed(String),
    Released,
    /// Another worker has it, or no one wants it any more.
    Lost,
}

impl Attempt {
    /// Starts the process of a lane for a claim.
    pub(super) fn start(
        shop: &Shop,
        (hold, lane): (Hold, &str),
        (posting, settings, posted): (Posting, Value, u64),
    ) -> Result<Self> {
        let hold = Arc::new(hold);
        shop.keeper.add(&hold);
        let repository = shop.place.join(&posting.repository);
        let project = repository.join(&posting.prefix);
        fs_err::create_dir_all(&project)?;
        let project: PathBuf = project.components().collect();
        let fleet = hold.delivery().fleet.clone();
        let dir = FleetDir::create_at(project_dir(&project)?.join("board").join(format!("{fleet}.{lane}")))?;
        let entries = posting.journal(&project, settings.clone(), (shop.board.name().as_str(), hold.lease));
        write(&dir.path().join("settings.json"), settings.to_string().as_bytes())?;
        write(&dir.journal(), &lines(&entries)?)?;
        let Login { name, seed, ca, api } = shop.login.clone();
        let prefix = posting.prefix.clone();
        let far = FarCall { board: shop.address.to_string(), name, seed, ca, api, repository, posting };
        answer::write(&FarCall::path(&dir), &far)?;
        let call = (hold.item.as_str(), lane, hold.lease);
        let process = LaneProcess::start_as(FAR_LANE_COMMAND, &dir, call, &prefix, &shop.mark)
            .context("cannot start a lane")?;
        let state = FleetState::fold(&entries);
        let (notes, shipped) = (FarNotes::since(posted), Instant::now());
        Ok(Self { hold, fleet, process, dir, state, feed: None, notes, shipped, is_asked: false })
    }

    pub(super) fn is_for(&self, fleet: &str, item: &str) -> bool {
        self.fleet == fleet && self.hold.item == item
    }

    /// Ends the run in the lane.
    pub(super) fn end(&mut self) {
        if !self.is_asked {
            self.process.process.ask(true);
        }
        self.is_asked = true;
    }

    /// Takes in what happened; how it ended, if it did.
    pub(super) fn look(&mut self, shop: &Shop) -> Result<Option<AttemptEnd>> {
        if self.hold.is_lost() {
            self.end();
        }
        let has_ended = self.process.process.ended()?.is_some();
        let mut is_shipped = true;
        if has_ended || SHIP_INTERVAL <= self.shipped.elapsed() {
            is_shipped = self.ship(shop).is_ok();
        }
        if !has_ended {
            // Nothing that goes wrong here is the end of a lane that runs.
            if !self.is_asked {
                self.listen(shop);
            }
            return Ok(None);
        }
        if self.hold.is_lost() {
            return Ok(Some(AttemptEnd::Lost));
        }
        let answer: Option<LaneAnswer> = answer::read(&self.dir.answer("lane", self.hold.lease));
        let item = self.known();
        let load = answer.as_ref().and_then(|_| self.receipt()).map(|receipt| json!({"receipt": receipt}));
        let step = match answer {
            Some(answer) => without_keys(answer.step),
            None if self.is_asked => ItemStep::Released { lease: self.hold.lease, died: false },
            None => after_death(&self.state.started.plan, &item, self.hold.lease),
        };
        let end = self.report(shop, step, load.as_ref())?;
        if !is_shipped {
            // The servers are back, and nothing else calls this again.
            let _ = self.ship(shop);
        }
        Ok(Some(end))
    }

    /// The run that is at work, once there is one.
    fn run(&mut self) -> Option<RunDir> {
        let (id, item, fleet) = (self.hold.item.clone(), self.known(), self.dir.id());
        self.process.run(|claim| claim.is_for(&fleet, &id, &item))
    }

    /// Takes to the run what a person said.
    fn listen(&mut self, shop: &Shop) {
        if let Some(run) = self.run() {
            self.notes.pass_on(&self.hold, shop.board.name().as_str(), &run);
        }
    }

    fn known(&self) -> Item {
        self.state.item(&self.hold.item)
    }

    /// What the run says of itself. One that does not fit into a message is left here.
    fn receipt(&mut self) -> Option<Value> {
        let run = self.run()?;
        let text = files::read(&run.path().join(RECEIPT), MAX_RECEIPT_LEN).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Ships what the journal of the run grew by. What does not arrive now is in the file the next time.
    fn ship(&mut self, shop: &Shop) -> Result<()> {
        self.shipped = Instant::now();
        let run = self.run();
        if let (None, Some(run)) = (&self.feed, run) {
            let feed = shop.board.feed(&self.fleet, &self.hold.item, self.hold.lease, &run.journal());
            self.feed = Some(feed.masked(|lines| masked_bytes(lines).into_owned()));
        }
        self.feed.as_mut().map_or(Ok(()), |feed| feed.ship().map(drop))
    }

    /// Appends how it ended behind the claim, and answers the queue.
    fn report(&self, shop: &Shop, step: ItemStep, load: Option<&Value>) -> Result<AttemptEnd> {
        let Hold { ledger, item, lease, .. } = &*self.hold;
        let who = shop.board.name().as_str();
        let mut after = *lease;
        while ledger.append_with(
            item,
            who,
            &step,
            load.filter(|_| matches!(step, ItemStep::Done(_))),
            after,
        )? == Stored::Overtaken
        {
            let known = ledger.item(item)?;
            if known.held().is_none_or(|held| held.sequence != *lease) {
                return Ok(AttemptEnd::Lost);
            }
            // What stands behind the claim changed nothing.
            after = known.last;
        }
        let delivery = self.hold.delivery();
        Ok(match step {
            ItemStep::Done(_) => {
                // Unanswered, the item is given to a worker that finds nothing left to do.
                let _ = delivery.settle();
                AttemptEnd::HandedIn
            }
            ItemStep::Failed { why, .. } => {
                let _ = delivery.settle();
                AttemptEnd::Failed(why)
            }
            _ => {
                let _ = delivery.give_back();
                AttemptEnd::Released
            }
        })
    }
}

/// What a run ended with may be in words of the agent, and lies on the servers in plain.
fn without_keys(step: ItemStep) -> ItemStep {
    match step {
        ItemStep::Failed { lease, exit, why } => {
            let why = String::from_utf8_lossy(&masked_bytes(why.as_bytes())).into_owned();
            ItemStep::Failed { lease, exit, why }
        }
        step => step,
    }
}

fn lines(entries: &[FleetEntry]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for entry in entries {
        serde_json::to_writer(&mut bytes, entry).map_err(std::io::Error::from)?;
        bytes.write_all(b"\n")?;
    }
    Ok(bytes)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default();
    Ok(Root::new(path.parent().unwrap_or(path)).replace(name, bytes, Readers::Owner)?)
}
