//! What ralph costs in repositories: a commit of very many files, a tree of very many files, a run of very many iterations.

use std::{os::unix::fs::PermissionsExt, path::Path};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    Effort,
    clock::{self, median},
    judge::furnish,
    place::Place,
    table::{Table, seconds},
};

/// As many files as a generator writes at once.
const NEW: usize = 20_000;
/// As many as a large project has.
const LARGE: usize = 50_000;
/// Iterations of a run that was left for days.
const LONG: usize = 5_000;
/// So many are compared at its begin and at its end.
const SOME: usize = 100;
/// Iterations in a large project: what one takes is a slope.
const FEW: u32 = 2;
const MANY: u32 = 6;
/// Each iteration changes a file and says so; asked for a message, the agent answers.
const AGENT: &str = "#!/bin/sh\nread -r prompt; echo \"$prompt\" >>folder-0/file-0; echo Hm.\n";

/// Measures a commit of new files, against `git add` and `git commit`.
pub(super) fn measure_commit(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let rounds = effort.rounds(8);
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let script = format!(
            "#!/bin/sh\ncat >/dev/null; mkdir -p new; cd new; test -e 1 || seq {NEW} | xargs touch; echo Hm.\n"
        );
        place.renew()?;
        furnish(place, 1)?;
        let agent = program(place, &script)?;
        clock::run(&mut place.command(&agent)?, 0)?;
        let script = ["-ec", "git add --all && git commit --quiet --message new"];
        bare.push(clock::run(place.command(Path::new("sh"))?.args(script), 0)?.seconds);

        place.renew()?;
        furnish(place, 1)?;
        committing(place, &agent, 1)?;
        let events = events(place)?;
        let at = |kind: &str| {
            events.iter().find(|it| it.event == kind).context("an event is missing").map(|it| it.at)
        };
        ours.push(at("commit_ended")?.duration_since(at("turn_ended")?).as_secs_f64());
        ensure!(listed(place)? == NEW + 1, "not all files are committed");
    }
    let (bare, ours) = (median(bare.into_iter()), median(ours.into_iter()));
    table.ratio("a commit of 20,000 new files, against git", bare, ours, 2.0);
    table.note(format!("commit, {rounds} rounds: from the end of the turn to the end of the commit"));
    Ok(())
}

/// Measures iterations that commit in a large repository, against a loop of bash that does the same with git.
pub(super) fn measure_large(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    place.renew()?;
    furnish(place, LARGE)?;
    let agent = program(place, AGENT)?;
    let bare = |count: u32| {
        let work = "echo x | \"$0\"; git add --all; git commit --quiet --message x";
        place.bash(&format!("for ((i = 0; i < {count}; i++)); do {work}; done"), &agent)
    };
    let ours = |count: u32| committing(place, &agent, count);
    let ([bare_few, ours_few, bare_many, ours_many], note) = clock::interleave(
        effort.rounds(12),
        [
            ("bash x 2", Box::new(|| bare(FEW))),
            ("ralph x 2", Box::new(|| ours(FEW))),
            ("bash x 6", Box::new(|| bare(MANY))),
            ("ralph x 6", Box::new(|| ours(MANY))),
        ],
    )?;
    let each = |many: clock::Sample, few: clock::Sample| (many.seconds - few.seconds) / f64::from(MANY - FEW);
    table.ratio(
        "iteration with a commit, 50,000 files, against git",
        each(bare_many, bare_few),
        each(ours_many, ours_few),
        1.5,
    );
    table.note(format!("50,000 files, {note}"));
    Ok(())
}

/// Measures the last iterations of a very long run in a repository, against the first.
pub(super) fn measure_long(place: &Place, _effort: Effort, table: &mut Table) -> Result<()> {
    place.renew()?;
    furnish(place, 1)?;
    // One that changes nothing would be stopped.
    let agent = program(place, AGENT)?;
    let mut ralph = place.ralph()?;
    ralph.args(["run", "-p", "x", "--output", "json", "--max-iterations", &LONG.to_string(), "--agent"]);
    clock::run(ralph.arg(&agent), 1)?;
    let starts: Vec<Timestamp> =
        events(place)?.iter().filter(|it| it.event == "turn_started").map(|it| it.at).collect();
    ensure!(starts.len() == LONG, "{} iterations", starts.len());
    let took = |part: &[Timestamp]| {
        median(part.windows(2).map(|pair| pair[1].duration_since(pair[0]).as_secs_f64()))
    };
    let (first, last) = (took(&starts[..SOME]), took(&starts[LONG - SOME..]));
    table.ratio("iterations 4,901-5,000 in a repository, against 1-100", first, last, 1.2);
    let kept = fs_err::read_dir(place.current("project/.ralph"))?.count();
    table.note(format!(
        "5,000 iterations: medians {} and {}; `.ralph/` keeps {kept} files",
        seconds(first),
        seconds(last)
    ));
    Ok(())
}

/// A whole run that commits what each iteration changes; its events are its output.
fn committing(place: &Place, agent: &Path, iterations: u32) -> Result<clock::Sample> {
    fs_err::create_dir_all(place.current("project/.ralph"))?;
    fs_err::write(place.current("project/.ralph/settings.json"), "{\"scm\": {\"tasks\": [\"commit\"]}}\n")?;
    let mut ralph = place.ralph()?;
    ralph.args([
        "run",
        "-p",
        "x",
        "--output",
        "json",
        "--max-iterations",
        &iterations.to_string(),
        "--agent",
    ]);
    clock::run(ralph.arg(agent), 1)
}

/// A program of the current run, outside of its project.
fn program(place: &Place, script: &str) -> Result<std::path::PathBuf> {
    let path = place.current("agent.sh");
    fs_err::write(&path, script)?;
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// How many files the last commit has, without ralph's own.
fn listed(place: &Place) -> Result<usize> {
    clock::run(place.command(Path::new("git"))?.args(["ls-tree", "-r", "--name-only", "HEAD"]), 0)?;
    let listed = fs_err::read_to_string(place.current("stdout"))?;
    Ok(listed.lines().filter(|line| !line.starts_with(".ralph/")).count())
}

/// An event of a run.
#[derive(Deserialize)]
struct Happened {
    at: Timestamp,
    event: String,
}

/// What the last run printed.
fn events(place: &Place) -> Result<Vec<Happened>> {
    let text = fs_err::read_to_string(place.current("stdout"))?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}
