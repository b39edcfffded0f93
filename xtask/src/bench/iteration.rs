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
    table.ratio("  with a share of the start", whole(bare_many), whole(ours_many), 4.0);
    table.note(format!("iteration, {note}; the agent's own time: {}", seconds(own)));
    Ok(())
}

/// Measures a whole iteration with two and with five guardrails, and what each further one costs.
pub(super) fn measure_guardrails(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let bare = |count: usize| {
        let checks = "sh -c true; ".repeat(count);
        place.bash(&format!("for ((i = 0; i < 50; i++)); do \"$0\"; {checks} done"), &place.agent)
    };
    let ours = |count: usize| place.run(&place.agent, 50, &["--guardrail", "true"].repeat(count));
    let ([bare_none, ours_none, bare_two, ours_two, bare_five, ours_five], note) = interleave(
        effort.rounds(20),
        [
            ("bash with 0", Box::new(|| bare(0))),
            ("ralph with 0", Box::new(|| ours(0))),
            ("bash with 2", Box::new(|| bare(2))),
            ("ralph with 2", Box::new(|| ours(2))),
            ("bash with 5", Box::new(|| bare(5))),
            ("ralph with 5", Box::new(|| ours(5))),
        ],
    )?;
    let each = |run: Sample| run.seconds / 50.0;
    table.ratio("iteration without a guardrail, against bash", each(bare_none), each(ours_none), 3.0);
    table.ratio("  with 2 guardrails", each(bare_two), each(ours_two), 2.0);
    table.ratio("  with 5 guardrails", each(bare_five), each(ours_five), 2.0);
    let further = |five: Sample, two: Sample| (five.seconds - two.seconds) / (3.0 * 50.0);
    table.ratio(
        "each further guardrail, against `sh -c true`",
        further(bare_five, bare_two),
        further(ours_five, ours_two),
        2.0,
    );
    table.note(format!("guardrails in 50 iterations, {note}"));
    Ok(())
}

/// The agent's own time: nothing but starting it and waiting for its end, 50 times.
fn alone(place: &Place) -> Result<Sample> {
    let mut command = Command::new(&place.agent);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let started = Instant::now();
    let mut last = clock::run(&mut command, 0)?;
    for _ in FEW + 1..MANY {
        last = clock::run(&mut command, 0)?;
    }
    Ok(Sample { seconds: started.elapsed().as_secs_f64(), ..last })
}
