//! What is in no receipt: paths, names, prompts and values of the environment.

use std::fs;

use serde_json::json;

use super::{project, statement_of};
use crate::env::{done, shell};

#[test]
fn a_receipt_says_nothing_about_the_machine_or_its_user() {
    let env = project()
        .settings(json!({
            "guardrailEnv": {"DEPLOY": "hunter2-of-the-settings"},
            "agent": {"env": {"MODEL_KEY": "sk-of-the-agent-123"}},
        }))
        .variable("USER", "annabelle")
        .variable("API_SECRET", "zanzibar-of-the-shell")
        .turns(json!([[shell("echo right >answer"), done()]]));
    let top = env.project().display().to_string();
    let home = env.root().join("home").display().to_string();
    let commands = [
        format!("cd {top} && sh test.sh # annabelle"),
        format!("ls {home} /usr/share >/dev/null"),
        "echo zanzibar-of-the-shell hunter2-of-the-settings sk-of-the-agent-123".to_owned(),
    ];
    let env = env.guardrails(&commands.iter().map(String::as_str).collect::<Vec<_>>());
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "-m", "settings"]);
    env.ralph(&["run", "-p", "A prompt about a secret garden."]).exits(0);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let file = fs::read_to_string(env.newest_run().join("receipt.json")).expect("a receipt");
    let envelope = serde_json::from_str(&file).expect("JSON");
    let statement = statement_of(&envelope);
    let note = env.git(&["notes", "--ref=ralph", "show", "HEAD"]);
    assert_eq!(note.trim(), file.trim());
    let text = statement.to_string();
    let root = env.root().display().to_string();
    for private in [
        top.as_str(),
        &home,
        &root,
        "/usr/share",
        "/tmp/",
        "annabelle",
        "zanzibar",
        "hunter2",
        "sk-of-the-agent",
        "secret garden",
        "tester@localhost",
        "A Tester",
    ] {
        assert!(!text.contains(private), "{private}: {text}");
    }
    if 2 < host.len() && host != "localhost" {
        assert!(!text.contains(&host), "{host}: {text}");
    }
    // The commands are there, without what is private, and by their hashes.
    let guardrails = statement["predicate"]["guardrails"].as_array().expect("a list");
    assert_eq!(guardrails[0]["command"], "cd . && sh test.sh # <user>");
    assert_eq!(guardrails[1]["command"], "ls ~ <path> ><path>");
    assert_eq!(guardrails[2]["command"], "echo <value> <value> <value>");
    assert!(guardrails.iter().all(|it| it["sha256"].as_str().is_some_and(|hash| hash.len() == 64)));
}
