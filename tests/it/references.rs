//! What describes ralph to shells, editors and `man`.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::env::{Env, done};

/// The commands that `ralph --help` lists.
fn commands(env: &Env) -> BTreeSet<String> {
    let help = env.ralph(&["--help"]).exits(0).stdout;
    let list = help.split_once("Daily:\n").expect("commands").1.split_once("Options:").expect("options").0;
    let lines = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let words = lines.filter_map(|line| line.split_whitespace().next());
    let commands: BTreeSet<String> = words.filter(|word| *word != "help").map(str::to_owned).collect();
    assert!(commands.contains("run") && commands.contains("man"), "{commands:?}");
    commands
}

/// The commands that only ralph itself types.
const HIDDEN: [&str; 5] = ["scripted-agent", "guardian", "sandboxed", "sandbox-inside", "sandbox-probe"];

#[track_caller]
fn names_all_and_hides_the_rest(text: &str, commands: &BTreeSet<String>) {
    for command in commands {
        assert!(text.contains(command.as_str()), "no {command} in:\n{text}");
    }
    for command in HIDDEN {
        assert!(!text.contains(command), "{command} in:\n{text}");
    }
}

#[test]
fn the_hidden_commands_are_there_under_these_names() {
    let env = Env::new();
    for command in HIDDEN {
        env.ralph(&[command, "--help"]).exits(0).prints(command);
    }
}

#[test]
fn every_shell_completes_every_command() {
    let env = Env::new();
    let commands = commands(&env);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = env.ralph(&["completions", shell]).exits(0).stdout;
        names_all_and_hides_the_rest(&script, &commands);
        assert!(script.contains("guardrail"), "no flags in:\n{script}");
    }
    env.ralph(&["completions", "tcsh"]).exits(2).says("bash");
}

#[test]
fn bash_takes_its_script_and_completes_by_it() {
    let env = Env::new();
    let script = env.ralph(&["completions", "bash"]).exits(0).stdout;
    fs::write(env.root().join("ralph.bash"), script).expect("the script");
    let complete = format!(
        "source {}; COMP_WORDS=(ralph st); COMP_CWORD=1; _ralph ralph st ralph; echo \"${{COMPREPLY[@]}}\"",
        env.root().join("ralph.bash").display()
    );
    for (args, expected) in [
        (vec!["-n".to_owned(), "ralph.bash".to_owned()], ""),
        (vec!["-c".to_owned(), complete], "stories status stop\n"),
    ] {
        let mut bash = env.command("bash");
        bash.args(&args).current_dir(env.root());
        let output = env.start_command(&mut bash).wait().exits(0);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (expected, ""));
    }
}

#[test]
fn the_manual_has_a_page_per_command() {
    let env = Env::new();
    let commands = commands(&env);
    let page = env.ralph(&["man"]).exits(0).prints(".TH ralph 1").prints("Exit codes:").stdout;
    names_all_and_hides_the_rest(&page.replace("\\-", "-"), &commands);
    let folder = env.root().join("share/man1");
    env.ralph(&["man", "--dir", &folder.display().to_string()]).exits(0);
    let pages = fs::read_dir(&folder).expect("the pages");
    let pages: BTreeSet<String> =
        pages.map(|page| page.expect("a page").file_name().to_string_lossy().into_owned()).collect();
    let mut expected: BTreeSet<String> =
        commands.iter().map(|command| format!("ralph-{command}.1")).collect();
    expected.insert("ralph.1".to_owned());
    // Commands of commands have pages too, and nothing else has.
    let is_part = |page: &String| commands.iter().any(|it| page.starts_with(&format!("ralph-{it}-")));
    let (parts, whole): (BTreeSet<String>, BTreeSet<String>) = pages.into_iter().partition(is_part);
    assert_eq!(whole, expected);
    assert!(parts.contains("ralph-bus-post.1"), "{parts:?}");
    assert!(parts.contains("ralph-stories-init.1"), "{parts:?}");
    let run = fs::read_to_string(folder.join("ralph-run.1")).expect("a page");
    assert!(run.contains("guardrail"), "{run}");
}

#[test]
fn one_page_has_every_command_and_is_the_one_in_the_documentation() {
    let env = Env::new();
    let page = env.ralph(&["man", "--markdown"]).exits(0).stdout;
    for command in commands(&env) {
        assert!(page.contains(&format!("\n## `ralph {command}`\n")), "{command}");
    }
    let kept =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md")).expect("the page");
    assert!(kept.contains(&page), "cargo xtask generate");
    env.ralph(&["man", "--markdown", "--dir", "x"]).exits(2);
}

#[test]
fn schemas_are_json() {
    let env = Env::new().turns(serde_json::json!([[done()]]));
    for (of, key) in [("settings", "guardrails"), ("tasks", "userStories"), ("event", "turn_started")] {
        let text = env.ralph(&["schema", of]).exits(0).prints(key).stdout;
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
    env.ralph(&["schema", "stories"]).exits(2).says("settings");
}

#[test]
fn a_schema_beside_the_settings_belongs_to_the_project() {
    let env = Env::new().with_git().turns(serde_json::json!([[done()]])).commits();
    let settings = serde_json::json!({"$schema": "./settings.schema.json"});
    let env = env.settings(settings);
    let schema = env.ralph(&["schema", "settings"]).exits(0).stdout;
    env.write(".ralph/settings.schema.json", &schema);
    env.run(&[]).exits(0).says_not("unknown key");
    let status = env.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(status.contains(".ralph/settings.schema.json"), "{status}");
    assert!(!status.contains("prompt_001"), "{status}");
}
