//! `ralph review`: one turn that says what it thinks of a change.

use ralph_agents::{Failure, FailureKind};

use super::*;
use crate::review::{MAX_ASKED, ReviewRange, ReviewVerdict, verdict};

fn plan() -> Plan {
    let name = |name: &str| name.to_owned();
    presets::review(ReviewRange { name: name("HEAD~1"), from: name("a"), to: name("b") })
}

fn said(text: &str) -> (TurnEnd, Option<ReviewVerdict>) {
    (TurnEnd::Finished, verdict(text, ""))
}

/// How it ends after turns that ended so; what the agents were asked for.
fn review(answers: &[(TurnEnd, Option<ReviewVerdict>)]) -> (Vec<Mode>, Outcome) {
    let plan = plan();
    let mut state = State::default();
    let (mut modes, mut answers) = (Vec::new(), answers.iter());
    for _ in 0..100 {
        let event = match decide(&plan, &state) {
            Action::Finish(outcome) => return (modes, outcome),
            Action::Look => Event::Looked(View::default()),
            Action::RunTurn(order) => {
                modes.push(order.mode);
                state.apply(&plan, &Event::TurnStarted(order.into()));
                let (end, review) = answers.next().cloned().expect("no more turns than answers");
                Event::TurnEnded(Box::new(TurnEnded { review, ..TurnEnded::new(end) }))
            }
            Action::StartWait(_) => Event::WaitStarted { until_ms: 1, why: Why::Retry },
            Action::WaitUntil(_) => Event::WaitEnded { ms: 1 },
            other => panic!("{other:?}"),
        };
        state.apply(&plan, &event);
    }
    panic!("runaway loop: {modes:?}");
}

#[test]
fn it_commits_nothing_and_claims_nothing() {
    let plan = plan();
    assert_eq!((plan.preset.as_str(), plan.commit, plan.claims.len()), ("review", CommitRule::Never, 0));
    assert_eq!(plan.review.map(|range| range.from).as_deref(), Some("a"));
}

#[test]
fn the_verdict_is_how_it_ends() {
    assert_eq!(review(&[said(r#"{"verdict": "approve"}"#)]), (vec![Mode::Review], Outcome::Done));
    let (modes, outcome) = review(&[said(r#"{"verdict": "reject", "comments": ["add a test"]}"#)]);
    assert_eq!(modes.len(), 1);
    assert!(format!("{outcome:?}").starts_with("GaveUp { cause: Gate"), "{outcome:?}");
}

#[test]
fn a_reviewer_that_gives_no_verdict_is_asked_once_more() {
    let silent = said("");
    let (modes, outcome) = review(&vec![silent.clone(); MAX_ASKED as usize]);
    assert_eq!(modes.len(), MAX_ASKED as usize);
    assert!(format!("{outcome:?}").starts_with("GaveUp { cause: Agent"), "{outcome:?}");
    assert_eq!(review(&[silent, said(r#"{"verdict": "approve"}"#)]).1, Outcome::Done);
}

#[test]
fn an_agent_that_fails_is_tried_again() {
    let failure = Failure { kind: FailureKind::Transient, message: "no".to_owned() };
    let failed = (TurnEnd::Failed(failure), None);
    let (modes, outcome) = review(&[failed, said(r#"{"verdict": "approve"}"#)]);
    assert_eq!((modes.len(), outcome), (2, Outcome::Done));
}
