//! Files through the servers: cut into parts, addressed by their SHA-256, each part a message of its own.
//!
//! A part that is stored is never written over, so sending again sends only what is missing: an interrupted upload
//! continues where it ended, and two uploads of one file do not disturb each other.

use std::{
    collections::HashSet,
    io::{self, Read, Seek, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use async_nats::jetstream::{message::PublishMessage, stream::DirectGetErrorKind};
use fs_err::File;
use futures_util::{StreamExt, TryStreamExt, stream};
use ralph_sys::error::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    key::hex,
    link::{Board, Link},
    name::Name,
    store::{Answer, store},
    subjects::{self, PARCELS},
};

/// Half of what a server takes as one message by default.
const PART: u64 = 512 * 1024;
/// How many parts are under way at once: the round trip does not decide how fast it goes.
const WINDOW: usize = 16;

/// A file that is on the board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parcel {
    /// Who sent it.
    pub writer: Name,
    /// The digest of the whole, in hexadecimal digits.
    pub sha256: String,
    /// How long it is.
    pub bytes: u64,
}

impl Parcel {
    fn parts(&self) -> u64 {
        self.bytes.div_ceil(PART)
    }

    fn length(&self, index: u64) -> usize {
        let length = self.bytes.saturating_sub(index * PART).min(PART);
        usize::try_from(length).unwrap_or(usize::MAX)
    }

    /// Whether this can be the digest of something: it becomes part of a subject.
    fn is_sound(&self) -> bool {
        self.sha256.len() == 64 && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

impl Board {
    /// Sends a file, or what is missing of it. Returns also how many parts were sent.
    pub fn send(&self, path: &Path) -> Result<(Parcel, usize)> {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let bytes = digest(&mut file, &mut hash)?;
        let parcel = Parcel { writer: self.name().clone(), sha256: hex(&hash.finalize()), bytes };
        let read = |index: u64, part: &mut [u8]| file.file().read_exact_at(part, index * PART);
        let sent = send(self.link(), &parcel, read)?;
        Ok((parcel, sent))
    }

    /// Sends bytes, or what is missing of them.
    pub fn send_bytes(&self, bytes: &[u8]) -> Result<Parcel> {
        let sha256 = hex(&Sha256::digest(bytes));
        let parcel = Parcel { writer: self.name().clone(), sha256, bytes: bytes.len() as u64 };
        let read = |index: u64, part: &mut [u8]| {
            let at = usize::try_from(index * PART).map_err(io::Error::other)?;
            part.copy_from_slice(&bytes[at..at + part.len()]);
            Ok(())
        };
        send(self.link(), &parcel, read)?;
        Ok(parcel)
    }

    /// Fetches a parcel and checks it. A download that was interrupted continues with the first part that is missing.
    ///
    /// `limit` is the most that is taken; a longer parcel is refused before anything is fetched.
    pub fn fetch(&self, parcel: &Parcel, into: &Path, limit: u64) -> Result<()> {
        if !parcel.is_sound() {
            return Err(Error::new(format_args!("`{}` is not a digest", parcel.sha256)));
        }
        if limit < parcel.bytes {
            return Err(Error::new(format_args!(
                "a parcel of {} has {} bytes; at most {limit} are taken",
                parcel.writer, parcel.bytes
            )));
        }
        let partial = PathBuf::from(format!("{}.part", into.display()));
        let mut file =
            fs_err::OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&partial)?;
        let whole = file.metadata()?.len().min(parcel.bytes) / PART;
        file.set_len(whole * PART)?;
        let mut hash = Sha256::new();
        digest(&mut file, &mut hash)?;
        let link = self.link();
        link.wait(async {
            let missing = stream::iter(whole..parcel.parts());
            let mut parts = missing.map(|index| part(link, parcel, index)).buffered(WINDOW);
            while let Some(part) = parts.try_next().await? {
                hash.update(&part);
                file.write_all(&part)?;
            }
            Ok::<(), Error>(())
        })?;
        if hex(&hash.finalize()) != parcel.sha256 {
            // Nothing of it can be trusted, so the next try begins anew.
            fs_err::remove_file(&partial)?;
            return Err(Error::new(format_args!(
                "what arrived is not what {} sent: its digest is not {}",
                parcel.writer, parcel.sha256
            )));
        }
        file.sync_all()?;
        fs_err::rename(partial, into)?;
        Ok(())
    }
}

fn send(link: &Link, parcel: &Parcel, read: impl Fn(u64, &mut [u8]) -> io::Result<()>) -> Result<usize> {
    let there = stored_parts(link, parcel)?;
    let missing: Vec<u64> = (0..parcel.parts()).filter(|index| !there.contains(index)).collect();
    let count = missing.len();
    let read = &read;
    let sent = stream::iter(missing).map(|index| async move {
        let mut bytes = vec![0; parcel.length(index)];
        read(index, &mut bytes)?;
        let subject = subjects::part(&parcel.writer, &parcel.sha256, index);
        let message = PublishMessage::build().payload(bytes.into());
        match store(&link.streams, subject, message).await {
            Ok(Answer::At(_) | Answer::There) => Ok(()),
            Ok(Answer::Overtaken | Answer::Unanswered) => {
                Err(link.error("cannot send a parcel", &format_args!("part {index} was not confirmed")))
            }
            Err(error) => Err(link.error("cannot send a parcel", &error)),
        }
    });
    link.wait(sent.buffer_unordered(WINDOW).try_collect::<()>())?;
    Ok(count)
}

async fn part(link: &Link, parcel: &Parcel, index: u64) -> Result<Vec<u8>> {
    let what = || format!("cannot fetch a parcel of {}", parcel.writer);
    let subject = subjects::part(&parcel.writer, &parcel.sha256, index);
    let stream =
        link.streams.get_stream_no_info(PARCELS).await.map_err(|error| link.error(&what(), &error))?;
    let payload = match stream.direct_get_last_for_subject(&subject).await {
        Ok(message) => message.payload,
        // A replica that is behind does not have it yet; the leader does.
        Err(error) if error.kind() == DirectGetErrorKind::NotFound => {
            let message = stream.get_last_raw_message_by_subject(&subject).await;
            message.map_err(|_| Error::new(format_args!("{}: it is no longer on the board", what())))?.payload
        }
        Err(error) => return Err(link.error(&what(), &error)),
    };
    // Who lies about the length would have more taken than is allowed.
    if payload.len() != parcel.length(index) {
        return Err(Error::new(format_args!(
            "what arrived is not what {} sent: part {index} has {} bytes",
            parcel.writer,
            payload.len()
        )));
    }
    Ok(payload.into())
}

fn stored_parts(link: &Link, parcel: &Parcel) -> Result<HashSet<u64>> {
    let filter = subjects::parts(&parcel.writer, &parcel.sha256);
    let found = link.wait(async {
        let stream = link.streams.get_stream_no_info(PARCELS).await.map_err(|error| error.to_string())?;
        let subjects =
            stream.info_builder().subjects(filter).fetch().await.map_err(|error| error.to_string())?;
        let indices = subjects.try_filter_map(|(subject, _)| async move {
            Ok(subject.rsplit_once('.').and_then(|(_, index)| index.parse::<u64>().ok()))
        });
        indices
            .try_collect()
            .await
            .map_err(|error: async_nats::jetstream::stream::InfoError| error.to_string())
    });
    found.map_err(|error| link.error("cannot send a parcel", &error))
}

/// Hashes a file from its beginning to its end; returns its length.
fn digest(file: &mut File, hash: &mut Sha256) -> io::Result<u64> {
    file.rewind()?;
    let mut buffer = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(total);
        }
        hash.update(&buffer[..count]);
        total += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_has_as_many_parts_as_it_takes() {
        for (bytes, parts, last) in
            [(0, 0, 0), (1, 1, 1), (PART, 1, PART), (PART + 1, 2, 1), (3 * PART - 1, 3, PART - 1)]
        {
            let parcel = Parcel { writer: "w".parse().expect("a name"), sha256: String::new(), bytes };
            assert_eq!(parcel.parts(), parts);
            assert_eq!(parcel.length(parts.saturating_sub(1)) as u64, last, "{bytes}");
        }
    }

    #[test]
    fn only_a_digest_becomes_part_of_a_subject() {
        let parcel =
            |sha256: &str| Parcel { writer: "w".parse().expect("a name"), sha256: sha256.into(), bytes: 1 };
        assert!(parcel(&"0f".repeat(32)).is_sound());
        for strange in ["", "*", &"0f".repeat(31), &format!("{}.x", "0".repeat(62))] {
            assert!(!parcel(strange).is_sound(), "{strange}");
        }
    }
}
