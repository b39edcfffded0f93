//! `cargo xtask ci`: every check of the project, in the order in which they are cheap to fail.
//!
//! It needs Rust and git; what else it needs it builds into the target folder. With npm it also installs the agents
//! there that the tests run for real. A browser, bubblewrap and valgrind come from the packages of the system, and
//! only `--install` adds some. What is missing is named, and its checks are skipped by name; where `CI=true`, nothing
//! may be missing.

mod ahead;
mod dependencies;
mod estimate;
mod memory;
mod platforms;
mod space;
mod steps;
mod test;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::{cargo::target_dir, debian::Missing, say};
use ahead::Ahead;
use estimate::{Times, minutes};
use steps::{Done, STEPS, Step, When};

const USAGE: &str = "\
usage: cargo xtask ci [--quick | --platforms] [--install]

  --quick    only what a change breaks most often: a few minutes where everything is built
  --platforms
             only what other machines need: macOS and ARM are checked, linked and, as far as that goes here, tested
  --install  install the programs that checks need and that are not there (as root, with apt-get); without it
             such checks are skipped by name, and fail where CI=true
";

/// What was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Wanted {
    is_quick: bool,
    is_platforms: bool,
    installs: bool,
}

/// Runs all checks, or the quick ones.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let Some(wanted) = parse(words)? else {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    let path = target_dir().join("ci-times.json");
    let mut times = Times::read(&path);
    let steps: Vec<&Step> =
        STEPS.iter().chain(&platforms::STEPS).filter(|step| wanted.has(step.when)).collect();
    space::ensure_enough()?;
    say(&estimate::announce(&steps, &times));
    let report = run(&steps, wanted.missing(), &mut times);
    // Where it cannot be written, the next estimate is as good as the one before.
    let _ = times.write(&path);
    say(&report.text());
    Ok(if report.failure.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn parse(words: &[String]) -> Result<Option<Wanted>> {
    let mut wanted = Wanted::default();
    for word in words {
        match word.as_str() {
            "--quick" => wanted.is_quick = true,
            "--platforms" => wanted.is_platforms = true,
            "--install" => wanted.installs = true,
            "-h" | "--help" => return Ok(None),
            _ => bail!("unknown word `{word}`\n\n{USAGE}"),
        }
    }
    Ok(Some(wanted))
}

impl Wanted {
    fn has(self, when: When) -> bool {
        match when {
            When::Always => !self.is_platforms,
            When::Whole => !self.is_quick && !self.is_platforms,
            When::Quick => self.is_quick && !self.is_platforms,
            When::Platforms => self.is_platforms,
            When::Both => !self.is_quick,
        }
    }

    fn missing(self) -> Missing {
        if self.installs { Missing::Install } else { Missing::Name }
    }
}

/// How it went.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    skipped: Vec<String>,
    failure: Option<String>,
}

fn run(steps: &[&Step], missing: Missing, times: &mut Times) -> Report {
    let mut report = Report::default();
    let begun = Instant::now();
    let mut ahead = Ahead::begin(missing, &steps.iter().map(|step| step.when).collect::<Vec<_>>());
    for (number, step) in (1..).zip(steps) {
        let Step { name, repeat, .. } = step;
        let about = minutes(times.of(step));
        say(&format!("\n== {number} of {}: {name} (about {about}): {repeat}\n", steps.len()));
        let started = Instant::now();
        if step.when != When::Always {
            ahead.wait();
        }
        let result = (step.check)(missing);
        let took = started.elapsed();
        let verdict = match &result {
            Ok(Done::All) => "ok",
            Ok(Done::Without(_)) => "skipped",
            Err(_) => "FAILED",
        };
        report.lines.push(line(name, verdict, took));
        match result {
            Ok(Done::All) => times.set(name, took),
            Ok(Done::Without(why)) => {
                say(&format!("{why}\n"));
                report.skipped.push(format!("skipped: {name}: {why}\n"));
            }
            Err(error) => {
                report.failure = Some(format!("\n{name}: {error:#}\nto repeat it: {repeat}\n"));
                break;
            }
        }
    }
    report.lines.push(line("together", "", begun.elapsed()));
    report
}

fn line(name: &str, verdict: &str, took: Duration) -> String {
    format!("{name:<14}{verdict:<8}{:>7.1} s\n", took.as_secs_f64())
}

impl Report {
    fn text(&self) -> String {
        let (lines, skipped) = (self.lines.concat(), self.skipped.concat());
        format!("\n{lines}{skipped}{}", self.failure.as_deref().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_or_refused() {
        let parse = |line: &str| parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parse("").expect("words"), Some(Wanted::default()));
        let both = Wanted { is_quick: true, installs: true, ..Wanted::default() };
        assert_eq!(parse("--install --quick").expect("words"), Some(both));
        assert_eq!(parse("--quick --help").expect("words"), None);
        assert!(parse("--fast").is_err());
    }

    #[test]
    fn a_quick_run_has_what_breaks_most_often() {
        let names = |is_quick| {
            let wanted = Wanted { is_quick, ..Wanted::default() };
            let all = STEPS.iter().chain(&platforms::STEPS);
            all.filter(|step| wanted.has(step.when)).map(|step| step.name).collect::<Vec<_>>()
        };
        assert_eq!(names(true), ["format", "lint", "generated", "units", "programs"]);
        assert_eq!((names(false).len(), names(false)[0]), (19, "format"));
        assert!(names(false).ends_with(&["packages", "mac", "arm"]));
    }

    #[test]
    fn packages_and_other_machines_are_checked_within_twelve_minutes() {
        let wanted = Wanted { is_platforms: true, ..Wanted::default() };
        assert!(!STEPS.iter().any(|step| wanted.has(step.when)));
        assert!(platforms::STEPS.iter().all(|step| wanted.has(step.when)));
        let whole: u64 = platforms::STEPS.iter().map(|step| step.cold_seconds).sum();
        assert!(whole <= 12 * 60, "{whole}");
    }

    fn step(name: &'static str, check: fn(Missing) -> Result<Done>) -> Step {
        Step { name, repeat: "cargo repeat", when: When::Always, cold_seconds: 1, check }
    }

    #[test]
    fn the_first_failure_is_the_last_check() {
        let steps = [
            step("one", |_| Ok(Done::All)),
            step("two", |_| Ok(Done::Without("there is no `valgrind`".to_owned()))),
            step("three", |_| bail!("it broke")),
            step("four", |_| Ok(Done::All)),
        ];
        let mut times = Times::default();
        let text = run(&steps.iter().collect::<Vec<_>>(), Missing::Name, &mut times).text();
        let words: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(words, ["one", "two", "three", "together", "skipped:", "three:", "to"], "{text}");
        assert!(text.contains("skipped: two: there is no `valgrind`"), "{text}");
        assert!(text.ends_with("three: it broke\nto repeat it: cargo repeat\n"), "{text}");
        assert_eq!(times.of(&steps[1]), Duration::from_secs(1), "a check that was skipped took no time");
    }
}
