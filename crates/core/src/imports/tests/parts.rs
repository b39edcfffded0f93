//! The parts of lists one by one: lines, boxes, numbers, and what a story has of them.

use serde_json::{Value, json};

use super::*;
use crate::imports::check_list::{self, Document};

const PRD: &str = r#"{"project": "weeks", "branchName": "own/weeks", "description": "About weeks.", "userStories": [
    {"id": "a", "title": "One", "description": "First.", "acceptanceCriteria": ["", "it works", " "], "priority": 7.5},
    {"id": 2, "title": "Two", "passes": true},
    {"id": "c", "title": "Three", "passes": true}]}"#;

fn document(text: &str) -> Document {
    check_list::read(text).unwrap_or_else(|bad| panic!("{bad:?}"))
}

/// The boxes of a text, each with its parts in parentheses and its details behind a bar.
#[track_caller]
fn check_boxes(text: &str, expected: &[&str]) {
    let document = document(text);
    let boxes = document.sections.iter().flat_map(|section| &section.boxes);
    let all: Vec<String> =
        boxes.map(|it| format!("{}({})|{}", it.text, it.parts.join(","), it.details.join(","))).collect();
    assert_eq!(all, expected, "{text:?}");
}

#[test]
fn every_part_of_a_story_in_json_is_taken() {
    let imported = read(SourceKind::PrdJson, PRD, Grouping::Task).expect("a list");
    assert_eq!((imported.name.as_deref(), imported.branch.as_deref()), (Some("weeks"), Some("own/weeks")));
    assert_eq!(imported.description, "About weeks.");
    let stories: Vec<(&str, &[String], f64)> =
        imported.stories.iter().map(|it| (&*it.id, &*it.criteria, it.priority)).collect();
    let criterion = |text: &str| vec![text.to_owned()];
    let (one, two, three) = (criterion("it works"), criterion("Two"), criterion("Three"));
    assert_eq!(stories, [("a", &*one, 7.5), ("2", &*two, 2.0), ("c", &*three, 3.0)]);
    let mut open = imported;
    assert_eq!((open.leave_out_done(), open.stories.len()), (2, 1));
}

#[test]
fn a_name_in_json_is_one_line_that_says_something() {
    for id in ["a\nb", " ", ""] {
        let text = json!({"userStories": [{"id": id, "title": "t"}]}).to_string();
        assert!(read(SourceKind::PrdJson, &text, Grouping::Task).is_err(), "{id:?}");
    }
}

#[test]
fn a_list_is_called_as_its_source_says_if_it_says_something() {
    let imported = read(SourceKind::PrdJson, PRD, Grouping::Task).expect("a list");
    let written = |imported: &Imported| -> Value {
        serde_json::from_str(&compose(imported, &new_list())).expect("JSON")
    };
    let list = written(&imported);
    assert_eq!((&list["project"], &list["branchName"]), (&json!("weeks"), &json!("own/weeks")));
    let first = &list["userStories"][0];
    assert_eq!(
        (&first["title"], &first["description"], first["priority"].as_f64()),
        (&json!("One"), &json!("First."), Some(7.5))
    );
    let blank = Imported { name: Some(" ".to_owned()), branch: Some(String::new()), ..imported };
    let list = written(&blank);
    assert_eq!((&list["project"], &list["branchName"]), (&json!("dates"), &json!("ralph/dates")));
}

#[test]
fn stories_are_wanted_in_the_order_of_the_text() {
    let imported = read(SourceKind::OpenSpec, OPEN_SPEC, Grouping::Task).expect("a list");
    let priorities: Vec<f64> = imported.stories.iter().map(|it| it.priority).collect();
    assert_eq!(priorities, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn what_is_ticked_in_json_is_told_with_its_line() {
    let text = "{\"userStories\": [\n{\"id\": \"a\"},\n\n{\"id\": \"b\"}]}";
    let ticked = tick(SourceKind::PrdJson, text, &["b".to_owned()]).expect("a list");
    assert_eq!(ticked.ticked, [(4, "b".to_owned())]);
}

#[test]
fn a_number_of_spec_kit_has_two_to_six_digits() {
    let text = "- [ ] T01 One\n- [ ] T1 Two\n- [ ] T1234567 Three\n- [ ] T0a1 Four\n";
    let imported = read(SourceKind::SpecKit, text, Grouping::Task).expect("a list");
    assert_eq!(imported.stories.iter().map(|it| &*it.id).collect::<Vec<_>>(), ["T01"]);
    assert_eq!(imported.left_out, ["3 boxes without a number, such as T001"]);
    let imported = read(SourceKind::SpecKit, "- [ ] T01 One\n", Grouping::Task).expect("a list");
    assert_eq!(imported.left_out, [""; 0]);
}

#[test]
fn a_change_is_called_as_its_heading_unless_that_says_nothing() {
    let name = |heading: &str| {
        let text = format!("# {heading}\n\n## 1. First\n\n- [ ] 1.1 Do it\n");
        read(SourceKind::OpenSpec, &text, Grouping::Task).expect("a list").name
    };
    assert_eq!(name("Weeks").as_deref(), Some("Weeks"));
    assert_eq!(name("Tasks"), None);
}

#[test]
fn only_requirements_and_scenarios_are_taken_from_a_specification() {
    let text = "## ADDED Requirements\n### Requirement: Weeks\n### Note: none\n#### Scenario: Week 53\n#### Remark: none\n";
    let lines = requirements(SpecDocument { file: "spec.md", text }).expect("a specification");
    assert_eq!(lines, ["- Weeks (added)", "  - Week 53"]);
}

#[test]
fn boxes_stand_where_they_are_shown() {
    check_boxes("```\n\n- [ ] hidden\n```\n- [ ] seen\n", &["seen()|"]);
    check_boxes("- [a](u) b\n- [ab] c\n- [ ] d\n", &["d()|"]);
    check_boxes("  - [ ] a\n  - [ ] b\n", &["a()|", "b()|"]);
    check_boxes("  - [ ] a\n\t- [ ] b\n", &["a(b)|"]);
    check_boxes("- [ ] a\ntext\n  more\n  - item\n", &["a(item)|more"]);
}

#[test]
fn headings_have_a_space_and_the_first_great_one_is_the_title() {
    let title = |text: &str| document(text).title;
    assert_eq!(title("## A\n# B\n# C\n").as_deref(), Some("B"));
    assert_eq!(title("## A\n"), None);
    assert_eq!(title("#tag\n- [ ] a\n"), None);
    assert_eq!(document("- [ ] a\n").sections[0].line, 1);
}

#[test]
fn what_a_section_is_about_stands_before_its_boxes() {
    let document = document("**Goal**: weeks\nplain\n- **item**\n- [ ] a\n**late**\n");
    assert_eq!(document.sections[0].about, ["Goal: weeks"]);
}
