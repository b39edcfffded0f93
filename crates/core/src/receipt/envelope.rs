//! The envelope of a receipt: DSSE, the statement as bytes with signatures over them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{base64, statement::Statement};

/// What the bytes of an in-toto statement are called.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// A receipt as it is stored and sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Envelope {
    /// What the payload is: `application/vnd.in-toto+json`.
    pub payload_type: String,
    /// The statement: JSON in base64.
    pub payload: String,
    /// Who vouches for it; empty while no one does.
    pub signatures: Vec<Signature>,
}

/// One signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The key, as `ssh-keygen -l` shows it. Only for people: no one trusts it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub keyid: String,
    /// What `ssh-keygen -Y sign` made, in base64 and without its armour.
    pub sig: String,
}

/// Why a receipt cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is none, or was changed.
    Broken(String),
    /// It is of a kind that this version does not know.
    Unknown(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Broken(text) | Self::Unknown(text)) = self;
        out.write_str(text)
    }
}

impl Envelope {
    /// A statement that no one has signed.
    pub fn of(statement: &Statement) -> Self {
        let bytes = serde_json::to_vec(statement).expect("statements have only string keys and plain values");
        Self {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: base64::encode(&bytes),
            signatures: Vec::new(),
        }
    }

    /// Reads an envelope. Keys that it does not know, or that are there twice, are refused: those who sign, read and
    /// act must see the same.
    pub fn read(text: &[u8]) -> Result<Self, Unreadable> {
        let envelope: Self = serde_json::from_slice(text)
            .map_err(|error| Unreadable::Broken(format!("it is not a DSSE envelope: {error}")))?;
        if envelope.payload_type != PAYLOAD_TYPE {
            return Err(Unreadable::Unknown(format!("its payload is `{}`", envelope.payload_type)));
        }
        Ok(envelope)
    }

    /// As a file has it.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("an envelope has only plain values") + "\n"
    }

    /// The bytes of the statement.
    pub fn bytes(&self) -> Result<Vec<u8>, Unreadable> {
        base64::decode(&self.payload)
            .ok_or_else(|| Unreadable::Broken("its payload is not base64".to_owned()))
    }

    /// The statement.
    pub fn statement(&self) -> Result<Statement, Unreadable> {
        Statement::read(&self.bytes()?)
    }

    /// The bytes that are signed: type and payload with their lengths, so that neither can be taken for the other.
    pub fn signed_bytes(&self) -> Result<Vec<u8>, Unreadable> {
        let payload = self.bytes()?;
        let head = format!("DSSEv1 {} {} {} ", self.payload_type.len(), self.payload_type, payload.len());
        Ok([head.into_bytes(), payload].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(payload: &str) -> Envelope {
        let payload = base64::encode(payload.as_bytes());
        Envelope { payload_type: PAYLOAD_TYPE.to_owned(), payload, signatures: Vec::new() }
    }

    #[test]
    fn the_signed_bytes_are_those_of_the_protocol() {
        let signed = envelope("{}").signed_bytes().expect("bytes");
        assert_eq!(signed, b"DSSEv1 28 application/vnd.in-toto+json 2 {}");
    }

    #[test]
    fn an_envelope_comes_back_and_others_do_not() {
        let whole = envelope("{}");
        assert_eq!(Envelope::read(whole.text().as_bytes()), Ok(whole.clone()));
        let more = whole.text().replace("\"signatures\"", "\"more\":1,\"signatures\"");
        let twice = whole.text().replace("\"signatures\"", "\"payload\":\"e30=\",\"signatures\"");
        let other = whole.text().replace("in-toto", "other");
        for text in [more, twice, other, String::new(), "[]".to_owned()] {
            assert!(Envelope::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn why_a_receipt_cannot_be_read_is_said_as_it_is() {
        assert_eq!(Unreadable::Broken("it is none".to_owned()).to_string(), "it is none");
        assert_eq!(Unreadable::Unknown("it is newer".to_owned()).to_string(), "it is newer");
    }
}
