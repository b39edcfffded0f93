//! Whatever hangs is ended by the limits of the run, and by a person who stops it: a guardrail, the baseline, a commit hook,
//! a push, the question for a message.

use serde_json::json;

use crate::env::{Env, SHORT_TIMES, done, say, shell};

/// Says in a file that it hangs, and does.
const HANGS: &str = "touch \"$HUNG\"; exec sleep 600";

/// A run in which this place hangs.
fn hanging(place: &str) -> Env {
    let env = Env::new().with_git().commits();
    let work = json!([shell("echo more >>more.txt"), done()]);
    let hang = HANGS.replace("$HUNG", &env.root().join("hung").display().to_string());
    let turns = json!({"turns": [work], "text": [[say("Add more")]]});
    match place {
        "baseline" => env.script(turns).guardrails(&[&hang]),
        "guardrail" => env.script(turns).guardrails(&[&format!("test ! -e more.txt || {{ {hang}; }}")]),
        "hook" => {
            let env = env.script(turns);
            env.program(&env.path(".git/hooks/pre-commit").display().to_string(), &hang);
            env
        }
        "push" => {
            let env =
                env.script(turns).settings(json!({"scm": {"command": "git", "tasks": ["commit", "push"]}}));
            env.program("receive-pack", &hang);
            env.git(&["remote", "add", "origin", "../nowhere.git"]);
            env.git(&["init", "-q", "--bare", "../nowhere.git"]);
            env.git(&["config", "remote.origin.receivepack", "receive-pack"]);
            env.git(&["config", "push.default", "current"]);
            env
        }
        _ => env.script(json!({"turns": [work], "text": [[shell(&hang)]]})),
    }
}

const PLACES: [(&str, bool); 5] =
    [("baseline", true), ("guardrail", true), ("hook", false), ("push", false), ("message", false)];

#[test]
fn the_time_of_a_run_ends_whatever_hangs() {
    for (place, is_gate) in PLACES {
        // On a busy machine it may take seconds until it hangs at all.
        let ended = SHORT_TIMES.iter().any(|limit| {
            let env = hanging(place);
            let output = env.run(&["--max-time", limit, "--max-iterations", "3"]);
            let has_hung = env.root().join("hung").exists();
            if has_hung {
                // What was pushed in vain is done all the same, and a message can be made without the agent.
                let output = output.exits(i32::from(!matches!(place, "push" | "message")));
                if is_gate {
                    output.prints("--max-time");
                }
                env.nothing_left();
            }
            has_hung
        });
        assert!(ended, "{place}");
    }
}

#[test]
fn a_person_who_stops_a_run_now_ends_whatever_hangs() {
    for (place, _) in PLACES {
        let env = hanging(place);
        let ralph = env.start(&["run", "-p", "x", "--max-iterations", "3"]);
        env.await_file("../hung");
        env.ralph(&["stop", "--now"]).exits(0);
        // The work is done when only its message is missing, or when it is pushed.
        ralph.wait().exits(if matches!(place, "push" | "message") { 0 } else { 130 });
        env.nothing_left();
    }
}
