//! What a turn may use of the machine.

use std::fs;

use serde_json::{Value, json};

use super::{As, as_user, can_be, is_root, programs, works};
use crate::env::{Env, Output, done, shell};

const LEVELS: [&str; 3] = ["embedded", "bwrap", "landlock"];

fn exec(env: &Env, user: As, level: &str, command: &str) -> Output {
    let mut ralph = env.command(programs().join("ralph"));
    ralph.args(["sandbox", "exec", "--level", level, "--", "sh", "-c", command]);
    if user == As::Nobody {
        let owner = format!("{0}:{0}", super::NOBODY);
        let mut chown = std::process::Command::new("chown");
        assert!(chown.args(["-R", &owner]).arg(env.root()).status().expect("chown").success());
    }
    env.start_command(&mut as_user(ralph, user)).wait()
}

fn users() -> impl Iterator<Item = As> {
    [As::Me, As::Nobody].into_iter().filter(|user| can_be(*user))
}

fn bound(settings: Value) -> Env {
    let env = Env::new();
    env.write(".ralph/settings.local.json", &json!({ "sandbox": settings }).to_string());
    env
}

/// Holds half a gigabyte until ralph ends it: without a line's end, the last line is all of it, and more may come.
const HOLD: &str = "{ head -c 500000000 /dev/zero; sleep 600; } | tail -n 1 >held";
/// The same, by one that has let go of its parent.
const HOLD_APART: &str =
    "setsid sh -c '{ head -c 500000000 /dev/zero; sleep 600; } | tail -n 1 >held &' & wait; sleep 600";
/// The same, and ends by itself.
const TOUCH: &str = "head -c 500000000 /dev/zero | tail -n 1 | wc -c";

#[test]
fn memory_is_bounded() {
    for (level, user) in
        LEVELS.into_iter().filter(|level| works(level)).flat_map(|it| users().map(move |u| (it, u)))
    {
        let env = bound(json!({"maxMemory": "200MB"}));
        let output = exec(&env, user, level, HOLD);
        assert_ne!(output.code, Some(0), "{level} {user:?} {output:?}");
        output.says("everything inside was ended:").says("at most 200 MB (sandbox.maxMemory)");
        env.nothing_left();
        exec(&bound(json!({"maxMemory": 0})), user, level, TOUCH).exits(0).prints("500000000");
    }
}

#[test]
fn who_lets_go_of_its_parent_is_counted_as_well() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = bound(json!({"maxMemory": "200MB"}));
        let output = exec(&env, As::Me, level, HOLD_APART);
        assert_ne!(output.code, Some(0), "{level} {output:?}");
        output.says("at most 200 MB (sandbox.maxMemory)");
        env.nothing_left();
    }
}

#[test]
fn who_lets_go_of_its_parent_ends_with_the_command() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = bound(json!({}));
        let command = "setsid sh -c 'sleep 600 & echo begun >begun' & while ! [ -e begun ]; do :; done";
        exec(&env, As::Me, level, command).exits(0);
        env.nothing_left();
    }
}

#[test]
fn the_size_of_a_file_is_bounded() {
    for (level, user) in
        LEVELS.into_iter().filter(|level| works(level)).flat_map(|it| users().map(move |u| (it, u)))
    {
        let env = bound(json!({"maxFileSize": "1MB"}));
        let write = "head -c 3000000 /dev/zero >large";
        let output = exec(&env, user, level, write);
        assert_ne!(output.code, Some(0), "{level} {user:?} {output:?}");
        assert!(fs::metadata(env.path("large")).expect("a file").len() <= 1_000_000, "{level}");
        exec(&bound(json!({"maxFileSize": 0})), user, level, write).exits(0);
    }
}

/// What is free where the tests write.
fn free(env: &Env) -> u64 {
    let disk = rustix::fs::statvfs(env.project()).expect("a disk");
    disk.f_bavail * disk.f_frsize
}

#[test]
fn the_disk_is_not_filled() {
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let env = Env::new();
        let some = 150_000_000;
        // Others write as well, and may make it too little before anything begins: then it says so, too.
        let least = free(&env) - some;
        env.write(".ralph/settings.local.json", &json!({"sandbox": {"minFreeDisk": least}}).to_string());
        let output = exec(&env, As::Me, level, "head -c 300000000 /dev/urandom >large; sleep 600");
        assert_ne!(output.code, Some(0), "{level} {output:?}");
        output.says("sandbox.minFreeDisk");
        fs::remove_file(env.path("large")).ok();
        let env = bound(json!({"minFreeDisk": "900000GB"}));
        exec(&env, As::Me, level, "touch begun")
            .exits(2)
            .says("of the disk are free")
            .says("\"minFreeDisk\": 0");
        assert!(!env.path("begun").exists());
    }
}

#[test]
fn a_number_of_processes_that_no_one_keeps_to_is_an_error() {
    if !is_root() {
        return crate::env::skip("only the superuser is not bound by the kernel");
    }
    let env = bound(json!({"maxProcesses": 100}));
    for level in LEVELS.into_iter().filter(|level| works(level)) {
        let output = exec(&env, As::Me, level, "touch begun");
        if output.code == Some(0) {
            // A control group keeps it.
            fs::remove_file(env.path("begun")).expect("it began");
            let many = "i=0; while [ $i -lt 150 ]; do sleep 9 & i=$((i+1)); done";
            assert_ne!(exec(&env, As::Me, level, many).code, Some(0), "{level}");
            continue;
        }
        output.exits(2).says("`sandbox.maxProcesses`");
        assert!(!env.path("begun").exists(), "{level}");
    }
}

#[test]
fn a_turn_that_takes_too_much_says_so() {
    if !works("embedded") {
        return;
    }
    let env = Env::new().turns(json!([[shell(HOLD)], [done()]]));
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    let env = env.settings(json!({"sandbox": {"writable": [record], "maxMemory": "200MB"}, "retries": 0}));
    env.run(&["--sandbox", "embedded", "-m", "1"]).says("(sandbox.maxMemory)");
    env.nothing_left();
}
