//! Finds the agents that `cargo xtask agents` has installed.

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// An installed agent.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Program {
    name: String,
    pub(crate) version: String,
    pub(crate) program: PathBuf,
    /// What must stand first on the path when it runs.
    pub(crate) path: Option<PathBuf>,
}

impl Program {
    /// Looks an agent up in the list that `RALPH_TEST_AGENTS` names, or in the one in the build folder.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let in_build_folder = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("../agents/installed.json");
        let list = env::var_os("RALPH_TEST_AGENTS").map_or_else(in_build_folder, PathBuf::from);
        let list: Vec<Self> = serde_json::from_slice(&fs::read(list).ok()?).expect("a list of agents");
        list.into_iter().find(|entry| entry.name == name && entry.program.exists())
    }
}
