//! The rules of the task list as tables; `tests/oracle.rs` drives random edits against another telling of them.

mod next;
mod oracle;
mod steps;
mod touched;
mod turns;

use serde_json::{Value, json};

use super::{
    AUTO_APPROVED, DroppedCriterion, ListJudgement, Problem, Review, Rules, Selected, Statistics, Status,
    StoryTurn, TaskFile, UNCOUNTED, blocked, read, select,
};
use crate::stories::Mode;

/// A story in its first state.
fn story(id: &str) -> Value {
    json!({
        "id": id, "title": format!("Title of {id}"), "description": "", "acceptanceCriteria": ["it works"],
        "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "",
        "notes": "noted", "dependsOn": []
    })
}

/// A story with some fields changed.
fn with(id: &str, fields: &Value) -> Value {
    let mut story = story(id);
    for (key, value) in fields.as_object().expect("an object") {
        story[key] = value.clone();
    }
    story
}

fn submitted(id: &str) -> Value {
    with(id, &json!({"reviewStatus": "needs_review"}))
}

fn sent_back(id: &str) -> Value {
    with(id, &json!({"reviewStatus": "changes_requested", "reviewCount": 1, "reviewFeedback": "mend it"}))
}

fn approved(id: &str) -> Value {
    with(id, &json!({"reviewStatus": "approved", "reviewCount": 1, "passes": true}))
}

fn list(stories: &[Value]) -> String {
    let list = json!({
        "project": "p", "branchName": "ralph/x", "description": "d", "verifyCommands": ["make test"],
        "userStories": stories
    });
    format!("{list:#}\n")
}

fn rules(commands: &[String]) -> Rules<'_> {
    Rules { review: Review::Required, cap: 5, verify_commands: commands }
}

/// Judges texts.
fn judge(before: &str, after: Option<&str>, turn: StoryTurn<'_>, rules: Rules<'_>) -> ListJudgement {
    super::judge(&TaskFile::new(before), after.map(TaskFile::new).as_ref(), turn, rules)
}

/// What is wrong with a text.
fn check(text: &str, review: Review) -> Vec<Problem> {
    TaskFile::new(text).problems(review)
}

/// Judges a turn that finished, on a list that has `make test` to verify it.
fn judged(mode: Mode, story: Option<&str>, before: &[Value], after: &[Value]) -> ListJudgement {
    let commands = ["make test".to_owned()];
    let turn = StoryTurn { mode, story, finished: true, touched: &[] };
    judge(&list(before), Some(&list(after)), turn, rules(&commands))
}

/// What check 1 or 2 says, in one text.
#[track_caller]
fn says(stories: &[Value], review: Review, expected: Option<&str>) {
    let problems: Vec<String> =
        check(&list(stories), review).iter().map(|it| format!("{}: {it}", it.line)).collect();
    match expected {
        None => assert_eq!(problems, [""; 0]),
        Some(expected) => assert!(problems.iter().any(|it| it.contains(expected)), "{problems:#?}"),
    }
}

#[test]
fn stories_that_wait_for_themselves_are_named() {
    let waits = |id: &str, on: &[&str]| with(id, &json!({"dependsOn": on}));
    for review in [Review::Required, Review::Skipped] {
        says(&[waits("A", &["A"])], review, Some("Story A waits for itself: A -> A."));
        let three = [waits("A", &["B"]), waits("B", &["C"]), waits("C", &["B"])];
        says(&three, review, Some("Story B waits for itself: B -> C -> B."));
        assert_eq!(check(&list(&three), review).len(), 1);
        says(&[waits("A", &["B"]), waits("B", &["C"]), story("C")], review, None);
    }
}

#[test]
fn check_1_names_what_is_malformed() {
    let bad = |fields: Value, expected: &str| says(&[with("A", &fields)], Review::Required, Some(expected));
    says(&[story("A")], Review::Required, None);
    bad(json!({"passes": "yes"}), "userStories[0].passes (A): expected true or false, found \"yes\"");
    bad(json!({"title": 3}), "title (A): expected a string, found 3");
    bad(json!({"priority": "high"}), "priority (A): expected a number");
    bad(json!({"acceptanceCriteria": []}), "expected at least one criterion, found an empty array");
    bad(json!({"acceptanceCriteria": [1]}), "acceptanceCriteria[0] (A): expected a string, found 1");
    bad(json!({"reviewStatus": "done"}), "null, needs_review, changes_requested or approved, found \"done\"");
    bad(json!({"reviewCount": -1}), "expected a whole number that is not negative, found -1");
    bad(json!({"reviewCount": 1.5}), "expected a whole number");
    bad(json!({"reviewFeedback": null}), "reviewFeedback (A): expected a string, found null");
    bad(json!({"id": " "}), "expected a name, found an empty string");
    bad(json!({"id": "A\nMode: none"}), "id (A\\nMode: none): expected a name without line breaks");
    bad(json!({"kind": "robot"}), "expected agent or human, found \"robot\"");
    bad(json!({"passes": true, "notes": " "}), "passes=true with empty notes");
    says(&[story("A"), story("A")], Review::Required, Some("userStories[1].id (A): there is another story"));
    says(&[json!(7)], Review::Required, Some("userStories[0]: expected an object, found 7"));
    for key in ["id", "title", "passes", "priority", "acceptanceCriteria", "reviewStatus", "reviewCount"] {
        let mut lacking = story("A");
        lacking.as_object_mut().expect("an object").remove(key);
        says(&[lacking], Review::Required, Some(&format!("userStories[0].{key}")));
    }
}

#[test]
fn check_1_knows_lines() {
    let lines = |text: &str| -> Vec<String> {
        check(text, Review::Required).iter().map(|it| format!("{}: {it}", it.line)).collect()
    };
    assert_eq!(lines(""), ["1: not valid JSON: the file is empty"]);
    assert_eq!(lines("{\n\"project\": 1,\n}"), ["3: not valid JSON: trailing comma"]);
    let text = "{\n\"project\": 1,\n\"branchName\": \"\", \"description\": \"\",\n\"userStories\": {}\n}";
    assert_eq!(
        lines(text),
        ["2: project: expected a string, found 1", "4: userStories: expected an array, found an object"]
    );
    assert_eq!(lines("[]")[0], "1: expected an object, found an empty array");
    let twice = list(&[story("A")]).replacen("\"notes\"", "\"passes\": true, \"notes\"", 1);
    assert!(lines(&twice)[0].contains("the key is there twice"), "{:?}", lines(&twice));
}

#[test]
fn check_2_holds_passes_and_approval_together() {
    let bad = |fields: Value, expected: &str| says(&[with("A", &fields)], Review::Required, Some(expected));
    for status in [json!(null), json!("needs_review")] {
        let name = status.as_str().unwrap_or("null");
        bad(
            json!({"passes": true, "reviewStatus": status}),
            &format!(
                "Story A has passes=true but reviewStatus is '{name}', not 'approved'. Only review iterations may \
                 approve stories. Set passes back to false or complete the review cycle."
            ),
        );
    }
    let rejected = json!({"passes": true, "reviewStatus": "changes_requested", "reviewFeedback": "x"});
    bad(rejected, "reviewStatus is 'changes_requested', not 'approved'");
    bad(json!({"reviewStatus": "approved"}), "out of sync");
    bad(json!({"reviewStatus": "changes_requested", "reviewFeedback": " \n"}), "feedback is required");
    says(&[with("A", &json!({"reviewCount": 70}))], Review::Required, None);
    says(&[approved("A"), submitted("B"), sent_back("C")], Review::Required, None);
    // Without reviews only the shape matters.
    says(&[with("A", &json!({"passes": true}))], Review::Skipped, None);
}

#[test]
fn a_list_knows_its_keys_and_where_its_stories_are() {
    let keys = super::keys();
    for key in ["project", "verifyCommands", "userStories", "userStories[].passes", "userStories[].kind"] {
        assert!(keys.contains(key), "{keys:?}");
    }
    assert!(!keys.contains("") && !keys.contains("passes"), "{keys:?}");
    let text = list(&[story("A"), story("B")]);
    for found in read(&text).list.user_stories {
        let of_id = text.lines().position(|line| line.contains(&format!("\"id\": \"{}\"", found.id)));
        let begin = text.lines().take(of_id.expect("its id")).collect::<Vec<_>>();
        let begin = begin.iter().rposition(|line| line.trim() == "{").expect("its begin");
        assert_eq!(found.line, begin + 1, "{}", found.id);
    }
}

#[test]
fn only_an_array_is_a_list_of_stories() {
    for (text, expected) in [
        (list(&[]), true),
        (list(&[story("A")]), true),
        ("{}".to_owned(), false),
        (list(&[]).replace("[]", "{}"), false),
        ("[]".to_owned(), false),
        ("{".to_owned(), false),
    ] {
        assert_eq!(read(&text).has_stories, expected, "{text}");
    }
}

#[test]
fn files_with_the_same_text_are_the_same_whether_they_were_read_or_not() {
    let (one, other) = (TaskFile::new(list(&[story("A")])), TaskFile::new(list(&[story("A")])));
    assert_eq!(one.list().user_stories.len(), 1);
    assert_eq!(one, other);
    assert_ne!(one, TaskFile::new(list(&[story("B")])));
}
