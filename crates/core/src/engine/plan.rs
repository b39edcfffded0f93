//! The rules of one run, as data. Every kind of loop is a value of [`Plan`]; nothing else tells them apart.

mod claims;
mod gate;

pub use claims::{NoWork, OnBlocked};
pub use gate::Gate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::roles::Roles;
use crate::{
    claim::Claim,
    review::ReviewRange,
    verify::rules::{Bite, CheckoutWhen, LookWhen, OnFinding, OnLook},
};

/// The resolved rules of one run. They are written into the journal when the run starts and never change
/// while it lasts, except that a resume may raise the limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// What the loop is called, for people and for the agent's environment. No rule looks at it.
    #[serde(alias = "mode")]
    pub preset: String,
    /// Where a turn gets its task from.
    pub work: Work,
    /// Files that must be there before a turn may start.
    pub needs: Vec<Need>,
    /// How the agent announces that the task is done. Any one is enough; the gates then verify it.
    pub claims: Vec<Claim>,
    /// When the agent may announce it, in words for the end of its prompt; nothing where ralph adds no such words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub done_when: Option<String>,
    /// Ralph's own checks, in this order.
    pub gates: Vec<Gate>,
    /// What happens to the work of a turn that passed its gates.
    pub commit: CommitRule,
    /// What follows when the agent says that it cannot continue.
    #[serde(skip_serializing_if = "OnBlocked::is_stop", default)]
    pub blocked: OnBlocked,
    /// What each kind of failure leads to.
    pub failures: FailureRules,
    /// When the run ends though nothing is done.
    pub limits: Limits,
    /// The agent's exit code that means "I wait for someone; do not start me again".
    pub pause_code: Option<i32>,
    /// A file that means the same while it is there. Relative to the project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pause_file: Option<String>,
    /// A kind of message on the task's bus that means the same if it was posted during the turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pause_message: Option<String>,
    /// Files of others that are waited for before the first turn. Relative to the project.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub awaits: Vec<String>,
    /// Whether the gates are checked before the first turn, to know what was broken already.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub baseline: bool,
    /// After how many iterations without progress the agent is told so; one more ends the run. Nothing means never.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stuck_after: Option<u32>,
    /// When the gates decide in the judge, too. Runs of version 0.1 had none.
    #[serde(skip_serializing_if = "CheckoutWhen::is_never", default = "CheckoutWhen::never")]
    pub checkout: CheckoutWhen,
    /// What follows when something was done to the judgement of a claim.
    #[serde(skip_serializing_if = "OnFinding::is_ask", default)]
    pub on_finding: OnFinding,
    /// Whether new tests are tried on the code that the run began with.
    #[serde(skip_serializing_if = "Bite::is_off", default)]
    pub bite: Bite,
    /// When a reviewer is asked whether a claimed change fixes the task or only its checks.
    #[serde(skip_serializing_if = "LookWhen::is_off", default = "LookWhen::off")]
    pub look: LookWhen,
    /// What follows when the reviewer does not say that the change fixes the task.
    #[serde(skip_serializing_if = "OnLook::is_report", default)]
    pub on_look: OnLook,
    /// The branch that the work is for, where ralph commits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// Who does what; nothing where one agent without a name does everything.
    #[serde(skip_serializing_if = "Roles::is_empty", default)]
    pub roles: Roles,
    /// The change that the one turn of the run judges and must not touch; nothing where turns work.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub review: Option<ReviewRange>,
}

impl Plan {
    /// Whether what a turn does to the task list is judged.
    pub fn judges_tasks(&self) -> bool {
        self.work == Work::Stories
    }

    /// The same rules, judged by these guardrails too. A command that is a check already is run once, as the guardrail says.
    #[must_use]
    pub fn guarded(mut self, guardrails: Vec<Gate>) -> Self {
        self.gates.retain(|gate| {
            let is_command = matches!(gate.check, Check::Command { .. });
            !is_command || guardrails.iter().all(|guardrail| guardrail.check != gate.check)
        });
        self.gates.extend(guardrails);
        self
    }

    /// Whether anything but the agent's own words and files says that the work is done.
    pub fn is_guarded(&self) -> bool {
        self.gates.iter().any(|gate| gate.check.is_command() || gate.check.is_review())
    }

    /// Whether a reviewer can keep a claim from being complete.
    pub(super) fn is_withheld_by_reviewers(&self) -> bool {
        let is_looked_at = !self.look.is_off() && !self.on_look.is_report();
        is_looked_at || self.gates.iter().any(|gate| gate.check.is_review())
    }

    /// How many checks people call guardrails: what the loop counts itself is none.
    pub fn guardrails(&self) -> usize {
        self.gates.iter().filter(|gate| gate.check != Check::PlanSettled).count()
    }

    /// Whether a gate asks if everything is committed.
    pub fn checks_tree(&self) -> bool {
        self.gates.iter().any(|gate| gate.check == Check::CleanTree)
    }

    /// Whether the rules look at the plan file.
    pub fn reads_plan_file(&self) -> bool {
        self.claims.iter().any(|claim| matches!(claim, Claim::PlanSettled | Claim::NothingLeft))
    }

    /// Whether the directory must be looked at before a turn.
    pub fn looks(&self) -> bool {
        !self.needs.is_empty()
            || self.work != Work::Prompt
            || self.pause_file.is_some()
            || !self.awaits.is_empty()
            || self.reads_plan_file()
            || self.claims.iter().any(|claim| matches!(claim, Claim::File { .. } | Claim::StoriesApproved))
    }
}

/// Where the next turn gets its task and mode from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// The same prompt each time.
    Prompt,
    /// The story list decides: fix before review before implement.
    Stories,
}

/// A file that must be there before a turn may start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Need {
    /// Relative to the project.
    pub path: String,
    /// What to say when it is missing.
    pub otherwise: String,
}

/// What a gate checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Check {
    /// A shell command that exits with 0.
    Command {
        /// Handed to the shell as it is.
        command: String,
    },
    /// A shell command that exits with 0 and that the agent must not know.
    Hidden {
        /// What stands for it, with a hash of it.
        name: String,
    },
    /// Runs that the agent started and left behind are waited for. What takes longer is named and left alone.
    ChildrenEnded {
        /// As long as that.
        #[serde(alias = "within_ms")]
        child_wait_timeout_ms: u64,
        /// Looked at again after this time.
        #[serde(alias = "poll_ms")]
        poll_interval_ms: u64,
    },
    /// The turn changed the task list, and the files beside it, only as it may.
    TaskRules,
    /// Everything that was done since the run began is committed.
    CleanTree,
    /// Every story is done.
    StoriesDone,
    /// No task of the plan file is open.
    PlanSettled,
    /// A fresh reviewer approves what is claimed.
    Review {
        /// What people call it.
        name: String,
        /// Who is asked, by name: an order in which they stand in for each other.
        by: Vec<String>,
        /// How often it may ask for changes. The last time is a finding.
        rounds: u32,
    },
    /// The agent has done something since the run began.
    Work {
        /// At least this many tool calls; where no one counts them, a changed tree.
        tool_calls: u32,
        /// What happens otherwise.
        otherwise: NoWork,
    },
}

impl Check {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Command { command } => command,
            Self::Hidden { name } | Self::Review { name, .. } => name,
            Self::ChildrenEnded { .. } => "child runs have ended",
            Self::TaskRules => "task rules",
            Self::CleanTree => "clean tree",
            Self::StoriesDone => "every story done",
            Self::PlanSettled => "every task of the plan done",
            Self::Work { .. } => "work done",
        }
    }

    /// Whether it is a command of the user's.
    pub fn is_command(&self) -> bool {
        matches!(self, Self::Command { .. } | Self::Hidden { .. })
    }

    /// Whether a reviewer is asked.
    pub fn is_review(&self) -> bool {
        matches!(self, Self::Review { .. })
    }

    /// Whether it judges the work, rather than wait for something.
    pub fn judges(&self) -> bool {
        match self {
            Self::Command { .. }
            | Self::Hidden { .. }
            | Self::Review { .. }
            | Self::Work { .. }
            | Self::TaskRules
            | Self::CleanTree
            | Self::StoriesDone
            | Self::PlanSettled => true,
            Self::ChildrenEnded { .. } => false,
        }
    }
}

/// When a gate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// After every turn.
    EveryTurn,
    /// Only to verify a claim, and only after all the others passed.
    Claimed,
    /// After turns that change code, and to verify a claim.
    ChangedOrClaimed,
    /// To verify a claim, and when a story was submitted: that is a claim about one of them.
    SubmittedOrClaimed,
}

/// What happens to the work of a turn that passed its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommitRule {
    /// Ralph does not commit.
    Never,
    /// What changed is committed.
    IfChanged,
    /// What changed is committed, and no change without a claim is a failure.
    Required,
}

/// What can go wrong in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The agent crashed, timed out, or said nothing at all.
    Agent,
    /// A gate did not pass.
    Gate,
    /// The agent finished and changed nothing.
    NoChange,
    /// The work could not be committed.
    Commit,
}

/// What a failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The turn is judged as if it had not happened.
    Ignore,
    /// The same iteration again, this many times more.
    Retry {
        /// Attempts after the first.
        retries: u32,
    },
    /// A new iteration that is told what failed.
    Continue,
}

/// What each kind of failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureRules {
    /// When the agent crashed, timed out, or said nothing at all.
    pub agent: OnFailure,
    /// When a gate did not pass.
    pub gate: OnFailure,
    /// When the agent finished and changed nothing.
    pub no_change: OnFailure,
    /// When the work could not be committed.
    pub commit: OnFailure,
    /// Rest before the first retry of a failed agent; doubles with each further one.
    pub retry_delay_ms: u64,
}

impl FailureRules {
    /// The same rules with another number of retries, where there are any.
    #[must_use]
    pub fn with_retries(self, retries: u32) -> Self {
        let with = |rule| match rule {
            OnFailure::Retry { retries: 1.. } => OnFailure::Retry { retries },
            OnFailure::Retry { .. } | OnFailure::Ignore | OnFailure::Continue => rule,
        };
        Self {
            agent: with(self.agent),
            gate: with(self.gate),
            no_change: with(self.no_change),
            commit: with(self.commit),
            ..self
        }
    }

    /// What `cause` leads to.
    pub fn of(&self, cause: Cause) -> OnFailure {
        match cause {
            Cause::Agent => self.agent,
            Cause::Gate => self.gate,
            Cause::NoChange => self.no_change,
            Cause::Commit => self.commit,
        }
    }
}

/// When a run ends though nothing is done. Fields are called as flags and settings are (`docs/design/names.md`); version
/// 0.1 had other names in its journals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Iterations in all.
    #[serde(alias = "iterations")]
    pub max_iterations: u32,
    /// The exit code when a limit is reached.
    #[serde(alias = "exit_code")]
    pub limit_exit_code: u8,
    /// The exit code when there are findings where it would else be 0.
    #[serde(default = "finding_exit_code")]
    pub finding_exit_code: u8,
    /// Rest between iterations.
    #[serde(alias = "rest_ms")]
    pub restart_delay_ms: u64,
    /// How long all waits for usage limits may take together.
    pub max_wait_ms: u64,
    /// Turns, gates and waits together.
    #[serde(alias = "total_ms", skip_serializing_if = "Option::is_none", default)]
    pub max_time_ms: Option<u64>,
    /// In US dollars.
    #[serde(alias = "cost_usd", skip_serializing_if = "Option::is_none", default)]
    pub max_cost: Option<f64>,
    /// Tokens in and out.
    #[serde(alias = "tokens", skip_serializing_if = "Option::is_none", default)]
    pub max_tokens: Option<u64>,
    /// In US dollars, for one iteration in all its attempts.
    #[serde(alias = "iteration_cost_usd", skip_serializing_if = "Option::is_none", default)]
    pub max_iteration_cost: Option<f64>,
    /// Tokens in and out, for one iteration in all its attempts.
    #[serde(alias = "iteration_tokens", skip_serializing_if = "Option::is_none", default)]
    pub max_iteration_tokens: Option<u64>,
    /// The moment at which it ends, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until_ms: Option<i64>,
    /// How much of every usage window stays unused, in percent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub leave_quota: Option<u32>,
}

/// What a run with findings exits with, unless the user says otherwise.
pub(super) fn finding_exit_code() -> u8 {
    7
}
