//! What is seen of homes and of the environment, and repositories that no one makes.

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};

use super::{As, as_user, can_be, programs, refused, works};
use crate::env::{Env, Output, done, shell};

const LEVELS: [&str; 3] = ["embedded", "bwrap", "landlock"];

fn exec(env: &Env, level: &str, command: &str) -> Output {
    env.ralph(&["sandbox", "exec", "--level", level, "--", "sh", "-c", command])
}

/// The same as another user, who owns everything here.
fn exec_as_nobody(env: &Env, level: &str, command: &str) -> Output {
    let mut chown = std::process::Command::new("chown");
    let owner = format!("{0}:{0}", super::NOBODY);
    assert!(chown.args(["-R", &owner]).arg(env.root()).status().expect("chown").success());
    let mut ralph = env.command(programs().join("ralph"));
    ralph.args(["sandbox", "exec", "--level", level, "--", "sh", "-c", command]);
    env.start_command(&mut as_user(ralph, As::Nobody)).wait()
}

/// A home with something private in it, and with tools.
fn furnish(env: &Env) {
    for name in [
        "letter.txt",
        "Documents/plan.txt",
        "src/other/main.rs",
        ".config/app/settings",
        ".local/share/app/data",
        ".cache/app/data",
        ".cargo/credentials.toml",
        ".bashrc",
    ] {
        env.write(&format!("../home/{name}"), "export A_TOKEN=private");
    }
    for name in [
        ".cargo/env",
        ".rustup/toolchains/x",
        ".nvm/versions/node/x",
        ".local/bin/tool",
        ".cache/uv/x",
        ".profile",
        "dotfiles/gitconfig",
    ] {
        env.write(&format!("../home/{name}"), "shown");
    }
    symlink("dotfiles/gitconfig", env.root().join("home/.gitconfig")).expect("a link");
}

/// Prints which files of the home have which word in them.
const LOOK: &str = "cd \"$HOME\" && grep -rs private . | sort; \
                    for file in .cargo/env .rustup/toolchains/x .nvm/versions/node/x .local/bin/tool .cache/uv/x .profile .gitconfig; \
                    do cat $file || echo no $file; echo; done";

#[test]
fn of_a_home_only_tools_are_seen() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = Env::new();
        furnish(&env);
        let shown =
            exec(&env, level, LOOK).exits(0).says(".bashrc sets a key, so it is not seen inside").stdout;
        assert_eq!(shown, "shown\n".repeat(7), "{level}");
        // Nothing can be put there, and nothing is left of what is inside.
        let output = exec(&env, level, "touch \"$HOME/x\" \"$HOME/.cargo/x\"");
        assert_ne!(output.code, Some(0), "{level}");
        assert!(!env.path("../home/x").exists() && !env.path("../home/.cargo/x").exists());
        if can_be(As::Nobody) {
            let output = exec_as_nobody(&env, level, LOOK).exits(0);
            assert_eq!(output.stdout, "shown\n".repeat(7), "{level} {output:?}");
        }
    }
}

#[test]
fn a_project_at_home_is_alone_there() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = Env::new().with_git();
        furnish(&env);
        env.write("../home/src/repo/shared.txt", "of the repository");
        let top = env.root().join("home/src/repo");
        env.git_in(&top, &["init", "--quiet"]);
        let env = env.project_at(top.join("part"));
        let look = "cat ../shared.txt; cat ../../other/main.rs; echo x >made && git -C .. status --short | grep -c part";
        let output = exec(&env, level, look);
        assert!(
            output.stdout.starts_with("of the repository") && !output.stdout.contains("private"),
            "{level} {output:?}"
        );
        assert!(env.path("made").exists(), "{level} {output:?}");
    }
}

#[test]
fn what_the_user_opens_of_a_home_is_seen() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = Env::new();
        furnish(&env);
        env.write(".ralph/settings.local.json", r#"{"sandbox": {"readable": ["~/Documents"]}}"#);
        let look = "cat $HOME/Documents/plan.txt; echo; cat $HOME/letter.txt || echo no";
        assert_eq!(exec(&env, level, look).stdout, "export A_TOKEN=private\nno\n", "{level}");
        // A project opens nothing of it.
        env.write(".ralph/settings.json", r#"{"sandbox": {"readable": ["~"], "env": ["A"]}}"#);
        exec(&env, level, "true")
            .exits(2)
            .says("sandbox.readable: only your own settings may open this machine")
            .says("sandbox.env: only your own settings may open this machine");
    }
}

#[test]
fn a_link_in_the_project_to_the_home_tells_nothing() {
    if !works("embedded") {
        return;
    }
    let env = Env::new().turns(json!([[shell("ln -sf \"$HOME/letter.txt\" TASK.md")], [done()]]));
    furnish(&env);
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    let env = env.settings(json!({"sandbox": {"writable": [record]}}));
    env.write("TASK.md", "Do it.");
    env.ralph(&["run", "-f", "TASK.md", "--sandbox", "embedded", "-m", "2"]);
    assert!(env.prompts().iter().all(|prompt| !prompt.contains("private")), "{:?}", env.prompts());
}

#[test]
fn of_the_environment_only_what_is_needed_is_seen() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = Env::new()
            .variable("DATABASE_URL", "hunter2")
            .variable("A_TOKEN", "hunter2")
            .variable("CARGO_REGISTRY_TOKEN", "hunter2")
            .variable("NAMED", "hunter3")
            .variable("EDITOR", "true-editor")
            .variable("HTTPS_PROXY", "http://me:hunter2@127.0.0.1:9");
        env.write(".ralph/settings.local.json", r#"{"sandbox": {"env": ["NAMED"]}}"#);
        // Neither by itself nor by asking the processes around it.
        let look = "env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'";
        let output = exec(&env, level, look);
        assert!(!output.stdout.contains("hunter2"), "{level} {output:?}");
        assert!(
            output.stdout.contains("NAMED=hunter3") && output.stdout.contains("EDITOR=true-editor"),
            "{level}"
        );
        output.says("Variables that stay outside: A_TOKEN, CARGO_REGISTRY_TOKEN, DATABASE_URL.");
    }
}

#[test]
fn a_run_says_which_variables_stay_outside() {
    if !works("embedded") {
        return;
    }
    let env = Env::new()
        .variable("A_TOKEN", "hunter2")
        .turns(json!([[shell("echo \"[$A_TOKEN] [$GIVEN]\" >seen"), done()]]));
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    let settings = json!({"sandbox": {"writable": [record]}, "agent": {"env": {"GIVEN": "by name"}}});
    let env = env.settings(settings).guardrails(&["test -z \"$A_TOKEN\""]);
    let says = "Variables that stay outside: A_TOKEN. To pass one, in .ralph/settings.local.json: \
                \"sandbox\": {\"env\": [\"A_TOKEN\"]}";
    env.run(&["--sandbox", "embedded"]).exits(0).says(says);
    assert_eq!(env.read("seen"), "[] [by name]\n");
    assert_eq!(env.events("sandboxed")[0]["withheld"], json!(["A_TOKEN"]));
}

#[test]
fn no_repository_is_made_where_none_is() {
    let own = "mkdir -p .git && printf '[core]\\nfsmonitor = touch ../ran\\n' >.git/config && echo ref: refs/heads/main >.git/HEAD";
    for level in ["embedded", "bwrap"].into_iter().filter(|level| works(level)) {
        // Without a repository, and in a part of one.
        for has_git in [false, true] {
            let env = if has_git { Env::new().with_git() } else { Env::new() };
            let part = env.project().join("part");
            let env = env.project_at(part);
            env.sh(own).exits(0);
            fs::remove_dir_all(env.path(".git")).expect("it works outside");
            let output = exec(&env, level, own);
            assert_ne!(output.code, Some(0), "{level} {output:?}");
            assert!(!env.path(".git").exists(), "{level}: nothing is left of what stood in");
            if has_git {
                exec(&env, level, "echo x >x && git add x && git commit -qm x").exits(0);
            }
        }
    }
    for user in [As::Me, As::Nobody].into_iter().filter(|user| can_be(*user)) {
        if works("embedded") {
            refused("embedded", user, "write part/../.git/config", |env| {
                fs::remove_dir_all(env.path(".git")).expect("a repository");
            });
        }
    }
}

#[test]
fn a_repository_that_appears_stops_the_run_where_nothing_keeps_it_away() {
    if !works("landlock") {
        return;
    }
    let env = Env::new().turns(json!([[shell("git init -q ."), done()]]));
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    let env = env.settings(json!({"sandbox": {"writable": [record]}}));
    env.run(&["--sandbox", "landlock"]).exits(6).says("protected files").says(".git/config");
    let ended: Value = env.events("run_ended")[0].clone();
    assert_eq!(ended["exit_code"], 6, "{ended}");
}

#[test]
fn what_runs_later_without_being_asked_is_reported() {
    let write = "mkdir -p .vscode .husky sub/.git && echo x >.envrc && echo x >.vscode/tasks.json && echo x >.husky/pre-commit \
                 && echo '{\"scripts\": {\"postinstall\": \"x\"}}' >package.json && echo y >>.npmrc && echo z >src.txt";
    for has_git in [false, true] {
        let env = if has_git { Env::new().with_git() } else { Env::new() };
        let env = env.turns(json!([[shell(write), done()]]));
        env.write("package.json", r#"{"name": "x"}"#);
        env.write(".gitlab-ci.yml", "as before");
        env.write(".npmrc", "x\n");
        env.run(&[]).exits(0).says("New or changed, and runs later without being asked: ");
        let paths: Vec<Value> = env.events("runs_later")[0]["files"]
            .as_array()
            .expect("files")
            .iter()
            .map(|it| it["path"].clone())
            .collect();
        let expected =
            [".envrc", ".husky/pre-commit", ".npmrc", ".vscode/tasks.json", "package.json", "sub/.git"];
        assert_eq!(paths, expected.map(Value::from));
        let page = env.ralph(&["report", "--file", "-"]).exits(0).stdout;
        assert!(
            page.contains("runs later without being asked: .envrc (the shell runs it in that folder)"),
            "{page}"
        );
    }
    let env = Env::new().turns(json!([[shell("echo z >src.txt"), done()]]));
    env.write(".envrc", "as before");
    env.run(&[]).exits(0).says_not("runs later");
}
