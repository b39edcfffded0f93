//! A clone of the project in which its commands work, and which no one else has touched: the place where claims are
//! judged.
//!
//! `store` has the objects, each hashed when it came; `tree` what is checked out. Neither is ever written by the project's
//! commands: those see a [`view::View`], and what they wrote is taken over only if it may stay. One lock each; a part
//! that was being changed when ralph died is not believed (`record`).

mod base;
mod bring;
#[cfg(feature = "nats")]
pub(crate) mod bundle;
mod call;
mod checkout;
mod copy;
mod crash_point;
mod exposed;
mod kept;
mod laid;
mod landing;
mod lane;
pub(crate) mod lfs;
mod merge;
mod only_in_tree;
pub(crate) mod place;
mod prepare;
mod record;
mod seal;
mod snapshot;
mod source;
mod store;
mod submodules;
pub(crate) mod target;
pub(crate) mod view;

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use ralph_core::setup::JudgeSetup;
use ralph_core::verify::{caveat::Caveat, keep::Keep, preparation::Preparation, rules::SeenAt};
use ralph_sandbox::Sandbox;
use ralph_sys::{error::Result, files::Root, hash::fnv, process::Supervisor};

pub(crate) use base::{Blob, FileDiff, MadeChange};
use checkout::remove;
use crash_point::crash_point;
#[cfg(feature = "nats")]
pub(crate) use landing::Author;
pub(crate) use landing::{Merge, Merged};
pub(crate) use lane::LaneLeft;
pub(crate) use prepare::{PrepareEnd, Prepared, StepCall, StepEnd};
use record::WorkspaceRecord;
pub(crate) use source::Source;
use store::ObjectStore;
use view::{KnownWay, Layering, Places, View};

/// Ralph's own configuration of git, in the folder of a workspace. Git has accepted the project already when it comes to
/// this, no matter who owns it.
const GIT_CONFIG: &str = "[safe]\n\tdirectory = *\n";

/// What the settings say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    /// The commands that prepare it; nothing means that they are detected.
    pub(crate) prepare: Option<Vec<String>>,
    /// More that survives.
    pub(crate) keep: Vec<String>,
    /// Patterns of ignored files that are copied.
    pub(crate) carry: Vec<String>,
    pub(crate) at: SeenAt,
    /// What it may take on the disk, in bytes.
    pub(crate) max_disk: Option<u64>,
}

impl From<&JudgeSetup> for Wishes {
    fn from(setup: &JudgeSetup) -> Self {
        let JudgeSetup { prepare, keep, carry, at, max_disk, .. } = setup.clone();
        Self { prepare, keep, carry, at, max_disk }
    }
}

/// A clone of the project.
pub(crate) struct Workspace {
    folder: PathBuf,
    lock: File,
    source: Source,
    store: ObjectStore,
    wishes: Wishes,
    record: WorkspaceRecord,
    preparation: Preparation,
    keep: Keep,
    known_way: Option<KnownWay>,
}

/// What is judged.
pub(crate) enum Candidate<'a> {
    /// A commit of the project.
    Commit(&'a str),
    /// The files of the project as they are.
    WorkingTree,
    /// A commit that ralph made in the store.
    Made(&'a str),
}

/// What a workspace was brought to.
#[derive(Clone, Debug)]
pub(crate) struct Brought {
    pub(crate) commit: String,
    pub(crate) caveats: Vec<Caveat>,
}

/// Why nothing can be judged.
#[derive(Debug)]
pub(crate) struct NotJudged(pub(crate) String);

impl fmt::Display for NotJudged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<io::Error> for NotJudged {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl Workspace {
    /// Takes a workspace of the project for this process. What of it cannot be believed is made anew when it is needed.
    pub(crate) fn take(project: &Path, source: Source, wishes: Wishes) -> Result<Self> {
        Self::at(place::take(project)?, project, source, wishes)
    }

    /// Makes a workspace in an empty folder, which no one has used before.
    pub(crate) fn fresh(folder: &Path, project: &Path, source: Source, wishes: Wishes) -> Result<Self> {
        Self::at(place::take_in(folder)?, project, source, wishes)
    }

    fn at((folder, lock): (PathBuf, File), project: &Path, source: Source, wishes: Wishes) -> Result<Self> {
        let record = WorkspaceRecord::read(&folder).unwrap_or_else(|| WorkspaceRecord::new(project));
        let config = folder.join("gitconfig");
        fs_err::write(&config, GIT_CONFIG)?;
        // What a view of a process that died has left.
        for name in ["view", "seat"] {
            remove(&folder.join(name))?;
        }
        let store = ObjectStore::at(folder.join("store.git"), config);
        let keep = Keep::default();
        let preparation = Preparation::default();
        Ok(Self { folder, lock, source, store, wishes, record, preparation, keep, known_way: None })
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lock, for the process that ends what it started.
    pub(crate) fn lock(&self) -> &File {
        &self.lock
    }

    /// The repository that it is a clone of.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The commit that is checked out in the project by now.
    pub(crate) fn has_head(&mut self, head: Option<String>) {
        self.source.head = head;
    }

    /// Whether something must be installed before the project's commands work.
    pub(crate) fn needs_preparation(&self) -> bool {
        !self.preparation.steps.is_empty()
    }

    /// Tells it from others.
    pub(crate) fn number(&self) -> u64 {
        fnv(self.folder.as_os_str().as_encoded_bytes())
    }

    /// What a file says that is checked out; nothing if there is no such file, or no text in it.
    pub(crate) fn read_tree(&self, path: &Path) -> Option<String> {
        const MAX_TEXT_LEN: u64 = 1024 * 1024;
        String::from_utf8(Root::new(self.tree()).read(path, MAX_TEXT_LEN).ok()?).ok()
    }

    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// Shows it to the project's commands. What was installed for another path is not there then.
    pub(crate) fn view(
        &mut self,
        supervisor: &mut Supervisor,
        mut sandbox: Option<&mut Sandbox>,
    ) -> io::Result<(View, Option<Caveat>)> {
        let (tree, folder, top) = (self.tree(), self.folder.clone(), self.source.top.clone());
        let places = Places { tree: &tree, workspace: &folder, top: &top };
        let (at, known) = (self.wishes.at, &mut self.known_way);
        let (mut view, mut why) = View::open(supervisor, &places, at, sandbox.as_deref_mut(), known)?;
        if view.seat() != self.record.seat {
            view.seat().clone_into(&mut self.record.seat);
            if !self.record.prepared.is_empty() {
                view.close()?;
                self.drop_kept(supervisor)?;
                (view, why) = View::open(supervisor, &places, at, sandbox, &mut self.known_way)?;
            }
            self.record.write(&self.folder)?;
        }
        Ok((view, why.map(|why| Caveat::OtherPath { why })))
    }

    /// Removes everything that is kept, and puts back what of it was committed.
    fn drop_kept(&mut self, supervisor: &mut Supervisor) -> io::Result<()> {
        self.record.forget_kept();
        self.record.write(&self.folder)?;
        let tree = self.tree();
        kept::drop_all(&tree, &self.keep)?;
        if let Some(commit) = self.record.commit.take() {
            let settings = self.settings(&self.folder.join("lfs-missing"))?;
            let call = settings.iter().fold(self.store.call_in(&tree), call::GitCall::setting);
            call.args(["read-tree", "-u", "--reset", &commit]).must(supervisor, "cannot check out")?;
            self.record.commit = Some(commit);
            self.seal()?;
        }
        self.record.keep = Some(kept::sealed(&tree, &self.keep)?);
        self.record.write(&self.folder)
    }

    /// Ends a view whose commands can be believed: what they wrote stays, as far as it is kept.
    pub(crate) fn accept(
        &mut self,
        supervisor: &mut Supervisor,
        view: View,
        prepared: &[Prepared],
    ) -> io::Result<()> {
        let tree = self.tree();
        self.record.keep = None;
        self.record.write(&self.folder)?;
        crash_point("accepting");
        match view.layering() {
            Layering::Overlay => merge::overlay(&view.written(), &tree, &self.keep)?,
            Layering::Copy => merge::copy(&view.written(), &tree, &self.keep)?,
        }
        crash_point("merged");
        view.close()?;
        let done = prepared.iter().filter(|it| it.end == PrepareEnd::Done);
        self.record.prepared.extend(done.map(|it| (it.id(), it.key.clone())));
        self.record.keep = Some(kept::sealed(&tree, &self.keep)?);
        self.record.disk = place::disk(&self.folder);
        if self.wishes.max_disk.is_some_and(|most| most < self.record.disk) {
            self.drop_kept(supervisor)?;
            self.record.disk = place::disk(&self.folder);
        }
        self.record.write(&self.folder)
    }
}
