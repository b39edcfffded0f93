//! Makes a commit of some files and nothing else.

use std::{collections::BTreeSet, io, os::unix::ffi::OsStrExt};

use ralph_sys::{
    calls::{refusal, succeeded},
    hash::GONE,
    process::{Spec, Supervisor},
};

use super::{Change, DIFF, Git, MAX_CHANGES_LEN, MAX_OUTPUT_LEN};

/// With more paths than these git takes long to compare each file with each path.
const MANY: usize = 200;

impl Git {
    /// Commits these files as they are now and nothing else; returns what git printed if it refuses. `contain` makes
    /// each call one that runs where the agent runs.
    pub(crate) fn commit(
        &self,
        supervisor: &mut Supervisor,
        changes: &[Change],
        message: &str,
        contain: &mut dyn FnMut(Spec) -> io::Result<Spec>,
    ) -> io::Result<Result<(), String>> {
        // What others have staged stays staged, except in a merge, which git commits only whole.
        let merging = self
            .call(supervisor, &["rev-parse", "--verify", "--quiet", "MERGE_HEAD"])
            .is_ok_and(|it| succeeded(&it));
        if !merging && MANY < changes.len() && self.is_alone(supervisor, changes)? {
            return self.commit_index(supervisor, changes, message, contain);
        }
        let (gone, there): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.fingerprint == GONE);
        let mut calls = Vec::new();
        // `add -A` takes everything when it is given nothing.
        if !there.is_empty() {
            calls.push(self.spec_of(&["add", "-A"], &there));
        }
        // `add` refuses what the agent has removed from the index too; `commit --only` does not need it.
        if merging && !gone.is_empty() {
            let remove = ["rm", "--cached", "--quiet", "--ignore-unmatch"];
            calls.push(self.spec_of(&remove, &gone));
        }
        let message = format!("--message={message}");
        let commit = ["commit", "--quiet", &message];
        calls.push(if merging {
            self.committing(&commit)
        } else {
            self.spec_of(&[&commit[..], &["--only"]].concat(), &changes.iter().collect::<Vec<_>>())
        });
        in_turn(supervisor, calls, contain)
    }

    /// Whether these changes can be all of the next commit: nothing else is staged, and none is a whole repository, which only
    /// `add` takes.
    fn is_alone(&self, supervisor: &mut Supervisor, changes: &[Change]) -> io::Result<bool> {
        let staged = [&DIFF[..], &["--cached", "--name-only"]].concat();
        let captured = supervisor.capture(self.spec(&staged), MAX_CHANGES_LEN)?;
        let own: BTreeSet<&[u8]> = changes.iter().map(|change| change.path.as_os_str().as_bytes()).collect();
        let names = captured.out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let is_repository = |change: &Change| change.path.as_os_str().as_bytes().ends_with(b"/");
        let is_alone = names.into_iter().all(|name| own.contains(name));
        Ok(succeeded(&captured) && is_alone && !changes.iter().any(is_repository))
    }

    /// Puts the files into the index and commits that: for each of many paths git would look at all of them.
    fn commit_index(
        &self,
        supervisor: &mut Supervisor,
        changes: &[Change],
        message: &str,
        contain: &mut dyn FnMut(Spec) -> io::Result<Spec>,
    ) -> io::Result<Result<(), String>> {
        let stage = self.committing(&["update-index", "--add", "--remove", "-z", "--stdin"]);
        let message = format!("--message={message}");
        let calls =
            vec![stage.input(listed(changes.iter())), self.committing(&["commit", "--quiet", &message])];
        in_turn(supervisor, calls, contain)
    }

    /// A call for the paths of these changes, which go by standard input: there may be very many.
    fn spec_of(&self, args: &[&str], changes: &[&Change]) -> Spec {
        let by_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        self.committing(&[args, &by_input].concat()).input(listed(changes.iter().copied()))
    }
}

/// The paths of these changes as git reads them.
fn listed<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<u8> {
    changes.flat_map(|change| [change.path.as_os_str().as_bytes(), b"\0"].concat()).collect()
}

/// Makes the calls one after another; returns what the first one printed that is refused.
fn in_turn(
    supervisor: &mut Supervisor,
    calls: Vec<Spec>,
    contain: &mut dyn FnMut(Spec) -> io::Result<Spec>,
) -> io::Result<Result<(), String>> {
    for call in calls {
        let captured = supervisor.capture(contain(call)?, MAX_OUTPUT_LEN)?;
        if !succeeded(&captured) {
            return Ok(Err(refusal(&captured)));
        }
    }
    Ok(Ok(()))
}
