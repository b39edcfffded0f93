//! The example prints what the README says.

#[path = "../examples/judge.rs"]
#[expect(dead_code, reason = "the test calls what the example's `main` calls")]
mod judge;

use ralph_guard::Decision;

const README: &str = include_str!("../README.md");

#[test]
fn the_example_prints_what_the_readme_shows() {
    let (decision, text) = judge::describe("cd / && rm -rf *");
    assert_eq!(decision, Decision::Block);
    assert!(
        README.contains(&format!("--example judge -- 'cd / && rm -rf *'\n```\n\n```text\n{text}```\n")),
        "{text}"
    );
}

#[test]
fn text_about_a_command_is_allowed() {
    let (decision, text) = judge::describe("echo 'rm -rf /'");
    assert_eq!((decision, text.as_str()), (Decision::Allow, "allowed\nwould run:\n  echo 'rm -rf /'\n"));
}
