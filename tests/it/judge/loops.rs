//! Claims of whole loops, decided in a clean clone: what is only in the working tree does not count.

use serde_json::{Value, json};

use super::project;
use crate::env::{Env, done, lacks, say, shell, skip, write};

/// A loop that commits, with this guardrail and these turns.
fn judged(guardrail: &str, turns: Value) -> Env {
    project().commits().guardrails(&[guardrail]).turns(turns)
}

fn in_judge(env: &Env) -> Vec<bool> {
    env.events("judge_gate_ended").iter().map(|event| event["failure"].is_null()).collect()
}

#[test]
fn a_claim_is_decided_on_what_was_committed_and_pushed_then() {
    let env = judged("test \"$(cat a)\" = fixed", json!([[shell("echo fixed > a"), done()]]))
        .settings(json!({"scm": {"command": "git", "tasks": ["commit", "push -q backup HEAD"]}}));
    env.sh("git init -q --bare ../backup.git && git remote add backup ../backup.git").exits(0);
    env.run(&[]).exits(0).says("Passed in a clean clone");
    let kinds: Vec<String> =
        env.journal().iter().map(|event| event["event"].as_str().expect("a kind").to_owned()).collect();
    let at = |kind: &str| {
        kinds.iter().rposition(|known| known == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"))
    };
    let order =
        ["gate_ended", "commit_ended", "judge_started", "judge_ready", "judge_gate_ended", "delivered"]
            .map(at);
    assert!(order.is_sorted(), "{kinds:?}");
    // Red at both places before the run, for the same reason: the judge can be believed.
    assert_eq!(in_judge(&env), [false, true]);
    assert_eq!(env.sh("git -C ../backup.git rev-list --count main").stdout.trim(), "3");
}

#[test]
fn what_only_the_working_tree_has_is_named_and_does_not_count() {
    for hide in [
        "echo needed >> .git/info/exclude && touch needed",
        "mkdir vendor && git init -q vendor/lib && touch vendor/lib/needed && cd vendor/lib && git add . && git -c user.name=x -c user.email=x commit -qm x && cd ../.. && ln -s vendor/lib/needed needed",
        "touch needed && git add needed && git -c user.name=x -c user.email=x commit -qm x && git rm -q --cached needed && git -c user.name=x -c user.email=x commit -qm y && echo needed >> .git/info/exclude",
    ] {
        let env = judged("test -e needed", json!([[shell(hide), done()], [done()]]));
        env.run(&["--max-iterations", "2"]).exits(1).says("Failed in a clean clone");
        assert!(env.prompts()[1].contains("needed"), "{hide}: {}", env.prompts()[1]);
        assert!(env.prompts()[1].contains("a clean clone"), "{}", env.prompts()[1]);
    }
}

#[test]
fn tricks_with_the_index_do_not_count() {
    for hide in ["--skip-worktree", "--assume-unchanged"] {
        let env = judged(
            "test \"$(cat a)\" = fixed",
            json!([[shell(&format!("git update-index {hide} a && echo fixed > a")), done()], [done()]]),
        );
        env.run(&["--max-iterations", "2"]).exits(1);
        assert!(env.prompts()[1].contains("not committed: a"), "{hide}: {}", env.prompts()[1]);
    }
}

#[test]
fn an_object_that_was_rewritten_is_not_judged() {
    let env = judged(
        "test -e new",
        json!([[
            write("new", "evil\n"),
            shell(
                "git add new && git -c user.name=x -c user.email=x commit -qm x && \
                 id=$(git rev-parse HEAD:new) && file=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-) && \
                 chmod u+w $file && other=$(echo good | git hash-object -w --stdin) && \
                 cp -f .git/objects/$(echo $other | cut -c1-2)/$(echo $other | cut -c3-) $file"
            ),
            done()
        ]]),
    );
    env.run(&[]).exits(6).prints("was not judged");
}

#[test]
fn a_guardrail_that_edits_files_does_not_help_itself() {
    // It makes what it looks for: the second time it would pass, if what it made were still there.
    let env = judged("test -e made || { touch made; exit 1; }", json!([[done()], [done()], [done()]]));
    env.write(".gitignore", "made\n");
    super::commit(&env);
    env.run(&["--max-iterations", "3"]).exits(1);
    assert!(env.path("made").exists());
    assert!(2 <= in_judge(&env).len(), "it was tried again");
    assert!(in_judge(&env).iter().all(|passed| !passed), "{:?}", in_judge(&env));
    // The same in a file that is committed, and only in the judge.
    let mend = "test -z \"$RALPH_JUDGE\" || grep -q mended a || { echo mended > a; exit 1; }";
    let env = judged(mend, json!([[done()], [done()], [done()]]));
    env.run(&["--no-baseline", "--max-iterations", "3"]).exits(7);
    assert_eq!(in_judge(&env), [false, false]);
    assert_eq!(env.read("a"), "committed\n");
}

#[test]
fn a_gate_that_the_judge_cannot_run_is_decided_in_place() {
    let env = judged("cat ignored", json!([[done()]]));
    env.write(".gitignore", "ignored\n");
    super::commit(&env);
    env.write("ignored", "");
    env.run(&[])
        .exits(0)
        .says("passes here and fails in a clean clone")
        .says("\"carry\": [\"ignored\"]")
        .prints("Caveat: the guardrails ran in the working tree");
    let env = env.settings(json!({"verify": {"checkout": "require"}}));
    env.run(&[]).exits(6).prints("was not judged");
    let env = env.settings(json!({"verify": {"checkout": "require", "carry": ["ignored"]}}));
    env.run(&[]).exits(0).prints_not("Caveat");
}

#[test]
fn a_judge_that_was_never_proven_disagrees_once_and_then_a_person_decides() {
    let env =
        judged("test -z \"$RALPH_JUDGE\"", json!([[write("b", "1"), done()], [write("b", "2"), done()]]));
    env.run(&["--no-baseline"]).exits(7).prints("passes in the working tree and fails in a clean clone");
    assert_eq!(env.prompts().len(), 2);
    env.ralph(&["accept"]).exits(0);
}

#[test]
fn work_on_another_branch_is_red_and_twice_is_the_end() {
    let stray = shell(
        "git checkout -q -B other && echo x >> b && git add b && git -c user.name=x -c user.email=x commit -qm x",
    );
    let env = judged("true", json!([[stray, done()], [done()]]));
    env.run(&[]).exits(6).prints("`other`");
    assert!(env.prompts()[1].contains("this work is for `main`"), "{}", env.prompts()[1]);
    let back = shell("git checkout -q main && git merge -q --ff-only other");
    let env = judged("true", json!([[stray_again(), done()], [back, done()]]));
    env.run(&[]).exits(0);
}

fn stray_again() -> Value {
    shell(
        "git checkout -q -B other && echo x >> b && git add b && git -c user.name=x -c user.email=x commit -qm x",
    )
}

#[test]
fn where_no_one_commits_another_branch_is_only_said() {
    let stray = shell("git checkout -q -b other && echo x > b");
    let env = project().guardrails(&["true"]).turns(json!([[stray, done()]]));
    env.run(&[]).exits(0).says("iteration 1 began on `main` and ended on `other`");
    let env = project().guardrails(&["true"]).turns(json!([[shell("echo x > b"), done()]]));
    env.run(&[]).exits(0).says_not("ended on");
}

#[test]
fn the_judge_decides_after_every_turn_where_the_settings_say_so() {
    let turns = json!([[write("hidden", ""), say("Hm.")], [shell("echo x > b"), say("Well.")], [done()]]);
    let world = |checkout: &str| {
        let env = judged("test -e b -o -e hidden", turns.clone());
        let env = env.settings(json!({"verify": {"checkout": checkout}}));
        env.write(".gitignore", "hidden\n");
        super::commit(&env);
        env.run(&["--max-iterations", "4"]).exits(0);
        env
    };
    let env = world("always");
    // Before the first turn, after the turn that hides what it made, after the one that does not, and at the claim.
    assert_eq!(in_judge(&env), [false, false, true, true]);
    assert!(env.prompts()[1].contains("a clean clone"), "{}", env.prompts()[1]);
    let env = world("claim");
    assert_eq!(in_judge(&env), [false, true]);
    assert!(!env.prompts()[1].contains("a clean clone"), "{}", env.prompts()[1]);
}

#[test]
fn guardrails_run_where_they_are_to() {
    let note = |name: &str| format!("echo {name}${{RALPH_JUDGE:+-judge}} >> \"$HOME/ran\"");
    let guardrails = json!([
        {"command": note("both")},
        {"command": note("judge"), "where": "judge"},
        {"command": note("project"), "where": "project"},
        {"command": "true", "kind": "lint"},
    ]);
    let env = project().commits().settings(json!({"guardrails": guardrails}));
    let env = env.turns(json!([[write("b", ""), say("Hm.")], [done()]]));
    env.run(&["--no-baseline"]).exits(0);
    let ran = std::fs::read_to_string(env.root().join("home/ran")).expect("a file");
    // A turn without a claim, the working tree at the claim, the judge.
    assert_eq!(ran, "both\nproject\nboth\nproject\nboth-judge\njudge-judge\n");
    // What each is stands in the record.
    let gates = env.events("run_started")[0]["plan"]["gates"].clone();
    assert_eq!(
        (&gates[1]["where"], &gates[2]["where"], &gates[3]["kind"]),
        (&json!("judge"), &json!("project"), &json!("lint"))
    );
    // One that is checked nowhere but in the judge decides there.
    let only = json!([{"command": "test -e b && test -z \"$(ls hidden 2>/dev/null)\"", "where": "judge"}]);
    let env = project().commits().settings(json!({"guardrails": only}));
    let env = env.turns(json!([[done()], [write("b", ""), done()]]));
    env.run(&["--no-baseline"]).exits(0);
    assert_eq!(in_judge(&env), [false, true]);
    assert!(
        env.events("gate_ended").iter().all(|event| event["gate"] != 0),
        "{:?}",
        env.events("gate_ended")
    );
}

#[test]
fn without_a_repository_the_working_tree_decides() {
    let env = Env::new().guardrails(&["true"]).turns(json!([[done()]]));
    env.run(&[])
        .exits(0)
        .prints("Caveat: the guardrails ran in the working tree: the project is not in a git repository");
    assert!(env.events("judge_started").is_empty());
    env.settings(json!({"verify": {"checkout": "require"}})).run(&[]).exits(2).says("clean clone");
}

#[test]
fn where_no_one_commits_the_files_are_judged() {
    let env = project().guardrails(&["test -e new -o -z \"$(ls b 2>/dev/null)\""]).turns(json!([[
        write("b", ""),
        write("new", ""),
        done()
    ]]));
    env.run(&[]).exits(0);
    assert_eq!(env.events("judge_started").last().expect("one")["commit"], Value::Null);
    assert_eq!(in_judge(&env), [true, true]);
    assert_eq!(env.commits_made().len(), 2, "no one committed anything");
}

#[test]
fn files_that_were_dirty_before_are_laid_over_the_commit() {
    let env = judged("test -e draft && test -e work", json!([[write("work", ""), done()]]));
    env.write("draft", "mine");
    env.run(&[]).exits(0).prints("Caveat: files that were not committed before the run are included: draft");
    assert_eq!(in_judge(&env), [false, true]);
}

#[test]
fn caches_of_a_refused_claim_do_not_judge_the_next_one() {
    if which::which("make").is_err() {
        return skip("make is not installed");
    }
    // The check believes a cache; the first claim writes a lie into it.
    let check = "mkdir -p target; test -e target/ok || { test -e right && touch target/ok; }";
    let env = judged(
        &format!(
            "test -z \"$RALPH_JUDGE\" || {{ {check}; }}; test -e claimed && touch target/ok; test -n \"$RALPH_JUDGE\" || exit 0; test -e right"
        ),
        json!([[write("claimed", ""), done()], [done()]]),
    );
    env.write("Cargo.toml", "");
    env.write(".gitignore", "target\n");
    super::commit(&env);
    env.run(&["--max-iterations", "2", "--no-baseline"]).exits(7);
    assert_eq!(in_judge(&env), [false, false]);
}

#[test]
fn at_the_projects_own_path_with_and_without_a_sandbox() {
    for level in ["none", "embedded", "bwrap"] {
        let agent = "cat >/dev/null; echo x >b; echo '<response>DONE</response>'";
        let guardrail = "test \"$(pwd)\" = \"$PROJECT\" && test -e a";
        let env = project().agent("worker", agent).commits().guardrails(&[guardrail]);
        let project = env.project().display().to_string();
        let env = env.settings(json!({"guardrailEnv": {"PROJECT": project}}));
        if level != "none" && env.ralph(&["sandbox", "exec", "--level", level, "true"]).code != Some(0) {
            lacks(&format!("the sandbox {level} does not work here"));
            continue;
        }
        env.run(&["--sandbox", level]).exits(0);
        assert_eq!(in_judge(&env), [true, true], "{level}");
        let caveats: Vec<Value> =
            env.events("judge_ready").iter().map(|event| event["caveats"].clone()).collect();
        assert_eq!(caveats, [Value::Null, Value::Null], "{level}");
    }
}

#[test]
fn every_loop_that_claims_is_judged() {
    // What only the working tree has; the agent says in every way that it is done.
    let claim = "echo needed >.git/info/exclude; touch needed; mkdir -p .ralph/tasks/t; touch .ralph/tasks/t/DONE; \
                 echo '<response>DONE</response>'; echo '<promise>COMPLETE</promise>'";
    for (args, code) in [
        (&["run", "-p", "x", "--max-iterations", "2", "--no-baseline"][..], 7),
        (&["plan", "2", "--guardrails", "--no-baseline"], 7),
        (&["build", "2", "--no-baseline"], 7),
        (&["prompt", "ask.md"], 7),
        (&["task", "run", "--task", "t", "-p", "x", "--max-restarts", "2"], 7),
    ] {
        let env = project().agent("worker", claim).guardrails(&["test -e needed"]);
        env.write("specs/a.md", "It works.\n");
        env.write("implementation_plan.md", "- [x] One\n");
        env.write("ask.md", "Look around.");
        env.write("AGENTS.md", "TEST_COMMAND=\"test -e needed\"\n");
        super::commit(&env);
        env.ralph(args).exits(code).prints("fails in a clean clone");
        assert!(in_judge(&env).iter().all(|passed| !passed) && !in_judge(&env).is_empty(), "{args:?}");
    }
}
