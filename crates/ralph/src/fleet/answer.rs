//! What a lane or the lander leaves for the coordinator: a file that is there as a whole or not at all.

use std::path::Path;

use ralph_core::fleet::{ItemStep, Refusal};
use ralph_sys::{
    error::Result,
    files::{self, MAX_TEXT_LEN, Readers, Root},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// How a lane ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LaneAnswer {
    pub(super) step: ItemStep,
    /// The run, if there was one.
    pub(super) run: Option<String>,
    /// What the lane takes on the disk, in bytes.
    pub(super) disk: u64,
}

/// How a landing ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LandingAnswer {
    Merged {
        commit: String,
    },
    Refused(Refusal),
    /// Someone else moved the target: once again.
    Overtaken,
    /// A person must do something first.
    Blocked {
        why: String,
    },
    Interrupted,
}

pub(super) fn write(path: &Path, answer: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec(answer).map_err(std::io::Error::from)?;
    text.push(b'\n');
    let folder = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_default();
    Ok(Root::new(folder).replace(name, &text, Readers::Owner)?)
}

pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&files::read(path, MAX_TEXT_LEN).ok()?).ok()
}
