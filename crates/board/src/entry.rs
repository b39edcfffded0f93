//! An entry of a log on the wire: what is in its subject, its headers and its payload.
//!
//! Step and author are in the subject, where the server can check them; the payload never repeats them.

use ralph_core::fleet::{ItemEntry, ItemStep};
use ralph_sys::error::{Error, Result};
use serde_json::{Map, Value, json};

use crate::{key::PublicKey, name, subjects};

/// An entry, with what the core does not know of.
#[derive(Clone, Debug)]
pub struct BoardEntry {
    /// Which item it is about.
    pub item: String,
    /// Its number, author and step.
    pub entry: ItemEntry,
    /// What the author gave with it: what to do and with which parcels, where the result is.
    pub load: Option<Value>,
    /// Tells an own entry, whose confirmation got lost, from another's.
    pub(crate) token: String,
    /// What the signature is about, and the signature.
    seal: Option<(Vec<u8>, String)>,
}

/// An entry as it comes from a stream.
pub(crate) struct Raw<'a> {
    pub(crate) subject: &'a str,
    pub(crate) sequence: u64,
    pub(crate) payload: &'a [u8],
    /// The number of the entry that it was stored behind.
    pub(crate) after: Option<&'a str>,
    pub(crate) token: Option<&'a str>,
    pub(crate) signature: Option<&'a str>,
}

impl BoardEntry {
    /// Whether the holder of this key wrote exactly this, at exactly this place of this log.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        self.seal.as_ref().is_some_and(|(text, signature)| key.has_signed(text, signature))
    }

    /// Reads an entry. What no one can read changes nothing in the fold, but counts as the last entry.
    pub(crate) fn read(fleet: &str, raw: &Raw<'_>) -> Self {
        let parsed = subjects::parse_entry(raw.subject);
        let (item, step, who) = parsed.unwrap_or((String::new(), "", String::new()));
        let (step, load) = parse(step, raw.payload).unwrap_or((NOTHING, None));
        let seal = raw.signature.zip(raw.after).map(|(signature, after)| {
            (
                signed_text(fleet, &item, &who, after, step_name(raw.subject), raw.payload),
                signature.to_owned(),
            )
        });
        Self {
            item,
            entry: ItemEntry { sequence: raw.sequence, who, step },
            load,
            token: raw.token.unwrap_or_default().to_owned(),
            seal,
        }
    }

    /// Makes an entry one that changes nothing.
    pub(crate) fn void(&mut self) {
        self.entry.step = NOTHING;
        self.load = None;
    }
}

/// No lease has the number 0, so this is legal nowhere.
const NOTHING: ItemStep = ItemStep::Released { lease: 0, died: false };

fn step_name(subject: &str) -> &str {
    subject.split('.').nth(4).unwrap_or_default()
}

/// The name of a step and the payload of its entry.
pub(crate) fn write(step: &ItemStep, load: Option<&Value>) -> Result<(String, Vec<u8>)> {
    let mut fields = serde_json::to_value(step)?;
    let name = fields.as_object_mut().and_then(|fields| fields.remove("step"));
    let Some(Value::String(name)) = name else { return Err(Error::new("a step without a name")) };
    let payload = match load {
        Some(load) => json!({ "entry": fields, "load": load }),
        None => json!({ "entry": fields }),
    };
    Ok((name, serde_json::to_vec(&payload)?))
}

fn parse(step: &str, payload: &[u8]) -> Option<(ItemStep, Option<Value>)> {
    let mut whole: Map<String, Value> = serde_json::from_slice(payload).ok()?;
    let mut fields = whole.remove("entry").unwrap_or_else(|| json!({}));
    fields.as_object_mut()?.insert("step".to_owned(), step.into());
    Some((serde_json::from_value(fields).ok()?, whole.remove("load")))
}

/// What a signature is about: the words and their place, so that they cannot be repeated elsewhere.
pub(crate) fn signed_text(
    fleet: &str,
    item: &str,
    who: &str,
    after: &str,
    step: &str,
    payload: &[u8],
) -> Vec<u8> {
    let place = [fleet, item, who, after, step].map(name::token).join("\n");
    let mut text = format!("ralph item\n{place}\n").into_bytes();
    text.extend_from_slice(payload);
    text
}

#[cfg(test)]
mod tests {
    use ralph_core::fleet::{Item, Offer, Refusal};

    use super::*;
    use crate::key::Key;

    fn steps() -> Vec<ItemStep> {
        let offer = Offer {
            lease: 7,
            base: "b".into(),
            head: "h".into(),
            cost: 0.5,
            run: Some("r".into()),
            parcel: None,
        };
        let conflict = Refusal::Conflict { tip: "t".into(), files: vec!["f".into()], hunks: "<<".into() };
        vec![
            ItemStep::Posted,
            ItemStep::Claimed,
            ItemStep::Done(offer),
            ItemStep::Failed { lease: 7, exit: Some(4), why: "w".into() },
            ItemStep::Released { lease: 7, died: true },
            ItemStep::Merged { commit: "c".into() },
            ItemStep::Refused(conflict),
            ItemStep::Refused(Refusal::Unusable { reason: "r".into() }),
            ItemStep::Withdrawn { why: "w".into() },
            ItemStep::Cancelled { why: "w".into() },
            ItemStep::Reoffered,
            ItemStep::Said { text: "t".into(), keep: true, now: false },
        ]
    }

    fn raw<'a>(subject: &'a str, payload: &'a [u8]) -> Raw<'a> {
        Raw { subject, sequence: 9, payload, after: Some("8"), token: Some("t"), signature: None }
    }

    #[test]
    fn every_step_is_written_and_read() {
        for step in steps() {
            for load in [None, Some(json!({ "base": "b" }))] {
                let (name, payload) = write(&step, load.as_ref()).expect("written");
                let subject = subjects::entry("f", "a.b", &name, "w1");
                let read = BoardEntry::read("f", &raw(&subject, &payload));
                let expected = ItemEntry { sequence: 9, who: "w1".into(), step: step.clone() };
                assert_eq!((read.item.as_str(), read.entry, read.load), ("a.b", expected, load));
            }
        }
    }

    #[test]
    fn the_subject_decides_and_not_the_payload() {
        let lie = br#"{"entry":{"step":"merged","commit":"c"}}"#;
        let read = BoardEntry::read("f", &raw("ralph.item.f.a.claimed.w1", lie));
        assert_eq!(read.entry.step, ItemStep::Claimed);
    }

    #[test]
    fn what_no_one_can_read_changes_nothing_but_counts() {
        for (subject, payload) in [
            ("ralph.item.f.a.merged.w1", &b"no json"[..]),
            ("ralph.item.f.a.dance.w1", b"{}"),
            ("ralph.item.f.a.merged.w1", br#"{"entry":[]}"#),
            ("ralph.item.f.a", b"{}"),
        ] {
            let read = BoardEntry::read("f", &raw(subject, payload));
            let item = Item::fold([&read.entry]);
            assert_eq!(item, Item { last: 9, ..Item::default() }, "{subject}");
        }
    }

    #[test]
    fn a_signature_is_about_the_words_and_their_place() {
        let key = Key::generate();
        let (_, payload) = write(&ItemStep::Posted, Some(&json!({ "base": "b" }))).expect("written");
        let text = signed_text("f", "a", "lander", "8", "posted", &payload);
        let signature = key.sign(&text).expect("signed");
        let signed = |fleet: &str, subject: &str, after: &str, payload: &[u8]| {
            let after = Some(after);
            let raw = Raw { signature: Some(&signature), after, ..raw(subject, payload) };
            BoardEntry::read(fleet, &raw).is_signed_by(&key.public())
        };
        let subject = "ralph.item.f.a.posted.lander";
        assert!(signed("f", subject, "8", &payload));
        assert!(!signed("g", subject, "8", &payload));
        assert!(!signed("f", subject, "9", &payload));
        assert!(!signed("f", subject, "8", b"{}"));
        for other in
            ["ralph.item.f.b.posted.lander", "ralph.item.f.a.posted.w1", "ralph.item.f.a.claimed.lander"]
        {
            assert!(!signed("f", other, "8", &payload), "{other}");
        }
        let unsigned = BoardEntry::read("f", &raw(subject, &payload));
        assert!(!unsigned.is_signed_by(&key.public()));
    }
}
