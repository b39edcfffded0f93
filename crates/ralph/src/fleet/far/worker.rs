//! A worker: takes items from the board, one at a time for each lane, and works on them on this machine.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::{Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    time::{Duration, Instant},
};

use ralph_board::{Board, BoardAddress, Delivery, Login, PublicKey, Queue};
use ralph_core::fleet::{Item, ItemPhase, ItemStep, Stored};
use ralph_sys::{
    error::{Context, Error, Result},
    file_lock,
    files::{self, Readers, Root},
    paths::state_dir,
    process::{
        Supervisor,
        guardian::{Guardian, Looks, end_run},
        is_alive,
        mark::Mark,
    },
};

use super::{
    attempt::{Attempt, AttemptEnd, Shop},
    bounds::Bounds,
    keeper::{Hold, Keeper},
    posting::Posting,
};
use crate::{report, settings::Settings};

/// Where workers keep what they have, below the state folder.
const WORKERS: &str = "workers";
/// How long one look into the queue takes when nothing else is to be done, and when something is.
const IDLE_TIMEOUT: Duration = Duration::from_secs(1);
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);
/// Between two looks at the lanes.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// The longest that an item is left to others that this worker cannot do.
const LEAVE_INTERVAL: Duration = Duration::from_secs(5);
/// The guardian of a worker that was killed holds the lock until everything is gone.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(40);

/// Who works, and for whom.
pub(crate) struct WorkerSetup {
    pub(crate) address: BoardAddress,
    pub(crate) login: Login,
    /// Whose items are taken.
    pub(crate) lander: PublicKey,
    pub(crate) lanes: u32,
    pub(crate) labels: Vec<String>,
    pub(crate) settings: Settings,
}

/// Works until it is asked to stop, or to finish.
pub(crate) fn work(work: WorkerSetup) -> Result<u8> {
    let name = work.login.name.to_string();
    let place = state_dir()?.join(WORKERS).join(&name);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
    let place = fs_err::canonicalize(place)?;
    let lock = take(&place, &name)?;
    let _ = fs_err::remove_file(place.join("drain"));
    let supervisor = Supervisor::new()?;
    let mark = Mark::new(&format!("worker-{name}"), &place);
    // Should the guardian of an earlier process have been killed too.
    end_run(&mark, Looks::Twice);
    let guardian =
        Guardian::start(mark.clone(), &[lock.try_clone()?.into()]).context("cannot start the guardian")?;
    let board = Board::connect(&work.address, &work.login)?;
    let queue = board.queue()?;
    let keeper = Keeper::start(queue.silence())?;
    let WorkerSetup { address, login, lander, lanes, labels, settings } = work;
    let shop = Shop { address, login, board, keeper, mark, place };
    let bounds = Bounds { settings, labels };
    let at_work = BTreeMap::new();
    let mut worker =
        Worker { shop, queue, lander, lanes, bounds, supervisor, at_work, refused: BTreeMap::new() };
    worker.say(&format!("takes items from {}", worker.shop.address));
    worker.run();
    worker.say("has ended");
    guardian.release();
    worker.supervisor.release();
    Ok(0)
}

/// Asks all workers of this machine to finish what they are at, and to end.
pub(crate) fn drain() -> Result<Vec<String>> {
    let mut asked = Vec::new();
    for entry in fs_err::read_dir(state_dir()?.join(WORKERS)).into_iter().flatten().flatten() {
        let pid = files::read_text(&entry.path().join("lock")).ok().and_then(|text| text.trim().parse().ok());
        if pid.is_some_and(is_alive) {
            Root::new(entry.path()).replace(OsStr::new("drain"), b"", Readers::Owner)?;
            asked.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(asked)
}

/// Keeps a second worker of this name away. The file has the number of the process.
fn take(place: &Path, name: &str) -> Result<File> {
    let path = place.join("lock");
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(&path)?;
    let mut before = Vec::new();
    file.read_to_end(&mut before)?;
    let before = String::from_utf8_lossy(&before);
    let is_other =
        before.trim().parse().is_ok_and(|pid: i32| pid != std::process::id().cast_signed() && is_alive(pid));
    if file_lock::take_within(&file, Duration::ZERO).is_err() {
        if is_other {
            return Err(Error::new(format!("a worker `{name}` is at work on this machine")).hint(
                "`ralph fleet work --drain` lets it finish; another worker needs its own name and login",
            ));
        }
        file_lock::take_within(&file, RELEASE_TIMEOUT)
            .context("processes of this worker are still being ended")?;
    }
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())?;
    Ok(file)
}

struct Worker {
    shop: Shop,
    queue: Queue,
    lander: PublicKey,
    lanes: u32,
    bounds: Bounds,
    supervisor: Supervisor,
    at_work: BTreeMap<String, Attempt>,
    /// What was said about items that are not taken, to say it once.
    refused: BTreeMap<(String, String), String>,
}

impl Worker {
    fn run(&mut self) {
        let mut trouble: Option<String> = None;
        loop {
            let is_stopping = self.supervisor.stop_requested();
            let is_draining = is_stopping || self.shop.place.join("drain").exists();
            if is_stopping {
                self.at_work.values_mut().for_each(Attempt::end);
            }
            self.look();
            if is_draining && self.at_work.is_empty() {
                return;
            }
            let free = (1..=self.lanes).map(|number| format!("lane-{number}"));
            let free = { free }.find(|lane| !self.at_work.contains_key(lane));
            let Some(lane) = free.filter(|_| !is_draining) else {
                self.rest(POLL_INTERVAL);
                continue;
            };
            let wait = if self.at_work.is_empty() { IDLE_TIMEOUT } else { BUSY_TIMEOUT };
            let served = self.queue.take(wait).and_then(|delivery| match delivery {
                Some(delivery) => self.serve(&lane, delivery),
                None => Ok(()),
            });
            let said = served.err().map(|error| error.to_string());
            if said.is_some() && said != trouble {
                self.say(said.as_deref().unwrap_or_default());
            }
            if said.is_some() {
                self.rest(BUSY_TIMEOUT);
            }
            trouble = said;
        }
    }

    fn rest(&mut self, pause: Duration) {
        if self.supervisor.stop_requested() {
            // A wait would end at once.
            std::thread::sleep(pause);
        } else {
            self.supervisor.wait(Instant::now() + pause, &mut || {});
        }
    }

    fn say(&self, text: &str) {
        report::fleet::line(self.shop.board.name().as_str(), text);
    }

    /// Looks after the lanes.
    fn look(&mut self) {
        let mut ended = Vec::new();
        for (lane, attempt) in &mut self.at_work {
            match attempt.look(&self.shop) {
                Ok(Some(end)) => ended.push((lane.clone(), Some(end))),
                // Its end is in a file: it is told when the servers are back.
                Err(_) if self.supervisor.is_ending() => ended.push((lane.clone(), None)),
                Ok(None) | Err(_) => {}
            }
        }
        for (lane, end) in ended {
            let Some(attempt) = self.at_work.remove(&lane) else { continue };
            let item = &attempt.hold.item;
            self.say(&match end {
                Some(AttemptEnd::HandedIn) => format!("{item} is handed in"),
                Some(AttemptEnd::Failed(why)) => format!("{item} failed: {why}"),
                Some(AttemptEnd::Released) => format!("{item} is given back"),
                Some(AttemptEnd::Lost) => {
                    format!("{item} belongs to another worker by now, or the fleet no longer needs it")
                }
                None => format!("{item} is left: the board does not answer"),
            });
        }
    }

    /// Looks at what the queue gave, claims it, and starts a lane for it.
    fn serve(&mut self, lane: &str, delivery: Delivery) -> Result<()> {
        let (fleet, id) = (delivery.fleet.clone(), delivery.item.clone());
        if let Some(attempt) = self.at_work.values().find(|attempt| attempt.is_for(&fleet, &id)) {
            // This worker was silent for too long, and no one else has claimed it yet.
            *attempt.hold.delivery() = delivery;
            return Ok(());
        }
        let ledger = self.shop.board.ledger(&fleet).trusting(self.lander.clone());
        let entries = ledger.entries(&id)?;
        let item = Item::fold(entries.iter().map(|entry| &entry.entry));
        let posted = entries.iter().rev().find(|entry| entry.entry.step == ItemStep::Posted);
        let Some(posted) = posted else {
            let open = self.shop.board.ledger(&fleet).posting(&id, delivery.posted)?;
            return match open {
                Some(_) => self.refuse(&delivery, "the lander that this worker trusts has not signed it"),
                // The log that can be seen from here does not have it yet.
                None => delivery.give_back(),
            };
        };
        if !matches!(item.phase, ItemPhase::Waiting | ItemPhase::Held(_)) {
            // A copy of the log that is behind shows what was before this posting.
            return if item.last < delivery.posted { delivery.give_back() } else { delivery.settle() };
        }
        let posting = Posting::read(posted.load.as_ref(), &id);
        let posting = posting.and_then(|posting| {
            let settings = self.bounds.apply(&posting).map_err(Error::new)?;
            Ok((Posting { left: self.bounds.left(&posting), ..posting }, settings))
        });
        let posting = match posting {
            Ok(posting) => posting,
            Err(why) => return self.refuse(&delivery, &why.to_string()),
        };
        let who = self.shop.board.name().to_string();
        let Stored::At(lease) = ledger.append_with(&id, &who, &ItemStep::Claimed, None, item.last)? else {
            return delivery.give_back();
        };
        self.say(&format!("works on {id} in {lane}"));
        let hold = Hold::new(ledger, &id, lease, delivery);
        let (posting, settings) = posting;
        let posting = (posting, settings, posted.entry.sequence);
        let attempt = Attempt::start(&self.shop, (hold, lane), posting)?;
        self.at_work.insert(lane.to_owned(), attempt);
        Ok(())
    }

    /// Leaves an item to others.
    fn refuse(&mut self, delivery: &Delivery, why: &str) -> Result<()> {
        let key = (delivery.fleet.clone(), delivery.item.clone());
        if self.refused.get(&key).map(String::as_str) != Some(why) {
            self.say(&format!("does not take {}: {why}", delivery.item));
            self.refused.insert(key, why.to_owned());
        }
        delivery.give_back_for((self.queue.silence() / 4).min(LEAVE_INTERVAL))
    }
}
