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
        "signature" => {
            env.program("gpg", &hang);
            env.git(&["config", "commit.gpgSign", "true"]);
            env.git(&["config", "gpg.program", "gpg"]);
            env.script(turns)
        }
        "judge" => env.script(turns).guardrails(&[&format!("test -z \"$RALPH_JUDGE\" || {{ {hang}; }}")]),
        "message" => env.script(json!({"turns": [work], "text": [[shell(&hang)]]})),
        place => panic!("{place}"),
    }
}

const PLACES: [(&str, bool); 7] = [
    ("baseline", true),
    ("guardrail", true),
    ("judge", true),
    ("hook", false),
    ("signature", false),
    ("push", false),
    ("message", false),
];

/// What is done all the same: what was pushed in vain, and a message can be made without the agent.
const DONE_ALL_THE_SAME: [&str; 2] = ["push", "message"];

#[test]
fn the_time_of_a_run_ends_whatever_hangs() {
    for (place, is_gate) in PLACES {
        // On a busy machine it may take seconds until it hangs at all.
        let ended = SHORT_TIMES.iter().any(|limit| {
            let env = hanging(place);
            let output = env.run(&["--max-time", limit, "--max-iterations", "3"]);
            let has_hung = env.root().join("hung").exists();
            if has_hung {
                let output = output.exits(i32::from(!DONE_ALL_THE_SAME.contains(&place)));
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
        ralph.wait().exits(if DONE_ALL_THE_SAME.contains(&place) { 0 } else { 130 });
        env.nothing_left();
    }
}

#[test]
fn what_runs_a_hook_or_waits_for_another_machine_has_as_long_as_a_guardrail() {
    for (place, code) in [("guardrail", 1), ("hook", 5), ("signature", 5), ("push", 0)] {
        let ended = SHORT_TIMES.iter().any(|limit| {
            let env = hanging(place);
            let output = env.run(&["--gate-timeout", limit, "-m", "1", "--retries", "0", "--no-baseline"]);
            let has_hung = env.root().join("hung").exists();
            if has_hung {
                let output = output.exits(code);
                let said = [output.stdout, output.stderr].concat();
                assert!(
                    said.contains("took too long") || said.contains("timed out after"),
                    "{place}: {said}"
                );
                env.nothing_left();
            }
            has_hung
        });
        assert!(ended, "{place}");
    }
}

#[test]
fn a_filter_that_hangs_holds_no_one_who_stops_a_run_now() {
    let env = Env::new().with_git().commits();
    let hung = env.root().join("hung").display().to_string();
    env.write(".gitattributes", "*.txt filter=slow\n");
    env.write("some.txt", "one\n");
    env.commit_all();
    // As long as it was, so that git has to look into it.
    let env = env.turns(json!([[shell("echo two >some.txt"), done()]]));
    let filter = format!("grep -q one && echo one || {{ {}; }}", HANGS.replace("$HUNG", &hung));
    env.git(&["config", "filter.slow.clean", &filter]);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("../hung");
    env.ralph(&["stop", "--now"]).exits(0);
    assert_ne!(ralph.wait().code, Some(0), "what no one could look at was called done");
    env.nothing_left();
    assert_eq!(env.commits_made(), ["tests", "first"]);
}
