//! Agents inside a sandbox that work with others: children, the bus, the commands of a stories loop.

use std::fs;

use serde_json::{Value, json};

use super::works;
use crate::{
    env::{Env, RALPH, say, shell},
    stories::{commit, list, project, stories, story},
    task::{bus, env, records, says},
};

const FINISH: &str = "echo done >\"$TASK_FOLDER/DONE\"";

/// A task in a sandbox. Its agent does one thing as the root of the task, and another as a child.
fn task(level: &str, root: &str, child: &str) -> Env {
    let script = format!("if [ $RALPH_MODE = job ]; then {child}\nexit 0; fi\n{root}\n{FINISH}");
    env(&script).settings(json!({"sandbox": {"level": level}}))
}

#[track_caller]
fn run(env: &Env) -> crate::env::Output {
    env.ralph(&["task", "run", "--task", "t", "-p", "Do it."])
}

/// The journal of the child.
fn journal_of(env: &Env, run: &str) -> Vec<Value> {
    let folder = env.runs().into_iter().find(|folder| folder.ends_with(run)).expect("a record");
    let text = fs::read_to_string(folder.join("journal.jsonl")).expect("a journal");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_child_is_started_outside_and_contained_likewise() {
    for level in ["embedded", "bwrap", "landlock"] {
        if !works(level) {
            continue;
        }
        let root = format!("'{RALPH}' job -p 'Do a part.' --detach >child.id 2>child.err || exit 1");
        let env = task(level, &root, "touch child-done; touch ../escaped && touch child-escaped");
        run(&env).exits(0);
        let id = env.read("child.id").trim().to_owned();
        let (of_root, of_child) = (records(&env)[0].clone(), records(&env)[1].clone());
        assert_eq!((&of_child["run"], &of_child["status"]), (&json!(id), &json!("completed")));
        assert_eq!((&of_child["parent"], &of_child["title"]), (&of_root["run"], &json!("Do a part.")));
        assert_eq!(of_root["status"], "completed");
        assert!(env.path("child-done").exists(), "the child did its work");
        assert!(!env.path("child-escaped").exists() && !env.root().join("escaped").exists());
        let journal = journal_of(&env, &id);
        let sandboxed = journal.iter().find(|event| event["event"] == "sandboxed").expect("a sandbox");
        assert_eq!(sandboxed["level"], level);
        assert_eq!(journal[0]["setup"]["agent"]["permissions"], "skip");
        says(&bus(&env), &format!("child run {id} completed"));
        env.nothing_left();
    }
}

#[test]
fn an_agent_that_waits_for_a_child_hears_it_and_gets_its_code() {
    if !works("embedded") {
        return;
    }
    let root = format!("'{RALPH}' job -f part.md --output json >job.out 2>job.err; echo $? >job.code");
    let env = task("embedded", &root, "echo said-by-the-child; exit 42");
    env.write("part.md", "A part from a file.");
    run(&env).exits(0);
    assert_eq!(env.read("job.code").trim(), "6", "{} {}", env.read("job.out"), env.read("job.err"));
    let events = env.read("job.out");
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events[0]["event"], "run_started");
    assert_eq!(events.last().expect("events")["event"], "run_ended");
    assert!(env.read("job.err").contains("said-by-the-child"), "{}", env.read("job.err"));
    assert!(env.read("prompts/2").ends_with("A part from a file."), "{}", env.read("prompts/2"));
}

#[test]
fn children_of_children_come_from_inside_too() {
    if !works("embedded") {
        return;
    }
    let child = format!(
        "if grep -q 'The first' prompts/$((n+1)); then '{RALPH}' job -p 'The second.' >second.out 2>&1 || exit 1; fi"
    );
    let env = task("embedded", &format!("'{RALPH}' job -p 'The first.' >first.out 2>&1 || exit 1"), &child);
    run(&env).exits(0);
    let records = records(&env);
    assert_eq!(records.len(), 3, "{}", env.read("first.out"));
    assert_eq!(records[2]["parent"], records[1]["run"]);
    assert_eq!(records[1]["parent"], records[0]["run"]);
}

#[test]
fn a_request_cannot_widen_what_the_caller_may_do() {
    if !works("embedded") {
        return;
    }
    // By ralph's own command, and by what a program could write in its place.
    let tries = ["--no-sandbox", "--sandbox none", "--config mine.json", "--agent ./worker", "--task other"];
    let by_command =
        tries.map(|words| format!("'{RALPH}' job -p x {words} >>said 2>&1 && touch went-through")).join("\n");
    let answer = "cat \"$RALPH_SPOOL/../answers/$1\"";
    let by_hand = format!(
        "ask() {{ echo $1 >\"$RALPH_SPOOL/requests\"; while ! test -e \"$RALPH_SPOOL/../answers/$1\"; do sleep 0.01; done; {answer} >>said; echo >>said; }}
         echo '{{\"prompt\":\"x\",\"flags\":[\"--no-sandbox\"]}}' >\"$RALPH_SPOOL/a\"; ask a
         echo '{{\"prompt\":\"x\",\"flags\":[\"--agent=./worker\"]}}' >\"$RALPH_SPOOL/b\"; ask b
         ln -s \"$PWD/said\" \"$RALPH_SPOOL/c\"; ask c
         mkfifo \"$RALPH_SPOOL/d\"; ask d
         echo ../../../x >\"$RALPH_SPOOL/requests\"; head -c 3000 /dev/zero >\"$RALPH_SPOOL/requests\"; echo >\"$RALPH_SPOOL/requests\"
         touch \"$RALPH_SPOOL/../answers/forged\" 2>>said && touch went-through"
    );
    let env = task("embedded", &format!("{by_command}\n{by_hand}"), "touch began");
    env.write("mine.json", "{}");
    env.write(".ralph/tasks/other/TASK.md", "Something else.");
    run(&env).exits(0);
    let said = env.read("said");
    for text in [
        "--sandbox, --no-sandbox, --no-guard, --tests-may-change and --config cannot be given inside a sandbox",
        "takes the name of a program, not its path",
        "only be a part of the caller's own task, not of `other`",
        "inside a sandbox: unexpected argument '--no-sandbox' found",
        "does not understand the request: it is not a plain file",
        "Read-only file system",
    ] {
        assert!(said.contains(text), "no {text:?} in:\n{said}");
    }
    assert!(!env.path("went-through").exists() && !env.path("began").exists(), "{said}");
    assert_eq!(records(&env).len(), 1);
}

#[test]
fn the_bus_and_the_list_of_tasks_work_inside() {
    for level in ["embedded", "landlock"] {
        if !works(level) {
            continue;
        }
        let root = format!(
            "'{RALPH}' bus post --type FACT --body 'Posted inside.' >>said 2>&1
             '{RALPH}' bus post --project --type FACT --body 'For all.' >>said 2>&1
             '{RALPH}' bus read --tail 1 >read 2>&1
             '{RALPH}' task list >listed 2>&1
             '{RALPH}' task stop t >stopped 2>&1 && touch went-through"
        );
        let env = task(level, &root, "");
        run(&env).exits(0);
        says(&bus(&env), "FACT Posted inside.");
        assert!(env.read("read").contains("Posted inside."), "{}", env.read("read"));
        assert!(env.read("listed").contains("running"), "{}", env.read("listed"));
        assert!(env.read("stopped").contains("cannot be ended from inside a sandbox"));
        assert!(!env.path("went-through").exists());
        env.ralph(&["bus", "read", "--project"]).exits(0).prints("For all.");
        assert_eq!(records(&env)[0]["status"], "completed");
    }
}

#[test]
fn stories_are_submitted_and_approved_from_inside() {
    for level in ["embedded", "landlock"] {
        if !works(level) {
            continue;
        }
        // Outside of the project: a reviewer who writes there approves nothing.
        let step =
            |step: &str| shell(&format!("'{RALPH}' stories {step} >>../script.json.d/steps 2>&1 || true"));
        let env = project(&list(&[story("US-1")])).turns(json!([
            [step("approve US-1"), step("submit US-1"), commit(), say("Submitted.")],
            [step("request-changes US-1 --feedback 'Week 53.'"), commit(), say("Sent back.")],
            [step("submit US-1"), commit(), say("Mended.")],
            [step("approve US-1"), commit(), say("Approved.")],
        ]));
        let record = env.root().join("script.json.d");
        fs::create_dir_all(&record).expect("a folder");
        let env = env.settings(json!({"sandbox": {"level": level, "writable": [record]}}));
        env.ralph(&["stories"]).exits(0);
        let steps = fs::read_to_string(env.root().join("script.json.d/steps")).expect("what was said");
        assert!(steps.contains("this is an implement turn; it may not do this to US-1"), "{steps}");
        assert_eq!(stories(&env)[0]["reviewStatus"], "approved", "{steps}");
        assert_eq!(stories(&env)[0]["reviewCount"], 2, "{steps}");
        assert!(!env.path(".ralph-active").exists());
        // Putting the list away is ralph's own work, outside.
        env.ralph(&["stories", "archive"]).exits(0).prints("1 of 1 stories done, committed");
    }
}
