//! What judges a project: where each guardrail leads, and which files are checks.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use ralph_checks::{
    leads::leads,
    protected::{Protected, Role},
};
use ralph_sys::{
    calls::{looking_git, succeeded},
    error::Result,
    files::Root,
    process::Supervisor,
};
use serde::Serialize;

/// A list of files that is longer is cut.
const MAX_LIST_LEN: usize = 64 * 1024 * 1024;
/// A longer file is no recipe and no script.
const MAX_SCRIPT_LEN: u64 = 1024 * 1024;

/// What judges.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub(crate) guardrails: Vec<Led>,
    /// The files of the project that are checks.
    pub(crate) checks: BTreeMap<Role, Vec<String>>,
}

/// A guardrail and where it leads.
#[derive(Debug, Serialize)]
pub(crate) struct Led {
    pub(crate) command: String,
    /// Each way, from file to file: `Makefile:test`, `tests/run.sh`.
    pub(crate) ways: Vec<Vec<String>>,
}

/// Reads the files of the working tree.
pub(crate) fn explain(supervisor: &mut Supervisor, project: &Path, commands: &[String]) -> Result<Explained> {
    let root = Root::new(project);
    let read = |path: &str| {
        let bytes = root.read(path, MAX_SCRIPT_LEN).ok()?;
        String::from_utf8(bytes).ok()
    };
    let led = |command: &String| {
        let ways = leads(command, &read);
        let ways = ways.iter().map(|lead| lead.places.iter().map(ToString::to_string).collect()).collect();
        Led { command: command.clone(), ways }
    };
    let protected = Protected::usual();
    let mut checks: BTreeMap<Role, Vec<String>> = BTreeMap::new();
    for path in files(supervisor, project)? {
        if let Some(role) = protected.role(&path) {
            checks.entry(role).or_default().push(path);
        }
    }
    Ok(Explained { guardrails: commands.iter().map(led).collect(), checks })
}

/// What git knows or would add, below the project; nothing outside of a repository.
fn files(supervisor: &mut Supervisor, project: &Path) -> Result<Vec<String>> {
    let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let spec = looking_git(project, words.map(OsString::from).to_vec());
    let captured = supervisor.capture(spec, MAX_LIST_LEN)?;
    if !succeeded(&captured) {
        return Ok(Vec::new());
    }
    let names = captured.out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}
