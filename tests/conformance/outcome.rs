//! What a run of ralph came to, as its events tell.

use std::fmt;

use serde_json::Value;

/// A finished run.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) events: Vec<Value>,
    pub(crate) stderr: String,
}

impl Outcome {
    /// The events of one kind.
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["event"] == kind).collect()
    }

    /// How each turn ended.
    pub(crate) fn turns(&self) -> Vec<&Value> {
        self.of("turn_ended")
    }

    /// How the run ended: `done`, `gave_up` and so on.
    pub(crate) fn how(&self) -> &str {
        self.of("run_ended").first().and_then(|event| event["outcome"].as_str()).unwrap_or("not at all")
    }

    /// Checks that the run ended so, with this many turns.
    #[track_caller]
    pub(crate) fn expect(&self, how: &str, code: i32, turns: usize) {
        assert_eq!((self.how(), self.code, self.turns().len()), (how, Some(code), turns), "{self}");
    }

    /// Checks why the first turn failed.
    #[track_caller]
    pub(crate) fn expect_failure(&self, kind: &str) {
        let turns = self.turns();
        let end = &turns.first().unwrap_or_else(|| panic!("no turn\n{self}"))["end"];
        assert_eq!(end["how"], "failed", "{self}");
        let said =
            end["kind"].as_str().or_else(|| end["kind"].as_object()?.keys().next().map(String::as_str));
        assert_eq!(said, Some(kind), "{self}");
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "exit code {:?}", self.code)?;
        for event in self.events.iter().filter(|event| event["event"] != "run_started") {
            writeln!(formatter, "{event}")?;
        }
        write!(formatter, "stderr:\n{}", self.stderr)
    }
}
