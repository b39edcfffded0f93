//! `ralph stories import`: lists of other tools become stories, and what is done goes back.

use serde_json::{Value, json};

use crate::env::Env;

const SPEC_KIT: &str = include_str!("../../../crates/core/fixtures/imports/spec-kit/tasks.md");
const OPEN_SPEC: &str = include_str!("../../../crates/core/fixtures/imports/openspec/tasks.md");
const PROPOSAL: &str = include_str!("../../../crates/core/fixtures/imports/openspec/proposal.md");
const SPEC: &str = include_str!("../../../crates/core/fixtures/imports/openspec/specs/weeks/spec.md");
const SNARKTANK: &str = include_str!("../../../crates/core/fixtures/imports/snarktank/prd.json");

fn tasks(env: &Env) -> Value {
    serde_json::from_str(&env.read("ralph/tasks.json")).expect("JSON")
}

#[test]
fn a_list_comes_in_and_its_ticks_go_back() {
    let env = Env::new().with_empty_git();
    env.write("specs/001-weeks/tasks.md", SPEC_KIT);
    env.write("specs/001-weeks/plan.md", "# Plan\n");
    let shown = env.ralph(&["stories", "import", "specs/001-weeks", "--dry-run", "--json"]).exits(0).stdout;
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((&shown["kind"], &shown["file"]), (&json!("spec-kit"), &json!("specs/001-weeks/tasks.md")));
    assert_eq!((&shown["stories"][0]["id"], &shown["stories"][0]["line"]), (&json!("T001"), &json!(19)));
    assert!(!env.path("ralph").exists(), "a dry run wrote");
    env.ralph(&["stories", "import", "specs/001-weeks/tasks.md"])
        .exits(0)
        .prints("9 new stories")
        .prints("T001  Create the module in src/weeks/ (to be reviewed)")
        .prints("written: ralph/tasks.json");
    assert!(env.read("ralph/prd.md").contains("`specs/001-weeks/plan.md`"));
    env.ralph(&["stories", "check"]).exits(0).prints("9 stories, 9 open");
    // Nothing of it is approved because its source says so.
    let mut list = tasks(&env);
    assert_eq!(
        (&list["userStories"][0]["passes"], &list["userStories"][0]["reviewStatus"]),
        (&json!(false), &json!("needs_review"))
    );
    // Only what a review approved is ticked.
    env.ralph(&["stories", "import", "specs/001-weeks/tasks.md", "--tick"])
        .exits(0)
        .prints("nothing to tick");
    list["userStories"][1]["passes"] = json!(true);
    list["userStories"][1]["reviewStatus"] = json!("approved");
    list["userStories"][1]["reviewCount"] = json!(1);
    list["userStories"][1]["notes"] = json!("done");
    env.write("ralph/tasks.json", &format!("{list:#}\n"));
    env.ralph(&["stories", "import", "specs/001-weeks", "--tick", "--dry-run"])
        .exits(0)
        .prints("would tick: T002");
    assert_eq!(env.read("specs/001-weeks/tasks.md"), SPEC_KIT);
    env.ralph(&["stories", "import", "specs/001-weeks", "--tick"])
        .exits(0)
        .prints("specs/001-weeks/tasks.md:20: ticked: T002");
    assert_eq!(env.read("specs/001-weeks/tasks.md"), SPEC_KIT.replace("- [ ] T002", "- [x] T002"));
}

#[test]
fn a_list_that_is_there_is_kept() {
    let env = Env::new().with_empty_git();
    env.write("openspec/changes/add-weeks/tasks.md", OPEN_SPEC);
    env.write("openspec/changes/add-weeks/proposal.md", PROPOSAL);
    env.write("openspec/changes/add-weeks/specs/weeks/spec.md", SPEC);
    env.write("prd.json", SNARKTANK);
    env.ralph(&["stories", "init", "--name", "weeks"]).exits(0);
    env.write("ralph/prd.md", "mine");
    let change = "openspec/changes/add-weeks";
    // What `init` wrote and no one has filled in makes room, but is copied all the same.
    env.ralph(&["stories", "import", change, "--skip-done"])
        .exits(0)
        .prints("openspec, 3 new stories")
        .prints("1 task left out: done there")
        .prints("ralph/tasks.before-import-1.json, the list from before");
    assert_eq!(env.read("ralph/prd.md"), "mine");
    assert_eq!(tasks(&env)["project"], "add-weeks");
    let first = env.read("ralph/tasks.json");
    env.ralph(&["stories", "import", change, "--skip-done"])
        .exits(0)
        .prints("3 stories are already in the list");
    assert_eq!(env.read("ralph/tasks.json"), first);
    env.ralph(&["stories", "import", "prd.json"]).exits(0).prints("prd-json, 3 new stories");
    assert_eq!(env.read("ralph/tasks.before-import-2.json"), first);
    assert_eq!(tasks(&env)["userStories"].as_array().map(Vec::len), Some(6));
    env.ralph(&["stories", "import", "prd.json", "--replace"]).exits(0).prints("tasks.before-import-3.json");
    assert_eq!(tasks(&env)["userStories"].as_array().map(Vec::len), Some(3));
    // A PRD that is missing says what is wanted.
    std::fs::remove_dir_all(env.path("ralph")).expect("a folder");
    env.ralph(&["stories", "import", change]).exits(0);
    let prd = env.read("ralph/prd.md");
    assert!(prd.contains("Reports are made by week") && prd.contains("- ISO weeks (added)"), "{prd}");
    env.ralph(&["stories", "check"]).exits(0);
}

#[test]
fn bad_input_names_file_and_line() {
    let env = Env::new().with_empty_git();
    env.write("TODO.md", "# Work\n\n- [ ] one\n- [] two\n- [?] three\n");
    env.ralph(&["stories", "import", "TODO.md"])
        .exits(2)
        .says("TODO.md:4: expected `[ ]` or `[x]`")
        .says("TODO.md:5: expected `[ ]` or `[x]`")
        .says("it was read as check-list");
    env.write("prd.json", "{\n  \"userStories\": [{\"id\": \"a\"}]\n}");
    env.ralph(&["stories", "import", "prd.json"]).exits(2).says("prd.json:2: userStories[0].title: missing");
    std::fs::write(env.path("latin.md"), b"- [ ] one\n- [ ] caf\xe9\n").expect("a file");
    env.ralph(&["stories", "import", "latin.md"]).exits(2).says("latin.md:2: not UTF-8 text");
    std::fs::create_dir(env.path("empty")).expect("a folder");
    env.ralph(&["stories", "import", "empty"]).exits(2).says("there is no tasks.md and no prd.json in empty");
    env.ralph(&["stories", "import", "missing.md"]).exits(2).says("cannot read missing.md");
    assert!(!env.path("ralph").exists());
}
