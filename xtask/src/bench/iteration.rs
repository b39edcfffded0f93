//! What an iteration and a guardrail cost, against a bare loop of bash around the same agent.
//!
//! They are slopes between a short and a long run, so that the start of bash and of ralph is in neither; one
//! more line has the start, spread over the iterations of the long run.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::Result;

use super::{
    Effort,
    clock::{self, Sample, interleave},
    place::Place,
    table::{Table, seconds},
};

const FEW: u32 = 10;
const MANY: u32 = 60;

/// Measures the overhead of an iteration.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let bare =
        |count: u32| place.bash(&format!("for ((i = 0; i < {count}; i++)); do \"$0\"; done"), &place.agent);
    let ours = |count: u32| place.run(&place.agent, count, &[]);
    let ([own, bare_few, ours_few, bare_many, ours_many], note) = interleave(
        effort.rounds(40),
        [
            ("agent alone x 50", Box::new(|| alone(place))),
            ("bash x 10", Box::new(|| bare(FEW))),
            ("ralph x 10", Box::new(|| ours(FEW))),
            ("bash x 60", Box::new(|| bare(MANY))),
            ("ralph x 60", Box::new(|| ours(MANY))),
        ],
    )?;
    let each = f64::from(MANY - FEW);
    let own = own.seconds / each;
    let floor = (bare_many.seconds - bare_few.seconds) / each - own;
    let overhead = (ours_many.seconds - ours_few.seconds) / each - own;
    table.ratio("overhead of an iteration, against bash", floor, overhead, 3.0);
    let whole = |run: Sample| run.seconds / f64::from(MANY) - own;
    table.ratio("  with a share of the start", whole(bare_many), whole(ours_many), 3.0);
    table.note(format!("iteration, {note}; the agent's own time: {}", seconds(own)));
    Ok(())
}

/// Measures what each further guardrail costs.
pub(super) fn measure_guardrails(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let bare = |count: usize| {
        let checks = "sh -c true; ".repeat(count);
        place.bash(&format!("for ((i = 0; i < 50; i++)); do \"$0\"; {checks} done"), &place.agent)
    };
    let ours = |count: usize| place.run(&place.agent, 50, &["--guardrail", "true"].repeat(count));
    let ([bare_one, ours_one, bare_five, ours_five], note) = interleave(
        effort.rounds(20),
        [
            ("bash with 1", Box::new(|| bare(1))),
            ("ralph with 1", Box::new(|| ours(1))),
            ("bash with 5", Box::new(|| bare(5))),
            ("ralph with 5", Box::new(|| ours(5))),
        ],
    )?;
    let floor = (bare_five.seconds - bare_one.seconds) / (4.0 * 50.0);
    let each = (ours_five.seconds - ours_one.seconds) / (4.0 * 50.0);
    table.ratio("each further guardrail, against `sh -c true`", floor, each, 2.0);
    table.note(format!("guardrails in 50 iterations, {note}"));
    Ok(())
}

/// The agent's own time: nothing but starting it and waiting for its end, 50 times.
fn alone(place: &Place) -> Result<Sample> {
    let mut command = Command::new(&place.agent);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let started = Instant::now();
    let mut peak = 0.0;
    for _ in FEW..MANY {
        peak = clock::run(&mut command, 0)?.peak;
    }
    Ok(Sample { seconds: started.elapsed().as_secs_f64(), peak })
}
