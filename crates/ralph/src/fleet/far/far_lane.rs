//! The process of a lane whose item is on a board: fetches the commits that this machine lacks, has the work done as in any
//! lane, and sends what it made.

use std::path::{Path, PathBuf};

use ralph_board::{Board, Login, Name};
use ralph_core::fleet::{ItemStep, OfferedParcel};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};
use serde::{Deserialize, Serialize};

use super::posting::Posting;
use crate::{
    fleet::{
        FleetDir,
        answer::{self, LaneAnswer},
        lane_process::{self, LaneCall},
    },
    workspace::bundle,
};

/// The largest bundle of a lander that a worker takes.
const MAX_BUNDLE_LEN: u64 = 64 << 30;

/// What the process finds in its folder.
#[derive(Serialize, Deserialize)]
pub(super) struct FarCall {
    pub(super) board: String,
    pub(super) name: Name,
    pub(super) seed: Option<PathBuf>,
    pub(super) ca: Option<PathBuf>,
    pub(super) api: Option<String>,
    /// The repository of this machine.
    pub(super) repository: PathBuf,
    pub(super) posting: Posting,
}

impl FarCall {
    pub(super) fn path(dir: &FleetDir) -> PathBuf {
        dir.path().join("far.json")
    }

    fn connect(&self) -> Result<Board> {
        let Self { name, seed, ca, api, .. } = self;
        let login = Login { name: name.clone(), seed: seed.clone(), ca: ca.clone(), api: api.clone() };
        Board::connect(&self.board.parse()?, &login)
    }
}

/// Does the work of a lane.
pub(crate) fn main(call: &LaneCall) -> Result<u8> {
    let dir = FleetDir::at(call.fleet.clone());
    let far: FarCall =
        answer::read(&FarCall::path(&dir)).ok_or_else(|| Error::new("the item does not say what to do"))?;
    let supervisor = Supervisor::new()?;
    let tip = format!("refs/ralph/posted/{}", dir.id());
    let board = far.connect()?;
    let prepared = far.prepare(&board, &dir, &tip);
    prepared.map_err(|error| Error::new(format!("its repository could not be fetched: {error}")))?;
    let (answer, supervisor) = lane_process::perform(call, supervisor, Some(&tip))?;
    let answer = far.packed(&board, &dir, answer)?;
    answer::write(&dir.answer("lane", call.lease), &answer)?;
    supervisor.release();
    Ok(0)
}

impl FarCall {
    /// Brings the repository to the commit that the work begins with.
    fn prepare(&self, board: &Board, dir: &FleetDir, tip: &str) -> Result<()> {
        let Self { posting, repository, .. } = self;
        let lock = std::fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(dir.path().with_file_name("repository.lock"))?;
        // Lanes of one machine share it; one at a time unpacks.
        lock.lock()?;
        bundle::repository(repository, &posting.object_format, &posting.author())?;
        let is_known = |commit: &String| bundle::commit_of(repository, commit).is_ok();
        for packed in &posting.bundles {
            if packed.heads.iter().all(is_known) {
                continue;
            }
            let file = dir.path().with_file_name(&packed.parcel.sha256);
            board.fetch(&packed.parcel, &file, MAX_BUNDLE_LEN)?;
            let kept = format!("refs/ralph/bundles/{}", packed.parcel.sha256);
            let unpacked = bundle::unpack(repository, &file, &kept);
            fs_err::remove_file(file)?;
            unpacked?;
        }
        bundle::hold(repository, tip, &posting.base)?;
        Ok(())
    }

    /// Sends the commits of a candidate. Finished work is worth waiting for a server: that is up to who started this.
    fn packed(&self, board: &Board, dir: &FleetDir, answer: LaneAnswer) -> Result<LaneAnswer> {
        let ItemStep::Done(mut offer) = answer.step else { return Ok(answer) };
        let file = dir.path().join("candidate.bundle");
        pack(&self.repository, (&offer.base, &offer.head), &file)?;
        let (parcel, _) = persist(|| board.send(&file))?;
        fs_err::remove_file(file)?;
        let (writer, sha256, bytes) = (parcel.writer.to_string(), parcel.sha256, parcel.bytes);
        offer.parcel = Some(OfferedParcel { writer, sha256, bytes });
        Ok(LaneAnswer { step: ItemStep::Done(offer), ..answer })
    }
}

fn pack(repository: &Path, (base, head): (&str, &str), file: &Path) -> Result<()> {
    Ok(bundle::pack(repository, (&[head], &[base]), file)?)
}

/// Tries for some minutes: a server may be started again.
fn persist<T>(mut send: impl FnMut() -> Result<T>) -> Result<T> {
    let mut last = send();
    for _ in 0..150 {
        if last.is_ok() {
            return last;
        }
        std::thread::sleep(std::time::Duration::from_secs(2));
        last = send();
    }
    last
}
