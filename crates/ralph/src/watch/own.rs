//! `--watch`: a loop in the background, and the screen on it. The loop is a process of its own and never waits for the screen.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ralph_sys::{
    error::Result,
    process::detach::{self, Apart},
};

use super::{Watching, needs_terminal, watch};
use crate::{
    fleet::{FileLedger, FleetDir},
    journal::{self, run_dir::RunDir},
    live::ScanScope,
    report::streams::say,
    term::ColorWhen,
};

/// The flag that is for this process alone.
const FLAG: &str = "--watch";
/// How often the record of the loop is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Starts the loop that was typed, shows it, and returns its exit code, or 0 if it goes on.
pub(crate) fn own_run(project: PathBuf, color: ColorWhen, is_bound: fn(&RunDir) -> bool) -> Result<u8> {
    needs_terminal()?;
    let mut apart = detach::start_apart(&without_flag(env::args_os().skip(1)))?;
    let run = loop {
        if let Some((said, code)) = apart.refused_within(POLL_INTERVAL)? {
            say(&said);
            return Ok(code);
        }
        match begun(&project, &apart) {
            Some(Begun::Run(run)) => break Some(run),
            Some(Begun::Fleet) => break None,
            None => thread::sleep(POLL_INTERVAL),
        }
    };
    let id = run.as_ref().map(RunDir::id);
    let scope = ScanScope::Project(project.clone());
    watch(Watching { run, scope, project, color, is_bound, is_own: true })?;
    if let Some((_, code)) = apart.refused_within(Duration::ZERO)? {
        say(&id.map_or_else(String::new, |id| format!("the run has ended; what it did: ralph status {id}\n")));
        return Ok(code);
    }
    say(&match id {
        Some(id) => format!(
            "the run continues in the background\n  see it again: ralph watch {id}\n  end it: ralph stop {id}\n"
        ),
        None => {
            "the fleet continues in the background\n  see it again: ralph watch\n  end it: ralph fleet stop\n"
                .to_owned()
        }
    });
    Ok(0)
}

/// What the loop has recorded first.
enum Begun {
    Run(RunDir),
    Fleet,
}

fn begun(project: &Path, apart: &Apart) -> Option<Begun> {
    let is_ours = |run: &RunDir| journal::started(&run.journal()).is_some_and(|it| it.pid == apart.pid());
    if let Some(run) = RunDir::of_project(project).ok()?.into_iter().rev().take(4).find(is_ours) {
        return Some(Begun::Run(run));
    }
    let fleet = FleetDir::of_project(project).ok()?.pop()?;
    FileLedger::look(&fleet).is_ok_and(|state| state.pid == apart.pid()).then_some(Begun::Fleet)
}

/// What was typed, without the flag. A prompt that says the same comes after `--` or after its own flag.
fn without_flag(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    if let Some(at) = args.iter().position(|arg| arg == FLAG) {
        args.remove(at);
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_is_told_all_but_the_flag() {
        let typed = ["run", "--watch", "-p", "x", "--", "--watch"].map(OsString::from);
        assert_eq!(without_flag(typed.into_iter()), ["run", "-p", "x", "--", "--watch"]);
    }
}
