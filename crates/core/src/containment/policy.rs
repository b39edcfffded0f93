//! What a process inside a sandbox may do, as data: which folders it may write, which stay as they are, which
//! it does not see, whom it may talk to.
//!
//! Invariant: of two layers the deeper one decides, and what the user opens wins over what is protected.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{hosts::Host, limits::SandboxLimits};

/// What a process may do. Whatever no layer names can be read and not written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// From the outermost to the innermost.
    pub layers: Vec<Layer>,
    /// Its own folder for temporary files.
    pub tmp: PathBuf,
    /// Whom it may talk to.
    pub hosts: Vec<Host>,
    /// Set in its environment, or removed from it.
    pub env: BTreeMap<String, Option<String>>,
    /// As many processes and threads there may be at once.
    pub processes: u32,
    /// What they may use of the machine.
    #[serde(default)]
    pub limits: SandboxLimits,
    /// Folders that stand at the path of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ShownFolder>,
    /// Links in hidden folders that lead to what is shown: where they are, and where they lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// A folder that stands at the path of another, and can be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownFolder {
    /// Where it is seen: absolute, without links, and a folder.
    pub at: PathBuf,
    /// What is seen there.
    pub source: Source,
}

/// What is seen at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// This folder.
    Folder(PathBuf),
    /// What is in `lower`, with what is written kept apart from it.
    Overlay {
        /// Never changed.
        lower: PathBuf,
        /// What was written and removed.
        upper: PathBuf,
        /// An empty folder beside `upper`, for the kernel.
        work: PathBuf,
    },
}

/// What may be done below a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Absolute, without links.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
}

/// What may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Anything.
    Write,
    /// It can be read.
    Read,
    /// It seems to be empty, but for what a deeper layer shows.
    Hide,
}

/// What must stay as it is inside the project: what ralph and the agents obey. While one of them is not there, an
/// empty folder stands in its place: git does not see it, and no program takes it for a file.
pub const PROTECTED: [&str; 9] = [
    ".ralph",
    ".ralph-active",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".opencode",
    ".github/hooks",
    ".mcp.json",
];

/// What stays open inside of that.
pub const OPEN: [&str; 2] = [".ralph/tasks", ".claude/rules"];

/// Folders in which something is protected must not be moved away with it.
pub const PINNED: [&str; 1] = [".github"];

/// What must stay as it is inside a repository.
pub const PROTECTED_GIT: [&str; 4] = ["hooks", "config", "commondir", "config.worktree"];

/// What no process inside sees of the machine: what only the superuser may read, who may be who runs the agent.
pub const SYSTEM_SECRETS: [&str; 12] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/run/secrets",
    "/var/run/secrets",
    "/var/lib/kubelet",
];

/// Folders of a home of which no process inside sees anything: most of it is secret, and the rest says where the secrets lead.
const SECRET_FOLDERS: [&str; 3] = [".aws", ".kube", ".docker"];

/// What no process inside sees of a home: what the guard does not let agents read.
pub fn secrets_in_home() -> impl Iterator<Item = &'static str> {
    SECRET_FOLDERS.into_iter().chain(ralph_guard::SECRETS_IN_HOME)
}

/// Whether a file of a project, by its path from there, is one that no process inside sees unless git tracks it.
pub fn is_secret(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(".env")) || ralph_guard::is_secret_file(path)
}

/// Where things are; every path is absolute and without links.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The project.
    pub project: PathBuf,
    /// The repository, if the project is in one.
    pub git: Option<GitPlaces>,
    /// The folders of tasks.
    pub tasks: Vec<PathBuf>,
    /// Files with secrets in the project.
    pub secrets: Vec<PathBuf>,
    /// Secrets of the user and of the machine, and logins of agents.
    pub hidden: Vec<PathBuf>,
    /// Homes, of which little is seen.
    pub homes: Vec<PathBuf>,
    /// What is seen of them.
    pub shown: Vec<PathBuf>,
    /// What else makes git run programs.
    pub git_rules: Vec<PathBuf>,
    /// What the protected paths that are links lead to.
    pub led_to: Vec<PathBuf>,
    /// What the settings open, and what the loop needs.
    pub writable: Vec<PathBuf>,
    /// Folders of this run or this project alone: temporary files, caches, the agent's state.
    pub own: Vec<PathBuf>,
}

/// Where a repository is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitPlaces {
    /// What this working tree has for itself.
    pub dir: PathBuf,
    /// What all working trees share; the same as `dir` in most.
    pub common: PathBuf,
    /// The file that leads to `dir`, if it is one.
    pub link: Option<PathBuf>,
}

/// The layers that these places ask for.
pub fn layers(places: &Places) -> Vec<Layer> {
    let mut layers = unseen(places);
    let mut add = |path: PathBuf, access| layers.push(Layer { path, access });
    let project = &places.project;
    add(project.clone(), Access::Write);
    for path in PINNED {
        add(project.join(path), Access::Write);
    }
    // A folder with something protected in it could be moved away with it, but for being mounted itself.
    for path in places.led_to.iter().chain(&places.git_rules) {
        let roots = places.git.iter().flat_map(|git| [&git.common, &git.dir]).chain([project]);
        let root = roots.filter(|root| path.starts_with(root)).max_by_key(|root| root.components().count());
        let Some(root) = root else { continue };
        let between = path.ancestors().skip(1).take_while(|above| *above != root.as_path());
        let is_closed = |dir: &Path| PROTECTED.iter().any(|name| dir.starts_with(project.join(name)));
        for above in between.filter(|above| !is_closed(above)) {
            add(above.to_owned(), Access::Write);
        }
    }
    for path in PROTECTED {
        add(project.join(path), Access::Read);
    }
    for path in OPEN {
        add(project.join(path), Access::Write);
    }
    // Where there is no repository, or one above, no process inside makes one: its configuration would run programs
    // later, outside.
    add(project.join(".git"), Access::Read);
    for task in &places.tasks {
        add(task.clone(), Access::Write);
        add(task.join("TASK.md"), Access::Read);
        add(task.join("runs"), Access::Read);
    }
    if let Some(git) = &places.git {
        for dir in [&git.common, &git.dir] {
            add(dir.clone(), Access::Write);
            for path in PROTECTED_GIT {
                add(dir.join(path), Access::Read);
            }
        }
        if let Some(link) = &git.link {
            add(link.clone(), Access::Read);
        }
    }
    for path in places.led_to.iter().chain(&places.git_rules) {
        add(path.clone(), Access::Read);
    }
    for secret in &places.secrets {
        add(secret.clone(), Access::Hide);
    }
    for path in places.own.iter().chain(&places.writable) {
        add(path.clone(), Access::Write);
    }
    settled(layers)
}

/// The layers for processes that see something else at the project's path. None of it is protected: it is no one's.
pub fn layers_beside(places: &Places) -> Vec<Layer> {
    let opened =
        places.own.iter().chain(places.writable.iter().filter(|path| !path.starts_with(&places.project)));
    let mut layers = unseen(places);
    layers.extend(opened.map(|path| Layer { path: path.clone(), access: Access::Write }));
    settled(layers)
}

/// What is hidden outside of the project, and what is shown in the midst of it.
fn unseen(places: &Places) -> Vec<Layer> {
    let layer = |access| move |path: &PathBuf| Layer { path: path.clone(), access };
    let homes = places.homes.iter().map(layer(Access::Hide));
    let shown = places.shown.iter().map(layer(Access::Read));
    homes.chain(shown).chain(places.hidden.iter().map(layer(Access::Hide))).collect()
}

/// From the outermost to the innermost, the last word on each path.
pub fn settled(layers: Vec<Layer>) -> Vec<Layer> {
    let mut last: BTreeMap<PathBuf, Access> = BTreeMap::new();
    for layer in layers {
        last.insert(layer.path, layer.access);
    }
    // What is in a hidden folder is not there to be hidden once more.
    let around = |path: &Path| path.ancestors().skip(1).find_map(|above| last.get(above)).copied();
    let is_needed = |path: &Path, access| access != Access::Hide || around(path) != Some(Access::Hide);
    let mut layers: Vec<Layer> = last
        .iter()
        .filter(|(path, access)| is_needed(path, **access))
        .map(|(path, access)| Layer { path: path.clone(), access: *access })
        .collect();
    layers.sort_by_key(|layer| layer.path.components().count());
    layers
}

/// Whether something is seen in a folder that is hidden.
pub fn is_partly_seen(
    hidden: &Path,
    layers: &[Layer],
    views: &[ShownFolder],
    links: &[(PathBuf, PathBuf)],
) -> bool {
    let all = layers.iter().map(|layer| &layer.path).chain(views.iter().map(|view| &view.at));
    all.chain(links.iter().map(|(link, _)| link)).any(|path| path != hidden && path.starts_with(hidden))
}

#[cfg(test)]
mod tests;
