//! What all lanes share: one budget, one clock for usage limits, the files that they touch, a person's patience.

use serde_json::{Value, json};

use super::{after, claude, commit, every_commit_passes, journal, landed, project, recorded, steps};
use crate::{
    env::Env,
    stories::{stories, story, with},
};

/// What a worker of stories does, as a Claude Code: `work-STORY` says whether it is done.
const STORY: &str = r#"story=$(printf '%s\n' "$prompt" | sed -n 's/^Work on \([^ ]*\) .*/\1/p' | head -n 1)
echo "$story $(date +%s%3N)" >>"$FLEET_RECORD"
answer=Well.
. "./work-$story"
if test -z "$later"; then
    sed -i "/\"id\": \"$story\"/,/\"reviewFeedback\"/ s/\"passes\": false/\"passes\": true/" ralph/tasks.json
fi
git add -A && git commit --quiet -m "work on $story""#;

/// Such a project, in which every turn costs this much.
pub(super) fn priced(stories: &[(Value, &str)], cost: &str) -> Env {
    project(stories, "sh check.sh").agent("claude", &priced_agent(cost)).settings(json!({"guard": "off"}))
}

/// Its agent.
pub(super) fn priced_agent(cost: &str) -> String {
    claude(STORY, cost)
}

#[test]
fn the_budget_is_the_fleets() {
    // One after the other, each within the budget alone.
    let names = ["A", "B", "C"];
    let work = names.map(|name| format!("echo 1 >{name}.txt\n"));
    let env = priced(
        &[(story("A"), &work[0]), (after("B", &["A"]), &work[1]), (after("C", &["B"]), &work[2])],
        "0.3",
    );
    env.ralph(&["fleet", "--lanes", "2", "--max-cost", "0.5"]).exits(1).says("Maximum cost reached");
    // What was done when its cost was known is done, and lands.
    let first = landed(&env);
    assert!(first.len() < 3 && first[0] == "A: Title of A", "{first:?}");
    let turns = |env: &Env| names.map(|name| recorded(env, name));
    assert_eq!(turns(&env), [1, 1, 0]);
    let ended = journal(&env).pop().expect("an event");
    assert_eq!((&ended["outcome"], &ended["exit_code"]), (&json!("exhausted"), &json!(1)));
    // Without more there is nothing to be done; with more the rest is.
    env.ralph(&["fleet", "resume"]).exits(1);
    assert_eq!(turns(&env), [1, 1, 0]);
    env.ralph(&["fleet", "resume", "--max-cost", "5"]).exits(0);
    assert_eq!(landed(&env).len(), 3);
    assert_eq!((recorded(&env, "A"), recorded(&env, "C")), (1, 1));
    assert!(stories(&env).iter().all(|story| story["passes"] == true));
}

#[test]
fn a_run_that_uses_the_budget_up_is_continued_with_more() {
    // Two turns, of which the budget allows one.
    let work = "if test -e half.txt; then echo 2 >>half.txt; else later=1; echo 1 >half.txt; fi\n";
    let env = priced(&[(story("A"), work)], "0.6");
    env.ralph(&["fleet", "--max-cost", "0.5"]).exits(1).says("Maximum cost reached");
    assert_eq!((landed(&env).len(), recorded(&env, "A")), (0, 1));
    env.ralph(&["fleet", "resume", "--max-cost", "2"]).exits(0);
    assert_eq!(env.read("half.txt"), "1\n2\n");
    assert_eq!(recorded(&env, "A"), 2, "it was not begun again");
    let known = super::status(&env);
    assert!((known["cost"].as_f64().expect("a cost") - 1.2).abs() < 1e-6, "{known}");
}

#[test]
fn a_usage_limit_of_one_lane_stops_new_turns_of_all() {
    // A is refused once, for three seconds. B is in a turn meanwhile, which ends when its run was asked to stop, and would
    // have another. C waits for a lane.
    let refused = r#"if ! test -e "$FLEET_RECORD.refused"; then
            until test -e "$FLEET_RECORD.B"; do sleep 0.01; done
            reset=$(($(date +%s) + 3)); echo $reset >"$FLEET_RECORD.refused"
            echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":'$reset'}}'
            echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"limit","num_turns":1,"total_cost_usd":0}'
            exit 1
        fi
        echo 1 >A.txt"#;
    let long = r#"if ! test -e "$FLEET_RECORD.B"; then
            later=1; touch "$FLEET_RECORD.B"; echo 1 >B.txt
            until grep -qs '"event":"stop_requested"' "${FLEET_RECORD%/*}"/state/*/runs/*/journal.jsonl; do sleep 0.01; done
        fi
        echo 2 >>B.txt"#;
    let env = priced(&[(story("A"), refused), (story("B"), long), (story("C"), "echo 1 >C.txt\n")], "0");
    env.ralph(&["fleet", "--lanes", "2"]).exits(0).says("usage limit of claude: no turn of it begins before");
    assert_eq!(env.read("B.txt"), "1\n2\n2\n");
    let reset = std::fs::read_to_string(env.root().join("record.refused")).expect("a moment");
    let reset: u64 = reset.trim().parse::<u64>().expect("seconds") * 1000;
    let record = std::fs::read_to_string(env.root().join("record")).expect("a record");
    let turns: Vec<(&str, u64)> = record
        .lines()
        .map(|line| line.split_once(' ').expect("a time"))
        .map(|(story, at)| (story, at.parse().expect("milliseconds")))
        .collect();
    assert_eq!(turns.len(), 5, "{turns:?}");
    let mut first: Vec<&str> = turns[..2].iter().map(|(story, _)| *story).collect();
    first.sort_unstable();
    assert_eq!(first, ["A", "B"]);
    assert!(turns[2..].iter().all(|(_, at)| reset <= *at), "{reset} {turns:?}");
    env.nothing_left();
}

#[test]
fn stories_that_touch_the_same_are_not_worked_on_at_once() {
    let touching = |id: &str, pattern: &str| with(id, &json!({"touches": [pattern]}));
    // A ends when C has begun: by then B would have, were it not for A.
    let env = project(
        &[
            (
                touching("A", "src/parser/**"),
                "until test -e \"$FLEET_RECORD.C\"; do sleep 0.01; done; echo 1 >A.txt\n",
            ),
            (touching("B", "src/parser/dates.rs"), "echo 1 >B.txt\n"),
            (touching("C", "docs/**"), "touch \"$FLEET_RECORD.C\"; echo 1 >C.txt\n"),
        ],
        "sh check.sh",
    );
    env.ralph(&["fleet", "--lanes", "3"]).exits(0);
    let steps = steps(&env);
    let place = |step: &str| steps.iter().position(|it| it == step).expect("a step");
    assert!(place("C claimed") < place("A done"), "{steps:?}");
    assert!(place("A merged") < place("B claimed"), "{steps:?}");
}

#[test]
fn after_so_many_evictions_a_person_is_asked_who_can_land_it_after_all() {
    // B passes alone, fails with A, and its lane never does anything about it.
    let check = "test ! -e A.txt || test ! -e B.txt || test -e both-allowed";
    let env = project(&[(story("A"), "echo 1 >A.txt\n"), (story("B"), "echo 1 >>B.txt\n")], check);
    let env = env.settings(json!({"fleet": {"evictions": 1}, "maximumIterations": 1}));
    // The lane's own run does not see the guardrail fail: it looks for what only the judge has.
    let check = "test ! -e A.txt || test ! -e B.txt || test -e both-allowed || test -n \"$RALPH_LANE\"";
    let env = env.settings(json!({"guardrails": [{"command": check}]}));
    env.ralph(&["fleet", "--lanes", "2"]).exits(6).says("Stopped for a person:");
    let all = steps(&env);
    let refused: Vec<&String> = all.iter().filter(|it| it.ends_with("refused")).collect();
    assert_eq!(refused.len(), 2, "{all:?}");
    assert_eq!(refused[0], refused[1], "the other has landed");
    let late = &refused[0][..1];
    env.ralph(&["fleet", "land", late]).exits(2).says(&format!("{late} does not land"));
    // A person makes room for both, and lands it.
    env.write("both-allowed", "");
    commit(&env);
    env.ralph(&["fleet", "land", late]).exits(0).prints(&format!("{late} has landed"));
    assert!(env.path("A.txt").exists() && env.path("B.txt").exists());
    assert!(stories(&env).iter().all(|story| story["passes"] == true));
    every_commit_passes(&env, check);
    env.ralph(&["fleet", "land", late]).exits(2).says("has landed already");
    env.ralph(&["fleet", "resume"]).exits(0);
    env.nothing_left();
}

#[test]
fn what_a_person_discards_is_not_worked_on() {
    let env = project(&[(story("A"), "exit 3\n"), (after("B", &["A"]), "echo 1 >B.txt\n")], "sh check.sh")
        .settings(json!({"retries": 0, "maximumIterations": 1}));
    env.ralph(&["fleet"]).exits(6).says("Stopped for a person: A:").says("B: waits for A");
    env.ralph(&["fleet", "discard", "A"]).exits(0);
    env.ralph(&["fleet", "discard", "B"]).exits(0);
    let turns = recorded(&env, "A");
    env.ralph(&["fleet", "resume"]).exits(0);
    assert_eq!((recorded(&env, "A"), recorded(&env, "B")), (turns, 0));
    env.ralph(&["fleet", "land", "A"]).exits(2).says("A has no candidate");
    env.ralph(&["fleet", "land", "X"]).exits(2).says("there is no item `X` in this fleet");
}
