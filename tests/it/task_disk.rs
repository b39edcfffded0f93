//! Tasks on disks that are full or cannot be written, made for the test in a mount namespace of its own.

use crate::{
    env::{Env, Output, RALPH},
    task::{bus, env, says, turns},
};

/// Runs a shell command in which the folder of all tasks is a small disk; nothing on machines that do not
/// allow that. What it leaves on the disk is copied to where it would be without the disk.
fn on_small_disk(env: &Env, command: &str) -> Option<Output> {
    let allowed = env.sh("unshare -rm sh -c 'mount -t tmpfs tmpfs /mnt'");
    if allowed.code != Some(0) {
        return None;
    }
    env.write(".ralph/tasks/t/TASK.md", "Do it.\n");
    let script = format!(
        "mkdir disk; mount -t tmpfs -o size=128k tmpfs disk; mkdir disk/t; echo 'Do it.' >disk/t/TASK.md
         mount --move disk .ralph/tasks || mount --bind disk .ralph/tasks
         {command}
         code=$?; umask 0; mkdir -p copy; cp -r .ralph/tasks/. copy; umount .ralph/tasks; cp -r copy/. .ralph/tasks; exit $code"
    );
    Some(env.start_command(env.command("unshare").args(["-rm", "sh", "-c", &script])).wait())
}

#[test]
fn a_full_disk_stops_no_task() {
    let script = "case $RALPH_ITERATION in
        1) cat /dev/zero >\"$TASK_FOLDER/filler\" 2>/dev/null; exit 0;;
        2) exit 0;;
        3) rm \"$TASK_FOLDER/filler\"; exit 0;;
        4) touch \"$TASK_FOLDER/DONE\";;
        esac";
    let env = env(script);
    let Some(output) = on_small_disk(&env, &format!("'{RALPH}' task run --task t")) else { return };
    let output = output.exits(0).says("cannot tell others about this run");
    assert_eq!(output.stderr.matches("cannot tell others").count(), 1, "{}", output.stderr);
    assert_eq!(turns(&env), 4);
    // What was posted is whole, and what came after the disk had room again is there.
    let text = env.read(".ralph/tasks/t/TASK-MESSAGE-BUS.md");
    assert_eq!(text.matches("\n- at: ").count(), text.matches("<!-- end ").count(), "{text}");
    let messages = bus(&env);
    says(&messages, "Starting agent (attempt 1/100)");
    says(&messages, "Starting agent (attempt 4/100)");
    says(&messages, "task completed");
    env.nothing_left();
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let env = env("touch \"$TASK_FOLDER/DONE\"");
    let command = format!("mount -o remount,ro .ralph/tasks; '{RALPH}' task run --task t");
    let Some(output) = on_small_disk(&env, &command) else { return };
    output.exits(2).says("cannot register the run in").says("Read-only file system");
    assert_eq!(turns(&env), 0);
    assert!(env.runs().is_empty());
}

#[test]
fn a_folder_that_becomes_read_only_stops_no_task() {
    let script = "case $RALPH_ITERATION in
        1) mount -o remount,ro .ralph/tasks;;
        2) touch \"$TASK_FOLDER/DONE\" 2>/dev/null;;
        3) mount -o remount,rw .ralph/tasks; touch \"$TASK_FOLDER/DONE\";;
        esac; exit 0";
    let env = env(script);
    let Some(output) = on_small_disk(&env, &format!("'{RALPH}' task run --task t")) else { return };
    output.exits(0).says("cannot tell others about this run");
    assert_eq!(turns(&env), 3);
    env.nothing_left();
}
