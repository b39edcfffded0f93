//! Judges what an agent asks to do before it is done: a second layer behind the sandbox.
//!
//! A command line is read (`shell`), flattened to the commands that would really run (`flatten`), and each of them and
//! the files it touches (`uses`) is held against the `rules`. What cannot be read or known is blocked, never let
//! through. Values in, values out: nothing is looked up on the disk.

pub mod allow;
pub mod call;
pub mod corpus;
mod flatten;
mod invocation;
mod paths;
mod programs;
pub mod rules;
mod script;
mod secrets;
mod shell;
#[cfg(test)]
mod tests;
mod text;
mod uses;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use call::ToolCall;
use flatten::{Flat, Obstacle};
use invocation::Invocation;
use rules::{Category, Check, Rule, Scene, Tier};
use uses::{FileUse, Use};

/// A longer command line is not read.
pub const LONGEST: usize = 64 * 1024;

/// Of a command line that would run too much, this many words are judged.
const ENOUGH: usize = 256;

/// Where an agent works and what the user lets pass.
#[derive(Clone, Debug)]
pub struct Context {
    /// The project, as a whole path.
    pub project: String,
    /// Where the command would run, as a whole path.
    pub cwd: String,
    /// The user's home.
    pub home: String,
    /// Folders for temporary files.
    pub temporary: Vec<String>,
    /// Ralph's own folders outside of the project, as whole paths.
    pub own: Vec<String>,
    /// What the agent is told to write although it lies where it may not, as whole paths.
    pub open: Vec<String>,
    /// Rules that the user has switched off, by id.
    pub allowed: Vec<String>,
}

impl Context {
    /// A context in which the project is also the working directory.
    pub fn new(project: &str, home: &str) -> Self {
        let temporary = ["/tmp", "/var/tmp", "/private/tmp", "/dev/shm"].map(str::to_owned).to_vec();
        Self {
            project: project.to_owned(),
            cwd: project.to_owned(),
            home: home.to_owned(),
            temporary,
            own: Vec::new(),
            open: Vec::new(),
            allowed: Vec::new(),
        }
    }
}

/// What becomes of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may run.
    Allow,
    /// It may run, and the user is told.
    Warn,
    /// It must not run.
    Block,
}

/// A rule that matched.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// What it protects.
    pub category: Category,
    /// Whether it blocks or warns.
    pub tier: Tier,
    /// What was found.
    pub found: String,
    /// What to do instead.
    pub instead: &'static str,
    /// The user has switched this rule off.
    pub is_allowed: bool,
}

/// A judgement with its reasons.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What becomes of the call.
    pub decision: Decision,
    /// Every rule that matched, those that decided first.
    pub findings: Vec<Finding>,
    /// The commands that would run, as they would be typed.
    pub commands: Vec<String>,
}

impl Verdict {
    /// The finding that decided, if one did.
    pub fn reason(&self) -> Option<&Finding> {
        self.findings.first().filter(|finding| !finding.is_allowed)
    }

    /// The decision in words for the agent: what was found, and what to do instead.
    pub fn message(&self) -> Option<String> {
        let finding = self.reason()?;
        let verb = match finding.tier {
            Tier::Block => "blocked",
            Tier::Warn => "warning",
        };
        Some(format!("{verb} by ralph's guard ({}): {}. {}", finding.rule, finding.found, finding.instead))
    }
}

/// Judges the tool call of a hook: `tool_name` and `tool_input` as the agent sent them.
pub fn judge_tool(name: &str, input: &Value, ctx: &Context) -> Verdict {
    judge(&call::tool_call(name, input), ctx)
}

/// Judges a tool call.
pub fn judge(call: &ToolCall, ctx: &Context) -> Verdict {
    let mut court = Court { ctx, findings: Vec::new(), commands: Vec::new() };
    match call {
        ToolCall::Shell { command } if LONGEST < command.len() => court.obstacle(&Obstacle::TooMuch),
        ToolCall::Shell { command } => court.flat(&flatten::flatten(command, ctx)),
        ToolCall::Arguments { words } if LONGEST < words.iter().map(String::len).sum() => {
            court.obstacle(&Obstacle::TooMuch);
        }
        ToolCall::Arguments { words } => court.flat(&flatten::flatten_arguments(words, ctx)),
        ToolCall::Write { paths } => court.files(paths, Use::Write),
        ToolCall::Read { paths } => court.files(paths, Use::Read),
        ToolCall::Other => {}
    }
    court.verdict()
}

/// Gathers what speaks against a call.
struct Court<'a> {
    ctx: &'a Context,
    findings: Vec<Finding>,
    commands: Vec<String>,
}

impl Court<'_> {
    fn flat(&mut self, flat: &Flat) {
        for obstacle in &flat.obstacles {
            self.obstacle(obstacle);
        }
        // Too much is refused whatever it is; the first commands are enough to say what it was about.
        let is_too_much = flat.obstacles.contains(&Obstacle::TooMuch);
        let mut left = if is_too_much { ENOUGH } else { usize::MAX };
        for one in &flat.invocations {
            left = left.saturating_sub(1 + one.args.len());
            if left == 0 {
                break;
            }
            if self.commands.len() < 64 {
                self.commands.push(one.shown());
            }
            let uses = uses::uses(one, self.ctx);
            self.scene(&Scene { one, uses: &uses, ctx: self.ctx });
        }
    }

    fn files(&mut self, paths: &[String], kind: Use) {
        let one = Invocation { cwd: self.ctx.cwd.clone(), ..Invocation::default() };
        let whole = |path: &String| FileUse { path: one.path(&text::without_marks(path), self.ctx), kind };
        let uses: Vec<FileUse> = paths.iter().map(whole).collect();
        self.scene(&Scene { one: &one, uses: &uses, ctx: self.ctx });
    }

    fn scene(&mut self, scene: &Scene<'_>) {
        for rule in rules::all() {
            if let Check::Scene(check) = rule.check
                && let Some(found) = check(scene)
            {
                self.add(rule, &found);
            }
        }
    }

    fn obstacle(&mut self, obstacle: &Obstacle) {
        for rule in rules::all() {
            if let Check::Obstacle(check) = rule.check
                && let Some(found) = check(obstacle)
            {
                self.add(rule, &found);
            }
        }
    }

    fn add(&mut self, rule: &'static Rule, found: &str) {
        let found = text::shown(found);
        if 32 < self.findings.len()
            || self.findings.iter().any(|one| one.rule == rule.id && one.found == found)
        {
            return;
        }
        self.findings.push(Finding {
            rule: rule.id,
            category: rule.category,
            tier: rule.tier,
            found,
            instead: rule.instead,
            is_allowed: self.ctx.allowed.iter().any(|id| id == rule.id),
        });
    }

    fn verdict(mut self) -> Verdict {
        self.findings.sort_by_key(|finding| (finding.is_allowed, finding.tier == Tier::Warn));
        let decision = match self.findings.first() {
            Some(Finding { is_allowed: false, tier: Tier::Block, .. }) => Decision::Block,
            Some(Finding { is_allowed: false, tier: Tier::Warn, .. }) => Decision::Warn,
            _ => Decision::Allow,
        };
        Verdict { decision, findings: self.findings, commands: self.commands }
    }
}
