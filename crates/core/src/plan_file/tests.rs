//! Plans as people and agents write them.

use super::*;

/// One line per task: `x title (spec)`; `p` is for a person.
#[track_caller]
fn check(plan: &str, expected: &[&str]) {
    let shown: Vec<String> = tasks(plan, "specs")
        .into_iter()
        .map(|task| {
            let spec = task.spec.as_ref().map(|spec| format!(" ({spec})")).unwrap_or_default();
            let mark = match (task.is_done, task.is_open()) {
                (true, _) => 'x',
                (false, true) => '-',
                (false, false) => 'p',
            };
            format!("{mark} {}{spec}", task.title)
        })
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn checkboxes_are_tasks() {
    check(
        "- [x] one\n- [ ] **two**:\n* [X] three\n1. [ ] four\n- [-] five",
        &["x one", "- two", "x three", "- four", "x five"],
    );
    check(
        "- [~] one\n- [/] two\n- [] three\n- [\u{a0}] four\n- [ x ] five",
        &["x one", "- two", "- three", "- four", "x five"],
    );
    check("- [x] one\r\n- [ ] two\r\n", &["x one", "- two"]);
    check("- [x] one\r- [ ] two\r", &["x one", "- two"]);
    check("> - [ ] one\n>> * [x] two\n1) [ ] three\n  + [ ]", &["- one", "x two", "- "]);
    check("```\n- [ ] in code\n```\n- no box\n[link](x)", &[]);
    check("<!--\n- [ ] in a comment\n-->", &[]);
    check("- [ ] a\n  Status: done\n- [ ] b", &["x a", "- b"]);
    check("- [ ] [Add sums](specs/sums.md) now", &["- Add sums now (specs/sums.md)"]);
    check("- [ ] bad \u{1b}[2J\0 title", &["- bad [2J title"]);
}

#[test]
fn some_tasks_are_for_a_person() {
    check(
        "- [ ] Buy a licence (Human)\n- [ ] Sign\n  Kind: human\n- [x] c (human)\n- [ ] d\n  Kind: code",
        &["p Buy a licence (Human)", "p Sign", "x c (human)", "- d"],
    );
    check("## For people\nKind: human\n- [ ] a\n## For agents\n- [ ] b", &["p a", "- b"]);
    check("## Pay\nStatus: open\n**Kind:** Human\n## Try (human)\nStatus: open", &["p Pay", "p Try (human)"]);
    assert_eq!(next_task("- [ ] a (human)\n- [ ] b", "specs").map(|task| task.title).as_deref(), Some("b"));
}

#[test]
fn boxes_in_boxes_are_the_tasks() {
    check("- [ ] group\n  - [x] a\n  - [ ] b\n- [x] c", &["x a", "- b", "x c"]);
    check("- [ ] group\n\t- [x] a\n", &["- group", "x a"]);
    check("- [x] group\n  - [x] a\n", &["x a"]);
}

#[test]
fn headings_with_a_status_are_tasks() {
    check(
        "## Parse dates\nStatus: done\n- [ ] step\n\n## Show dates\n**Status:** In progress\n",
        &["x Parse dates", "- Show dates"],
    );
    check(
        "### Task 1\n- Status: ✅ Complete\n### Task 2\n- Status: not done\n### Notes\ntext",
        &["x Task 1", "- Task 2"],
    );
    check("## [x] One\n## [ ] Two\ntext", &["x One", "- Two"]);
    // Not further in than the box before it: it is the section's.
    check("## A\n- [ ] step\nStatus: done", &["x A"]);
    check("## A\nStatus: done\n### Steps\n- [ ] step\n## B\nStatus: open", &["x A", "- B"]);
}

#[test]
fn the_status_of_the_whole_is_no_task() {
    check("# Plan\n\nStatus: in progress\n\n- [ ] a\n- [x] b", &["- a", "x b"]);
    check("# Plan\nStatus: 3 of 10 tasks complete\n## Parser\n- [ ] a", &["- a"]);
    check("# Plan\nStatus: open\n## A\nStatus: done\n## B\nStatus: open", &["x A", "- B"]);
    check("# A\nStatus: done\n# B\nStatus: open", &["x A", "- B"]);
}

#[test]
fn the_first_word_of_a_status_decides() {
    for (status, is_done) in [
        ("done", true),
        ("**Done**, see below", true),
        ("completed on Monday", true),
        ("blocked (waiting for the API to be completed)", false),
        ("open until B is done", false),
        ("3 of 10 tasks complete", false),
        ("not done", false),
        ("", false),
        ("✓ since Monday", true),
        ("[x] merged", true),
    ] {
        let task = tasks(&format!("## A\nStatus: {status}"), "specs").pop();
        assert_eq!(task.map(|task| task.is_done), Some(is_done), "{status}");
    }
}

#[test]
fn specs_are_found() {
    check(
        "- [ ] **dates** (`specs/dates.md`)\n- [ ] times\n  Spec: `specs/times.md`",
        &["- dates (specs/dates.md)", "- times (specs/times.md)"],
    );
    check("## Zones\nSpec: specs/zones.md\nStatus: open", &["- Zones (specs/zones.md)"]);
    check("## Group, see specs/all.md.\n- [ ] a\n- [ ] b", &["- a (specs/all.md)", "- b (specs/all.md)"]);
    check("- [ ] see https://x/specs/a.md?x=1", &["- see https://x/specs/a.md?x=1"]);
    check("- [ ] read specs/ first", &["- read specs/ first"]);
    // The first one that is named before the tasks.
    check("## A\nSee specs/a.md,\nthen specs/b.md.\nGood luck.\n- [ ] t", &["- t (specs/a.md)"]);
    check("## A\n- [ ] t\nSee specs/b.md.", &["- t"]);
    // Other words in brackets stay in the title.
    check("- [ ] add sums (fast)", &["- add sums (fast)"]);
    check("- [ ] add (specs/a.md) soon", &["- add (specs/a.md) soon (specs/a.md)"]);
    let elsewhere = tasks("- [ ] t (docs/a.md)", "docs").pop().expect("a task");
    assert_eq!((elsewhere.title.as_str(), elsewhere.spec.as_deref()), ("t", Some("docs/a.md")));
}

#[test]
fn the_next_task_is_the_first_open_one() {
    let next = |plan| next_task(plan, "specs").map(|task| task.title);
    assert_eq!(next("- [x] a\n- [ ] b\n- [ ] c").as_deref(), Some("b"));
    assert_eq!(next("- [x] a"), None);
    assert_eq!(next(""), None);
}
