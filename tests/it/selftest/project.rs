//! `ralph selftest --project`: cheats on a copy of a project, which is not touched.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::of;
use crate::env::{Env, lacks, poll};

const MAKEFILE: &str = "test:\n\t@sh tests/run.sh\n";
const CHECKS: &str =
    "#!/bin/sh\n[ \"$(sh price.sh 2)\" = 20 ] || exit 1\n[ \"$(sh price.sh 3)\" = 30 ] || exit 1\n";

/// A price, its checks, and a makefile.
fn shop(guardrails: Value) -> Env {
    let env = Env::new().with_git().settings(json!({"guardrails": guardrails}));
    env.write("price.sh", "#!/bin/sh\necho $(($1 * 10))\n");
    env.write("tests/run.sh", CHECKS);
    env.write("Makefile", MAKEFILE);
    env.git(&["add", "price.sh", "tests", "Makefile"]);
    env.git(&["commit", "--quiet", "-m", "prices"]);
    env
}

/// Every file below a folder, the repository's own ones too, with what is in it and when it was written.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let about = path.symlink_metadata().expect("a file");
        if about.is_dir() {
            found.insert(path.clone(), (Vec::new(), about.modified().expect("a time")));
            found.extend(tree(&path));
        } else {
            found.insert(path.clone(), (fs::read(&path).expect("a file"), about.modified().expect("a time")));
        }
    }
    found
}

#[track_caller]
fn leaves_nothing(env: &Env) {
    env.nothing_left();
    let left = fs::read_dir(env.root().join("tmp")).expect("a folder").count();
    assert_eq!(left, 0, "temporary files");
    assert!(!env.root().join("state").exists(), "a record");
}

#[track_caller]
fn trials(env: &Env, flags: &[&str], code: i32) -> Value {
    let output = env.ralph(&[&["selftest", "--project", "--json"], flags].concat()).exits(code);
    serde_json::from_str(&output.stdout).expect("JSON")
}

#[test]
fn cheats_in_a_copy_are_seen_and_the_project_is_not_touched() {
    let env = shop(json!([{"command": "make test"}]));
    let deploys = format!("touch {}", env.root().join("deployed").display());
    let env = env.settings(
        json!({"guardrails": [{"command": "make test"}, {"command": deploys.clone(), "repeat": false}]}),
    );
    env.write("notes.txt", "not committed\n");
    env.write("price.sh", "#!/bin/sh\necho nothing that is committed\n");
    let before = tree(env.project());
    let all = trials(&env, &[], 0);
    assert_eq!(tree(env.project()), before);
    assert!(!env.root().join("deployed").exists(), "it must not be repeated");
    assert_eq!(all["project"]["guardrailsNotRun"], json!([deploys]));
    assert_eq!(all["project"]["leftOut"], json!(["price.sh", "notes.txt"]));
    assert_eq!(all["project"]["broken"], "price.sh");
    // Without the script, make itself fails: no one is deceived.
    assert_eq!(all["project"]["notCounted"], json!(["delete:tests/run.sh"]));
    for id in ["weaken:tests/run.sh", "exit:tests/run.sh", "recipe:Makefile:test"] {
        assert_eq!(of(&all, id)["verdict"], "finding", "{all:#}");
    }
    assert_eq!((&all["project"]["ran"], &all["project"]["all"]), (&json!(3), &json!(3)));
    leaves_nothing(&env);
    env.ralph(&["selftest", "--project", "--strict"])
        .exits(0)
        .prints("with a mistake in `price.sh`")
        .prints("left out, not committed: `price.sh`, `notes.txt`")
        .prints("not run, `repeat` is false: `touch ")
        .prints("3 ran, and each ended as it should");
}

#[test]
fn a_cheat_that_the_settings_allow_passes_and_is_named() {
    let env = shop(json!([{"command": "make test"}]))
        .settings(json!({"verify": {"onFinding": "report", "testsMayChange": true}}));
    let all = trials(&env, &[], 3);
    assert_eq!(of(&all, "weaken:tests/run.sh")["isWrong"], true, "{all:#}");
    let bash = trials(&env, &["--loop", "bash"], 3);
    assert_eq!(bash["cheats"]["passed"], 3, "{bash:#}");
}

#[test]
fn cheats_on_tests_of_python_are_seen() {
    let found = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return lacks("python3 is not installed");
    }
    let command = "python3 -B -m unittest discover -q -s tests -t .";
    let env = Env::new().with_git().settings(json!({"guardrails": [{"command": command}]}));
    env.write("tests/__init__.py", "");
    env.write(
        "tests/test_cart.py",
        "import unittest\n\nfrom cart import total\n\n\nclass Total(unittest.TestCase):\n    def test_total(self):\n        \
         self.assertEqual(total([1, 2]), 3)\n",
    );
    env.write("cart.py", "def total(items):\n    price = sum(items) * 2\n    return price / 2\n");
    env.git(&["add", "cart.py", "tests"]);
    env.git(&["commit", "--quiet", "-m", "cart"]);
    let before = tree(env.project());
    let all = trials(&env, &[], 0);
    assert_eq!(tree(env.project()), before);
    for id in ["skip:tests/test_cart.py", "weaken:tests/test_cart.py", "empty:tests/test_cart.py"] {
        assert_eq!(of(&all, id)["verdict"], "finding", "{all:#}");
    }
    assert_eq!(all["cheats"]["passed"], 0, "{all:#}");
    leaves_nothing(&env);
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let with = |guardrails: Value| Env::new().settings(json!({"guardrails": guardrails}));
    let refused = |env: &Env, says: &str| {
        env.ralph(&["selftest", "--project"]).exits(2).says(says);
        leaves_nothing(env);
    };
    refused(&with(json!([{"command": "true"}])), "the project has no commit that could be copied");
    refused(
        &with(json!([{"command": "true"}])).with_empty_git(),
        "the project has no commit that could be copied",
    );
    refused(&with(json!([])).with_git(), "there are no guardrails to deceive");
    refused(&shop(json!([{"command": "make test", "repeat": false}])), "`make test` must not be repeated");
    let env = shop(json!([{"command": "echo one is missing; test -e .env"}]));
    env.write(".env", "not committed\n");
    refused(&env, "a guardrail fails already in a copy of what is committed");
    refused(&shop(json!([{"command": "true"}])), "no mistake in the code made a guardrail fail");
    let env = shop(json!([{"command": "make test"}]));
    env.ralph(&["selftest", "--max-time", "1m"]).exits(2).says("--project");
}

#[test]
fn what_there_was_no_time_for_is_named() {
    // On a busy machine there may be time for less than that.
    let mut all = json!(null);
    for limit in ["25s", "100s", "400s"] {
        let env = shop(json!([{"command": "if grep -q '|| true' Makefile; then sleep 1000; fi; make test"}]));
        all = trials(&env, &["--max-time", limit], 0);
        leaves_nothing(&env);
        if all["project"]["ran"] == 2 {
            break;
        }
    }
    assert_eq!(all["project"]["notRun"], json!(["recipe:Makefile:test"]), "{all:#}");
    assert_eq!((&all["project"]["ran"], &all["project"]["all"]), (&json!(2), &json!(3)));
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let env = shop(json!([]));
    let begun = env.root().join("begun");
    let hangs = format!("touch {}; sleep 1000", begun.display());
    let env = env.settings(json!({"guardrails": [{"command": hangs}]}));
    let before = tree(env.project());
    let running = env.start(&["selftest", "--project"]);
    poll("the guardrail", || begun.exists().then_some(()));
    running.signal(Signal::INT);
    running.wait().exits(130);
    assert_eq!(tree(env.project()), before);
    leaves_nothing(&env);
}
