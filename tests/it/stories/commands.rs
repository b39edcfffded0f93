//! The commands beside the loop.

use serde_json::{Value, json};

use super::{approved, list, project, sent_back, stories, story, submitted, with};
use crate::env::{Env, meet, say, shell};

#[test]
fn init_writes_what_a_loop_begins_with() {
    let env = Env::new().with_empty_git();
    env.write(".gitignore", "target");
    env.ralph(&["stories", "init", "--name", "better \"search\""]).exits(0).prints("ralph stories check");
    let tasks: Value = serde_json::from_str(&env.read("ralph/tasks.json")).expect("JSON");
    assert_eq!(tasks["branchName"], "ralph/better--search");
    assert_eq!(tasks["userStories"][0]["id"], "US-001");
    let progress = env.read("ralph/progress.txt");
    assert!(progress.contains("PRD: better \"search\"") && !progress.contains("{{"), "{progress}");
    for heading in ["Summary", "Non-Goals", "Constraints", "Open Questions", "S-Patch", "L-Epic"] {
        assert!(env.read("ralph/prd.md").contains(heading), "{heading}");
    }
    for words in ["mode implement", "mode review:", "mode review-fix", "<promise>COMPLETE</promise>"] {
        assert!(env.read("ralph/prompt.md").contains(words), "{words}");
    }
    assert_eq!(env.read(".gitignore"), "target\n.ralph-active\n");
    // Nothing is overwritten unless the user says so, and nothing is added twice.
    env.write("ralph/prd.md", "mine");
    env.ralph(&["stories", "init"]).exits(2).says("already there: ralph/prd.md").says("--force");
    assert_eq!(env.read("ralph/prd.md"), "mine");
    env.write("ralph/progress.txt", "mine");
    env.ralph(&["stories", "init", "--force"])
        .exits(0)
        .says("ralph/prd.md is not the template any more and was kept");
    assert_eq!(env.read("ralph/prd.md"), "mine");
    assert_ne!(env.read("ralph/progress.txt"), "mine");
    // One that no one has filled in is no one's.
    std::fs::remove_file(env.path("ralph/prd.md")).expect("a file");
    env.ralph(&["stories", "init", "--force"]).exits(0);
    env.ralph(&["stories", "init", "--force", "--name", "other"]).exits(0).says_not("was kept");
    assert!(env.read("ralph/prd.md").starts_with("# other\n"));
    assert_eq!(env.read(".gitignore"), "target\n.ralph-active\n");
    // A list that no one has filled in is no list.
    env.ralph(&["stories", "check"]).exits(2).prints("acceptanceCriteria (US-001): expected at least one");
    std::fs::create_dir(env.root().join("other")).expect("a folder");
    env.ralph(&["stories", "init", "--project-dir", "../other", "--ralph-dir", "x"]).exits(0);
    assert!(env.root().join("other/x/tasks.json").exists());
}

#[test]
fn check_names_file_and_line() {
    let env = project(&list(&[story("US-1"), with("US-2", &json!({"passes": true, "dependsOn": ["US-9"]}))]));
    let output = env.ralph(&["stories", "check"]).exits(2);
    let line = env.read("ralph/tasks.json").lines().position(|line| line.contains("US-2")).expect("a line");
    assert!(output.stdout.starts_with("ralph/tasks.json:"), "{}", output.stdout);
    let at: usize = output.stdout.split(':').nth(1).and_then(|it| it.parse().ok()).expect("a line");
    assert!(at < line + 2 && line < at + 30, "{at} {line}");
    output.prints("Story US-2 has passes=true but reviewStatus is 'null'").says("US-2 depends on US-9");
    let found = env.ralph(&["stories", "check", "--json"]).exits(2).stdout;
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!((&found["ok"], &found["problems"][0]["story"]), (&json!(false), &json!("US-2")));
    env.write("ralph/tasks.json", &list(&[story("US-1")]));
    env.ralph(&["stories", "check"]).exits(0).prints("ralph/tasks.json: good. 1 stories, 1 open");
    env.ralph(&["-C", "..", "stories", "check"]).exits(2).says("ralph/tasks.json not found");
}

#[test]
fn list_shows_how_far_every_story_is() {
    let waits = with("US-3", &json!({"dependsOn": ["US-2"]}));
    let human = with("US-4", &json!({"kind": "human"}));
    let env = project(&list(&[approved("US-1", 2), submitted("US-2", 1), waits, human]));
    let shown = env.ralph(&["stories", "list"]).exits(0).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["STORY", "STATUS", "REVIEWS", "AFTER", "TITLE"]
    );
    assert!(
        lines[1].starts_with("US-1   approved      2 of 5") && lines[1].ends_with("Title of US-1"),
        "{shown}"
    );
    assert!(lines[2].contains("needs review  1 of 5"), "{shown}");
    assert!(lines[3].ends_with("US-2   Title of US-3 (waits for US-2)"), "{shown}");
    assert!(lines[4].ends_with("(is for a person)"), "{shown}");
    assert!(shown.contains("Next: review US-2 - Title of US-2. 1 for a person."), "{shown}");
    let found = env.ralph(&["stories", "list", "--json"]).exits(0).stdout;
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["next"], json!({"story": "US-2", "mode": "review"}));
    assert_eq!(found["stories"][2]["blocked"], "waits for US-2");
    env.write("ralph/tasks.json", &list(&[approved("US-1", 5), approved("US-2", 1), approved("US-3", 1)]));
    let output = env.ralph(&["stories", "list"]).exits(0);
    output.prints("Every story is done").prints("reviewing was cheap").prints("look here yourself: US-1");
}

#[test]
fn steps_are_taken_only_when_they_are_legal() {
    let env = project(&list(&[story("US-1")]));
    env.ralph(&["stories", "approve", "US-1"])
        .exits(2)
        .says("US-1 was not submitted")
        .says("ralph stories submit US-1");
    env.ralph(&["stories", "submit", "US-1", "--note", "Parser done"])
        .exits(0)
        .prints("reviewStatus needs_review");
    env.ralph(&["stories", "request-changes", "US-1"]).exits(2).says("must say which").says("--feedback");
    env.sh(&format!("echo 'Week 53.' | {} stories request-changes US-1", crate::env::RALPH)).exits(0);
    let now = &stories(&env)[0];
    assert_eq!((&now["reviewFeedback"], &now["reviewCount"]), (&json!("Week 53."), &json!(1)));
    assert_eq!(now["notes"], "noted\nParser done");
    env.ralph(&["stories", "submit", "US-1"]).exits(0);
    env.ralph(&["stories", "approve", "US-1"]).exits(0).prints("passes true, reviewCount 2");
    assert_eq!(stories(&env)[0]["reviewFeedback"], "");
    env.ralph(&["stories", "submit", "US-1"]).exits(2).says("US-1 is approved already");
    env.ralph(&["stories", "submit", "US-9"]).exits(2).says("there is no story `US-9`").says("US-1");
}

#[test]
fn from_no_reviews_back_to_reviews_there_is_a_command() {
    let passed = with("US-1", &json!({"passes": true}));
    let env = project(&list(&[story("US-1")]))
        .turns(json!([super::leaves(&list(&[passed])), super::leaves(&list(&[approved("US-1", 1)])),]));
    env.ralph(&["stories", "--skip-review"]).exits(0);
    env.ralph(&["stories"]).exits(2).says("not 'approved'").says("ralph stories reopen");
    env.ralph(&["stories", "reopen", "US-9"]).exits(2).says("there is no story `US-9`");
    env.ralph(&["stories", "reopen"]).exits(0).prints("US-1: reviewStatus needs_review, passes false");
    env.git(&["commit", "--quiet", "-am", "Review it"]);
    env.ralph(&["stories"]).exits(0);
    assert_eq!(super::turns(&env), ["review US-1"]);
    env.ralph(&["stories", "reopen"]).exits(2).says("no story passed without a review");
}

#[test]
fn a_cap_below_what_was_reviewed_is_explained() {
    let env = project(&list(&[submitted("US-1", 4)]))
        .settings(json!({"stories": {"reviewCap": 2}}))
        .turns(json!([super::leaves(&list(&[sent_back("US-1", 5, "Still not.")]))]));
    let told = "Story US-1 had 4 reviews and the review cap is 2";
    env.ralph(&["stories", "check"]).exits(0).says(told);
    env.ralph(&["stories"]).exits(7).says(told).says("Approved at the review cap: US-1");
}

#[test]
fn a_turn_takes_steps_by_commands_and_only_its_own() {
    let ralph = crate::env::RALPH;
    let try_it = |step: &str| shell(&format!("{ralph} stories {step} >>../steps 2>&1 || true"));
    let commit = super::commit();
    let env = project(&list(&[story("US-1")])).turns(json!([
        [try_it("approve US-1"), try_it("submit US-1"), try_it("check"), commit, say("Submitted.")],
        [try_it("check"), try_it("submit US-1"), try_it("approve US-1"), commit, say("Approved.")],
    ]));
    env.ralph(&["stories"]).exits(0);
    let steps = std::fs::read_to_string(env.root().join("steps")).expect("what was said");
    assert!(steps.contains("this is an implement turn; it may not do this to US-1"), "{steps}");
    assert!(steps.contains("ralph/tasks.json: good."), "{steps}");
    assert!(
        steps.contains("ralph/tasks.json: Review iteration made illegal transition on story US-1: nothing"),
        "{steps}"
    );
    assert!(steps.contains("this is a review turn; it may not do this to US-1"), "{steps}");
}

#[test]
fn no_one_outside_takes_steps_while_a_loop_runs() {
    let [there, go] = meet("../here");
    let env = project(&list(&[story("US-1")])).turns(json!([[there, go, say("Well.")]]));
    let running = env.start(&["stories", "-n", "1"]);
    env.await_file("../here");
    env.ralph(&["stories", "submit", "US-1"]).exits(2).says("a loop is running").says("ralph stop");
    env.ralph(&["stories", "archive"]).exits(2).says("another loop is working in this tree");
    assert!(env.path("ralph/tasks.json").exists() && !env.path("ralph-archive").exists());
    env.write("../here.go", "");
    running.wait().exits(1);
}

#[test]
fn archive_puts_everything_away_and_commits_it() {
    let env = project(
        &list(&[approved("US-1", 2), sent_back("US-2", 1, "no")]).replace("\"main\"", "\"ralph/search\""),
    );
    env.write("mine.txt", "not ralph's business");
    env.ralph(&["stories", "archive"]).exits(0).prints("-ralph-search (1 of 2 stories done, committed)");
    let folders = |env: &Env| -> Vec<String> {
        let entries = std::fs::read_dir(env.path("ralph-archive")).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let name = folders(&env).remove(0);
    let read = |file: &str| env.read(&format!("ralph-archive/{name}/{file}"));
    assert!(read("tasks.json").contains("US-2") && read("prd.md").contains("What is wanted"));
    assert!(read("progress.txt").contains("Started: 2026-11-01"));
    let summary = read("summary.md");
    for part in
        ["Stories: 1 of 2 done", "From 2026-11-01 to 20", "- [x] US-1", "- [ ] US-2", "Reviews: 3 in all"]
    {
        assert!(summary.contains(part), "no {part} in {summary}");
    }
    assert!(
        env.read("ralph/tasks.json").contains("US-001")
            && env.read("ralph/progress.txt").contains("Codebase")
    );
    assert!(env.read("ralph/prompt.md").contains("{{STORY_ID}}"), "the project's own prompt stays");
    assert_eq!(env.git(&["status", "--porcelain"]), "?? mine.txt\n");
    assert_eq!(env.commits_made()[0], format!("chore: archive {name}"));
    // Twice on one day, under a name of its own.
    env.ralph(&["stories", "archive", "--label", "a/b"]).exits(0);
    env.ralph(&["stories", "archive", "--label", "a/b"]).exits(0);
    let names = folders(&env);
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names[0].ends_with("-a-b") && names[1].ends_with("-a-b-2"), "{names:?}");
}

#[test]
fn the_schema_of_the_list_is_known() {
    let env = Env::new();
    let schema = env.ralph(&["schema", "tasks"]).exits(0).stdout;
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let required = schema["required"].as_array().expect("required");
    for key in ["project", "branchName", "description", "userStories"] {
        assert!(required.contains(&json!(key)), "{required:?}");
    }
    assert!(!required.contains(&json!("verifyCommands")));
}
