//! Verifies a receipt: who vouches for it, what it is about, and what it says. Nothing of the project is run.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use ralph_core::{
    engine::chain::ChainReader,
    receipt::{
        envelope::{Envelope, Unreadable},
        policy::ReceiptPolicy,
        statement::Statement,
        verdict::{self, JournalSeen, Target, VerdictItem, VerdictTopic},
    },
};
use ralph_sys::{
    calls::looking_git,
    error::{Error, Result},
    process::Supervisor,
};
use serde::Serialize;

use super::{
    RECEIPT,
    facts::journal_facts,
    is_absent, notes,
    repository::Commits,
    signature::{self, Allowed},
    trust,
};
use crate::journal::{self, run_dir::RunDir};

/// What git calls the file of allowed signers.
const ALLOWED_SIGNERS: &str = "gpg.ssh.allowedSignersFile";
/// Most of what git says about itself.
const MAX_OUTPUT_LEN: usize = 64 * 1024;
/// So many receipts of other commits are looked through for one with the same files.
const MAX_NOTES: usize = 10_000;
/// So many runs without a receipt are looked through for the one that made a commit.
const MAX_RUNS: usize = 10;

/// What is verified, and by whose word.
pub(crate) struct VerifyRequest<'a> {
    pub(crate) project: &'a Path,
    /// A commit, or a file with a receipt; nothing means the commit that is checked out.
    pub(crate) what: Option<&'a str>,
    /// The commit that a file is held against.
    pub(crate) commit: Option<&'a str>,
    pub(crate) allowed_signers: Option<&'a str>,
    pub(crate) policy: Option<&'a ReceiptPolicy>,
    /// The record of the run, where it is not among those of this machine.
    pub(crate) journal: Option<&'a Path>,
}

/// What was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verified {
    /// The commit that it was held against.
    pub(crate) commit: Option<String>,
    /// Who signed, as the verifier's file names them.
    pub(crate) signer: Option<String>,
    /// The key that signed.
    pub(crate) key: Option<String>,
    /// All that was looked at.
    pub(crate) items: Vec<VerdictItem>,
    /// What the receipt says, whether it holds or not.
    pub(crate) statement: Option<Statement>,
}

/// Where a receipt was found.
struct Found {
    text: Vec<u8>,
    /// Beside it there may be the record.
    folder: Option<PathBuf>,
}

/// Verifies.
pub(crate) fn verify(supervisor: &mut Supervisor, request: &VerifyRequest<'_>) -> Result<Verified> {
    let commits = Commits::around(request.project);
    let (file, name) = given(supervisor, commits.as_ref(), request)?;
    let (target, note) = match &commits {
        Some(commits) => {
            commits.refuse_ambiguous(supervisor, name)?;
            commits.noted_revision(supervisor, name)?.unzip()
        }
        None => (None, None),
    };
    let target = target.map(|it| Target { commit: it.commit, tree: it.tree });
    let mut verified = Verified {
        commit: target.as_ref().map(|target| target.commit.clone()),
        signer: None,
        key: None,
        items: Vec::new(),
        statement: None,
    };
    let found = match (file, &commits, &target) {
        (Some(path), ..) => Some(Found { text: text_of(&path)?, folder: path.parent().map(Path::to_owned) }),
        (None, Some(commits), Some(target)) => match note.flatten() {
            Some(text) => Some(Found { text, folder: None }),
            None => of_same_files(supervisor, commits, target)?,
        },
        (None, _, None) => return Err(Error::new(format!("`{name}` is not a commit of this project"))),
        (None, None, Some(_)) => None,
    };
    let Some(Found { text, folder }) = found else {
        let short = verified.commit.as_deref().and_then(|it| it.get(..12)).unwrap_or(name);
        let item =
            VerdictItem::unknown(VerdictTopic::Receipt, format!("there is no receipt of {short} here"));
        verified.items.push(match target.and_then(|target| run_without(request.project, &target)) {
            Some(run) => item.hint(format!("run {run} made it and was killed too early: ralph sign {run}")),
            None => item.hint("get those of the others: git fetch origin refs/notes/ralph:refs/notes/ralph"),
        });
        return Ok(verified);
    };
    let read = Envelope::read(&text).and_then(|envelope| Ok((envelope.statement()?, envelope)));
    let (statement, envelope) = match read {
        Ok(read) => read,
        Err(Unreadable::Broken(why)) => {
            verified.items.push(VerdictItem::broken(VerdictTopic::Receipt, why));
            return Ok(verified);
        }
        Err(Unreadable::Unknown(why)) => {
            verified.items.push(VerdictItem::unknown(VerdictTopic::Receipt, why));
            return Ok(verified);
        }
    };
    let allowed = allowed(supervisor, commits.as_ref(), request)?;
    let vouched = signature::check(supervisor, &envelope, allowed.as_ref())?;
    verified.items.push(vouched.item);
    (verified.signer, verified.key) = (vouched.signer, vouched.key);
    let record = record(request, &statement, folder.as_deref());
    verified.items.extend(about(
        supervisor,
        commits.as_ref(),
        &statement,
        target.as_ref(),
        record.is_some(),
    )?);
    verified.items.extend(verdict::work(&statement));
    if let Some(path) = record {
        verified.items.push(verdict::journal(&statement, &seen(&path, &statement)?));
    }
    if let Some(policy) = request.policy {
        verified.items.extend(policy.judge(&statement, verified.signer.as_deref()));
    }
    verified.statement = Some(statement);
    Ok(verified)
}

/// A file that the verifier trusts.
pub(crate) fn trusted_file(supervisor: &mut Supervisor, project: &Path, given: &str) -> Result<Vec<u8>> {
    let commits = Commits::around(project);
    trust::read(supervisor, commits.as_ref(), given, project)
}

/// The file with a receipt, if one is meant, and the commit that counts.
fn given<'a>(
    supervisor: &mut Supervisor,
    commits: Option<&Commits>,
    request: &VerifyRequest<'a>,
) -> Result<(Option<PathBuf>, &'a str)> {
    let head = request.commit.unwrap_or("HEAD");
    let Some(what) = request.what else { return Ok((None, head)) };
    let path = request.project.join(what);
    let is_commit = match commits {
        Some(commits) => commits.revision(supervisor, what)?.is_some(),
        None => false,
    };
    match (is_commit, path.is_file()) {
        // A branch can be called like a file, and a file like a branch: no one may choose for the verifier.
        (true, true) => Err(Error::new(format!("`{what}` is a commit and a file"))
            .hint(format!("name the file: ./{what}, or the branch: refs/heads/{what}"))),
        (true, false) if request.commit.is_some() => {
            Err(Error::new("--commit names the commit that a receipt file must match; there is no file"))
        }
        (true, false) => Ok((None, what)),
        (false, true) => Ok((Some(path), head)),
        (false, false) => Err(Error::new(format!("`{what}` is neither a commit of this project nor a file"))),
    }
}

fn text_of(path: &Path) -> Result<Vec<u8>> {
    Ok(ralph_sys::files::read(path, ralph_sys::files::MAX_TEXT_LEN)?)
}

/// The note of another commit with the same files: notes do not follow a rebase.
fn of_same_files(
    supervisor: &mut Supervisor,
    commits: &Commits,
    target: &Target,
) -> io::Result<Option<Found>> {
    for text in notes::all(supervisor, commits, MAX_NOTES)? {
        let statement = Envelope::read(&text).and_then(|envelope| envelope.statement());
        if statement.is_ok_and(|it| it.digest("tree", "gitTree") == Some(target.tree.as_str())) {
            return Ok(Some(Found { text, folder: None }));
        }
    }
    Ok(None)
}

/// The run of this machine that ended with a commit and has no receipt: its ralph was killed before it could make one.
fn run_without(project: &Path, target: &Target) -> Option<String> {
    let runs = RunDir::of_project(project).ok()?.into_iter().rev();
    let ended_with = |run: &RunDir| {
        let folded = journal::fold(&run.journal()).ok();
        let work = folded.filter(|it| it.run.state.outcome().is_some()).and_then(|it| it.run.memory.work);
        work.is_some_and(|work| work.head.as_ref() == Some(&target.commit))
    };
    runs.filter(is_absent).take(MAX_RUNS).find(ended_with).map(|run| run.id())
}

/// The file of allowed signers that the verifier names, or that git has of them.
fn allowed(
    supervisor: &mut Supervisor,
    commits: Option<&Commits>,
    request: &VerifyRequest<'_>,
) -> Result<Option<Allowed>> {
    if let Some(given) = request.allowed_signers {
        let text = trust::read(supervisor, commits, given, request.project)?;
        return Ok(Some(Allowed { name: given.to_owned(), text }));
    }
    let words = ["config", "--type=path", "--get", ALLOWED_SIGNERS];
    let spec = looking_git(request.project, words.map(OsString::from).to_vec());
    let said = supervisor.capture(spec, MAX_OUTPUT_LEN).map(|captured| captured.out).unwrap_or_default();
    let name = String::from_utf8_lossy(&said).trim().to_owned();
    if name.is_empty() {
        return Ok(None);
    }
    let top = commits.map_or(request.project, Commits::top);
    if !top.join(&name).exists() {
        return Ok(Some(Allowed { name, text: Vec::new() }));
    }
    let text = trust::read(supervisor, commits, &name, top)?;
    Ok(Some(Allowed { name, text }))
}

/// What the receipt is about, and where that comes from.
fn about(
    supervisor: &mut Supervisor,
    commits: Option<&Commits>,
    statement: &Statement,
    target: Option<&Target>,
    has_record: bool,
) -> Result<Vec<VerdictItem>> {
    if statement.digest("tree", "gitTree").is_none() {
        return Ok(vec![if target.is_some() {
            VerdictItem::broken(VerdictTopic::Subject, "it is about a run without a repository".to_owned())
        } else if has_record {
            VerdictItem::holds(VerdictTopic::Subject, "the record of a run without a repository".to_owned())
        } else {
            VerdictItem::unknown(VerdictTopic::Subject, "it is about a record that is not here".to_owned())
                .hint("name the record: --journal FILE")
        }]);
    }
    let (Some(commits), Some(target)) = (commits, target) else {
        let text = "there is no repository here to compare it with".to_owned();
        return Ok(vec![VerdictItem::unknown(VerdictTopic::Subject, text)]);
    };
    let subject = verdict::subject(statement, target);
    let seen = match &statement.predicate.base {
        Some(base) => Some(commits.base_seen(supervisor, base, &target.commit)?),
        None => None,
    };
    Ok(vec![subject, verdict::base(statement, seen)])
}

/// The record of the run, where it is to be had.
fn record(request: &VerifyRequest<'_>, statement: &Statement, folder: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = request.journal {
        return Some(request.project.join(path));
    }
    let beside = folder.map(|folder| RunDir::at(folder.to_owned()));
    let is_it = |run: &RunDir| run.id() == statement.predicate.run.id && run.path().join(RECEIPT).is_file();
    // Runs in the lanes of a fleet are runs of other folders.
    let others = || RunDir::all().unwrap_or_default();
    let own = RunDir::of_project(request.project).unwrap_or_default();
    let found = beside.into_iter().chain(own).find(is_it).or_else(|| others().into_iter().find(is_it));
    found.map(|run| run.journal()).filter(|path| path.is_file())
}

/// What is to be seen of a record, as far as the receipt goes.
fn seen(path: &Path, statement: &Statement) -> Result<JournalSeen> {
    let mut reader = ChainReader::default();
    let mut file = io::BufReader::new(fs_err::File::open(path)?);
    journal::each_line(&mut file, 0, &mut |line| _ = reader.take(line))?;
    if let Some(line) = reader.broken.first() {
        return Ok(JournalSeen::Damaged(*line));
    }
    let lines = statement.predicate.journal.lines;
    if reader.lines < lines {
        return Ok(JournalSeen::Short(reader.lines));
    }
    let facts = journal_facts(path, lines)?;
    Ok(JournalSeen::Whole { chain: facts.chain, sha256: facts.sha256 })
}
