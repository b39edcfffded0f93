//! The agent's own folder inside a sandbox, with the user's login and settings in it.
//!
//! The user's real folder stays read-only: settings and hooks there would be a way to persist. Keys and tokens in
//! the environment are enough. Without them the credential is copied in before a turn, and a well-formed change of
//! it (a token that was renewed) is copied back after the turn, because an old token would log the user out.

mod found;
mod kinds;
mod ways;

use std::{
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use ralph_sys::files::{Readers, Root};
use serde_json::Value;

use super::survey::home;
use kinds::{ELSEWHERE, KINDS, Kind};

pub use found::{Asked, found};

/// The largest login.
const MAX_LOGIN_LEN: u64 = 1024 * 1024;

/// Where other agents keep their logins, and the own agent the one that it has a copy of: no process inside sees them.
pub(super) fn hidden(agent: &str, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let Some(home) = home() else { return Vec::new() };
    let is_known = KINDS.iter().any(|kind| kind.name == agent);
    let mut all: Vec<PathBuf> = ELSEWHERE.iter().map(|name| home.join(name)).collect();
    for kind in &KINDS {
        let folders = [Some(home.join(kind.folder)), kind.theirs(variable)];
        // No one knows what a program that ralph does not know needs of them beside the logins.
        let is_whole = is_known && kind.name != agent;
        let login = kind.credential.or(kind.copied.first().copied()).unwrap_or_default();
        let of = |folder: PathBuf| if is_whole { folder } else { folder.join(login) };
        all.extend(folders.into_iter().flatten().map(of));
    }
    all
}

/// The user's files that configure an agent, whether they are there or not.
pub fn configuration(agent: &str, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == agent) else { return Vec::new() };
    let copied =
        kind.theirs(variable).into_iter().flat_map(|dir| kind.copied.iter().map(move |name| dir.join(name)));
    let more = kind.more.iter().filter_map(|(name, usual)| {
        let set = variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let dir = set.or_else(|| home().map(|home| home.join(usual)))?.join(kind.name);
        Some(["json", "jsonc"].map(|ext| dir.join(kind.name).with_extension(ext)))
    });
    copied.chain(more.flatten()).collect()
}

/// What an agent reads where the user has it.
pub(super) fn linked(agent: &str, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == agent) else { return Vec::new() };
    let theirs = kind.theirs(variable);
    let linked = kind.linked.iter().filter_map(|name| Some(theirs.as_ref()?.join(name)));
    let more = kind.more.iter().filter_map(|(name, usual)| {
        let set = variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Some(set.or_else(|| home().map(|home| home.join(usual)))?.join(kind.name))
    });
    linked.chain(more).collect()
}

/// Files that the agent must find in the project, with what stands in them.
pub(super) fn expected(agent: &str) -> &'static [(&'static str, &'static str)] {
    KINDS.iter().find(|kind| kind.name == agent).map_or(&[], |kind| kind.expected)
}

impl Kind {
    /// The user's folder.
    fn theirs(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let set = variable(self.variable).filter(|value| !value.is_empty());
        let set = set.map(|folder| PathBuf::from(folder).join(self.below));
        set.or_else(|| home().map(|home| home.join(self.folder)))
    }
}

/// The login of an agent that has a folder of its own inside.
pub(super) struct Login {
    /// What tells the agent where its folder is, and where its other places are.
    variables: Vec<(&'static str, PathBuf)>,
    credential: Option<Credential>,
}

/// The user's credential and its copy inside.
struct Credential {
    /// The folder of the run that has the copy.
    root: Root,
    theirs: PathBuf,
    copy: PathBuf,
    /// What both were when they were last the same.
    known: Option<Vec<u8>>,
}

impl Login {
    /// Makes the agent's folder in `state`; nothing for agents that have none. `variable` is the environment.
    pub(super) fn prepare(
        agent: &str,
        state: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> io::Result<Option<Self>> {
        let Some(kind) = KINDS.iter().find(|kind| kind.name == agent) else { return Ok(None) };
        let folder = state.join(kind.name);
        let own = folder.join(kind.below);
        // A turn of this run may have put a link in its place.
        if std::fs::canonicalize(&own).is_ok_and(|real| real != own) {
            return Err(io::Error::other(format!("{} is a link", own.display())));
        }
        // Ralph's own folder; only what is below it may be an agent's doing.
        fs_err::create_dir_all(state)?;
        let root = Root::new(state);
        root.make_folder(&own)?;
        let mut login = Self { variables: vec![(kind.variable, folder.clone())], credential: None };
        let Some(theirs) = kind.theirs(variable) else { return Ok(Some(login)) };
        for name in kind.copied {
            // Claude keeps this one beside its folder unless the variable names the folder.
            let beside = theirs.parent().map(|dir| dir.join(name)).filter(|_| *name == ".claude.json");
            let from = Some(theirs.join(name)).filter(|it| it.is_file()).or(beside);
            if let Some(from) = from.filter(|from| from.is_file() && !own.join(name).exists()) {
                root.replace(own.join(name), &fs_err::read(from)?, Readers::Owner)?;
            }
        }
        for name in kind.linked {
            link(&theirs.join(name), &own.join(name))?;
        }
        if kind.has_neighbours {
            link_neighbours(&theirs, &folder)?;
        }
        for (name, usual) in kind.more {
            let place = state.join(name.to_lowercase());
            let set = variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
            root.make_folder(place.join(kind.name))?;
            if let Some(theirs) = set.or_else(|| home().map(|home| home.join(usual))) {
                let theirs = theirs.join(kind.name);
                copy_or_link(&root, &theirs, &place.join(kind.name))?;
                link_neighbours(&theirs, &place)?;
            }
            login.variables.push((name, place));
        }
        let has_key = kind.keys.iter().any(|key| variable(key).is_some_and(|value| !value.is_empty()));
        login.credential = kind.credential.filter(|_| !has_key).map(|name| Credential {
            root,
            theirs: theirs.join(name),
            copy: own.join(name),
            known: None,
        });
        Ok(Some(login))
    }

    /// What tells the agent where its folder is.
    pub(super) fn variables(&self) -> impl Iterator<Item = (String, Option<String>)> {
        let text =
            |(name, path): &(&str, PathBuf)| Some(((*name).to_owned(), Some(path.to_str()?.to_owned())));
        self.variables.iter().filter_map(text)
    }

    /// The agent's folder, if this variable names it.
    pub(super) fn folder(&self, variable: &str) -> Option<&Path> {
        self.variables.iter().find(|(name, _)| *name == variable).map(|(_, folder)| folder.as_path())
    }

    /// Copies the credential in, before a turn.
    pub(super) fn renew(&mut self) {
        let Some(credential) = &mut self.credential else { return };
        let theirs = std::fs::read(&credential.theirs).ok();
        if theirs != credential.known
            && let Some(bytes) = &theirs
            && credential.root.replace(&credential.copy, bytes, Readers::Owner).is_ok()
        {
            credential.known = theirs;
        }
    }

    /// Removes the copy of the credential: the run is over.
    pub(super) fn forget(&self) {
        if let Some(credential) = &self.credential {
            let _ = credential.root.remove(&credential.copy);
        }
    }

    /// Copies a renewed credential back, after a turn, unless the user has a newer one.
    pub(super) fn keep(&mut self) {
        let Some(credential) = &mut self.credential else { return };
        let Some(known) = &credential.known else { return };
        let Ok(copy) = credential.root.read(&credential.copy, MAX_LOGIN_LEN) else { return };
        let is_theirs_unchanged = std::fs::read(&credential.theirs).is_ok_and(|theirs| theirs == *known);
        if copy != *known
            && is_theirs_unchanged
            && is_well_formed(&copy, known)
            && write_private(&credential.theirs, &copy).is_ok()
        {
            credential.known = Some(copy);
        }
    }
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    if from.exists() && to.symlink_metadata().is_err() { symlink(from, to) } else { Ok(()) }
}

/// Copies the files of a folder and links its folders.
fn copy_or_link(root: &Root, from: &Path, to: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            link(&from, &to)?;
        } else if let Ok(bytes) = std::fs::read(&from)
            && !to.exists()
        {
            root.replace(&to, &bytes, Readers::Owner)?;
        }
    }
    Ok(())
}

/// Lets other programs find their own, read-only, where the agent has its folder.
fn link_neighbours(theirs: &Path, folder: &Path) -> io::Result<()> {
    let entries = theirs.parent().map(std::fs::read_dir).into_iter().flatten().flatten().flatten();
    for entry in entries.filter(|entry| Some(entry.file_name().as_os_str()) != theirs.file_name()) {
        link(&entry.path(), &folder.join(entry.file_name()))?;
    }
    Ok(())
}

/// Whether a credential has the shape of the one before: no agent can break the user's login by its own.
fn is_well_formed(bytes: &[u8], before: &[u8]) -> bool {
    fn same_shape(now: &Value, before: &Value) -> bool {
        match (now, before) {
            (Value::Object(now), Value::Object(before)) => {
                before.iter().all(|(key, value)| now.get(key).is_some_and(|now| same_shape(now, value)))
            }
            (Value::String(now), Value::String(_)) => !now.is_empty(),
            (now, before) => std::mem::discriminant(now) == std::mem::discriminant(before),
        }
    }
    match (serde_json::from_slice(bytes), serde_json::from_slice(before)) {
        (Ok(now @ Value::Object(_)), Ok(before)) => same_shape(&now, &before),
        _ => false,
    }
}

/// Replaces a file as a whole, for no one else to read.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Through a link, so that a file that the user keeps elsewhere is replaced there.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    Root::new(path.parent().unwrap_or(&path)).replace(&path, bytes, Readers::Owner)
}

#[cfg(test)]
mod tests;
