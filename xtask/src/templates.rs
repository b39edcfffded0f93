//! `cargo xtask templates`: how many projects are judged in a clean clone without any settings.
//!
//! Each is made as a user would make it, committed, tested in place (what fails there is no trial), and judged twice. What a
//! registry does not hand out is said and not counted.

mod list;

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{cargo, say};
use list::{TEMPLATES, Template};

const USAGE: &str = "\
usage: cargo xtask templates [NAME...]

  makes projects from the registries, and judges each twice with its usual test command and no settings;
  NAME is a template or an ecosystem (cargo, npm, python, go)
";

/// The share of projects that must be judged without settings, in percent.
const GOAL: usize = 80;
/// Nothing takes longer, in seconds.
const MAX_SECONDS: &str = "600";

/// What became of a template.
enum Trial {
    /// It was judged as in place, the first and the second time.
    Works(Duration, Duration),
    /// It passes in place and not in the judge.
    Differs(String),
    /// It could not be made, or does not pass in place.
    Untried(String),
}

/// Tries them.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    if words.iter().any(|word| word == "--help" || word == "-h") {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    }
    let is_known = |word: &&String| TEMPLATES.iter().any(|it| it.is_named(word));
    if let Some(unknown) = words.iter().find(|word| !is_known(word)) {
        bail!("there is no template `{unknown}`\n\n{USAGE}");
    }
    let ralph = cargo::build(&[])?;
    say("| ecosystem | template | test | without settings | first | second |\n|---|---|---|---|--:|--:|\n");
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let wanted = TEMPLATES.iter().filter(|it| words.is_empty() || words.iter().any(|word| it.is_named(word)));
    for template in wanted {
        let trial = try_out(template, &ralph)?;
        let Template { ecosystem, name, test, .. } = template;
        let seconds = |time: &Duration| format!("{:.1} s", time.as_secs_f64());
        let (result, first, second) = match &trial {
            Trial::Works(first, second) => ("yes".to_owned(), seconds(first), seconds(second)),
            Trial::Differs(why) => (format!("no: {why}"), String::new(), String::new()),
            Trial::Untried(why) => (format!("not tried: {why}"), String::new(), String::new()),
        };
        say(&format!("| {ecosystem} | {name} | `{test}` | {result} | {first} | {second} |\n"));
        let (passed, tried) = counts.entry(ecosystem).or_default();
        *passed += usize::from(matches!(trial, Trial::Works(..)));
        *tried += usize::from(!matches!(trial, Trial::Untried(_)));
    }
    let sum = counts.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    say("\n");
    for (ecosystem, (passed, tried)) in counts.iter().chain([(&"all", &sum)]) {
        say(&format!("{ecosystem}: {passed} of {tried} without settings\n"));
    }
    ensure!(GOAL * sum.1 <= 100 * sum.0, "less than {GOAL} %");
    Ok(ExitCode::SUCCESS)
}

/// Makes a project, tests it in place, and judges it twice.
fn try_out(template: &Template, ralph: &Path) -> Result<Trial> {
    let root = tempfile::tempdir()?;
    // A name that every generator takes for a project.
    let project = root.path().join("sample");
    fs_err::create_dir(&project)?;
    let made = shell(&project, &format!("{}\n{COMMIT}", template.make))?;
    if let Some(why) = made {
        return Ok(Trial::Untried(why));
    }
    if let Some(why) = shell(&project, template.test)? {
        return Ok(Trial::Untried(format!("fails in place: {why}")));
    }
    let mut times = Vec::new();
    for _ in 0..2 {
        let started = Instant::now();
        if let Some(why) = judge(template, ralph, &project, &root.path().join("state"))? {
            return Ok(Trial::Differs(why));
        }
        times.push(started.elapsed());
    }
    Ok(Trial::Works(times[0], times[1]))
}

/// Makes a repository of what is there.
const COMMIT: &str = "rm -rf .git; git init -q -b main; git config user.name x; git config user.email x@example.com; \
                      git add -A; git commit -q -m sample";

/// Why a command failed, in one line; nothing if it did not.
fn shell(folder: &Path, script: &str) -> Result<Option<String>> {
    let mut command = Command::new("timeout");
    command.args([MAX_SECONDS, "sh", "-ec", script]).current_dir(folder).stdin(Stdio::null());
    // What cargo says to this program is not for another project.
    for name in ["CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR", "RUSTUP_TOOLCHAIN", "CARGO_INCREMENTAL"] {
        command.env_remove(name);
    }
    let output = command.env("CI", "1").output().context("cannot start a shell")?;
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ok((!output.status.success()).then(|| last_line(&text)))
}

/// Why the judge does not pass the project; nothing if it does.
fn judge(template: &Template, ralph: &Path, project: &Path, state: &Path) -> Result<Option<String>> {
    let mut command = Command::new("timeout");
    command.arg(MAX_SECONDS).arg(ralph);
    command.args(["judge", "--judge-only", "--json", "--guardrail", template.test]).current_dir(project);
    for name in ["CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR", "RUSTUP_TOOLCHAIN", "CARGO_INCREMENTAL"] {
        command.env_remove(name);
    }
    let output = command.env("RALPH_STATE_DIR", state).env("CI", "1").stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(None);
    }
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let row = &found["guardrails"][0];
    let guesses = row["missing"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let log =
        row["inJudge"]["log"].as_str().map(fs_err::read_to_string).and_then(Result::ok).unwrap_or_default();
    let words = [last_line(&log), last_line(&String::from_utf8_lossy(&output.stderr))];
    let mut all = guesses.map(str::to_owned).chain(words).filter(|text| !text.is_empty());
    Ok(Some(all.next().unwrap_or_else(|| output.status.to_string())))
}

/// The last line with words in it, for a cell of a table.
fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| line.chars().any(char::is_alphabetic)).unwrap_or_default();
    line.trim().replace('|', "/").chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_templates_apart() {
        for (index, template) in TEMPLATES.iter().enumerate() {
            assert!(TEMPLATES[index + 1..].iter().all(|it| it.name != template.name), "{}", template.name);
        }
    }

    #[test]
    fn a_command_that_fails_is_told_by_its_last_words() -> Result<()> {
        let folder = tempfile::tempdir()?;
        assert_eq!(shell(folder.path(), "true")?, None);
        assert_eq!(
            shell(folder.path(), "echo one; echo 'two | three'; echo ===; exit 3")?.as_deref(),
            Some("two / three")
        );
        Ok(())
    }
}
