//! Ways to show the judge something else than was committed, and to change what it will see next.

use std::{fs, io::Write, path::Path};

use super::{commit, folder, judge, judge_with, missing, printed, project, write};
use crate::env::Env;

/// The file of a loose object.
fn loose(env: &Env, revision: &str) -> std::path::PathBuf {
    let id = env.git(&["rev-parse", revision]);
    env.path(".git/objects").join(&id[..2]).join(id[2..].trim())
}

/// Gives a loose object other content under the same name.
fn rewrite(env: &Env, revision: &str, content: &str) {
    let file = loose(env, revision);
    let script = format!(
        "import os, sys, zlib; f = sys.argv[1]; os.chmod(f, 0o644); \
         open(f, 'wb').write(zlib.compress(b'blob {}\\0' + {content:?}.encode()))",
        content.len()
    );
    let output = env.command("python3").args(["-c", &script]).arg(file).output().expect("python3");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_rewritten_object_does_not_reach_it() {
    let env = project();
    env.write("tests/run", "exit 1\n");
    commit(&env);
    rewrite(&env, "HEAD:tests/run", "exit 0\n");
    // Git itself believes it.
    assert_eq!(env.git(&["cat-file", "-p", "HEAD:tests/run"]), "exit 0\n");
    env.sh("git checkout --quiet HEAD -- tests/run; rm tests/run; git checkout --quiet HEAD -- tests/run");
    assert_eq!(env.read("tests/run"), "exit 0\n");
    let output = env.ralph(&["judge", "-g", "sh tests/run", "--judge-only"]).exits(6);
    assert!(output.stderr.contains("not judged: the commit cannot be fetched"), "{}", output.stderr);
    // Not even if the judge knows everything else.
    env.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
    judge(&env, "test ! -e tests", 0);
    env.git(&["reset", "--quiet", "--soft", "ORIG_HEAD"]);
    env.ralph(&["judge", "-g", "sh tests/run", "--judge-only"]).exits(6);
}

#[test]
fn replaced_and_borrowed_objects_do_not_reach_it() {
    let env = project();
    let (good, evil) = (env.git(&["rev-parse", "HEAD:a"]), {
        env.write("evil", "evil\n");
        env.git(&["hash-object", "-w", "evil"])
    });
    env.git(&["replace", good.trim(), evil.trim()]);
    assert_eq!(env.git(&["cat-file", "-p", "HEAD:a"]), "evil\n");
    let found = judge(&env, "cat a && git cat-file -p HEAD:a", 0);
    assert_eq!(printed(&found), "committed\ncommitted\n");
    // Nothing of the judge's is the project's: no shared inode, no way back.
    let store = folder(&found).join("store.git");
    assert!(!store.join("objects/info/alternates").exists());
    let shared = env.sh(&format!("find {} -type f -links +1", store.display())).stdout;
    assert_eq!(shared, "");
}

/// A change that the project's git does not see passes in the working tree, and not in the judge, which names it.
#[track_caller]
fn unseen_change(hide: impl Fn(&Env)) {
    let env = project();
    hide(&env);
    assert_eq!(env.git(&["status", "--porcelain", "--", "a"]), "", "git sees the change");
    let found = judge_with(&env, &[], "grep -q fixed a", 3);
    assert_eq!(found["guardrails"][0]["inPlace"]["passed"], true);
    assert!(missing(&found).contains("not committed: a"), "{found}");
}

#[test]
fn files_that_git_was_told_to_overlook() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        unseen_change(|env| {
            env.git(&["update-index", flag, "a"]);
            env.write("a", "fixed\n");
        });
    }
    // A large file of the same size and time.
    unseen_change(|env| {
        let long = |word: &str| word.repeat(300_000);
        env.write("a", &long("broke"));
        commit(env);
        env.git(&["config", "core.trustctime", "false"]);
        env.git(&["config", "core.checkStat", "minimal"]);
        env.sh("touch -d '2 hours ago' a && git update-index --refresh && cp -p a ../old").exits(0);
        env.write("a", &long("fixed"));
        env.sh("touch -r ../old a").exits(0);
    });
}

#[test]
fn files_that_are_excluded_or_in_another_repository() {
    let env = project();
    let mut exclude =
        fs::OpenOptions::new().append(true).open(env.path(".git/info/exclude")).expect("a file");
    exclude.write_all(b"needed\n").expect("it is written");
    env.write("needed", "");
    let found = judge_with(&env, &[], "cat needed", 3);
    assert!(missing(&found).contains("`needed` is ignored by git"), "{found}");

    let env = project();
    env.sh("git init -q vendor/lib && echo x > vendor/lib/file").exits(0);
    let found = judge_with(&env, &[], "cat vendor/lib/file", 3);
    assert!(missing(&found).contains("vendor/lib"), "{found}");
    // As a link to a commit that is nowhere else it is empty.
    env.sh("cd vendor/lib && git add . && git -c user.name=x -c user.email=x commit -qm x").exits(0);
    env.sh("git -c advice.addEmbeddedRepo=false add vendor && git commit -qm nested").exits(0);
    judge_with(&env, &[], "cat vendor/lib/file", 3);
}

#[test]
fn what_a_guardrail_changes_is_gone_the_next_time() {
    let env = project();
    env.write("sub/b", "b\n");
    env.git(&["tag", "v1"]);
    commit(&env);
    let check =
        "cat a sub/b && git status --porcelain && git rev-parse --abbrev-ref HEAD && ls -A && git tag";
    let change = "echo evil > a; rm -r sub; ln -s / sub; touch new; git checkout -q --detach; git tag -d v1; \
                  git config core.fsmonitor 'touch /tmp/x'; echo '#!/bin/sh' > .git/hooks/pre-commit; \
                  git update-index --skip-worktree README.md; rm -rf .git/objects/info";
    let before = printed(&judge(&env, check, 0));
    assert_eq!(before, "committed\nb\nmain\n.git\nREADME.md\na\nsub\nv1\n");
    for then in ["true", "false"] {
        let code = if then == "true" { 0 } else { 3 };
        judge(&env, &format!("{change}; {then}"), code);
        assert_eq!(printed(&judge(&env, check, 0)), before, "after {then}");
    }
}

#[test]
fn a_size_and_a_time_that_stay_the_same_do_not_hide_a_change() {
    let env = project();
    let found = judge(&env, "cat a", 0);
    let file = folder(&found).join("tree/a");
    let time = fs::metadata(&file).and_then(|file| file.modified()).expect("a time");
    // As an attacker who gets at the judge's own files would do it.
    fs::write(&file, "committex\n").expect("a file");
    fs::File::options().write(true).open(&file).and_then(|it| it.set_modified(time)).expect("the old time");
    let found = judge(&env, "cat a", 0);
    assert_eq!(printed(&found), "committed\n");
}

#[test]
fn a_judge_that_was_tampered_with_is_made_anew() {
    let env = project();
    let found = judge(&env, "cat a", 0);
    let dir = folder(&found);
    let tampered: [(&str, &dyn Fn()); 4] = [
        ("an object", &|| {
            let packs = dir.join("store.git/objects/pack");
            for entry in fs::read_dir(packs).expect("packs").flatten() {
                if entry.path().extension().is_some_and(|it| it == "pack") {
                    let mut bytes = fs::read(entry.path()).expect("a pack");
                    let last = bytes.len() - 25;
                    bytes[last] ^= 1;
                    env.sh(&format!("chmod u+w {}", entry.path().display()));
                    fs::write(entry.path(), bytes).expect("a pack");
                }
            }
        }),
        ("the index", &|| {
            fs::write(dir.join("tree/a"), "evil\n").expect("a file");
            let index = format!(
                "GIT_INDEX_FILE={0}/store.git/index git --git-dir={0}/store.git --work-tree={0}/tree",
                dir.display()
            );
            env.sh(&format!("{index} update-index --skip-worktree a")).exits(0);
        }),
        ("the tree", &|| {
            fs::write(dir.join("tree/planted"), "").expect("a file");
            fs::create_dir_all(dir.join("tree/more/of/it")).expect("a folder");
        }),
        ("the settings", &|| {
            let evil = format!("[core]\n\tfsmonitor = touch {}/ran\n", env.root().display());
            write(&dir.join("store.git/config"), &evil);
            write(&dir.join("gitconfig"), &evil);
        }),
    ];
    for (what, tamper) in tampered {
        tamper();
        let found = judge(&env, "cat a && ls -A", 0);
        assert_eq!(printed(&found), "committed\n.git\nREADME.md\na\n", "{what}");
        assert!(!env.root().join("ran").exists(), "{what}");
    }
}

#[test]
fn links_of_the_commit_lead_nowhere() {
    let env = project();
    let outside = env.root().join("outside");
    fs::create_dir(&outside).expect("a folder");
    fs::write(outside.join("x"), "before").expect("a file");
    std::os::unix::fs::symlink(&outside, env.path("link")).expect("a link");
    std::os::unix::fs::symlink("/etc", env.path("node_modules")).expect("a link");
    env.write("package.json", "{}");
    commit(&env);
    judge(&env, "test -L link && test -L node_modules", 0);
    // The folder of the commit is a link; the file of the working tree is behind a real folder.
    fs::remove_file(env.path("link")).expect("a link");
    write(&env.path("link/x"), "after");
    judge_with(&env, &["--judge-only", "--with", "link/x"], "test -L link", 0);
    assert_eq!(fs::read_to_string(outside.join("x")).expect("a file"), "before");
    assert!(Path::new("/etc/passwd").exists());
}
