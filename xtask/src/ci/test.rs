//! The tests: all of them, and those that failed once more.
//!
//! A thousand programs that are started, stopped and killed on a machine that is busy with something else: now and then one of
//! the tests meets a moment that no one thought of. What fails a second time, with the machine to itself, has failed.
//! What does not is named at the end, so that someone looks at it.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use super::memory::Memory;
use crate::say;

/// With more of them the change is to blame, not the moment.
const MAX_UNSTEADY: usize = 5;

/// Runs all tests of the workspace.
pub(super) fn all() -> Result<()> {
    let tests = ["test", "--workspace", "--locked", "--no-fail-fast"];
    let memory = Memory::new()?;
    let failed = match run(memory.cargo().args(tests), &mut io::stdout())? {
        Ran::Passed => return Ok(()),
        Ran::Failed(names) => names,
    };
    ensure!(!failed.is_empty(), "`cargo test` failed, and named no test");
    ensure!(failed.len() <= MAX_UNSTEADY, "{} tests failed: {}", failed.len(), failed.join(", "));
    say(&format!("\nfailed, and run once more: {}\n", failed.join(", ")));
    let mut again = memory.cargo();
    again.args(tests).args(["--", "--exact", "--test-threads=1"]);
    match run(again.args(&failed), &mut io::stdout())? {
        Ran::Passed => {
            say(&format!("\nunsteady: {} passed only the second time\n", failed.join(", ")));
            Ok(())
        }
        Ran::Failed(twice) => bail!("failed twice: {}", twice.join(", ")),
    }
}

/// How tests went.
enum Ran {
    Passed,
    /// With the names of those that failed, as far as they were named.
    Failed(Vec<String>),
}

/// Runs tests and shows what they print.
fn run(command: &mut Command, screen: &mut impl Write) -> Result<Ran> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let mut failed = Vec::new();
    let stdout = child.stdout.take().context("it has an output")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let text = String::from_utf8_lossy(&line);
        // No one may be looking; the tests go on.
        let _ = writeln!(screen, "{text}");
        failed.extend(failure(&text).map(str::to_owned));
    }
    let status = child.wait()?;
    Ok(if status.success() { Ran::Passed } else { Ran::Failed(failed) })
}

/// The name of the test that this line says has failed.
fn failure(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_found_in_what_is_printed() {
        assert_eq!(failure("test nights::a_turn ... FAILED"), Some("nights::a_turn"));
        assert_eq!(
            failure("test src/lib.rs - walls (line 3) ... FAILED"),
            Some("src/lib.rs - walls (line 3)")
        );
        assert_eq!(failure("test nights::a_turn ... ok"), None);
        assert_eq!(failure("    test nights::a_turn ... FAILED"), None);
        assert_eq!(failure("test result: FAILED. 1 passed; 1 failed"), None);
    }

    fn sh(script: &str) -> Ran {
        let mut shown = Vec::new();
        let ran = run(Command::new("sh").args(["-c", script]), &mut shown).expect("a shell");
        assert_eq!(shown.is_empty(), !script.contains("echo"));
        ran
    }

    #[test]
    fn the_exit_code_decides_and_names_are_kept() {
        assert!(matches!(sh("echo 'test a ... ok'"), Ran::Passed));
        let Ran::Failed(names) = sh("echo 'test a ... ok'; echo 'test b ... FAILED'; exit 101") else {
            panic!("it passed")
        };
        assert_eq!(names, ["b"]);
        assert!(matches!(sh("exit 101"), Ran::Failed(names) if names.is_empty()));
    }
}
