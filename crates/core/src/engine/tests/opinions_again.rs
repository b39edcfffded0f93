//! Reviewers that are asked again: what is counted, and what another process does with a claim that waits for one.

use super::opinions::{Reviewed, approval, looking, plan, request, review};
use crate::{
    engine::{
        Action,
        outcome::{Exhausted, Outcome},
    },
    verify::rules::{LookWhen, OnLook},
};

#[test]
fn opinions_are_counted_through_the_run() {
    let mut run = Reviewed::new(plan(vec![review(&["b"], 9)]));
    for expected in 1..=3 {
        run.claims();
        let Action::AskOpinion(order) = run.next() else { panic!("{:?}", run.next()) };
        assert_eq!(order.number, expected);
        assert!(!run.run.state.is_in_opinion());
        run.hears_verdict(request());
    }
}

#[test]
fn another_process_asks_as_if_no_one_had_been_asked() {
    let mut run = Reviewed::new(plan(vec![review(&["b"], 3)]));
    run.claims();
    run.hears(|ended| ended);
    assert!(run.run.state.is_asked_again());
    run.resumes();
    assert!(!run.run.state.is_asked_again());
    // So it may be silent once more.
    run.hears(|ended| ended);
    assert!(run.run.state.is_asked_again());
    run.hears_verdict(approval());
    run.ends(&Outcome::Done, 0);
}

#[test]
fn a_reviewer_is_asked_before_the_end_that_a_person_named_and_not_after_it() {
    let until = |plan: crate::engine::plan::Plan| {
        let mut plan = plan;
        plan.limits.until_ms = Some(1_000_500);
        let mut run = Reviewed::new(plan);
        run.claims();
        assert!(matches!(run.next(), Action::AskOpinion(_)), "{:?}", run.next());
        run.ms = 1_000_501;
        run
    };
    let outcome = Outcome::Exhausted { limit: Exhausted::Until };
    until(plan(vec![review(&["b"], 3)])).ends(&outcome, 1);
    let late = until(looking(LookWhen::Always, OnLook::Report));
    assert!(matches!(late.next(), Action::ForgoLook(_)));
}
