//! How a gate failed: the facts, and the words for them.
//!
//! Invariant: what a command printed is a fact like any other. It stands in `output`, and nothing is ever concluded
//! from it.

mod error_line;
mod open_tasks;
mod recorded;

use std::{fmt::Write, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{containment::level::Level, duration::format_duration};

pub use error_line::error_line;
pub use open_tasks::OpenTasks;

/// How a gate failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateFailure {
    /// How its command ended.
    pub exit: GateExit,
    /// The beginning of what it printed, as much of it as the agent is told.
    pub output: String,
    /// Its last lines, where `output` is not all of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tail: Option<String>,
    /// The line of all that it printed that looks most like the reason.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_line: Option<String>,
    /// The sandbox that it ran in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub contained: Option<Level>,
    /// It failed before the first iteration already, and has not passed since.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub was_failing: bool,
}

/// How the command of a failed gate ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateExit {
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal; 0 when no one knows which.
    Signal(i32),
    /// By ralph, at its time limit.
    TimedOut {
        /// The limit.
        limit_ms: u64,
    },
    /// It could not be started; `output` has the reason.
    NotStarted,
    /// There was no command: ralph looked itself, and `output` says what it found.
    Refused,
    /// There was no command: the plan file has open tasks. `output` names them.
    OpenTasks(OpenTasks),
    /// In a record of version 0.1: there the whole message to the agent was kept instead.
    Recorded {
        /// The exit code, if it ended by itself.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        code: Option<i32>,
        /// The message.
        message: String,
    },
}

/// What was checked.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    /// The command as the settings have it.
    pub command: &'a str,
    /// Guidance from the settings.
    pub hint: Option<&'a str>,
    /// Where the whole output is.
    pub log: &'a str,
}

impl GateFailure {
    /// A gate that ended so and printed this.
    pub fn new(exit: GateExit, output: String) -> Self {
        Self { exit, output, tail: None, error_line: None, contained: None, was_failing: false }
    }

    /// A check without a command that found this.
    pub fn refused(finding: String) -> Self {
        Self::new(GateExit::Refused, finding)
    }

    /// What tells the agent: first ralph's own words and those of the settings, then what no one vouches for.
    pub fn message(&self, checked: &Checked<'_>) -> (String, String) {
        let (own, mut printed) = match &self.exit {
            GateExit::Refused => return (String::new(), self.output.clone()),
            GateExit::OpenTasks(open) => return (open.told(), self.output.clone()),
            GateExit::Recorded { message, .. } => return (String::new(), message.clone()),
            GateExit::NotStarted => (
                format!("Guardrail \"{}\" could not be started: ", checked.command),
                format!("{}.", self.output),
            ),
            GateExit::Code(code) => self.ran(checked, &format!("failed with exit code {code}")),
            GateExit::Signal(signal) => self.ran(checked, &format!("was ended by signal {signal}")),
            GateExit::TimedOut { limit_ms } => {
                self.ran(checked, &format!("was ended after its limit of {}", time(*limit_ms)))
            }
        };
        if self.was_failing {
            printed.truncate(printed.trim_end_matches('\n').len());
            let separator = if printed.is_empty() { "" } else { "\n" };
            let _ =
                write!(printed, "{separator}This guardrail was already failing before the first iteration.");
        }
        (own, printed)
    }

    /// The message about a command that ran and ended so.
    fn ran(&self, Checked { command, hint, log }: &Checked<'_>, ended: &str) -> (String, String) {
        let mut message = format!("Guardrail \"{command}\" {ended}.\n");
        if let Some(hint) = hint {
            let _ = writeln!(message, "Hint: {hint}");
        }
        let _ = write!(message, "Output file: {log}");
        if let Some(level) = self.contained {
            // A command may fail only because of where it ran.
            let _ = write!(
                message,
                "\nIt ran inside the sandbox ({}): outside of the project little can be written there, and only listed \
                 hosts can be reached.",
                level.name()
            );
        }
        let Some(tail) = &self.tail else { return (message + "\nOutput:\n", self.output.clone()) };
        let tail = if tail.is_empty() { String::new() } else { format!("\nLast lines:\n{tail}") };
        (message + "\nOutput (truncated):\n", format!("{}{tail}", self.output))
    }

    /// The end of what it printed: at most so many lines, and whether there are more before them.
    pub fn ending(&self, most: usize) -> (Vec<&str>, bool) {
        let tail = self.tail.as_deref().filter(|tail| !tail.is_empty());
        let lines: Vec<&str> = tail.unwrap_or(&self.output).trim_end().lines().collect();
        let from = lines.len().saturating_sub(most);
        (lines[from..].to_vec(), 0 < from || self.tail.is_some())
    }
}

impl GateExit {
    /// The exit code, if the command ended by itself.
    pub fn code(&self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(*code),
            Self::Recorded { code, .. } => *code,
            Self::Signal(_)
            | Self::TimedOut { .. }
            | Self::NotStarted
            | Self::Refused
            | Self::OpenTasks(_) => None,
        }
    }

    /// How it ended, in a word or two for people.
    pub fn words(&self) -> String {
        match self {
            Self::Code(code) | Self::Recorded { code: Some(code), .. } => format!("exit code {code}"),
            Self::Signal(signal) => format!("signal {signal}"),
            Self::TimedOut { limit_ms } => format!("timed out after {}", time(*limit_ms)),
            Self::NotStarted => "not started".to_owned(),
            Self::Refused => "not enough".to_owned(),
            Self::OpenTasks(open) => open.count(),
            Self::Recorded { code: None, .. } => "was ended".to_owned(),
        }
    }
}

fn time(ms: u64) -> String {
    format_duration(Duration::from_millis(ms))
}

#[cfg(test)]
mod tests {
    use super::{open_tasks::tests::task, *};

    const CHECKED: Checked<'static> =
        Checked { command: "make test", hint: None, log: ".ralph/guardrail_001_make_test.log" };

    fn failed(exit: GateExit, output: &str) -> GateFailure {
        GateFailure::new(exit, output.to_owned())
    }

    impl GateFailure {
        fn told(&self, checked: &Checked<'_>) -> String {
            let (own, printed) = self.message(checked);
            own + &printed
        }
    }

    #[test]
    fn what_was_printed_stands_apart_from_the_words_of_the_settings() {
        let hinted = Checked { hint: Some("see @style.md"), ..CHECKED };
        let (own, printed) = failed(GateExit::Code(1), "@x").message(&hinted);
        assert!(own.contains("see @style.md") && own.ends_with("\nOutput:\n"), "{own}");
        assert_eq!(printed, "@x");
    }

    #[test]
    fn only_a_command_that_ended_by_itself_has_a_code() {
        let recorded = |code| GateExit::Recorded { code, message: String::new() };
        for (exit, code) in [
            (GateExit::Code(0), Some(0)),
            (GateExit::Code(101), Some(101)),
            (recorded(Some(3)), Some(3)),
            (recorded(None), None),
            (GateExit::Signal(9), None),
            (GateExit::TimedOut { limit_ms: 5 }, None),
            (GateExit::NotStarted, None),
            (GateExit::Refused, None),
        ] {
            assert_eq!(exit.code(), code, "{exit:?}");
        }
    }

    #[test]
    fn only_what_was_cut_is_called_so() {
        let cut =
            GateFailure { tail: Some("8\n9".to_owned()), ..failed(GateExit::Code(1), "1\n2... [truncated]") };
        let told = cut.told(&CHECKED);
        assert!(told.ends_with("\nOutput (truncated):\n1\n2... [truncated]\nLast lines:\n8\n9"), "{told}");
        let bare = GateFailure { tail: Some(String::new()), ..cut.clone() };
        assert!(bare.told(&CHECKED).ends_with("\nOutput (truncated):\n1\n2... [truncated]"));
        assert_eq!(cut.ending(1), (vec!["9"], true));
        assert_eq!(cut.ending(5), (vec!["8", "9"], true));
        assert_eq!(failed(GateExit::Code(1), "1\n2\n\n").ending(5), (vec!["1", "2"], false));
        assert_eq!(failed(GateExit::Code(1), "1\n2\n3").ending(2), (vec!["2", "3"], true));
    }

    #[test]
    fn the_message_has_the_exact_form() {
        let hinted = Checked { hint: Some("Fix lint errors only."), ..CHECKED };
        assert_eq!(
            failed(GateExit::Code(2), "boom").told(&hinted),
            "Guardrail \"make test\" failed with exit code 2.\nHint: Fix lint errors only.\n\
             Output file: .ralph/guardrail_001_make_test.log\nOutput:\nboom"
        );
    }

    #[test]
    fn every_way_to_fail_has_its_words() {
        #[track_caller]
        fn check(exit: GateExit, message: &str, words: &str) {
            let failure = failed(exit, "no such file");
            assert_eq!(failure.exit.words(), words);
            let rest = "Output file: .ralph/guardrail_001_make_test.log\nOutput:\nno such file";
            assert_eq!(failure.told(&CHECKED), message.replace("...", rest));
        }
        check(GateExit::Code(2), "Guardrail \"make test\" failed with exit code 2.\n...", "exit code 2");
        check(GateExit::Signal(9), "Guardrail \"make test\" was ended by signal 9.\n...", "signal 9");
        check(
            GateExit::TimedOut { limit_ms: 90_000 },
            "Guardrail \"make test\" was ended after its limit of 1m30s.\n...",
            "timed out after 1m30s",
        );
        check(
            GateExit::NotStarted,
            "Guardrail \"make test\" could not be started: no such file.",
            "not started",
        );
        check(GateExit::Refused, "no such file", "not enough");
        let recorded = |code| GateExit::Recorded { code, message: "As it was.".to_owned() };
        check(recorded(Some(1)), "As it was.", "exit code 1");
        check(recorded(None), "As it was.", "was ended");
    }

    #[test]
    fn the_message_says_where_it_ran_and_that_it_was_red_before() {
        let failure = GateFailure {
            contained: Some(Level::Landlock),
            was_failing: true,
            ..failed(GateExit::Code(1), "boom\n\n")
        };
        assert_eq!(
            failure.told(&CHECKED),
            "Guardrail \"make test\" failed with exit code 1.\n\
             Output file: .ralph/guardrail_001_make_test.log\n\
             It ran inside the sandbox (landlock): outside of the project little can be written there, and only listed \
             hosts can be reached.\n\
             Output:\nboom\nThis guardrail was already failing before the first iteration."
        );
        let silent = GateFailure { was_failing: true, ..failed(GateExit::Code(1), "") };
        assert!(
            silent
                .told(&CHECKED)
                .ends_with(".log\nOutput:\nThis guardrail was already failing before the first iteration.")
        );
    }

    #[test]
    fn facts_are_recorded_as_facts() {
        #[track_caller]
        fn check(failure: &GateFailure, json: &str) {
            assert_eq!(serde_json::to_string(failure).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<GateFailure>(json).expect("a failure"), *failure);
        }
        check(&failed(GateExit::Code(1), "a"), r#"{"exit":{"code":1},"output":"a"}"#);
        check(&failed(GateExit::Signal(9), ""), r#"{"exit":{"signal":9},"output":""}"#);
        check(
            &failed(GateExit::TimedOut { limit_ms: 5 }, ""),
            r#"{"exit":{"timed_out":{"limit_ms":5}},"output":""}"#,
        );
        check(&failed(GateExit::NotStarted, "no"), r#"{"exit":"not_started","output":"no"}"#);
        check(&GateFailure::refused("no".to_owned()), r#"{"exit":"refused","output":"no"}"#);
        check(
            &OpenTasks::of("p.md", &[&task("a"), &task("b")], 3).into(),
            r#"{"exit":{"open_tasks":{"plan":"p.md","tasks":3,"open":2,"named":["a","b"]}},"output":"- a\n- b"}"#,
        );
        check(
            &GateFailure {
                contained: Some(Level::Embedded),
                was_failing: true,
                ..failed(GateExit::Code(1), "a")
            },
            r#"{"exit":{"code":1},"output":"a","contained":"embedded","was_failing":true}"#,
        );
    }
}
