//! What tells the person's browser from everything else on the machine: token, sessions, keys.
//!
//! Invariant: nothing on the disk lets anyone act. The token and the keys are in memory alone and gone with the process; of
//! sessions a hash is kept, so that a page that was open goes on showing after a restart, and only that.

use std::{
    io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use ralph_sys::{error::Result, files, paths::hidden_dir};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::journal::run_dir::record;

/// Bytes of chance in a token, a session and a key.
const SECRET_LEN: usize = 24;
/// As many browsers are known at once; the oldest is forgotten.
const MAX_SESSIONS: usize = 32;
/// How long a session is known that no one uses to begin another.
const SESSION_AGE: SignedDuration = SignedDuration::from_hours(24 * 30);
/// More than the sessions take on the disk.
const MAX_FILE_LEN: u64 = 64 * 1024;

/// Who may look and act.
pub(super) struct Secrets {
    token: String,
    sessions: Mutex<Vec<Session>>,
    /// Where hashes of sessions are kept; sandboxes hide it.
    file: PathBuf,
}

/// A browser that was shown the token.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Session {
    /// Of the cookie.
    hash: String,
    since: Timestamp,
    /// Of the key, which is known to this process only.
    #[serde(skip)]
    key: Option<String>,
}

/// What a browser gets for the token.
pub(super) struct Issued {
    pub(super) cookie: String,
    pub(super) key: String,
}

impl Secrets {
    /// A new token, and the sessions of earlier processes.
    pub(super) fn new(now: Timestamp) -> Result<Self> {
        let file = hidden_dir()?.join("serve.json");
        let known = files::read(&file, MAX_FILE_LEN).ok();
        let mut sessions: Vec<Session> =
            known.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        sessions.retain(|session| now.duration_since(session.since) < SESSION_AGE);
        Ok(Self { token: secret()?, sessions: Mutex::new(sessions), file })
    }

    /// What the link has in it.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// A session for anyone who has the token.
    pub(super) fn begin(&self, token: &str, now: Timestamp) -> io::Result<Option<Issued>> {
        if hash(token) != hash(&self.token) {
            return Ok(None);
        }
        let issued = Issued { cookie: secret()?, key: secret()? };
        let session = Session { hash: hash(&issued.cookie), since: now, key: Some(hash(&issued.key)) };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push(session);
        let old = sessions.len().saturating_sub(MAX_SESSIONS);
        sessions.drain(..old);
        // Without it a page has to be opened again after a restart.
        let _ =
            serde_json::to_vec(&*sessions).map_err(io::Error::other).and_then(|it| record(&self.file, &it));
        Ok(Some(issued))
    }

    /// Whether a cookie is of a session.
    pub(super) fn has_session(&self, cookie: &str) -> bool {
        self.find(cookie, |_| true)
    }

    /// Whether a key belongs to the session of this cookie.
    pub(super) fn has_key(&self, cookie: &str, key: &str) -> bool {
        self.find(cookie, |session| session.key.as_ref() == Some(&hash(key)))
    }

    fn find(&self, cookie: &str, is_wanted: impl Fn(&Session) -> bool) -> bool {
        let hash = hash(cookie);
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.iter().any(|session| session.hash == hash && is_wanted(session))
    }
}

/// Secrets are compared by their hashes: how long that takes says nothing about them.
fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// What no one can guess.
fn secret() -> io::Result<String> {
    Ok(hex(&chance::<SECRET_LEN>()?))
}

/// Bytes of chance, for secrets.
pub(super) fn chance<const LEN: usize>() -> io::Result<[u8; LEN]> {
    let mut bytes = [0; LEN];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(file: PathBuf, sessions: Vec<Session>) -> Secrets {
        Secrets { token: secret().expect("chance"), sessions: Mutex::new(sessions), file }
    }

    #[test]
    fn the_token_begins_a_session_and_nothing_else_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let secrets = secrets(folder.path().join("serve.json"), Vec::new());
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(secrets.token().len(), 2 * SECRET_LEN);
        for wrong in ["", "0", &secrets.token()[1..], &secrets.token().to_uppercase()] {
            assert!(secrets.begin(wrong, now).expect("chance").is_none() || wrong == secrets.token());
        }
        let (one, two) = (
            secrets.begin(secrets.token(), now).expect("chance").expect("a session"),
            secrets.begin(secrets.token(), now).expect("chance").expect("a session"),
        );
        assert_ne!(one.cookie, two.cookie);
        assert!(
            secrets.has_session(&one.cookie) && !secrets.has_session(&one.key) && !secrets.has_session("")
        );
        assert!(secrets.has_key(&one.cookie, &one.key) && !secrets.has_key(&one.cookie, &two.key));
    }

    #[test]
    fn what_is_on_the_disk_lets_a_page_look_and_not_act() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("serve.json");
        let before = secrets(file.clone(), Vec::new());
        let issued = before.begin(before.token(), Timestamp::UNIX_EPOCH).expect("chance").expect("a session");
        let text = std::fs::read_to_string(&file).expect("a file");
        for secret in [&issued.cookie, &issued.key, &before.token, &hash(&issued.key)] {
            assert!(!text.contains(secret.as_str()), "{text}");
        }
        let after = secrets(file, serde_json::from_str(&text).expect("sessions"));
        assert!(after.has_session(&issued.cookie) && !after.has_key(&issued.cookie, &issued.key));
    }

    #[test]
    fn the_oldest_session_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let secrets = secrets(folder.path().join("serve.json"), Vec::new());
        let begin = || secrets.begin(secrets.token(), Timestamp::UNIX_EPOCH).expect("chance").expect("one");
        let first = begin();
        let last = (0..MAX_SESSIONS).map(|_| begin()).reduce(|_, last| last).expect("some");
        assert!(!secrets.has_session(&first.cookie) && secrets.has_session(&last.cookie));
    }
}
