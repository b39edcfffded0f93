//! How long it takes from the second SIGTERM until nothing of the run is left.

use std::{
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use super::{Effort, clock::median, place::Place, table::Table};

/// An agent that waits for its child, and ends when it is told to.
const AGENT: &str = "#!/bin/sh\nsleep 1000 &\n: > ready\nwait\n";
const LIMIT: Duration = Duration::from_millis(200);
/// Marks every process of a measured run.
const MARK: &str = "RALPH_BENCH";
/// Something is wrong when nothing happens for so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Measures how fast a run ends.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let agent = place.path("waiting-agent");
    fs_err::write(&agent, AGENT)?;
    let status = Command::new("chmod").arg("+x").arg(&agent).status()?;
    ensure!(status.success(), "chmod: {status}");
    let rounds = effort.rounds(20);
    let times = (0..rounds).map(|round| once(place, &agent, round)).collect::<Result<Vec<f64>>>()?;
    let worst = times.iter().copied().fold(0.0, f64::max);
    table.time("second SIGTERM to empty process tree", median(times.into_iter()), LIMIT);
    table.time("  the slowest", worst, LIMIT);
    table.note(format!("signals, {rounds} rounds"));
    Ok(())
}

fn once(place: &Place, agent: &Path, round: usize) -> Result<f64> {
    place.renew()?;
    let mark = format!("{}-{round}", std::process::id());
    let mut ralph = place.ralph()?;
    ralph.args(["run", "-p", "x", "--agent"]).arg(agent).env(MARK, &mark);
    let mut ralph = ralph.spawn()?;
    let pid = i32::try_from(ralph.id())?;
    until("the agent to start", || place.current("project/ready").exists())?;
    terminate(pid)?;
    let stderr = place.current("stderr");
    until("the first signal to be noticed", || {
        fs_err::read_to_string(&stderr).is_ok_and(|text| text.contains("Received signal"))
    })?;
    let started = Instant::now();
    terminate(pid)?;
    let status = ralph.wait()?;
    let line = format!("{MARK}={mark}");
    until("all processes to end", || !is_anything_left(line.as_bytes()))?;
    let took = started.elapsed().as_secs_f64();
    ensure!(status.code() == Some(130), "ralph ended with {status}, not with code 130");
    Ok(took)
}

/// Whether any process has this line in its environment.
fn is_anything_left(line: &[u8]) -> bool {
    let processes = fs_err::read_dir("/proc").into_iter().flatten().flatten();
    let mut environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
    environments.any(|environment| environment.split(|byte| *byte == 0).any(|variable| variable == line))
}

/// Waits until it is so.
pub(super) fn until(what: &str, is_so: impl Fn() -> bool) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        (Instant::now() < deadline).then_some(()).with_context(|| format!("waited in vain for {what}"))?;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn terminate(pid: i32) -> Result<()> {
    // SAFETY: a call without pointers; the process is a child that is not waited for yet, so its number is ours.
    let result = unsafe { libc::kill(pid, libc::SIGTERM) };
    ensure!(result == 0, "kill: {}", std::io::Error::last_os_error());
    Ok(())
}
