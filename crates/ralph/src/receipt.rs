//! Makes the receipt of a run: gathers the facts, has it signed, keeps it in the run's folder and as a git note.
//!
//! Invariant: nothing here asks a person or waits for one, and what goes wrong costs the receipt or its signature, never
//! the run.

mod facts;
pub(crate) mod landing;
mod notes;
mod repository;
pub(crate) mod rerun;
mod signature;
pub(crate) mod signing;
mod trust;
pub(crate) mod verify;

use std::{io, path::Path};

use ralph_core::{
    engine::Run,
    receipt::{
        compose::{ReceiptFold, compose},
        envelope::Envelope,
        hex,
        statement::{JournalFacts, Statement},
    },
    setup::ScmTask,
};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{self, MAX_TEXT_LEN},
    process::Supervisor,
};
use sha2::{Digest, Sha256};

use crate::{
    journal::{self, Folded, run_dir::RunDir},
    project::git::{Change, Git},
};
pub(crate) use facts::SeenJournal;
use repository::Commits;
use signing::SigningKey;

/// The receipt, in the folder of a run.
pub(crate) const RECEIPT: &str = "receipt.json";

/// What a run knows about its receipt beside its record.
pub(crate) struct Issue<'a> {
    /// The repository that the project is in.
    pub(crate) repository: Option<&'a Git>,
    /// Whether processes of the run could reach the key that signs; nothing where the receipt before this one says it.
    pub(crate) key_reachable: Option<bool>,
}

/// What a process has seen of the record of its run.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// What the receipt will say of it.
    pub(crate) fold: ReceiptFold,
    /// The journal, as it was when the process began.
    pub(crate) journal: SeenJournal,
}

/// Makes the receipt of a run that has ended. Returns what a person should know: why it is not signed, or not noted.
pub(crate) fn issue(supervisor: &mut Supervisor, dir: &RunDir, issue: &Issue<'_>) -> Result<Vec<String>> {
    let (Folded { run, entries, .. }, journal) = facts::read_journal(&dir.journal())?;
    make(supervisor, dir, issue, (&run, ReceiptFold::of(&entries), journal))
}

/// The same by the process that ran it, and so knows what it has recorded.
pub(crate) fn issue_live(
    supervisor: &mut Supervisor,
    dir: &RunDir,
    issue: &Issue<'_>,
    run: &Run,
    seen: Seen,
) -> Result<Vec<String>> {
    let journal = facts::whole_journal(&dir.journal(), seen.journal)?;
    make(supervisor, dir, issue, (run, seen.fold, journal))
}

/// What the receipt of a run will say that is about to end, or that has ended.
pub(crate) fn foreseen(
    supervisor: &mut Supervisor,
    dir: &RunDir,
    repository: &Git,
    run: &Run,
    seen: Seen,
) -> Result<Statement> {
    let journal = facts::whole_journal(&dir.journal(), seen.journal)?;
    let issue = Issue { repository: Some(repository), key_reachable: Some(true) };
    Ok(compose(run, seen.fold, facts::gather(supervisor, dir, run, &issue, None, journal)?))
}

fn make(
    supervisor: &mut Supervisor,
    dir: &RunDir,
    issue: &Issue<'_>,
    (run, seen, journal): (&Run, ReceiptFold, JournalFacts),
) -> Result<Vec<String>> {
    let before = read(dir).ok().and_then(|envelope| envelope.statement().ok());
    let facts = facts::gather(supervisor, dir, run, issue, before.as_ref(), journal)?;
    let statement = compose(run, seen, facts);
    let project = &run.started.setup.project;
    let (envelope, mut warnings) = enveloped(supervisor, &statement, project, dir.path());
    write(dir, &envelope)?;
    warnings.extend(noted(supervisor, dir, issue.repository, run, &envelope));
    Ok(warnings)
}

/// The envelope of a statement, signed if git has a key for this project that answers at once; and why it is not.
fn enveloped(
    supervisor: &mut Supervisor,
    statement: &Statement,
    project: &Path,
    folder: &Path,
) -> (Envelope, Vec<String>) {
    let mut envelope = Envelope::of(statement);
    let mut warnings = Vec::new();
    match signing::key(supervisor, project) {
        SigningKey::None => {}
        key => match signing::sign(supervisor, &key, &envelope, folder) {
            Ok(signature) => envelope.signatures = vec![signature],
            Err(error) => warnings.push(format!("the receipt is not signed: {error}")),
        },
    }
    (envelope, warnings)
}

/// Signs the receipt of a run that has one, and replaces its note.
pub(crate) fn sign(supervisor: &mut Supervisor, dir: &RunDir) -> Result<(Envelope, Vec<String>)> {
    let folded = journal::fold(&dir.journal())?;
    if folded.run.state.outcome().is_none() {
        return Err(Error::new(format!("run {} has not ended", dir.id())));
    }
    let project = &folded.run.started.setup.project;
    if is_absent(dir) {
        issue_later(supervisor, dir, project)
            .map_err(|error| error.hint("only a run that this version of ralph ended can be signed later"))?;
    }
    let mut envelope = read(dir)?;
    let key = signing::key(supervisor, project);
    if matches!(key, SigningKey::None) {
        return Err(signing::no_key());
    }
    let signature = signing::sign(supervisor, &key, &envelope, dir.path())?;
    envelope.signatures = vec![signature];
    write(dir, &envelope)?;
    let repository = Git::find(supervisor, project).ok().flatten();
    let warnings = noted(supervisor, dir, repository.as_ref(), &folded.run, &envelope);
    Ok((envelope, warnings))
}

/// Makes the receipt of a run that was killed between its end and that. What stands against it costs the receipt alone: it is
/// returned, to be said.
pub(crate) fn catch_up(supervisor: &mut Supervisor, dir: &RunDir) -> Option<String> {
    if is_absent(dir)
        && journal::end(&dir.journal()).is_some()
        && !journal::is_running(&dir.journal())
        && let Some(started) = journal::started(&dir.journal())
    {
        let issued = issue_later(supervisor, dir, &started.setup.project);
        return issued.err().map(|error| format!("there is no receipt of run {}: {error}", dir.id()));
    }
    None
}

/// Whether a run has no receipt, as those have none that were killed or that version 0.1 ran.
pub(crate) fn is_absent(dir: &RunDir) -> bool {
    !dir.path().join(RECEIPT).exists()
}

/// Makes the receipt of a run whose ralph is gone, by its record alone.
fn issue_later(supervisor: &mut Supervisor, dir: &RunDir, project: &Path) -> Result<()> {
    let repository = match Git::find(supervisor, project) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        found => found.ok().flatten(),
    };
    // What the sandbox kept from the run is not known any more.
    issue(supervisor, dir, &Issue { repository: repository.as_ref(), key_reachable: Some(true) }).map(drop)
}

/// The tree of the files as they are, whether or not they are committed.
pub(crate) fn snapshot(
    supervisor: &mut Supervisor,
    git: &Git,
    changes: &[Change],
    dir: &RunDir,
) -> io::Result<String> {
    Commits::of(git.top()).snapshot(supervisor, changes, dir.path())
}

/// Keeps the receipt as a note of the commit that it is about, where the run made it; returns what went wrong.
fn noted(
    supervisor: &mut Supervisor,
    dir: &RunDir,
    repository: Option<&Git>,
    run: &Run,
    envelope: &Envelope,
) -> Vec<String> {
    let Run { started, state, .. } = run;
    let (Some(repository), Ok(statement)) = (repository, envelope.statement()) else { return Vec::new() };
    let Some(commit) = statement.digest("commit", "gitCommit") else { return Vec::new() };
    if statement.predicate.base.as_ref().is_some_and(|base| base.commit == commit) {
        return Vec::new();
    }
    if let Err(error) = notes::add(supervisor, repository, commit, &dir.path().join(RECEIPT)) {
        return vec![format!("the receipt is not noted on the commit: {error}")];
    }
    let is_pushed = started.setup.scm.as_ref().is_some_and(|scm| scm.tasks.contains(&ScmTask::Notes));
    if !is_pushed || state.needs_person() {
        return Vec::new();
    }
    let pushed = notes::push(supervisor, repository);
    pushed.err().map(|error| format!("the receipts are not pushed: {error}")).into_iter().collect()
}

/// The receipt of a run.
pub(crate) fn read(dir: &RunDir) -> Result<Envelope> {
    read_file(&dir.path().join(RECEIPT))
}

/// A receipt in a file.
pub(crate) fn read_file(path: &Path) -> Result<Envelope> {
    let text =
        files::read(path, MAX_TEXT_LEN).context(format!("cannot read the receipt {}", path.display()))?;
    Envelope::read(&text).map_err(|error| Error::new(format!("{}: {error}", path.display())))
}

fn write(dir: &RunDir, envelope: &Envelope) -> Result<()> {
    write_file(dir.path(), RECEIPT, envelope)
}

fn write_file(folder: &Path, name: &str, envelope: &Envelope) -> Result<()> {
    let path = folder.join(name);
    // Whole or not at all: a process that reads it meanwhile sees the one before.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, envelope.text().as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The SHA-256 of a file; nothing if it cannot be read.
pub(crate) fn sha256_of(path: &Path) -> Option<String> {
    let mut hash = Hashing(Sha256::new());
    io::copy(&mut files::open(path).ok()?, &mut hash).ok()?;
    Some(hex(&hash.0.finalize()))
}

/// What is written into it is hashed.
struct Hashing(Sha256);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
