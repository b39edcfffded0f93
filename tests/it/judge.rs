//! `ralph judge`: guardrails decided in a clean clone, with real repositories, mounts and toolchains.

mod caches;
mod commits;
mod crashes;
mod explain;
mod loops;
mod places;
mod repositories;
mod settings;
mod stacks;
mod tricks;

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::env::{Env, Output};

/// A repository with one file in it.
fn project() -> Env {
    let env = Env::new().with_git();
    env.write("a", "committed\n");
    commit(&env);
    env
}

/// Commits everything but the settings of the test.
fn commit(env: &Env) {
    env.git(&["add", "--all", "--", ":!.ralph"]);
    env.git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
}

/// Judges with one guardrail, in the judge alone.
#[track_caller]
fn judge(env: &Env, guardrail: &str, code: i32) -> Value {
    judge_with(env, &["--judge-only"], guardrail, code)
}

/// Judges with one guardrail and more flags.
#[track_caller]
fn judge_with(env: &Env, flags: &[&str], guardrail: &str, code: i32) -> Value {
    let output = env.ralph(&[&["judge", "--json", "--guardrail", guardrail], flags].concat());
    let shown = shown(&output);
    assert_eq!(output.code, Some(code), "{guardrail}\n{shown}");
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {shown}"))
}

/// What a call printed, with the logs that it names.
fn shown(output: &Output) -> String {
    let mut text = format!("{}{}", output.stdout, output.stderr);
    let found: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    let prepared = found["prepared"].as_array().into_iter().flatten().map(|step| &step["log"]);
    let ended = found["guardrails"].as_array().into_iter().flatten();
    let ended = ended.flat_map(|row| [&row["inPlace"]["log"], &row["inJudge"]["log"]]);
    for log in prepared.chain(ended).filter_map(Value::as_str) {
        let contents = std::fs::read_to_string(log).unwrap_or_default();
        let _ = write!(text, "\n--- {log}\n{contents}");
    }
    text
}

/// The names of the caveats.
fn caveats(found: &Value) -> Vec<String> {
    let all = found["caveats"].as_array().expect("caveats");
    all.iter().map(|caveat| caveat["caveat"].as_str().expect("a name").to_owned()).collect()
}

/// The folder of the judge.
#[track_caller]
fn folder(found: &Value) -> PathBuf {
    PathBuf::from(found["folder"].as_str().expect("a folder"))
}

/// What the guardrail printed in the judge.
#[track_caller]
fn printed(found: &Value) -> String {
    let log = found["guardrails"][0]["inJudge"]["log"].as_str().expect("a log");
    std::fs::read_to_string(log).expect("a log")
}

/// Everything that seems to be missing in the judge.
fn missing(found: &Value) -> String {
    found["guardrails"][0]["missing"].to_string()
}

#[track_caller]
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}
