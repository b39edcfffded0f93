//! Gathers what the record of a run does not say: its commits, its checks, the programs that took part.

use std::{
    env,
    io::{self, Read, Seek, SeekFrom},
    mem,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use ralph_core::{
    engine::{Run, chain::ChainReader, entry::Entry, event::WorkCounted, plan::CommitRule},
    receipt::{
        compose::Facts,
        hex,
        private::Private,
        sha256,
        statement::{JournalFacts, Revision, Statement, ToolFacts},
    },
    setup::{AgentSetup, Setup},
};
use ralph_sys::{
    error::{Context, Error, Result},
    files,
    paths::state_dir,
    process::Supervisor,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Issue, repository::Commits, sha256_of};
use crate::{
    hidden,
    journal::{self, Folded, run_dir::RunDir},
    project::git::Git,
};

/// Where the hash of ralph's own program is kept: it takes longer than a small run.
const PROGRAM: &str = "program.json";

/// So much of a journal is hashed at once, and so many of these wait for it.
const BLOCK_LEN: usize = 256 * 1024;
const MAX_BLOCKS: usize = 4;

/// Gathers them. What an earlier receipt of the run says about its commits stays: HEAD may have moved since.
pub(super) fn gather(
    supervisor: &mut Supervisor,
    dir: &RunDir,
    run: &Run,
    issue: &Issue<'_>,
    before: Option<&Statement>,
    journal: JournalFacts,
) -> Result<Facts> {
    let Run { started, .. } = run;
    let is_later = issue.key_reachable.is_none();
    let said = before.map(|statement| &statement.predicate).filter(|_| is_later);
    let mut work = match (said, issue.repository) {
        (Some(said), _) => Work {
            base: said.base.clone(),
            result: said.result.clone(),
            uncommitted: said.uncommitted,
            is_committed: before.is_some_and(|it| it.digest("commit", "gitCommit").is_some()),
        },
        (None, Some(git)) => work(supervisor, run, git)?,
        (None, None) => Work::default(),
    };
    let commits = issue.repository.map(|git| Commits::of(git.top()));
    let mut protected = said.and_then(|said| said.protected.clone());
    if let (None, Some(commits), Some(result)) = (&protected, &commits, &work.result) {
        let base = work.base.as_ref().unwrap_or(result);
        // A tree of files that are not committed is nowhere.
        let result = if work.is_committed { &result.tree } else { &result.commit };
        protected = commits.protected(supervisor, &base.tree, result).ok();
    }
    if work.result.as_ref().is_some_and(|result| result.commit.is_empty()) {
        work.result = None;
    }
    let git = commits.and_then(|_| Git::version(supervisor, &started.setup.project).ok());
    let pairs = hidden::kept(dir);
    let guardrails = pairs.pairs().iter().filter(|(name, _)| *name != hidden::NOTIFY);
    let hidden = guardrails.map(|(name, command)| (name.clone(), sha256(command.as_bytes())));
    let agents = started.setup.agents.iter();
    Ok(Facts {
        base: work.base,
        result: work.result,
        is_committed: work.is_committed,
        uncommitted: work.uncommitted,
        protected,
        hidden: hidden.collect(),
        agent: program_of(&started.setup.agent),
        agents: agents.map(|(name, agent)| (name.clone(), program_of(agent))).collect(),
        key_reachable: issue
            .key_reachable
            .unwrap_or_else(|| said.is_none_or(|it| it.containment.key_reachable)),
        tools: said.map_or_else(
            || ToolFacts {
                ralph: env!("CARGO_PKG_VERSION").to_owned(),
                ralph_sha256: program_sha256(),
                git: git.map(|version| version.trim_start_matches("git version ").to_owned()),
                platform: format!("{}-{}", env::consts::OS, env::consts::ARCH),
            },
            |said| said.tools.clone(),
        ),
        journal,
        private: private(dir, &started.setup),
    })
}

/// What receipts call an agent: what ralph knows it by, or its program.
fn program_of(agent: &AgentSetup) -> String {
    let known = ralph_agents::adapter(&agent.command).name();
    if known != "text" {
        return known.to_owned();
    }
    Path::new(&agent.command).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a run did to its repository.
#[derive(Default)]
struct Work {
    base: Option<Revision>,
    result: Option<Revision>,
    uncommitted: u64,
    is_committed: bool,
}

/// What a run did, by its record: what happened to the files since is not the run's.
fn work(supervisor: &mut Supervisor, run: &Run, git: &Git) -> Result<Work> {
    let unknown = |what: &str| Error::new(format!("the record of run {} {what}", run.started.run));
    let Some(counted) = &run.memory.work else {
        return Err(unknown("does not say which files it ended with"));
    };
    let WorkCounted { base, head, tree, uncommitted, .. } = counted;
    let commits = Commits::of(git.top());
    let mut revision = |id: &Option<String>| -> Result<Option<Revision>> {
        let Some(id) = id else { return Ok(None) };
        let found = commits.revision(supervisor, id)?;
        found.map(Some).ok_or_else(|| unknown(&format!("names {id}, which is not a commit here")))
    };
    let (base, head) = (revision(base)?, revision(head)?);
    let is_committed = head.is_some() && (*uncommitted == 0 || run.plan.commit != CommitRule::Never);
    let result = match (head, tree) {
        (Some(head), _) if is_committed => head,
        (head, Some(tree)) => {
            Revision { commit: head.map(|head| head.commit).unwrap_or_default(), tree: tree.clone() }
        }
        (_, None) => return Err(unknown("does not say which files it ended with")),
    };
    Ok(Work { base, result: Some(result), uncommitted: *uncommitted, is_committed })
}

/// A run by its journal, and what that is like.
pub(super) fn read_journal(path: &Path) -> Result<(Folded, JournalFacts)> {
    let (mut hash, mut entries) = (Sha256::new(), Vec::new());
    let (run, reader) =
        journal::fold_each(path, &mut |line| hash_line(&mut hash, line), &mut |entry| entries.push(entry))?;
    Ok((Folded { run, entries, unchained: reader.unchained }, of_chain(&reader, hash)))
}

/// A journal as far as it was read: a process that resumes a run reads all of it once, and at the end what it appended.
#[derive(Clone, Default)]
pub(crate) struct SeenJournal {
    reader: ChainReader,
    hash: Sha256,
    /// Where the next line begins.
    end: u64,
}

impl SeenJournal {
    /// Reads all of it, for who continues the run.
    pub(crate) fn read(path: &Path, watch: &mut dyn FnMut(&Entry)) -> Result<(Folded, Self)> {
        // A third of the time is the hash: another processor makes it meanwhile.
        thread::scope(|scope| {
            let (sender, blocks) = mpsc::sync_channel::<Vec<u8>>(MAX_BLOCKS);
            let hasher = thread::Builder::new()
                .spawn_scoped(scope, move || blocks.iter().fold(Sha256::new(), Digest::chain_update))
                .context("cannot read the record of the run")?;
            let (mut block, mut end) = (Vec::new(), 0);
            let mut take = |line: &[u8]| {
                end += line.len() as u64 + 1;
                block.extend_from_slice(line);
                block.push(b'\n');
                if BLOCK_LEN <= block.len() {
                    // Who does not take it any more has failed, and says so below.
                    let _ = sender.send(mem::replace(&mut block, Vec::with_capacity(BLOCK_LEN)));
                }
            };
            let read = journal::fold_brief_lines(path, &mut take, watch);
            let _ = sender.send(block);
            drop(sender);
            let hash = hasher.join().map_err(|_| Error::new("the record of the run cannot be hashed"))?;
            let (folded, reader) = read?;
            Ok((folded, Self { reader, hash, end }))
        })
    }

    /// Reads what comes after that, up to a line.
    fn go_on(mut self, path: &Path, lines: u64) -> Result<Self> {
        let mut file = journal::reader(path)?;
        file.seek(SeekFrom::Start(self.end))?;
        let Self { reader, hash, end } = &mut self;
        *end = journal::each_line(&mut file, *end, &mut |line| {
            if reader.lines < lines {
                reader.take(line);
                hash_line(hash, line);
            }
        })?;
        Ok(self)
    }

    fn facts(self) -> JournalFacts {
        of_chain(&self.reader, self.hash)
    }
}

/// What a journal is like that this process has written, after what it has read; nothing of it is believed if another one has
/// changed it.
pub(super) fn whole_journal(path: &Path, seen: SeenJournal) -> Result<JournalFacts> {
    let seen = seen.go_on(path, u64::MAX)?;
    match seen.reader.broken.first() {
        Some(line) => Err(journal::damaged(path, *line)),
        None => Ok(seen.facts()),
    }
}

/// What a journal is like up to a line.
pub(super) fn journal_facts(path: &Path, lines: u64) -> Result<JournalFacts> {
    Ok(SeenJournal::default().go_on(path, lines)?.facts())
}

fn hash_line(hash: &mut Sha256, line: &[u8]) {
    hash.update(line);
    hash.update(b"\n");
}

fn of_chain(reader: &ChainReader, hash: Sha256) -> JournalFacts {
    JournalFacts {
        lines: reader.lines,
        unchained: reader.unchained,
        chain: reader.chain().digits(),
        sha256: hex(&hash.finalize()),
    }
}

/// What must not be in a receipt.
fn private(dir: &RunDir, setup: &Setup) -> Private {
    let mut setup = setup.clone();
    // Values that are gone cannot be found either.
    let _ = hidden::variables::restore(dir, &mut setup);
    let agents = setup.agents.values().chain([&setup.agent]);
    let own = agents.flat_map(|agent| agent.env.values()).chain(setup.guardrail_env.values());
    private_of(&setup.project, own.cloned().collect())
}

/// What must not be in a receipt about this project, with the values that its settings give to others.
pub(super) fn private_of(project: &Path, own_values: Vec<String>) -> Private {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    Private {
        project: project.display().to_string(),
        home: variable("HOME"),
        user: [variable("USER"), variable("LOGNAME")]
            .into_iter()
            .find(|it| !it.is_empty())
            .unwrap_or_default(),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        values: env::vars_os().filter_map(|(_, value)| value.into_string().ok()).collect(),
        own_values,
    }
}

/// The hash of a program, and what the file was like then.
#[derive(Serialize, Deserialize)]
struct HashedProgram {
    path: PathBuf,
    file: [u64; 3],
    changed: [i64; 4],
    sha256: String,
}

/// The hash of ralph's own program.
fn program_sha256() -> Option<String> {
    let path = env::current_exe().ok()?;
    let metadata = path.metadata().ok()?;
    let file = [metadata.dev(), metadata.ino(), metadata.len()];
    let changed = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    let place = hash_folder(&path)?.join(PROGRAM);
    let known: Option<HashedProgram> =
        files::read_text(&place).ok().and_then(|text| serde_json::from_str(&text).ok());
    if let Some(known) = known.filter(|it| it.path == path && it.file == file && it.changed == changed) {
        return Some(known.sha256);
    }
    let sha256 = sha256_of(&path)?;
    let hashed = HashedProgram { path, file, changed, sha256 };
    // It is only there to be faster the next time.
    let _ = serde_json::to_vec(&hashed).map(|text| replace(&place, &text));
    Some(hashed.sha256)
}

/// Where the hash is kept: with the other things that ralph remembers. Who tests ralph begins with none of those a thousand times.
fn hash_folder(program: &Path) -> Option<PathBuf> {
    if cfg!(debug_assertions) { program.parent().map(Path::to_owned) } else { state_dir().ok() }
}

fn replace(place: &Path, text: &[u8]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(place);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::copy(&mut text.take(u64::MAX), &mut file)?;
    file.persist(place).map(drop).map_err(|error| error.error)
}
