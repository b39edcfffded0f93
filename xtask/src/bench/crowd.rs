//! Many loops at once on one machine: what each of them takes of it.

use std::process::Command;

use anyhow::Result;

use super::{
    Effort,
    clock::{self, Sample, median},
    place::Place,
    table::{Table, seconds},
};

const LOOPS: u32 = 50;
const ITERATIONS: u32 = 5;
/// An agent that does nothing for most of the time, as agents do.
const AGENT: &str = "#!/bin/sh\nsleep 0.5\necho Hm.\n";

/// Measures fifty loops, against fifty loops of bash.
pub(super) fn measure(place: &Place, _effort: Effort, table: &mut Table) -> Result<()> {
    let agent = place.path("slow-agent");
    fs_err::write(&agent, AGENT)?;
    Command::new("chmod").arg("+x").arg(&agent).status()?;
    let script = format!("for ((i = 0; i < {ITERATIONS}; i++)); do \"$0\"; done");
    let bare = crowd(place, &|place| {
        let mut bash = place.command("bash".as_ref())?;
        bash.arg("-c").arg(&script).arg(&agent);
        Ok((bash, 0))
    })?;
    let ours = crowd(place, &|place| {
        let mut ralph = place.ralph()?;
        ralph.args(["run", "-p", "x", "--max-iterations", &ITERATIONS.to_string(), "--agent"]).arg(&agent);
        Ok((ralph, 1))
    })?;
    let each = f64::from(ITERATIONS);
    table.ratio(
        "50 loops: processor time of an iteration, against bash",
        bare.cpu / each,
        ours.cpu / each,
        8.0,
    );
    // The pages of the program count for each, and are there once.
    table.memory("  memory of a loop", ours.peak, 16.0);
    table.ratio("  the whole, against bash", bare.seconds, ours.seconds, 1.5);
    let times = [bare, ours].map(|it| seconds(it.seconds)).join(" and ");
    let processor = [bare, ours].map(|it| seconds(it.cpu)).join(" and ");
    table.note(format!(
        "50 loops of {ITERATIONS} iterations of half a second each: bash and ralph took {times}, each loop \
         {processor} of a processor, with its agents"
    ));
    Ok(())
}

/// Starts all and waits for all; returns the time of the whole and the medians of the rest.
fn crowd(place: &Place, command: &dyn Fn(&Place) -> Result<(Command, i32)>) -> Result<Sample> {
    let started = std::time::Instant::now();
    let mut children = Vec::new();
    for _ in 0..LOOPS {
        place.renew()?;
        let (mut command, code) = command(place)?;
        children.push((command.spawn()?, code));
    }
    let samples: Vec<Sample> =
        children.iter().map(|(child, code)| clock::wait_for(child, *code, started)).collect::<Result<_>>()?;
    Ok(Sample {
        seconds: started.elapsed().as_secs_f64(),
        cpu: median(samples.iter().map(|sample| sample.cpu)),
        peak: median(samples.iter().map(|sample| sample.peak)),
    })
}
