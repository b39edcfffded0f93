//! What the rules of a run are applied to: the agent, the prompt and the project, resolved once.

mod agent;
mod hidden;
mod issue;
mod judge;
mod processes;
mod scm;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ralph_agents::Permissions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    containment::wanted::Wanted,
    forge::TOKENS,
    stories::{Budget, Review},
};

pub use agent::{AgentSetup, Price, PromptVia};
pub use hidden::HiddenCommands;
pub use issue::IssueSetup;
pub use judge::JudgeSetup;
pub use processes::{Leftovers, Timeouts};
pub use scm::{Scm, ScmTask};

/// The files of ralph inside the project.
pub const PROJECT_DIR: &str = ".ralph";

/// Everything of a run that is not a rule of the loop. Written into the journal with the plan, so that a
/// resumed run does what the first process would have done, whatever the settings say by then.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// The project's folder, absolute.
    pub project: PathBuf,
    /// Who does the work, or does it first.
    pub agent: AgentSetup,
    /// Everybody who may work, by name; nothing where there is only one, without a name.
    #[serde(default, skip_serializing_if = "is_default")]
    pub agents: BTreeMap<String, AgentSetup>,
    /// What is to be done.
    pub prompt: PromptSource,
    /// The issue that asks for it, in the words of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueSetup>,
    /// What a turn's task is called.
    #[serde(default, skip_serializing_if = "is_default")]
    pub task: TaskFrom,
    /// Who words the commit messages.
    #[serde(default, skip_serializing_if = "is_default")]
    pub message: MessageFrom,
    /// The implementation plan that the run works on, if it does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub plan_file: Option<PlanFile>,
    /// What a turn may commit beside the plan and the specifications, as patterns; nothing where it may commit anything.
    #[serde(default, skip_serializing_if = "is_default")]
    pub may_touch: Option<Vec<String>>,
    /// Values for the variables of a prompt template, by name; those that change with each turn are not here.
    #[serde(default, skip_serializing_if = "is_default")]
    pub variables: BTreeMap<String, String>,
    /// The task of the project that the run works on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub assignment: Option<Assignment>,
    /// What no other run may work in at the same time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub territory: LockScope,
    /// Whether a session log is written into the project.
    #[serde(default, skip_serializing_if = "is_default")]
    pub session_log: bool,
    /// What the stories loop works on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stories: Option<StoriesSetup>,
    /// The conversation, for a loop that lives in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<InSession>,
    /// Whether ralph's hooks judge the agent's tool calls before they run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guard: Guard,
    /// Whether `Iteration 3 of 10, 7 remaining.` stands before the prompt.
    #[serde(alias = "count_in_prompt")]
    pub include_iteration_count_in_prompt: bool,
    /// How much of a gate's output the agent is told, in characters.
    #[serde(alias = "truncate_chars")]
    pub output_truncate_chars: usize,
    /// How many of its last lines the agent is told, where that is not all of it.
    #[serde(default)]
    pub prompt_tail: usize,
    /// Variables that every guardrail has in its environment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub guardrail_env: BTreeMap<String, String>,
    /// What hidden guardrails run; never recorded.
    #[serde(skip)]
    pub hidden: HiddenCommands,
    /// Where claims are decided, where that is not the working tree alone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub judge: JudgeSetup,
    /// How commits are made, when the plan wants them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scm: Option<Scm>,
    /// Who is told when the run ends, waits, or needs a person; without the address of a service.
    #[serde(default, skip_serializing_if = "is_default")]
    pub notify: Option<String>,
    /// Where the user looks at runs, for those who are told.
    #[serde(default, skip_serializing_if = "is_default")]
    pub notify_link: Option<String>,
    /// Whether the machine stays awake while turns run.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub keep_awake: bool,
    /// What tokens cost, by the beginning of a model's name, for agents that do not say it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub prices: BTreeMap<String, Price>,
    /// When a process has had enough time.
    pub timeouts: Timeouts,
    /// What contains the run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sandbox: Wanted,
    /// Whether runs that the agent started for a part of the task stay at work when it stops.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep_children: bool,
    /// What happens to processes that a turn leaves behind.
    #[serde(alias = "keep_leftovers", deserialize_with = "Leftovers::read")]
    pub leftovers: Leftovers,
    /// What was not committed before the run, by path with a fingerprint: not the agent's work.
    pub dirty: BTreeMap<String, String>,
    /// The settings files that were read, with a fingerprint: a change is shown, not followed.
    pub settings: BTreeMap<PathBuf, String>,
    /// What was typed to start the run, beside what the settings files say.
    #[serde(default, skip_serializing_if = "is_default")]
    pub invocation: Invocation,
}

impl Setup {
    /// The least that a run has: an agent with a prompt in a project.
    pub fn new(project: &Path, agent: &str, prompt: PromptSource) -> Self {
        Self {
            project: project.to_owned(),
            agent: AgentSetup {
                command: agent.to_owned(),
                flags: Vec::new(),
                env: BTreeMap::new(),
                prompt_via: PromptVia::Stdin,
                permissions: Permissions::Agent,
            },
            agents: BTreeMap::new(),
            prompt,
            issue: None,
            task: TaskFrom::Prompt,
            message: MessageFrom::Agent,
            plan_file: None,
            may_touch: None,
            keep_children: false,
            variables: BTreeMap::new(),
            assignment: None,
            territory: LockScope::default(),
            session_log: false,
            stories: None,
            session: None,
            guard: Guard::Off,
            include_iteration_count_in_prompt: false,
            output_truncate_chars: 0,
            prompt_tail: 0,
            guardrail_env: BTreeMap::new(),
            hidden: HiddenCommands::default(),
            judge: JudgeSetup::default(),
            scm: None,
            notify: None,
            notify_link: None,
            keep_awake: true,
            prices: BTreeMap::new(),
            timeouts: Timeouts::default(),
            sandbox: Wanted::default(),
            leftovers: Leftovers::Kill,
            dirty: BTreeMap::new(),
            settings: BTreeMap::new(),
            invocation: Invocation::default(),
        }
    }

    /// The agent of this name; the first where none has one.
    pub fn agent_named(&self, name: Option<&str>) -> &AgentSetup {
        name.and_then(|name| self.agents.get(name)).unwrap_or(&self.agent)
    }

    /// Variables with keys of forges, where the run deals with one: no process of the agent's gets them.
    pub fn withheld(&self) -> &'static [&'static str] {
        let is_proposed = self.scm.as_ref().is_some_and(Scm::is_proposed);
        if is_proposed || self.issue.is_some() { &TOKENS } else { &[] }
    }

    /// The task that the run keeps going, if it does.
    pub fn root_task(&self) -> Option<&str> {
        let assignment = self.assignment.as_ref().filter(|it| it.role == Role::Root)?;
        Some(&assignment.task)
    }
}

fn yes() -> bool {
    true
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What was typed to start a run, so that its task can be started in the same way again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Invocation {
    /// The settings file that was named instead of the project's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The flags, in the shape of a settings file.
    #[serde(default)]
    pub flags: Map<String, Value>,
}

impl Invocation {
    /// The same, with what was typed later above it.
    #[must_use]
    pub fn with(self, later: Self) -> Self {
        let mut flags = self.flags;
        overlay(&mut flags, later.flags);
        Self { config: later.config.or(self.config), flags }
    }
}

fn overlay(under: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Value::Object(under)), Value::Object(over)) => overlay(under, over),
            (_, value) => drop(under.insert(key, value)),
        }
    }
}

/// Whether ralph's hooks judge the agent's tool calls before they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// In every agent whose hooks can carry it.
    On,
    /// In none.
    #[default]
    Off,
}

impl Guard {
    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("on", Self::On), ("off", Self::Off)];
}

/// Where the prompt comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptSource {
    /// Given on the command line.
    Text(String),
    /// Read again before each turn.
    File(PathBuf),
    /// Read again before each turn, and its variables filled in.
    Template(PathBuf),
}

impl PromptSource {
    /// The file it is read from, if it is.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Text(_) => None,
            Self::File(path) | Self::Template(path) => Some(path),
        }
    }
}

/// What a turn's task is called in headers and commit messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskFrom {
    /// The first line of the prompt.
    #[default]
    Prompt,
    /// Always the same.
    Fixed(String),
    /// The first unfinished task of the plan.
    PlanFile,
}

/// Where the work is planned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanFile {
    /// Relative to the project.
    pub path: String,
    /// The folder of the specifications, relative to the project.
    pub specs: String,
}

/// The task of the project that a run works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assignment {
    /// Its name.
    pub task: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What the run is in it.
    pub role: Role,
    /// The run whose agent started this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<String>,
    /// The run that worked on the task before this one did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub previous: Option<String>,
}

/// What a run is in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It keeps the task going to its end.
    Root,
    /// It does a part for another agent.
    Child,
}

/// What no other run may work in at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LockScope {
    /// The working tree: the run commits.
    #[default]
    Tree,
    /// This folder.
    Folder(PathBuf),
    /// It shares everything with others.
    Shared,
}

/// Who words the commit messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageFrom {
    /// The agent, when it is asked.
    #[default]
    Agent,
    /// Ralph, from the mode, the iteration and the task.
    Task,
}

/// What a stories loop works on, as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoriesSetup {
    /// The folder of the task list, relative to the project.
    #[serde(alias = "dir")]
    pub ralph_dir: PathBuf,
    /// The branch that the work belongs on.
    pub branch: String,
    /// After how many reviews ralph approves.
    pub review_cap: u32,
    /// Whether stories are not reviewed.
    pub skip_review: bool,
    /// What the agent is kept in: `sandbox`, or `direct` when it is not.
    pub containment: String,
    /// The commands of the task list.
    pub verify_commands: Vec<String>,
    /// What the list will probably take.
    pub budget: Budget,
    /// Files that no turn may change, relative to the project, with a fingerprint; copies are in the run's folder.
    pub pinned: BTreeMap<PathBuf, String>,
}

impl StoriesSetup {
    /// Whether stories are reviewed.
    pub fn review(&self) -> Review {
        if self.skip_review { Review::Skipped } else { Review::Required }
    }
}

/// What makes a run one of these: the conversation that it lives in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InSession {
    /// The agent's own name of the conversation, where its stop hook drives the loop; nothing where ralph itself
    /// continues the conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// Whether every reminder begins with a call for full effort.
    pub ultrawork: bool,
}

#[cfg(test)]
mod tests;
