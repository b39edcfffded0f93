//! A candidate that a worker handed in: fetched, limited in size, checked, and kept under the name of its worker only.

use ralph_board::Parcel;
use ralph_core::fleet::{FleetBoard, Offer, OfferedParcel};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::connect;
use crate::{
    fleet::FleetDir,
    workspace::{Source, bundle, target::TargetBranch},
};

/// The largest candidate that is taken.
const MAX_CANDIDATE_LEN: u64 = 1 << 30;

/// Brings the commits of an offer into the user's repository, as `name`. `Err` in it says what is wrong with them.
pub(in crate::fleet) fn fetch_candidate(
    supervisor: &mut Supervisor,
    (dir, board): (&FleetDir, &FleetBoard),
    (source, target): (&Source, &TargetBranch),
    (offer, worker): (&Offer, &str),
    name: &str,
) -> Result<std::result::Result<(), String>> {
    if target.held(supervisor, name)?.as_deref() == Some(offer.head.as_str()) {
        return Ok(Ok(()));
    }
    let Some(OfferedParcel { writer, sha256, bytes }) = offer.parcel.clone() else {
        return Ok(Err("there are no commits with it".to_owned()));
    };
    if writer != worker {
        return Ok(Err(format!("its commits are said to come from {writer}")));
    }
    let is_id = |id: &str| id.len() >= 40 && id.chars().all(|c| c.is_ascii_hexdigit());
    if !is_id(&offer.base) || !is_id(&offer.head) || MAX_CANDIDATE_LEN < bytes {
        return Ok(Err("it is too large, or names no commits".to_owned()));
    }
    let Ok(writer) = writer.parse() else { return Ok(Err("no worker has such a name".to_owned())) };
    let parcel = Parcel { writer, sha256, bytes };
    let incoming = dir.path().join("incoming");
    fs_err::create_dir_all(&incoming)?;
    let file = incoming.join(format!("{}.bundle", offer.lease));
    if let Err(error) = connect(board)?.fetch(&parcel, &file, MAX_CANDIDATE_LEN) {
        // A part that is damaged or gone stays so; a server that does not answer comes back.
        let is_bad = ["is not what", "no longer on the board", "not a digest"]
            .iter()
            .any(|it| error.to_string().contains(it));
        return if is_bad { Ok(Err(error.to_string())) } else { Err(Error::new(error)) };
    }
    let place = incoming.join(format!("{}.git", offer.lease));
    let taken = bundle::import(supervisor, (source, target), (&file, &place), (&offer.head, name))?;
    fs_err::remove_file(file)?;
    Ok(taken)
}
