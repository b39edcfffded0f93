//! What is dangerous, as data: each rule with what it protects, what to do instead, and examples.
//!
//! A test judges the examples of every rule: those in `matches` must be found by it, those in `passes` by no rule that
//! blocks.
//!
//! ```
//! let rule = ralph_guard::rules::all().find(|rule| rule.id == "git-push-force").expect("a rule");
//! assert!(rule.matches.contains(&"git push -f"));
//! ```

mod any_program;
mod archives;
mod cloud;
mod containers;
mod credentials;
mod databases;
mod disks;
mod environment;
mod exfiltration;
mod files;
mod git;
mod git_code;
mod git_settings;
mod harness;
mod obfuscation;
pub(crate) mod own;
mod persistence;
mod privileges;
mod processes;
mod resources;
mod secrets;
mod servers;
mod sessions;
mod supply_chain;
mod system;
#[cfg(test)]
mod tests;
mod tunnels;

use serde::Serialize;

pub use super::tier::Tier;
use super::{
    command::Command,
    context::Context,
    file_access::FileAccess,
    flatten::Obstacle,
    paths::{self, Place},
    pattern::{self, CommandSums, Patterns},
};

/// What a rule protects, or protects from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Files outside the project and its temporary folders, and the project as a whole.
    FileSystem,
    /// Disks, partitions, devices.
    Disks,
    /// Processes, memory and space without end.
    Resources,
    /// Data that leaves the machine.
    Exfiltration,
    /// Shells for others, and ways in.
    Tunnels,
    /// Keys, tokens, passwords.
    Secrets,
    /// More rights than the agent was given.
    Privileges,
    /// Containers with power over the machine, and their data.
    Containers,
    /// Code from the network, and code that is published.
    SupplyChain,
    /// Commits and work that git cannot bring back.
    Git,
    /// The configuration of the system, and its logs.
    System,
    /// Commands that hide what they do.
    Obfuscation,
    /// Variables that change what programs do.
    Environment,
    /// Processes of others, and the machine itself.
    Processes,
    /// What would run again later.
    Persistence,
    /// Data in databases.
    Databases,
    /// What runs in the cloud.
    Cloud,
    /// The files of the program around the agent (`ralph`), and the settings and hooks of agents.
    Harness,
    /// What the user's own rules are about.
    Own,
}

/// A rule. [`all`] lists them.
///
/// It finds what its patterns, its variables, its words of code or its check find.
#[derive(Debug, Serialize)]
pub struct Rule {
    /// Its name: stable, and what [`UserRules`](crate::UserRules) name.
    pub id: &'static str,
    /// What it protects.
    pub category: Category,
    /// What follows when it matches.
    pub tier: Tier,
    /// What it finds: the end of a sentence that begins with "the command".
    pub finds: &'static str,
    /// What the agent should do instead, in whole sentences.
    pub instead: &'static str,
    /// Commands that it finds.
    pub patterns: Patterns,
    /// Commands among those that pass.
    pub unless: Patterns,
    /// Variables that it finds where they are set.
    pub variables: &'static [&'static str],
    /// One-liners that it finds: those with a word of each group.
    pub code: &'static [&'static [&'static str]],
    /// Whether a dry run of what its patterns mean passes.
    #[serde(skip)]
    pub(super) spares_dry_runs: bool,
    /// Whether what happens in a container or on another machine passes.
    #[serde(skip)]
    pub(super) spares_remote: bool,
    /// What passes although its patterns mean it.
    #[serde(skip)]
    pub(super) spares: fn(&RuleInput<'_>) -> bool,
    /// What patterns cannot say: it needs paths, SQL or several things at once.
    #[serde(skip)]
    pub(super) check: Check,
    /// Command lines that it finds.
    pub matches: &'static [&'static str],
    /// Command lines that look alike and pass.
    pub passes: &'static [&'static str],
}

/// What rules have in common.
const RULE: Rule = Rule {
    id: "",
    category: Category::FileSystem,
    tier: Tier::Block,
    finds: "",
    instead: "",
    patterns: Patterns::NONE,
    unless: Patterns::NONE,
    variables: &[],
    code: &[],
    spares_dry_runs: true,
    spares_remote: false,
    spares: |_| false,
    check: Check::Patterns,
    matches: &[],
    passes: &[],
};

/// What a rule looks at beside its patterns. It returns what it found, for people.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// Nothing.
    Patterns,
    /// A command and the files it accesses.
    Command(fn(&RuleInput<'_>) -> Option<String>),
    /// What stands in the way of judging at all.
    Obstacle(fn(&Obstacle) -> Option<String>),
}

impl Rule {
    /// What it finds in a command, for people.
    pub(super) fn find(&self, input: &RuleInput<'_>) -> Option<String> {
        if self.means(input) || self.has_variable(input.command) || self.has_code(input.command) {
            return Some(input.display_command());
        }
        match self.check {
            Check::Command(check) => check(input),
            Check::Patterns | Check::Obstacle(_) => None,
        }
    }

    fn means(&self, input: &RuleInput<'_>) -> bool {
        // What its name alone lets pass is held against no list of words that every program may use.
        if self.patterns.are_for_any_program() && self.unless.mean(input.command, input.sums) {
            return false;
        }
        self.patterns.mean(input.command, input.sums) && !self.lets_pass(input)
    }

    fn lets_pass(&self, input: &RuleInput<'_>) -> bool {
        let command = input.command;
        command.asks_for_help()
            || (self.spares_dry_runs && command.is_dry_run())
            || (self.spares_remote && command.is_remote)
            || self.unless.mean(command, input.sums)
            || (self.spares)(input)
    }

    fn has_variable(&self, command: &Command) -> bool {
        !self.variables.is_empty()
            && command.sets_variable(&|name, value| {
                self.variables.iter().any(|pattern| pattern::means_variable(pattern, name, value))
            })
    }

    fn has_code(&self, command: &Command) -> bool {
        let Some(code) = &command.code else { return false };
        !self.code.is_empty() && self.code.iter().all(|words| words.iter().any(|word| code.contains(word)))
    }
}

/// A command that would run, the files it accesses, and where it runs. File tools come with an empty command.
pub(crate) struct RuleInput<'a> {
    pub(crate) command: &'a Command,
    pub(crate) files: &'a [FileAccess],
    pub(crate) ctx: &'a Context,
    sums: CommandSums,
}

impl<'a> RuleInput<'a> {
    pub(crate) fn new(command: &'a Command, files: &'a [FileAccess], ctx: &'a Context) -> Self {
        Self { command, files, ctx, sums: CommandSums::of(command) }
    }

    /// What kind of place a file is in.
    pub(super) fn place_of(&self, path: &str) -> Place {
        paths::place_of(path, self.ctx)
    }

    /// Whether one of these patterns means the command.
    fn runs(&self, patterns: &[&str]) -> bool {
        pattern::any_means(patterns, self.command)
    }

    /// The command as what was found, cut if it is long.
    pub(crate) fn display_command(&self) -> String {
        let shown = self.command.as_typed();
        let short: String = shown.chars().take(160).collect();
        if short.len() < shown.len() { format!("`{short}…`") } else { format!("`{shown}`") }
    }

    /// The command is found if this holds.
    fn found_if(&self, is_found: bool) -> Option<String> {
        is_found.then(|| self.display_command())
    }

    /// A file of this machine is found if this holds for it.
    pub(crate) fn found_file_if(&self, is_found: impl Fn(&FileAccess) -> bool) -> Option<String> {
        if self.command.is_remote {
            return None;
        }
        self.found_any_file_if(is_found)
    }

    /// A file here, in a container or on another machine is found if this holds for it.
    fn found_any_file_if(&self, is_found: impl Fn(&FileAccess) -> bool) -> Option<String> {
        let found = self.files.iter().find(|file| is_found(file))?;
        let path = super::text::for_display(&found.path);
        Some(if self.command.program.is_empty() {
            format!("`{path}`")
        } else {
            format!("`{path}` in {}", self.display_command())
        })
    }
}

/// All rules, by category.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [
        files::RULES,
        archives::RULES,
        disks::RULES,
        resources::RULES,
        exfiltration::RULES,
        servers::RULES,
        tunnels::RULES,
        secrets::RULES,
        credentials::RULES,
        privileges::RULES,
        containers::RULES,
        supply_chain::RULES,
        git::RULES,
        git_code::RULES,
        git_settings::RULES,
        system::RULES,
        obfuscation::RULES,
        sessions::RULES,
        environment::RULES,
        processes::RULES,
        persistence::RULES,
        databases::RULES,
        cloud::RULES,
        harness::RULES,
        any_program::RULES,
    ]
    .into_iter()
    .flatten()
}
