//! Turns, and what they came to.

use std::time::Duration;

use super::super::{Excerpt, TurnResult};
use super::*;

fn text(text: &str) -> AgentEvent {
    AgentEvent::Text { text: text.to_owned(), joins: false }
}

fn tool() -> AgentEvent {
    AgentEvent::ToolStart {
        id: "1".to_owned(),
        name: "Bash".to_owned(),
        summary: String::new(),
        parent: None,
    }
}

fn good(text: &str) -> AgentEvent {
    AgentEvent::Result(TurnResult { text: Some(text.to_owned()), ..TurnResult::default() })
}

fn bad() -> AgentEvent {
    let failure = Failure { kind: FailureKind::Overloaded, message: "overloaded".to_owned() };
    AgentEvent::Result(TurnResult { failure: Some(failure), ..TurnResult::default() })
}

fn unknown() -> AgentEvent {
    AgentEvent::Unknown { what: "junk".to_owned() }
}

fn tally(events: &[AgentEvent]) -> Tally {
    let mut tally = Tally::default();
    for event in events {
        tally.take(event);
    }
    tally
}

fn stray() -> AgentEvent {
    AgentEvent::Stray { text: "visit us".to_owned() }
}

/// An empty expectation is success.
#[track_caller]
fn check(exit: Exit, events: &[AgentEvent], expected: &str) {
    let told =
        conclude(true, exit, &tally(events)).map_or_else(|failure| failure.message, |()| String::new());
    assert_eq!(told, expected);
}

#[test]
fn turns_are_judged() {
    const MINUTE: Duration = Duration::from_mins(1);
    check(Exit::Code(0), &[text("a")], "");
    check(Exit::Code(0), &[tool()], "");
    check(Exit::Code(0), &[good("a")], "");
    check(Exit::Code(0), &[unknown(), text("a")], "");
    check(Exit::Code(0), &[], "printed nothing that ralph understands");
    check(Exit::Code(0), &[unknown()], "printed nothing that ralph understands");
    check(Exit::Code(0), &[text(" \n")], "said nothing");
    check(Exit::Code(0), &[good("")], "said nothing");
    check(Exit::Code(3), &[text("a"), good("a")], "exited with code 3");
    check(Exit::Signal(9), &[text("a")], "was ended by signal 9");
    check(Exit::TimedOut(MINUTE), &[text("a"), good("a")], "took longer than 60s");
    check(Exit::Idle(MINUTE), &[text("a")], "printed nothing for 60s");
    check(Exit::NoStart(MINUTE), &[unknown()], "did not begin within 60s");
    check(Exit::NoStart(MINUTE), &[stray()], "did not begin within 60s, and printed text for a person");
    check(Exit::Lingered, &[text("a"), good("a")], "");
    check(Exit::Lingered, &[good("")], "said nothing");
    for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal(15), Exit::TimedOut(MINUTE), Exit::Lingered] {
        check(exit, &[text("a"), bad()], "overloaded");
    }
    check(Exit::Code(0), &[bad(), text("a"), good("a")], "");
}

#[test]
fn plain_text_needs_no_events() {
    let message =
        |events: &[AgentEvent]| conclude(false, Exit::Code(0), &tally(events)).err().map(|it| it.message);
    assert_eq!(message(&[text("a")]), None);
    assert_eq!(message(&[]).as_deref(), Some("said nothing"));
}

#[test]
fn events_are_counted() {
    let usage = Usage { cost_usd: Some(0.5), input: 3, cached: 2, output: 1, estimated: false };
    let denials = vec!["Bash".to_owned(), "Bash".to_owned()];
    let result = AgentEvent::Result(TurnResult { usage, denials, ..TurnResult::default() });
    let limit = Limit { refused: true, resets_at: Some(5), window: None, windows: Vec::new() };
    let counted = tally(&[
        AgentEvent::Started { session: Some("s".to_owned()), model: Some("m".to_owned()), version: None },
        tool(),
        AgentEvent::ToolEnd { id: "1".to_owned(), ok: false, output: Excerpt::default() },
        AgentEvent::Judged,
        AgentEvent::ToolEnd { id: "2".to_owned(), ok: true, output: Excerpt::default() },
        unknown(),
        stray(),
        AgentEvent::Limit(limit.clone()),
        result.clone(),
        result,
    ]);
    let expected = Tally {
        spoke: false,
        tools: 1,
        tool_errors: 1,
        hooked_tools: Vec::new(),
        judged: 1,
        usage: Usage { cost_usd: Some(1.0), input: 6, cached: 4, output: 2, estimated: false },
        model: Some("m".to_owned()),
        version: None,
        session: Some("s".to_owned()),
        results: 2,
        failure: None,
        limit: Some(limit),
        denials: vec!["Bash".to_owned()],
        recognised: 8,
        unknown: 2,
        stray: 1,
    };
    assert_eq!(counted, expected);
}
