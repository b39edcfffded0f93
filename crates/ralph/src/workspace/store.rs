//! The objects of a workspace: its own, each one hashed when it came.
//!
//! Git does not hash loose objects when it reads them, so anyone who can write the project's objects could show other
//! content than was committed to a clone that shares them. A fetch reads everything through a pack, and the receiving
//! side computes every name anew.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fmt::Write,
    io,
    path::{Path, PathBuf},
};

use ralph_sys::{calls, process::Supervisor};

use super::{
    call::{Config, GitCall, text},
    source::Source,
};

/// The ref that holds what is judged.
pub(super) const CANDIDATE: &str = "refs/ralph/candidate";

/// What is taken over besides the candidate.
const REFS: [&str; 3] = ["refs/heads/*", "refs/tags/*", "refs/remotes/*"];

/// Oddities of old commits and tags that change no file. Everything else that `fsck` knows is refused.
const TOLERATED: [&str; 20] = [
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTagName",
    "badTimezone",
    "emptyName",
    "extraHeaderEntry",
    "gitmodulesMissing",
    "gitmodulesParse",
    "gitmodulesUrl",
    "missingAuthor",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingTaggerEntry",
    "multipleAuthors",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
];

/// With more packs than this, they are made one.
const MAX_PACKS: usize = 40;

/// The objects of a workspace.
#[derive(Clone, Debug)]
pub(super) struct ObjectStore {
    dir: PathBuf,
    /// Ralph's own configuration of git.
    config: PathBuf,
}

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fetched {
    /// The commit, and all branches and tags.
    Everything,
    /// The commit alone: something is wrong with the others.
    CommitAlone,
}

impl ObjectStore {
    /// The store in a folder.
    pub(super) fn at(dir: PathBuf, config: PathBuf) -> Self {
        Self { dir, config }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A call for this store.
    pub(super) fn call(&self) -> GitCall {
        GitCall::new(&self.dir, Config::Own(&self.config)).git_dir(&self.dir)
    }

    /// The stat information of the files that were checked out.
    pub(super) fn index(&self) -> PathBuf {
        self.dir.join("index")
    }

    /// A call for this store and the files in `tree`.
    pub(super) fn call_in(&self, tree: &Path) -> GitCall {
        GitCall::new(tree, Config::Own(&self.config)).git_dir(&self.dir).work_tree(tree).index(&self.index())
    }

    /// The store of a submodule.
    pub(super) fn of_submodule(&self, key: &str) -> Self {
        Self { dir: self.dir.join("submodules").join(key), config: self.config.clone() }
    }

    /// Makes it, if it is not there or not of this kind.
    pub(super) fn ensure(&self, supervisor: &mut Supervisor, object_format: &str) -> io::Result<()> {
        let config = std::fs::read_to_string(self.dir.join("config")).unwrap_or_default();
        let is_sha256 = config.contains("sha256");
        if self.dir.join("HEAD").exists() && is_sha256 == (object_format == "sha256") {
            return Ok(());
        }
        if self.dir.exists() {
            fs_err::remove_dir_all(&self.dir)?;
        }
        fs_err::create_dir_all(&self.dir)?;
        let format = format!("--object-format={object_format}");
        let args = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main", &format];
        let init = GitCall::new(&self.dir, Config::Own(&self.config)).args(args).args([&self.dir]);
        init.must(supervisor, "cannot make a repository")?;
        fs_err::create_dir_all(self.dir.join("info"))
    }

    /// Whether a git that was killed left something locked.
    pub(super) fn is_locked(&self) -> bool {
        let folders = [self.dir.clone(), self.dir.join("refs/ralph")];
        let mut entries =
            folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
        entries.any(|entry| entry.path().extension().is_some_and(|it| it == "lock"))
    }

    /// Fetches a commit from the user's repository, with the branches and tags that it has. `Err` says why it cannot.
    pub(super) fn fetch(
        &self,
        supervisor: &mut Supervisor,
        source: &Source,
        commit: Option<&str>,
    ) -> io::Result<Result<Fetched, String>> {
        if source.is_partial() {
            return self.fetch_what_is_there(supervisor, source, commit);
        }
        let candidate = commit.map(|commit| format!("+{commit}:{CANDIDATE}"));
        let refs = REFS.iter().map(|pattern| format!("+{pattern}:{pattern}"));
        let all: Vec<String> = candidate.clone().into_iter().chain(refs).collect();
        let first = self.fetch_refs(supervisor, source, &all)?;
        match (first, candidate) {
            (Ok(()), _) => Ok(Ok(Fetched::Everything)),
            // A ref that leads nowhere, or an odd object somewhere in the history, must not be in the way.
            (Err(why), Some(candidate)) => {
                let alone = self.fetch_refs(supervisor, source, &[candidate])?;
                Ok(alone.map(|()| Fetched::CommitAlone).map_err(|_| why))
            }
            (Err(why), None) => Ok(Err(why)),
        }
    }

    fn fetch_refs(
        &self,
        supervisor: &mut Supervisor,
        source: &Source,
        refs: &[String],
    ) -> io::Result<Result<(), String>> {
        let mut call = self.call().setting("protocol.allow=never").setting("protocol.file.allow=always");
        call = call.setting("protocol.version=2").setting("fetch.unpackLimit=1");
        call = call.setting("transfer.fsckObjects=true");
        for oddity in TOLERATED {
            call = call.setting(format!("fetch.fsck.{oddity}=ignore"));
        }
        let flags = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            "--update-shallow",
            "--prune",
        ];
        let call = call.args(flags).args([&source.common_dir]).args(refs);
        Ok(call.run(supervisor)?.map(drop))
    }

    /// From a partial clone: everything that it has, and nothing that is on its remote only. There is no fetch that
    /// leaves out what is missing, so the pack is made and read here.
    fn fetch_what_is_there(
        &self,
        supervisor: &mut Supervisor,
        source: &Source,
        commit: Option<&str>,
    ) -> io::Result<Result<Fetched, String>> {
        let theirs =
            || GitCall::new(&source.common_dir, Config::Own(&self.config)).git_dir(&source.common_dir);
        let format = "--format=%(objectname) %(refname)";
        let patterns = REFS.map(|pattern| pattern.trim_end_matches('*'));
        let listed = theirs().args(["for-each-ref", format]).args(patterns).run(supervisor)?;
        let listed = match listed {
            Ok(listed) => text(&listed),
            Err(why) => return Ok(Err(why)),
        };
        let refs: Vec<(&str, &str)> = listed.lines().filter_map(|line| line.split_once(' ')).collect();
        let known = self.call().args(["for-each-ref", "--format=%(objectname)"]).must(supervisor, "refs")?;
        let known: BTreeSet<String> = text(&known).lines().map(str::to_owned).collect();
        // They cannot leave out what they do not have.
        let input = known.iter().flat_map(|id| format!("{id}\n").into_bytes()).collect();
        let checked =
            theirs().args(["cat-file", "--batch-check"]).input(input).must(supervisor, "objects")?;
        let shared = text(&checked);
        let shared =
            shared.lines().filter_map(|line| line.split_once(' ')).filter(|(_, kind)| *kind != "missing");
        let wanted = refs.iter().map(|(id, _)| *id).chain(commit).map(|id| format!("{id}\n"));
        let revisions: String = wanted.chain(shared.map(|(id, _)| format!("^{id}\n"))).collect();
        if let Err(why) = self.transfer(supervisor, source, revisions)? {
            return Ok(Err(why));
        }
        self.call().args(["config", "extensions.partialClone", "none"]).must(supervisor, "settings")?;
        self.call().args(["config", "core.repositoryFormatVersion", "1"]).must(supervisor, "settings")?;
        self.call().args(["config", "remote.none.promisor", "true"]).must(supervisor, "settings")?;
        let candidate = commit.map(|id| (id, CANDIDATE));
        let mut updates = String::new();
        for (id, name) in refs.iter().copied().chain(candidate) {
            let _ = writeln!(updates, "update {name} {id}");
        }
        let call = self.call().args(["update-ref", "--stdin"]).input(updates.into_bytes());
        Ok(call.run(supervisor)?.map(|_| Fetched::Everything))
    }

    /// Has the objects of these revisions packed there and read here.
    fn transfer(
        &self,
        supervisor: &mut Supervisor,
        source: &Source,
        revisions: String,
    ) -> io::Result<Result<(), String>> {
        const PIPE: &str = "git --git-dir=\"$1\" pack-objects -q --revs --stdout --delta-base-offset --missing=allow-any \
                            | git --git-dir=\"$2\" index-pack --stdin --fsck-objects --promisor=ralph >/dev/null";
        let mut spec = calls::unattended("sh".into(), &self.dir, vec!["-c".into(), PIPE.into(), "sh".into()]);
        spec.args.extend([source.common_dir.clone().into(), self.dir.clone().into()]);
        let set = |name: &str, value: &OsStr| (name.into(), Some(value.to_owned()));
        spec.env.push(set("GIT_NO_LAZY_FETCH", OsStr::new("1")));
        spec.env.push(set("GIT_NO_REPLACE_OBJECTS", OsStr::new("1")));
        spec.env.push(set("GIT_CONFIG_NOSYSTEM", OsStr::new("1")));
        spec.env.push(set("GIT_CONFIG_GLOBAL", self.config.as_os_str()));
        spec.input = Some(revisions.into_bytes());
        let captured = supervisor.capture(spec, 64 * 1024)?;
        Ok(if calls::succeeded(&captured) { Ok(()) } else { Err(calls::refusal(&captured)) })
    }

    /// Whether every object is what its name says, and none is missing.
    pub(super) fn is_sound(&self, supervisor: &mut Supervisor) -> io::Result<bool> {
        let ignored = TOLERATED.iter().map(|oddity| format!("fsck.{oddity}=ignore"));
        let call = ignored.fold(self.call(), GitCall::setting);
        let flags = ["fsck", "--full", "--no-dangling", "--no-reflogs", "--no-progress"];
        Ok(call.args(flags).run(supervisor)?.is_ok())
    }

    /// Makes one pack of many: every fetch leaves one.
    pub(super) fn tidy(&self, supervisor: &mut Supervisor) -> io::Result<()> {
        let packs = std::fs::read_dir(self.dir.join("objects/pack"))?.flatten();
        let packs = packs.filter(|entry| entry.path().extension().is_some_and(|it| it == "pack")).count();
        if packs <= MAX_PACKS {
            return Ok(());
        }
        self.call().args(["repack", "-adq"]).must(supervisor, "cannot tidy up").map(drop)
    }
}
