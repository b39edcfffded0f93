//! The submodules of a commit: fetched from what the user has of them, never from an address that the commit names.

use std::{
    collections::BTreeMap,
    io,
    path::{Component, Path, PathBuf},
};

use ralph_core::verify::keep::Keep;
use ralph_sys::process::Supervisor;

use super::{
    call::{parts, path},
    checkout::{Checkout, Trust, remove},
    exposed::Exposed,
    seal::hex,
    source::Source,
    store::ObjectStore,
};

/// Submodules in submodules, and so on.
const MAX_DEPTH: usize = 8;

/// A repository whose submodules are wanted.
pub(super) struct Parent<'a> {
    pub(super) store: &'a ObjectStore,
    pub(super) source: &'a Source,
    pub(super) tree: &'a Path,
    /// Where the tree is in the whole.
    pub(super) base: &'a Path,
    pub(super) keep: &'a Keep,
    pub(super) trust: Trust<'a>,
}

/// A submodule of the commit.
struct Submodule {
    /// Relative to the tree of its parent.
    place: PathBuf,
    commit: String,
}

/// Fills the submodules of what is checked out. Returns those that are empty.
pub(super) fn populate(supervisor: &mut Supervisor, parent: &Parent<'_>) -> io::Result<Vec<String>> {
    let mut missing = Vec::new();
    populate_below(supervisor, parent, 0, &mut missing)?;
    missing.sort();
    Ok(missing)
}

fn populate_below(
    supervisor: &mut Supervisor,
    parent: &Parent<'_>,
    depth: usize,
    missing: &mut Vec<String>,
) -> io::Result<()> {
    if !parent.tree.join(".gitmodules").is_file() || MAX_DEPTH < depth {
        return Ok(());
    }
    let names = names(supervisor, parent)?;
    for submodule in links(supervisor, parent)? {
        let place = &submodule.place;
        let git_dir = names.get(place).and_then(|name| repository(parent.source, place, name));
        let source = match git_dir {
            Some(git_dir) => Source::of_submodule(supervisor, &git_dir)?,
            None => None,
        };
        let tree = parent.tree.join(place);
        match source {
            Some(source) if fill(supervisor, parent, &submodule, &source)? => {
                let (store, base) = (parent.store.of_submodule(&key(place)), parent.base.join(place));
                let nested = Parent { store: &store, source: &source, tree: &tree, base: &base, ..*parent };
                populate_below(supervisor, &nested, depth + 1, missing)?;
            }
            Some(_) | None => {
                empty(&tree)?;
                missing.push(parent.base.join(place).to_string_lossy().into_owned());
            }
        }
    }
    Ok(())
}

/// Brings one submodule to its commit, if the user has it.
fn fill(
    supervisor: &mut Supervisor,
    parent: &Parent<'_>,
    submodule: &Submodule,
    source: &Source,
) -> io::Result<bool> {
    let Submodule { place, commit } = submodule;
    let store = parent.store.of_submodule(&key(place));
    store.ensure(supervisor, &source.object_format)?;
    if store.fetch(supervisor, source, Some(commit))?.is_err() {
        return Ok(false);
    }
    let (tree, base) = (parent.tree.join(place), parent.base.join(place));
    let (sparse, settings) = (None, Vec::new());
    let checkout = Checkout { store: &store, tree: &tree, base: &base, keep: parent.keep, sparse, settings };
    // The commit that it was at is another's than that of its parent.
    let trust = match parent.trust {
        Trust::Commit(_) | Trust::Index if store.index().exists() => Trust::Index,
        Trust::Commit(_) | Trust::Index | Trust::Nothing => Trust::Nothing,
    };
    let (listing, _) = checkout.bring_to(supervisor, commit, trust)?;
    checkout.clean(&listing)?;
    Exposed { store: &store, source, tree: &tree, commit, branch: None }.write(supervisor)?;
    Ok(true)
}

/// The links of the commit to other repositories, with the commits that they name.
fn links(supervisor: &mut Supervisor, parent: &Parent<'_>) -> io::Result<Vec<Submodule>> {
    let listed = parent.store.call_in(parent.tree).args(["ls-files", "-z", "--stage", "-t"]);
    let listed = listed.must(supervisor, "cannot list the submodules")?;
    let link = |entry: &[u8]| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let facts = String::from_utf8_lossy(&entry[..tab]).into_owned();
        let mut facts = facts.split(' ');
        // `S` is not checked out because of a sparse checkout.
        let (tag, mode, id) = (facts.next()?, facts.next()?, facts.next()?);
        let place = path(&entry[tab + 1..]).to_owned();
        (mode == "160000" && tag != "S").then(|| Submodule { place, commit: id.to_owned() })
    };
    Ok(parts(&listed).filter_map(link).collect())
}

/// The names of the submodules, by their places. A name that would lead elsewhere is none.
fn names(supervisor: &mut Supervisor, parent: &Parent<'_>) -> io::Result<BTreeMap<PathBuf, String>> {
    let args = ["config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$"];
    let listed = parent.store.call_in(parent.tree).args(args).run(supervisor)?.unwrap_or_default();
    let name = |entry: &[u8]| {
        let text = String::from_utf8_lossy(entry).into_owned();
        let (key, place) = text.split_once('\n')?;
        let name = key.strip_prefix("submodule.")?.strip_suffix(".path")?;
        is_name(name).then(|| (PathBuf::from(place), name.to_owned()))
    };
    Ok(parts(&listed).filter_map(name).collect())
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Where the user has the repository of a submodule.
fn repository(source: &Source, place: &Path, name: &str) -> Option<PathBuf> {
    let kept = [&source.git_dir, &source.common_dir].map(|dir| dir.join("modules").join(name));
    let inside = source.top.join(place).join(".git");
    let has_top = !source.top.as_os_str().is_empty();
    let all = kept.into_iter().chain(Some(inside).filter(|_| has_top));
    // A file in its place leads to one of the others.
    all.into_iter().find(|dir| dir.join("HEAD").is_file() && dir.join("objects").is_dir())
}

/// A name for the store of a submodule.
fn key(place: &Path) -> String {
    use sha2::{Digest, Sha256};
    use std::os::unix::ffi::OsStrExt;
    hex(&Sha256::digest(place.as_os_str().as_bytes())[..8])
}

/// A submodule that is not there is an empty folder.
fn empty(folder: &Path) -> io::Result<()> {
    remove(folder)?;
    std::fs::create_dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_none() {
        for name in ["", "..", "../x", "a/../../x", "/etc", "./x"] {
            assert!(!is_name(name), "{name}");
        }
        for name in ["x", "libs/x", "a.b"] {
            assert!(is_name(name), "{name}");
        }
    }
}
