//! The settings file that `ralph init` writes.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use ralph_core::{
    fail_action::FailAction,
    setup::{Scm, ScmTask},
};
use ralph_sys::{
    error::{Context, Result},
    files::{Readers, Root},
};
use serde::Serialize;

use super::found::Found;
use crate::{
    cli::schema::settings_schema,
    project::own_files,
    settings::{PROJECT_FILE, Settings},
};

/// The schema beside the settings, so that editors complete them, everywhere and without a network.
const SCHEMA_FILE: &str = ".ralph/settings.schema.json";
/// The first kind of sandbox that works.
pub(super) const AUTO: &str = "auto";
const SCHEMA_REFERENCE: &str = "./settings.schema.json";

/// What goes into the file, in the order of the file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SettingsDraft {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) maximum_iterations: u32,
    pub(super) completion_response: String,
    pub(super) output_truncate_chars: usize,
    pub(super) stream_agent_output: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<DraftAgent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agents: Option<DraftAgents>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) roles: Option<DraftRoles>,
    pub(super) guardrails: Vec<DraftGuardrail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scm: Option<Scm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sandbox: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notify: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct DraftAgent {
    pub(super) command: String,
    pub(super) flags: Vec<String>,
}

/// Two agents by name.
#[derive(Debug, Serialize)]
pub(super) struct DraftAgents {
    main: DraftAgent,
    second: DraftAgent,
}

/// The second stands in for the first, and reviews what it did.
#[derive(Debug, Serialize)]
pub(super) struct DraftRoles {
    work: [&'static str; 2],
    review: [&'static str; 1],
}

impl SettingsDraft {
    /// The same with these agents.
    pub(super) fn of_agents(self, main: DraftAgent, second: Option<DraftAgent>) -> Self {
        match second {
            None => Self { agent: Some(main), ..self },
            Some(second) => Self {
                agents: Some(DraftAgents { main, second }),
                roles: Some(DraftRoles { work: ["main", "second"], review: ["second"] }),
                ..self
            },
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DraftGuardrail {
    pub(super) command: String,
    pub(super) fail_action: FailAction,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
}

impl DraftGuardrail {
    /// A command with nothing more to say about it.
    pub(super) fn plain(command: &str) -> Self {
        Self { command: command.to_owned(), fail_action: FailAction::Append, hint: None }
    }
}

impl Default for SettingsDraft {
    fn default() -> Self {
        let defaults = Settings::default();
        Self {
            schema: SCHEMA_REFERENCE,
            maximum_iterations: 10,
            completion_response: defaults.completion_response,
            output_truncate_chars: defaults.output_truncate_chars,
            stream_agent_output: defaults.stream_agent_output,
            agent: None,
            agents: None,
            roles: None,
            guardrails: Vec::new(),
            scm: None,
            sandbox: None,
            notify: None,
        }
    }
}

impl SettingsDraft {
    /// What was found, and the defaults for the rest.
    pub(super) fn unasked(agent: &str, found: &Found) -> Self {
        let commits = || Scm::git(vec![ScmTask::Commit]);
        Self {
            scm: found.in_repository.then(commits),
            agent: Some(DraftAgent { command: agent.to_owned(), flags: Vec::new() }),
            guardrails: found.guardrails.iter().map(|command| DraftGuardrail::plain(command)).collect(),
            ..Self::default()
        }
    }
}

/// Writes the settings beside the file and then puts them in its place.
pub(super) fn write(project: &Path, draft: &SettingsDraft) -> Result<()> {
    let refused = || format!("cannot write `{PROJECT_FILE}`");
    own_files::hide(project).context(refused())?;
    Root::new(project)
        .replace(SCHEMA_FILE, settings_schema().as_bytes(), Readers::AsBefore)
        .context(refused())?;
    let (text, target) = (serde_json::to_string_pretty(draft)?, target(project));
    let write =
        |file: &mut File| file.write_all(format!("{text}\n").as_bytes()).and_then(|()| file.sync_all());
    Root::around(project, &target).replace_with(&target, Readers::AsBefore, write).context(refused())
}

/// Where a link leads to, so that it stays one.
fn target(project: &Path) -> PathBuf {
    let path = project.join(PROJECT_FILE);
    fs_err::canonicalize(&path).unwrap_or(path)
}
