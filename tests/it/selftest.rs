//! `ralph selftest`: a few entries of the catalogue; all of them are a step of `cargo xtask ci`.

mod project;

use serde_json::{Value, json};

use crate::env::Env;

/// What became of these entries.
#[track_caller]
fn trials(env: &Env, flags: &[&str], code: i32) -> Value {
    let output = env.ralph(&[&["selftest", "--json"], flags].concat()).exits(code);
    serde_json::from_str(&output.stdout).expect("JSON")
}

fn of<'a>(all: &'a Value, id: &str) -> &'a Value {
    let entries = all["entries"].as_array().expect("entries");
    entries.iter().find(|entry| entry["id"] == id).unwrap_or_else(|| panic!("no {id} in {all}"))
}

#[test]
fn cheats_and_honest_changes_end_as_they_should() {
    let env = Env::new();
    let only = ["sh-delete-check", "sh-forged-claim", "sh-new-check", "sh-outside-file"];
    let flags: Vec<&str> = only.iter().flat_map(|id| ["--only", id]).collect();
    let all = trials(&env, &flags, 0);
    assert_eq!(all["entries"].as_array().map(Vec::len), Some(4));
    for (id, verdict) in
        [("sh-delete-check", "finding"), ("sh-forged-claim", "refused"), ("sh-new-check", "passed")]
    {
        assert_eq!(of(&all, id)["verdict"], verdict, "{all}");
    }
    assert_eq!(of(&all, "sh-delete-check")["findings"], json!(["checks_changed", "fewer_tests"]));
    // Only a sandbox keeps it from that: it is named and does not count.
    assert_eq!(of(&all, "sh-outside-file")["verdict"], "passed");
    assert_eq!(of(&all, "sh-outside-file")["closedBy"], "--sandbox");
    assert_eq!(all["isFine"], true);
    // Nothing is left, and nothing was written where the user is.
    let left = std::fs::read_dir(env.root().join("tmp")).expect("a folder").count();
    assert_eq!(left, 0, "temporary files");
    assert!(!env.root().join("state").exists(), "a record");
}

#[test]
fn the_program_may_have_any_name() {
    let env = Env::new();
    let renamed = env.root().join("my-loop");
    std::fs::copy(crate::env::RALPH, &renamed).expect("a copy");
    let renamed = renamed.to_str().expect("a name");
    let args = ["selftest", "--json", "--only", "sh-delete-check", "--only", "sh-new-check"];
    let output = env.start_command(env.command(renamed).args(args)).wait().exits(0);
    let all: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let verdicts = ["sh-delete-check", "sh-new-check"].map(|id| of(&all, id)["verdict"].clone());
    assert_eq!(verdicts, ["finding", "passed"], "{all}");
    env.start_command(env.command(renamed).arg("demo")).wait().exits(0).prints("Complete");
}

#[test]
fn the_rules_are_those_of_the_settings_or_the_strictest() {
    let env = Env::new().settings(json!({"verify": {"onFinding": "report", "testsMayChange": true}}));
    let only = ["--only", "sh-always-ok"];
    // A cheat that the settings allow passes, and that is said.
    let all = trials(&env, &only, 3);
    assert_eq!(of(&all, "sh-always-ok")["isWrong"], true, "{all}");
    env.ralph(&[&["selftest"], &only[..]].concat())
        .exits(3)
        .prints("passed: sh-always-ok")
        .prints("closed by: ");
    let all = trials(&env, &[&only[..], &["--strict"]].concat(), 0);
    assert_eq!(of(&all, "sh-always-ok")["verdict"], "refused", "{all}");
}

#[test]
fn other_loops_are_deceived() {
    let env = Env::new();
    let only = ["--only", "sh-exit-zero", "--only", "sh-forged-claim"];
    let bash = trials(&env, &[&only[..], &["--loop", "bash"]].concat(), 3);
    assert_eq!(
        (&of(&bash, "sh-exit-zero")["verdict"], &of(&bash, "sh-forged-claim")["verdict"]),
        (&json!("passed"), &json!("refused"))
    );
    let tag = trials(&env, &[&only[..], &["--loop", "tag"]].concat(), 3);
    assert_eq!(tag["cheats"]["passed"], 2, "{tag}");
}

#[test]
fn the_entries_are_listed_and_chosen_by_name() {
    let env = Env::new();
    let list = env.ralph(&["selftest", "--list"]).exits(0);
    let list = list.prints("py-skip").prints("skipped tests: skips the failing test").stdout;
    assert!(100 < list.lines().count());
    env.ralph(&["selftest", "--list", "--only", "skipped tests"])
        .exits(0)
        .prints("go-skip")
        .prints_not("py-delete");
    let all = env.ralph(&["selftest", "--list", "--json", "--only", "py-skip"]).exits(0).stdout;
    let all: Value = serde_json::from_str(&all).expect("JSON");
    assert_eq!(
        (&all["entries"][0]["fixture"], &all["entries"][0]["seenBy"]),
        (&json!("python"), &json!("machine"))
    );
    env.ralph(&["selftest", "--only", "nothing"]).exits(2).says("no entry is called `nothing`");
}
