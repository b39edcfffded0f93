//! Git notes: receipts that travel with the commits they are about.

use std::{ffi::OsString, io, path::Path, time::Duration};

use ralph_core::receipt::NOTES_REF;
use ralph_sys::{
    calls::{looking_git, refusal, succeeded},
    process::{Spec, Supervisor},
};

use super::repository::{Commits, no_replacing};
use crate::project::git::Git;

/// Most of what git says.
const MAX_OUTPUT_LEN: usize = 64 * 1024;
/// A list of notes that is longer is cut.
const MAX_LIST_LEN: usize = 64 * 1024 * 1024;
/// A remote that takes longer is not there.
const PUSH_TIMEOUT: Duration = Duration::from_mins(2);
/// Where the notes of a remote are put before they are merged.
const INCOMING: &str = "refs/ralph/notes-incoming";

/// Makes the file the note of a commit.
pub(super) fn add(
    supervisor: &mut Supervisor,
    repository: &Git,
    commit: &str,
    file: &Path,
) -> io::Result<()> {
    let file = file.as_os_str().to_owned();
    let mut args: Vec<OsString> =
        ["notes", "--ref", NOTES_REF, "add", "--force", "-F"].map(OsString::from).to_vec();
    args.extend([file, commit.into()]);
    must(supervisor, identified(looking_git(repository.top(), args)))
}

/// Pushes the notes. Those that the remote has of others are kept.
pub(super) fn push(supervisor: &mut Supervisor, repository: &Git) -> io::Result<()> {
    let remote = remote(supervisor, repository)?;
    let call = |words: &[&str]| {
        let words = words.iter().map(OsString::from).collect();
        looking_git(repository.top(), words).within(PUSH_TIMEOUT)
    };
    let both = format!("{NOTES_REF}:{NOTES_REF}");
    let pushing = ["push", "--quiet", "--no-verify", &remote, &both];
    if must(supervisor, call(&pushing)).is_ok() {
        return Ok(());
    }
    let fetched = format!("+{NOTES_REF}:{INCOMING}");
    must(supervisor, call(&["fetch", "--quiet", "--no-tags", &remote, &fetched]))?;
    let merge = ["notes", "--ref", NOTES_REF, "merge", "--quiet", "--strategy=ours", INCOMING];
    must(supervisor, identified(call(&merge)))?;
    must(supervisor, call(&pushing))
}

/// The remote that the branch belongs to, or the only one, or `origin`.
fn remote(supervisor: &mut Supervisor, repository: &Git) -> io::Result<String> {
    let ask = |supervisor: &mut Supervisor, words: &[&str]| -> io::Result<String> {
        let spec = looking_git(repository.top(), words.iter().map(OsString::from).collect());
        let captured = supervisor.capture(spec, MAX_OUTPUT_LEN)?;
        Ok(String::from_utf8_lossy(&captured.out).trim().to_owned())
    };
    let branch = repository.branch(supervisor)?.unwrap_or_default();
    let own = ask(supervisor, &["config", "--get", &format!("branch.{branch}.remote")])?;
    if !own.is_empty() && own != "." {
        return Ok(own);
    }
    let all = ask(supervisor, &["remote"])?;
    Ok(if all.lines().count() == 1 { all } else { "origin".to_owned() })
}

/// What the notes say, at most so many.
pub(super) fn all(supervisor: &mut Supervisor, commits: &Commits, most: usize) -> io::Result<Vec<Vec<u8>>> {
    let captured = supervisor.capture(commits.call(&["notes", "--ref", NOTES_REF, "list"]), MAX_LIST_LEN)?;
    let listed = String::from_utf8_lossy(&captured.out).into_owned();
    let ids = listed.lines().filter_map(|line| line.split_once(' ')).take(most);
    let ids: String = ids.flat_map(|(note, _)| [note, "\n"]).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let captured = supervisor.capture(commits.call(&["cat-file", "--batch"]).input(ids), MAX_LIST_LEN)?;
    let (mut rest, mut texts) = (captured.out.as_slice(), Vec::new());
    // Each begins with a line that ends with its length.
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let length = head.rsplit(' ').next().and_then(|length| length.parse::<usize>().ok());
        let Some(text) = length.and_then(|length| rest.get(end + 1..end + 1 + length)) else { break };
        texts.push(text.to_vec());
        rest = rest.get(end + 2 + text.len()..).unwrap_or_default();
    }
    Ok(texts)
}

/// Notes are commits, which someone makes; ralph, where git does not know who.
fn identified(spec: Spec) -> Spec {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let spec = no_replacing(spec);
    if is_set("GIT_COMMITTER_NAME") || is_set("GIT_COMMITTER_EMAIL") {
        return spec;
    }
    spec.env("GIT_AUTHOR_NAME", "ralph")
        .env("GIT_AUTHOR_EMAIL", "ralph@localhost")
        .env("GIT_COMMITTER_NAME", "ralph")
        .env("GIT_COMMITTER_EMAIL", "ralph@localhost")
}

fn must(supervisor: &mut Supervisor, spec: Spec) -> io::Result<()> {
    let captured = supervisor.capture(spec, MAX_OUTPUT_LEN)?;
    if succeeded(&captured) { Ok(()) } else { Err(io::Error::other(refusal(&captured))) }
}
