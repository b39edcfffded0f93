//! A fleet as people and scripts see it: status, log, report, receipts, events, lines side by side.

use std::path::Path;

use serde_json::{Value, json};

use super::{candidates::prompts, journal, journal_path, landed, project, recorded, status};
use crate::{
    env::{Env, poll},
    receipts::{key_of, make_key, sign_with},
    stories::story,
};

fn two() -> Env {
    project(&[(story("A"), "echo 1 >A.txt\n"), (story("B"), "echo 1 >B.txt\n")], "sh check.sh")
}

#[track_caller]
fn id(env: &Env) -> String {
    status(env)["fleet"].as_str().expect("an id").to_owned()
}

#[test]
fn events_are_printed_and_the_id_of_a_fleet_is_good_for_what_that_of_a_run_is() {
    let env = two().settings(json!({"agent": {"env": {"KEY": "very-secret"}}}));
    let said =
        env.ralph(&["fleet", "--lanes", "2", "--output", "json"]).exits(0).says("lander | A landed as");
    let events = |text: &str| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
    };
    let mut recorded = journal(&env);
    for place in ["/settings/agent/env/KEY", "/settings/agents/main/env/KEY"] {
        let value = recorded[0].pointer_mut(place).expect("a variable");
        assert_eq!(*value, "very-secret");
        *value = json!("***");
    }
    assert_eq!(events(&said.stdout), recorded);
    let fleet = id(&env);
    let replayed = env.ralph(&["logs", &fleet, "--output", "json"]).exits(0).prints_not("very-secret");
    assert_eq!(events(&replayed.stdout), recorded);
    env.ralph(&["logs", &fleet, "--follow"]).exits(0).prints("lander | B landed as").prints("works on A");
    env.ralph(&["logs", &fleet, "--iteration", "1"]).exits(2).says("a fleet has no stream");
    env.ralph(&["status"])
        .exits(0)
        .prints(&format!("Fleet {fleet} on main: complete"))
        .prints("2 of 2 landed");
    env.ralph(&["status", &fleet]).exits(0).prints("landed");
    let known: Value =
        serde_json::from_str(&env.ralph(&["status", &fleet, "--json"]).exits(0).stdout).expect("JSON");
    assert_eq!(known, status(&env));
    env.ralph(&["status", "--exit-code", &fleet]).exits(0);
    let page = env.ralph(&["report", &fleet, "--file", "-"]).exits(0).stdout;
    assert!(
        page.contains("2 of 2") && page.contains("Title of A") && !page.contains("very-secret"),
        "{page}"
    );
    // Each lane has an ordinary run, which the page names.
    let runs: Vec<String> = env
        .runs()
        .iter()
        .map(|run| run.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert!(page.contains(run), "{run} {page}");
        env.ralph(&["logs", run]).exits(0).prints("Well.");
        env.ralph(&["report", run, "--file", "-"]).exits(0).prints("ralph stories");
        env.ralph(&["status", run]).exits(0).prints("complete");
    }
    // Quiet: only the end.
    let env = two();
    let said = env.ralph(&["fleet", "--quiet"]).exits(0);
    assert_eq!(said.stderr, "fleet | Complete: everything has landed\n");
    assert_eq!(said.stdout, "");
}

#[test]
fn lanes_are_contained_unless_the_settings_say_otherwise() {
    let env = prompts("exit 1");
    let level = |env: &Env| {
        env.ralph(&["fleet", "run", "Do it.", "--max-iterations", "1", "--retries", "0"]).exits(6);
        journal(env)[0]["settings"]["sandbox"]["level"].clone()
    };
    assert_eq!(level(&env), "none");
    let settings = std::fs::read_to_string(env.path(".ralph/settings.json")).expect("settings");
    let mut settings: Value = serde_json::from_str(&settings).expect("JSON");
    settings.as_object_mut().expect("an object").remove("sandbox").expect("one that was set");
    env.write(".ralph/settings.json", &settings.to_string());
    assert_eq!(level(&env), "auto");
}

#[test]
fn every_commit_that_lands_has_a_receipt() {
    let env = two();
    let public = make_key(&env, &key_of(&env));
    sign_with(&env, &key_of(&env));
    let signers = env.root().join("signers");
    std::fs::write(&signers, format!("ann {public}\n")).expect("the signers");
    env.ralph(&["fleet", "--lanes", "2"]).exits(0);
    let signers = signers.display().to_string();
    for commit in ["HEAD", "HEAD~1"] {
        let said = env.ralph(&["verify", commit, "--allowed-signers", &signers, "--json"]).exits(0).stdout;
        let said: Value = serde_json::from_str(&said).expect("JSON");
        assert_eq!(said["verdict"], "holds", "{said}");
        let predicate = &said["statement"]["predicate"];
        let (base, result) =
            (env.git(&["rev-parse", &format!("{commit}~1")]), env.git(&["rev-parse", commit]));
        assert_eq!(predicate["base"]["commit"], base.trim());
        assert_eq!(predicate["result"]["commit"], result.trim());
        // On the merged tree, in a clean clone.
        let guardrails = predicate["guardrails"].as_array().expect("guardrails");
        let own: Vec<&Value> = guardrails.iter().filter(|it| it["command"] == "sh check.sh").collect();
        assert_eq!(own.len(), 1, "{guardrails:?}");
        assert_eq!((&own[0]["inJudge"]["passed"], &own[0]["inProject"]), (&json!(true), &json!(null)));
        assert!(!predicate["caveats"].to_string().contains("judged-in-place"), "{predicate}");
        // The record that it names is that of the run in the lane, and it is here.
        let items = said["items"].as_array().expect("items");
        assert!(items.iter().any(|it| it["topic"] == "journal" && it["verdict"] == "holds"), "{items:?}");
    }
    // Another file is no longer what was judged.
    env.write("A.txt", "2\n");
    env.git(&["commit", "--quiet", "--all", "-m", "by hand"]);
    env.ralph(&["verify", "--allowed-signers", &signers]).exits(2).prints("no receipt");
    // Signed later.
    let env = two();
    env.ralph(&["fleet"]).exits(0);
    env.ralph(&["verify"]).exits(2);
    let public = make_key(&env, &key_of(&env));
    sign_with(&env, &key_of(&env));
    std::fs::write(env.root().join("signers"), format!("ann {public}\n")).expect("the signers");
    env.ralph(&["sign", &id(&env)]).exits(0).prints("signed 2 receipts");
    let signers = env.root().join("signers").display().to_string();
    env.ralph(&["verify", "HEAD~1", "--allowed-signers", &signers]).exits(0);
}

#[test]
fn a_fleet_that_runs_can_be_looked_at_and_stopped() {
    let waits = "touch \"$FLEET_RECORD.begun\"; until test -e \"$FLEET_RECORD.go\"; do sleep 0.01; done; echo 1 >A.txt\n";
    let env = project(&[(story("A"), waits), (story("B"), "echo 1 >B.txt\n")], "sh check.sh");
    let running = env.start(&["fleet", "--lanes", "1"]);
    let begun = env.root().join("record.begun");
    poll("the agent to begin", || begun.exists().then_some(()));
    let known = status(&env);
    assert_eq!((&known["running"], &known["pid"]), (&json!(true), &json!(running.pid())));
    let items = known["items"].as_array().expect("items");
    assert_eq!((&items[0]["phase"], &items[0]["lane"]), (&json!("working"), &json!("lane-1")));
    assert_eq!((&items[1]["phase"], &items[1]["lane"]), (&json!("waiting"), &json!(null)));
    let text = env.ralph(&["fleet", "status"]).exits(0).stdout;
    assert!(text.contains("running") && text.contains("working    in lane-1"), "{text}");
    env.ralph(&["fleet", "resume"]).exits(2).says("this fleet is still running");
    env.ralph(&["fleet", "land", "A"]).exits(2).says("this fleet is still running");
    // The log is shown until the end, by a process of its own.
    let log = env.start(&["logs", &id(&env), "-f"]);
    log.await_printing("works on A");
    env.ralph(&["fleet", "stop"]).exits(0).prints("after the running turns");
    running.await_saying("stopping after the running turns");
    std::fs::write(env.root().join("record.go"), "").expect("a file");
    running.wait().exits(130);
    log.wait().exits(0).prints("Interrupted");
    assert_eq!(
        (recorded(&env, "A"), recorded(&env, "B")),
        (1, 0),
        "the turn was not ended, and no other began"
    );
    env.nothing_left();
    env.ralph(&["status", "--exit-code", &id(&env)]).exits(130);
    env.ralph(&["fleet", "resume"]).exits(0).says("Complete: everything has landed");
    assert_eq!((recorded(&env, "A"), recorded(&env, "B")), (1, 1));
    assert_eq!(landed(&env).len(), 2);
}

#[test]
fn lanes_are_shown_side_by_side_and_never_in_one_line() {
    // Both print at once, each line in two pieces.
    let talks = |name: &str, other: &str| {
        format!(
            "touch \"$FLEET_RECORD.{name}\"; until test -e \"$FLEET_RECORD.{other}\"; do sleep 0.01; done\n\
             for i in 1 2 3 4 5 6 7 8 9; do printf 'talk{name}{name}{name}'; sleep 0.01; echo '{name}{name}.'; done; echo 1 >{name}.txt\n"
        )
    };
    let (one, two) = (talks("A", "B"), talks("B", "A"));
    let env = project(&[(story("A"), &one), (story("B"), &two)], "sh check.sh");
    let said = env.ralph(&["fleet", "--lanes", "2"]).exits(0).stderr;
    for name in ["A", "B"] {
        let whole = format!("talk{}.", name.repeat(5));
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(&whole)).collect();
        assert_eq!(lines.len(), 9, "{said}");
        for line in lines {
            let (who, text) = line.split_once(" | ").expect("who says it");
            assert!(who.starts_with("lane-") && who.ends_with(&format!(" {name}")), "{line}");
            assert_eq!(text.matches("talk").count(), 1, "{line}");
        }
    }
    assert!(said.lines().all(|line| line.contains(" | ")), "{said}");
    let log = journal_path(&env).expect("a journal");
    assert!(Path::new(&log).with_file_name("logs").join("lane-2.log").exists());
}
