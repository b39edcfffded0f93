//! What ralph decides: values in, values out.
//!
//! Two pure functions are the whole loop: [`engine::decide`] names the next action, [`engine::State::apply`] takes in
//! what happened. No clock, file, variable or process: the compiler refuses them here (`clippy.toml`).

#![forbid(unsafe_code)]

pub mod agents_md;
pub mod claim;
pub mod containment;
pub mod dependencies;
pub mod detect;
pub mod doctor;
pub mod duration;
pub mod engine;
pub mod escapes;
pub mod fail_action;
#[cfg(test)]
#[expect(dead_code, reason = "it is compiled, not run")]
mod fence;
pub mod fleet;
pub mod forge;
pub mod gate_failure;
pub mod imports;
pub mod issue;
pub mod job_request;
pub mod key_mask;
pub mod located;
pub mod markdown;
pub mod message;
pub mod nearest;
pub mod notify;
pub mod path_pattern;
pub mod plan_file;
pub mod prompt;
pub mod pull_request;
pub mod receipt;
pub mod restart_messages;
pub mod review;
pub mod serve_access;
pub mod session;
pub mod setup;
pub mod stories;
pub mod template;
pub mod until;
pub mod verify;
pub mod view;
