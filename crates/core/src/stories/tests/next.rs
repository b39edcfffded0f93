//! What comes next, and how the reviews went.

use super::*;

#[test]
fn the_next_story_is_the_one_that_matters_most() {
    #[track_caller]
    fn next(stories: &[Value], review: Review, expected: Result<(Mode, &str), &str>) {
        let found = select(&read(&list(stories)).list, review);
        let found = found.map(|Selected { mode, id, .. }| (mode, id));
        assert_eq!(found.as_ref().map(|(mode, id)| (*mode, id.as_str())).map_err(String::as_str), expected);
    }
    let late = |id: &str| with(id, &json!({"priority": 2}));
    let needs = |id: &str, others: Value| with(id, &json!({"dependsOn": others}));
    let human = |id: &str| with(id, &json!({"kind": "human"}));
    let required = Review::Required;
    next(&[story("A"), submitted("B"), sent_back("C")], required, Ok((Mode::Fix, "C")));
    next(&[story("A"), submitted("B")], required, Ok((Mode::Review, "B")));
    next(&[late("A"), story("B"), story("C")], required, Ok((Mode::Implement, "B")));
    next(&[needs("A", json!(["B"])), late("B")], required, Ok((Mode::Implement, "B")));
    next(&[needs("A", json!(["B"])), approved("B")], required, Ok((Mode::Implement, "A")));
    next(&[human("A"), late("B")], required, Ok((Mode::Implement, "B")));
    next(
        &[human("A"), needs("B", json!(["A", "Z"])), approved("C")],
        required,
        Err("no story can be worked on: A is for a person; B waits for A, Z (not in the list)"),
    );
    for fields in [json!({"reviewStatus": "approved"}), json!({"passes": true})] {
        let why = "no story can be worked on: A has fields that do not fit";
        next(&[with("A", &fields)], required, Err(why));
    }
    next(&[approved("A")], required, Err("every story is done"));
    next(&[], required, Err("there are no stories"));
    let passed = with("A", &json!({"passes": true}));
    next(&[passed.clone(), submitted("B")], Review::Skipped, Ok((Mode::Implement, "B")));
    next(&[passed], Review::Skipped, Err("every story is done"));
    let list = read(&list(&[needs("A", json!(["B"])), story("B")])).list;
    assert_eq!(blocked(&list, &list.user_stories[0], required).as_deref(), Some("waits for B"));
    assert_eq!(blocked(&list, &list.user_stories[1], required), None);
}

#[test]
fn no_stories_are_not_complete() {
    assert!(!read(&list(&[])).list.is_complete(Review::Required));
    assert!(read(&list(&[approved("A")])).list.is_complete(Review::Required));
    assert!(!read(&list(&[approved("A"), submitted("B")])).list.is_complete(Review::Required));
    assert!(read(&list(&[with("A", &json!({"passes": true}))])).list.is_complete(Review::Skipped));
}

#[test]
fn a_story_is_handed_in_when_it_was_not_before() {
    let passes = |id: &str| with(id, &json!({"passes": true}));
    for (before, after, reviewed, unreviewed) in [
        (vec![story("A")], vec![story("A")], false, false),
        (vec![story("A")], vec![submitted("A")], true, false),
        (vec![submitted("A")], vec![submitted("A")], false, false),
        (vec![submitted("A"), story("B")], vec![submitted("A"), submitted("B")], true, false),
        (vec![], vec![submitted("A")], true, false),
        (vec![submitted("A")], vec![approved("A")], false, true),
        (vec![story("A")], vec![passes("A")], false, true),
        (vec![passes("A")], vec![passes("A")], false, false),
    ] {
        let [before, after] = [before, after].map(|stories| read(&list(&stories)).list);
        let submits = |review| after.submits_since(&before, review);
        assert_eq!(
            (submits(Review::Required), submits(Review::Skipped)),
            (reviewed, unreviewed),
            "{after:?}"
        );
    }
}

#[test]
fn open_stories_for_people_are_named() {
    let human = |id: &str, passes: bool, status: Value| {
        with(id, &json!({"kind": "human", "passes": passes, "reviewStatus": status}))
    };
    let stories = read(&list(&[
        story("A"),
        human("B", false, Value::Null),
        human("C", true, Value::Null),
        human("D", true, json!("approved")),
        human("E", false, json!("approved")),
    ]));
    assert_eq!(stories.list.for_people(Review::Required), ["B", "C", "E"]);
    assert_eq!(stories.list.for_people(Review::Skipped), ["B", "E"]);
}

#[test]
fn statistics_say_whether_reviews_were_worth_it() {
    let reviewed = |id: &str, reviews: u32| with(id, &json!({"reviewCount": reviews}));
    let lines = |stories: &[Value]| Statistics::of(&read(&list(stories)).list, 5).lines();
    let cheap = lines(&[reviewed("A", 1), reviewed("B", 1), reviewed("C", 2)]);
    assert_eq!(
        cheap,
        ["Reviews: 4 in all (A 1, B 1, C 2)", "2 of 3 approved at the first review: reviewing was cheap"]
    );
    let half = lines(&[reviewed("A", 1), reviewed("B", 2)]);
    assert_eq!(half, ["Reviews: 3 in all (A 1, B 2)"]);
    // Where there is one review at most, that says nothing.
    let once = Statistics::of(&read(&list(&[reviewed("A", 1)])).list, 1);
    assert!(!once.stories[0].at_cap);
    let capped = lines(&[reviewed("A", 5), reviewed("B", 3)]);
    assert_eq!(
        capped,
        [
            "Reviews: 8 in all (A 5, B 3)",
            "2 with 3 or more reviews: they are catching real issues",
            "At the cap of 5, look here yourself: A"
        ]
    );
    assert_eq!(lines(&[story("A")]), [""; 0]);
}

#[test]
fn the_budget_is_told_in_one_line() {
    let line =
        |stories: &[Value], review| crate::stories::Budget::of(&read(&list(stories)).list, review).line(15);
    let five = ["A", "B", "C", "D", "E"].map(story);
    assert_eq!(line(&five, Review::Required), "5 stories, about 3 iterations each: 15 needed, 15 allowed");
    let mixed = [approved("A"), story("B"), with("C", &json!({"kind": "human"}))];
    assert_eq!(line(&mixed, Review::Required), "1 story, about 3 iterations each: 3 needed, 15 allowed");
    assert_eq!(line(&five[..2], Review::Skipped), "2 stories, about 1 iteration each: 2 needed, 15 allowed");
}
