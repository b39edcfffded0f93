//! The hooks of an agent that ralph starts: which it gets, and whether they were there.

use std::{
    collections::{BTreeMap, HashSet},
    ffi::OsString,
    path::{Path, PathBuf},
};

use ralph_agents::hooking::CAP_VARIABLE;
use ralph_agents::{
    self,
    hooking::{Hooking, Hooks},
    turn::{HookedTool, Tally},
    versions::Version,
};
use ralph_core::{
    engine::{
        event::Topic,
        judgement::{HookReport, Judgement},
        plan::{Plan, Work},
    },
    setup::{Guard, Setup},
};
use ralph_sandbox::spool::{FOLDER, VARIABLE};
use ralph_sys::{files, hash};

use super::{hook_program::HookProgram, site::Site};
use crate::{
    journal::hook_notes::{self, Notes},
    settings::guard::{PLAN_VARIABLE, PROJECT_VARIABLE},
};

/// Files of the project in which agents are told which hooks they have.
const HOOK_FILES: [&str; 4] =
    [".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json"];

/// Whether the guard judges what the agent does.
pub(super) fn is_guarded(setup: &Setup) -> bool {
    setup.guard == Guard::On && ralph_agents::adapter(&setup.agent.command).hooks() != Hooking::Never
}

/// The hooks that the agent gets, if it can carry them. They call this program.
pub(super) fn hooks(plan: &Plan, setup: &Setup, program: &Path) -> Option<Hooks> {
    let program = program.to_str()?.to_owned();
    let settings = named_settings(setup).and_then(|path| files::read_text(&path).ok());
    Some(Hooks { program, on_stop: plan.work == Work::Stories, settings })
}

/// The settings file that the agent's flags name.
fn named_settings(setup: &Setup) -> Option<PathBuf> {
    let mut flags = setup.agent.flags.iter();
    let value = flags.find_map(|flag| match flag.split_once('=') {
        Some(("--settings", value)) => Some(Some(value)),
        _ => (flag == "--settings").then_some(None),
    })?;
    let value = value.map_or_else(|| flags.next().map(String::as_str), Some)?;
    Some(setup.project.join(value))
}

/// What hooks must know of the run, if the agent has any.
pub(super) fn environment(setup: &Setup, spool: &Path) -> Vec<(OsString, Option<OsString>)> {
    // Without the folder the hooks report nothing, but they do their work.
    let _ = std::fs::create_dir_all(spool);
    let plan = setup.plan_file.as_ref().map(|plan| setup.project.join(&plan.path));
    let set = |name: &str, value: OsString| (OsString::from(name), Some(value));
    let fixed = [
        set(VARIABLE, spool.into()),
        set(PROJECT_VARIABLE, setup.project.clone().into()),
        set(CAP_VARIABLE, "0".into()),
    ];
    fixed.into_iter().chain(plan.map(|plan| set(PLAN_VARIABLE, plan.into()))).collect()
}

/// Says once that this version of the agent lets pass what its hook cannot judge.
pub(super) fn notice_open_hooks(site: &mut Site, version: &str) {
    let Some(needed) = site.adapter().closes_hooks_since() else { return };
    let is_older = Version::find_in(version).is_some_and(|it| Some(it) < needed.parse().ok());
    if is_older {
        let text = format!(
            "version {version} of the agent runs a tool call even if ralph's hook fails; {needed} and newer block the call"
        );
        site.ledger.warn_once(Topic::OpenHooks, text);
    }
}

/// What the hooks did in a turn.
#[derive(Default)]
pub(super) struct Settled {
    pub(super) report: Option<HookReport>,
    /// Every call that they judged.
    pub(super) calls: Vec<Judgement>,
    /// They were not there, or may not be there the next time.
    pub(super) unguarded: Option<Unguarded>,
}

/// What speaks against the hooks of a turn; nothing in it where none of them was ever called.
pub(super) struct Unguarded {
    /// Files that can take them away and were changed.
    pub(super) changed: Vec<String>,
    /// Calls that ran without a judgement: tool and id.
    pub(super) unjudged: Vec<String>,
}

/// Looks after the hooks of one process of the agent.
pub(super) struct Hooked {
    hooking: Hooking,
    /// Where the hooks report.
    spool: PathBuf,
    project: PathBuf,
    /// The files that can take the hooks away, with a fingerprint; nothing where a sandbox looks after them.
    files: BTreeMap<PathBuf, String>,
    /// What they call.
    program: Option<HookProgram>,
}

impl Hooked {
    /// Looks at what can take the hooks away, before the agent begins.
    pub(super) fn begin(site: &Site, turn: &Path, program: Option<HookProgram>, is_contained: bool) -> Self {
        let names: &[&str] = if is_contained { &[] } else { &HOOK_FILES };
        let project = site.setup.project.clone();
        let files = fingerprints(&project, names);
        Self { hooking: site.adapter().hooks(), spool: turn.join(FOLDER), project, files, program }
    }

    /// Takes in what the hooks did in a turn, and whether they were there.
    pub(super) fn settle(&self, tally: &Tally) -> Settled {
        let Notes { report, calls } = hook_notes::take(&self.spool);
        let changed = self.changed();
        let unjudged = unjudged(self.hooking, &tally.hooked_tools, &calls);
        let is_unguarded =
            !changed.is_empty() || !unjudged.is_empty() || is_unguarded(self.hooking, tally, &report);
        let unguarded = is_unguarded.then_some(Unguarded { changed, unjudged });
        Settled { report: Some(report), calls, unguarded }
    }

    fn changed(&self) -> Vec<String> {
        let names: Vec<&Path> = self.files.keys().map(PathBuf::as_path).collect();
        let now = fingerprints(&self.project, &names);
        let other = self.files.iter().filter(|(name, before)| now.get(*name) != Some(before));
        let names = other.map(|(name, _)| name.display().to_string());
        let copy = self.program.iter().filter(|program| !program.is_unchanged());
        names.chain(copy.map(|program| program.path().display().to_string())).collect()
    }
}

/// Whether tools ran and the hook that must come before them did not. Whether it did, an agent's own stream says,
/// where the agent cannot forge it; else only the hook itself.
fn is_unguarded(hooking: Hooking, seen: &Tally, report: &HookReport) -> bool {
    !seen.hooked_tools.is_empty()
        && match hooking {
            Hooking::Never => false,
            Hooking::Shown => seen.judged == 0,
            Hooking::Silent => report.judged == 0,
        }
}

/// The calls that ran and that no judgement is about. Where an agent's stream and its hooks name calls differently, or a
/// hook is not told a name, a judgement counts for any one of them.
fn unjudged(hooking: Hooking, ran: &[HookedTool], calls: &[Judgement]) -> Vec<String> {
    if hooking == Hooking::Never {
        return Vec::new();
    }
    let judged: HashSet<&str> = calls.iter().filter_map(|call| call.id.as_deref()).collect();
    let known: HashSet<&str> = ran.iter().map(|tool| tool.id.as_str()).collect();
    let counts_for_any = |call: &&Judgement| match &call.id {
        Some(id) => hooking == Hooking::Silent && !known.contains(id.as_str()),
        None => true,
    };
    let spare = calls.iter().filter(counts_for_any).count();
    let missing = ran.iter().filter(|tool| !judged.contains(tool.id.as_str()));
    missing.skip(spare).map(|HookedTool { id, name }| format!("{name} ({id})")).collect()
}

fn fingerprints(project: &Path, names: &[impl AsRef<Path>]) -> BTreeMap<PathBuf, String> {
    let names = names.iter().map(AsRef::as_ref);
    names.map(|name| (name.to_owned(), hash::fingerprint(&project.join(name)))).collect()
}
