//! The faults, one row each.

use std::{
    io::pipe,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;
use serde_json::Value;

use super::{
    night::Chance,
    table::Lacking,
    world::{World, poll},
};

/// One fault, and how often it is tried.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) trials: usize,
    pub(super) trial: fn(&Path, &mut Chance) -> Result<()>,
}

const RUN: [&str; 3] = ["run", "-p", "x"];
/// A run is in the middle of something within this time.
const SOON: Duration = Duration::from_millis(900);

/// All of them.
pub(super) const ROWS: &[Row] = &[
    Row { name: "kills: -9 at any moment", trials: 10, trial: |ralph, chance| killed(ralph, chance, 1) },
    Row { name: "kills: -9 three times", trials: 4, trial: |ralph, chance| killed(ralph, chance, 3) },
    Row { name: "kills: everything at once", trials: 4, trial: all_killed },
    Row { name: "cuts: the power at any moment", trials: 4, trial: power_cut },
    Row { name: "hangs: a guardrail", trials: 1, trial: hanging_guardrail },
    Row { name: "hangs: stopped and continued", trials: 2, trial: stopped },
    Row { name: "orphans: of the agent", trials: 1, trial: orphans },
    Row { name: "disks: full", trials: 1, trial: full_disk },
    Row { name: "limits: an agent without end", trials: 1, trial: endless_agent },
    Row { name: "clocks: a record of the future", trials: 1, trial: of_the_future },
    Row { name: "concurrency: another loop in the tree", trials: 1, trial: two_loops },
    Row { name: "junk: from the agent", trials: 1, trial: junk_from_agent },
    Row { name: "junk: behind the record", trials: 1, trial: junk_in_record },
    Row {
        name: "repositories: no branch",
        trials: 1,
        trial: |ralph, _| odd_repository(ralph, &["checkout", "-q", "--detach"]),
    },
    Row {
        name: "repositories: packed refs",
        trials: 1,
        trial: |ralph, _| odd_repository(ralph, &["pack-refs", "--all"]),
    },
    Row { name: "locks: of a git that is gone", trials: 2, trial: stale_locks },
    Row { name: "unread: a reader that sleeps", trials: 1, trial: unread },
    Row { name: "long runs: 150 iterations", trials: 1, trial: long_run },
];

fn killed(ralph: &Path, chance: &mut Chance, times: usize) -> Result<()> {
    let world = World::new(ralph)?;
    for nth in 0..times {
        let is_begun = world.events("run_started").is_ok_and(|it| !it.is_empty());
        let mut ralph = world.start(if nth == 0 || !is_begun { &RUN } else { &["resume"] })?;
        thread::sleep(chance.moment(SOON));
        ralph.kill()?;
        ralph.wait()?;
        world.nothing_left()?;
    }
    world.recovers()
}

fn all_killed(ralph: &Path, chance: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    let mut ralph = world.start(&RUN)?;
    thread::sleep(chance.moment(SOON));
    world.end_all();
    ralph.wait()?;
    world.end_all();
    world.recovers()
}

/// Calls a program of the administrator.
fn call(program: &str, flags: &[&str], paths: &[&Path]) -> Result<()> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(program);
    let status = command.env("PATH", path).args(flags).args(paths).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Lacking(format!("`{program}` does not work here")).into()),
    }
}

/// Something mounted, for as long as it is held.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = call("umount", &["--lazy"], &[&self.0]);
    }
}

fn power_cut(ralph: &Path, chance: &mut Chance) -> Result<()> {
    let world = World::bare(ralph)?;
    let (image, copy, at) = (world.path("disk.img"), world.path("copy.img"), world.path("disk"));
    fs_err::File::create(&image)?.set_len(48 << 20)?;
    call("mkfs.ext4", &["-q", "-F"], &[&image])?;
    let mount = |image: &Path| -> Result<Mounted> {
        call("mount", &["-o", "loop,commit=300"], &[image, &at])?;
        Ok(Mounted(at.clone()))
    };
    let mounted = mount(&image)?;
    world.begin()?;
    call("sync", &["--file-system"], &[&at])?;
    let mut child = world.start(&RUN)?;
    thread::sleep(chance.moment(SOON));
    world.signal_all(Signal::STOP);
    world.signal_all(Signal::STOP);
    fs_err::copy(&image, &copy)?;
    world.end_all();
    child.wait()?;
    world.nothing_left()?;
    drop(mounted);
    let _mounted = mount(&copy)?;
    // What the agent wrote and no one synced is gone, and it does not have to be: the run goes on all the same.
    world.recovers()
}

fn hanging_guardrail(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    let code =
        world.run(&["run", "-p", "x", "--no-baseline", "--max-time", "2s", "--guardrail", "sleep 600"])?;
    ensure!(code == 1, "it exits with {code} at its limit");
    world.nothing_left()
}

fn stopped(ralph: &Path, chance: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    let ralph = world.start(&RUN)?;
    thread::sleep(chance.moment(SOON));
    world.signal_all(Signal::STOP);
    thread::sleep(Duration::from_millis(300));
    world.signal_all(Signal::CONT);
    let code = world.ends(ralph)?;
    ensure!(code == 0, "it exits with {code}");
    world.is_whole()
}

fn orphans(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    world.agent("setsid sleep 600 & (sleep 600 &); echo line >>work.txt; echo Hm.")?;
    let code = world.run(&["run", "-p", "x", "-m", "2"])?;
    ensure!(code == 1, "it exits with {code} at its limit");
    world.nothing_left()
}

fn full_disk(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::bare(ralph)?;
    call("mount", &["-t", "tmpfs", "-o", "size=3m", "ralph-faults"], &[&world.path("disk")])?;
    let _mounted = Mounted(world.path("disk"));
    world.begin()?;
    let ballast = world.path("disk/ballast");
    let script = format!("head -c 9000000 /dev/zero >{}; echo line >>work.txt; echo Hm.", ballast.display());
    world.agent(&script)?;
    // It ends, however that goes.
    world.run(&["run", "-p", "x", "-m", "3"])?;
    world.nothing_left()?;
    fs_err::remove_file(ballast)?;
    world.git(&["fsck", "--strict", "--no-dangling"])?;
    world.agent("echo line >>work.txt; echo '<response>DONE</response>'")?;
    let code = world.run(&RUN)?;
    ensure!(code == 0, "a run on a disk with room exits with {code}");
    Ok(())
}

fn endless_agent(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    world.agent("trap '' TERM INT; while :; do echo more; sleep 1; done")?;
    let code = world.run(&["run", "-p", "x", "--max-time", "1s", "--retries", "0"])?;
    ensure!(code == 1, "it exits with {code} at its limit");
    world.nothing_left()
}

fn of_the_future(ralph: &Path, chance: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    let mut child = world.start(&RUN)?;
    poll("a turn", || Ok(world.events("turn_ended").is_ok_and(|it| !it.is_empty()).then_some(())))?;
    thread::sleep(chance.moment(SOON));
    child.kill()?;
    child.wait()?;
    world.nothing_left()?;
    let journal = world.journal()?;
    let text = fs_err::read_to_string(&journal)?;
    let future = text.lines().filter_map(|line| {
        let mut event: Value = serde_json::from_str(line).ok()?;
        let at = event["at"].as_str()?.get(4..)?.to_owned();
        event["at"] = format!("2099{at}").into();
        // As an older version would have written it: the chain knows what its own clock said.
        event.as_object_mut()?.remove("chain");
        Some(format!("{event}\n"))
    });
    fs_err::write(&journal, future.collect::<String>())?;
    world.recovers()
}

fn two_loops(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    let first = world.start(&RUN)?;
    poll("a turn", || Ok(world.events("turn_started").is_ok_and(|it| !it.is_empty()).then_some(())))?;
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(world.start(&RUN)?);
        ensure!(world.run(&["status"])? == 0, "status does not work beside a run");
    }
    let codes = others.into_iter().map(|other| world.ends(other)).collect::<Result<Vec<_>>>()?;
    ensure!(world.ends(first)? == 0, "the first loop did not end well");
    // One that waited for the end of the first may have found everything done.
    ensure!(codes.iter().all(|code| [0, 2].contains(code)), "the others exit with {codes:?}");
    world.nothing_left()
}

fn junk_from_agent(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    world.agent(
        "head -c 2000000 /dev/urandom; head -c 3000000 /dev/zero; head -c 500000 /dev/urandom >&2
         for i in 1 2 3; do echo line >>work.txt; done; echo; echo '<response>DONE</response>'",
    )?;
    let code = world.run(&RUN)?;
    ensure!(code == 0, "it exits with {code}");
    world.is_whole()
}

fn junk_in_record(ralph: &Path, chance: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    let mut child = world.start(&RUN)?;
    poll("a turn", || Ok(world.events("turn_ended").is_ok_and(|it| !it.is_empty()).then_some(())))?;
    child.kill()?;
    child.wait()?;
    world.nothing_left()?;
    let mut junk: Vec<u8> = (0..500).map(|_| u8::try_from(chance.below(256)).unwrap_or(0)).collect();
    junk.retain(|byte| *byte != b'\n');
    let journal = world.journal()?;
    let text = [fs_err::read(&journal)?, junk].concat();
    fs_err::write(&journal, text)?;
    world.recovers()
}

fn odd_repository(ralph: &Path, git: &[&str]) -> Result<()> {
    let world = World::new(ralph)?;
    world.git(git)?;
    let code = world.run(&RUN)?;
    ensure!(code == 0, "it exits with {code}");
    world.is_whole()
}

fn stale_locks(ralph: &Path, chance: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    let mut child = world.start(&RUN)?;
    thread::sleep(chance.moment(SOON));
    child.kill()?;
    child.wait()?;
    world.nothing_left()?;
    let branch = world.git(&["symbolic-ref", "HEAD"])?;
    for name in ["HEAD", "index", "next-index-2", "packed-refs", branch.trim()] {
        let lock = fs_err::File::create(world.project().join(format!(".git/{name}.lock")))?;
        // Of a git that ran before the machine was started.
        lock.file().set_modified(SystemTime::UNIX_EPOCH + Duration::from_hours(1))?;
    }
    world.recovers()
}

fn unread(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    world.agent(
        "yes 'a line of forty characters and its end..' | head -n 300000
         for i in 1 2 3; do echo line >>work.txt; done; echo '<response>DONE</response>'",
    )?;
    let (reader, writer) = pipe().context("a pipe")?;
    let mut command = world.ralph(&RUN);
    let child = command.stderr(writer.try_clone()?).stdout(writer).spawn()?;
    drop(command);
    let code = world.ends(child)?;
    drop(reader);
    ensure!(code == 0, "it exits with {code}");
    world.is_whole()
}

fn long_run(ralph: &Path, _: &mut Chance) -> Result<()> {
    let world = World::new(ralph)?;
    world.agent("echo line >>work.txt; echo Hm.")?;
    let code = world.run(&["run", "-p", "x", "-m", "150"])?;
    ensure!(code == 1, "it exits with {code} at its limit");
    let left = fs_err::read_dir(world.project().join(".ralph"))?.count();
    ensure!(left < 250, "{left} files are in .ralph");
    ensure!(world.events("turn_ended")?.len() == 150, "turns are missing");
    world.nothing_left()
}
