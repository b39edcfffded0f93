//! What a turn may change, by its kind.

use super::*;

/// A turn that may not do what it did: it is told, and the list is what it was.
#[track_caller]
fn undone(mode: Mode, before: &[Value], after: &[Value], expected: &str) {
    let judgement = judged(mode, Some("A"), before, after);
    assert!(judgement.broken.iter().any(|it| it.contains(expected)), "{:#?}", judgement.broken);
    assert!(!judgement.undone.is_empty(), "{judgement:#?}");
    assert_eq!(judgement.text.as_deref(), Some(list(before).as_str()));
}

/// A turn that may do what it did: nothing is said, and nothing is written.
#[track_caller]
fn legal(mode: Mode, before: &[Value], after: &[Value]) {
    assert_eq!(judged(mode, Some("A"), before, after), ListJudgement::default());
}

#[test]
fn implement_turns_submit_one_story_and_add_new_ones() {
    use Mode::Implement;
    let before = [story("A"), story("B")];
    let to = |fields: Value| [with("A", &fields), story("B")];
    undone(
        Implement,
        &before,
        &to(json!({"passes": true})),
        "Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story A \
         had illegal transition: passes false → true.",
    );
    undone(Implement, &before, &to(json!({"reviewStatus": "approved"})), "reviewStatus null → approved.");
    undone(
        Implement,
        &before,
        &[approved("A"), story("B")],
        "passes false → true, reviewStatus null → approved",
    );
    undone(Implement, &before, &to(json!({"reviewCount": 1})), "reviewCount 0 → 1.");
    undone(Implement, &before, &to(json!({"reviewFeedback": "fine"})), "reviewFeedback \"\" → \"fine\"");
    undone(Implement, &[submitted("A")], &[story("A")], "reviewStatus needs_review → null");
    legal(Implement, &before, &[submitted("A"), story("B")]);
    legal(Implement, &before, &[story("A"), submitted("B")]);
    legal(Implement, &before, &before);
    legal(Implement, &before, &[story("C"), submitted("A"), story("B"), story("D")]);
    // Two stories: the selected one stays submitted.
    let both = judged(Implement, Some("A"), &before, &[submitted("A"), submitted("B")]);
    assert!(both.broken[0].contains("a turn may only modify one story"), "{both:#?}");
    assert_eq!(both.text, Some(list(&[submitted("A"), story("B")])));
}

#[test]
fn implement_turns_leave_alone_what_is_not_due() {
    let waits = with("A", &json!({"dependsOn": ["B"]}));
    let early = with("A", &json!({"dependsOn": ["B"], "reviewStatus": "needs_review"}));
    undone(Mode::Implement, &[waits, story("B")], &[early, story("B")], "it was not due");
    let human = with("A", &json!({"kind": "human"}));
    let done = with("A", &json!({"kind": "human", "reviewStatus": "needs_review"}));
    undone(Mode::Implement, std::slice::from_ref(&human), &[done], "it was not due");
    undone(Mode::Implement, &[human], &[with("A", &json!({"kind": "agent"}))], "kind of story A");
}

#[test]
fn review_turns_decide_about_one_story() {
    use Mode::Review;
    let before = [submitted("A"), story("B")];
    let to = |fields: Value| [with("A", &fields), story("B")];
    let counted = |status: &str, passes: bool| {
        to(json!({"reviewStatus": status, "passes": passes, "reviewCount": 1, "reviewFeedback": "why"}))
    };
    legal(Review, &before, &counted("approved", true));
    legal(Review, &before, &counted("changes_requested", false));
    undone(
        Review,
        &before,
        &to(json!({"reviewStatus": "approved", "passes": true})),
        "Review iteration made illegal transition on story A: ",
    );
    undone(
        Review,
        &before,
        &to(json!({"reviewStatus": "approved", "passes": true})),
        "must increment reviewCount",
    );
    undone(Review, &before, &counted("approved", false), "an approved story has passes=true");
    undone(Review, &before, &counted("changes_requested", true), "has passes=false");
    undone(
        Review,
        &before,
        &to(json!({"reviewStatus": "changes_requested", "reviewCount": 1})),
        "needs reviewFeedback",
    );
    undone(
        Review,
        &before,
        &to(json!({"reviewStatus": "needs_review", "reviewCount": 1})),
        "ends with approved",
    );
    undone(
        Review,
        &before,
        &to(json!({"reviewStatus": "approved", "passes": true, "reviewCount": 2})),
        "by 1",
    );
    undone(Review, &[story("A"), story("B")], &counted("approved", true), "not submitted for review");
    // Only what is wrong is named.
    for (status, passes, other) in
        [("approved", true, "has passes=true"), ("changes_requested", false, "needs reviewFeedback")]
    {
        let after = to(json!({"reviewStatus": status, "passes": passes, "reviewFeedback": "why"}));
        let judgement = judged(Review, Some("A"), &before, &after);
        assert!(judgement.broken[0].ends_with("a review must increment reviewCount by 1."), "{judgement:#?}");
        assert!(!judgement.broken[0].contains(other), "{judgement:#?}");
    }
    // Someone else's review fields.
    let other = [approved("A"), submitted("B")];
    let judgement = judged(Review, Some("A"), &before, &other);
    assert!(judgement.broken[0].contains("story B"), "{judgement:#?}");
    assert_eq!(judgement.text, Some(list(&[approved("A"), story("B")])));
    // Two at once: only the one that was selected.
    let judgement =
        judged(Review, Some("A"), &[submitted("A"), submitted("B")], &[approved("A"), approved("B")]);
    assert!(judgement.broken[0].contains("may only modify one story"), "{judgement:#?}");
    assert_eq!(judgement.text, Some(list(&[approved("A"), submitted("B")])));
}

#[test]
fn fix_turns_submit_again() {
    use Mode::Fix;
    let before = [sent_back("A")];
    let to = |fields: Value| {
        let mut fields = fields;
        fields["reviewCount"] = fields.get("reviewCount").cloned().unwrap_or(json!(1));
        [with("A", &fields)]
    };
    legal(Fix, &before, &to(json!({"reviewStatus": "needs_review"})));
    undone(
        Fix,
        &before,
        &to(json!({"reviewStatus": "approved", "passes": true})),
        "Review-fix iterations cannot approve stories. Story A must go back to needs_review for re-review. Illegal \
         transition: passes false → true",
    );
    undone(Fix, &before, &to(json!({"reviewStatus": "needs_review", "reviewCount": 2})), "reviewCount 1 → 2");
    // Each slip is named.
    undone(
        Fix,
        &before,
        &to(json!({"reviewStatus": "needs_review", "reviewFeedback": "mend it"})),
        "Review-fix iteration submitted story A but left its reviewFeedback in place. Set reviewFeedback to \"\" when \
         you set reviewStatus to needs_review.",
    );
    undone(
        Fix,
        &before,
        &to(json!({"reviewStatus": "needs_review", "reviewFeedback": "done"})),
        "submitted story A but wrote into its reviewFeedback. Set reviewFeedback to \"\"",
    );
    undone(
        Fix,
        &before,
        &to(json!({"reviewStatus": "changes_requested"})),
        "cleared the reviewFeedback of story A but did not submit it. Set reviewStatus to needs_review",
    );
    undone(Fix, &before, &to(json!({"reviewStatus": null})), "reviewStatus changes_requested → null");
    // Whatever is more than a slip is told what a fix may do.
    let general = "Review-fix iterations cannot approve stories. Story A must go back";
    undone(Fix, &before, &to(json!({"reviewStatus": "needs_review", "passes": true})), general);
    undone(Fix, &before, &to(json!({"reviewStatus": "needs_review", "reviewCount": 2})), general);
    undone(
        Fix,
        &before,
        &to(json!({"reviewStatus": "changes_requested", "reviewFeedback": "done"})),
        general,
    );
    let fresh = to(json!({"reviewStatus": "needs_review", "reviewCount": 0, "reviewFeedback": "done"}));
    undone(Fix, &[story("A")], &fresh, general);
    undone(
        Fix,
        &before,
        &to(json!({"reviewStatus": "changes_requested"})),
        "reviewFeedback \"mend it\" → \"\"",
    );
}

#[test]
fn a_turn_that_did_not_do_its_duty_is_told() {
    let told = |mode, before: &[Value], expected: &str| {
        let judgement = judged(mode, Some("A"), before, before);
        assert!(judgement.broken.len() == 1 && judgement.broken[0].contains(expected), "{judgement:#?}");
        assert_eq!((judgement.text, judgement.undone), (None, vec![]));
    };
    told(Mode::Review, &[submitted("A")], "a review must increment reviewCount");
    told(Mode::Fix, &[sent_back("A")], "left the feedback on story A standing");
    // What it did to its own story was said already; what it did to another is another matter.
    let after = with("A", &json!({"reviewStatus": "approved", "passes": true}));
    let judgement = judged(Mode::Review, Some("A"), &[submitted("A")], &[after]);
    assert_eq!(judgement.broken.len(), 1, "{judgement:#?}");
    let both = [submitted("A"), story("B")];
    let judgement = judged(Mode::Review, Some("A"), &both, &[submitted("A"), approved("B")]);
    assert_eq!(judgement.broken.len(), 2, "{judgement:#?}");
    // One that was cut off is not blamed.
    let commands = ["make test".to_owned()];
    let turn = StoryTurn { mode: Mode::Review, story: Some("A"), finished: false, touched: &[] };
    let text = list(&[submitted("A")]);
    assert_eq!(judge(&text, Some(&text), turn, rules(&commands)), ListJudgement::default());
}

#[test]
fn holes_are_closed() {
    use Mode::{Fix, Implement, Review};
    let before = [sent_back("A"), approved("B"), story("C")];
    for mode in [Implement, Review, Fix] {
        // Deleted, all of them deleted, deleted and born again.
        undone(mode, &before, &[sent_back("A"), story("C")], "Story B was deleted.");
        undone(mode, &before, &[], "Story A was deleted.");
        undone(mode, &before, &[story("A"), approved("B"), story("C")], "changes_requested → null");
        // Born approved.
        let judgement = judged(mode, None, &before, &[&before[..], &[approved("D")]].concat());
        assert!(judgement.broken[0].contains("New stories must start with passes=false"), "{judgement:#?}");
        assert_eq!(judgement.text, Some(list(&[&before[..], &[story("D")]].concat())));
        // Malformed, twice there.
        undone(mode, &before, &[json!({"id": "A"}), approved("B"), story("C")], "malformed");
        undone(mode, &before, &[&before[..], &[approved("A")]].concat(), "another story of this id");
        undone(mode, &before, &[&before[..], &[json!({"id": "D"})]].concat(), "malformed");
        // The criteria of what was submitted.
        let weaker = with("A", &json!({"acceptanceCriteria": ["it exists"]}));
        let mut weaker_sent_back = sent_back("A");
        weaker_sent_back["acceptanceCriteria"] = weaker["acceptanceCriteria"].clone();
        undone(mode, &before, &[weaker_sent_back, approved("B"), story("C")], "may not be changed any more");
    }
}

#[test]
fn a_malformed_story_is_told_its_own_problems() {
    let before = [story("A"), story("B")];
    let untitled = with("A", &json!({"title": 3}));
    let judgement = judged(Mode::Implement, Some("A"), &before, &[untitled, story("B"), json!(3)]);
    let told = [
        "A story is malformed: userStories[0].title (A): expected a string, found 3.",
        "A story is malformed: userStories[2]: expected an object, found 3.",
    ];
    assert_eq!(judgement.broken, told);
}

#[test]
fn what_is_put_back_is_a_list_that_can_be_worked_on() {
    use Mode::{Fix, Implement};
    let usable = |judgement: &ListJudgement| {
        let text = judgement.text.as_deref().expect("a repair");
        assert_eq!(check(text, Review::Required), [], "{text}");
    };
    let before = [sent_back("A"), approved("B"), submitted("C")];
    let careless = with("B", &json!({"reviewCount": 1, "notes": ""}));
    for mode in [Implement, Mode::Review, Fix] {
        let judgement = judged(mode, Some("A"), &before, &[sent_back("A"), careless.clone(), submitted("C")]);
        usable(&judgement);
        assert_eq!(judgement.text, Some(list(&before)), "the notes come back with the approval");
    }
    // Stories that were made to wait for each other.
    let waits = |id: &str, on: &[&str]| with(id, &json!({"dependsOn": on}));
    let before = [story("A"), waits("B", &["A"])];
    let circle = judged(Implement, Some("A"), &before, &[waits("A", &["B"]), waits("B", &["A"])]);
    usable(&circle);
    assert_eq!(circle.text, Some(list(&before)));
    assert!(circle.broken[0].contains("wait for each other: A -> B -> A"), "{circle:#?}");
    assert_eq!(circle.undone[0].field, "dependsOn");
    let born = judged(Implement, Some("A"), &before, &[story("A"), waits("B", &["A"]), waits("N", &["N"])]);
    usable(&born);
    assert_eq!(born.text, Some(list(&[story("A"), waits("B", &["A"]), story("N")])));
}

#[test]
fn files_that_are_no_lists_are_put_back() {
    let before = list(&[story("A")]);
    let commands = ["make test".to_owned()];
    let turn = StoryTurn { mode: Mode::Implement, story: Some("A"), finished: true, touched: &[] };
    let no_project = before.replacen("\"project\"", "\"projekt\"", 1);
    let two_lists = before.replacen("\"project\"", "\"userStories\": [], \"project\"", 1);
    for after in [None, Some(""), Some("{"), Some("[]"), Some("{}"), Some(&*no_project), Some(&*two_lists)] {
        let judgement = judge(&before, after, turn, rules(&commands));
        assert!(judgement.broken[0].contains("restored it as a whole"), "{judgement:#?}");
        assert_eq!(judgement.text.as_deref(), Some(&*before));
    }
}

#[test]
fn verify_commands_are_kept() {
    let before = list(&[story("A")]);
    let commands = ["make test".to_owned()];
    let turn = StoryTurn { mode: Mode::Implement, story: Some("A"), finished: true, touched: &[] };
    for other in ["[]", "[\"true\"]"] {
        let after = before.replacen("[\n    \"make test\"\n  ]", other, 1);
        assert_ne!(before, after);
        let judgement = judge(&before, Some(&after), turn, rules(&commands));
        assert!(judgement.broken[0].contains("verifyCommands"), "{judgement:#?}");
        assert_eq!(read(&judgement.text.expect("a repair")).list.verify_commands, commands);
    }
}

#[test]
fn a_split_keeps_the_parent_and_loses_nothing() {
    let whole = with("A", &json!({"acceptanceCriteria": ["one", "two"]}));
    let first = with("A", &json!({"acceptanceCriteria": ["one"], "reviewStatus": "needs_review"}));
    let rest = with("A2", &json!({"acceptanceCriteria": ["the other"]}));
    let split =
        judged(Mode::Implement, Some("A"), std::slice::from_ref(&whole), &[first.clone(), rest.clone()]);
    assert!(split.broken.is_empty() && split.undone.is_empty() && split.text.is_none(), "{split:#?}");
    // What neither part demands any more is shown to the user.
    assert_eq!(split.dropped, [DroppedCriterion { story: "A".to_owned(), criterion: "two".to_owned() }]);
    // It unlocks the story that was selected, and no other.
    let judgement =
        judged(Mode::Implement, Some("B"), &[whole.clone(), story("B")], &[first.clone(), story("B"), rest]);
    assert!(judgement.broken[0].contains("Story A lost acceptance criteria"), "{judgement:#?}");
    assert_eq!(judgement.dropped, []);
    // A criterion can move to an open story, but another that has it already is no reason to lose it.
    let moved =
        |b: Value| judged(Mode::Implement, Some("B"), &[whole.clone(), story("B")], &[first.clone(), b]);
    let gained = moved(with("B", &json!({"acceptanceCriteria": ["it works", "two"]})));
    assert_eq!((gained.broken.as_slice(), gained.dropped.as_slice()), (&[] as &[String], &[][..]));
    let shared = with("B", &json!({"acceptanceCriteria": ["it works", "two"]}));
    let both = [whole.clone(), shared.clone()];
    let judgement = judged(Mode::Implement, Some("A"), &both, &[first.clone(), shared]);
    assert!(judgement.broken[0].contains("Story A lost acceptance criteria"), "{judgement:#?}");
    // Without a new story for the rest, criteria have just been dropped.
    let judgement = judged(Mode::Implement, Some("A"), std::slice::from_ref(&whole), &[first]);
    assert!(judgement.broken[0].contains("lost acceptance criteria"), "{judgement:#?}");
    let submitted = with("A", &json!({"acceptanceCriteria": ["one", "two"], "reviewStatus": "needs_review"}));
    assert_eq!(judgement.text, Some(list(&[submitted])));
    // More is fine, and so is another order of work.
    let more = with("A", &json!({"acceptanceCriteria": ["two", "one", "three"], "priority": 9}));
    legal(Mode::Implement, &[whole], &[more]);
}

#[test]
fn the_cap_is_applied_by_ralph() {
    let commands = ["make test".to_owned()];
    let turn = StoryTurn { mode: Mode::Review, story: Some("A"), finished: true, touched: &[] };
    let before = list(&[with("A", &json!({"reviewStatus": "needs_review", "reviewCount": 1, "notes": ""}))]);
    let rejected =
        json!({"reviewStatus": "changes_requested", "reviewCount": 2, "reviewFeedback": "no", "notes": ""});
    let after = list(&[with("A", &rejected)]);
    for (cap, is_capped) in [(1, true), (2, true), (3, false)] {
        let judgement = judge(&before, Some(&after), turn, Rules { cap, ..rules(&commands) });
        assert!(judgement.broken.is_empty() && judgement.undone.is_empty(), "{judgement:#?}");
        assert_eq!(judgement.capped, if is_capped { vec!["A"] } else { vec![] });
        let Some(text) = judgement.text else { continue };
        let story = read(&text).list.user_stories.remove(0);
        assert!(story.is_done(Review::Required), "{story:?}");
        assert_eq!(story.review_feedback, "[AUTO-APPROVED AT CAP] no");
        assert_eq!(check(&text, Review::Required), []);
    }
}

#[test]
fn without_review_the_list_may_say_that_it_passes() {
    let commands = ["make test".to_owned()];
    let turn = StoryTurn { mode: Mode::Implement, story: Some("A"), finished: true, touched: &[] };
    let rules = Rules { review: Review::Skipped, ..rules(&commands) };
    let before = list(&[story("A"), story("B")]);
    let passed = with("A", &json!({"passes": true}));
    let after = list(&[passed.clone(), story("B")]);
    assert_eq!(judge(&before, Some(&after), turn, rules), ListJudgement::default());
    // But nothing may go away.
    let judgement = judge(&before, Some(&list(&[passed])), turn, rules);
    assert!(judgement.broken[0].contains("Story B was deleted"), "{judgement:#?}");
}

#[test]
fn unknown_fields_and_the_layout_stay() {
    let before = "{ \"project\":\"p\",\"branchName\":\"b\",\"description\":\"\",\"mine\":[1,2],\n\"userStories\":[\n \
                  {\"id\":\"A\",\"title\":\"\",\"acceptanceCriteria\":[\"x\"],\"priority\":1,\"passes\":false,\
                  \"reviewStatus\":null,\"reviewCount\":0,\"reviewFeedback\":\"\",\"extra\":{\"a\":null}}]}";
    let after =
        before.replace("\"reviewStatus\":null", "\"reviewStatus\":\"approved\"").replace("[1,2]", "[3]");
    let turn = StoryTurn { mode: Mode::Implement, story: Some("A"), finished: true, touched: &[] };
    let judgement = judge(before, Some(&after), turn, rules(&[]));
    assert_eq!(judgement.text, Some(before.replace("[1,2]", "[3]")));
}
