//! What can be typed, and what is printed where.

use serde_json::{Value, json};

use crate::{
    contained::works,
    env::{Env, done, meet, say, shell, touch},
};

#[test]
fn unknown_words_get_a_suggestion() {
    let env = Env::new();
    env.ralph(&["statsu"]).exits(2).says("'status'");
    env.ralph(&["run", "--maximum-iteration", "3", "-p", "x"]).exits(2).says("--maximum-iterations");
    env.ralph(&["--prmpt", "x"]).exits(2).says("--prompt");
    env.ralph(&["run", "-p"]).exits(2).says("--prompt");
    assert!(env.runs().is_empty());
}

#[test]
fn help_and_version_are_data() {
    let env = Env::new();
    let version = format!("ralph {}\n", env!("CARGO_PKG_VERSION"));
    for flag in ["-v", "--version"] {
        let output = env.ralph(&[flag]).exits(0);
        assert_eq!((output.stdout, output.stderr), (version.clone(), String::new()));
    }
    env.ralph(&["--help"]).exits(0).prints("Exit codes:").prints("130");
    env.ralph(&["help", "run"]).exits(0).prints("--guardrail");
    for command in [
        "run",
        "status",
        "logs",
        "resume",
        "stop",
        "clean",
        "demo",
        "init",
        "doctor",
        "schema",
        "completions",
        "man",
    ] {
        env.ralph(&[command, "--help"]).exits(0).prints("Example: ralph");
    }
    env.ralph(&[]).exits(2).says("Usage: ralph");
}

#[test]
fn run_is_the_default_command() {
    let env = Env::new().turns(json!([[done()]]));
    env.ralph(&["-p", "As if by run."]).exits(0);
    env.ralph(&["--prompt=Once more.", "-m", "1"]).exits(0);
    assert_eq!(env.prompts(), ["As if by run.", "Once more."]);
}

#[test]
fn the_project_may_be_elsewhere() {
    let env = Env::new().turns(json!([[shell("pwd >where"), done()]]));
    let project = env.project().display().to_string();
    let elsewhere = env.root().join("home");
    for args in [
        vec!["-C", &project, "-p", "x"],
        vec!["run", "-p", "x", "-C", &project],
        vec!["--project-dir", "../project", "run", "-p", "x"],
        vec!["-C../project/.", "-p", "x"],
    ] {
        let _ = std::fs::remove_file(env.path("where"));
        let mut command = env.command(crate::env::RALPH);
        command.args(&args).current_dir(&elsewhere);
        env.start_command(&mut command).wait().exits(0);
        assert_eq!(env.read("where").trim(), project, "{args:?}");
    }
    // One project has one record, whatever way it is named.
    env.ralph(&["status", "--json"]).exits(0).prints(&env.run_id());
    assert_eq!(env.runs().len(), 4);
    env.ralph(&["-C", "nowhere", "-p", "x"]).exits(2).says("`nowhere` is not a directory");
}

#[test]
fn json_is_the_only_data() {
    let env = Env::new().turns(json!([[say("Words."), say("More.")], [done()]])).guardrails(&["echo noise"]);
    let output = env.run(&["--output", "json"]).exits(0).says("Words.").says("Iteration 2 of 10");
    let events: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(events.iter().all(|event| event["event"].is_string() && event["at"].is_string()));
    assert_eq!(events, env.journal());
    assert_eq!(events.last().expect("an event")["outcome"], "done");
}

#[test]
fn values_of_variables_are_neither_recorded_nor_printed() {
    let variables = json!({"agent": {"env": {"TOKEN": "hunter2"}}});
    let env = Env::new().turns(json!([[done()]])).settings(variables);
    let output = env.run(&["--output", "json"]).exits(0);
    assert!(output.stdout.contains("TOKEN") && !output.stdout.contains("hunter2"), "{}", output.stdout);
    let again = env.ralph(&["logs", "--output", "json"]).exits(0).stdout;
    assert!(again.contains("TOKEN") && !again.contains("hunter2"), "{again}");
    let recorded = env.journal()[0].to_string();
    assert!(recorded.contains("TOKEN") && !recorded.contains("hunter2"), "{recorded}");
}

#[test]
fn talk_goes_to_standard_error() {
    let env = Env::new().turns(json!([[say("Words."), done()]]));
    let output = env.run(&[]).exits(0).says("Words.");
    assert_eq!(output.stdout.lines().count(), 2, "{}", output.stdout);
    assert!(output.stdout.contains("Complete"), "{}", output.stdout);
    assert!(!output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'), "colour in a file");
}

#[test]
fn colour_can_be_asked_for() {
    let env = Env::new().turns(json!([[done()]]));
    let output = env.run(&["--color", "always"]).exits(0);
    assert!(output.stderr.contains('\u{1b}'), "{}", output.stderr);
    let output = env.run(&["--color", "never"]).exits(0);
    assert!(!output.stderr.contains('\u{1b}'), "{}", output.stderr);
}

#[test]
fn the_stream_of_an_agent_is_shown() {
    let todos = json!({"todos": [
        {"content": "Read", "status": "completed", "activeForm": "Reading"},
        {"content": "Edit", "status": "in_progress", "activeForm": "Editing"},
        {"content": "Test", "status": "pending", "activeForm": "Testing"},
    ]});
    let usage = json!({"result": {
        "total_cost_usd": 5.76,
        "usage": {"input_tokens": 350_000, "cache_read_input_tokens": 850_000, "output_tokens": 45_000},
    }});
    let turns = json!([[
        {"tool": {"name": "Read", "input": {"file_path": "src/main.rs"}, "output": "one\ntwo\n"}},
        {"tool": {"name": "Bash", "input": {"command": "false"}, "output": "it failed", "error": true}},
        {"tool": {"name": "TodoWrite", "input": todos, "output": "ok"}},
        say("evil \u{1b}]0;title\u{7} text"),
        done(),
        usage,
    ]]);
    let env = Env::new().turns(turns).settings(json!({"output": {"emoji": false}}));
    let output = env
        .run(&[])
        .exits(0)
        .says("* Read(src/main.rs)")
        .says("[OK] Result ← Read (2 lines,")
        .says("[ERR] Error ← Bash")
        .says("Edit ← ACTIVE")
        .says("Progress: 1/3 (33%)")
        .says(" · $5.76 · 1.2M in (850K cached) / 45K out\n")
        .says("\nturn 1: ")
        .says_not("Complete (");
    assert!(!output.stderr.contains('\u{1b}'), "the agent reached the terminal: {}", output.stderr);
    let quiet = env.run(&["--no-stream-agent-output"]).exits(0).says("Iteration 1 of 10");
    assert!(!quiet.stderr.contains("Read("), "{}", quiet.stderr);
}

#[test]
fn verbose_says_what_is_done() {
    let env = Env::new()
        .turns(json!([[done()]]))
        .guardrails(&["true"])
        .settings(json!({"agent": {"env": {"KEY": "secret"}}}));
    env.run(&["-V"])
        .exits(0)
        .says("[ralph] Loading settings from .ralph/settings.json")
        .says("[ralph] Agent command: ")
        .says("[ralph] Prompt: Do it.")
        .says("[ralph] Settings: {")
        .says("\"env\":{\"KEY\":\"***\"}")
        .says("[ralph] Iteration 1/10 starting")
        .says("[ralph] Completion response <response>DONE</response>: found")
        .says("[ralph] Agent turn took ")
        .says("[ralph] Running guardrail: true")
        .says("[ralph] Guardrail exited with code 0 (")
        .says_not("secret");
    env.run(&[]).exits(0).says_not("[ralph]");
}

#[test]
fn status_shows_the_runs() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[say("Hm.")], [done()], [one, two, done()]]));
    env.ralph(&["status"]).exits(0).prints("no runs yet");
    env.run(&["-m", "1"]).exits(1);
    env.run(&["-m", "1"]).exits(0);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let status = env.ralph(&["status", "--json"]).exits(0).stdout;
    let mut standings: Vec<(String, Value)> = status
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .map(|run| (run["standing"].as_str().expect("a word").to_owned(), run["exitCode"].clone()))
        .collect();
    standings.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [("complete", json!(0)), ("limit", json!(1)), ("running", Value::Null)];
    assert_eq!(standings, expected.map(|(standing, code)| (standing.to_owned(), code)));
    env.ralph(&["status"])
        .exits(0)
        .prints("● ")
        .prints("the agent has said nothing yet")
        .prints("end it: ralph stop 2")
        .prints("running")
        .prints("complete")
        .prints("Maximum iterations reached (1)");
    touch(&env.path("began.go"));
    ralph.wait().exits(0);

    // Seen from another project only when all are asked for.
    let home = env.root().join("home").display().to_string();
    env.ralph(&["status", "-C", &home]).exits(0).prints("no runs yet");
    env.ralph(&["status", "--all", "-C", &home]).exits(0).prints(&env.project().display().to_string());
}

#[test]
fn logs_show_a_run_again() {
    let env = Env::new()
        .turns(json!([[say("First words.")], [say("Second words."), done()]]))
        .guardrails(&["true"]);
    env.ralph(&["logs"]).exits(2).says("there is no run of");
    env.run(&[]).exits(0);
    let all = env.ralph(&["logs"]).exits(0).prints("First words.").prints("Second words.");
    let all = all.prints("Guardrail passed: true").prints("Complete");
    assert!(all.stderr.is_empty(), "{}", all.stderr);

    for (iteration, words) in [("1", "First words."), ("2", "Second words.")] {
        let one = env.ralph(&["logs", "--iteration", iteration]).exits(0).prints(words);
        assert_eq!(one.stdout.matches("words.").count(), 1, "{}", one.stdout);
        assert_eq!(one.stdout.matches("Guardrail passed").count(), 1, "{}", one.stdout);
    }
    env.ralph(&["logs", "--iteration", "3"]).exits(2).says("has no iteration 3").says("came to iteration 2");

    let raw = env.ralph(&["logs", "--raw", &env.run_id()]).exits(0);
    let kinds: Vec<Value> = raw
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["type"].clone())
        .collect();
    assert_eq!(kinds, ["system", "assistant", "result", "system", "assistant", "assistant", "result"]);

    let json = env.ralph(&["logs", "--output", "json"]).exits(0).stdout;
    let events: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events, env.journal());
}

#[test]
fn logs_follow_a_run() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[say("Early words."), one, two, say("Late words."), done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let logs = env.start(&["logs", "-f"]);
    logs.await_printing("Early words.");
    touch(&env.path("began.go"));
    ralph.wait().exits(0);
    let output = logs.wait().exits(0).prints("Late words.").prints("Complete");
    assert_eq!(output.stdout.matches("Early words.").count(), 1, "{}", output.stdout);
}

#[test]
fn a_record_needs_a_place() {
    let env = Env::new().turns(json!([[done()]])).variable("RALPH_STATE_DIR", "/proc/nowhere");
    env.run(&[]).exits(2).says("cannot keep a record of the run").says("RALPH_STATE_DIR");
    assert!(env.prompts().is_empty());
}

#[test]
fn old_records_are_removed() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[say("Hm.")], [one, two, done()]]));
    env.run(&["-m", "1"]).exits(1);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    env.ralph(&["clean"]).exits(0).prints("0 runs removed");
    // The first run has only reached its limit.
    let kept = env.ralph(&["clean", "--older-than", "0"]).exits(0).prints("0 runs removed");
    kept.prints("1 run can be resumed and stay; --resumable removes them too");
    let would = env.ralph(&["clean", "--older-than", "0", "--resumable", "--dry-run"]).exits(0);
    would.prints("1 run would be removed").prints_not("can be resumed");
    assert_eq!(env.runs().len(), 2);
    env.ralph(&["clean", "--older-than", "0", "--resumable"]).exits(0).prints("1 run removed");
    assert_eq!(env.runs().len(), 1, "the running one must stay");
    touch(&env.path("began.go"));
    ralph.wait().exits(0);
    env.ralph(&["clean", "--older-than", "soon"]).exits(2);
    // What is complete needs no word.
    env.ralph(&["clean", "--older-than", "0"]).exits(0).prints("1 run removed");
    assert!(env.runs().is_empty());
}

#[test]
fn a_run_is_resumed_from_anywhere() {
    let env = Env::new().turns(json!([[say("Hm.")], [shell("pwd >where"), done()]]));
    env.run(&["-m", "1"]).exits(1);
    let home = env.root().join("home").display().to_string();
    env.ralph(&["-C", &home, "resume", &env.run_id(), "-m", "2"]).exits(0);
    assert_eq!(env.read("where").trim(), env.project().display().to_string());
}

#[test]
fn status_says_what_was_asked_and_takes_a_run() {
    let env = Env::new().turns(json!([[done()]]));
    env.ralph(&["run", "# Make the tests pass\n\nAll of them."]).exits(0);
    let first = env.run_id();
    env.write("task.md", "\nTidy up the parser\nand more\n");
    env.ralph(&["run", "-f", "task.md"]).exits(0);
    env.write("task.md", "Something else");
    let both = env.ralph(&["status"]).exits(0).prints("asked: Make the tests pass\n");
    both.prints("asked: Tidy up the parser\n").prints_not("All of them");
    let one = env.ralph(&["status", &first]).exits(0).prints("asked: Make the tests pass\n");
    one.prints_not("Tidy").prints(&env.project().display().to_string());
    let json = env.ralph(&["status", "--json", &first]).exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
    assert_eq!(json["asked"], "Make the tests pass");
    env.ralph(&["status", "nothing"]).exits(2).says("there is no run `nothing`");
    env.ralph(&["status", "--all", &first]).exits(2);
}

#[test]
fn a_report_is_opened_in_the_browser() {
    let env = Env::new().turns(json!([[done()]])).variable("BROWSER", "browse");
    env.program("browse", "echo \"$@\" >opened");
    env.run(&[]).exits(0);
    let path = env.ralph(&["report", "--open"]).exits(0).stdout;
    assert_eq!(env.read("opened"), path);
    env.ralph(&["report", "--open", "--file", "here.html"]).exits(0);
    assert_eq!(env.read("opened"), format!("{}\n", env.path("here.html").display()));
    env.program("browse", "exit 3");
    env.ralph(&["report", "--open"])
        .exits(2)
        .says("the browser `browse` ended with an error")
        .says("open it yourself");
    env.ralph(&["report", "--open", "--file", "-"]).exits(2).says("leave out one of them");
}

/// The files below a folder that others than their owner may read or write.
fn open_files(folder: &std::path::Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt;
    let mut open = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, metadata) = (entry.path(), entry.metadata().expect("what it is"));
        // A clone has the modes of the project, behind a closed door.
        let is_open = metadata.permissions().mode() & 0o077 != 0;
        if metadata.is_dir() && (is_open || !path.ends_with("judge")) {
            open.extend(open_files(&path));
        } else if metadata.is_file() && is_open {
            open.push(path.display().to_string());
        }
    }
    open
}

#[test]
fn what_ralph_keeps_of_a_run_is_its_owners_alone() {
    let env = Env::new().with_git().guardrails(&["cat passes"]);
    let turns = json!([[done()], [shell("echo yes >passes"), done()]]);
    let env = env.turns(turns);
    env.run(&[]).exits(0);
    env.ralph(&["resume"]);
    assert_eq!(open_files(&env.root().join("state")), [""; 0]);
    // What is written where there is a sandbox.
    for level in ["embedded", "bwrap", "landlock"].into_iter().filter(|level| works(level)) {
        let env = Env::new().with_git().turns(json!([[done()]]));
        let record = env.root().join("script.json.d");
        std::fs::create_dir_all(&record).expect("a folder");
        let env = env.settings(json!({"sandbox": {"writable": [record]}}));
        env.run(&["--sandbox", level]).exits(0);
        assert_eq!(open_files(&env.root().join("state")), [""; 0], "{level}");
    }
}
