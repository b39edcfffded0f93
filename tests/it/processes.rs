//! What happens to the processes of a run: their limits, what they leave behind, what they are told.

use std::{fs, time::Duration};

use rustix::process::Signal;
use serde_json::json;

use crate::env::{Env, PATIENCE, RALPH, done, kill, lossy, pid_in, poll, say, shell};

/// A shell function that waits until a process is `sleep`: before that it has another name or none.
const SLEEPS: &str =
    r"sleeps() { until tr '\0' ' ' </proc/$1/cmdline | grep -q '^sleep'; do sleep 0.01; done; }";

/// A guardrail that passes when the process with the number in this file has ended. What waits for the system to reap it
/// has.
fn has_ended(file: &str) -> String {
    format!(r#"case "$(ps -o stat= -p "$(cat {file})")" in ""|Z*) ;; *) false ;; esac"#)
}

#[test]
fn a_silent_agent_is_ended() {
    let env = Env::new().turns(json!([[say("Let me think."), "hang"]]));
    env.run(&["--idle-timeout", "200ms", "--retries", "0"]).exits(4).says("printed nothing for 200ms");
    env.nothing_left();
}

#[test]
fn an_agent_that_prints_now_and_then_is_not_idle() {
    let mut steps: Vec<_> = (0..15).flat_map(|_| [json!({"sleep_ms": 100}), say("Still here.")]).collect();
    steps.push(done());
    let env = Env::new().turns(json!([steps]));
    env.run(&["--idle-timeout", "1s", "-m", "1"]).exits(0);
}

#[test]
fn a_turn_has_its_time() {
    let chatter = "cat >/dev/null; while :; do echo working; sleep 0.05; done";
    let env = Env::new().agent("chatter", chatter);
    env.run(&["--iteration-timeout", "300ms", "--retries", "0"]).exits(4).says("took longer than 300ms");
    env.nothing_left();
}

#[test]
fn an_agent_that_ignores_signals_is_killed() {
    let env = Env::new().turns(json!([["ignore_signals", say("You cannot end me."), "hang"]]));
    let output = env.run(&["--iteration-timeout", "100ms", "--retries", "0"]).exits(4);
    assert!(Duration::from_secs(5) <= output.took, "it had no time to clean up: {:?}", output.took);
    env.nothing_left();
}

#[test]
fn a_grandchild_with_the_pipe_holds_no_one() {
    let env = Env::new()
        .turns(json!([[shell("sleep 600 & echo $! >child.pid"), done()]]))
        .guardrails(&[&has_ended("child.pid")]);
    let output = env.run(&["-m", "1"]).exits(0).says("Left behind by the agent");
    assert!(output.took < PATIENCE, "{:?}", output.took);
    env.nothing_left();
}

#[test]
fn escaped_grandchildren_are_ended_and_named() {
    let escape = "setsid sh -c 'echo $$ >session.pid; exec sleep 301' >/dev/null 2>&1 &
        ( ( setsid sh -c 'echo $$ >forked.pid; exec sleep 302' >/dev/null 2>&1 & ) & )
        while ! test -s session.pid || ! test -s forked.pid; do sleep 0.01; done
        sleeps $(cat session.pid); sleeps $(cat forked.pid)";
    let env = Env::new()
        .turns(json!([[shell(&format!("{SLEEPS}\n{escape}")), done()]]))
        .guardrails(&[&has_ended("session.pid"), &has_ended("forked.pid")]);
    env.run(&["-m", "1"]).exits(0);
    let leftovers = env.events("turn_ended")[0]["leftovers"].to_string();
    assert!(leftovers.contains("sleep 301") && leftovers.contains("sleep 302"), "{leftovers}");
    env.nothing_left();
}

#[test]
fn a_leftover_that_ignores_signals_is_killed() {
    let escape = "setsid sh -c 'trap \"\" TERM INT HUP; echo $$ >deaf.pid; while :; do sleep 1; done' >/dev/null 2>&1 &
        while ! test -s deaf.pid; do sleep 0.01; done";
    let env = Env::new().turns(json!([[shell(escape), done()]])).guardrails(&[&has_ended("deaf.pid")]);
    env.run(&["-m", "1"]).exits(0);
    env.nothing_left();
}

#[test]
fn leftovers_can_be_kept() {
    let env = Env::new()
        .turns(json!([
            [
                shell(&format!("setsid sleep 303 >/dev/null 2>&1 & echo $! >child.pid; {SLEEPS}; sleeps $!")),
                say("Hm.")
            ],
            [done()]
        ]))
        .settings(json!({"leftovers": "keep"}))
        .guardrails(&["kill -0 $(cat child.pid)"]);
    env.run(&["-m", "2"]).exits(0);
    let pid = pid_in(&env.path("child.pid")).expect("a number");
    assert!(env.alive().iter().any(|(alive, _)| *alive == pid), "it was ended");
    let turns = env.events("turn_ended");
    assert!(turns[0]["leftovers"].to_string().contains("sleep 303"), "{}", turns[0]);
    assert!(turns[1].get("leftovers").is_none(), "named twice: {}", turns[1]);
    kill(pid, Signal::KILL);
    env.nothing_left();
}

#[test]
fn a_daemon_of_a_guardrail_is_ended() {
    let daemon = "setsid sh -c 'echo $$ >daemon.pid; exec sleep 304' & while ! test -s daemon.pid; do sleep 0.01; done";
    let env = Env::new().turns(json!([[done()]])).guardrails(&[daemon, &has_ended("daemon.pid")]);
    env.run(&["-m", "1"]).exits(0);
    env.nothing_left();
}

#[test]
fn no_terminal_and_a_session_of_its_own() {
    let env = Env::new().agent(
        "looker",
        "cat >/dev/null; cut -d' ' -f6,7 /proc/self/stat >session; echo $$ >>session; echo '<response>DONE</response>'",
    );
    env.run(&["-m", "1"]).exits(0);
    let text = env.read("session");
    let mut words = text.split_whitespace();
    let (session, terminal, pid) = (words.next(), words.next(), words.next());
    assert_eq!((session, terminal), (pid, Some("0")), "{text}");
}

#[test]
fn the_environment_of_an_agent() {
    let env = Env::new()
        .agent("looker", "cat >/dev/null; env >variables; echo '<response>DONE</response>'")
        .settings(json!({"agent": {"env": {"ANSWER": "forty two"}}}))
        .variable("CLAUDECODE", "1")
        .variable("RALPH_RUN_ID", "of-another-run");
    env.run(&["-m", "7"]).exits(0);
    let variables = env.read("variables");
    let has = |line: &str| variables.lines().any(|variable| variable == line);
    assert!(has(&format!("RALPH_RUN_ID={}", env.run_id())), "{variables}");
    assert!(
        has("RALPH_ITERATION=1") && has("RALPH_MAX_ITERATIONS=7") && has("RALPH_MODE=run"),
        "{variables}"
    );
    assert!(has("ANSWER=forty two"), "{variables}");
    assert!(!variables.contains("CLAUDECODE"), "{variables}");
}

#[test]
fn every_process_of_a_run_carries_its_mark() {
    let mark = |name: &str| format!("echo $RALPH_RUN_ID >../{name}.mark");
    let env = Env::new()
        .with_git()
        .commits()
        .script(json!({
            "turns": [[shell("echo x >made.txt"), shell(&mark("agent")), done()]],
            "text": [[shell(&mark("question")), say("Make it")]],
        }))
        .guardrails(&[&mark("gate")])
        .settings(json!({"notify": mark("notify"), "scm": {"tasks": ["commit", "told"]}}))
        .variable("RALPH_RUN_ID", "of-another-run");
    env.git(&["config", "alias.told", &format!("!{}", mark("task"))]);
    env.write(".git/hooks/pre-commit", &format!("#!/bin/sh\n{}\n", mark("hook")));
    env.sh("chmod +x .git/hooks/pre-commit").exits(0);
    env.run(&[]).exits(0);
    for name in ["agent", "question", "gate", "notify", "task", "hook"] {
        assert_eq!(env.read(&format!("../{name}.mark")).trim(), env.run_id(), "{name}");
    }
}

/// What a program of this name is given as arguments.
#[track_caller]
fn check_arguments(name: &str, expected: &str) {
    let env = Env::new().agent(name, "cat >prompt; printf '%s\\n' \"$@\" >arguments; exit 1");
    let flags = json!({"agent": {"flags": ["--model 'a b'", "--fast"]}});
    env.settings(flags).run_and(&["--retries", "0", "--no-guard"], |env| {
        assert_eq!(env.read("arguments").trim_end().replace('\n', "|"), expected);
        assert!(env.read("prompt").starts_with("Do it.\n\n## How to finish\n"));
    });
}

impl Env {
    fn run_and(self, flags: &[&str], check: impl FnOnce(&Self)) {
        self.run(flags).exits(4);
        check(&self);
    }
}

#[test]
fn every_agent_has_its_arguments() {
    let flags = "--model|a b|--fast";
    check_arguments("claude", &format!("-p|--output-format|stream-json|--verbose|{flags}"));
    check_arguments("claude.exe", &format!("-p|--output-format|stream-json|--verbose|{flags}"));
    check_arguments("codex", &format!("exec|--json|--skip-git-repo-check|-s|workspace-write|{flags}|-"));
    check_arguments("amp", &format!("--stream-json|{flags}|-x"));
    check_arguments("gemini", &format!("-o|stream-json|{flags}"));
    check_arguments("opencode", &format!("run|--format|json|{flags}"));
    check_arguments("somebody", flags);
}

#[test]
fn an_agent_may_be_named_by_its_path() {
    let env = Env::new();
    env.program("claude", "cat >/dev/null; printf '%s\\n' \"$@\" >arguments; exit 1");
    let program = env.root().join("bin/claude").display().to_string();
    let env = env.settings(json!({"agent": {"command": program, "flags": []}}));
    env.run(&["--retries", "0", "--no-guard"]).exits(4);
    assert_eq!(env.read("arguments"), "-p\n--output-format\nstream-json\n--verbose\n");
}

#[test]
fn a_prompt_may_be_an_argument() {
    let env = Env::new()
        .agent("somebody", "printf '%s' \"$2\" >prompt; echo '<response>DONE</response>'")
        .settings(json!({"agent": {"flags": ["-q"], "promptVia": "argument"}}));
    let prompt = "$(touch x) \"quoted\" <response>DONE</response>";
    env.ralph(&["run", "-p", prompt]).exits(0);
    assert_eq!(env.read("prompt"), prompt);
    assert!(!env.path("x").exists());
}

#[test]
fn standard_output_may_be_closed_early() {
    let env = Env::new().turns(json!([[{"fill": 100_000}, say("Hm.")], [done()]]));
    env.sh(&format!("'{RALPH}' run -p x --output json | head -n 1")).exits(0).prints("run_started");
    poll("the end of the run", || env.events("run_ended").pop());
    assert_eq!(env.events("run_ended")[0]["exit_code"], 0);
    env.nothing_left();

    env.sh(&format!("{{ '{RALPH}' run -p x; echo $? >code; }} | true")).exits(0);
    assert_eq!(env.read("code"), "0\n");
    env.nothing_left();
}

#[test]
fn standard_error_may_be_closed_early() {
    let talk: Vec<_> = (0..2000).map(|number| say(&format!("line {number} {}", "x".repeat(100)))).collect();
    let env = Env::new().turns(json!([talk, [done()]]));
    env.sh(&format!("{{ '{RALPH}' run -p x 2>&1 >/dev/null; echo $? >code; }} | head -n 1")).exits(0);
    poll("the exit code", || fs::read(env.path("code")).ok().filter(|code| !code.is_empty()));
    assert_eq!(env.read("code"), "0\n");
    env.nothing_left();

    env.sh(&format!("'{RALPH}' run -p x 2>&- >&-")).exits(0);
    env.nothing_left();
}

#[test]
fn agents_are_found_before_the_first_turn() {
    let env = Env::new();
    env.write("plain", "#!/bin/sh\n");
    env.run(&["--agent", "no-such-agent"])
        .exits(2)
        .says("cannot find the agent `no-such-agent`")
        .says("hint:");
    env.run(&["--agent", "./plain"]).exits(2).says("is not executable").says("chmod +x");
    assert!(env.runs().is_empty());
}

#[test]
fn the_streams_of_an_agent_are_kept() {
    let env = Env::new().turns(json!([[{"complain": "a complaint\n"}, done()]]));
    env.run(&[]).exits(0);
    let turn = env.newest_run().join("turns/0001.1");
    let read = |name: &str| lossy(&fs::read(turn.join(name)).expect("a record"));
    assert!(read("prompt.md").starts_with("Do it.\n\n## How to finish\n"));
    assert_eq!(read("stderr.log"), "a complaint\n");
    assert!(read("agent.ndjson").contains("<response>DONE</response>"));
    assert_eq!(env.read(".ralph/prompt_001.txt"), read("prompt.md"));
}

#[test]
fn a_stopped_agent_is_ended() {
    let env = Env::new().agent("sleeper", "cat >/dev/null; echo Hm.; kill -STOP $$; echo late");
    env.run(&["--idle-timeout", "300ms", "--retries", "0"]).exits(4);
    env.nothing_left();
}

#[test]
fn a_loop_may_run_inside_a_loop() {
    let env = Env::new().turns(json!([[done()]]));
    let inner = env.root().join("inner");
    fs::create_dir_all(inner.join(".ralph")).expect("a folder");
    fs::copy(env.path(".ralph/settings.json"), inner.join(".ralph/settings.json")).expect("the settings");
    let env = env.agent("outer", &format!("cat >/dev/null; '{RALPH}' -C '{}' run -p inner", inner.display()));
    let env = env.settings(json!({"completionResponse": "never"}));
    env.run(&["-m", "1"]).exits(1).says("Complete").says_not("Left behind");
    assert_eq!(env.prompts(), ["inner"]);
    assert_eq!(env.runs().len(), 2);
    env.nothing_left();
}

#[test]
fn children_of_the_process_that_became_ralph_are_left_alone() {
    let env = Env::new().turns(json!([[done()]])).guardrails(&["true"]);
    let output = env.sh(&format!("sleep 322 & echo $! > theirs; exec '{RALPH}' run -p x")).exits(0);
    let theirs = pid_in(&env.path("theirs")).expect("a number");
    assert!(fs::exists(format!("/proc/{theirs}")).unwrap_or(false), "{}", output.stderr);
    kill(theirs, Signal::KILL);
}
