//! Reads what cargo-mutants writes about each mutant: `outcomes.json`.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// One change, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mutant {
    /// Relative to the root of the repository.
    pub(super) file: String,
    /// Where the change begins, counted from one.
    pub(super) line: usize,
    /// Such as ``replace < with <= in decide``.
    pub(super) change: String,
    pub(super) fate: Fate,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A test failed, or did not end.
    Killed,
    /// Every test passed.
    Survived,
    /// It does not compile, so there is nothing to notice.
    Unviable,
}

/// The file, as far as it matters here.
#[derive(Deserialize)]
struct File {
    outcomes: Vec<Outcome>,
    /// Absent while it runs.
    end_time: Option<String>,
}

#[derive(Deserialize)]
struct Outcome {
    scenario: Scenario,
    summary: String,
}

#[derive(Deserialize)]
enum Scenario {
    /// The tests without any change.
    Baseline,
    Mutant(Change),
}

#[derive(Deserialize)]
struct Change {
    /// `file:line:column: change`
    name: String,
    file: String,
    span: Span,
}

#[derive(Deserialize)]
struct Span {
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: usize,
}

/// Reads all mutants of a run that has come to its end.
pub(super) fn read(text: &str) -> Result<Vec<Mutant>> {
    let file: File = serde_json::from_str(text)?;
    ensure!(file.end_time.is_some(), "the run has not come to its end");
    let mut mutants = Vec::new();
    for Outcome { scenario, summary } in file.outcomes {
        match scenario {
            Scenario::Baseline => ensure!(summary == "Success", "the tests fail without any change"),
            Scenario::Mutant(change) => mutants.push(mutant(change, &summary)?),
        }
    }
    Ok(mutants)
}

fn mutant(Change { name, file, span }: Change, summary: &str) -> Result<Mutant> {
    let fate = match summary {
        "CaughtMutant" | "Timeout" => Fate::Killed,
        "MissedMutant" => Fate::Survived,
        "Unviable" => Fate::Unviable,
        _ => bail!("{name}: no one knows what `{summary}` means"),
    };
    let change = name
        .strip_prefix(&file)
        .and_then(|rest| Some(rest.split_once(": ")?.1.to_owned()))
        .with_context(|| format!("`{name}` does not begin with the place of the change"))?;
    Ok(Mutant { file, line: span.start.line, change, fate })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn outcome(name: &str, summary: &str) -> Value {
        let start = json!({"line": 7, "column": 9});
        let mutant = json!({
            "name": name, "package": "core", "file": "src/a.rs", "function": null,
            "span": {"start": start, "end": start}, "replacement": "", "genre": "FnValue",
        });
        json!({"scenario": {"Mutant": mutant}, "summary": summary, "log_path": "x", "phase_results": []})
    }

    fn file(outcomes: &[Value]) -> String {
        json!({"outcomes": outcomes, "total_mutants": 1, "end_time": "2025-11-15T12:00:00Z"}).to_string()
    }

    #[test]
    fn each_mutant_has_a_place_a_change_and_a_fate() {
        let text = file(&[
            json!({"scenario": "Baseline", "summary": "Success", "log_path": "x", "phase_results": []}),
            outcome("src/a.rs:7:9: replace a::b -> Option<u8> with None", "MissedMutant"),
            outcome("src/a.rs:7:9: delete match arm `\": \"` in c", "CaughtMutant"),
            outcome("src/a.rs:7:9: replace < with == in d", "Timeout"),
            outcome("src/a.rs:7:9: delete !", "Unviable"),
        ]);
        let mutants = read(&text).expect("outcomes");
        let mutant = |change: &str, fate| Mutant {
            file: "src/a.rs".to_owned(),
            line: 7,
            change: change.to_owned(),
            fate,
        };
        let expected = [
            mutant("replace a::b -> Option<u8> with None", Fate::Survived),
            mutant("delete match arm `\": \"` in c", Fate::Killed),
            mutant("replace < with == in d", Fate::Killed),
            mutant("delete !", Fate::Unviable),
        ];
        assert_eq!(mutants, expected);
    }

    #[test]
    fn what_proves_nothing_is_refused() {
        let failing = json!({"scenario": "Baseline", "summary": "Failure"});
        assert!(read(&file(&[failing])).is_err(), "tests that fail anyway");
        assert!(read(&file(&[outcome("src/a.rs:7:9: x", "Failure")])).is_err(), "an unknown fate");
        assert!(read(&file(&[outcome("elsewhere", "MissedMutant")])).is_err(), "no place");
        let running = json!({"outcomes": [], "end_time": null}).to_string();
        assert!(read(&running).is_err(), "a run that was cut off");
        assert!(read("{}").is_err());
    }
}
