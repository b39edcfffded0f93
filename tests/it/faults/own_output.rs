//! What ralph prints goes into a file of the project: that is no work of the agent.

use serde_json::json;

use crate::env::{Env, Output, RALPH, done, say, write};

/// Runs ralph in a shell, with its output where the redirection leads.
fn redirected(env: &Env, args: &str, redirection: &str) -> Output {
    let line = format!("'{RALPH}' {args} {redirection}");
    env.start_command(env.command("bash").args(["-o", "pipefail", "-c", &line])).wait()
}

const REDIRECTIONS: [&str; 4] = [
    ">run.log 2>&1",
    "2>&1 | tee run.log",
    "--output json >run.log",
    "2>&1 | cat | tee -a 'odd [name] *.log'",
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
    assert!(log.contains("what ralph prints goes into run.log"), "{log}");
}

#[test]
fn an_idle_planner_is_noticed() {
    let env = Env::new().with_git().commits().turns(json!([[say("Hm.")]]));
    std::fs::create_dir_all(env.path("specs")).expect("a folder");
    std::fs::write(env.path("specs/one.md"), "# One\n").expect("written");
    env.git(&["add", "specs"]);
    env.git(&["commit", "-q", "-m", "specs"]);
    let expected = env.ralph(&["plan", "3"]).code;
    redirected(&env, "plan 3", ">plan.log 2>&1").exits(expected.expect("a code"));
}
