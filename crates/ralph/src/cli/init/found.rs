//! What is there to be offered: installed agents, and checks that the project has.

use std::{env, io::Read, path::Path};

use ralph_agents::AGENTS;
use ralph_core::detect::{self, FILES};
use ralph_sys::{files, paths::is_repository};

/// No file that suggests something is larger; of one that is, the beginning counts.
const MAX_READ_LEN: u64 = 1024 * 1024;

/// What was found before the first question.
pub(super) struct Found {
    /// The agent to offer.
    pub(super) agent: Option<String>,
    /// The agents that ralph knows and that are installed.
    installed: Vec<&'static str>,
    /// The commands to offer.
    pub(super) guardrails: Vec<String>,
    /// Whether there is a git repository to commit into, and a git.
    pub(super) in_repository: bool,
}

impl Found {
    /// Looks on the path and at the top of the project.
    pub(super) fn in_project(project: &Path, given: Option<&str>) -> Self {
        let is_there = |name: &&str| which::which_in(name, env::var_os("PATH"), project).is_ok();
        let installed: Vec<_> = AGENTS.into_iter().filter(is_there).collect();
        let given = given.map(str::trim).filter(|agent| !agent.is_empty());
        let agent = given.or(installed.first().copied()).map(str::to_owned);
        let text = |name: &str| Some((name.to_owned(), beginning(&project.join(name))?));
        let files = FILES.into_iter().filter_map(text).collect();
        let has_repository = project.ancestors().any(is_repository);
        let in_repository = has_repository && is_there(&"git");
        Self { agent, installed, guardrails: detect::guardrails(&files), in_repository }
    }

    /// The agents that are installed beside this one.
    pub(super) fn others(&self, agent: &str) -> impl Iterator<Item = &'static str> {
        self.installed.iter().copied().filter(move |name| *name != agent)
    }

    /// The same for people.
    pub(super) fn words(&self) -> String {
        if self.installed.is_empty() {
            return "Installed agents: none that ralph knows".to_owned();
        }
        format!("Installed agents: {}", self.installed.join(", "))
    }
}

fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    files::open(path).ok()?.take(MAX_READ_LEN).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
