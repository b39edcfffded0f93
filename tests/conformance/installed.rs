//! Finds the agents that `cargo xtask agents` has installed.

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// An installed agent.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Program {
    name: String,
    pub(crate) version: String,
    #[serde(rename = "program")]
    pub(crate) file: PathBuf,
    /// What must stand first on the path when it runs.
    pub(crate) path: Option<PathBuf>,
}

impl Program {
    /// Looks an agent up in the list that `RALPH_TEST_AGENTS` names, or in the one in the build folder.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let list = env::var_os("RALPH_TEST_AGENTS").map(PathBuf::from).or_else(in_build_folder)?;
        let list: Vec<Self> = serde_json::from_slice(&fs::read(list).ok()?).expect("a list of agents");
        list.into_iter().find(|entry| entry.name == name && entry.file.exists())
    }
}

/// The folder for the files of tests lies in the build folder, at a depth that depends on the target.
fn in_build_folder() -> Option<PathBuf> {
    let folders = Path::new(env!("CARGO_TARGET_TMPDIR")).ancestors();
    folders.map(|folder| folder.join("agents/installed.json")).find(|list| list.exists())
}
