//! What ralph prints goes into a file of the project: that is no work of the agent.

use serde_json::json;

use crate::{
    env::{Env, Output, RALPH, done, poll, say, skip, write},
    pty,
};

/// Runs ralph in a shell, with its output where the redirection leads.
fn redirected(env: &Env, args: &str, redirection: &str) -> Output {
    let line = format!("'{RALPH}' {args} {redirection}");
    env.start_command(env.command("bash").args(["-o", "pipefail", "-c", &line])).wait()
}

/// Some are slow: the program that writes the log is not there yet when ralph begins.
const REDIRECTIONS: [&str; 7] = [
    ">run.log 2>&1",
    "2>&1 | tee run.log",
    "2>run.log",
    "--output json >run.log",
    "2>&1 | cat | tee -a 'odd [name] *.log'",
    "> >(tee run.log) 2>&1",
    "2>&1 | { until test -e .ralph/prompt_001.txt; do sleep 0.01; done; exec tee run.log; }",
];

#[test]
fn an_idle_agent_makes_no_commits_of_the_log() {
    for redirection in REDIRECTIONS {
        let env = Env::new().with_git().commits().turns(json!([[say("Hm.")]]));
        let before = env.git(&["log", "--oneline"]);
        redirected(&env, "run -p x --max-iterations 4", redirection).exits(1);
        assert_eq!(env.git(&["log", "--oneline"]), before, "{redirection}");
        assert!(!env.git(&["status", "--porcelain"]).contains(".log"), "{redirection}");
    }
}

#[test]
fn work_is_committed_without_the_log() {
    for redirection in REDIRECTIONS {
        let env = Env::new().with_git().commits().turns(json!([[write("work.txt", "1"), done()]]));
        redirected(&env, "run -p x", redirection).exits(0);
        assert_eq!(env.git(&["show", "--name-only", "--format="]).trim(), "work.txt", "{redirection}");
        // Again: the patterns are there already.
        redirected(&env, "run -p x", redirection);
        let excluded = std::fs::read_to_string(env.path(".git/info/exclude")).expect("a list");
        assert_eq!(excluded.matches(".log\n").count(), 1, "{redirection}: {excluded}");
    }
}

/// Runs ralph in a terminal that a program records.
fn in_a_terminal(env: &Env, line: &str) -> Option<i32> {
    let mut command = env.command("bash");
    command.args(["-c", line]).env("TERM", "xterm").env("RALPH", RALPH).env("SHELL", "/bin/sh");
    let mut command = pty::unwatched(&mut command);
    let status = poll("the end", || command.1.try_wait().expect("a child"));
    status.code()
}

#[test]
fn what_records_a_terminal_is_recognised_too() {
    for (line, log) in [
        ("nohup \"$RALPH\" run -p x --max-iterations 4 </dev/null", "nohup.out"),
        ("script -efqc \"'$RALPH' run -p x --max-iterations 4\" typescript >/dev/null", "typescript"),
    ] {
        let env = Env::new().with_git().commits().turns(json!([[say("Hm.")]]));
        let before = env.git(&["log", "--oneline"]);
        if in_a_terminal(&env, &format!("{line} || exit $?")) == Some(127) {
            skip(&format!("there is no program for `{line}`"));
            continue;
        }
        assert_eq!(env.git(&["log", "--oneline"]), before, "{line}");
        assert!(env.read(log).contains("Maximum iterations reached"), "{line}");
        assert_eq!(env.git(&["status", "--porcelain", "--", log]), "", "{line}");
        assert!(env.read(log).contains("there is no progress"), "{line}");
    }
}

#[test]
fn an_idle_agent_is_noticed_and_a_resume_knows_its_log_too() {
    let idle = |redirection: &str| {
        let env = Env::new().with_git().commits().turns(json!([[say("Hm.")]]));
        redirected(&env, "run -p x --max-iterations 2", redirection).exits(1);
        let output = redirected(&env, "resume --max-iterations 9", redirection);
        assert_eq!(env.commits_made(), ["first"], "{redirection}");
        (output.code, env.events("turn_ended").len())
    };
    let expected = idle("");
    assert!(expected.1 < 9, "{expected:?}");
    for redirection in REDIRECTIONS {
        assert_eq!(idle(redirection), expected, "{redirection}");
    }
}

#[test]
fn a_log_does_not_make_the_tree_of_stories_unclean() {
    let preset = &super::presets::STORIES;
    for redirection in [">run.log 2>&1", "2>&1 | tee run.log"] {
        let env = preset.env();
        let expected = env.twin();
        let expected = (expected.ralph(preset.args).code, expected.events("turn_ended").len());
        let output = redirected(&env, &shell_words::join(preset.args), redirection);
        assert_eq!((output.code, env.events("turn_ended").len()), expected, "{redirection}");
        assert!(!env.git(&["log", "--name-only", "--format="]).contains("run.log"), "{redirection}");
    }
}

#[test]
fn a_log_that_git_knows_is_left_out_too() {
    let env = Env::new().with_git().commits().turns(json!([[say("Hm.")]]));
    std::fs::write(env.path("run.log"), "of yesterday\n").expect("written");
    env.git(&["add", "run.log"]);
    env.git(&["commit", "-q", "-m", "the log"]);
    let before = env.git(&["log", "--oneline"]);
    redirected(&env, "run -p x --max-iterations 3", ">>run.log 2>&1").exits(1);
    assert_eq!(env.git(&["log", "--oneline"]), before);
    let log = std::fs::read_to_string(env.path("run.log")).expect("the log");
    assert!(log.contains("ralph's output goes into run.log"), "{log}");
}

#[test]
fn an_idle_planner_is_noticed() {
    let env = Env::new().with_git().commits().turns(json!([[say("Hm.")]]));
    std::fs::create_dir_all(env.path("specs")).expect("a folder");
    std::fs::write(env.path("specs/one.md"), "# One\n").expect("written");
    env.git(&["add", "specs"]);
    env.git(&["commit", "-q", "-m", "specs"]);
    env.ralph(&["plan", "3"]).exits(4);
    for redirection in REDIRECTIONS {
        redirected(&env, "plan 3", redirection).exits(4);
    }
}
