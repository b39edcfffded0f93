//! The plan, build and prompt modes.

use std::fs;

use serde_json::{Value, json};

use crate::env::{Env, meet, say, shell, write};

const COMPLETE: &str = "All there. <promise>COMPLETE</promise>";
const PLAN: &str = "# Plan\n\n- [x] Read numbers (specs/numbers.md)\n- [ ] Add **numbers** (specs/sums.md)\n- [ ] Show sums\n";

/// A repository with specifications.
fn repository() -> Env {
    let env = Env::new().with_git();
    env.write("specs/sums.md", "It adds numbers.\n");
    commit_all(&env, "specs");
    env
}

/// A repository with a plan and a test command.
fn planned(test_command: &str) -> Env {
    let env = repository();
    env.write("implementation_plan.md", PLAN);
    env.write("AGENTS.md", &format!("# Notes\n\nTEST_COMMAND=\"{test_command}\"\n"));
    commit_all(&env, "plan");
    env
}

fn commit_all(env: &Env, message: &str) {
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "-m", message]);
}

/// A turn that changes a file and says something.
fn work(text: &str) -> Value {
    json!([shell("date +%N >>work.txt"), say(text)])
}

/// The same as the last turn of a plan: every task is marked as done.
fn finish(plan: &str) -> Value {
    json!([shell(&format!("date +%N >>work.txt; sed -i 's/\\[ ]/[x]/' {plan}")), say(COMPLETE)])
}

fn logs(env: &Env) -> Vec<String> {
    let entries = fs::read_dir(env.path(".ralph/logs")).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().map(|path| fs::read_to_string(path).expect("a log")).collect()
}

/// Refused, and nothing is left behind by the attempt.
#[track_caller]
fn refused(env: &Env, args: &[&str], message: &str) {
    env.ralph(args).exits(2).says(message);
    assert!(logs(env).is_empty(), "a log was left behind");
    assert!(env.runs().is_empty(), "a run was recorded");
    assert!(!env.path(".ralph/prompts").exists(), "templates were written");
}

#[test]
fn what_a_mode_needs_is_checked_first() {
    let bare = Env::new();
    bare.write("specs/a.md", "a");
    bare.write("implementation_plan.md", PLAN);
    bare.write("ask.md", "Look around.");
    for args in [&["plan"][..], &["build"], &["prompt", "ask.md"]] {
        refused(&bare, args, "is not in a git repository");
    }
    refused(&Env::new().with_git(), &["plan"], "there is no folder `specs`");
    refused(&Env::new().with_git(), &["build"], "there is no folder `specs`");
    refused(&repository(), &["plan", "--agent", "no-such-agent"], "cannot find the agent `no-such-agent`");
    refused(&repository(), &["prompt", "none.md"], "cannot read the prompt file");
    refused(&repository(), &["build"], "Implementation plan not found. Run 'ralph plan' first.");
    refused(&repository(), &["plan", "0"], "maximumIterations");
    refused(&repository(), &["plan", "3", "--max-iterations", "4"], "cannot be used with");
}

#[test]
fn a_plan_is_complete_when_the_agent_promises_it() {
    let env = repository().turns(json!([
        [write("implementation_plan.md", "- [ ] one\n"), say("More to come.")],
        [write("implementation_plan.md", "- [x] zero\n- [ ] one\n- [ ] two\n"), say(COMPLETE)],
    ]));
    env.ralph(&["plan"])
        .exits(0)
        .prints("Complete")
        .prints("implementation_plan.md: 2 of 3 tasks open. Next: one");
    assert_eq!(
        env.commits_made()[..2],
        [
            "plan: iteration 2 - update the implementation plan",
            "plan: iteration 1 - update the implementation plan"
        ]
    );
    assert_eq!(env.committed(), ["implementation_plan.md"]);
}

#[test]
fn the_number_of_iterations_is_a_word_or_a_flag_and_its_end_is_no_failure() {
    for (args, count) in [
        (&["plan", "2"][..], 2),
        (&["plan", "--max-iterations", "1"], 1),
        (&["build", "-m", "2"], 2),
        (&["build", "3"], 3),
    ] {
        let env = planned("true").turns(json!([work("Going on.")]));
        env.ralph(args).exits(0);
        assert_eq!(env.prompts().len(), count, "{args:?}");
    }
    let env = planned("true").turns(json!([work("Going on.")]));
    env.ralph(&["build", "1", "--limit-exit-code", "7"]).exits(7);
}

#[test]
fn templates_are_written_on_first_use_and_then_belong_to_the_user() {
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.ralph(&["build"]).exits(0);
    let prompt = &env.prompts()[0];
    for expected in [
        "Mode: build, iteration 1 of 10.",
        "Next task of the plan: Add numbers",
        "Its specification: specs/sums.md",
        "`implementation_plan.md`",
        "<promise>COMPLETE</promise>",
    ] {
        assert!(prompt.contains(expected), "{expected}: {prompt}");
    }
    assert!(!prompt.contains("${"), "{prompt}");
    assert!(env.read(".ralph/prompts/build.md").contains("${TASK_DESCRIPTION}"));

    env.write("implementation_plan.md", PLAN);
    env.write(
        ".ralph/prompts/build.md",
        "{{ITERATION}}/$RALPH_MAX_ITERATIONS ${RALPH_MODE} {{SPEC}} ${TEST_COMMAND} ${HOME}",
    );
    env.ralph(&["build", "4"]).exits(0);
    assert_eq!(env.prompts()[1], "1/4 build specs/sums.md true ${HOME}");
    assert_eq!(env.read(".ralph/prompts/build.md").lines().count(), 1, "it was written over");
}

#[test]
fn settings_name_other_places() {
    let env = Env::new().with_git().turns(json!([finish("docs/todo.md")])).settings(json!({
        "build": {"prompt": "ask/build.md", "testCommand": "test -e work.txt", "planFile": "docs/todo.md", "specsDir": "docs"},
    }));
    env.write("ask/build.md", "${PLAN_FILE} ${SPECS_DIR} ${TEST_COMMAND}: ${TASK_DESCRIPTION}");
    env.write("docs/todo.md", PLAN);
    env.ralph(&["build"]).exits(0).says("test -e work.txt").prints("docs/todo.md: 3 tasks done, none open.");
    assert_eq!(env.prompts(), ["docs/todo.md docs test -e work.txt: Add numbers (specs/sums.md)"]);
}

#[test]
fn a_plan_may_be_kept_with_ralphs_files() {
    let env =
        repository().turns(json!([[write(".ralph/implementation_plan.md", "- [x] one\n"), say(COMPLETE)]]));
    env.write(".ralph/implementation_plan.md", "- [ ] one\n");
    env.ralph(&["build"]).exits(0).prints(".ralph/implementation_plan.md: 1 task done, none open.");
    assert_eq!(env.commits_made()[0], "build: iteration 1 - one");
    assert_eq!(env.committed(), [".ralph/implementation_plan.md"]);
}

#[test]
fn failing_tests_are_told_and_the_iteration_is_tried_again() {
    // Passes when the agent has worked four times.
    let env = planned("echo it is $(wc -l <work.txt) lines; test $(wc -l <work.txt) -ge 4")
        .turns(json!([finish("implementation_plan.md")]));
    env.ralph(&["build"]).exits(0);
    let prompts = env.prompts();
    assert_eq!(prompts.len(), 4);
    assert!(!prompts[0].contains("it is 1 lines"), "{}", prompts[0]);
    for (prompt, lines) in prompts[1..].iter().zip(1..) {
        assert!(prompt.starts_with(&prompts[0]), "{prompt}");
        assert!(prompt.contains(&format!("it is {lines} lines")), "{prompt}");
    }
    assert_eq!(env.commits_made()[0], "build: iteration 1 - Add numbers");
    assert_eq!(env.events("commit_ended").len(), 1);
    assert!(logs(&env)[0].contains("Retries: 3\nStatus: SUCCESS"), "{}", logs(&env)[0]);
}

#[test]
fn tests_that_never_pass_end_the_run() {
    let env = planned("false").turns(json!([finish("implementation_plan.md")]));
    env.ralph(&["build"]).exits(3);
    assert_eq!(env.prompts().len(), 4);
    assert_eq!(env.commits_made()[0], "plan", "nothing is committed");
    let log = &logs(&env)[0];
    assert!(log.contains("Retries: 3\nStatus: FAILED"), "{log}");
    assert!(log.contains("Total Iterations: 1\nSuccessful: 0\nFailed: 1\n"), "{log}");
    assert!(log.contains("Exit Code: 3"), "{log}");
}

#[test]
fn every_line_of_a_test_block_must_succeed() {
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.write("AGENTS.md", "## Tests\n```sh\nfalse\ntrue\n```\n");
    env.ralph(&["build"]).exits(3);
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.write("AGENTS.md", "## Test\n```true```\n\nNever run this.\ntouch OWNED\n");
    env.ralph(&["build"]).exits(0);
    assert!(!env.path("OWNED").exists(), "prose was run");
}

#[test]
fn budgets_are_failures_in_every_mode() {
    let used = json!({"result": {"total_cost_usd": 0.6, "usage": {"input_tokens": 600, "output_tokens": 1}}});
    let turns = json!([[shell("date +%N >>work.txt"), say("Going on."), used]]);
    for (flags, hint) in
        [(["--max-cost", "0.5"], "--max-cost 1.20"), (["--max-tokens", "9"], "--max-tokens 1202")]
    {
        let env = planned("true").turns(turns.clone());
        env.ralph(&[&["build"], &flags[..]].concat()).exits(1).prints(hint);
        env.ralph(&["resume"]).exits(2).says(hint);
    }
    for bad in ["nan", "inf", "-1", "x"] {
        planned("true").ralph(&["build", &format!("--max-cost={bad}")]).exits(2).says("2.50");
    }
}

#[test]
fn commits_that_get_lost_are_no_work() {
    let env = planned("true").turns(json!([[shell("git reset -q --hard HEAD~1"), say("Tidied up.")]]));
    env.ralph(&["build", "--retries", "0"])
        .exits(4)
        .says("the agent moved HEAD from")
        .says("git branch rescued")
        .says("No changes detected");
}

#[test]
fn the_repository_around_is_not_meant() {
    let outer = Env::new().with_git();
    let inner = outer.path("inner");
    let env = outer.project_at(inner).with_git().turns(json!([[shell("rm -rf .git"), say("Gone.")]]));
    env.write("specs/a.md", "a");
    env.write("implementation_plan.md", PLAN);
    commit_all(&env, "plan");
    env.ralph(&["build", "--retries", "0"]).exits(5).says("not a git repository");
}

#[test]
fn odd_files_in_the_place_of_plan_and_notes_hold_no_one() {
    let env = repository();
    fs::create_dir(env.path("implementation_plan.md")).expect("a folder");
    refused(&env, &["build"], "Implementation plan not found");
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.sh("rm AGENTS.md; mkfifo AGENTS.md").exits(0);
    env.ralph(&["build"]).exits(0).says("no test command");
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.write("implementation_plan.md", "- [ ] bad \u{1b}[2J\0\u{7} title\n");
    let output = env.ralph(&["build"]).exits(0);
    assert!(!output.stdout.contains('\u{1b}'), "{:?}", output.stdout);
    assert_eq!(env.commits_made()[0], "build: iteration 1 - bad [2J title");
    let env = repository().settings(json!({"build": {"planFile": ".ralph/todo.md"}}));
    refused(&env, &["plan"], "git does not see `.ralph/todo.md`");
}

#[test]
fn without_a_place_for_the_log_there_is_a_warning() {
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.write(".ralph/logs", "in the way");
    env.ralph(&["build"]).exits(0).says("there is no session log");
}

#[test]
fn the_test_command_is_the_one_from_the_start() {
    let weaken = "sed -i s/false/true/ AGENTS.md";
    let env = planned("false").turns(json!([[shell(weaken), say(COMPLETE)]]));
    env.ralph(&["build"]).exits(3).says("AGENTS.md was changed during the run");
}

#[test]
fn without_a_test_command_ralph_says_so() {
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.write("AGENTS.md", "Nothing here.");
    env.ralph(&["build"]).exits(0).says("no test command");
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.write("AGENTS.md", "## Running the tests\n\n```sh\necho from the notes\n```\n");
    env.ralph(&["build"]).exits(0).says("echo from the notes").says_not("no test command");
}

#[test]
fn an_agent_that_commits_itself_did_change_something() {
    let commit = "echo x >x; git add x; git commit -qm 'my own words'";
    let env = planned("true")
        .turns(json!([[shell(commit), say("Done for now.")], finish("implementation_plan.md")]));
    env.ralph(&["build"]).exits(0).says_not("No changes detected");
    assert_eq!(env.commits_made()[..3], ["build: iteration 2 - Add numbers", "my own words", "plan"]);
}

#[test]
fn no_changes_are_a_failure() {
    let env = planned("true").turns(json!([[say("I looked around.")]]));
    env.ralph(&["build"]).exits(4).says("No changes detected");
    assert_eq!(env.prompts().len(), 4);
    assert!(logs(&env)[0].contains("No changes detected"), "{}", logs(&env)[0]);

    // Who says that it is done has changed enough, where the plan has no tasks that say otherwise.
    let env = planned("true").turns(json!([[say(COMPLETE)]]));
    env.write("implementation_plan.md", "Add numbers, then show sums.\n");
    env.ralph(&["build"]).exits(0).says_not("No changes detected");
    let env = repository().turns(json!([[say("Hm.")], work(COMPLETE)]));
    env.ralph(&["plan"]).exits(0).says("No changes detected");
    assert_eq!(env.prompts().len(), 2);
}

#[test]
fn a_failing_agent_is_tried_again() {
    let env = planned("true").turns(json!([[say("Oh."), {"exit": 1}]]));
    env.ralph(&["build"]).exits(4);
    assert_eq!(env.prompts().len(), 4);
    let env = planned("true")
        .turns(json!([[{"exit": 1}], [{"exit": 1}], work("Going on."), finish("implementation_plan.md")]));
    env.ralph(&["build"]).exits(0);
    let log = &logs(&env)[0];
    assert!(
        log.contains("Retries: 2\nStatus: SUCCESS") && log.contains("Retries: 0\nStatus: SUCCESS"),
        "{log}"
    );
}

#[test]
fn a_commit_that_git_refuses_ends_the_run() {
    for args in [&["build"][..], &["prompt", "specs/sums.md"]] {
        let env = planned("true").turns(json!([finish("implementation_plan.md")]));
        env.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
        env.sh("chmod +x .git/hooks/pre-commit").exits(0);
        env.ralph(args).exits(5);
        assert_eq!(env.commits_made()[0], "plan", "{args:?}");
    }
}

#[test]
fn what_was_dirty_stays_dirty() {
    let env = planned("true").turns(json!([finish("implementation_plan.md")]));
    env.write("README.md", "Half a sentence\n");
    env.write("notes.txt", "mine\n");
    env.ralph(&["build"]).exits(0);
    assert_eq!(env.committed(), ["implementation_plan.md", "work.txt"]);
    assert_eq!(env.read("README.md"), "Half a sentence\n");
    assert!(env.git(&["status", "--porcelain"]).contains("?? notes.txt"));
}

#[test]
fn a_plan_that_goes_away_stops_the_build() {
    let env = planned("true").turns(json!([[shell("rm implementation_plan.md"), say("Gone.")]]));
    env.ralph(&["build"]).exits(2).prints("Implementation plan not found. Run 'ralph plan' first.");
    assert_eq!(env.prompts().len(), 1);
}

#[test]
fn the_session_log_has_every_field() {
    let env = planned("true").turns(json!([work("Looking around."), finish("implementation_plan.md")]));
    env.ralph(&["build"]).exits(0);
    let logs = logs(&env);
    assert_eq!(logs.len(), 1);
    let log = logs[0].replace(|c: char| c.is_ascii_digit(), "0");
    let thick = "=".repeat(80);
    let thin = "-".repeat(80);
    let header = format!(
        "{thick}\nITERATION 0\n{thick}\nMode: build\nTask: Add numbers\nSpec: specs/sums.md\n\
         Start Time: 0000-00-00 00:00:00\n{thin}\n"
    );
    assert_eq!(log.matches(&header).count(), 2, "{log}");
    assert!(log.contains("Looking around."), "{log}");
    assert!(
        log.contains(&format!("{thin}\nITERATION 0 COMPLETE\nEnd Time: 0000-00-00 00:00:00\nDuration: ")),
        "{log}"
    );
    assert!(log.contains(&format!("Retries: 0\nStatus: SUCCESS\n{thick}\n\n")), "{log}");
    let summary = format!(
        "{thick}\nSESSION SUMMARY\n{thick}\nTotal Iterations: 0\nSuccessful: 0\nFailed: 0\nTotal Duration: "
    );
    assert!(log.contains(&summary), "{log}");
    assert!(log.ends_with(&format!("Exit Code: 0\n{thick}\n")), "{log}");
    assert!(logs[0].contains("Total Iterations: 2\nSuccessful: 2\nFailed: 0\n"), "{}", logs[0]);
    let name =
        fs::read_dir(env.path(".ralph/logs")).expect("logs").next().expect("one").expect("one").file_name();
    let name = name.to_string_lossy().replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(name, "session-00000000-000000.log");
    assert_eq!(env.git(&["status", "--porcelain", "--", ".ralph/logs"]), "", "git sees the log");
}

#[test]
fn the_session_log_has_what_the_agent_reports() {
    let stream = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures/claude/tool.ndjson");
    assert!(fs::exists(stream).expect("a folder"), "the fixture has gone");
    let env = planned("true").agent("claude", &format!("cat >/dev/null; date +%N >work.txt; cat '{stream}'"));
    // The recorded stream knows nothing of ralph's hooks.
    env.ralph(&["build", "1", "--no-guard"]).exits(0);
    let log = &logs(&env)[0];
    for field in ["API Requests: ", "Model: ", "Messages: ", "Tokens: ", "Cost: $"] {
        assert!(log.contains(&format!("\n{field}")), "{field}{log}");
    }
}

#[test]
fn a_prompt_is_one_turn() {
    let env = Env::new().with_git().turns(json!([work("Not done at all.")]));
    env.write("ask.md", "# Look around\n\nIteration ${ITERATION} in {{MODE}}.\n");
    env.ralph(&["prompt", "ask.md"]).exits(0).prints("Complete");
    assert_eq!(env.prompts(), ["# Look around\n\nIteration 1 in prompt.\n"]);
    assert_eq!(env.commits_made()[0], "prompt: iteration 1 - Look around");
    assert!(logs(&env)[0].contains("Task: Look around\n"), "{}", logs(&env)[0]);

    let env = Env::new().with_git().turns(json!([[say("Nothing to do.")]]));
    env.write("ask.md", "Look.");
    env.ralph(&["prompt", "ask.md"]).exits(0);
    assert_eq!(env.commits_made(), ["first"]);

    let env = Env::new().with_git().turns(json!([[say("Oh."), {"exit": 3}]]));
    env.write("ask.md", "Look.");
    env.ralph(&["prompt", "ask.md"]).exits(4);
    assert_eq!(env.prompts().len(), 1);
}

#[test]
fn a_killed_build_goes_on() {
    let [there, wait] = meet("met");
    let env = planned("true").turns(json!([work("One."), [there, wait], finish("implementation_plan.md")]));
    let running = env.start(&["build"]);
    env.await_file("met");
    running.kill_9();
    env.nothing_left();
    env.ralph(&["resume"]).exits(0).says("Resumed at iteration 2").prints("3 tasks done, none open");
    assert_eq!(
        env.commits_made()[..2],
        ["build: iteration 2 - Add numbers", "build: iteration 1 - Add numbers"]
    );
    let last = logs(&env).into_iter().find(|log| log.contains("SESSION SUMMARY")).expect("a log");
    assert!(last.contains("Retries: 0\nStatus: SUCCESS"), "{last}");
    let finished = logs(&env).into_iter().filter(|log| log.contains("SESSION SUMMARY")).count();
    assert_eq!((logs(&env).len(), finished), (2, 1));
}
