//! From a run to a pull request: branch, push, the real `gh` with a small GitHub, and what happens when something fails.

use std::{fs, os::unix::fs::PermissionsExt};

use scripted_github::{Server, TOKEN};
use serde_json::{Value, json};

use crate::env::{Env, RALPH, done, journal_of, lacks, say, shell, write};

/// A project whose remote is a folder that git takes for the repository on this host; nothing without `gh`.
fn world(host: &str) -> Option<(Env, Server)> {
    let path = std::env::var_os("PATH")?;
    if !std::env::split_paths(&path).any(|dir| dir.join("gh").is_file()) {
        lacks("gh is not installed");
        return None;
    }
    let env = Env::new().with_git().guardrails(&["test -e new.txt"]);
    env.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote"]);
    let address = format!("https://{host}/acme/tool.git");
    env.git(&["remote", "add", "origin", &address]);
    let folder = env.root().join("remote").display().to_string();
    env.git(&["config", &format!("url.{folder}.insteadOf"), &address]);
    env.git(&["push", "--quiet", "origin", "main"]);
    let server = Server::start(env.root()).expect("a server");
    let config = server.config().display().to_string();
    let env = env.variable("GH_CONFIG_DIR", &config).variable("GH_TOKEN", TOKEN);
    let env = env.settings(json!({"scm": {"command": "git", "tasks": ["branch", "commit", "push", "pr"]}}));
    Some((working(env, "Add a file"), server))
}

/// An agent that writes a file, says that it is done, and words the commit like this.
fn working(env: Env, message: &str) -> Env {
    env.script(json!({"turns": [[shell("date +%N >>new.txt"), done()]], "text": [[say(message)]]}))
}

fn remote(env: &Env, args: &[&str]) -> String {
    env.git_in(&env.root().join("remote"), args)
}

fn body(pull: &Value) -> &str {
    pull["body"].as_str().expect("a body")
}

fn hook(env: &Env, name: &str, script: &str) {
    let path = env.root().join("remote/hooks").join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a hook");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a hook");
}

#[test]
fn a_run_ends_with_a_pull_request() {
    let Some((env, server)) = world("github.com") else { return };
    let env = working(env, "Fixes #1 for @ann | <b>");
    let told = env.run(&[]).exits(0).says("Working on the new branch ralph/do-it");
    told.says("Pull request created: https://github.com/acme/tool/pull/101");
    let pulls = server.pulls();
    let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
    assert_eq!(
        (&pull["head"]["label"], &pull["base"], &pull["draft"]),
        (&json!("acme:ralph/do-it"), &json!("main"), &json!(false))
    );
    assert_eq!(pull["title"], "Do it.");
    let text = body(pull);
    for part in [
        "```text\nDo it.\n```",
        "(exit code 0)",
        "| test \\-e new.txt | passed | passed |",
        "## Findings\n\nNone.",
        "iterations",
        "## Receipt",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // What the agent wrote reaches no one and closes nothing.
    assert!(!text.contains("#1") && !text.contains("@ann") && !text.contains("<b>"), "{text}");
    assert_eq!(env.git(&["branch", "--show-current"]).trim(), "ralph/do-it");
    assert_eq!(remote(&env, &["rev-parse", "ralph/do-it"]), env.git(&["rev-parse", "HEAD"]));
    assert_eq!(remote(&env, &["rev-parse", "main"]), env.git(&["rev-parse", "main"]));
    // The next run on the branch changes the same one.
    let env = working(env, "More");
    env.run(&[])
        .exits(0)
        .says_not("new branch")
        .says("Pull request updated: https://github.com/acme/tool/pull/101");
    assert_eq!(server.pulls().len(), 1);
}

#[test]
fn what_is_not_complete_is_a_draft_until_it_is() {
    let Some((env, server)) = world("github.com") else { return };
    let env =
        env.script(json!({"turns": [[shell("touch new.txt"), say("Not yet.")]], "text": [[say("Begin")]]}));
    env.run(&["--max-iterations", "1", "--limit-exit-code", "4"])
        .exits(4)
        .says("Pull request created as a draft");
    assert_eq!(server.pulls()[0]["draft"], true);
    assert!(body(&server.pulls()[0]).contains("(exit code 4)"));
    let env = working(env, "End");
    env.run(&[]).exits(0).says("Pull request updated: ");
    assert_eq!((server.pulls().len(), &server.pulls()[0]["draft"]), (1, &json!(false)));
}

#[test]
fn findings_wait_for_a_person() {
    let Some((env, server)) = world("github.com") else { return };
    let try_it = shell(&format!("{RALPH} accept; true"));
    let env =
        env.script(json!({"turns": [[write("new.txt", "x\n"), try_it, done()]], "text": [[say("Add")]]}));
    env.run(&[]).exits(7).says("the pull request waits for `ralph accept`");
    assert!(server.pulls().is_empty());
    env.ralph(&["pr"]).exits(2).says("ralph accept");
    env.ralph(&["accept", "-m", "seen by @ann"]).exits(0);
    let pulls = server.pulls();
    let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
    assert!(
        body(pull).contains("A person looked at them and accepted the work") && !body(pull).contains("@ann")
    );
    assert_eq!(pull["draft"], false);
}

#[test]
fn a_process_that_is_killed_makes_no_second_pull_request() {
    let Some((env, server)) = world("github.com") else { return };
    env.run(&[]).exits(0);
    let journal = journal_of(&env.newest_run());
    let at = journal.iter().position(|event| event["event"] == "pull_request").expect("an event");
    drop((env, server));
    // The pull request is there: its event is half on record, or whole, and the end of the run is not.
    for moment in [format!("{}:torn", at + 1), format!("{}", at + 1)] {
        let Some((env, server)) = world("github.com") else { return };
        let killed = env
            .start_command(
                env.command(RALPH).args(["run", "-p", "Do it."]).env("RALPH_TEST_KILL_AT", &moment),
            )
            .wait();
        assert_eq!(killed.signal, Some(9), "{}", killed.stderr);
        assert_eq!(server.pulls().len(), 1);
        env.ralph(&["resume"]).exits(0).says("Pull request updated");
        assert_eq!(server.pulls().len(), 1);
    }
}

#[test]
fn no_key_of_a_forge_reaches_the_agent() {
    let Some((env, _server)) = world("github.com") else { return };
    let env = env
        .variable("GITLAB_TOKEN", "glpat-x")
        .guardrails(&["test -z \"$GH_TOKEN$GITLAB_TOKEN\" && test -e new.txt"]);
    let env = env.script(
        json!({"turns": [[shell("env | grep -c _TOKEN >new.txt; true"), done()]], "text": [[say("Add")]]}),
    );
    env.run(&[]).exits(0).says("Pull request created");
    assert_eq!(env.read("new.txt").trim(), "0");
}

#[test]
fn what_fails_is_said_and_made_good_by_hand() {
    let Some((env, server)) = world("github.com") else { return };
    hook(&env, "pre-receive", "echo no pushes today >&2; exit 1");
    env.run(&[]).exits(0).says("there is no pull request: git push failed").says("no pushes today");
    assert!(server.pulls().is_empty());
    fs::remove_file(env.root().join("remote/hooks/pre-receive")).expect("the hook");
    server.refuse(Some(500));
    env.ralph(&["pr"]).exits(2).says("(HTTP 500)");
    server.refuse(None);
    env.ralph(&["pr"]).exits(0).prints("Pull request created: https://github.com/acme/tool/pull/101");
    env.ralph(&["pr"]).exits(0).prints("Pull request updated");
    env.ralph(&["verify"]).says_not("is not valid");
    assert_eq!(server.pulls().len(), 1);
    env.ralph(&["resume"]).exits(2).says("there is nothing to resume");
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let Some((env, server)) = world("github.com") else { return };
    env.git(&["push", "--quiet", "origin", "main:refs/heads/ralph/do-it"]);
    env.git(&["branch", "ralph/do-it-2"]);
    env.run(&[]).exits(0).says("Working on the new branch ralph/do-it-3");
    assert_eq!(server.pulls()[0]["head"]["label"], "acme:ralph/do-it-3");
}

#[test]
fn no_pull_request_comes_from_a_branch_that_others_build_on() {
    let Some((env, server)) = world("github.com") else { return };
    let env = env.settings(json!({"scm": {"tasks": ["commit", "pr"]}}));
    env.run(&[]).exits(2).says("`main` is checked out, and a pull request needs a branch of its own");
    env.git(&["switch", "--quiet", "-c", "mine"]);
    env.run(&[]).exits(0).says("Pull request created");
    assert_eq!(server.pulls()[0]["head"]["label"], "acme:mine");
    let env = env.settings(json!({"scm": {"tasks": ["branch", "commit"], "branch": "a b"}}));
    env.git(&["switch", "--quiet", "main"]);
    env.run(&[]).exits(2).says("scm.branch: ");
}

#[test]
fn other_forges_have_options_or_a_link() {
    let Some((env, server)) = world("gitlab.com") else { return };
    env.git_in(&env.root().join("remote"), &["config", "receive.advertisePushOptions", "true"]);
    hook(&env, "post-receive", "env | grep GIT_PUSH_OPTION_ >>../options; true");
    env.run(&[]).exits(0).says("Merge request asked for, by the push of ralph/do-it");
    assert!(server.requests().is_empty());
    drop((env, server));
    let Some((env, server)) = world("codeberg.org") else { return };
    env.run(&[]).exits(0).says("Branch ralph/do-it is pushed; propose it there: https://codeberg.org/acme/tool/compare/main...ralph/do-it");
    assert!(server.requests().is_empty());
}

#[test]
fn a_push_that_the_other_side_hangs_up_on_is_made_once_more() {
    for (times, said) in
        [(1, "Pull request created"), (9, "there is no pull request: git push failed: signal: 13")]
    {
        let Some((env, server)) = world("github.com") else { return };
        let path = std::env::var_os("PATH").expect("a path");
        let git = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|it| it.is_file());
        let git = git.expect("git").display().to_string();
        let count = env.root().join("pushes").display().to_string();
        let hung_up = format!("echo >>{count}; test $(wc -l <{count}) -gt {times} || kill -PIPE $$");
        env.program(
            "git",
            &format!("case \" $* \" in *' push '*--set-upstream*) {hung_up};; esac\nexec {git} \"$@\""),
        );
        let env = env.settings(json!({"scm": {"tasks": ["branch", "commit", "pr"]}}));
        env.run(&[]).exits(0).says(said);
        assert_eq!(server.pulls().len(), usize::from(times == 1));
    }
}

/// The workflow is YAML, its scripts are scripts, and its call of ralph is one that ralph takes.
#[test]
fn the_workflow_calls_ralph_as_it_is() {
    let Some((env, server)) = world("github.com") else { return };
    server.issue(12, "Weeks", "Weeks.", ("eve", "NONE"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/github-run.yml");
    let text = fs::read_to_string(path).expect("the workflow");
    assert!(
        text.contains("persist-credentials: false")
            && text.contains("if: github.event.label.name == 'ralph'")
    );
    // What others write is no part of a script: an expression stands only where a value is.
    let mut script = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if script.is_some_and(|above| above < indent) {
            assert!(!line.contains("${{"), "{line}");
        } else {
            script = line.trim_end().ends_with("run: |").then_some(indent);
        }
    }
    let call =
        text.lines().map(str::trim).find(|line| line.starts_with("ralph run --issue")).expect("a call");
    let call = call.replacen("ralph", RALPH, 1);
    env.sh(&format!("ISSUE=12; {call} --dry-run")).exits(0).prints("| Weeks.");
    if env.sh("command -v ruby").code != Some(0) {
        return lacks("ruby is not installed");
    }
    let ruby = "require 'yaml'; w = YAML.load_file(ARGV[0]); w['jobs']['run']['steps'].each { |s| puts s['run'] if s['run'] }";
    let out = env.start_command(env.command("ruby").args(["-e", ruby, path])).wait().exits(0);
    env.write("script.sh", &out.stdout);
    env.sh("bash -n script.sh").exits(0);
}
