//! How long the checks will take: as long as they took here the last time, or else as long as on two cores that have
//! built nothing yet.

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::steps::Step;

/// How long each check took here, in seconds.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Times(BTreeMap<String, f64>);

impl Times {
    /// What an earlier run left; nothing where there was none, or where it cannot be read.
    pub(super) fn read(path: &Path) -> Self {
        let text = fs_err::read_to_string(path).unwrap_or_default();
        let times: Self = serde_json::from_str(&text).unwrap_or_default();
        Self(times.0.into_iter().filter(|(_, seconds)| (0.0..1e6).contains(seconds)).collect())
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        Ok(fs_err::write(path, serde_json::to_string_pretty(self)?)?)
    }

    pub(super) fn set(&mut self, name: &str, took: Duration) {
        self.0.insert(name.to_owned(), took.as_secs_f64());
    }

    pub(super) fn of(&self, step: &Step) -> Duration {
        let known = self.0.get(step.name).copied();
        known.map_or(Duration::from_secs(step.cold_seconds), Duration::from_secs_f64)
    }
}

/// What is said before the first check.
pub(super) fn announce(steps: &[&Step], times: &Times) -> String {
    let whole: Duration = steps.iter().map(|step| times.of(step)).sum();
    let known = steps.iter().all(|step| times.0.contains_key(step.name));
    let basis = if known { "as the last time" } else { "on two cores that have built nothing yet" };
    let names: Vec<String> =
        steps.iter().map(|step| format!("  {:<14}about {}\n", step.name, minutes(times.of(step)))).collect();
    format!("{} checks, about {} {basis}:\n{}", steps.len(), minutes(whole), names.concat())
}

/// A time that no one takes for exact.
pub(super) fn minutes(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..90 => format!("{} s", seconds.max(1)),
        seconds => format!("{} min", (seconds + 30) / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::platforms,
        super::steps::{Done, STEPS, When},
        *,
    };

    const STEP: Step =
        Step { name: "test", repeat: "", when: When::Always, cold_seconds: 400, check: |_| Ok(Done::All) };

    #[test]
    fn the_last_time_is_the_best_guess() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("times.json");
        let mut times = Times::read(&path);
        assert_eq!(times.of(&STEP), Duration::from_secs(400));
        times.set("test", Duration::from_secs(30));
        times.write(&path).expect("a file");
        assert_eq!(Times::read(&path).of(&STEP), Duration::from_secs(30));
        for damaged in ["", "[]", r#"{"test": -1.0}"#, r#"{"test": 1e300}"#] {
            fs_err::write(&path, damaged).expect("a file");
            assert_eq!(Times::read(&path).of(&STEP), Duration::from_secs(400), "{damaged}");
        }
    }

    #[test]
    fn the_estimate_says_what_it_rests_on() {
        let mut times = Times::default();
        let first = announce(&[&STEP], &times);
        assert_eq!(
            first,
            "1 checks, about 7 min on two cores that have built nothing yet:\n  test          about 7 min\n"
        );
        times.set("test", Duration::from_millis(200));
        assert!(announce(&[&STEP], &times).starts_with("1 checks, about 1 s as the last time:"));
    }

    #[test]
    fn everything_is_promised_within_half_an_hour_and_a_bit() {
        let whole: u64 = STEPS
            .iter()
            .chain(&platforms::STEPS)
            .filter(|step| ![When::Quick, When::Platforms].contains(&step.when))
            .map(|step| step.cold_seconds)
            .sum();
        assert!(whole <= 32 * 60, "{whole}");
    }
}
