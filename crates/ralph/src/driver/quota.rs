//! What an agent's own record says about the user's quota, for agents whose stream does not say it.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use ralph_agents::{FailureKind, Limit, QuotaRecord, turn::Tally};
use ralph_core::setup::Setup;
use ralph_sandbox::Sandbox;
use ralph_sys::files::Root;

use super::site::Site;

/// Enough for the last answers; a line with the output of a tool may be longer, one with figures is not.
const MAX_END_LEN: u64 = 256 * 1024;
/// Conversations are recorded under the day on which they began.
const MAX_DAYS: usize = 60;

/// Adds what the record says about the quota: how much is used, and when it is back if the service refused.
pub(super) fn read_record(site: &Site, sandbox: Option<&Sandbox>, tally: &mut Tally) {
    let Some(limit) = recorded_limit(site, sandbox, tally) else { return };
    if let Some(failure) = &mut tally.failure
        && let FailureKind::Limited { resets_at } = &mut failure.kind
    {
        *resets_at = resets_at.or(limit.full_until());
    }
    tally.limit = Some(limit);
}

fn recorded_limit(site: &Site, sandbox: Option<&Sandbox>, tally: &Tally) -> Option<Limit> {
    let record = site.adapter().quota_record()?;
    let session = tally.session.as_deref()?;
    let is_limited = matches!(
        tally.failure.as_ref().map(|failure| failure.kind),
        Some(FailureKind::Limited { resets_at: None })
    );
    if !is_limited && site.run().plan.limits.leave_quota.is_none() {
        return None;
    }
    let inside = sandbox.and_then(|sandbox| sandbox.agent_folder(record.home)).map(Path::to_owned);
    let home = inside.or_else(|| home(&site.setup, record))?;
    let file = find(&home.join(record.sessions), session)?;
    (record.last_limit)(&end(file)?)
}

/// The agent's own folder, as its process sees it.
fn home(setup: &Setup, record: QuotaRecord) -> Option<PathBuf> {
    let variable = |name: &str| {
        let own = setup.agent.env.get(name).map(PathBuf::from);
        own.or_else(|| std::env::var_os(name).map(PathBuf::from)).filter(|path| !path.as_os_str().is_empty())
    };
    let named = variable(record.home).map(|folder| setup.project.join(folder));
    named.or_else(|| variable("HOME").map(|home| home.join(record.folder)))
}

/// The record of a conversation: `<year>/<month>/<day>/…-<session>.jsonl`, the newest days first.
fn find(sessions: &Path, session: &str) -> Option<File> {
    let ending = format!("-{session}.jsonl");
    let days = newest(sessions).into_iter().flat_map(|year| newest(&year)).flat_map(|month| newest(&month));
    days.take(MAX_DAYS).find_map(|day| {
        let found = newest(&day).into_iter().find(|path| path.to_string_lossy().ends_with(&ending))?;
        Root::new(&day).open(found.file_name()?).ok()
    })
}

/// What is in a folder, by name, the last one first.
fn newest(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable_by(|one, other| other.cmp(one));
    paths
}

/// The end of a file.
fn end(mut file: File) -> Option<String> {
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(MAX_END_LEN))).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_END_LEN).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
