//! What a run needs from the machine and the project, and what is wrong with it.
//!
//! Findings in, facts out. A problem is what would stop a run from beginning; everything else is at most a
//! warning.

mod judge;
mod login;

use std::{collections::BTreeMap, path::PathBuf};

use ralph_agents::versions::{Tried, Version};
use serde::Serialize;
use serde_json::Value;

pub use judge::{bytes, judge};
pub use login::Login;

/// What was found, as it is.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// The agents that ralph knows and that are installed.
    pub agents: Vec<Agent>,
    /// The agent that the settings name.
    pub agent: Option<RequiredProgram>,
    /// The variable without which the agent keeps its permission rules, because root runs it.
    pub root_needs: Option<&'static str>,
    /// The settings.
    pub settings: Settings,
    /// The git that would be called; nothing if there is none.
    pub git: Option<Git>,
    /// How commits would be made, when the settings ask for them.
    pub commits: Option<RequiredProgram>,
    /// The project's folder.
    pub project: Place,
    /// Where runs are recorded, or why there is no such place.
    pub state: Option<Place>,
    /// How much the record takes, in bytes.
    pub state_bytes: u64,
    /// How many runs are recorded.
    pub runs: usize,
    /// The run that goes on in the project.
    pub running: Option<String>,
    /// The hooks that are installed in agents.
    pub hooks: Vec<HooksFound>,
    /// What could keep an agent contained here.
    pub containment: Vec<Containment>,
}

/// Hooks that are installed in an agent.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HooksFound {
    /// The agent's name.
    pub agent: &'static str,
    /// Where they stand.
    pub path: PathBuf,
    /// The program that they call.
    pub program: PathBuf,
    /// Whether that program is there.
    pub works: bool,
    /// Whether they are what this program would install.
    pub is_current: bool,
    /// What brings them up to date.
    pub mend: &'static str,
}

/// A means to keep an agent contained.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Containment {
    /// What it is called.
    pub name: &'static str,
    /// Why it would not work here; nothing if it would.
    pub obstacle: Option<String>,
}

/// An installed agent.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The name that settings use.
    pub name: String,
    /// The program.
    pub path: PathBuf,
    /// What it says it is.
    pub version: Option<Version>,
    /// Why it did not say so.
    pub trouble: Option<String>,
    /// What ralph was tried with.
    pub tried: Option<Tried>,
    /// Whether it is logged in.
    pub login: Login,
}

/// A program that the settings name.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequiredProgram {
    /// As the settings have it.
    pub command: String,
    /// Where it is; nothing if it cannot be found.
    pub path: Option<PathBuf>,
}

/// The settings of the project.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// Every key.
    pub values: BTreeMap<String, Setting>,
    /// What is wrong in the files.
    pub problems: Vec<String>,
    /// What is odd in them.
    pub warnings: Vec<String>,
}

/// One key of the settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// What holds.
    pub value: Value,
    /// The file and line that say so; nothing means the default.
    pub origin: Option<String>,
}

/// The git that would be called.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Git {
    /// What it says it is.
    pub version: Option<Version>,
    /// The top of the working tree that the project is in.
    pub repository: Option<PathBuf>,
    /// What git says where it does not take what is there for a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// What the user has begun there and not ended, and what ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Unfinished>,
    /// The variables that lead it to another repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub led_elsewhere_by: Vec<&'static str>,
    /// Whether it knows whose commits it makes.
    pub has_identity: bool,
}

/// Something that was begun in a repository, such as a merge.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unfinished {
    /// With its article.
    pub what: &'static str,
    /// What ends it well, and what undoes it.
    pub ends: [&'static str; 2],
}

/// A folder that is written to.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The folder.
    pub path: PathBuf,
    /// Whether it can be written to.
    pub writable: bool,
    /// What is free there, in bytes.
    pub free_bytes: Option<u64>,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// What it is about.
    pub group: Group,
    /// How it stands.
    pub level: Severity,
    /// In words.
    pub text: String,
    /// What to type to mend it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mend: Vec<String>,
}

/// What facts are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Group {
    /// Installed agents.
    Agents,
    /// The settings of the project.
    Settings,
    /// Git and the repository.
    Git,
    /// The project's folder.
    Project,
    /// The record of runs.
    Record,
    /// Hooks in agents.
    Hooks,
    /// What could keep an agent contained.
    Containment,
}

impl Group {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Agents => "Agents",
            Self::Settings => "Settings",
            Self::Git => "Git",
            Self::Project => "Project",
            Self::Record => "Record of runs",
            Self::Hooks => "Hooks",
            Self::Containment => "Containment",
        }
    }
}

/// How something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// As it should be.
    Good,
    /// Neither good nor bad.
    Note,
    /// A run would begin, but something is not as it should be.
    Warning,
    /// A run would not begin.
    Problem,
}
