//! The user's repository, as far as a workspace needs to know it: where its parts are and how it is set up.
//!
//! It is asked once, before an agent has a turn: what the agent changes in its configuration later changes no workspace.

use std::{
    io,
    path::{Path, PathBuf},
};

use ralph_sys::{
    files::{self, MAX_TEXT_LEN},
    process::Supervisor,
};

use super::call::{Config, GitCall, parts, path, text};

/// The settings that are looked at.
const SETTINGS: &str = r"^(core\.(sparsecheckout|sparsecheckoutcone|autocrlf|eol|excludesfile)|extensions\.partialclone|remote\..*\.(promisor|fetch)|branch\..*\.(remote|merge)|filter\..*\.(smudge|process))$";

/// The user's repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// The top of the working tree.
    pub(crate) top: PathBuf,
    /// The project's folder, relative to the top.
    pub(crate) prefix: PathBuf,
    /// What this working tree has for itself.
    pub(crate) git_dir: PathBuf,
    /// What all working trees share.
    pub(crate) common_dir: PathBuf,
    /// `sha1` or `sha256`.
    pub(crate) object_format: String,
    /// The commit that is checked out; nothing before the first.
    pub(crate) head: Option<String>,
    /// The branch that is checked out, as `refs/heads/name`.
    pub(crate) branch: Option<String>,
    pub(super) settings: Vec<(String, String)>,
}

/// Which part of the files a working tree has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sparse {
    pub(super) patterns: Vec<u8>,
    pub(super) cone: bool,
}

impl Source {
    /// The repository that a folder is in, if it is in one with a working tree.
    pub(crate) fn find(supervisor: &mut Supervisor, dir: &Path) -> io::Result<Option<Self>> {
        let call = || GitCall::new(dir, Config::User);
        let places = [
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--git-dir",
            "--git-common-dir",
            "--show-object-format",
            "--show-prefix",
        ];
        let Ok(said) = call().args(places).run(supervisor)? else { return Ok(None) };
        let lines: Vec<&[u8]> = said.split(|byte| *byte == b'\n').collect();
        // Nothing else is read from a path with a line break in it.
        let [top, git_dir, common_dir, format, prefix, []] = lines[..] else { return Ok(None) };
        let head = call().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).run(supervisor)?.ok();
        let branch = call().args(["symbolic-ref", "--quiet", "HEAD"]).run(supervisor)?.ok();
        let settings =
            call().args(["config", "-z", "--get-regexp", SETTINGS]).run(supervisor)?.unwrap_or_default();
        Ok(Some(Self {
            top: path(top).to_owned(),
            prefix: path(prefix).components().collect(),
            git_dir: path(git_dir).to_owned(),
            common_dir: path(common_dir).to_owned(),
            object_format: text(format),
            head: head.map(|id| text(&id)),
            branch: branch.map(|name| text(&name)),
            settings: parts(&settings).map(pair).collect(),
        }))
    }

    /// The repository of a submodule, by the folder that git keeps it in.
    pub(super) fn of_submodule(supervisor: &mut Supervisor, git_dir: &Path) -> io::Result<Option<Self>> {
        let call = || GitCall::new(git_dir, Config::User).git_dir(git_dir).work_tree(git_dir);
        let Ok(format) = call().args(["rev-parse", "--show-object-format"]).run(supervisor)? else {
            return Ok(None);
        };
        let settings =
            call().args(["config", "-z", "--get-regexp", SETTINGS]).run(supervisor)?.unwrap_or_default();
        Ok(Some(Self {
            git_dir: git_dir.to_owned(),
            common_dir: git_dir.to_owned(),
            object_format: text(&format),
            settings: parts(&settings).map(pair).collect(),
            ..Self::default()
        }))
    }

    /// Whether some of its objects are on a remote only.
    pub(super) fn is_partial(&self) -> bool {
        let is_promisor = |(name, value): &(String, String)| name.ends_with(".promisor") && value != "false";
        self.value("extensions.partialclone").is_some() || self.settings.iter().any(is_promisor)
    }

    /// Which part of the files it has, if not all.
    pub(super) fn sparse(&self) -> Option<Sparse> {
        if self.value("core.sparsecheckout") != Some("true") {
            return None;
        }
        let patterns = files::read(&self.git_dir.join("info/sparse-checkout"), MAX_TEXT_LEN).ok()?;
        Some(Sparse { patterns, cone: self.value("core.sparsecheckoutcone") != Some("false") })
    }

    /// The filters that are set up, without that of LFS, which ralph does itself.
    pub(super) fn filters(&self) -> Vec<String> {
        let filters = self.settings.iter().filter_map(|(name, _)| name.strip_prefix("filter."));
        let mut names: Vec<String> = filters
            .filter_map(|name| Some(name.rsplit_once('.')?.0.to_owned()))
            .filter(|name| name != "lfs")
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The last value of a setting.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.settings.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Where the content of LFS files is kept.
    pub(super) fn lfs_objects(&self) -> Option<PathBuf> {
        Some(self.common_dir.join("lfs/objects")).filter(|dir| dir.is_dir())
    }
}

/// A name in small letters (but for what is in the middle) and its value; a name alone means true.
fn pair(entry: &[u8]) -> (String, String) {
    let entry = String::from_utf8_lossy(entry).into_owned();
    match entry.split_once('\n') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (entry, "true".to_owned()),
    }
}
