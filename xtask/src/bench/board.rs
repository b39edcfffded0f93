//! What a fleet on many machines costs beside its agents: items that are handed through the board in a second, and how long
//! it takes from a result that is handed in until it has landed. All machines are this one.
//!
//! Servers write to the disk before they confirm, as `ralph fleet board` has them do.

pub(super) mod faults;
mod field;

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context, Result, ensure};

use super::{
    Effort,
    clock::median,
    place::Place,
    table::{Table, seconds},
};
use field::{Entry, Field, Process, STREAMS, Tools, entries, server, set_up};

/// Workers that do nothing, how many items they work off, and how many in a second are too few.
const CROWDS: [(usize, usize, f64); 3] = [(1, 1_000, 100.0), (8, 3_000, 200.0), (32, 3_000, 200.0)];
/// Longer than anything that is measured here.
const SILENCE: Duration = Duration::from_mins(1);
/// Items of a whole fleet.
const ITEMS: usize = 12;
/// From a result in the log to the word that it has landed, with a guardrail that does nothing.
const MAX_LANDING: Duration = Duration::from_secs(1);
/// One item of a whole fleet, with everything from its claim to the next.
const MAX_ITEM: Duration = Duration::from_secs(3);

/// Measures how many items go through a board.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let tools = Tools::find()?;
    for (workers, items, least) in CROWDS {
        let items = effort.rounds(items);
        let crowd = crowd(place, &tools, workers, items)?;
        let who =
            if workers == 1 { "1 worker that does".to_owned() } else { format!("{workers} workers that do") };
        table.rate(&format!("board: {who} nothing, items landed"), crowd.rate, least);
        table.note(format!(
            "board, {items} items by {workers} workers: from one landing to the next {} (median), at most {}; posted {:.0} a second",
            seconds(crowd.usual),
            seconds(crowd.slowest),
            crowd.posted
        ));
    }
    let items = effort.rounds(ITEMS);
    let (handed_in, each) = whole(place, &tools, items, 1)?;
    let (_, beside) = whole(place, &tools, items, 4)?;
    table.time("fleet on a board: from handed in to landed", handed_in, MAX_LANDING);
    table.time("  each item of a worker with 1 lane, agent at once", each, MAX_ITEM);
    table.time("  each item of a worker with 4 lanes, the same", beside, MAX_ITEM);
    table.note(format!(
        "fleets on a board: {items} items; nats-server with `{}`",
        STREAMS.trim_start_matches(", ")
    ));
    Ok(())
}

/// How a crowd worked off its items.
struct Crowd {
    /// Items landed and posted in a second.
    rate: f64,
    posted: f64,
    /// Seconds between two that landed.
    usual: f64,
    slowest: f64,
}

fn crowd(place: &Place, tools: &Tools, workers: usize, items: usize) -> Result<Crowd> {
    place.renew()?;
    let server = server(tools)?;
    set_up(tools, &server.url(), SILENCE, 1)?;
    let times = work_off(place, tools, &server.url(), (workers, items))?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let count = items as f64;
    // The first one waits until all workers are connected.
    let first = times.landed.first().context("nothing has landed")?;
    let last = times.landed.last().unwrap_or(first);
    let gaps = || times.landed.windows(2).map(|pair| pair[1] - pair[0]);
    Ok(Crowd {
        rate: (count - 1.0) / (last - first),
        posted: count / (times.posted - times.begun),
        usual: median(gaps()),
        slowest: gaps().fold(0.0, f64::max),
    })
}

/// When a crowd began, had posted everything, and landed each item.
struct Times {
    begun: f64,
    posted: f64,
    landed: Vec<f64>,
}

fn work_off(place: &Place, tools: &Tools, url: &str, (workers, items): (usize, usize)) -> Result<Times> {
    let begun = field::now();
    let mut process = start_crowd(place, tools, url, (workers, items))?;
    process.ends_with(0)?;
    times(&place.current("crowd"), items, begun)
}

fn start_crowd(place: &Place, tools: &Tools, url: &str, (workers, items): (usize, usize)) -> Result<Process> {
    let mut crowd = place.command(&tools.crowd)?;
    crowd.args(["work", url, "f", &workers.to_string(), &items.to_string()]);
    crowd.stdout(Stdio::from(fs_err::File::create(place.current("crowd"))?.into_file()));
    Process::start(&mut crowd)
}

fn times(said: &Path, items: usize, begun: f64) -> Result<Times> {
    let all = entries(said);
    let posted = all.iter().find(|entry| entry.step == "posted").context("nothing was posted")?.at;
    let landed: Vec<f64> = all.iter().filter(|entry| entry.step == "landed").map(|entry| entry.at).collect();
    ensure!(landed.len() == items, "{} of {items} have landed", landed.len());
    Ok(Times { begun, posted, landed })
}

/// Medians of a whole fleet, in seconds: from handed in to landed; and what one item takes.
fn whole(place: &Place, tools: &Tools, items: usize, lanes: u32) -> Result<(f64, f64)> {
    let field = Field::new(place, tools, server(tools)?, SILENCE)?;
    let agent = field.agent("date +%N >folder-0/file-$$")?;
    let mut fleet = field.start_fleet(&agent, items)?;
    let watch = field.watch()?;
    let _worker = field.start_worker(1, &agent, &field.server.url(), lanes)?;
    fleet.ends_with(0)?;
    let all = watch.until("everything to land", |all| {
        (all.iter().filter(|entry| entry.step == "merged").count() == items).then(|| all.to_vec())
    })?;
    let at = |step: &str, item: &str| {
        let is_it = |entry: &&Entry| entry.step == step && entry.item == item;
        all.iter().rev().find(is_it).map(|entry| entry.at)
    };
    let landed: Vec<&Entry> = all.iter().filter(|entry| entry.step == "merged").collect();
    let waits = landed.iter().filter_map(|entry| Some(entry.at - at("done", &entry.item)?));
    let first = all.iter().find(|entry| entry.step == "claimed").context("nothing was claimed")?.at;
    let last = landed.last().context("nothing has landed")?.at;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let each = (last - first) / items as f64;
    Ok((median(waits), each))
}
