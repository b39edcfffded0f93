//! Keys that an agent or a guardrail prints are in no record, in no report and on no screen.

use std::{fs, path::Path};

use serde_json::json;

use crate::env::{Env, done, say, shell};

/// A made-up key, and what is shown of it.
fn key() -> (String, &'static str) {
    (format!("ghp_{}", "a1B2c3".repeat(6)), "ghp_***")
}

/// The files below a folder that have this text in them.
fn having(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if entry.file_type().expect("a kind").is_dir() {
            found.extend(having(&path, text));
        } else if fs::read(&path).is_ok_and(|bytes| memchr::memmem::find(&bytes, text.as_bytes()).is_some()) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn what_is_printed_is_masked_everywhere() {
    let (key, shown) = key();
    // From the environment, so that no settings of the test have it.
    let print = "echo \"got $FOUND_KEY\"; echo \"err $FOUND_KEY\" >&2";
    let env = Env::new()
        .variable("FOUND_KEY", &key)
        .turns(json!([[say(&format!("I found {key} in a file.")), shell(print), done()], [done()]]))
        .guardrails(&["echo \"gate $FOUND_KEY\"; test \"$RALPH_ITERATION\" = 2"]);
    // The script of the agent has it, and is no record.
    let script = fs::read_to_string(env.script_path()).expect("the script");
    assert!(script.contains(&key));
    let output = env.run(&["--verbose", "-m", "5"]).exits(0).says(shown);
    assert!(!output.stderr.contains(&key) && !output.stdout.contains(&key), "{output:?}");
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    assert_eq!(having(&env.root().join("state"), &key), [""; 0]);
    assert_eq!(having(&env.path(".ralph"), &key), [""; 0]);
    assert_eq!(having(env.project(), &key), [""; 0]);
    assert!(!having(&env.root().join("state"), shown).is_empty());
    for command in
        [&["logs", "--verbose"][..], &["logs", "--raw"], &["logs", "--output", "json"], &["status"]]
    {
        let output = env.ralph(command).exits(0);
        assert!(!output.stdout.contains(&key) && !output.stderr.contains(&key), "{command:?} {output:?}");
    }
    // What the next turn is told has none either.
    assert!(env.prompts().iter().all(|prompt| !prompt.contains(&key)), "{:?}", env.prompts());
    assert!(env.prompts()[1].contains(shown), "{:?}", env.prompts());
}

#[test]
fn records_of_old_are_masked_when_they_are_shown() {
    let (key, shown) = key();
    let env = Env::new().turns(json!([[say("A WORD in a stream."), done()]]));
    env.run(&[]).exits(0);
    for file in having(&env.root().join("state"), "A WORD") {
        let text = fs::read_to_string(&file).expect("a record");
        fs::write(&file, text.replace("A WORD", &key)).expect("a record");
    }
    for command in [&["logs"][..], &["logs", "--raw"]] {
        let output = env.ralph(command).exits(0);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(!said.contains(&key) && said.contains(shown), "{command:?} {said}");
    }
}
