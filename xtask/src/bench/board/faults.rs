//! How long a fleet on a board takes to recover: a worker, the lander or a server is killed, frozen or cut off.

use std::time::Duration;

use anyhow::{Context, Result};
use loopback_board::Cable;
use rustix::process::{Pid, Signal, test_kill_process};

use super::{
    field::{Field, Process, STREAMS, Tools, Watch, entries, now, server, set_up, until},
    start_crowd, times,
};
use crate::bench::{
    Effort,
    clock::median,
    place::Place,
    table::{Table, seconds},
};

/// Workers that are silent for so long are taken for dead.
const SILENCE: Duration = Duration::from_secs(2);
/// A worker that is back looks at its lease every third of the silence, and ends its run.
const MAX_END: Duration = Duration::from_secs(5);
/// One that was cut off waits for answers that do not come first.
const MAX_HEALED: Duration = Duration::from_secs(10);
const MAX_RESUMED: Duration = Duration::from_secs(5);
/// Clients look for a server that is away at most every four seconds.
const MAX_RESTARTED: Duration = Duration::from_secs(10);
/// An election, and an answer that does not come.
const MAX_ELECTED: Duration = Duration::from_secs(15);
/// How long the server is away.
const AWAY: Duration = Duration::from_secs(1);
/// Items of a cluster, and the workers that do nothing for each.
const CLUSTERED: (usize, usize) = (8, 2_000);

/// One trial: how long it took, in seconds.
type Trial = fn(&Place, &Tools, usize) -> Result<f64>;

/// Measures each fault a few times.
pub(in crate::bench) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let tools = Tools::find()?;
    let rounds = effort.rounds(6);
    let all = |trial: Trial| -> Result<(f64, String)> {
        let times = (0..rounds).map(|round| trial(place, &tools, round)).collect::<Result<Vec<f64>>>()?;
        let worst = times.iter().copied().fold(0.0, f64::max);
        Ok((median(times.into_iter()), seconds(worst)))
    };
    let mut slowest = Vec::new();
    let (took, worst) = all(killed_worker)?;
    let silence = SILENCE.as_secs_f64();
    table.ratio("worker killed: item taken over, against the silence", silence, took, 1.5);
    slowest.push(worst);
    for (name, trial, limit) in [
        ("worker frozen and back: its run is ended", frozen_worker as Trial, MAX_END),
        ("worker cut off, and healed: its run is ended", healed_worker, MAX_HEALED),
        ("lander killed: from `fleet resume` to landed", killed_lander, MAX_RESUMED),
        ("server killed, away 1 s: from its return to landed", killed_server, MAX_RESTARTED),
        ("one of 3 servers killed: longest time without a landing", killed_of_three, MAX_ELECTED),
    ] {
        let (took, worst) = all(trial)?;
        table.time(name, took, limit);
        slowest.push(worst);
    }
    table.note(format!(
        "recovery of the board, {rounds} rounds, silence {SILENCE:?}; the slowest: {}",
        slowest.join(", ")
    ));
    Ok(())
}

/// A fleet of one item, and its first worker, whose agent waits.
struct Begun<'a> {
    field: Field<'a>,
    agent: std::path::PathBuf,
    fleet: Process,
    worker: Process,
    watch: Watch,
    /// The agent of the first worker.
    at_work: Pid,
}

fn begin<'a>(place: &'a Place, tools: &'a Tools, cable: Option<&mut Option<Cable>>) -> Result<Begun<'a>> {
    let field = Field::new(place, tools, server(tools)?, SILENCE)?;
    let agent = field.waiting_agent()?;
    let fleet = field.start_fleet(&agent, 1)?;
    let watch = field.watch()?;
    let url =
        cable.map_or_else(|| field.server.url(), |cable| cable.insert(Cable::to(field.server.port)).url());
    let worker = field.start_worker(1, &agent, &url, 1)?;
    watch.step("claimed", "w1")?;
    let at_work = field.agent_of("w1")?;
    Ok(Begun { field, agent, fleet, worker, watch, at_work })
}

impl Begun<'_> {
    fn second_worker(&self) -> Result<Process> {
        self.field.start_worker(2, &self.agent, &self.field.server.url(), 1)
    }

    /// Lets the fleet come to its end.
    fn finish(&mut self) -> Result<()> {
        self.field.let_agents_go()?;
        self.fleet.ends_with(0)
    }
}

fn is_gone(pid: Pid) -> bool {
    test_kill_process(pid).is_err()
}

fn killed_worker(place: &Place, tools: &Tools, _round: usize) -> Result<f64> {
    let mut begun = begin(place, tools, None)?;
    let _second = begun.second_worker()?;
    begun.worker.kill()?;
    let killed = now();
    let claimed = begun.watch.step("claimed", "w2")?;
    begun.finish()?;
    Ok(claimed - killed)
}

fn frozen_worker(place: &Place, tools: &Tools, _round: usize) -> Result<f64> {
    let mut begun = begin(place, tools, None)?;
    let _second = begun.second_worker()?;
    begun.worker.signal(Signal::STOP)?;
    begun.watch.step("claimed", "w2")?;
    begun.worker.signal(Signal::CONT)?;
    let back = now();
    until("the end of its run", || is_gone(begun.at_work).then_some(()))?;
    let took = now() - back;
    begun.finish()?;
    Ok(took)
}

fn healed_worker(place: &Place, tools: &Tools, _round: usize) -> Result<f64> {
    let mut cable = None;
    let mut begun = begin(place, tools, Some(&mut cable))?;
    let cable = cable.context("a cable")?;
    let _second = begun.second_worker()?;
    cable.cut();
    begun.watch.step("claimed", "w2")?;
    cable.heal();
    let back = now();
    until("the end of its run", || is_gone(begun.at_work).then_some(()))?;
    let took = now() - back;
    begun.finish()?;
    Ok(took)
}

fn killed_lander(place: &Place, tools: &Tools, _round: usize) -> Result<f64> {
    let mut begun = begin(place, tools, None)?;
    begun.fleet.kill()?;
    begun.field.let_agents_go()?;
    begun.watch.step("done", "w1")?;
    let resumed = now();
    begun.fleet = begun.field.resume()?;
    let landed = begun.watch.step("merged", "lander")?;
    begun.finish()?;
    Ok(landed - resumed)
}

fn killed_server(place: &Place, tools: &Tools, _round: usize) -> Result<f64> {
    let mut begun = begin(place, tools, None)?;
    let tip = begun.field.tip()?;
    begun.field.server.kill();
    begun.field.let_agents_go()?;
    std::thread::sleep(AWAY);
    begun.field.server.start_again()?;
    let back = now();
    // Not by the log: who looks at it waits for the server as well.
    until("the branch to move", || begun.field.tip().is_ok_and(|now| now != tip).then_some(()))?;
    let took = now() - back;
    begun.finish()?;
    Ok(took)
}

fn killed_of_three(place: &Place, tools: &Tools, round: usize) -> Result<f64> {
    let (workers, items) = CLUSTERED;
    place.renew()?;
    let mut servers = loopback_board::cluster(&tools.nats, STREAMS)?;
    let url = servers.iter().map(loopback_board::Server::url).collect::<Vec<_>>().join(",");
    set_up(tools, &url, SILENCE, servers.len())?;
    let begun = now();
    let mut crowd = start_crowd(place, tools, &url, (workers, items))?;
    let said = place.current("crowd");
    until("a part of the items", || (items / 4 < entries(&said).len()).then_some(()))?;
    // Each of them in turn: one is the leader.
    let victim = round % servers.len();
    servers[victim].kill();
    let killed = now();
    crowd.ends_with(0)?;
    let times = times(&said, items, begun)?;
    let after: Vec<f64> =
        std::iter::once(killed).chain(times.landed.into_iter().filter(|at| killed < *at)).collect();
    Ok(after.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max))
}
