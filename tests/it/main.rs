//! The whole program, from the outside: the real binary, real processes, real repositories, a scripted agent.

#![expect(clippy::needless_pass_by_value, reason = "a `json!` is made for the call it is passed to")]

mod bus;
mod cli;
mod demo;
mod doctor;
mod edits;
mod env;
mod faults;
mod findings;
mod finish;
mod guard;
mod guarded;
mod guardrail_output;
mod guardrails;
mod hook;
mod init;
mod job;
mod judge;
mod loop_and_claims;
mod memory;
mod modes;
mod mute;
mod nights;
mod notify;
mod obstacles;
mod old_journals;
mod pages;
mod plugin;
mod processes;
mod promise;
mod pty;
mod quota;
mod references;
mod report;
mod resume;
mod sandbox;
mod scm;
mod session;
mod settings;
mod signals;
mod stories;
mod task;
mod task_disk;
mod terminal;
mod tidy;
