//! Several candidates for one prompt: which of them lands, and what becomes of the others.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use super::{claude, commit, landed, no_refs_left, recorded, status, steps};
use crate::env::Env;

/// An agent for prompts that leaves what it was started as.
pub(crate) fn prompts(agent: &str) -> Env {
    let env = Env::new().with_git().agent("worker", agent).settings(json!({
        "sandbox": "none", "guardrails": [{"command": "test -e README.md"}], "baseline": false,
    }));
    let record = env.root().join("record").display().to_string();
    let env = env.variable("FLEET_RECORD", &record);
    env.write(".gitignore", ".ralph/\n");
    commit(&env);
    env
}

/// The phases of all items.
#[track_caller]
fn phases(env: &Env) -> Vec<String> {
    let known = status(env);
    let items = known["items"].as_array().expect("items");
    items.iter().map(|it| it["phase"].as_str().expect("a phase").to_owned()).collect()
}

#[test]
fn the_first_of_three_candidates_lands_and_the_others_end() {
    // The first is done at once; the others would work for ever.
    let env = prompts(
        r#"case "$(cat)" in *"commit message"*) echo "Make a winner"; exit ;; esac
        echo "turn $RALPH_LANE" >>"$FLEET_RECORD"
        if test "$RALPH_LANE" != lane-1; then sleep 1000; fi
        echo $RALPH_LANE >winner.txt; echo "It works. <response>DONE</response>""#,
    );
    env.ralph(&["fleet", "run", "Make a winner.", "--best-of", "3", "--lanes", "3"]).exits(0);
    assert_eq!(env.read("winner.txt"), "lane-1\n");
    assert_eq!(landed(&env).len(), 2, "the ignore file and the winner");
    assert!(recorded(&env, "turn") <= 3);
    assert_eq!(phases(&env), ["landed", "cancelled", "cancelled"]);
    env.nothing_left();
}

#[test]
fn no_turn_begins_after_one_has_landed() {
    // Two lanes for three: the second waits in its turn until the first has landed, the third never gets a lane.
    let env = prompts(
        r#"case "$(cat)" in *"commit message"*) echo "Make a winner"; exit ;; esac
        echo "turn $RALPH_LANE" >>"$FLEET_RECORD"
        if test "$RALPH_LANE" = lane-1; then
            until grep -q lane-2 "$FLEET_RECORD"; do sleep 0.01; done
            echo $RALPH_LANE >winner.txt; echo "It works. <response>DONE</response>"; exit
        fi
        until test -e "$FLEET_PROJECT/winner.txt"; do sleep 0.01; done
        echo "landed" >>"$FLEET_RECORD"; sleep 1000"#,
    );
    let project = env.project().display().to_string();
    let env = env.variable("FLEET_PROJECT", &project);
    env.ralph(&["fleet", "run", "Make a winner.", "--best-of", "3", "--lanes", "2"]).exits(0);
    assert_eq!(recorded(&env, "turn"), 2, "one in each lane");
    let steps = steps(&env);
    let won = steps.iter().position(|it| it == "prompt-1-1 merged").expect("a winner");
    assert!(!steps[won..].iter().any(|it| it.ends_with("claimed")), "{steps:?}");
    assert_eq!(phases(&env), ["landed", "cancelled", "cancelled"]);
    assert!(no_refs_left(&env));
    env.nothing_left();
}

#[test]
fn the_cheapest_of_three_models_lands() {
    let work = r#"model=$(printf '%s\n' "$*" | sed -n 's/.*--model \([a-z]*\).*/\1/p')
        case $model in opus) cost=0.3 ;; haiku) cost=0.1 ;; *) cost=0.2 ;; esac
        echo "$model" >>"$FLEET_RECORD"; echo "$model" >winner.txt; answer='It works. <response>DONE</response>'"#;
    let env = prompts("").agent("claude", &claude(work, "$cost")).settings(json!({"guard": "off"}));
    let words = [
        "fleet",
        "run",
        "Make a winner.",
        "--models",
        "opus,haiku,sonnet",
        "--pick",
        "cheapest",
        "--lanes",
        "3",
    ];
    env.ralph(&words).exits(0);
    assert_eq!(env.read("winner.txt"), "haiku\n");
    for model in ["opus", "haiku", "sonnet"] {
        assert_eq!(recorded(&env, model), 1, "{model}");
    }
    assert_eq!(phases(&env), ["cancelled", "landed", "cancelled"]);
    assert!((status(&env)["cost"].as_f64().expect("a cost") - 0.6).abs() < 1e-6);
    assert_eq!(landed(&env).len(), 2, "the ignore file and the winner");
}

#[test]
fn every_agent_has_a_candidate_of_its_own() {
    let env = prompts("");
    let agent = |name: &str, before: &str| {
        format!(
            r#"case "$(cat)" in *"commit message"*) echo "Make a winner"; exit ;; esac
            echo {name} >>"$FLEET_RECORD"; {before}
            echo {name} >winner.txt; echo "It works. <response>DONE</response>""#
        )
    };
    env.program("one", &agent("one", "sleep 1000"));
    env.program("two", &agent("two", "until grep -q one \"$FLEET_RECORD\"; do sleep 0.01; done"));
    env.ralph(&["fleet", "run", "Make a winner.", "--agents", "one,two", "--lanes", "2"]).exits(0);
    assert_eq!(env.read("winner.txt"), "two\n");
    assert_eq!((recorded(&env, "one"), recorded(&env, "two")), (1, 1));
    assert_eq!(phases(&env), ["cancelled", "landed"]);
    env.nothing_left();
}

#[test]
fn an_agent_that_only_the_users_project_has_works_in_lanes() {
    let work = "cat >/dev/null; echo it >made.txt; echo 'It works. <response>DONE</response>'";
    let env = prompts(work);
    env.program("agent", work);
    env.write(".gitignore", ".ralph/\nown/\n");
    commit(&env);
    // Beside the project, and in a folder of it that git does not know: no lane has either.
    env.write("own/agent", "#!/bin/sh\nexec \"$(dirname \"$0\")\"/../../bin/agent\n");
    fs::set_permissions(env.path("own/agent"), fs::Permissions::from_mode(0o755)).expect("an executable");
    for agent in ["../bin/agent", "own/agent"] {
        env.ralph(&["fleet", "run", "Make it.", "--agent", agent]).exits(0);
        assert_eq!(env.read("made.txt"), "it\n");
        env.git(&["rm", "--quiet", "made.txt"]);
        env.git(&["commit", "--quiet", "-m", "Again"]);
    }
    // What no one has is missed before a lane begins.
    let refused = env.ralph(&["fleet", "run", "Make it.", "--agent", "../nothing"]);
    refused.exits(2).says("cannot find the agent `../nothing`").says("hint: install it");
}
