//! What the machine, the agent and other programs can do to a run: full and read-only disks, a clock that is put
//! back, locks that are left behind, folders that go away, stopped processes, lost terminals.

use std::{fs, os::unix::process::ExitStatusExt, thread, time::Duration};

use jiff::{SignedDuration, Timestamp, Zoned};
use rustix::process::Signal;
use serde_json::json;

use crate::{
    env::{Env, Output, RALPH, done, kill, meet, poll, say, shell, skip, touch, write},
    pty,
};

/// Runs a shell script that may mount: in a name space of its own, so that nothing of it outlives the script.
/// Nothing where the machine does not allow that.
fn with_mounts(env: &Env, script: &str) -> Option<Output> {
    let unshare = |script: &str| {
        let mut command = env.command("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-ec", script]);
        command.env("RALPH", RALPH).env("STATE", env.root().join("state"));
        env.start_command(&mut command).wait()
    };
    fs::create_dir_all(env.root().join("state")).expect("a folder");
    if unshare("mount -t tmpfs -o size=64k none \"$STATE\"").code != Some(0) {
        skip("this machine lets no one mount anything");
        return None;
    }
    Some(unshare(script))
}

/// Waits until the run has recorded such an event; it has a folder before it has a journal.
#[track_caller]
pub(super) fn await_event(env: &Env, kind: &str) {
    poll(kind, || {
        let run = env.runs().pop()?;
        run.join("journal.jsonl").exists().then(|| env.events(kind).pop()).flatten()
    });
}

#[test]
fn a_disk_that_is_full_for_a_while_loses_nothing() {
    let fill = "dd if=/dev/zero of=\"$STATE/fill\" bs=1k >/dev/null 2>&1 || true";
    // Long enough to fill what the last block of the journal still has room for.
    let mut turns = vec![json!([write("part", "1"), say("Hm."), shell(fill)])];
    turns.extend((2..12).map(|part: u32| json!([write("part", &part.to_string()), say("Hm.")])));
    turns.push(json!([shell("rm \"$STATE/fill\""), write("part", "12"), done()]));
    let env = Env::new().with_git().commits().guardrails(&["echo checked; test -e part"]);
    let env = env.script(json!({"turns": turns, "text": [[say("Add a part")]]}));
    let script = "mount -t tmpfs -o size=256k none \"$STATE\"
        \"$RALPH\" run -p x -m 20; echo \"code $?\"; \"$RALPH\" status; cat \"$STATE\"/*/runs/*/journal.jsonl >../journal";
    let Some(output) = with_mounts(&env, script) else { return };
    let output = output.exits(0).says("the record of the run cannot be written").prints("code 0");
    assert_eq!(output.stderr.matches("cannot be written").count(), 1, "it is said once");
    output.prints("complete").prints("12 commits");
    assert_eq!(env.commits_made().len(), 13);
    let journal = fs::read_to_string(env.root().join("journal")).expect("a journal");
    let count =
        |kind: &str| journal.lines().filter(|line| line.contains(&format!("\"event\":\"{kind}\""))).count();
    assert_eq!((count("turn_ended"), count("gate_ended"), count("commit_ended")), (12, 12, 12), "{journal}");
}

#[test]
fn a_disk_that_is_full_from_the_start_does_not_stop_the_work() {
    let env = Env::new().with_git().commits().guardrails(&["test -e one"]).script(json!({
        "turns": [[write("one", "1"), done()]],
        "text": [[say("Add a file")]],
    }));
    let script = "mount -t tmpfs -o size=64k none \"$STATE\"
        dd if=/dev/zero of=\"$STATE/fill\" bs=1k >/dev/null 2>&1 || true
        \"$RALPH\" run -p x; echo \"code $?\"; \"$RALPH\" status; \"$RALPH\" resume || echo \"code $?\"";
    let Some(output) = with_mounts(&env, script) else { return };
    output.exits(0).says("cannot be written").prints("code 0").prints("unreadable").prints("code 2");
    assert_eq!(env.commits_made()[0], "Add a file");
}

#[test]
fn a_full_disk_in_the_project_is_a_failed_commit_that_a_resume_makes() {
    let fill = "test -e ../filled || { touch ../filled; dd if=/dev/zero of=.git/fill bs=1k >/dev/null 2>&1 || true; }";
    let env = Env::new().commits().guardrails(&["true"]).script(json!({
        "turns": [[shell("seq 9 >numbers"), shell(fill), done()]],
        "text": [[say("Add numbers")]],
    }));
    // The project is on the small disk, the record is not.
    let script = "cp -r .ralph ..; mount -t tmpfs -o size=512k none . ; cd \"$PWD\"; cp -r ../.ralph .
        git init --quiet --template= .; git config user.name x; git config user.email x@localhost
        git commit --quiet --allow-empty -m first
        \"$RALPH\" run -p x --retries 0 || echo \"code $?\"; rm .git/fill
        \"$RALPH\" resume; echo \"code $?\"; git log --format=%s; cat numbers";
    let Some(output) = with_mounts(&env, script) else { return };
    let output = output.exits(0).says("No space left on device").prints("code 5").prints("code 0");
    output.prints("Add numbers\nfirst\n1\n2\n");
}

#[test]
fn a_read_only_record_stops_a_run_before_it_begins_and_can_still_be_read() {
    let env = Env::new().turns(json!([[say("Hm.")]]));
    let script = "mount -t tmpfs -o size=1m none \"$STATE\"
        \"$RALPH\" run -p x -m 1 || true; mount -o remount,ro \"$STATE\"
        \"$RALPH\" run -p x -m 1 || echo \"code $?\"; \"$RALPH\" resume -m 2 || echo \"code $?\"
        \"$RALPH\" status; \"$RALPH\" logs >/dev/null; \"$RALPH\" report -f - >/dev/null; echo read";
    let Some(output) = with_mounts(&env, script) else { return };
    let output = output.exits(0).says("cannot keep a record of the run in").says("set RALPH_STATE_DIR");
    assert_eq!(output.stdout.matches("code 2").count(), 2, "{}{}", output.stdout, output.stderr);
    output.prints("limit").prints("read\n").says("Read-only file system");
    assert_eq!(env.prompts().len(), 1);
}

/// Has the newest run have happened an hour later than it did: as if the clock was put back since.
fn put_clock_back(env: &Env) {
    let run = env.newest_run();
    let later = |at: &str| {
        let at: Timestamp = at.parse().expect("a time");
        format!("{:.3}", at + SignedDuration::from_hours(1))
    };
    let lines = env.journal().into_iter().map(|mut event| {
        event["at"] = later(event["at"].as_str().expect("a time")).into();
        if let Some(until) = event["until_ms"].as_i64() {
            event["until_ms"] = (until + 3_600_000).into();
        }
        format!("{event}\n")
    });
    fs::write(run.join("journal.jsonl"), lines.collect::<String>()).expect("a journal");
    let hour = Zoned::now() + SignedDuration::from_hours(1);
    let id = format!("{}-0000", hour.strftime("%Y%m%d-%H%M%S"));
    fs::rename(&run, run.with_file_name(id)).expect("a run");
}

#[test]
fn a_clock_that_is_put_back_holds_no_one_up() {
    let agent = "cat >/dev/null; test -e stumbled || { touch stumbled; exit 1; }
        echo '<response>DONE</response>'";
    let env = Env::new().agent("stumbling", agent).settings(json!({"retryDelay": "3s"}));
    let ralph = env.start(&["run", "-p", "x"]);
    await_event(&env, "wait_started");
    ralph.kill_9();
    env.nothing_left();
    put_clock_back(&env);
    let of_the_future = env.run_id();
    // The wait was one of seconds, and is not one of an hour.
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.events("turn_ended").len(), 2);
    for look in [&["status"][..], &["logs"], &["report", "-f", "-"]] {
        env.ralph(look).exits(0);
    }
    // What is begun now is newer, whatever its clock says.
    env.ralph(&["run", "-p", "x"]).exits(0);
    assert!(of_the_future < env.run_id(), "{} is not the newest", env.run_id());
    let shown = env.ralph(&["status", "--json"]).exits(0).stdout;
    assert!(shown.lines().next().expect("a run").contains(&env.run_id()), "{shown}");
}

#[test]
fn an_agent_may_delete_ralphs_folder() {
    let env = Env::new().with_git().commits().guardrails(&["test -e two"]).script(json!({
        "turns": [
            [shell("rm -r .ralph"), write("one", "1"), say("Hm.")],
            [shell("rm -r .ralph; mkdir two; touch two/file"), done()],
        ],
        "text": [[say("Add files")]],
    }));
    env.run(&[]).exits(0).says(".ralph/settings.json was changed during the run");
    // What the agent is told to read is there, and none of it is committed.
    assert!(env.prompts()[1].contains(".ralph/guardrail_001_test_e_two.log"), "{}", env.prompts()[1]);
    assert_eq!(env.committed(), ["one", "two/file"]);
    assert!(env.path(".ralph/guardrail_002_test_e_two.log").exists());
    assert_eq!(env.git(&["status", "--porcelain", "--untracked-files=all"]), "");
    env.ralph(&["status"]).exits(0).prints("complete");
}

#[test]
fn a_project_that_is_gone_stops_the_run_until_it_is_back() {
    let env = Env::new()
        .guardrails(&["true"])
        .turns(json!([[shell("mv \"$PWD\" ../elsewhere"), done()], [done()],]));
    let run = env.run(&[]).exits(6);
    run.prints("the project folder").prints("is gone").prints("ralph resume");
    assert!(!env.project().exists(), "it was made again, empty");
    let id = env.run_id();
    let resume = |code| {
        let mut command = env.command(RALPH);
        env.start_command(command.current_dir("/").args(["resume", &id])).wait().exits(code)
    };
    resume(2).says("No such file or directory");
    fs::rename(env.root().join("elsewhere"), env.project()).expect("the project");
    resume(0);
    assert_eq!(env.prompts().len(), 1, "the turn was repeated");
}

#[test]
fn time_in_which_ralph_is_stopped_is_not_held_against_the_agent() {
    let agent = "cat >/dev/null; touch began; until test -e go; do echo tick; sleep 0.02; done
        echo '<response>DONE</response>'";
    let env = Env::new().agent("ticking", agent);
    let ralph = env.start(&["run", "-p", "x", "--idle-timeout", "400ms", "--retries", "0"]);
    env.await_file("began");
    ralph.signal(Signal::STOP);
    // Longer than the agent may be silent, and the time itself is what matters.
    thread::sleep(Duration::from_secs(2));
    touch(&env.path("go"));
    ralph.signal(Signal::CONT);
    ralph.wait().exits(0).says_not("Trying again");
}

#[test]
fn an_agent_may_be_stopped_and_continued() {
    let env = Env::new()
        .agent("stopping", "cat >/dev/null; echo $$ >pid; kill -STOP $$; echo '<response>DONE</response>'");
    let ralph = env.start(&["run", "-p", "x"]);
    let pid = poll("the agent", || crate::env::pid_in(&env.path("pid")));
    let state = || fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    poll("its stop", || state().contains(") T ").then_some(()));
    kill(pid, Signal::CONT);
    ralph.wait().exits(0);
    assert_eq!(env.events("turn_ended").len(), 1);
}

/// A run in a terminal whose line is cut during the first turn.
fn cut_off(program: &str) -> (Env, Option<i32>) {
    let [one, two] = meet("began");
    let env = Env::new().guardrails(&["touch checked"]).turns(json!([[one, two, say("Hm.")], [done()]]));
    let mut command = env.command("sh");
    command.args(["-c", &format!("{program} run -p x")]).env("TERM", "xterm").env("RALPH", RALPH);
    let (terminal, mut ralph) = pty::unwatched(&mut command);
    env.await_file("began");
    drop(terminal);
    touch(&env.path("began.go"));
    let status = poll("the end", || ralph.try_wait().expect("a child"));
    env.nothing_left();
    assert_eq!(status.signal(), None, "a signal ended it");
    (env, status.code())
}

#[test]
fn a_lost_terminal_is_a_request_to_stop() {
    let (env, code) = cut_off("exec \"$RALPH\"");
    assert_eq!(code, Some(130));
    let end = env.events("run_ended").pop().expect("the end");
    assert_eq!(end["outcome"], "interrupted");
    assert_eq!(env.events("turn_ended")[0]["end"]["how"], "finished", "the turn was not let finish");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.prompts().len(), 2);
}

#[test]
fn a_lost_terminal_does_not_end_what_runs_without_one() {
    let (env, code) = cut_off("trap '' HUP; exec \"$RALPH\"");
    assert_eq!(code, Some(0));
    assert_eq!(env.prompts().len(), 2);
    env.ralph(&["status"]).exits(0).prints("complete");
}
