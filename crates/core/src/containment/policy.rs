//! What a process inside a sandbox may do, as data: which folders it may write, which stay as they are, which
//! it does not see, whom it may talk to.
//!
//! Invariant: of two layers the deeper one decides, and what the user opens wins over what is protected.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::hosts::Host;

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
    /// Folders that stand at the path of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<ShownFolder>,
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
    /// It seems to be empty.
    Hide,
}

/// What must stay as it is inside the project: what ralph and the agents obey. While one of them is not there, an
/// empty folder stands in its place: git does not see it, and nobody takes it for a file.
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

/// What nobody inside sees of the machine: what only the superuser may read, who may be who runs the agent.
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

/// What nobody inside sees of a home.
pub const SECRETS: [&str; 17] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".netrc",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".git-credentials",
    ".config/git/credentials",
    ".pypirc",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".vault-token",
];

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
    let mut layers = Vec::new();
    let mut add = |path: PathBuf, access| layers.push(Layer { path, access });
    let project = &places.project;
    for secret in &places.hidden {
        add(secret.clone(), Access::Hide);
    }
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

/// The layers for processes that see something else at the project's path: nothing in it is protected, as it is nobody's.
pub fn layers_beside(places: &Places) -> Vec<Layer> {
    let hidden = places.hidden.iter().map(|path| Layer { path: path.clone(), access: Access::Hide });
    let opened =
        places.own.iter().chain(places.writable.iter().filter(|path| !path.starts_with(&places.project)));
    settled(hidden.chain(opened.map(|path| Layer { path: path.clone(), access: Access::Write })).collect())
}

/// From the outermost to the innermost, the last word on each path, and nothing hidden that is needed.
pub fn settled(layers: Vec<Layer>) -> Vec<Layer> {
    let mut last: BTreeMap<PathBuf, Access> = BTreeMap::new();
    for layer in layers {
        last.insert(layer.path, layer.access);
    }
    let written: Vec<PathBuf> =
        last.iter().filter(|(_, access)| **access == Access::Write).map(|(path, _)| path.clone()).collect();
    let is_needed = |hidden: &Path| written.iter().any(|path| path.starts_with(hidden));
    let mut layers: Vec<Layer> = last
        .into_iter()
        .filter(|(path, access)| *access != Access::Hide || !is_needed(path))
        .map(|(path, access)| Layer { path, access })
        .collect();
    layers.sort_by_key(|layer| layer.path.components().count());
    layers
}

#[cfg(test)]
mod tests {
    use ralph_guard::{Decision, ToolCall};
    use serde_json::json;

    use super::*;

    fn places() -> Places {
        Places {
            project: "/srv/project".into(),
            hidden: SECRETS.map(|name| Path::new("/home/me").join(name)).to_vec(),
            git_rules: vec!["/srv/project/.git/modules/one/config".into()],
            git: Some(GitPlaces {
                dir: "/srv/project/.git".into(),
                common: "/srv/project/.git".into(),
                link: None,
            }),
            tasks: vec!["/srv/project/.ralph/tasks/one".into()],
            secrets: vec!["/srv/project/.env".into()],
            own: vec!["/state/tmp".into()],
            ..Places::default()
        }
    }

    /// What may be done at a path: the deepest layer decides.
    fn access(layers: &[Layer], path: &str) -> Access {
        let deepest = layers.iter().rev().find(|layer| Path::new(path).starts_with(&layer.path));
        deepest.map_or(Access::Read, |layer| layer.access)
    }

    #[test]
    fn the_deepest_layer_decides() {
        let layers = layers(&places());
        for (path, expected) in [
            ("/etc/passwd", Access::Read),
            ("/home/me/x", Access::Read),
            ("/home/me/.ssh/id", Access::Hide),
            ("/home/me/.netrc", Access::Hide),
            ("/srv/x", Access::Read),
            ("/srv/project/src/x", Access::Write),
            ("/srv/project/.ralph/settings.json", Access::Read),
            ("/srv/project/.ralph/tasks/one/DONE", Access::Write),
            ("/srv/project/.ralph/tasks/one/TASK.md", Access::Read),
            ("/srv/project/.ralph/tasks/one/runs/1", Access::Read),
            ("/srv/project/.ralph-active", Access::Read),
            ("/srv/project/.claude/settings.json", Access::Read),
            ("/srv/project/.claude/settings.local.json", Access::Read),
            ("/srv/project/.claude/hooks/x", Access::Read),
            ("/srv/project/.claude/rules/x.md", Access::Write),
            ("/srv/project/.codex/config.toml", Access::Read),
            ("/srv/project/.github/hooks/x", Access::Read),
            ("/srv/project/.github/workflows/x", Access::Write),
            ("/srv/project/.mcp.json", Access::Read),
            ("/srv/project/.git/index", Access::Write),
            ("/srv/project/.git/config", Access::Read),
            ("/srv/project/.git/hooks/pre-commit", Access::Read),
            ("/srv/project/.git/modules/one/config", Access::Read),
            ("/srv/project/.git/modules/one/index", Access::Write),
            ("/srv/project/.env", Access::Hide),
            ("/state/tmp/x", Access::Write),
        ] {
            assert_eq!(access(&layers, path), expected, "{path}");
        }
    }

    #[test]
    fn nothing_is_moved_away_with_what_is_protected_in_it() {
        let git_rules = [
            "/srv/project/.git/modules/one/config",
            "/srv/project/.claude/a/hooks",
            "/srv/project/a/b/hooks",
        ];
        let layers = layers(&Places { git_rules: git_rules.map(PathBuf::from).to_vec(), ..places() });
        let layer =
            |path: &str| layers.iter().find(|layer| layer.path == Path::new(path)).map(|layer| layer.access);
        for path in [
            "/srv/project/.git/modules",
            "/srv/project/.git/modules/one",
            "/srv/project/a/b",
            "/srv/project/a",
        ] {
            assert_eq!(layer(path), Some(Access::Write), "{path}");
        }
        assert_eq!(layer("/srv/project/.claude"), Some(Access::Read));
        assert_eq!(layer("/srv/project/.claude/a"), None);
    }

    #[test]
    fn what_the_user_opens_is_open() {
        let writable = vec!["/srv/project/.claude".into(), "/home/me/.cargo".into()];
        let layers = layers(&Places { writable, ..places() });
        assert_eq!(access(&layers, "/srv/project/.claude/commands/x"), Access::Write);
        assert_eq!(access(&layers, "/home/me/.cargo/registry"), Access::Write);
        assert_eq!(access(&layers, "/home/me/.cargo/credentials.toml"), Access::Hide);
    }

    #[test]
    fn a_working_tree_shares_its_repository_but_not_its_rules() {
        let git = GitPlaces {
            dir: "/main/.git/worktrees/one".into(),
            common: "/main/.git".into(),
            link: Some("/srv/project/.git".into()),
        };
        let layers = layers(&Places { git: Some(git), ..places() });
        for (path, expected) in [
            ("/main/src", Access::Read),
            ("/main/.git/objects/x", Access::Write),
            ("/main/.git/config", Access::Read),
            ("/main/.git/hooks/x", Access::Read),
            ("/main/.git/worktrees/one/HEAD", Access::Write),
            ("/main/.git/worktrees/one/commondir", Access::Read),
            ("/main/.git/worktrees/one/config.worktree", Access::Read),
            ("/srv/project/.git", Access::Read),
        ] {
            assert_eq!(access(&layers, path), expected, "{path}");
        }
    }

    #[test]
    fn nothing_needed_is_hidden() {
        let project = PathBuf::from("/home/me/.docker/project");
        let layers = layers(&Places { project, git: None, ..places() });
        assert!(layers.iter().all(|layer| layer.path != Path::new("/home/me/.docker")), "{layers:?}");
        assert_eq!(access(&layers, "/home/me/.docker/project/x"), Access::Write);
    }

    /// The sandbox and the guard keep lists of their own, because the guard also names files in homes and leaves open
    /// what an agent may well write. Neither may forget what the other knows.
    #[test]
    fn what_the_sandbox_protects_is_guarded_too() {
        let ctx = ralph_guard::Context::new("/home/dev/proj", "/home/dev");
        for name in PROTECTED {
            let file = if name == ".claude" { ".claude/settings.json" } else { name };
            let input = json!({"file_path": format!("/home/dev/proj/{file}")});
            let write = ralph_guard::judge(&ToolCall::from_hook("Write", &input), &ctx);
            assert_eq!(write.reason().map(|finding| finding.rule), Some("harness-files"), "{file}");
            let shell = ToolCall::Shell { command_line: format!("echo x > {file}") };
            assert_eq!(ralph_guard::judge(&shell, &ctx).decision, Decision::Block, "{file}");
        }
    }

    #[test]
    fn beside_the_project_only_what_is_ralphs_or_opened_can_be_written() {
        let writable = vec!["/srv/project/out".into(), "/cache".into()];
        let beside = layers_beside(&Places { writable, ..places() });
        for (path, expected) in [
            ("/home/me/.ssh/id", Access::Hide),
            ("/state/tmp/x", Access::Write),
            ("/cache/x", Access::Write),
            ("/srv/project/out/x", Access::Read),
            ("/srv/project/.env", Access::Read),
        ] {
            assert_eq!(access(&beside, path), expected, "{path}");
        }
    }
}
