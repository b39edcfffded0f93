//! The steps as commands.

use serde_json::{Value, json};

use super::{
    super::{Review, Step, past_the_cap, read, reopen, take_back, take_step},
    approved, list, sent_back, story, submitted, with,
};
use crate::stories::Mode;

/// Takes a step on `A`: what becomes of it, or why not.
#[track_caller]
fn check(from: &Value, step: &Step, mode: Option<Mode>, expected: Result<(&str, u64, bool), &str>) {
    let text = list(std::slice::from_ref(from));
    match (take_step(&text, "A", step, None, mode, Review::Required), expected) {
        (Ok(after), Ok(expected)) => {
            let story = read(&after).list.user_stories.remove(0);
            let name = super::super::status_name(story.review_status);
            assert_eq!((name, story.review_count, story.passes), expected);
            assert_eq!(super::super::TaskFile::new(after.as_str()).problems(Review::Required), []);
        }
        (Err(refused), Err(expected)) => assert!(refused.why.contains(expected), "{refused:?}"),
        (found, _) => panic!("{found:?}"),
    }
}

#[test]
fn legal_steps_are_taken() {
    let changes = Step::RequestChanges("mend it".to_owned());
    check(&story("A"), &Step::Submit, None, Ok(("needs_review", 0, false)));
    check(&story("A"), &Step::Submit, Some(Mode::Implement), Ok(("needs_review", 0, false)));
    check(&sent_back("A"), &Step::Submit, Some(Mode::Fix), Ok(("needs_review", 1, false)));
    check(&submitted("A"), &Step::Approve, Some(Mode::Review), Ok(("approved", 1, true)));
    check(&submitted("A"), &changes, None, Ok(("changes_requested", 1, false)));
}

#[test]
fn illegal_steps_are_refused() {
    let changes = |feedback: &str| Step::RequestChanges(feedback.to_owned());
    check(&story("A"), &Step::Approve, None, Err("A was not submitted for review yet"));
    check(&sent_back("A"), &Step::Approve, None, Err("A was sent back by its review"));
    check(&approved("A"), &Step::Submit, None, Err("A is approved already"));
    check(&submitted("A"), &Step::Submit, None, Err("A waits for a review"));
    check(&submitted("A"), &changes(" \n"), None, Err("must say which"));
    check(&submitted("A"), &Step::Approve, Some(Mode::Implement), Err("this is an implement turn"));
    check(&submitted("A"), &Step::Approve, Some(Mode::Fix), Err("this is a review-fix turn"));
    check(&story("A"), &Step::Submit, Some(Mode::Review), Err("this is a review turn"));
    check(&with("A", &json!({"kind": "human"})), &Step::Submit, Some(Mode::Implement), Err("for a person"));
    check(&with("A", &json!({"kind": "human"})), &Step::Submit, None, Ok(("needs_review", 0, false)));
    check(&with("A", &json!({"dependsOn": ["Z"]})), &Step::Submit, None, Err("A waits for Z"));
    let waiting = with("A", &json!({"dependsOn": ["Z"]}));
    check(&waiting, &Step::Approve, None, Err("A was not submitted for review yet"));
    check(&story("B"), &Step::Submit, None, Err("there is no story `A`"));
    let silent = with("A", &json!({"reviewStatus": "needs_review", "notes": ""}));
    check(&silent, &Step::Approve, None, Err("A has no notes"));
}

#[test]
fn notes_are_added_and_skipped_reviews_pass() {
    let silent = with("A", &json!({"notes": ""}));
    let text = list(&[silent]);
    let after = take_step(&text, "A", &Step::Submit, Some("did it"), Some(Mode::Implement), Review::Skipped);
    let story = read(&after.expect("a step")).list.user_stories.remove(0);
    assert_eq!((story.passes, story.review_status, story.notes.as_str()), (true, None, "did it"));
}

#[test]
fn what_passed_without_a_review_is_submitted_for_one() {
    let passed = |id: &str| with(id, &json!({"passes": true}));
    let before = list(&[passed("A"), approved("B"), story("C"), passed("D")]);
    let (after, ids) = reopen(&before, &[]).expect("a list");
    assert_eq!(ids, ["A", "D"]);
    assert_eq!(after, list(&[submitted("A"), approved("B"), story("C"), submitted("D")]));
    assert_eq!(super::check(&after, Review::Required), []);
    let (after, _) = reopen(&before, &["D".to_owned()]).expect("a list");
    assert_eq!(after, list(&[passed("A"), approved("B"), story("C"), submitted("D")]));
    for (id, why) in [("B", "B did not pass without a review"), ("Z", "there is no story `Z`")] {
        assert_eq!(reopen(&before, &[id.to_owned()]).expect_err("refused").why, why);
    }
    let none = reopen(&list(&[story("C")]), &[]).expect_err("refused");
    assert_eq!(none.why, "no story passed without a review");
}

#[test]
fn a_lower_cap_is_explained() {
    let many = with("A", &json!({"reviewStatus": "needs_review", "reviewCount": 4}));
    let list = read(&list(&[many, approved("B"), story("C")])).list;
    assert_eq!(past_the_cap(&list, 5), []);
    let told = past_the_cap(&list, 2);
    assert_eq!(told.len(), 1);
    assert!(told[0].1.starts_with("Story A had 4 reviews and the review cap is 2: its next"), "{told:?}");
    assert!(past_the_cap(&list, 1)[0].1.contains('A') && past_the_cap(&list, 0).len() == 2);
}

#[test]
fn what_did_not_pass_is_not_submitted() {
    let file = |stories: &[Value]| super::super::TaskFile::new(list(stories));
    let taken = |before: &[Value], now: &[Value], review| {
        take_back(&file(before), &file(now), review).map(|taken| (taken.text, taken.undone.len()))
    };
    let (before, fixed) = (
        [story("A"), sent_back("B"), submitted("C")],
        with("B", &json!({"reviewStatus": "needs_review", "reviewCount": 1})),
    );
    let now = [submitted("A"), fixed, submitted("C"), story("N")];
    let expected = [story("A"), sent_back("B"), submitted("C"), story("N")];
    assert_eq!(taken(&before, &now, Review::Required), Some((list(&expected), 3)));
    assert_eq!(taken(&before, &before, Review::Required), None);
    // What was not handed in is someone else's matter.
    let other = [submitted("A"), sent_back("B")];
    let left = list(&[story("A"), sent_back("B")]);
    assert_eq!(taken(&[story("A"), story("B")], &other, Review::Required), Some((left, 1)));
    assert_eq!(taken(&[submitted("A")], &[approved("A")], Review::Required), None);
    let passed = with("A", &json!({"passes": true}));
    assert_eq!(taken(&[story("A")], &[passed], Review::Skipped), Some((list(&[story("A")]), 1)));
}
