//! Every kind of repository.

use std::{fs, path::Path};

use serde_json::json;

use super::{caveats, commit, folder, judge, judge_with, missing, printed, project};
use crate::env::{Env, poll};

#[test]
fn a_project_in_a_folder_of_a_repository() {
    let env = project();
    env.write("lib/shared", "shared\n");
    env.write("app/x", "x\n");
    commit(&env);
    let app = env.path("app");
    let env = env.project_at(app);
    env.write("y", "not committed\n");
    let found = judge(&env, "pwd && cat x ../lib/shared && ls", 0);
    assert_eq!(printed(&found), format!("{}\nx\nshared\nx\n", env.project().display()));
    let found = judge_with(&env, &[], "cat y", 3);
    assert!(missing(&found).contains("not committed: "), "{found}");
    assert!(missing(&found).contains('y'), "{found}");
}

#[test]
fn a_linked_working_tree() {
    let env = project();
    env.git(&["branch", "other"]);
    let linked = env.root().join("linked");
    env.git(&["worktree", "add", "--quiet", &linked.display().to_string(), "other"]);
    let env = env.project_at(linked);
    env.write("b", "in the linked tree\n");
    commit(&env);
    let found = judge(&env, "cat a b && git rev-parse --abbrev-ref HEAD && git rev-parse --show-toplevel", 0);
    assert_eq!(
        printed(&found),
        format!("committed\nin the linked tree\nother\n{}\n", env.project().display())
    );
}

/// A repository beside the project, with one file in it.
fn beside(env: &Env, name: &str) -> String {
    let path = env.root().join(name);
    fs::create_dir(&path).expect("a folder");
    let git = |args: &[&str]| env.git_in(&path, args);
    git(&["init", "--quiet", "--initial-branch=main"]);
    fs::write(path.join("file"), format!("{name}\n")).expect("a file");
    git(&["add", "."]);
    git(&["-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "--quiet", "-m", name]);
    path.display().to_string()
}

fn submodule(env: &Env, folder: &Path, from: &str, to: &str) {
    let name = ["-c", "user.name=x", "-c", "user.email=x@localhost"];
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, to];
    env.git_in(folder, &add);
    env.git_in(folder, &[&name[..], &["commit", "--quiet", "-m", "a submodule"]].concat());
}

#[test]
fn submodules_come_from_what_the_user_has() {
    let env = project();
    let (inner, outer) = (beside(&env, "inner"), beside(&env, "outer"));
    submodule(&env, Path::new(&outer), &inner, "deep");
    submodule(&env, env.project(), &outer, "libs/outer");
    env.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive"]);
    // What the commit says about where they are does not matter.
    env.sh("sed -i 's,url = .*,url = https://example.invalid/x,' .gitmodules").exits(0);
    commit(&env);
    for path in [&inner, &outer] {
        fs::remove_dir_all(path).expect("it goes");
    }
    let script = "cat libs/outer/file libs/outer/deep/file && git -C libs/outer status --porcelain && \
                  git -C libs/outer log --format=%s -1 && git status --porcelain";
    let found = judge(&env, script, 0);
    assert_eq!(printed(&found), "outer\ninner\na submodule\n");
    assert_eq!(caveats(&found), [""; 0]);
    // What a guardrail changes in one is gone the next time.
    judge(&env, "echo evil > libs/outer/file; touch libs/outer/deep/new; echo x > libs/outer/.git/config", 0);
    assert_eq!(printed(&judge(&env, script, 0)), "outer\ninner\na submodule\n");
    judge(&env, "test ! -e libs/outer/deep/new", 0);
}

#[test]
fn submodules_that_no_one_has_are_empty() {
    let env = project();
    let lib = beside(&env, "lib");
    submodule(&env, env.project(), &lib, "lib");
    let found = judge(&env, "cat lib/file", 0);
    assert_eq!(caveats(&found), [""; 0]);
    // A commit that only the agent has seen.
    env.sh("cd lib && echo x > file && git -c user.name=x -c user.email=x commit -qam x").exits(0);
    env.git(&["commit", "--quiet", "-am", "newer"]);
    fs::remove_dir_all(env.path(".git/modules/lib")).expect("it goes");
    fs::remove_dir_all(&lib).expect("it goes");
    let found = judge(&env, "test ! -e lib/file", 0);
    assert_eq!(found["caveats"], json!([{"caveat": "submodules-missing", "paths": ["lib"]}]));
    // A name that leads elsewhere is none.
    env.sh(
        "sed -i 's,submodule \"lib\",submodule \"../../home\",' .gitmodules && git update-index .gitmodules && \
         git update-ref HEAD $(git commit-tree -p HEAD -m evil $(git write-tree))",
    )
    .exits(0);
    env.ralph(&["judge", "-g", "true"]).exits(6).says("disallowed submodule name");
}

#[test]
fn files_of_lfs_have_their_content() {
    let env = project();
    let content = "large\n".repeat(1000);
    let id = env.sh("yes large | head -1000 | sha256sum | cut -d' ' -f1").stdout.trim().to_owned();
    let object = env.path(".git/lfs/objects").join(&id[..2]).join(&id[2..4]).join(&id);
    super::write(&object, &content);
    env.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {}\n", content.len());
    env.write("data.bin", &pointer);
    env.write("other.bin", &pointer.replace(&id, &"0".repeat(64)));
    commit(&env);
    let found = judge(&env, "wc -l < data.bin && head -1 other.bin", 0);
    assert_eq!(printed(&found), "1000\nversion https://git-lfs.github.com/spec/v1\n");
    assert_eq!(found["caveats"], json!([{"caveat": "lfs-missing", "files": ["other.bin"]}]));
    // Content that is not what the pointer says is not used.
    fs::write(&object, content.replace("large", "wrong")).expect("an object");
    env.write("b", "more\n");
    env.write("copy.bin", &pointer);
    commit(&env);
    let found = judge(&env, "wc -l < data.bin && wc -l < copy.bin", 0);
    assert_eq!(printed(&found), "1000\n3\n");
    assert_eq!(found["caveats"][0]["files"], json!(["copy.bin", "other.bin"]));
    fs::write(&object, content).expect("an object");
    let found = judge(&env, "wc -l < copy.bin", 0);
    assert_eq!(printed(&found), "1000\n");
}

#[test]
fn a_sparse_checkout_stays_one() {
    let env = project();
    env.write("wanted/x", "x\n");
    env.write("unwanted/y", "y\n");
    commit(&env);
    env.git(&["sparse-checkout", "set", "wanted"]);
    let found = judge(&env, "ls && git status --porcelain", 0);
    assert_eq!(printed(&found), "README.md\na\nwanted\n");
    assert_eq!(caveats(&found), ["sparse-checkout"]);
    // What is not there in the working tree was not removed.
    let found = judge_with(&env, &["--worktree"], "git ls-tree --name-only HEAD", 0);
    assert!(printed(&found).contains("unwanted"), "{}", printed(&found));
    env.git(&["sparse-checkout", "disable"]);
    let found = judge(&env, "cat unwanted/y", 0);
    assert_eq!(caveats(&found), [""; 0]);
}

#[test]
fn a_partial_clone_is_not_completed() {
    let env = project();
    env.write("a", "second\n");
    env.write("big [1]*", "only on the remote\n");
    commit(&env);
    env.sh("git config uploadpack.allowFilter true && git clone -q --no-checkout --filter=blob:none file://$PWD ../partial && cd ../partial && git sparse-checkout set --no-cone '/a' && git checkout -q").exits(0);
    env.sh("cd ../partial && rm -f .git/info/sparse-checkout; git config --worktree core.sparseCheckout false; git config core.sparseCheckout false; git config user.name x; git config user.email x; git rev-list --objects --missing=print HEAD | grep -c '^?'");
    let remote = env.path(".git");
    let partial = env.root().join("partial");
    let env = env.project_at(partial);
    // A process that asks the remote now is noticed.
    fs::rename(&remote, remote.with_extension("away")).expect("it goes");
    let blobs =
        env.sh("GIT_NO_LAZY_FETCH=1 git rev-list --objects --missing=print HEAD | grep '^?' | wc -l").stdout;
    assert_ne!(blobs.trim(), "0", "nothing is missing");
    let found = judge(&env, "cat a && git log --oneline | wc -l", 0);
    assert_eq!(printed(&found).lines().next(), Some("second"));
    assert!(caveats(&found).contains(&"objects-missing".to_owned()), "{found}");
    // A new commit comes with what is new in it.
    env.sh("echo third > a && git add a && GIT_NO_LAZY_FETCH=1 git commit -qm third").exits(0);
    let found = judge(&env, "cat a", 0);
    assert_eq!(printed(&found), "third\n");
}

#[test]
fn a_shallow_clone() {
    let env = project();
    env.sh("git clone -q --depth 1 file://$PWD ../shallow").exits(0);
    let shallow = env.root().join("shallow");
    let env = env.project_at(shallow);
    let found = judge(&env, "cat a && git rev-list --count HEAD && git status --porcelain", 0);
    assert_eq!(printed(&found), "committed\n1\n");
    env.sh("echo second > a && git -c user.name=x -c user.email=x commit -qam second").exits(0);
    let found = judge(&env, "cat a && git rev-list --count HEAD", 0);
    assert_eq!(printed(&found), "second\n2\n");
}

#[test]
fn a_repository_with_sha256() {
    let env = Env::new();
    env.git(&["init", "--quiet", "--object-format=sha256", "--initial-branch=main"]);
    env.git(&["config", "user.name", "A Tester"]);
    env.git(&["config", "user.email", "tester@localhost"]);
    env.write("a", "committed\n");
    commit(&env);
    let found = judge(&env, "cat a && git rev-parse --show-object-format && git status --porcelain", 0);
    assert_eq!(printed(&found), "committed\nsha256\n");
    assert_eq!(found["commit"].as_str().map(str::len), Some(64));
    let found = judge_with(&env, &["--worktree"], "cat a", 0);
    assert_eq!(found["commit"].as_str().map(str::len), Some(64));
}

#[test]
fn no_commit_yet() {
    let env = Env::new().with_empty_git();
    env.write("a", "x\n");
    env.write(".gitignore", "ignored\n");
    env.write("ignored", "");
    let found = judge_with(&env, &[], "cat a && test ! -e ignored || test -z \"$RALPH_JUDGE\"", 0);
    assert_eq!(printed(&found), "x\n");
    // The project's own repository got nothing.
    assert_eq!(env.sh("git count-objects | cut -d' ' -f1").stdout.trim(), "0");
}

#[test]
fn no_repository() {
    let env = Env::new();
    env.write("a", "x\n");
    let output = env.ralph(&["judge", "-g", "cat a", "--json"]).exits(0);
    let found: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(caveats(&found), ["judged-in-place"]);
    assert_eq!(found["guardrails"][0]["inJudge"], json!(null));
    env.ralph(&["judge", "-g", "false"]).exits(3).prints("the project is not in a git repository");
}

#[test]
fn two_at_once_have_a_judge_each() {
    let env = project();
    let go = env.root().join("go");
    let wait = format!("touch ../waits; while test ! -e {}; do sleep 0.01; done", go.display());
    let first = env.start(&["judge", "--judge-only", "--json", "-g", &wait]);
    poll("the first judge", || env.root().join("waits").exists().then_some(()));
    let found = judge(&env, "cat a", 0);
    assert!(folder(&found).ends_with("judge-2"), "{found}");
    fs::write(go, "").expect("a file");
    let output = first.wait().exits(0);
    assert!(output.stdout.contains("/judge\""), "{}", output.stdout);
    assert!(folder(&judge(&env, "cat a", 0)).ends_with("judge"));
}

#[test]
fn refs_that_lead_nowhere_are_not_in_the_way() {
    let env = project();
    let nowhere = "1".repeat(40);
    super::write(&env.path(".git/refs/heads/broken"), &format!("{nowhere}\n"));
    let found = judge(&env, "cat a", 0);
    assert_eq!(printed(&found), "committed\n");
}

#[test]
fn many_fetches_leave_few_packs() {
    let env = project();
    let mut last = None;
    for number in 0..45 {
        env.write("a", &format!("{number}\n"));
        commit(&env);
        last = Some(judge(&env, "cat a", 0));
    }
    let packs = folder(&last.expect("the last")).join("store.git/objects/pack");
    let packs = fs::read_dir(packs).expect("packs").flatten();
    assert!(packs.filter(|entry| entry.path().extension().is_some_and(|it| it == "pack")).count() < 41);
}
