//! The power is cut: what others were told is on the disk, and a resume goes on from there.
//!
//! On a file system of its own, in a file: what that file has at some moment is what a disk has when the power goes. The file
//! system is told to write nothing by itself, so only what ralph and git ask for is there.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::env::{Env, RALPH, done, kill, say, shell, skip};

/// What others act on.
const ACTED_ON: [&str; 4] = ["turn_ended", "gate_ended", "commit_ended", "run_ended"];

/// A file system in a file, mounted.
struct Disk {
    image: PathBuf,
    at: PathBuf,
}

impl Disk {
    /// An empty one; nothing where this user may not mount.
    fn new(root: &Path) -> Option<Self> {
        let disk = Self { image: root.join("disk.img"), at: root.join("disk") };
        fs::create_dir(&disk.at).expect("a folder");
        fs::File::create(&disk.image).and_then(|it| it.set_len(48 << 20)).expect("a file");
        let made =
            call("mkfs.ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"], &[&disk.image]);
        (made && disk.mount(&disk.image)).then_some(disk)
    }

    fn mount(&self, image: &Path) -> bool {
        call("mount", &["-o", "loop,commit=300"], &[image, &self.at])
    }

    /// Takes the file system away as it is, and puts this one into its place.
    fn replace_by(&self, image: &Path) {
        assert!(call("umount", &[], &[&self.at]), "it is in use");
        assert!(self.mount(image), "it cannot be mounted");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        call("umount", &["--lazy"], &[&self.at]);
    }
}

fn call(program: &str, flags: &[&str], paths: &[&Path]) -> bool {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let status =
        Command::new(program).env("PATH", path).args(flags).args(paths).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Three iterations, each with a guardrail and a commit.
fn world() -> Option<(Env, Disk)> {
    let env = Env::new();
    let Some(disk) = Disk::new(env.root()) else {
        skip("this user cannot mount a file system in a file");
        return None;
    };
    let work = |number: u32| shell(&format!("echo 1 >file-1.txt; echo {number} >file-{number}.txt"));
    let state = disk.at.join("state").display().to_string();
    let env = env
        .variable("RALPH_STATE_DIR", &state)
        .project_at(disk.at.join("project"))
        .with_git()
        .commits()
        .guardrails(&["test -e file-1.txt"])
        .script(json!({
            "turns": [[work(1), say("Hm.")], [work(2), say("Hm.")], [work(3), done()]],
            "text": [[say("Add one")], [say("Add two")], [say("Add three")]],
        }));
    // As it was long ago.
    assert!(call("sync", &["--file-system"], &[&disk.at]));
    Some((env, disk))
}

/// Stops everything of a run for a moment.
fn hold(env: &Env, signal: Signal) {
    for (pid, _) in env.alive() {
        kill(pid, signal);
    }
}

/// What the run said when the power was cut, with what the disk had then.
fn cuts(env: &Env, disk: &Disk) -> Vec<(Vec<Value>, PathBuf)> {
    let mut command = env.command(RALPH);
    let args = ["run", "-p", "x", "--output", "json", "--no-baseline"];
    let mut ralph = command.args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("ralph");
    let (mut said, mut cuts) = (Vec::new(), Vec::new());
    for line in BufReader::new(ralph.stdout.take().expect("its output")).lines() {
        let event: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let is_acted_on = ACTED_ON.iter().any(|kind| event["event"] == *kind);
        said.push(event);
        if is_acted_on {
            // Twice: one that is just being started has what stops it from the second time on.
            hold(env, Signal::STOP);
            hold(env, Signal::STOP);
            let copy = disk.image.with_file_name(format!("cut-{}.img", cuts.len()));
            fs::copy(&disk.image, &copy).expect("a copy");
            hold(env, Signal::CONT);
            cuts.push((said.clone(), copy));
        }
    }
    assert_eq!(ralph.wait().expect("its end").code(), Some(0));
    env.nothing_left();
    cuts
}

/// The events of each kind that others act on.
fn acted_on(events: &[Value]) -> BTreeMap<&str, usize> {
    let count = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    ACTED_ON.iter().map(|kind| (*kind, count(kind))).collect()
}

fn folder(path: PathBuf) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The only journal on the disk, if it is there.
fn journal(disk: &Disk) -> Option<PathBuf> {
    let mut runs = folder(disk.at.join("state")).flat_map(|project| folder(project.join("runs")));
    runs.find_map(|run| Some(run.join("journal.jsonl")).filter(|journal| journal.exists()))
}

/// Has all that is on the disk have happened before this machine was started, as it is after a power cut.
fn age(disk: &Disk) {
    let Some(journal) = journal(disk) else { return };
    let text = fs::read(&journal).expect("a journal");
    let lines = text.split_inclusive(|byte| *byte == b'\n').filter_map(|line| {
        let mut event: Value = serde_json::from_slice(line).ok()?;
        event["at"] = format!("2001{}", &event["at"].as_str()?[4..]).into();
        // As an older version would have written it: the chain knows what its own clock said.
        event.as_object_mut()?.remove("chain");
        Some(format!("{event}\n"))
    });
    fs::write(&journal, lines.collect::<String>()).expect("a journal");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for file in folder(disk.at.join("project")).filter(|path| path.is_file()) {
        fs::File::open(file).and_then(|file| file.set_modified(long_ago)).expect("a file");
    }
}

/// The whole lines of the only journal on the disk.
fn recorded(disk: &Disk) -> Vec<Value> {
    let text = journal(disk).and_then(|journal| fs::read(journal).ok()).unwrap_or_default();
    let whole = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    whole.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[test]
fn what_others_were_told_is_on_the_disk_when_the_power_is_cut() {
    let Some((env, disk)) = world() else { return };
    let cuts = cuts(&env, &disk);
    let mut is_torn = false;
    assert_eq!(cuts.len(), 10, "a turn, a guardrail and a commit of three iterations, and the end");
    for (said, image) in cuts {
        disk.replace_by(&image);
        let told = acted_on(&said);
        let recorded = recorded(&disk);
        for (kind, count) in acted_on(&recorded) {
            assert!(told[kind] <= count, "{count} of {} {kind} are on the disk", told[kind]);
        }
        let made = said.iter().filter(|event| event["event"] == "commit_ended").count();
        env.git(&["fsck", "--strict", "--no-dangling"]);
        assert!(made < env.commits_made().len(), "a commit that was reported is lost");
        if told["run_ended"] == 1 {
            env.ralph(&["resume"]).exits(2).says("is complete");
            continue;
        }
        let before = acted_on(&recorded)["turn_ended"];
        let had = env.git(&["ls-tree", "--name-only", "HEAD"]);
        age(&disk);
        is_torn |= env.ralph(&["resume"]).exits(0).stderr.contains("a power cut took the contents of files");
        let turns = acted_on(&self::recorded(&disk))["turn_ended"];
        assert!(before <= turns, "a turn that was paid for is forgotten");
        env.git(&["fsck", "--strict", "--no-dangling"]);
        assert_eq!(env.git(&["status", "--porcelain", "--", ":!.ralph"]), "");
        for number in (1..=3).filter(|number| had.contains(&format!("file-{number}.txt"))) {
            let file = env.git(&["show", &format!("HEAD:file-{number}.txt")]);
            assert_eq!(file, format!("{number}\n"), "a later commit took back what an earlier one has");
        }
    }
    assert!(is_torn, "no cut came between a file and the disk");
}
