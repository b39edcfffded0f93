//! `ralph plugin` with a Claude Code that only writes down what it is told.

use std::fs;

use serde_json::{Value, json};

use crate::env::{Env, RALPH};

fn with_claude() -> Env {
    let env = Env::new();
    env.program("claude", "echo \"$@\" >> calls.txt");
    env
}

#[track_caller]
fn shown(env: &Env) -> Value {
    serde_json::from_str(&env.ralph(&["plugin", "show", "--json"]).exits(0).stdout).expect("JSON")
}

#[test]
fn it_is_installed_shown_and_taken_away() {
    let env = with_claude();
    assert_eq!(shown(&env), json!({"claude": null, "codex": []}));
    env.ralph(&["plugin", "uninstall"]).exits(0).prints("is not installed");
    env.ralph(&["plugin", "install"]).exits(0).prints("/ralph-loop");
    let folder = env.root().join("state/plugin");
    let calls = env.read("calls.txt");
    let expected =
        format!("plugin marketplace add {}\nplugin install ralph@ralph --scope user\n", folder.display());
    assert_eq!(calls, expected);
    assert_eq!(shown(&env)["claude"], json!({"folder": folder, "program": RALPH, "current": true}));
    env.ralph(&["plugin", "show"]).exits(0).prints("up to date");
    let hooks = fs::read_to_string(folder.join("plugin/hooks/hooks.json")).expect("hooks");
    assert!(hooks.contains(&format!("exec {RALPH} hook stop --host-timeout 3600 --in-loop-only")), "{hooks}");
    fs::write(folder.join("plugin/README.md"), "old").expect("a file");
    env.ralph(&["plugin", "show"]).exits(0).prints("out of date");
    env.ralph(&["doctor"]).prints("is from another version of ralph");
    env.ralph(&["plugin", "install", "--project"]).exits(0);
    assert!(env.read("calls.txt").ends_with("--scope project\n"));
    env.ralph(&["plugin", "show"]).exits(0).prints("up to date");
    env.ralph(&["plugin", "show"]).exits(0).prints(&format!("for the user, {}", env.project().display()));
    env.ralph(&["plugin", "uninstall"]).exits(0).prints("it stays for");
    assert!(env.read("calls.txt").ends_with("plugin uninstall ralph@ralph --scope user\n"));
    env.ralph(&["plugin", "uninstall"]).exits(0).prints("is not installed for the user, but for");
    assert!(folder.exists());
    env.ralph(&["plugin", "uninstall", "--project"]).exits(0);
    assert!(!folder.exists());
    assert!(env.read("calls.txt").ends_with("plugin marketplace remove ralph\n"));
}

#[test]
fn without_claude_nothing_is_installed() {
    let env = Env::new().bare();
    env.ralph(&["plugin", "install"]).exits(2).says("cannot find Claude Code");
    assert!(!env.root().join("state").exists());
    env.program("claude", "echo no such marketplace; exit 1");
    env.ralph(&["plugin", "install"]).exits(2).says("failed: no such marketplace");
    env.ralph(&["plugin", "show"]).exits(0).prints("Claude Code: not installed");
}

#[test]
fn what_is_the_users_own_in_codex_stays_as_it_was() {
    let env = Env::new();
    let (folder, path) = (env.path(".codex"), env.path(".codex/hooks.json"));
    fs::create_dir_all(&folder).expect("a folder");
    env.write("mine.json", "{\"hooks\": {}}");
    std::os::unix::fs::symlink("../mine.json", &path).expect("a link");
    let codex = ["--agent", "codex", "--project"];
    let install = [&["plugin", "install"], &codex[..]].concat();
    let uninstall = [&["plugin", "uninstall"], &codex[..]].concat();
    env.ralph(&install).exits(0);
    assert!(path.is_symlink() && env.read("mine.json").contains("hook stop"));
    // A hook of the user's in a group of ours.
    let mut hooks: Value = serde_json::from_str(&env.read("mine.json")).expect("JSON");
    let mine = json!({"type": "command", "command": "mine"});
    hooks["hooks"]["Stop"][0]["hooks"].as_array_mut().expect("hooks").push(mine.clone());
    env.write("mine.json", &hooks.to_string());
    env.ralph(&uninstall).exits(0).prints("removed the hooks");
    assert!(path.is_symlink());
    let left: Value = serde_json::from_str(&env.read("mine.json")).expect("JSON");
    assert_eq!(left, json!({"hooks": {"Stop": [{"hooks": [mine]}]}}));
    env.ralph(&install).exits(0);
    env.write("mine.json", &format!("{},", env.read("mine.json")));
    env.ralph(&uninstall).exits(2).says("is no JSON").says("fix it");
    env.ralph(&["plugin", "show"]).exits(2).says("is no JSON");
}

#[test]
fn hooks_of_others_in_codex_stay() {
    let env = Env::new();
    let path = env.root().join("home/.codex/hooks.json");
    let theirs = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, theirs.to_string()).expect("a file");
    let read = || -> Value { serde_json::from_slice(&fs::read(&path).expect("a file")).expect("JSON") };
    let codex = ["--agent", "codex"];
    for _ in 0..2 {
        env.ralph(&[&["plugin", "install"], &codex[..]].concat()).exits(0).prints("review");
        assert_eq!(read()["hooks"]["Stop"].as_array().map(Vec::len), Some(2), "{}", read());
        assert_eq!(read()["hooks"].as_object().map(serde_json::Map::len), Some(6), "{}", read());
    }
    assert_eq!(shown(&env)["codex"], json!([{"file": path, "program": RALPH}]));
    env.ralph(&["doctor"]).prints("codex: ");
    env.ralph(&[&["plugin", "uninstall"], &codex[..]].concat()).exits(0);
    assert_eq!(read(), theirs);
    env.ralph(&[&["plugin", "uninstall"], &codex[..]].concat()).exits(0).prints("no ralph hooks");
    fs::write(&path, "not JSON").expect("a file");
    env.ralph(&[&["plugin", "install"], &codex[..]].concat()).exits(2).says("is no JSON");
    fs::write(&path, "{}").expect("a file");
    env.ralph(&[&["plugin", "install"], &codex[..]].concat()).exits(2).says("is not a file with hooks");
    assert_eq!(fs::read_to_string(&path).expect("a file"), "{}");
    env.ralph(&["plugin", "install", "--project", "--agent", "codex"]).exits(0);
    assert!(env.path(".codex/hooks.json").exists());
    env.ralph(&["plugin", "uninstall", "--project", "--agent", "codex"]).exits(0);
    assert!(!env.path(".codex/hooks.json").exists());
}

/// The files in the repository are what the program has inside.
#[test]
fn the_skills_are_those_that_are_wanted() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin/skills");
    let mut names: Vec<String> = fs::read_dir(&root)
        .expect("skills")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["cancel-ralph", "ralph-loop", "ralph-plan", "ulw-loop"]);
    for name in names {
        let text = fs::read_to_string(root.join(&name).join("SKILL.md")).expect("a skill");
        assert!(text.starts_with(&format!("---\nname: {name}\ndescription: ")), "{text}");
        // A line of the shell could be reached by what a user types.
        assert!(!text.contains("!`") && !text.contains("allowed-tools"), "{name}");
    }
    let plan = fs::read_to_string(root.join("ralph-plan/SKILL.md")).expect("a skill");
    for phrase in ["plan this feature for ralph", "create a ralph prd", "generate tasks for ralph"] {
        assert!(plan.contains(phrase), "{phrase}");
    }
}
