//! `ralph guard` from the outside.

use std::fs;

use serde_json::{Value, json};

use crate::{
    env::Env,
    hook::{self, ask, recorded},
};

/// The user's list of rules that are switched off.
fn allow(env: &Env, text: &str) {
    let folder = env.root().join("config/ralph");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("guard.json"), text).expect("the list");
}

fn with_config(env: Env) -> Env {
    let config = env.root().join("config").display().to_string();
    env.variable("XDG_CONFIG_HOME", &config)
}

#[test]
fn what_may_run_and_what_may_not() {
    let env = Env::new();
    env.ralph(&["guard", "check", "cargo test"]).exits(0).prints("allowed\n");
    let blocked = env.ralph(&["guard", "check", "git push --force"]).exits(1).prints("blocked\n");
    blocked.prints("git-push-force (git): `git push --force`").prints("Push without force");
    env.ralph(&["guard", "check", "echo x > ~/notes.txt"])
        .exits(0)
        .prints("allowed, with a warning")
        .prints("write-home");
    env.ralph(&["guard", "check"]).exits(2).says("<COMMAND>");
}

#[test]
fn the_project_is_where_ralph_works() {
    let env = Env::new();
    let inside = env.path("build").display().to_string();
    env.ralph(&["guard", "check", &format!("rm -rf {inside}")]).exits(0);
    let root = env.project().display().to_string();
    env.ralph(&["guard", "check", &format!("rm -rf {root}")]).exits(1).prints("delete-project");
}

#[test]
fn the_steps_are_explained() {
    let env = Env::new();
    let output = env.ralph(&["guard", "check", "--explain", "X=rm; sudo sh -c \"$X -rf /etc\""]).exits(1);
    output.prints("become-root").prints("delete-outside").prints("would run:").prints("  rm -rf /etc\n");
}

#[test]
fn programs_read_json() {
    let env = Env::new();
    let output = env.ralph(&["guard", "check", "--json", "rm -rf /"]).exits(1);
    let verdict: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(verdict["decision"], "block");
    assert_eq!(verdict["findings"][0]["rule"], "delete-outside");
    assert_eq!(verdict["findings"][0]["category"], "file-system");
    assert_eq!(verdict["commands"][0], "rm -rf /");
    let rules: Value =
        serde_json::from_str(&env.ralph(&["guard", "rules", "--json"]).exits(0).stdout).expect("JSON");
    assert!(rules.as_array().is_some_and(|rules| 50 < rules.len()));
    env.ralph(&["guard", "rules"]).exits(0).prints("harness-files").prints("file-system\n");
}

#[test]
fn files_and_tools_are_judged_too() {
    let env = Env::new();
    env.write("a.sh", "set -e\nrm -rf /usr\n");
    env.ralph(&["guard", "check", "--file", "a.sh"]).exits(1).prints("delete-outside");
    env.ralph(&["guard", "check", "--file", "nothing.sh"]).exits(2).says("nothing.sh");
    let input = "{\"file_path\": \".ralph-active\"}";
    env.ralph(&["guard", "check", "--tool", "Write", "--input", input]).exits(1).prints("harness-files");
    env.ralph(&["guard", "check", "--tool", "Write", "--input", "x"]).exits(2).says("--input is not JSON");
}

#[test]
fn the_user_switches_rules_off_and_a_project_cannot() {
    let env = with_config(Env::new());
    env.write(".ralph/guard.json", "{\"allow\": [\"publish\"]}");
    env.ralph(&["guard", "check", "npm publish"]).exits(1);
    allow(&env, "{\"allow\": [\"publish\", \"git-push-forc\"]}");
    let output =
        env.ralph(&["guard", "check", "--explain", "npm publish"]).exits(0).prints("switched off by you");
    output.says("there is no rule `git-push-forc`; did you mean `git-push-force`?").says("guard.json");
    allow(&env, "{\"alow\": []}");
    env.ralph(&["guard", "check", "ls"])
        .exits(2)
        .says("guard.json:1: not a list of rules: unknown field `alow`")
        .says("hint:");
}

/// A rule that is right, but for what stands in its `match`.
fn own_rule(example: &str) -> String {
    let list = json!({"rules": [{
        "id": "no-prod", "patterns": ["ssh *prod*"], "instead": "Ask Ann.",
        "match": [example], "not_match": ["ssh dev"],
    }]});
    format!("{list:#}")
}

#[test]
fn the_user_adds_rules_and_a_project_cannot() {
    let env = with_config(Env::new());
    env.write(".ralph/guard.json", &own_rule("ssh prod"));
    let ignored = env.ralph(&["guard", "check", "ssh prod-1 uptime"]).exits(0);
    ignored.says(".ralph/guard.json is ignored: rules are yours, in");
    allow(&env, &own_rule("ssh prod"));
    let check = |command: &str| env.ralph(&["guard", "check", command]);
    check("x=prod-1; sh -c \"ssh $x uptime\"")
        .exits(1)
        .prints("no-prod (own): `ssh prod-1 uptime`")
        .prints("Ask Ann.");
    check("ssh dev uptime").exits(0);
    check("git push --force").exits(1).prints("git-push-force");
    env.ralph(&["guard", "rules"]).exits(0).prints("own\n  no-prod                  blocks  Ask Ann.");
    env.ralph(&["guard", "rules", "--json"]).exits(0).prints("\"id\": \"no-prod\"");
}

#[test]
fn a_rule_that_does_not_do_what_it_says_has_everything_refused() {
    let env = with_config(Env::new());
    allow(&env, &own_rule("ssh dev-1"));
    let wrong = "guard.json:7: not a list of rules: rule `no-prod`: it does not find `ssh dev-1`, which is in `match`";
    env.ralph(&["guard", "check", "ls"]).exits(2).says(wrong).says("the guard refuses everything");
    let mut call = recorded("claude-pre-tool-use-bash", "s");
    call["tool_input"] = json!({"command": "ls"});
    let hook = hook::call(&env, &["pre-tool-use"], call.to_string().as_bytes());
    hook.exits(2).says("ralph's guard cannot judge this call").says(wrong);
    allow(&env, &own_rule("ssh prod"));
    ask(&env, &["pre-tool-use"], &call);
    call["tool_input"] = json!({"command": "ssh prod uptime"});
    let answer = ask(&env, &["pre-tool-use"], &call);
    assert!(
        answer.to_string().contains("blocked by ralph's guard (no-prod): `ssh prod uptime`. Ask Ann."),
        "{answer}"
    );
}

#[test]
fn a_corpus_is_measured() {
    let env = Env::new();
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../guard/fixtures/corpus.tsv");
    env.ralph(&["guard", "corpus", corpus]).exits(0).prints("fs_destroy").prints("all ");
    env.write("bad.tsv", "block\tx\techo hi\n");
    env.ralph(&["guard", "corpus", "--wrong", "bad.tsv"]).exits(1).prints("missed: echo hi");
    env.write("bad.tsv", "allow\tx\tls\nmaybe\tx\tls\n");
    env.ralph(&["guard", "corpus", "bad.tsv"]).exits(2).says("bad.tsv:2");
}
