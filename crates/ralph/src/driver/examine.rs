//! Part: what a run starts from, and files that are put back as they were then. `examine/compare.rs` says what was done to
//! the judgement of a claim.

mod bite;
mod compare;
pub(super) mod copies;
mod person;

use std::{io, os::unix::fs::PermissionsExt, path::Path, time::Instant};

use ralph_core::{
    duration::millis,
    engine::event::{Event, PutBack},
    verify::rules::CheckoutWhen,
};
use ralph_sys::{files::Root, process::Supervisor};

use super::{Driver, site::Site};
use crate::{
    journal::run_dir::record,
    project::git::Git,
    workspace::{Candidate, Workspace},
};

/// The folder in the run's own for files that ralph overwrites.
pub(super) const KEPT: &str = "put-back";

/// A longer file is not kept.
const MAX_KEPT_LEN: u64 = 64 * 1024 * 1024;

impl Driver {
    /// Keeps what the run starts from.
    pub(super) fn take_base(&mut self) {
        let started = Instant::now();
        let (mut commit, mut copies, mut why) = (None, None, None);
        if self.site.run().plan.checkout == CheckoutWhen::Never {
            let site = &self.site;
            match copies::take(&site.setup, site.run(), &site.dir) {
                Ok(count) => copies = Some(count),
                Err(error) => why = Some(error),
            }
        } else {
            match self.keep_base() {
                Ok(kept) => commit = Some(kept),
                Err(error) => why = Some(error),
            }
        }
        self.site.ledger.record(Event::BaseTaken { commit, copies, why, ms: millis(started.elapsed()) });
    }

    fn keep_base(&mut self) -> Result<String, String> {
        let target = self.target().map_err(|error| error.to_string())?;
        let Self { site, judge, .. } = self;
        let workspace = &mut judge.as_mut().ok_or("there is no judge in this process")?.workspace;
        // Where nothing else lies in the working tree, the commit is all there is.
        let commit = target.commit.as_deref().filter(|_| target.laid.is_empty());
        if commit.is_none() {
            let head = Git::at(&workspace.source().top).head(&mut site.supervisor);
            workspace.has_head(head.map_err(|error| error.to_string())?);
        }
        let base = commit.map_or(Candidate::WorkingTree, Candidate::Commit);
        workspace.keep_base(&mut site.supervisor, &base).map_err(|why| why.to_string())
    }

    /// Puts files back as they were when the run began. What is there is kept in the folder of the run first.
    pub(super) fn put_back(&mut self, files: &[String]) {
        let Self { site, judge, .. } = self;
        let (iteration, attempt) = site.run().state.position();
        let place = site.dir.turn(iteration, attempt).join(KEPT);
        let mut put_back = PutBack { files: Vec::new(), failed: Vec::new(), kept: None };
        let base = site.run().state.base().map(str::to_owned);
        let has_copies = site.run().state.has_copies();
        if has_copies {
            put_back = copies::put_back(&site.setup, &site.dir, &place, files);
        }
        for file in files.iter().filter(|_| !has_copies) {
            let restored = match (judge.as_ref(), &base) {
                (Some(judge), Some(base)) => restore(site, &judge.workspace, base, &place, Path::new(file)),
                _ => Err(io::Error::other("what the run started from is not known")),
            };
            match restored {
                Ok(()) => put_back.files.push(file.clone()),
                Err(error) => put_back.failed.push(format!("{file}: {error}")),
            }
        }
        let kept = place.strip_prefix(site.dir.path()).unwrap_or(&place);
        put_back.kept = place.exists().then(|| kept.display().to_string());
        site.ledger.record(Event::PutBack(put_back));
    }
}

/// Puts one file back; one that was not there then is removed.
fn restore(site: &mut Site, workspace: &Workspace, base: &str, kept: &Path, file: &Path) -> io::Result<()> {
    let supervisor: &mut Supervisor = &mut site.supervisor;
    let top = Root::new(&workspace.source().top);
    let old = match workspace.entry(supervisor, base, file)? {
        Some(blob) => Some((workspace.blob(supervisor, &blob.id)?, blob)),
        None => None,
    };
    if let Ok(there) = top.read(file, MAX_KEPT_LEN) {
        record(&kept.join(file), &there)?;
    }
    let Some((contents, blob)) = old else {
        return match top.remove(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
    };
    if !blob.is_file() {
        return Err(io::Error::other("it was no file"));
    }
    top.restore(file, &contents)?;
    let mode = if blob.is_executable() { 0o755 } else { 0o644 };
    top.open(file)?.set_permissions(std::fs::Permissions::from_mode(mode))
}
