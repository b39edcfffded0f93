//! Loops inside a sandbox.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{attacker::ATTACK, works};
use crate::env::{Env, RALPH, done, kill, lacks, meet, shell, write};

/// A world whose scripted agent can write its record from inside.
fn world(turns: Value) -> Env {
    let env = Env::new().with_git().turns(turns);
    let record = env.root().join("script.json.d");
    fs::create_dir_all(&record).expect("a folder");
    env.settings(json!({"sandbox": {"writable": [record]}}))
}

/// Changes what landlock cannot protect.
const TAMPER: &str = "mkdir -p .claude; echo '{}' >.claude/settings.json";
/// What such a run says of it, everywhere.
const TAMPERED: &str = "protected files were changed: .claude/settings.json";

/// The names in the project's folder, without git and ralph.
fn left(env: &Env) -> Vec<String> {
    let entries = fs::read_dir(env.project()).expect("the project");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != ".git" && name != ".ralph").collect();
    names.sort();
    names
}

#[test]
fn a_loop_works_and_commits_inside() {
    for level in ["embedded", "bwrap", "landlock"] {
        if !works(level) {
            continue;
        }
        let env =
            world(json!([[write("work.txt", "done"), done()]])).commits().guardrails(&["test -s work.txt"]);
        env.run(&["--sandbox", level]).exits(0).says(&format!("Sandbox: {level}")).says("Not covered:");
        assert_eq!(env.committed(), ["work.txt"]);
        assert_eq!(env.events("sandboxed")[0]["level"], level);
        assert_eq!(left(&env), ["README.md", "work.txt"]);
        assert_eq!(env.git(&["status", "--porcelain", "work.txt"]), "");
        let status: Value = serde_json::from_str(&env.ralph(&["status", "--json"]).stdout).expect("JSON");
        assert_eq!(status["sandbox"], level);
        env.ralph(&["status"]).exits(0).prints(&format!("sandbox: {level}"));
        env.nothing_left();
    }
}

#[test]
fn the_first_level_that_works_is_taken() {
    if super::levels()["auto"].is_null() {
        return lacks("no sandbox works here");
    }
    let env = world(json!([[done()]]));
    env.run(&["--sandbox"]).exits(0);
    assert_eq!(env.events("sandboxed")[0]["level"], super::levels()["auto"]);
    assert_eq!(env.events("run_started")[0]["setup"]["agent"]["permissions"], "skip");
    let env = world(json!([[done()]]));
    env.run(&["--no-sandbox"]).exits(0).says_not("Sandbox");
    assert!(env.events("sandboxed").is_empty());
    assert_eq!(env.events("run_started")[0]["setup"]["agent"]["permissions"], "agent");
}

#[test]
fn a_working_tree_beside_the_first_can_be_committed_to() {
    if !works("embedded") {
        return;
    }
    let env = world(json!([[write("work.txt", "done"), done()]])).commits();
    let tree = env.root().join("tree");
    env.git(&["worktree", "add", "-q", tree.to_str().expect("text")]);
    let env = env.project_at(tree);
    env.run(&["--sandbox", "embedded"]).exits(0);
    assert_eq!(env.committed(), ["work.txt"]);
}

#[test]
fn a_project_in_shared_memory_is_one() {
    let Ok(memory) = tempfile::Builder::new().prefix("ralph-it-").tempdir_in("/dev/shm") else {
        return crate::env::skip("there is no shared memory");
    };
    for level in ["embedded", "bwrap"] {
        if !works(level) {
            continue;
        }
        let look = shell("ls /dev/shm > seen.txt");
        let env = world(json!([[look, write("work.txt", "done"), done()]])).commits();
        let tree = memory.path().join(level).join("tree");
        env.git(&["worktree", "add", "-q", tree.to_str().expect("text")]);
        let env = env.project_at(tree);
        env.run(&["--sandbox", level]).exits(0);
        let mut committed = env.committed();
        committed.sort();
        assert_eq!(committed, ["seen.txt", "work.txt"]);
        // Nothing else of it is seen.
        let own = memory.path().file_name().expect("a name").to_str().expect("text");
        assert_eq!(env.read("seen.txt").trim_end(), own, "{level}");
    }
}

#[test]
fn a_gate_says_where_it_ran() {
    if !works("embedded") {
        return;
    }
    let env = world(json!([[done()]])).guardrails(&["touch ../outside"]);
    env.run(&["--sandbox", "embedded", "-m", "2"]).exits(1).says("(exit code 1, inside the sandbox, ");
    assert!(env.prompts()[1].contains("It ran inside the sandbox (embedded)"), "{:?}", env.prompts());
    let env = world(json!([[done()]])).guardrails(&["touch ../outside"]);
    let env = env.settings(json!({"sandbox": {"level": "embedded", "gates": "outside"}}));
    env.run(&["-m", "2"]).exits(0).says_not("inside the sandbox");
}

#[test]
fn signals_and_the_guardian_reach_inside() {
    for level in ["embedded", "bwrap", "landlock"] {
        if !works(level) {
            continue;
        }
        let [ready, wait] = meet("ready");
        let turns = json!([[shell("sleep 343 >/dev/null 2>&1 &"), ready, wait]]);
        let env = world(turns.clone());
        let run = env.start(&["run", "-p", "x", "--sandbox", level]);
        env.await_file("ready");
        run.signal(Signal::TERM);
        run.await_saying("Received signal");
        run.signal(Signal::TERM);
        run.wait().exits(130);
        env.nothing_left();

        let env = world(turns);
        let run = env.start(&["run", "-p", "x", "--sandbox", level]);
        env.await_file("ready");
        run.kill_9();
        env.nothing_left();
    }
}

#[test]
fn the_process_outside_takes_all_along_when_it_is_killed() {
    if !works("embedded") {
        return;
    }
    let [ready, wait] = meet("ready");
    let env = world(json!([[shell("setsid sleep 344 >/dev/null 2>&1 &"), ready, wait]]));
    let run = env.start(&["run", "-p", "x", "--sandbox", "embedded", "--retries", "0"]);
    env.await_file("ready");
    let outside =
        env.alive().into_iter().find(|(_, line)| line.contains("sandboxed")).expect("the process outside");
    kill(outside.0, Signal::KILL);
    run.wait().exits(4);
    env.nothing_left();
}

#[test]
fn whom_the_agent_wanted_to_talk_to_is_recorded() {
    if !works("embedded") {
        return;
    }
    let attacker = std::env::current_exe().expect("this program");
    let ask = format!(
        "RALPH_ATTACK_ROOT=. {ATTACK}='proxy evil.example.org:443' '{}' --exact sandbox::attacker::attack >/dev/null 2>&1; true",
        attacker.display()
    );
    let env = world(json!([[shell(&ask), done()]]));
    env.run(&["--sandbox", "embedded"])
        .exits(0)
        .says("The sandbox refused a connection to evil.example.org:443: not in the list of hosts")
        .says(r#"To allow it: "sandbox": {"hosts": ["evil.example.org"]}"#);
    let host = &env.events("contacted")[0]["hosts"][0];
    assert_eq!(*host, json!({"host": "evil.example.org:443", "refused": "not in the list of hosts"}));
    env.ralph(&["status"]).exits(0).prints("refused evil.example.org:443");
    let status: Value = serde_json::from_str(&env.ralph(&["status", "--json"]).stdout).expect("JSON");
    assert_eq!(status["hosts"][0]["host"], "evil.example.org:443");
    let report = env.ralph(&["report"]).exits(0).stdout;
    let report = fs::read_to_string(report.trim()).unwrap_or(report);
    assert!(report.contains("<code>connect to evil.example.org:443</code>"), "{report}");
}

#[test]
fn protected_files_that_were_changed_stop_the_run_where_nothing_prevents_it() {
    if !works("landlock") {
        return;
    }
    let env = world(json!([[write(".claude/settings.json", "{}"), done()]]));
    env.run(&["--sandbox", "landlock"])
        .exits(6)
        .says("The turn changed protected files: .claude/settings.json.")
        .prints(&format!("Stopped: {TAMPERED}"));
    assert_eq!(env.events("turn_ended")[0]["claimed"], false);
}

/// Has git run a program on the next look at the files: `run`, by this setting.
fn plant(setting: &str, run: &str) -> Value {
    shell(&format!(
        "git config {setting} '{run}'; git config filter.x.smudge cat; echo '* filter=x' >.gitattributes; sleep 0.01; touch first.txt"
    ))
}

#[test]
fn what_a_turn_planted_in_the_repository_is_not_run_outside() {
    if !works("landlock") {
        return;
    }
    // When the work is counted at the end, when the tree is compared after the turn, and when ralph was killed meanwhile.
    for (limits, resumes) in [(json!({}), false), (json!({"stuckAfter": 3}), false), (json!({}), true)] {
        let env = world(json!([])).settings(json!({"limits": limits}));
        env.write("first.txt", "first");
        env.git(&["add", "first.txt"]);
        env.git(&["commit", "--quiet", "-m", "first"]);
        let planted = env.root().join("planted");
        let plant = plant("filter.x.clean", &format!("touch {}; cat", planted.display()));
        let [ready, wait] = meet("ready");
        let env = env.turns(if resumes { json!([[plant, ready, wait]]) } else { json!([[plant, done()]]) });
        let args = ["run", "-p", "x", "--sandbox", "landlock"];
        if resumes {
            let run = env.start(&args);
            env.await_file("ready");
            run.kill_9();
            env.nothing_left();
            env.ralph(&["resume"]).exits(6).prints("protected files were changed: .git/config");
        } else {
            env.ralph(&args).exits(6).prints("protected files were changed: .git/config");
        }
        assert!(!planted.exists(), "git ran what the turn planted: {limits}, {resumes}");
        env.git(&["status"]);
        assert!(planted.exists(), "a look runs it where no care is taken");
    }
}

#[test]
fn changed_protected_files_end_a_conversation() {
    if !works("landlock") {
        return;
    }
    // In the first of several turns, in the turn that claims, and after it has claimed.
    for (first, last, after) in [(TAMPER, "", ""), ("", TAMPER, ""), ("", "", TAMPER)] {
        let answer = |text: &str| {
            let words = json!({"type": "assistant", "parent_tool_use_id": null, "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}, {"type": "text", "text": text}]}});
            let result = json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": ""});
            format!("echo '{words}'; echo '{result}'")
        };
        let env = Env::new().agent(
            "claude",
            &format!(
                "read -r prompt; {first}\n{}\nread -r prompt; {last}\n{}\nread -r prompt; {after}",
                answer("Hm."),
                answer("<promise>DONE</promise>"),
            ),
        );
        env.ralph(&["session", "run", "-m", "5", "--no-guard", "--sandbox", "landlock", "Do it."])
            .exits(6)
            .prints(&format!("Stopped: {TAMPERED}"));
        assert_eq!(env.events("turn_ended").len(), if first.is_empty() { 2 } else { 1 });
    }
}

#[test]
fn changed_protected_files_are_found_though_ralph_was_killed_meanwhile() {
    if !works("landlock") {
        return;
    }
    // In the middle of the turn, and when its end was on the way into the record; without a change, nothing is found.
    for (tamper, torn, code) in [(TAMPER, false, 6), (TAMPER, true, 6), ("true", false, 0), ("true", true, 0)]
    {
        let [ready, wait] = meet("ready");
        let turn = if torn { json!([shell(tamper), done()]) } else { json!([shell(tamper), ready, wait]) };
        let turns = json!([turn, [done()]]);
        let env = world(turns.clone());
        let args = ["run", "-p", "x", "--sandbox", "landlock"];
        if torn {
            let unharmed = world(turns);
            unharmed.ralph(&args);
            let at =
                unharmed.journal().iter().position(|event| event["event"] == "turn_ended").expect("an end");
            let kill = format!("{}:torn", at + 1);
            let killed = env.start_command(env.command(RALPH).args(args).env("RALPH_TEST_KILL_AT", kill));
            assert_eq!(killed.wait().signal, Some(9));
        } else {
            let run = env.start(&args);
            env.await_file("ready");
            run.kill_9();
        }
        env.nothing_left();
        let output = env.ralph(&["resume"]).exits(code);
        if code == 6 {
            assert_eq!(env.events("turn_ended")[0]["end"]["how"], "tampered");
            output.prints(&format!("Stopped: {TAMPERED}"));
            // A person has looked at them.
            env.ralph(&["resume"]).exits(0);
        }
    }
}

#[test]
fn changed_protected_files_outweigh_a_finished_task() {
    if !works("landlock") {
        return;
    }
    let env = crate::task::env(&format!("{TAMPER}; echo done >\"$TASK_FOLDER/DONE\""));
    let env = env.settings(json!({"notify": "cat >>../notified"}));
    crate::task::run(&env, &["--sandbox", "landlock"])
        .exits(6)
        .says("The turn changed protected files: .claude/settings.json.")
        .says_not("waits for")
        .prints(&format!("Stopped: {TAMPERED}"))
        .prints(&format!("continue with: ralph resume {}", env.run_id()));
    let ended = &env.events("turn_ended")[0];
    assert_eq!(ended["end"], json!({"how": "tampered", "changed": [".claude/settings.json"]}));
    let end = &env.events("run_ended")[0];
    assert_eq!((&end["outcome"], &end["why"]), (&json!("stopped"), &json!("tampered")));
    let bus = crate::task::bus(&env);
    crate::task::says(&bus, &format!("ERROR Stopped: {TAMPERED}"));
    assert!(!bus.iter().any(|message| message.contains("Wait-without-restart")), "{bus:#?}");
    env.ralph(&["status"]).exits(0).prints(&format!("Stopped: {TAMPERED}"));
    let notified: Value = serde_json::from_str(&env.read("../notified")).expect("JSON");
    assert_eq!(
        (&notified["event"], &notified["text"]),
        (&json!("needs_person"), &json!(format!("Stopped: {TAMPERED}")))
    );
    let report = env.ralph(&["report"]).exits(0).stdout;
    let report = fs::read_to_string(report.trim()).expect("a report");
    assert!(report.contains("it changed protected files: .claude/settings.json"), "{report}");
}

#[test]
fn changed_protected_files_outweigh_finished_stories() {
    if !works("landlock") {
        return;
    }
    let env = crate::stories::project(&crate::stories::list(&[crate::stories::story("US-1")]));
    let env = env.agent(
        "worker",
        r#"cat >/dev/null; sed -i 's/"passes": false/"passes": true/' ralph/tasks.json
        mkdir -p .claude; echo '{"hooks":{}}' >.claude/settings.json; git add -A; git commit --quiet -m all; echo Well."#,
    );
    env.ralph(&["stories", "--skip-review", "--sandbox", "landlock", "-n", "3"])
        .exits(6)
        .prints(&format!("Stopped: {TAMPERED}"));
    assert_eq!(env.events("turn_ended").len(), 1);
    // A person has looked at them: the stories are done.
    env.ralph(&["resume"]).exits(0);
}

#[test]
fn only_the_user_opens_the_machine() {
    let env = Env::new().turns(json!([[done()]]));
    let env =
        env.settings(json!({"sandbox": {"level": "none", "loopbackPorts": [80], "hosts": ["10.0.0.1:80"]}}));
    env.run(&[])
        .exits(2)
        .says("sandbox.loopbackPorts: only your own settings may open this machine")
        .says("sandbox.hosts: only your own settings");
}

#[test]
fn a_model_server_on_this_machine_is_reached_from_inside() {
    if !works("embedded") {
        return;
    }
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "result": "<response>DONE</response>"});
    // Bash, because its network is the shortest way to ask a port.
    let ask = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let world = |settings: Value| {
        let env = Env::new()
            .variable("ANTHROPIC_API_KEY", "x")
            .settings(json!({"guard": "off"}))
            .settings(settings);
        env.program("claude", &format!("cat >/dev/null; bash -c '{ask}' && touch reached; echo '{result}'"));
        env.settings(json!({"agent": {"command": "claude"}}))
    };
    // The user's environment says it.
    let env = world(json!({})).variable("ANTHROPIC_BASE_URL", &url);
    env.run(&["--sandbox", "embedded"]).exits(0).says_not("cannot reach");
    assert!(env.path("reached").exists());
    // The settings say it, and settings that come with a project open nothing.
    let env = world(json!({"agent": {"env": {"ANTHROPIC_BASE_URL": url}}}));
    env.run(&["--sandbox", "embedded"])
        .exits(0)
        .says(&format!(
            "claude cannot reach 127.0.0.1:{port} inside the sandbox (`agent.env.ANTHROPIC_BASE_URL`)"
        ))
        .says(&format!("\"loopbackPorts\": [{port}]"));
    assert!(!env.path("reached").exists());
    env.write(".ralph/settings.local.json", &json!({"sandbox": {"loopbackPorts": [port]}}).to_string());
    env.run(&["--sandbox", "embedded"]).exits(0).says_not("cannot reach");
    assert!(env.path("reached").exists());
    // The agent's own settings say it.
    let env = world(json!({}));
    let own = env.root().join("home/.claude/settings.json");
    fs::create_dir_all(own.parent().expect("a folder")).expect("a folder");
    fs::write(&own, json!({"env": {"ANTHROPIC_BASE_URL": url}}).to_string()).expect("a file");
    let place = format!("inside the sandbox ({})", own.display());
    env.run(&["--sandbox", "embedded"]).exits(0).says(&place);
    env.run(&[]).exits(0).says_not("cannot reach");
}
