//! What of the user's working tree is not in the workspace: the usual reason when something works only there.
//!
//! The project's index is not asked: files that it was told to overlook are named as well.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use ralph_core::verify::missing::OnlyInTree;
use ralph_sys::process::Supervisor;

use super::{
    Workspace,
    call::{Config, GitCall, parts, path},
    snapshot,
    store::CANDIDATE,
    view::View,
};

impl Workspace {
    /// Compares the working tree with what is judged.
    pub(crate) fn only_in_tree(
        &mut self,
        supervisor: &mut Supervisor,
        view: &View,
    ) -> io::Result<OnlyInTree> {
        let is_whole = self.is_store_whole(supervisor)?;
        let settings = self.settings(&self.folder.join("lfs-missing"))?;
        let base = self.record.commit.as_deref();
        let now = snapshot::take(supervisor, &self.store, &self.source, base, &settings)?;
        if is_whole {
            self.seal_store()?;
        }
        let top = &self.source.top;
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", CANDIDATE, &now];
        let changed = self.store.call().args(args).must(supervisor, "cannot compare")?;
        let changed: BTreeSet<PathBuf> = parts(&changed).map(|name| path(name).to_owned()).collect();
        let others = self.store.call_in(top).args(["ls-files", "-z", "--others", "--directory"]);
        let others = others.must(supervisor, "cannot list the files")?;
        let mut ignored = Vec::new();
        if !others.is_empty() {
            let call = GitCall::new(top, Config::User).args(["check-ignore", "-z", "--stdin"]).input(others);
            ignored = call.run(supervisor)?.unwrap_or_default();
        }
        let tree = self.tree();
        let is_seen = |name: &Path| {
            [&tree, &view.written()].iter().any(|root| root.join(name).symlink_metadata().is_ok())
        };
        let ignored = parts(&ignored).filter(|name| !is_seen(path(name)));
        Ok(OnlyInTree {
            not_committed: changed.iter().filter_map(|name| self.shown(name)).collect(),
            ignored: ignored.filter_map(|name| self.shown(path(name))).collect(),
        })
    }

    /// A path as people see it from the project; not if it is ralph's own.
    fn shown(&self, name: &Path) -> Option<String> {
        let text = name.strip_prefix(&self.source.prefix).ok()?.to_string_lossy().into_owned();
        let is_own = text.starts_with(".ralph/") || text.starts_with(".ralph-active");
        (!is_own && !text.is_empty()).then_some(text)
    }
}
