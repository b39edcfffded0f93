//! Prints what the guard thinks of a command line, as if it were typed in a project below the home of a user:
//!
//! `cargo run -p ralph-guard --example judge -- 'git push --force'`

use std::{env, fmt::Write, process::ExitCode};

use ralph_guard::{Context, Decision, ToolCall, judge};

/// The decision, the reasons for it, and the commands that would run.
pub(crate) fn describe(command_line: &str) -> (Decision, String) {
    let ctx = Context::new("/home/dev/project", "/home/dev");
    let verdict = judge(&ToolCall::Shell { command_line: command_line.to_owned() }, &ctx);
    let mut text = match verdict.decision {
        Decision::Allow => "allowed\n".to_owned(),
        Decision::Warn => "allowed, with a warning\n".to_owned(),
        Decision::Block => "blocked\n".to_owned(),
    };
    for finding in &verdict.findings {
        let _ = writeln!(text, "  {}: {}. {}", finding.rule, finding.found, finding.instead);
    }
    text.push_str("would run:\n");
    for command in &verdict.commands {
        let _ = writeln!(text, "  {command}");
    }
    (verdict.decision, text)
}

#[expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "an example is a program, not a part of the crate"
)]
fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let (decision, text) = describe(&words.join(" "));
    print!("{text}");
    ExitCode::from(u8::from(decision == Decision::Block))
}
