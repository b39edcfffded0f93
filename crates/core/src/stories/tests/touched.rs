//! Reviews that change what they review.

use super::*;

#[test]
fn a_review_that_changes_files_approves_nothing() {
    let commands = ["make test".to_owned()];
    let files: Vec<String> = ["src/a.rs", "b\nc"].map(str::to_owned).into();
    let turn = StoryTurn { mode: Mode::Review, story: Some("A"), finished: true, touched: &files };
    let before = list(&[submitted("A")]);
    let judgement = judge(&before, Some(&list(&[approved("A")])), turn, rules(&commands));
    let told = "The review of story A changed files itself, so its approval does not count: src/a.rs, b\\nc.";
    assert!(judgement.broken[0].starts_with(told), "{judgement:#?}");
    let story = read(judgement.text.as_deref().expect("a repair")).list.user_stories.remove(0);
    assert_eq!(
        (story.review_status, story.passes, story.review_count),
        (Some(Status::NeedsReview), false, 1)
    );
    assert_eq!(story.review_feedback, format!("{UNCOUNTED} {told}"));
    assert_eq!(judgement.undone.len(), 2, "{judgement:#?}");
    // Who was killed after that judges again.
    let judgement = judge(&before, judgement.text.as_deref(), turn, rules(&commands));
    assert_eq!(judgement, ListJudgement::default());
    // Sending it back is what a review is for, whatever else it did.
    let judgement = judge(&before, Some(&list(&[sent_back("A")])), turn, rules(&commands));
    assert_eq!(judgement, ListJudgement::default());
    // At the cap the approval stays, with the reason to look.
    let capped = judge(&before, Some(&list(&[approved("A")])), turn, Rules { cap: 1, ..rules(&commands) });
    assert_eq!((capped.capped.as_slice(), capped.broken.as_slice()), (&["A".to_owned()][..], &[][..]));
    let story = read(capped.text.as_deref().expect("a repair")).list.user_stories.remove(0);
    assert!(story.is_done(Review::Required), "{story:?}");
    assert_eq!(story.review_feedback, format!("{AUTO_APPROVED} {told}"));
    // Other turns may change what they like.
    let turn = StoryTurn { mode: Mode::Implement, ..turn };
    let judgement =
        judge(&list(&[super::story("A")]), Some(&list(&[submitted("A")])), turn, rules(&commands));
    assert_eq!(judgement, ListJudgement::default());
}

#[test]
fn only_what_ralph_made_of_an_approval_is_left_as_it_is() {
    let commands = ["make test".to_owned()];
    let (touched, note) = (["src/a.rs".to_owned()], format!("{UNCOUNTED} because"));
    let uncounted = json!({"reviewStatus": "needs_review", "reviewCount": 1, "reviewFeedback": note});
    let broken = |mode, touched: &[String], before: Value, fields: Value| {
        let turn = StoryTurn { mode, story: Some("A"), finished: true, touched };
        let mut after = uncounted.clone();
        for (key, value) in fields.as_object().expect("an object") {
            after[key] = value.clone();
        }
        !judge(&list(&[before]), Some(&list(&[with("A", &after)])), turn, rules(&commands)).broken.is_empty()
    };
    assert!(!broken(Mode::Review, &touched, submitted("A"), json!({})));
    assert!(broken(Mode::Review, &[], submitted("A"), json!({})), "no file was changed");
    assert!(broken(Mode::Implement, &touched, submitted("A"), json!({})), "no review");
    assert!(broken(Mode::Review, &touched, story("A"), json!({})), "not submitted");
    for other in [
        json!({"reviewStatus": "approved"}),
        json!({"reviewCount": 0}),
        json!({"reviewCount": 2}),
        json!({"passes": true}),
        json!({"reviewFeedback": "because"}),
    ] {
        assert!(broken(Mode::Review, &touched, submitted("A"), other.clone()), "{other}");
    }
}

#[test]
fn the_first_ten_files_that_a_review_changed_are_named() {
    let commands = ["make test".to_owned()];
    for (count, end) in [(1, ": f1."), (10, ", f9, f10."), (11, ", f10, and 1 more."), (12, ", and 2 more.")]
    {
        let files: Vec<String> = (1..=count).map(|at| format!("f{at}")).collect();
        let turn = StoryTurn { mode: Mode::Review, story: Some("A"), finished: true, touched: &files };
        let judgement =
            judge(&list(&[submitted("A")]), Some(&list(&[approved("A")])), turn, rules(&commands));
        let told = format!("its approval does not count{}", if count == 1 { end } else { ": f1," });
        assert!(judgement.broken[0].contains(&told) && judgement.broken[0].contains(end), "{judgement:#?}");
    }
}
