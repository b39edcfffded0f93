//! Looks at the machine and the project. Judges nothing.

use std::{
    collections::BTreeMap,
    env, io,
    path::{Path, PathBuf},
};

use ralph_agents::AGENTS;
use ralph_agents::{
    self,
    versions::{self, Version},
};
use ralph_core::{
    containment::level::{Choice, Level},
    doctor::{
        Agent, Findings, Git as GitFound, HooksFound, Login, Place, RequiredProgram, Setting, Settings,
        Unfinished,
    },
};
use ralph_sys::{error::Result, paths::state_dir, process::Supervisor};
use rustix::fs::Access;
use serde_json::Value;

use super::contain;
use crate::{
    cli::runs,
    driver::{access, agent_version, superuser},
    hooks::plugin::{self, Codex},
    journal::run_dir::RunDir,
    project::git::{Git, led_elsewhere},
    settings::Inspected,
};

/// Looks at everything; returns nothing when the user does not want to wait for it.
pub(super) fn examine(project: &Path, inspected: &Inspected) -> Result<Option<Findings>> {
    let mut supervisor = Supervisor::new()?;
    let settings = &inspected.loaded.settings;
    let wanted =
        |command: &str| RequiredProgram { command: command.to_owned(), path: find(command, project) };
    let agent = Some(settings.agent.command.as_str()).filter(|command| !command.is_empty()).map(wanted);
    let mut agents = Vec::new();
    for (name, path) in programs(project, agent.as_ref()) {
        let agent = examine_agent(&mut supervisor, name, path, project);
        agents.push(Agent {
            login: access::login(name, &settings.agent.flags, &settings.agent.env, project),
            ..agent
        });
        if supervisor.stop_requested() {
            return Ok(None);
        }
    }
    let scm = settings.scm.as_ref().filter(|scm| !scm.tasks.is_empty());
    let state = state_dir().ok();
    let is_contained = settings.sandbox.level.is_some_and(|level| level != Choice::Level(Level::None));
    let root_needs = superuser::lacks(&settings.agent.command, &settings.agent.env).filter(|_| !is_contained);
    Ok(Some(Findings {
        agents,
        root_needs,
        agent,
        settings: settings_of(inspected),
        git: examine_git(&mut supervisor, project),
        commits: scm.map(|scm| wanted(&scm.command)),
        project: place(project),
        state_bytes: state.as_deref().map_or(0, size),
        state: state.as_deref().map(place),
        runs: RunDir::all().map_or(0, |runs| runs.len()),
        running: runs::running(project).ok().map(|run| run.id()),
        hooks: installed_hooks(project),
        containment: contain::examine(&mut supervisor, &settings.sandbox.wanted("", Choice::Auto)),
    }))
}

/// The hooks that are installed in agents.
fn installed_hooks(project: &Path) -> Vec<HooksFound> {
    let this = env::current_exe().ok();
    let claude = plugin::folder().ok().and_then(|folder| {
        let program = plugin::installed(&folder)?;
        let (agent, mend) = ("claude", "ralph plugin install");
        let (works, is_current) = (program.exists(), plugin::is_current(&folder).unwrap_or(false));
        Some(HooksFound { agent, path: folder, works, is_current, program, mend })
    });
    let codex = Codex::of_user().into_iter().chain([Codex::of_project(project)]).filter_map(|codex| {
        let program = codex.installed().ok()??;
        let (agent, mend) = ("codex", "ralph plugin install --agent codex");
        let (works, is_current) = (program.exists(), Some(&program) == this.as_ref());
        Some(HooksFound { agent, path: codex.path, works, is_current, program, mend })
    });
    claude.into_iter().chain(codex).collect()
}

fn find(command: &str, project: &Path) -> Option<PathBuf> {
    which::which_in(command, env::var_os("PATH"), project).ok()
}

/// The agents on the path, and the one that the settings name if it is another. Only programs with the name
/// of an agent are called: no one knows what a stranger does with `--version`.
fn programs(project: &Path, wanted: Option<&RequiredProgram>) -> Vec<(&'static str, PathBuf)> {
    let on_path = AGENTS.into_iter().filter_map(|name| Some((name, find(name, project)?)));
    let mut programs: Vec<_> = on_path.collect();
    if let Some(RequiredProgram { command, path: Some(path) }) = wanted {
        let name = ralph_agents::adapter(command).name();
        if AGENTS.contains(&name) && programs.iter().all(|(_, known)| known != path) {
            programs.push((name, path.clone()));
        }
    }
    programs
}

fn examine_agent(supervisor: &mut Supervisor, name: &str, path: PathBuf, project: &Path) -> Agent {
    let said = agent_version::ask(supervisor, &path, project);
    let version = said.as_ref().ok().and_then(|said| Version::find_in(said));
    let tried = versions::tried(name);
    Agent { name: name.to_owned(), path, version, trouble: said.err(), tried, login: Login::Missing }
}

fn examine_git(supervisor: &mut Supervisor, project: &Path) -> Option<GitFound> {
    let said = Git::version(supervisor, project).ok()?;
    let found = Git::find(supervisor, project);
    let refusal = found.as_ref().err().map(ToString::to_string);
    let repository = found.ok().flatten();
    let has_identity =
        repository.as_ref().is_some_and(|git| git.missing_identity(supervisor).is_ok_and(|missing| !missing));
    let unfinished = repository.as_ref().and_then(Git::unfinished);
    Some(GitFound {
        version: Version::find_in(&said),
        unfinished: unfinished.map(|it| Unfinished { what: it.what, ends: it.ends }),
        repository: repository.map(|git| git.top().to_owned()),
        refusal,
        led_elsewhere_by: led_elsewhere(),
        has_identity,
    })
}

fn settings_of(inspected: &Inspected) -> Settings {
    let loaded = &inspected.loaded;
    let mut values = BTreeMap::new();
    let defaults = serde_json::to_value(&loaded.settings).unwrap_or_default();
    collect(&defaults, "", &mut values);
    let mut given = BTreeMap::new();
    collect(&inspected.merged, "", &mut given);
    for (key, value) in given {
        let origin = loaded.origins.get(&key).map(ToString::to_string);
        values.insert(key, Setting { value: value.value, origin });
    }
    // What is given to an agent this way is often a key, and a report is often shown to others.
    for (_, setting) in values.iter_mut().filter(|(key, _)| key.starts_with("agent.env.")) {
        setting.value = "(hidden)".into();
    }
    Settings {
        files: loaded.files.clone(),
        values,
        problems: inspected.problems.clone(),
        warnings: loaded.warnings.clone(),
    }
}

/// Everything that is no object, by its path.
fn collect(value: &Value, path: &str, into: &mut BTreeMap<String, Setting>) {
    if let Value::Object(members) = value {
        for (key, member) in members {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            collect(member, &path, into);
        }
    } else if !path.is_empty() {
        into.insert(path.to_owned(), Setting { value: value.clone(), origin: None });
    }
}

/// A folder, or the one that it would be made in.
fn place(path: &Path) -> Place {
    let there = path.ancestors().find(|dir| dir.exists()).unwrap_or(path);
    let writable = there.is_dir() && rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    let space = rustix::fs::statvfs(there).ok();
    let free_bytes = space.map(|space| space.f_bavail.saturating_mul(space.f_frsize));
    Place { path: path.to_owned(), writable, free_bytes }
}

/// How much the files below a folder take; what cannot be read is not counted.
fn size(folder: &Path) -> u64 {
    let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
    let of_entry = |entry: fs_err::DirEntry| -> io::Result<u64> {
        // Of a link itself, not of what it leads to.
        let metadata = entry.metadata()?;
        Ok(if metadata.is_dir() { size(&entry.path()) } else { metadata.len() })
    };
    entries.map(|entry| of_entry(entry).unwrap_or_default()).sum()
}
