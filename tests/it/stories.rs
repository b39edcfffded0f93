//! `ralph stories`: the loop, with agents that do as they are told and with agents that do not.

mod cheats;
mod commands;
mod early;
mod import;
mod recovery;
mod reviews;
mod unverified;

use serde_json::{Value, json};

use crate::env::{Env, say, shell, write};

/// A story in its first state.
pub(crate) fn story(id: &str) -> Value {
    json!({
        "id": id, "title": format!("Title of {id}"), "description": "", "acceptanceCriteria": ["it works"],
        "priority": 1, "passes": false, "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "",
        "notes": "noted", "dependsOn": []
    })
}

/// A story with some fields changed.
pub(crate) fn with(id: &str, fields: &Value) -> Value {
    let mut story = story(id);
    for (key, value) in fields.as_object().expect("an object") {
        story[key] = value.clone();
    }
    story
}

pub(crate) fn submitted(id: &str, count: u32) -> Value {
    with(id, &json!({"reviewStatus": "needs_review", "reviewCount": count}))
}

pub(crate) fn sent_back(id: &str, count: u32, feedback: &str) -> Value {
    with(id, &json!({"reviewStatus": "changes_requested", "reviewCount": count, "reviewFeedback": feedback}))
}

pub(crate) fn approved(id: &str, count: u32) -> Value {
    with(id, &json!({"reviewStatus": "approved", "reviewCount": count, "passes": true}))
}

/// A task list with these commands to verify it.
pub(crate) fn verified(stories: &[Value], commands: &[&str]) -> String {
    let list = json!({
        "project": "p", "branchName": "main", "description": "d", "verifyCommands": commands,
        "userStories": stories
    });
    format!("{list:#}\n")
}

/// A task list.
pub(crate) fn list(stories: &[Value]) -> String {
    verified(stories, &[])
}

/// A turn that leaves this list behind and commits everything.
pub(crate) fn leaves(text: &str) -> Value {
    json!([write("ralph/tasks.json", text), commit(), say("Well.")])
}

/// Commits everything, as an agent does; a tree that is clean is fine.
pub(crate) fn commit() -> Value {
    shell("git add -A && (git diff --cached --quiet || git commit --quiet -m work)")
}

/// A project with a task list, committed.
pub(crate) fn project(text: &str) -> Env {
    // The agent keeps its own record outside the project.
    let env = Env::new().with_empty_git().settings(serde_json::json!({"sandbox": "none"}));
    env.write("ralph/tasks.json", text);
    env.write("ralph/prd.md", "# What is wanted\n");
    env.write(
        "ralph/prompt.md",
        "Work on {{STORY_ID}} ({{STORY_TITLE}}) in mode ${MODE}, $RALPH_ITERATION.\n",
    );
    env.write(".gitignore", ".ralph/\n");
    env.write("ralph/progress.txt", "# Log\nStarted: 2026-11-01\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "--quiet", "-m", "Start"]);
    env
}

/// The stories of the list as it is now.
#[track_caller]
pub(crate) fn stories(env: &Env) -> Vec<Value> {
    let list: Value = serde_json::from_str(&env.read("ralph/tasks.json")).expect("a list");
    list["userStories"].as_array().expect("stories").clone()
}

/// What the agent was told in the turns: mode and story.
#[track_caller]
pub(crate) fn turns(env: &Env) -> Vec<String> {
    let turns = env.events("turn_started");
    turns
        .iter()
        .map(|turn| {
            let story = turn["story"].as_str().unwrap_or("-");
            format!("{} {story}", turn["mode"].as_str().expect("a mode"))
        })
        .collect()
}

#[test]
fn a_story_is_implemented_reviewed_mended_and_approved() {
    let env = project(&list(&[story("US-1")])).turns(json!([
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[sent_back("US-1", 1, "Week 53 is missing.")])),
        leaves(&list(&[submitted("US-1", 1)])),
        leaves(&list(&[approved("US-1", 2)])),
    ]));
    let output = env.ralph(&["stories"]).exits(0);
    assert_eq!(turns(&env), ["implement US-1", "review US-1", "fix US-1", "review US-1"]);
    output
        .says("1 story, about 3 iterations each: 3 needed, 15 allowed")
        .prints("Reviews: 2 in all (US-1 2)");
    let prompts = env.prompts();
    assert!(prompts[0].contains("Mode: implement\nStory: US-1 - Title of US-1"), "{}", prompts[0]);
    assert!(prompts[0].contains("Work on US-1 (Title of US-1) in mode implement, 1."), "{}", prompts[0]);
    assert!(prompts[2].contains("Mode: review-fix"), "{}", prompts[2]);
    assert!(prompts[2].contains("What the review wants changed:\n> Week 53 is missing."), "{}", prompts[2]);
    assert!(!env.path(".ralph-active").exists());
    // The reviews name what was committed in the turns that worked on the story.
    let head = |revision: &str| env.git(&["rev-parse", revision]).trim().to_owned();
    let (start, first, third) = (head("HEAD~4"), head("HEAD~3"), head("HEAD~1"));
    let second = head("HEAD~2");
    assert!(prompts[1].contains(&format!("git diff {start} {first}")), "{}", prompts[1]);
    assert!(prompts[3].contains(&format!("git diff {start} {first}")), "{}", prompts[3]);
    assert!(prompts[3].contains(&format!("git diff {second} {third}")), "{}", prompts[3]);
    assert!(prompts[3].contains("This is review 2; the cap is 5."), "{}", prompts[3]);
}

#[test]
fn all_approved_without_a_promise_is_complete_and_a_promise_alone_is_not() {
    let promise = json!([say("All done: <promise>COMPLETE</promise>")]);
    let env = project(&list(&[submitted("US-1", 0), story("US-2")])).turns(json!([
        promise,
        leaves(&list(&[approved("US-1", 1), story("US-2")])),
        leaves(&list(&[approved("US-1", 1), submitted("US-2", 0)])),
        leaves(&list(&[approved("US-1", 1), approved("US-2", 1)])),
    ]));
    // The promise comes together with a review that says nothing.
    env.ralph(&["stories"]).exits(0).says("Guardrail failed: task rules");
    assert_eq!(turns(&env), ["review US-1", "review US-1", "implement US-2", "review US-2"]);
    let env =
        project(&list(&[story("US-1"), story("US-2")])).turns(json!([[say("<promise>COMPLETE</promise>")]]));
    let output = env.ralph(&["stories", "-n", "1"]).exits(1);
    output
        .says("warning: the agent says that all is complete, but these stories are open: US-1, US-2")
        .says("Guardrail failed: every story done")
        .prints("Maximum iterations reached (1)");
}

#[test]
fn lists_that_no_loop_can_work_on_are_refused() {
    let refused = |text: &str, expected: &str| {
        let env = project(text);
        env.ralph(&["stories"]).exits(2).says(expected);
        assert_eq!(env.runs().len(), 0);
    };
    refused(&list(&[]), "there are no stories in ralph/tasks.json");
    refused("{", "ralph/tasks.json:1: not valid JSON");
    refused(&list(&[with("US-1", &json!({"passes": true}))]), "not 'approved'");
    let env = project(&list(&[story("US-1")]));
    for file in ["ralph/prd.md", "ralph/prompt.md", "ralph/tasks.json"] {
        std::fs::rename(env.path(file), env.path("aside")).expect("a file");
        env.ralph(&["stories", "run"]).exits(2).says(&format!("{file} not found")).says("ralph stories init");
        std::fs::rename(env.path("aside"), env.path(file)).expect("a file");
    }
    let sbx = env.ralph(&["stories", "--sandbox", "sbx"]).exits(2);
    sbx.says("the sandbox `sbx` does not work here").says("--no-sandbox");
    env.ralph(&["stories", "--sandbox", "auto", "--no-sandbox"]).exits(2);
    env.ralph(&["stories", "--review-cap", "0"]).exits(2);
}

#[test]
fn nothing_to_select_stops_and_says_why() {
    let human = with("US-2", &json!({"kind": "human"}));
    let waits = with("US-3", &json!({"dependsOn": ["US-2"]}));
    let env = project(&list(&[submitted("US-1", 0), human.clone(), waits.clone()]))
        .turns(json!([leaves(&list(&[approved("US-1", 1), human, waits]))]));
    let why = "no story can be worked on: US-2 is for a person; US-3 waits for US-2";
    env.ralph(&["stories"]).exits(6).prints(why);
    assert_eq!(turns(&env), ["review US-1"]);
}

#[test]
fn the_smallest_priority_that_waits_for_nothing_comes_first() {
    let second = with("US-1", &json!({"priority": 2}));
    let third = with("US-2", &json!({"dependsOn": ["US-1"]}));
    let env = project(&list(&[third, second])).turns(json!([[say("Nothing today.")]]));
    env.ralph(&["stories", "-n", "1"]).exits(1);
    assert_eq!(turns(&env), ["implement US-1"]);
}

#[test]
fn the_cap_is_applied_by_ralph() {
    let env = project(&list(&[submitted("US-1", 0)])).turns(json!([leaves(&list(&[sent_back(
        "US-1",
        1,
        "I am not happy."
    )]))]));
    let output = env.ralph(&["stories", "--review-cap", "1", "-n", "1"]).exits(7);
    output.says("Approved at the review cap: US-1").prints("look here yourself: US-1");
    let story = &stories(&env)[0];
    assert_eq!(story["reviewFeedback"], "[AUTO-APPROVED AT CAP] I am not happy.");
    assert_eq!((&story["passes"], &story["reviewStatus"]), (&json!(true), &json!("approved")));
    assert_eq!(env.commits_made()[0], "ralph: approve at the review cap");
    assert_eq!(env.committed(), ["ralph/tasks.json"]);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn without_review_a_turn_says_itself_that_a_story_passes() {
    let passed = |id: &str| with(id, &json!({"passes": true}));
    let env = project(&list(&[story("US-1"), story("US-2")])).turns(json!([
        leaves(&list(&[passed("US-1"), story("US-2")])),
        leaves(&list(&[passed("US-1"), passed("US-2")])),
    ]));
    env.ralph(&["stories", "--skip-review"]).exits(0).says("2 stories, about 1 iteration each");
    assert_eq!(turns(&env), ["implement US-1", "implement US-2"]);
    assert!(env.prompts()[0].contains("Reviews are switched off"));
    let story = &stories(&env)[0];
    assert_eq!((&story["reviewStatus"], &story["reviewCount"]), (&json!(null), &json!(0)));
}

#[test]
fn what_is_not_committed_is_told() {
    let env = project(&list(&[story("US-1")])).turns(json!([
        [write("new.txt", "x"), write("ralph/tasks.json", &list(&[submitted("US-1", 0)])), say("Done.")],
        [commit(), say("Committed.")],
    ]));
    env.write("mine.txt", "dirty before the run");
    env.ralph(&["stories", "-n", "2"]).exits(1).says("Guardrail failed: clean tree");
    let prompt = &env.prompts()[1];
    for part in ["- new.txt", "- ralph/tasks.json", "ralph/progress.txt", "CLAUDE.md", "Commit ALL changes"] {
        assert!(prompt.contains(part), "no {part} in {prompt}");
    }
    assert!(!prompt.contains("mine.txt"), "{prompt}");
}

#[test]
fn verify_commands_are_run_before_the_end() {
    let commands = ["test -f proof"];
    let env = project(&verified(&[submitted("US-1", 0)], &commands)).turns(json!([
        leaves(&verified(&[approved("US-1", 1)], &commands)),
        [shell("echo yes >proof"), commit(), say("Mended.")],
    ]));
    env.ralph(&["stories"]).exits(0).says("Guardrail failed: test -f proof");
    // Every story is done, so the turn that mends has none.
    assert_eq!(turns(&env), ["review US-1", "fix -"]);
    let prompt = &env.prompts()[1];
    assert!(prompt.contains("Guardrail \"test -f proof\" failed with exit code 1."), "{prompt}");
    assert!(prompt.contains("Story: none. Every story is done"), "{prompt}");
}

#[test]
fn reviews_are_progress_and_standing_still_is_none() {
    let list = |stories: &[Value]| verified(stories, &[]);
    let back = |count| leaves(&list(&[sent_back("US-1", count, "Not yet.")]));
    let again = |count| leaves(&list(&[submitted("US-1", count)]));
    let turns = json!([again(0), back(1), again(1), back(2), again(2), back(3)]);
    let env = project(&list(&[story("US-1")])).turns(turns);
    env.ralph(&["stories", "-n", "6"]).exits(1).says_not("there is no progress");

    let env = project(&list(&[story("US-1")])).turns(json!([[say("Hm.")]]));
    env.ralph(&["stories"]).exits(6).prints("Stopped: no progress since iteration 1");
    assert_eq!(env.prompts().len(), 4);
}

#[test]
fn verify_commands_can_run_after_every_change() {
    let each = json!({"stories": {"verifyEachTurn": true}, "verify": {"checkout": "never"}});
    let count = |env: &Env| {
        let checks = std::fs::read_to_string(env.root().join("checks")).expect("checks");
        checks.lines().count()
    };
    let commands = ["echo checked >>../checks"];
    let list = |stories: &[Value]| verified(stories, &commands);
    let env = project(&list(&[story("US-1")])).settings(each.clone()).turns(json!([
        leaves(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[sent_back("US-1", 1, "The check fails.")])),
        leaves(&list(&[submitted("US-1", 1)])),
    ]));
    env.ralph(&["stories", "-n", "3"]).exits(1);
    assert_eq!(count(&env), 3, "before the first, after implement and fix, not after review");
    let commands = ["echo checked >>../checks; false"];
    let list = |stories: &[Value]| verified(stories, &commands);
    let env = project(&list(&[story("US-1")])).settings(each);
    let env = env.turns(json!([leaves(&list(&[submitted("US-1", 0)]))]));
    env.ralph(&["stories", "-n", "2"]).exits(1);
    let told = &env.prompts()[1];
    assert!(told.contains("This guardrail was already failing before the first iteration."), "{told}");
    assert!(told.contains("failed with exit code 1"), "{told}");
}

#[test]
fn no_review_is_spent_on_what_did_not_pass() {
    let commands = ["test -e proof"];
    let list = |stories: &[Value]| verified(stories, &commands);
    let proven =
        |text: &str| json!([write("proof", ""), write("ralph/tasks.json", text), commit(), say("Now.")]);
    let env = project(&list(&[story("US-1")])).turns(json!([
        leaves(&list(&[submitted("US-1", 0)])),
        proven(&list(&[submitted("US-1", 0)])),
        leaves(&list(&[approved("US-1", 1)])),
    ]));
    let output = env.ralph(&["stories", "--no-baseline"]).exits(0);
    output.says("Undone: US-1 reviewStatus: needs_review, restored to null");
    assert_eq!(turns(&env), ["implement US-1", "implement US-1", "review US-1"]);
    assert!(env.prompts()[1].contains("Guardrail \"test -e proof\" failed"), "{}", env.prompts()[1]);
    assert!(env.commits_made().contains(&"ralph: take back what did not pass its checks".to_owned()));
    // Back to the same mode, with what the review had said.
    let back = sent_back("US-1", 1, "Week 53.");
    let env =
        project(&list(std::slice::from_ref(&back))).turns(json!([leaves(&list(&[submitted("US-1", 1)]))]));
    env.ralph(&["stories", "-n", "1", "--no-baseline"]).exits(1);
    assert_eq!(stories(&env), [back]);
    // Where no one reviews, the checks alone decide.
    let passed = with("US-1", &json!({"passes": true}));
    let env = project(&list(&[story("US-1")])).turns(json!([leaves(&list(&[passed]))]));
    env.ralph(&["stories", "--skip-review", "-n", "1", "--no-baseline"]).exits(1);
    assert_eq!(stories(&env), [story("US-1")]);
}

#[test]
fn a_list_that_a_command_changed_is_read_again() {
    let once = "grep -q '\"passes\": true' ralph/tasks.json && ! test -e ../once && touch ../once";
    let commands = [&*format!("{once} && sed -i 's/true/false/' ralph/tasks.json; true")];
    let list = |stories: &[Value]| verified(stories, &commands);
    let env = project(&list(&[story("US-1")])).settings(json!({"stories": {"verifyEachTurn": true}}));
    let env = env.turns(json!([leaves(&list(&[with("US-1", &json!({"passes": true}))]))]));
    env.ralph(&["stories", "--skip-review", "-n", "1"]).exits(1).says("these stories are open: US-1");
}

#[test]
fn the_marker_says_what_runs_and_goes_with_its_owner() {
    let env = project(&list(&[story("US-1"), approved("US-2", 1)]))
        .turns(json!([[shell("cat .ralph-active >../seen"), say("I have seen it.")]]));
    // A loop that was killed has left one.
    env.write(".ralph-active", r#"{"timestamp": "", "pid": 999999999, "max_iterations": 1}"#);
    env.ralph(&["stories", "-n", "1", "--review-cap", "4"]).exits(1);
    let seen = std::fs::read_to_string(env.root().join("seen")).expect("the marker");
    let seen: Value = serde_json::from_str(&seen).expect("JSON");
    let expected = [
        ("max_iterations", json!(1)),
        ("mode", json!("direct")),
        ("skipReview", json!(false)),
        ("reviewCap", json!(4)),
        ("iterationMode", json!("implement")),
        (
            "preIterationSnapshot",
            json!({
                "US-1": {"passes": false, "reviewStatus": null, "reviewCount": 0},
                "US-2": {"passes": true, "reviewStatus": "approved", "reviewCount": 1},
            }),
        ),
    ];
    for (key, value) in expected {
        assert_eq!(seen[key], value, "{key}");
    }
    assert!(seen["pid"].is_u64() && seen["timestamp"].is_string());
    assert!(!env.path(".ralph-active").exists());
}

#[test]
fn another_folder_another_model_another_branch() {
    let env = project(&list(&[story("US-1")])).agent("robot", "cat >/dev/null; echo $@ >../args; echo Hm.");
    env.git(&["mv", "ralph", "work"]);
    env.git(&["commit", "--quiet", "-m", "Move"]);
    env.git(&["checkout", "--quiet", "-b", "other"]);
    let output =
        env.ralph(&["stories", "--ralph-dir", "./work/", "-m", "opus", "-n", "1", "--no-sandbox"]).exits(1);
    output.says("the task list is for branch `main`, but `other` is checked out").says("without a sandbox");
    let args = std::fs::read_to_string(env.root().join("args")).expect("arguments");
    assert_eq!(args, "--model opus\n");
    env.ralph(&["stories", "-d", "..", "-n", "1", "--agent", "robot"])
        .exits(2)
        .says("ralph/tasks.json not found");
}
