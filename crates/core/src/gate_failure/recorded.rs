//! Reads a failure as version 0.1 recorded it: as the message to the agent.
//!
//! This is the one place that takes such a message apart, and only to show a record of that version as it was shown
//! then. What the agent is told stays the message, byte for byte.

use super::{GateExit, GateFailure};
use crate::containment::level::{Choice, Level};

/// What stood between the facts and the output.
const HEADING: &str = "\nOutput (truncated):\n";
/// What stood among the facts of a command that was contained.
const INSIDE: &str = "\nIt ran inside the sandbox (";
/// What stood behind the output of a command that was failing before.
const WAS_FAILING: &str = "This check was already failing before the first iteration.";

impl GateFailure {
    /// The failure that this message was about, with the exit code that was recorded beside it.
    pub fn of_message(message: String, code: Option<i32>) -> Self {
        let (facts, rest) = message.split_once(HEADING).unwrap_or(("", &message));
        let (output, was_failing) = match rest.strip_suffix(WAS_FAILING) {
            Some(output) => (output, true),
            None => (rest, false),
        };
        let (output, contained) = (output.to_owned(), level_in(facts));
        Self { contained, was_failing, ..Self::new(GateExit::Recorded { code, message }, output) }
    }
}

fn level_in(facts: &str) -> Option<Level> {
    let (_, rest) = facts.split_once(INSIDE)?;
    let (name, _) = rest.split_once(')')?;
    match Choice::named(name)? {
        Choice::Level(level) => Some(level),
        Choice::Auto => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, output: &str, contained: Option<Level>, was_failing: bool) {
        let exit = GateExit::Recorded { code: Some(1), message: message.to_owned() };
        let expected = GateFailure { contained, was_failing, ..GateFailure::new(exit, output.to_owned()) };
        assert_eq!(GateFailure::of_message(message.to_owned(), Some(1)), expected);
    }

    #[test]
    fn old_messages_are_taken_apart_for_the_screen() {
        let facts = "Guardrail \"make\" failed with exit code 1.\nOutput file: a.log";
        let inside =
            "\nIt ran inside the sandbox (embedded): outside of the project little can be written there.";
        check(&format!("{facts}{HEADING}boom\n"), "boom\n", None, false);
        check(&format!("{facts}{HEADING}boom\n{WAS_FAILING}"), "boom\n", None, true);
        check(&format!("{facts}{inside}{HEADING}boom"), "boom", Some(Level::Embedded), false);
        // What the command printed says nothing about where it ran.
        check(&format!("{facts}{HEADING}x{inside}"), &format!("x{inside}"), None, false);
        check(&format!("{facts}{HEADING}x{HEADING}y"), &format!("x{HEADING}y"), None, false);
        check("The task list is not in order.", "The task list is not in order.", None, false);
    }
}
