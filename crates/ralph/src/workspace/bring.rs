//! Brings a workspace to what is to be judged: fetches it, checks it out, and says what is not as it is in the project.

use std::{
    io,
    path::{Path, PathBuf},
};

use ralph_core::verify::{
    caveat::Caveat,
    keep::{Fate, Keep},
    preparation::{self, Preparation},
};
use ralph_sys::process::Supervisor;

use super::{
    Brought, Candidate, NotJudged, Workspace,
    checkout::{Checkout, Trust, remove},
    crash_point::crash_point,
    exposed::Exposed,
    kept, laid, lfs, seal, snapshot,
    store::{CANDIDATE, Fetched},
    submodules::{self, Parent},
};

impl Workspace {
    /// Brings the files to what is to be judged, and nothing else. `laid` are files of the working tree that belong to it
    /// though they are not committed.
    pub(crate) fn bring_to(
        &mut self,
        supervisor: &mut Supervisor,
        target: &Candidate<'_>,
        laid: &[PathBuf],
    ) -> std::result::Result<Brought, NotJudged> {
        let before = self.begin(supervisor)?;
        let missing_log = self.folder.join("lfs-missing");
        remove(&missing_log)?;
        let settings = self.settings(&missing_log)?;
        let (commit, fetched) = self.candidate(supervisor, target, &settings)?;
        crash_point("fetched");
        let (tree, top) = (self.tree(), Path::new(""));
        for name in &self.record.lfs_missing {
            remove(&tree.join(name))?;
        }
        let checkout = |keep| Checkout {
            store: &self.store,
            tree: &tree,
            base: top,
            keep,
            sparse: self.source.sparse(),
            settings: settings.clone(),
        };
        let trust = match &before {
            Some(before) if self.store.index().exists() => Trust::Commit(before),
            Some(_) | None => Trust::Nothing,
        };
        let (listing, missing) = checkout(&self.keep).bring_to(supervisor, &commit, trust)?;
        crash_point("checked-out");
        let preparation = self.detect(&listing);
        let keep = self.keep_of(&preparation);
        checkout(&keep).clean(&listing)?;
        if self.drop_unsealed(&keep)? {
            checkout(&keep).restore(supervisor, &commit)?;
        }
        let (store, source) = (&self.store, &self.source);
        let parent = Parent { store, source, tree: &tree, base: top, keep: &keep, trust };
        let empty = submodules::populate(supervisor, &parent)?;
        let branch = source.branch.as_deref();
        Exposed { store, source, tree: &tree, commit: &commit, branch }.write(supervisor)?;
        let carried = laid::carried(supervisor, source, &self.wishes.carry, &self.folder.join("carry"))?;
        laid::lay(&source.top, &tree, &carried)?;
        let laid = laid::lay(&source.top, &tree, laid)?;
        self.record.lfs_missing = lfs::missing(&missing_log);
        self.record.commit = Some(commit.clone());
        self.seal()?;
        self.remember_kept(preparation, keep)?;
        crash_point("brought");
        self.record.write(&self.folder)?;
        let caveats = self.caveats(fetched, missing, empty, &laid);
        Ok(Brought { commit, caveats })
    }

    /// Removes what is there and would be kept, but was not sealed. Returns whether there was any.
    fn drop_unsealed(&self, keep: &Keep) -> io::Result<bool> {
        let is_sealed = |name: &PathBuf| self.record.keep.is_some() && self.keep.fate(name) == Fate::Kept;
        let tree = self.tree();
        let mut is_dropped = false;
        for name in kept::find(&tree, keep)?.iter().filter(|name| !is_sealed(name)) {
            remove(&tree.join(name))?;
            is_dropped = true;
        }
        Ok(is_dropped)
    }

    /// What survives, by what was detected and what the settings say.
    fn keep_of(&self, preparation: &Preparation) -> Keep {
        preparation::kept(&self.source.prefix, preparation, &self.wishes.keep)
    }

    /// Seals what is kept, if it is not what was sealed before.
    fn remember_kept(&mut self, preparation: Preparation, keep: Keep) -> io::Result<()> {
        let patterns: Vec<String> = preparation.keep.iter().chain(&self.wishes.keep).cloned().collect();
        (self.preparation, self.keep) = (preparation, keep);
        if self.record.keep.is_none() || self.record.keep_patterns != patterns {
            self.record.keep_patterns = patterns;
            self.record.keep = Some(kept::sealed(&self.tree(), &self.keep)?);
        }
        Ok(())
    }

    /// Makes sure that there is a store that can be believed, and takes its seal away. Returns the commit that is checked
    /// out, if the index can be believed.
    pub(super) fn begin(&mut self, supervisor: &mut Supervisor) -> io::Result<Option<String>> {
        let is_whole = self.is_store_whole(supervisor)? && !self.store.is_locked();
        if !is_whole {
            remove(self.store.dir())?;
        }
        self.store.ensure(supervisor, &self.source.object_format)?;
        let commit = self.record.commit.take().filter(|_| is_whole);
        self.record.store = None;
        self.check_kept()?;
        self.record.write(&self.folder)?;
        crash_point("begun");
        Ok(commit)
    }

    /// What is kept must be as it was left, or it goes.
    fn check_kept(&mut self) -> io::Result<()> {
        let patterns = self.record.keep_patterns.iter().map(String::as_str);
        self.keep = Keep::new(&self.source.prefix, patterns);
        let tree = self.tree();
        if self.record.keep.is_none() || self.record.keep != kept::sealed(&tree, &self.keep).ok() {
            self.record.forget_kept();
            self.record.write(&self.folder)?;
            kept::drop_all(&tree, &self.keep)?;
        }
        Ok(())
    }

    /// Whether the store is as ralph left it. Git gives an object of another repository a new time where it would write the
    /// same: where nothing else is different, git reads all objects anew.
    pub(super) fn is_store_whole(&self, supervisor: &mut Supervisor) -> io::Result<bool> {
        let Some(sealed) = &self.record.store else { return Ok(false) };
        let Ok((now, untimed)) = self.store_seals() else { return Ok(false) };
        if *sealed == now {
            return Ok(true);
        }
        Ok(self.record.store_untimed.as_ref() == Some(&untimed) && self.store.is_sound(supervisor)?)
    }

    /// Remembers how the store is.
    pub(super) fn seal(&mut self) -> io::Result<()> {
        let (store, untimed) = self.store_seals()?;
        (self.record.store, self.record.store_untimed) = (Some(store), Some(untimed));
        Ok(())
    }

    fn store_seals(&self) -> io::Result<(String, String)> {
        let names = ["config", "index", "objects", "info", "shallow", "submodules"].map(PathBuf::from);
        let untimed = seal::without_times(self.store.dir(), &names, Path::new("objects"))?;
        Ok((seal::of(self.store.dir(), &names)?, untimed))
    }

    /// The commit that is judged, which is in the store then.
    pub(super) fn candidate(
        &self,
        supervisor: &mut Supervisor,
        target: &Candidate<'_>,
        settings: &[String],
    ) -> std::result::Result<(String, Fetched), NotJudged> {
        let commit = match target {
            Candidate::Made(commit) => return Ok(((*commit).to_owned(), Fetched::Everything)),
            Candidate::Commit(commit) => Some((*commit).to_owned()),
            Candidate::WorkingTree => self.source.head.clone(),
        };
        let mut fetched = self.store.fetch(supervisor, &self.source, commit.as_deref())?;
        if fetched.is_err() {
            // Whatever was wrong with the store, it is not wrong with a new one.
            remove(self.store.dir())?;
            self.store.ensure(supervisor, &self.source.object_format)?;
            fetched = self.store.fetch(supervisor, &self.source, commit.as_deref())?;
        }
        let fetched = fetched.map_err(|why| NotJudged(format!("the commit cannot be fetched: {why}")))?;
        self.store.tidy(supervisor)?;
        let commit = match (target, commit) {
            (Candidate::Commit(_), Some(commit)) => commit,
            (_, base) => {
                let commit =
                    snapshot::take(supervisor, &self.store, &self.source, base.as_deref(), settings)?;
                let update = self.store.call().args(["update-ref", CANDIDATE, &commit]);
                update.must(supervisor, "cannot hold the commit")?;
                commit
            }
        };
        Ok((commit, fetched))
    }

    /// What git is told for this project.
    pub(super) fn settings(&self, missing_log: &Path) -> io::Result<Vec<String>> {
        let mut settings = match self.source.lfs_objects() {
            Some(objects) => lfs::settings(&objects, missing_log)?,
            None => Vec::new(),
        };
        for name in ["core.autocrlf", "core.eol"] {
            settings.extend(self.source.value(name).map(|value| format!("{name}={value}")));
        }
        Ok(settings)
    }

    fn caveats(
        &self,
        fetched: Fetched,
        missing: Vec<String>,
        submodules: Vec<String>,
        laid: &[PathBuf],
    ) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        if fetched == Fetched::CommitAlone {
            caveats.push(Caveat::RefsMissing);
        }
        if self.source.sparse().is_some() {
            caveats.push(Caveat::SparseCheckout);
        }
        let files: Vec<String> = laid.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        let lfs = self.record.lfs_missing.clone();
        let filters = self.source.filters();
        let listed = [
            (missing, (|files| Caveat::ObjectsMissing { files }) as fn(Vec<String>) -> Caveat),
            (submodules, |paths| Caveat::SubmodulesMissing { paths }),
            (lfs, |files| Caveat::LfsMissing { files }),
            (filters, |filters| Caveat::FiltersNotRun { filters }),
            (files, |files| Caveat::UncommittedBase { files }),
        ];
        caveats.extend(
            listed.into_iter().filter(|(names, _)| !names.is_empty()).map(|(names, make)| make(names)),
        );
        caveats
    }
}
