//! Judges what a coding agent asks to do, before it is done.
//!
//! ```
//! use ralph_guard::{Context, Decision, ToolCall, judge};
//!
//! let ctx = Context::new("/home/dev/project", "/home/dev");
//! let call = ToolCall::Shell { command_line: "x=-rf; sudo sh -c \"rm $x /etc\"".to_owned() };
//! let verdict = judge(&call, &ctx);
//!
//! assert_eq!(verdict.decision, Decision::Block);
//! assert!(verdict.commands.contains(&"rm -rf /etc".to_owned()));
//! let rules: Vec<&str> = verdict.findings.iter().map(|finding| &*finding.rule).collect();
//! assert_eq!(rules, ["become-root", "delete-outside"]);
//! ```
//!
//! A tool call goes one way: the shell reader (`shell`) makes a tree of a command line, flattening (`flatten`) makes a list of
//! the commands that would really run, `file_access` says which files each of them reads, writes or deletes, and the
//! [`rules`] look at both. What cannot be read, followed or known is blocked where it matters, never let through.
//!
//! Values in, values out: nothing is run, and no file, variable or clock is read. The guard is a seat belt and not a wall:
//! it sees what is typed, not what a program does that was built to deceive it. Run agents in a sandbox as well.

#![forbid(unsafe_code)]

mod command;
mod context;
pub mod corpus;
mod file_access;
mod flatten;
mod judge;
mod own_rule;
mod paths;
mod pattern;
mod programs;
pub mod rules;
mod script;
mod secrets;
mod shell;
#[cfg(test)]
mod tests;
mod text;
mod tier;
mod tool_call;
mod user_rules;
mod verdict;

pub use context::Context;
pub use judge::judge;
pub use own_rule::OwnRule;
pub use pattern::Patterns;
pub use secrets::{SECRETS_IN_HOME, is_secret_file, is_secret_variable};
pub use shell::MAX_COMMAND_LINE_LEN;
pub use tool_call::ToolCall;
pub use user_rules::{UserRules, UserRulesError};
pub use verdict::{Decision, Finding, Verdict};

// What the README shows must compile and be true.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
