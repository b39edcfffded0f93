//! Where the judge is seen: at the project's own path, as any user, in any sandbox; or in its own folder.

use std::{fs, process::Command};

use serde_json::{Value, json};

use super::{caveats, commit, folder, judge, judge_with, printed, project, shown};
use crate::{
    contained::{NOBODY, can_be, programs, works},
    env::{Env, Output, skip},
};

/// Judges as a user without any privileges, who owns everything here.
fn judge_as_nobody(env: &Env, flags: &[&str], guardrail: &str) -> Output {
    let owner = format!("{NOBODY}:{NOBODY}");
    assert!(Command::new("chown").args(["-R", &owner]).arg(env.root()).status().expect("chown").success());
    let ralph = programs().join("ralph");
    let mut ralph = env.command(ralph);
    ralph.args(["judge", "--json", "--judge-only", "--guardrail", guardrail]).args(flags);
    let mut command = crate::contained::as_nobody(ralph);
    env.start_command(&mut command).wait()
}

#[test]
fn at_the_path_of_the_project() {
    let env = project();
    let script = "pwd && readlink -f a && echo x > written && ls";
    let found = judge(&env, script, 0);
    let path = env.project().display();
    assert_eq!(printed(&found), format!("{path}\n{path}/a\nREADME.md\na\nwritten\n"));
    assert_eq!(found["seat"], json!(env.project()));
    assert!(!env.path("written").exists(), "it was written into the project");
    assert_eq!(found["layering"], "overlay", "this machine can do better: {found}");
}

#[test]
fn as_a_user_without_privileges() {
    if !can_be(crate::contained::As::Nobody) {
        return;
    }
    let env = project();
    let output = judge_as_nobody(&env, &[], "pwd && id -u && echo x > written && touch a");
    assert_eq!(output.code, Some(0), "{}", shown(&output));
    let found: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(printed(&found), format!("{}\n{NOBODY}\n", env.project().display()));
    assert_eq!((&found["layering"], caveats(&found).len()), (&json!("overlay"), 0));
    assert!(!env.path("written").exists());
}

/// A guardrail inside a sandbox sees the judge, and can write nothing else.
#[track_caller]
fn inside(level: &str, is_nobody: bool) {
    let env = project();
    env.write("secret", "only in the working tree\n");
    let script = format!(
        "pwd && test $RALPH_SANDBOX = {level} && cat a && echo x > written && ! touch {}/outside && test ! -e secret",
        env.root().display()
    );
    let output = if is_nobody {
        judge_as_nobody(&env, &["--sandbox", level], &script)
    } else {
        env.ralph(&["judge", "--json", "--judge-only", "--sandbox", level, "--guardrail", &script])
    };
    assert_eq!(output.code, Some(0), "{level}: {}", shown(&output));
    let found: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let is_at_path = level != "landlock";
    assert_eq!(found["seat"] == json!(env.project()), is_at_path, "{found}");
    assert_eq!(caveats(&found).contains(&"other-path".to_owned()), !is_at_path, "{found}");
    assert!(!env.path("written").exists() && !env.root().join("outside").exists());
    assert_eq!(fs::read_to_string(env.path("secret")).expect("a file"), "only in the working tree\n");
}

#[test]
fn inside_of_every_sandbox() {
    for level in ["embedded", "bwrap", "landlock"] {
        if works(level) {
            inside(level, false);
            if can_be(crate::contained::As::Nobody) {
                inside(level, true);
            }
        }
    }
}

#[test]
fn caches_are_warm_inside_of_every_sandbox() {
    for level in ["embedded", "bwrap", "landlock"] {
        if !works(level) {
            continue;
        }
        let env = project();
        env.write("Cargo.toml", "");
        commit(&env);
        let flags = ["--judge-only", "--sandbox", level];
        let script = "mkdir -p target $GOCACHE && date +%N >> target/times && cp target/times $GOCACHE/ && cat target/times | wc -l";
        assert_eq!(printed(&judge_with(&env, &flags, script, 0)), "1\n", "{level}");
        assert_eq!(printed(&judge_with(&env, &flags, script, 0)), "2\n", "{level}");
        judge_with(&env, &flags, &format!("{script}; false"), 3);
        assert_eq!(printed(&judge_with(&env, &flags, script, 0)), "3\n", "{level}");
    }
}

#[test]
fn in_a_folder_of_its_own() {
    let env = project().settings(json!({"verify": {"at": "folder"}}));
    let found = judge(&env, "pwd && cat a && echo x > written", 0);
    let seat = folder(&found).join("seat");
    assert_eq!(printed(&found), format!("{}\ncommitted\n", seat.display()));
    assert_eq!(found["seat"], json!(seat));
    assert_eq!(caveats(&found), ["other-path"]);
    assert!(found["caveats"][0]["why"].as_str().expect("why").contains("verify.at"), "{found}");
}

#[test]
fn not_over_the_home_or_over_ralphs_own_record() {
    let env = project();
    let state = env.path(".state");
    let env = env.variable("RALPH_STATE_DIR", &state.display().to_string());
    let found = judge(&env, "cat a", 0);
    assert_eq!(caveats(&found), ["other-path"]);
    assert!(found["seat"].as_str().expect("a seat").starts_with(&*state.to_string_lossy()), "{found}");

    let env = project();
    let home = env.path("home");
    fs::create_dir(&home).expect("a folder");
    let env = env.variable("HOME", &home.display().to_string());
    assert_eq!(caveats(&judge(&env, "cat a", 0)), ["other-path"]);
}

#[test]
fn without_namespaces_it_is_a_copy_in_a_folder() {
    // Inside of a Landlock sandbox there are no namespaces, and a user without privileges has none either where they
    // are switched off; here the limit of user namespaces does it.
    if !can_be(crate::contained::As::Nobody) {
        return;
    }
    let env = project();
    let owner = format!("{NOBODY}:{NOBODY}");
    assert!(Command::new("chown").args(["-R", &owner]).arg(env.root()).status().expect("chown").success());
    let ralph = programs().join("ralph");
    let script = format!(
        "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups \
         {} judge --json --judge-only --guardrail 'pwd && cat a && touch a new'",
        ralph.display()
    );
    // The limit of a namespace of its own: that of the machine is not touched.
    let mut command = env.command("unshare");
    command.args([
        "--user",
        "--map-users",
        "0,0,65536",
        "--map-groups",
        "0,0,65536",
        "--mount-proc",
        "--pid",
        "--fork",
        "--",
    ]);
    command.args(["sh", "-c", &script]);
    let output = env.start_command(&mut command).wait();
    if output.stderr.contains("unshare:") || output.stderr.contains("max_user_namespaces") {
        return skip(&format!("namespaces cannot be limited here: {}", output.stderr));
    }
    assert_eq!(output.code, Some(0), "{}", shown(&output));
    let found: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!((&found["layering"], caveats(&found)), (&json!("copy"), vec!["other-path".to_owned()]));
    assert!(printed(&found).starts_with(&folder(&found).join("seat").display().to_string()));
    assert!(!folder(&found).join("seat").exists());
}

#[test]
fn a_killed_judge_leaves_no_process() {
    let env = project();
    let running = env.start(&["judge", "--judge-only", "-g", "touch ../started; sleep 600"]);
    crate::env::poll("the guardrail", || env.root().join("started").exists().then_some(()));
    running.signal(rustix::process::Signal::KILL);
    let _ = running.wait();
    crate::env::poll("the end of all", || env.alive().is_empty().then_some(()));
    judge(&env, "cat a", 0);
}

#[test]
fn an_interrupt_ends_it() {
    let env = project();
    let running = env.start(&["judge", "--judge-only", "-g", "touch ../started; sleep 600"]);
    crate::env::poll("the guardrail", || env.root().join("started").exists().then_some(()));
    // The second one ends what the first one only asks to; two at once may arrive as one.
    crate::env::poll("the end of all", || {
        running.signal(rustix::process::Signal::INT);
        env.alive().is_empty().then_some(())
    });
    assert_eq!(running.wait().code, Some(130));
    judge(&env, "cat a", 0);
}
