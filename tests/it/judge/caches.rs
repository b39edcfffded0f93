//! Caches: warm after a pass, untouched by a candidate that was refused, and gone when someone else wrote them.

use std::fs;

use super::{commit, folder, judge, judge_with, printed, project, write};
use crate::env::{Env, skip};

fn has(program: &str) -> bool {
    let found = which::which(program).is_ok();
    if !found {
        skip(&format!("{program} is not installed"));
    }
    found
}

#[test]
fn what_is_kept_and_what_is_not() {
    let env = project();
    env.write("Cargo.toml", "");
    commit(&env);
    judge(&env, "mkdir target other && touch target/x other/x y && chmod 750 target", 0);
    judge(&env, "test -e target/x && test ! -e other && test ! -e y && rm target/x && touch target/z", 0);
    // Removed and replaced is taken over as well.
    judge(
        &env,
        "test ! -e target/x && test -e target/z && rm -r target && mkdir target && touch target/n",
        0,
    );
    judge(&env, "ls target && test ! -e target/z && rm -r target", 0);
    judge(&env, "test ! -e target", 0);
}

#[test]
fn a_refused_candidate_writes_nothing_that_stays() {
    let env = project();
    env.write("Cargo.toml", "");
    commit(&env);
    judge(
        &env,
        "mkdir -p target/debug $GOCACHE && echo good > target/debug/test && echo good > $GOCACHE/x",
        0,
    );
    let poison =
        "echo evil > target/debug/test; rm -r $GOCACHE; touch target/evil; chmod -R a-w target; false";
    judge(&env, poison, 3);
    let check = "cat target/debug/test $GOCACHE/x && test ! -e target/evil";
    assert_eq!(printed(&judge(&env, check, 0)), "good\ngood\n");
}

#[test]
fn what_someone_else_wrote_is_not_used() {
    let env = project();
    env.write("Cargo.toml", "");
    commit(&env);
    let found = judge(&env, "mkdir target && echo good > target/test", 0);
    let file = folder(&found).join("tree/target/test");
    let time = fs::metadata(&file).and_then(|file| file.modified()).expect("a time");
    fs::write(&file, "evil\n").expect("a file");
    fs::File::options().write(true).open(&file).and_then(|it| it.set_modified(time)).expect("the old time");
    judge(&env, "test ! -e target", 0);
}

/// A Python project with an environment, and a test that passes only if its code is right.
fn python() -> Env {
    let env = project();
    env.write("pyproject.toml", "[project]\nname = \"demo\"\nversion = \"1\"\n");
    env.write("requirements.txt", "");
    env.write(".gitignore", ".venv/\n__pycache__/\n");
    env.write("demo.py", "def answer():\n    return 42\n");
    env.write("check.py", "import demo\nassert demo.answer() == 42\n");
    // An installer that needs no network.
    env.write("pyproject.toml", "[tool.demo]\n");
    commit(&env);
    env.sh("python3 -m venv .venv").exits(0);
    env
}

#[test]
fn a_start_up_file_planted_in_the_virtual_environment() {
    if !has("python3") {
        return;
    }
    let env = python();
    let check = ".venv/bin/python check.py";
    let found = judge(&env, check, 0);
    assert_eq!(found["prepared"][0]["end"], "done", "{found}");
    // The code is wrong, and its test plants a file that makes every later start of Python a success.
    env.write("demo.py", "def answer():\n    return 410\n");
    env.write(
        "check.py",
        "import demo, sysconfig, pathlib\n\
         site = pathlib.Path(sysconfig.get_paths()['purelib'])\n\
         (site / 'sitecustomize.py').write_text('import os; os._exit(0)')\n\
         assert demo.answer() == 42\n",
    );
    commit(&env);
    judge(&env, check, 3);
    judge(&env, check, 3);
    // In the working tree the trick works.
    env.sh(".venv/bin/python check.py");
    env.sh(".venv/bin/python check.py").exits(0);
    judge(&env, check, 3);
    // And so it does not when an attacker plants it in the judge's own files.
    env.write("check.py", "import demo\nassert demo.answer() == 42\n");
    env.write("demo.py", "def answer():\n    return 42\n");
    commit(&env);
    let dir = folder(&judge(&env, check, 0));
    let site = env.sh(&format!("ls -d {}/tree/.venv/lib/python3*/site-packages", dir.display())).stdout;
    write(std::path::Path::new(site.trim()).join("sitecustomize.py").as_path(), "import os; os._exit(0)\n");
    env.write("demo.py", "def answer():\n    return 410\n");
    commit(&env);
    let found = judge(&env, check, 3);
    assert_eq!(found["prepared"][0]["end"], "done", "the environment is made again: {found}");
}

#[test]
fn a_runner_planted_in_node_modules() {
    if !has("npm") || !has("node") {
        return;
    }
    let env = project();
    let runner = "#!/usr/bin/env node\nif (require('/demo/answer.js') !== 42) process.exit(1);\n";
    let runner = runner.replace("/demo", &env.project().display().to_string());
    env.write(
        "runner/package.json",
        r#"{"name": "runner", "version": "1.0.0", "bin": {"run-tests": "cli.js"}}"#,
    );
    env.write("runner/cli.js", &runner);
    env.write(
        "package.json",
        r#"{"name": "demo", "version": "1.0.0", "scripts": {"test": "run-tests"}, "devDependencies": {"runner": "file:runner"}}"#,
    );
    env.write(".gitignore", "node_modules/\n");
    env.write("answer.js", "module.exports = 42;\n");
    env.sh("npm install --offline --no-audit --no-fund").exits(0);
    commit(&env);
    let found = judge(&env, "npm test", 0);
    assert_eq!(found["prepared"][0]["end"], "done", "{found}");
    assert_eq!(judge(&env, "npm test", 0)["prepared"][0]["end"], "up-to-date");
    let plant = "rm -f node_modules/.bin/run-tests; printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/run-tests; chmod +x node_modules/.bin/run-tests";
    env.write("answer.js", "module.exports = 41;\n");
    commit(&env);
    judge(&env, &format!("npm test; code=$?; {plant}; exit $code"), 3);
    judge(&env, "npm test", 3);
}

#[test]
fn a_test_binary_planted_in_target() {
    if !has("cargo") {
        return;
    }
    let env = project();
    env.write("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    env.write(".gitignore", "target\n");
    let source = |answer: u32| {
        format!("pub fn answer() -> u32 {{ {answer} }}\n#[test]\nfn right() {{ assert_eq!(answer(), 42) }}\n")
    };
    env.write("src/lib.rs", &source(42));
    env.sh("cargo generate-lockfile --offline").exits(0);
    commit(&env);
    let check = "cargo test --quiet --offline";
    judge(&env, check, 0);
    env.write("src/lib.rs", &source(41));
    commit(&env);
    // The binary of the tests is replaced by a program that succeeds; cargo finds everything up to date.
    let plant = "for f in target/debug/deps/demo-*; do test -x $f && test ! -d $f && cp /bin/true $f; done";
    judge(&env, &format!("{check}; code=$?; {plant}; {check} || exit 9; exit $code"), 3);
    let found = judge(&env, check, 3);
    assert_ne!(found["guardrails"][0]["inJudge"]["code"], 9, "{found}");
}

#[test]
fn what_was_installed_for_another_path_is_installed_again() {
    if !has("python3") {
        return;
    }
    let env = python();
    let check = ".venv/bin/python check.py && head -1 .venv/bin/pip";
    let found = judge(&env, check, 0);
    assert!(printed(&found).contains(&format!("{}/.venv/bin/python", env.project().display())), "{found}");
    let env = env.settings(serde_json::json!({"verify": {"at": "folder"}}));
    let found = judge_with(&env, &["--judge-only"], check, 0);
    assert_eq!(found["prepared"][0]["end"], "done", "{found}");
    assert!(
        printed(&found).contains(&format!("{}/seat/.venv/bin/python", folder(&found).display())),
        "{found}"
    );
    assert_eq!(judge(&env, check, 0)["prepared"][0]["end"], "up-to-date");
}
