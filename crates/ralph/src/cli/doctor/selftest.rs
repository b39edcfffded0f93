//! `ralph doctor --selftest`: whether what ralph promises about processes holds on this machine, tried with real ones.
//!
//! Each trial is a run of ralph in a folder of its own, with a shell script for an agent that does what agents should
//! not do. Nothing of the user is read or changed.

use std::{
    env,
    fmt::Write,
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use ralph_core::containment::wanted::Wanted;
use ralph_sys::{
    error::{INTERRUPTED, Result},
    process::{
        Spec, Supervisor,
        guardian::{MARK_VARIABLE, OWN_RUN_VARIABLE, RUN_VARIABLE},
        is_alive,
    },
};
use serde::Serialize;

use super::contain;
use crate::{report::style::Marks, term::Palette};

/// How long one run may take on a machine that is very busy.
const RUN_TIMEOUT: Duration = Duration::from_mins(3);
/// How long a process may take to disappear.
const END_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Most of what a run prints.
const MAX_OUTPUT_LEN: usize = 64 * 1024;
/// How many of the last lines of a run are shown when something does not hold.
const SHOWN_LINES: usize = 12;

const DONE: &str = "echo '<response>DONE</response>'";

/// One promise, and whether it holds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) held: Held,
    /// What was seen instead, or what is missing.
    pub(super) why: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Held {
    Holds,
    /// The machine lacks something that ralph can do without.
    Missing,
    Fails,
}

/// A promise and how it is tried.
type Trial = (&'static str, fn(&mut Place<'_>) -> std::result::Result<(), String>);

const TRIALS: [Trial; 5] = [
    ("a claim counts only when the guardrails pass", claim),
    ("what an agent leaves running is found and ended", leftovers),
    ("a second Ctrl-C ends the agent and the run", signals),
    ("when ralph is killed, its guardian ends the agent", killed),
    ("a run that was killed can be continued", resumed),
];

/// Tries everything; nothing if ralph was asked to stop meanwhile.
pub(super) fn examine() -> Result<Option<Vec<Check>>> {
    let mut supervisor = Supervisor::new()?;
    let mut checks = Vec::new();
    for (name, trial) in TRIALS {
        let folder = tempfile::Builder::new().prefix("ralph-selftest-").tempdir()?;
        let root = fs_err::canonicalize(folder.path())?;
        fs_err::create_dir_all(root.join("project"))?;
        let result = trial(&mut Place { root, supervisor: &mut supervisor });
        let held = if result.is_ok() { Held::Holds } else { Held::Fails };
        checks.push(Check { name: name.to_owned(), held, why: result.err() });
        if supervisor.stop_requested() {
            return Ok(None);
        }
    }
    let sandboxes = contain::examine(&mut supervisor, &Wanted::default());
    let works = sandboxes.iter().any(|sandbox| sandbox.obstacle.is_none());
    for sandbox in sandboxes {
        let held = if sandbox.obstacle.is_none() { Held::Holds } else { Held::Missing };
        checks.push(Check { name: format!("sandbox {}", sandbox.name), held, why: sandbox.obstacle });
    }
    let held = if works { Held::Holds } else { Held::Fails };
    let why = (!works).then(|| "none of the kinds above works here".to_owned());
    checks.push(Check { name: "an agent can be contained".to_owned(), held, why });
    Ok(Some(checks))
}

/// The report for people.
pub(super) fn report(checks: &[Check], marks: Marks, palette: Palette) -> String {
    let Palette { good, bad, warn, quiet, .. } = palette;
    let mut text =
        format!("ralph {} on {} {}\n\n", env!("CARGO_PKG_VERSION"), env::consts::OS, env::consts::ARCH);
    for check in checks {
        let mark = match check.held {
            Held::Holds => format!("{good}{}{good:#}", marks.good),
            Held::Missing => format!("{warn}{}{warn:#}", marks.warning),
            Held::Fails => format!("{bad}{}{bad:#}", marks.bad),
        };
        let mut why = check.why.as_deref().unwrap_or_default().lines();
        let first = why.next().map(|line| format!(": {line}")).unwrap_or_default();
        let _ = writeln!(text, "  {mark} {}{first}", check.name);
        for line in why {
            let _ = writeln!(text, "       {quiet}{line}{quiet:#}");
        }
    }
    let failed = checks.iter().filter(|check| check.held == Held::Fails).count();
    let _ = match failed {
        0 => writeln!(text, "\nralph works on this machine."),
        _ => writeln!(
            text,
            "\n{failed} of {} checks failed. Please report it with this text: {}/issues",
            checks.len(),
            env!("CARGO_PKG_REPOSITORY")
        ),
    };
    text
}

/// Where a trial happens.
struct Place<'a> {
    root: PathBuf,
    supervisor: &'a mut Supervisor,
}

impl Place<'_> {
    fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Runs ralph with a script for an agent; returns its exit code, if it has one, and what it said.
    fn run(&mut self, script: &str, guardrail: &str) -> std::result::Result<(Option<i32>, String), String> {
        let agent = self.root.join("agent");
        write_program(&agent, &format!("#!/bin/sh\ncat >/dev/null\n{script}\n"))
            .map_err(|it| it.to_string())?;
        let agent = agent.display().to_string();
        let prompt = "Say <response>DONE</response> when you are done.";
        let flags = ["--no-sandbox", "--retries", "0", "-m", "3", "--guardrail", guardrail, "-p", prompt];
        self.ralph(&[&["run", "--agent", &agent], &flags[..]].concat())
    }

    fn ralph(&mut self, args: &[&str]) -> std::result::Result<(Option<i32>, String), String> {
        let program = env::current_exe().map_err(|error| error.to_string())?;
        let mut spec = Spec::new(program, &self.project()).args(args).within(RUN_TIMEOUT);
        for (name, folder) in [("HOME", "home"), ("RALPH_STATE_DIR", "state"), ("XDG_CONFIG_HOME", "config")]
        {
            spec = spec.env(name, self.root.join(folder));
        }
        for name in [RUN_VARIABLE, MARK_VARIABLE, OWN_RUN_VARIABLE] {
            spec = spec.without(name);
        }
        let captured = self.supervisor.capture(spec, MAX_OUTPUT_LEN).map_err(|error| error.to_string())?;
        let said = [captured.out, captured.err].concat();
        let code = captured.ended.status.and_then(|status| status.code());
        Ok((code, String::from_utf8_lossy(&said).into_owned()))
    }

    /// The number that a script wrote into a file.
    fn pid(&self, name: &str) -> std::result::Result<i32, String> {
        let text = fs_err::read_to_string(self.project().join(name)).map_err(|error| error.to_string())?;
        text.trim().parse().map_err(|_| format!("{name} holds no number: {text}"))
    }

    fn has_ended(&self, name: &str) -> std::result::Result<(), String> {
        let pid = self.pid(name)?;
        let deadline = Instant::now() + END_TIMEOUT;
        while is_alive(pid) {
            if deadline < Instant::now() {
                return Err(format!("process {pid} ({name}) is still alive"));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }
}

fn claim(place: &mut Place<'_>) -> std::result::Result<(), String> {
    let script = format!("[ -e tried ] && echo right >answer; touch tried; {DONE}");
    let (code, said) = place.run(&script, "test -e answer")?;
    expect(code == Some(0) && said.contains("Guardrail failed"), code, &said)
}

fn leftovers(place: &mut Place<'_>) -> std::result::Result<(), String> {
    // One stays in the session of the agent, one leaves it, and one has lost its parent.
    let script = format!(
        "away() {{
            if command -v setsid >/dev/null; then exec setsid sleep 600
            else exec perl -MPOSIX -e 'POSIX::setsid(); exec @ARGV' -- sleep 600; fi
        }}
        sleep 600 >/dev/null 2>&1 & echo $! >stays.pid
        away >/dev/null 2>&1 & echo $! >leaves.pid
        (sleep 600 >/dev/null 2>&1 & echo $! >orphan.pid)
        {DONE}"
    );
    let (code, said) = place.run(&script, "true")?;
    expect(code == Some(0) && said.contains("Left behind by the agent, ended"), code, &said)?;
    ["stays.pid", "leaves.pid", "orphan.pid"].iter().try_for_each(|name| place.has_ended(name))
}

fn signals(place: &mut Place<'_>) -> std::result::Result<(), String> {
    // Two that come at the same time are one.
    let script = "echo $$ >agent.pid; kill -INT $PPID; sleep 1; kill -INT $PPID; exec sleep 600";
    let (code, said) = place.run(script, "true")?;
    expect(code == Some(INTERRUPTED.into()), code, &said)?;
    place.has_ended("agent.pid")
}

const DIES: &str = "[ -e killed ] && { echo '<response>DONE</response>'; exit; }
    touch killed; echo $$ >agent.pid; kill -KILL $PPID; exec sleep 600";

fn killed(place: &mut Place<'_>) -> std::result::Result<(), String> {
    let (code, said) = place.run(DIES, "true")?;
    expect(code.is_none(), code, &said)?;
    place.has_ended("agent.pid")
}

fn resumed(place: &mut Place<'_>) -> std::result::Result<(), String> {
    killed(place)?;
    let (code, said) = place.ralph(&["resume"])?;
    expect(code == Some(0), code, &said)
}

/// What a run must have come to, or what it came to instead.
fn expect(is_so: bool, code: Option<i32>, said: &str) -> std::result::Result<(), String> {
    if is_so {
        return Ok(());
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
    let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
    Err(format!("the run ended with {code}\n{last}"))
}

fn write_program(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs_err::write(path, text)?;
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_failed() {
        let check = |name: &str, held, why: Option<&str>| Check {
            name: name.to_owned(),
            held,
            why: why.map(str::to_owned),
        };
        let mut checks = vec![check("one", Held::Holds, None), check("two", Held::Missing, Some("no bwrap"))];
        let text = |checks: &[Check]| report(checks, Marks::PLAIN, Palette::default());
        assert!(text(&checks).ends_with("\nralph works on this machine.\n"), "{}", text(&checks));
        checks.push(check("three", Held::Fails, Some("exit code 1\nlast words")));
        let failed = text(&checks);
        assert!(failed.contains("three: exit code 1\n       last words\n"), "{failed}");
        assert!(failed.contains("1 of 3 checks failed"), "{failed}");
    }
}
