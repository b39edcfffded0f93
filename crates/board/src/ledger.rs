//! The logs of the items: read them, and append to them if no one was faster.
//!
//! An append names the last number that its author has seen of the whole log, no matter who wrote it. The server stores
//! it only if that is still the last one: of any number of writers that saw the same, one succeeds.

use std::{
    collections::BTreeMap,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use async_nats::{
    HeaderMap,
    jetstream::message::{PublishMessage, StreamMessage},
};
use ralph_core::fleet::{Item, ItemEntry, ItemStep, LANDER, Ledger, Stored};
use ralph_sys::error::{Error, Result};
use serde_json::Value;

use crate::{
    entry::{BoardEntry, Raw, signed_text, write},
    key::{Key, PublicKey, hex},
    link::{Board, Link},
    read::{last, read},
    store::{Answer, store},
    subjects::{self, ITEMS},
};

/// The client has no method for this one.
const EXPECTED_SUBJECT: &str = "Nats-Expected-Last-Subject-Sequence-Subject";
const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
const TOKEN: &str = "Ralph-Token";
const SIGNATURE: &str = "Ralph-Signature";

/// How many entries are read at once.
const BATCH: usize = 500;
/// How long an append that no one confirms is tried again.
const APPEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Between two looks at a log that does not show yet what must be in it.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// The logs of the items of a fleet.
#[derive(Clone)]
pub struct BoardLedger {
    link: Arc<Link>,
    fleet: String,
    signer: Option<Arc<Key>>,
    pinned: Option<PublicKey>,
}

impl Board {
    /// The logs of the items of a fleet.
    pub fn ledger(&self, fleet: &str) -> BoardLedger {
        BoardLedger { link: self.link().clone(), fleet: fleet.to_owned(), signer: None, pinned: None }
    }
}

impl BoardLedger {
    /// Signs everything that is appended: what a lander does.
    #[must_use]
    pub fn signing(self, key: Arc<Key>) -> Self {
        Self { signer: Some(key), ..self }
    }

    /// Takes postings of this lander only, and nothing that others wrote in its name: what a worker does.
    #[must_use]
    pub fn trusting(self, lander: PublicKey) -> Self {
        Self { pinned: Some(lander), ..self }
    }

    /// The log of an item, oldest first, with what came with the entries.
    pub fn entries(&self, item: &str) -> Result<Vec<BoardEntry>> {
        self.read_all(&subjects::log(&self.fleet, item), 0)
    }

    /// The state of an item.
    pub fn item(&self, item: &str) -> Result<Item> {
        Ok(Item::fold(self.entries(item)?.iter().map(|entry| &entry.entry)))
    }

    /// The logs of all items, oldest entry first.
    pub fn items(&self) -> Result<BTreeMap<String, Vec<BoardEntry>>> {
        let mut items: BTreeMap<String, Vec<BoardEntry>> = BTreeMap::new();
        for entry in self.changes(0)? {
            items.entry(entry.item.clone()).or_default().push(entry);
        }
        Ok(items)
    }

    /// The entries of all items behind a number, oldest first.
    pub fn changes(&self, after: u64) -> Result<Vec<BoardEntry>> {
        self.read_all(&subjects::logs(&self.fleet), after)
    }

    /// The posting with this number, if it can be seen, and if the pinned lander signed it.
    pub fn posting(&self, item: &str, sequence: u64) -> Result<Option<BoardEntry>> {
        let messages = read(&self.link, ITEMS, &subjects::log(&self.fleet, item), sequence, 1)?;
        let found = messages.first().filter(|message| message.sequence == sequence);
        let entry = found.map(|message| self.entry(message));
        Ok(entry.filter(|entry| entry.entry.step == ItemStep::Posted))
    }

    /// What was said to the worker of an item, behind a number, oldest first. What the pinned lander has not signed comes
    /// as nothing.
    ///
    /// As long as nothing was said this takes a tenth of a millisecond.
    pub fn said(&self, item: &str, after: u64) -> Result<Vec<(u64, Option<ItemStep>)>> {
        let filter = subjects::said(&self.fleet, item);
        if last(&self.link, ITEMS, &filter)?.is_none_or(|message| message.sequence <= after) {
            return Ok(Vec::new());
        }
        let pinned = self.pinned.as_ref();
        let said = self.messages(&filter, after)?.into_iter().map(|message| {
            let entry = self.raw_entry(&message);
            let is_signed = pinned.is_none_or(|lander| entry.is_signed_by(lander));
            let is_word = matches!(entry.entry.step, ItemStep::Said { .. }) && entry.entry.who == LANDER;
            (message.sequence, Some(entry.entry.step).filter(|_| is_signed && is_word))
        });
        Ok(said.collect())
    }

    /// Whether a lease still counts.
    pub fn is_held(&self, item: &str, lease: u64) -> Result<bool> {
        match last(&self.link, ITEMS, &subjects::log(&self.fleet, item))? {
            // A replica that does not have the claim yet knows nothing of its end.
            Some(message) if message.sequence <= lease => Ok(true),
            None => Ok(true),
            Some(_) => Ok(self.item(item)?.held().is_some_and(|held| held.sequence == lease)),
        }
    }

    /// Appends one step if `after` is still the number of the log's last entry.
    ///
    /// An append without an answer is tried again: it names its place, so it cannot be stored twice, and its token tells
    /// whether the entry behind `after` is this one. An error means that no one knows whether it was stored.
    pub fn append_with(
        &self,
        item: &str,
        who: &str,
        step: &ItemStep,
        load: Option<&Value>,
        after: u64,
    ) -> Result<Stored> {
        let append = self.append_once(item, who, step, load, after)?;
        let end = Instant::now() + APPEND_TIMEOUT;
        let mut is_lost = false;
        while Instant::now() < end {
            match append.send(self)? {
                Answer::At(sequence) => return Ok(Stored::At(sequence)),
                Answer::Unanswered => is_lost = true,
                Answer::Overtaken | Answer::There if !is_lost => return Ok(Stored::Overtaken),
                Answer::Overtaken | Answer::There => {
                    if let Some(stored) = self.find(item, &append.token, after)? {
                        return Ok(stored);
                    }
                    thread::sleep(LOOK_INTERVAL);
                }
            }
        }
        Err(self.link.error(&format!("cannot append to the log of {item}"), &"no answer"))
    }

    /// The same, tried once and without a second look.
    pub fn try_append(
        &self,
        item: &str,
        who: &str,
        step: &ItemStep,
        load: Option<&Value>,
        after: u64,
    ) -> Result<Answer> {
        self.append_once(item, who, step, load, after)?.send(self)
    }

    fn append_once(
        &self,
        item: &str,
        who: &str,
        step: &ItemStep,
        load: Option<&Value>,
        after: u64,
    ) -> Result<Append> {
        let (step, payload) = write(step, load)?;
        let mut token = [0; 16];
        getrandom::fill(&mut token)
            .map_err(|error| Error::new(format_args!("the system has no random numbers: {error}")))?;
        let text = || signed_text(&self.fleet, item, who, &after.to_string(), &step, &payload);
        let signature = self.signer.as_ref().map(|key| key.sign(&text())).transpose()?;
        Ok(Append {
            subject: subjects::entry(&self.fleet, item, &step, who),
            log: subjects::log(&self.fleet, item),
            token: hex(&token),
            signature,
            payload,
            after,
        })
    }

    /// What became of an append that was not confirmed; nothing if the log that can be seen is too old to tell.
    fn find(&self, item: &str, token: &str, after: u64) -> Result<Option<Stored>> {
        let behind = self.read_all(&subjects::log(&self.fleet, item), after)?;
        Ok(match behind.first() {
            Some(entry) if entry.token == token => Some(Stored::At(entry.entry.sequence)),
            Some(_) => Some(Stored::Overtaken),
            None => None,
        })
    }

    fn read_all(&self, filter: &str, after: u64) -> Result<Vec<BoardEntry>> {
        Ok(self.messages(filter, after)?.iter().map(|message| self.entry(message)).collect())
    }

    fn messages(&self, filter: &str, after: u64) -> Result<Vec<StreamMessage>> {
        let (mut all, mut after) = (Vec::new(), after);
        loop {
            let messages = read(&self.link, ITEMS, filter, after + 1, BATCH)?;
            let is_last = messages.len() < BATCH;
            after = messages.last().map_or(after, |message| message.sequence);
            all.extend(messages);
            if is_last {
                return Ok(all);
            }
        }
    }

    fn raw_entry(&self, message: &StreamMessage) -> BoardEntry {
        BoardEntry::read(
            &self.fleet,
            &Raw {
                subject: &message.subject,
                sequence: message.sequence,
                payload: &message.payload,
                after: header(&message.headers, EXPECTED),
                token: header(&message.headers, TOKEN),
                signature: header(&message.headers, SIGNATURE),
            },
        )
    }

    fn entry(&self, message: &StreamMessage) -> BoardEntry {
        let mut entry = self.raw_entry(message);
        let is_lander = entry.entry.who == LANDER || entry.entry.step == ItemStep::Posted;
        let is_unsigned = |lander: &PublicKey| is_lander && !entry.is_signed_by(lander);
        if self.pinned.as_ref().is_some_and(is_unsigned) {
            entry.void();
        }
        entry
    }
}

impl Ledger for BoardLedger {
    type Error = Error;

    fn read(&self, item: &str) -> Result<Vec<ItemEntry>> {
        Ok(self.entries(item)?.into_iter().map(|entry| entry.entry).collect())
    }

    fn append(&mut self, item: &str, who: &str, step: ItemStep, after: u64) -> Result<Stored> {
        self.append_with(item, who, &step, None, after)
    }
}

/// An entry on its way.
struct Append {
    subject: String,
    log: String,
    token: String,
    signature: Option<String>,
    payload: Vec<u8>,
    after: u64,
}

impl Append {
    fn send(&self, ledger: &BoardLedger) -> Result<Answer> {
        let mut message = PublishMessage::build()
            .payload(self.payload.clone().into())
            .expected_last_subject_sequence(self.after)
            .header(EXPECTED_SUBJECT, self.log.as_str())
            .header(TOKEN, self.token.as_str());
        if let Some(signature) = &self.signature {
            message = message.header(SIGNATURE, signature.as_str());
        }
        let link = &ledger.link;
        let answer = link.wait(store(&link.streams, self.subject.clone(), message));
        answer.map_err(|error| link.error(&format!("cannot append to {}", self.log), &error))
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(async_nats::HeaderValue::as_str)
}
