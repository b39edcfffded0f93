//! A workspace in which an agent works: a lane of a fleet.
//!
//! Unlike in a judge, an agent writes to the tree and to the repository in it. Nothing of that is believed later: the
//! repository is made anew for the next piece of work, its objects come from a store that no agent writes to.

use std::{
    fmt::Write,
    io,
    path::{Path, PathBuf},
};

use ralph_core::verify::keep::Keep;
use ralph_sys::{error::Result, process::Supervisor};

use super::{
    Candidate, NotJudged, Prepared, StepCall, StepEnd, Wishes, Workspace, checkout::remove, kept,
    landing::Author, place, prepare::PrepareEnd, source::Source,
};

impl Workspace {
    /// Takes the lane in this folder for this process. Nothing if another process works in it.
    pub(crate) fn take_lane(
        project: &Path,
        folder: &Path,
        source: Source,
        wishes: Wishes,
    ) -> Result<Option<Self>> {
        let Some(taken) = place::take_lane(folder)? else { return Ok(None) };
        Self::at(taken, project, source, wishes).map(Some)
    }

    /// The folder that the agent works in: the project, as it is in this lane.
    pub(crate) fn lane_project(&self) -> PathBuf {
        // Without a slash at its end: the path is what its record is found by.
        self.tree().join(&self.source.prefix).components().collect()
    }

    /// The repository in the tree, which the agent writes to.
    pub(crate) fn lane_repository(&self) -> PathBuf {
        self.tree().join(".git")
    }

    /// Brings the lane to a commit that ralph made in its store, on the branch of the target.
    pub(crate) fn begin_lane(
        &mut self,
        supervisor: &mut Supervisor,
        commit: &str,
        branch: &str,
        author: &Author,
    ) -> std::result::Result<(), NotJudged> {
        self.source.branch = Some(branch.to_owned());
        self.bring_to(supervisor, &Candidate::Made(commit), &[])?;
        let config = self.lane_repository().join("config");
        let mut text = fs_err::read_to_string(&config)?;
        let quoted = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        let (name, email) = (quoted(&author.name), quoted(&author.email));
        let _ = writeln!(text, "[user]\n\tname = \"{name}\"\n\temail = \"{email}\"");
        text.push_str("[commit]\n\tgpgSign = false\n");
        fs_err::write(config, text)?;
        Ok(())
    }

    /// Installs what the project needs, by `run`, and remembers what was.
    pub(crate) fn prepare_lane(
        &mut self,
        run: &mut dyn FnMut(&StepCall<'_>) -> io::Result<StepEnd>,
    ) -> io::Result<Vec<Prepared>> {
        let prepared = self.prepare(run)?;
        let done = prepared.iter().filter(|it| it.end == PrepareEnd::Done);
        self.record.prepared.extend(done.map(|it| (it.id(), it.key.clone())));
        self.record.write(&self.folder)?;
        Ok(prepared)
    }

    /// The run has ended. What is kept stays for the next work, unless the lane takes too much then; what will be
    /// continued stays as it is. Returns what the lane takes on the disk.
    pub(crate) fn end_lane(&mut self, supervisor: &mut Supervisor, left: LaneLeft) -> io::Result<u64> {
        let tree = self.tree();
        let patterns = self.record.keep_patterns.iter().map(String::as_str);
        self.keep = Keep::new(&self.source.prefix, patterns);
        self.record.keep = Some(kept::sealed(&tree, &self.keep)?);
        self.record.disk = place::disk(&self.folder);
        let most = self.wishes.max_disk.filter(|_| left == LaneLeft::HandedIn);
        if most.is_some_and(|most| most < self.record.disk) {
            self.drop_kept(supervisor)?;
            self.record.disk = place::disk(&self.folder);
        }
        if most.is_some_and(|most| most < self.record.disk) {
            // What its commands left beside the work and the caches: the next work begins with a new checkout.
            self.record.commit = None;
            self.record.write(&self.folder)?;
            remove(&tree)?;
            self.record.disk = place::disk(&self.folder);
        }
        self.record.write(&self.folder)?;
        Ok(self.record.disk)
    }
}

/// What becomes of the work in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneLeft {
    /// It is the candidate: nothing in the lane is needed any more.
    HandedIn,
    /// It may be continued where it is.
    Unfinished,
}
