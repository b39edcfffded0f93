//! Exactly the commit is judged, whatever lies in the working tree.

use serde_json::json;

use super::{caveats, commit, folder, judge, judge_with, missing, printed, project};
use crate::env::Env;

#[test]
fn a_commit_is_judged_and_nothing_else() {
    let env = project();
    env.write("a", "changed\n");
    env.write("new", "");
    let found = judge(&env, "cat a && ls -A", 0);
    assert_eq!(printed(&found), "committed\n.git\nREADME.md\na\n");
    assert_eq!(found["commit"], env.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(caveats(&found), [""; 0]);
    // The working tree is left alone.
    assert_eq!(env.read("a"), "changed\n");
}

#[test]
fn what_differs_is_named() {
    let env = project();
    env.write(".gitignore", ".env\n");
    commit(&env);
    env.write("a", "changed\n");
    env.write("new.txt", "");
    env.write(".env", "x=1");
    let found = judge_with(&env, &[], "grep -q changed a && cat .env", 3);
    let row = &found["guardrails"][0];
    assert_eq!((&row["inPlace"]["passed"], &row["proof"]), (&json!(true), &json!("fails-in-judge")));
    assert!(missing(&found).contains("only in the working tree, not committed: a, new.txt"), "{found}");
    let found = judge_with(&env, &[], "cat .env", 3);
    assert!(missing(&found).contains(r#"{\"carry\": [\".env\"]}"#), "{found}");
}

#[test]
fn earlier_commits_and_the_working_tree() {
    let env = project();
    env.write("a", "second\n");
    commit(&env);
    env.write("a", "third\n");
    env.write("sub/new", "new\n");
    for (what, expected) in [("HEAD", "second\n"), ("HEAD~1", "committed\n"), ("main", "second\n")] {
        let found = judge_with(&env, &["--judge-only", what], "cat a", 0);
        assert_eq!(printed(&found), expected, "{what}");
    }
    let found = judge_with(&env, &["--worktree"], "cat a sub/new", 0);
    assert_eq!(printed(&found), "third\nnew\n");
    env.git(&["rm", "--quiet", "--force", "a"]);
    judge_with(&env, &["--worktree"], "test ! -e a", 0);
    judge(&env, "test -e a && test ! -e sub", 0);
    env.ralph(&["judge", "nothing-like-this", "-g", "true"])
        .exits(2)
        .says("`nothing-like-this` is not a commit");
}

#[test]
fn another_commit_is_not_compared_with_the_working_tree() {
    let env = project();
    env.write("a", "second\n");
    commit(&env);
    let found = judge_with(&env, &["HEAD~1"], "cat a", 0);
    assert_eq!(found["guardrails"][0]["inPlace"], json!(null));
    let found = judge_with(&env, &[], "cat a", 0);
    assert_eq!(found["guardrails"][0]["proof"], "proven");
}

#[test]
fn files_that_were_dirty_before_are_laid_over_it() {
    let env = project();
    env.write("a", "dirty\n");
    env.write("b/c", "untracked\n");
    env.git(&["rm", "--quiet", "--cached", "README.md"]);
    std::fs::remove_file(env.path("README.md")).expect("a file");
    let flags = ["--judge-only", "--with", "a", "--with", "b/c", "--with", "README.md"];
    let found = judge_with(&env, &flags, "cat a b/c && test ! -e README.md", 0);
    assert_eq!(printed(&found), "dirty\nuntracked\n");
    let files = json!(["a", "b/c", "README.md"]);
    assert_eq!(found["caveats"], json!([{"caveat": "uncommitted-base", "files": files}]));
    // The next one is the commit again.
    let found = judge(&env, "cat a && test ! -e b && test -e README.md", 0);
    assert_eq!(printed(&found), "committed\n");
}

#[test]
fn history_branches_and_tags_are_there() {
    let env = project();
    env.git(&["tag", "v1.2"]);
    env.git(&["branch", "other", "HEAD~1"]);
    env.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    env.git(&["remote", "add", "origin", "https://user:secret@example.invalid/x.git"]);
    env.git(&["config", "branch.main.remote", "origin"]);
    env.git(&["config", "branch.main.merge", "refs/heads/main"]);
    env.write("a", "second\n");
    commit(&env);
    let script = "git rev-parse --show-toplevel --abbrev-ref HEAD && git describe --tags --abbrev=0 && \
                  git rev-list --count HEAD && git diff --name-only origin/main && \
                  git log -1 --format=%s other && git rev-parse --abbrev-ref @{upstream} && git status --porcelain";
    let found = judge(&env, script, 0);
    let expected = format!("{}\nmain\nv1.2\n3\na\nfirst\norigin/main\n", env.project().display());
    assert_eq!(printed(&found), expected);
    let config = judge(&env, "cat .git/config; ls .git/hooks 2>&1; git fetch origin", 3);
    let said = printed(&config);
    assert!(!said.contains("secret") && !said.contains("example.invalid"), "{said}");
}

#[test]
fn hooks_filters_and_settings_of_the_project_do_not_reach_it() {
    let env = project();
    let evil = format!("touch {}", env.root().join("ran").display());
    for (name, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("filter.evil.smudge", &evil),
        ("filter.evil.clean", &evil),
        ("filter.evil.required", "true"),
        ("core.sshCommand", &evil),
        ("uploadpack.packObjectsHook", &evil),
    ] {
        env.git(&["config", name, value]);
    }
    env.git(&["config", "core.hooksPath", &env.root().join("hooks").display().to_string()]);
    for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
        super::write(&env.root().join("hooks").join(hook), &format!("#!/bin/sh\n{evil}\n"));
    }
    env.sh("chmod +x ../hooks/*");
    env.write(".gitattributes", "* filter=evil\n");
    env.sh("git -c filter.evil.clean=cat -c core.fsmonitor= -c core.hooksPath=/ add .gitattributes && git -c core.fsmonitor= -c core.hooksPath=/ commit -q -m attributes").exits(0);
    let _ = std::fs::remove_file(env.root().join("ran"));
    let found = judge(&env, "cat a", 0);
    assert_eq!(printed(&found), "committed\n");
    assert_eq!(caveats(&found), ["filters-not-run"]);
    assert!(!env.root().join("ran").exists(), "something of the project's ran");
}

#[test]
fn a_table_for_people() {
    let env = project();
    let output = env.ralph(&["judge", "-g", "test -e a", "-g", "exit 7"]).exits(3);
    let out = &output.stdout;
    assert!(
        out.contains("guardrail") && out.contains("in the working tree") && out.contains("in the judge"),
        "{out}"
    );
    assert!(out.contains("exit 7") && out.contains("1 of 2 failed in the judge."), "{out}");
    env.ralph(&["judge", "-g", "test -e a"]).exits(0).prints("All 1 passed in the judge.");
}

#[test]
fn guardrails_of_the_settings_or_of_the_files() {
    let env = project().guardrails(&["test -e a", "true"]);
    let output = env.ralph(&["judge", "--json"]).exits(0);
    assert!(output.stdout.contains(r#""command":"test -e a""#), "{}", output.stdout);
    let env = project();
    env.ralph(&["judge"]).exits(2).says("there are no guardrails to run");
    env.write("Makefile", "test:\n\ttest -e a\n");
    commit(&env);
    env.ralph(&["judge"]).exits(0).says("the project's files suggest: make test");
}

#[test]
fn a_guardrail_that_takes_too_long_fails() {
    let env = project().settings(json!({"limits": {"gateTimeout": 0.3}}));
    let found = judge(&env, "sleep 60", 3);
    assert_eq!(found["guardrails"][0]["inJudge"]["code"], json!(null));
    assert_eq!(env.alive(), []);
}

#[test]
fn variables_say_that_it_is_a_judge() {
    let env = project().variable("CARGO_TARGET_DIR", "/somewhere/else").variable("GIT_DIR", "/nowhere");
    let script = "test $RALPH_JUDGE = 1 && test -n \"$COMPOSE_PROJECT_NAME\" && test $RALPH_PORT_BASE -ge 20000 && \
                  echo $GOCACHE && echo $CARGO_TARGET_DIR && test -z \"$GIT_DIR\" && test -w \"$TMPDIR\"";
    // Git itself would believe the variable in the working tree.
    let env = Env::variable(env, "GIT_DIR", "");
    let found = judge(&env, script, 0);
    let cache = env.path(".git/ralph-cache");
    assert_eq!(printed(&found), format!("{0}/go-build\n{0}/cargo-target\n", cache.display()));
    assert!(!folder(&found).join("view").exists());
}
