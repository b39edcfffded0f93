//! One entry in one loop, really: an agent's process, guardrails, git, and whatever decides.

use std::{
    env,
    ffi::OsStr,
    time::{Duration, Instant},
};

use ralph_agents::scripted::COMMAND;
use ralph_core::duration::millis;
use ralph_sys::{
    error::{REFUSED, Result},
    process::{Beside, Crew, Spec},
};
use serde_json::Value;

use super::{
    Loop, Rules, TrialEnd,
    catalogue::{Entry, Fixture},
    place::{Place, guardrails},
};

/// No loop of the catalogue takes longer.
pub(super) const LOOP_TIMEOUT: Duration = Duration::from_mins(4);

/// What became of it.
pub(super) struct Tried {
    pub(super) verdict: TrialEnd,
    pub(super) findings: Vec<String>,
    pub(super) ms: u64,
}

/// Runs it.
pub(super) fn run(crew: &Crew, rules: &Rules, fixture: &Fixture, entry: &Entry) -> Result<Tried> {
    let place = Place::new(crew, rules, fixture, entry)?;
    in_place(crew, rules, &place, (fixture, entry), LOOP_TIMEOUT)
}

/// Runs it in a place that is ready.
pub(super) fn in_place(
    crew: &Crew,
    rules: &Rules,
    place: &Place,
    (fixture, entry): (&Fixture, &Entry),
    limit: Duration,
) -> Result<Tried> {
    let started = Instant::now();
    let (verdict, findings) = match rules.decides {
        Loop::Ralph => by_ralph(crew, place, limit)?,
        Loop::Bash => (by_shell(crew, place, entry, guardrails(fixture, entry), limit)?, Vec::new()),
        Loop::Tag => (by_shell(crew, place, entry, &[], limit)?, Vec::new()),
    };
    Ok(Tried { verdict, findings, ms: millis(started.elapsed()) })
}

/// Runs ralph on the project there.
pub(super) fn ralph(crew: &Crew, place: &Place, limit: Duration) -> Result<Beside> {
    let spec = Spec::new(env::current_exe()?, place.project());
    let spec = spec.args(["run", "--prompt", "Work on the project."]);
    let spec = match place.config() {
        Some(config) => spec.args([OsStr::new("--config"), config.as_os_str()]),
        None => spec.args(["--quiet"]),
    };
    Ok(crew.run(&place.within(spec), limit)?)
}

/// What ralph says about it then.
pub(super) fn status(crew: &Crew, place: &Place) -> Result<Beside> {
    let spec = Spec::new(env::current_exe()?, place.project()).args(["status", "--json"]);
    Ok(crew.run(&place.within(spec), LOOP_TIMEOUT)?)
}

fn by_ralph(crew: &Crew, place: &Place, limit: Duration) -> Result<(TrialEnd, Vec<String>)> {
    let ended = ralph(crew, place, limit)?;
    match ended.code {
        None => return Ok((broken("it did not end", &ended), Vec::new())),
        Some(code) if code == i32::from(REFUSED) => {
            return Ok((broken("it did not begin", &ended), Vec::new()));
        }
        Some(_) => {}
    }
    let told = status(crew, place)?;
    let Ok(status) = serde_json::from_str::<Value>(&told.out) else {
        return Ok((broken("it has no status", &told), Vec::new()));
    };
    let findings = status["findings"].as_array().into_iter().flatten();
    let findings: Vec<String> = findings.filter_map(|it| it["finding"].as_str().map(str::to_owned)).collect();
    let is_done = status["outcome"]["outcome"] == "done";
    let verdict = match (is_done, findings.is_empty()) {
        (false, _) => TrialEnd::Refused,
        (true, true) => TrialEnd::Passed,
        (true, false) => TrialEnd::Finding,
    };
    Ok((verdict, if is_done { findings } else { Vec::new() }))
}

/// The loop that people write: the word, and then the guardrails, if there are any.
fn by_shell(
    crew: &Crew,
    place: &Place,
    entry: &Entry,
    guardrails: &[String],
    limit: Duration,
) -> Result<TrialEnd> {
    let checks: Vec<String> = guardrails.iter().map(|command| format!(" && ({command})")).collect();
    let checks = checks.concat();
    let turns: Vec<String> = (1..=entry.turns.len()).map(|turn| turn.to_string()).collect();
    let text = format!(
        "for turn in {}; do
  {} {COMMAND} {} < /dev/null > \"$TMPDIR/said\" 2> /dev/null
  grep -q '<response>DONE</response>' \"$TMPDIR/said\"{checks} && exit 0
done
exit 1
",
        turns.join(" "),
        shell_words::quote(&env::current_exe()?.to_string_lossy()),
        shell_words::quote(&place.script().to_string_lossy()),
    );
    let ended = crew.run(&place.within(Spec::shell(&text, place.project())), limit)?;
    Ok(match ended.code {
        Some(0) => TrialEnd::Passed,
        Some(_) => TrialEnd::Refused,
        None => broken("it did not end", &ended),
    })
}

fn broken(what: &str, ended: &Beside) -> TrialEnd {
    let said = [ended.err.trim(), ended.out.trim()].into_iter().find(|said| !said.is_empty());
    TrialEnd::Broken { why: said.map_or_else(|| what.to_owned(), |said| format!("{what}: {said}")) }
}
