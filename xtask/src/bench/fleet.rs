//! What a fleet costs: until a lane works, until its work has landed, what many lanes take of the machine, and how close
//! ten stories come to the time that they must take.

use std::{
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Effort,
    clock::{self, median},
    judge::furnish,
    place::Place,
    table::{Table, seconds},
};

/// As many files as a large project has, and as a small one has.
const LARGE: usize = 50_000;
const SMALL: usize = 100;
const LANES: u32 = 16;
/// From a candidate to its commit on the branch, with a guardrail that does nothing.
const MAX_LANDING: Duration = Duration::from_millis(400);
const MAX_LARGE_LANDING: Duration = Duration::from_secs(3);
/// From the claim to the first turn, in a lane that is used again.
const MAX_REUSE: Duration = Duration::from_secs(3);

/// Measures how long it takes until a lane works, and until its work has landed.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let large = lane(place, effort.rounds(4), LARGE)?;
    table.ratio(
        "a new lane, 50,000 files, against git clone with own objects",
        large.clone,
        large.fresh,
        3.0,
    );
    table.time("  a lane that is used again, until the agent works", large.reused, MAX_REUSE);
    table.ratio(
        "  the first landing, which clones the judge, against the same",
        large.clone,
        large.first,
        3.0,
    );
    table.time("  landing, beside the guardrails", large.landing, MAX_LARGE_LANDING);
    let small = lane(place, effort.rounds(8), SMALL)?;
    table.time("landing, 100 files, beside the guardrails", small.landing, MAX_LANDING);
    table.note(format!(
        "lanes, 100 files: git clone {}, a new lane {}, one that is used again {}, the first landing {}",
        seconds(small.clone),
        seconds(small.fresh),
        seconds(small.reused),
        seconds(small.first)
    ));
    Ok(())
}

/// Medians, in seconds.
struct LaneTimes {
    clone: f64,
    fresh: f64,
    reused: f64,
    /// Landings that make the judge, and those that find it.
    first: f64,
    landing: f64,
}

fn lane(place: &Place, rounds: usize, files: usize) -> Result<LaneTimes> {
    place.renew()?;
    furnish(place, files)?;
    let begun = place.current("begun");
    let script = format!(
        "case \"$(cat)\" in *'commit message'*) echo More; exit ;; esac\ndate +%s%N >{}\n\
         date +%N >>folder-0/file-0; echo '<response>DONE</response>'",
        begun.display()
    );
    let agent = program(place, "agent", &script)?;
    let (mut clones, mut fresh, mut reused) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut landings) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let copy = place.current(&format!("copy-{round}"));
        let words = ["clone", "--quiet", "--no-hardlinks", "."];
        clones.push(clock::run(place.command(Path::new("git"))?.args(words).arg(&copy), 0)?.seconds);
        fs_err::remove_dir_all(copy)?;
        for is_fresh in [true, false] {
            let mut fleet = place.ralph()?;
            fleet.args(["fleet", "run", "More.", "--sandbox", "none", "--no-baseline", "--output", "json"]);
            clock::run(fleet.args(["--guardrail", "true", "--agent"]).arg(&agent), 0)?;
            let events = events(place)?;
            let nanoseconds: f64 = fs_err::read_to_string(&begun)?.trim().parse()?;
            let took = nanoseconds / 1e9 - at(&events, "claimed")?;
            let landing = at(&events, "merged")? - at(&events, "done")?;
            if is_fresh {
                fresh.push(took);
                first.push(landing);
            } else {
                reused.push(took);
                landings.push(landing);
            }
        }
        for project in fs_err::read_dir(place.current("state"))?.flatten() {
            // The next one begins without a lane and without a judge.
            for name in ["lanes", "judge"] {
                let _ = fs_err::remove_dir_all(project.path().join(name));
            }
        }
    }
    let middle = |values: Vec<f64>| median(values.into_iter());
    Ok(LaneTimes {
        clone: middle(clones),
        fresh: middle(fresh),
        reused: middle(reused),
        first: middle(first),
        landing: middle(landings),
    })
}

/// Measures sixteen lanes whose agents do nothing for most of the time.
pub(super) fn measure_crowd(place: &Place, _effort: Effort, table: &mut Table) -> Result<()> {
    place.renew()?;
    furnish(place, SMALL)?;
    let record = place.current("begun");
    let script = format!(
        "prompt=$(cat)\ncase \"$prompt\" in *'commit message'*) echo More; exit ;; esac\necho >>{0}\n\
         sleep 0.5; until test -e {0}.go; do sleep 0.2; done\n\
         echo more >$RALPH_LANE; echo '<response>DONE</response>'",
        record.display()
    );
    let agent = program(place, "agent", &script)?;
    let prompts: Vec<PathBuf> =
        (0..LANES).map(|number| place.current(&format!("task-{number}.md"))).collect();
    for prompt in &prompts {
        fs_err::write(prompt, "More.\n")?;
    }
    let mut fleet = place.ralph()?;
    fleet.args(["fleet", "run", "--lanes", &LANES.to_string(), "--sandbox", "none", "--no-baseline"]);
    fleet.args(["--guardrail", "true", "--output", "json", "--agent"]).arg(&agent).args(&prompts);
    let started = Instant::now();
    let child = fleet.spawn()?;
    let deadline = started + Duration::from_mins(5);
    let count = || fs_err::read_to_string(&record).map_or(0, |text| text.lines().count());
    while count() < LANES as usize {
        ensure!(Instant::now() < deadline, "the lanes do not begin");
        thread::sleep(Duration::from_millis(20));
    }
    let memory = memory_of(&place.current("state"))?;
    let idle = cpu_of(&place.current("state"))?;
    let since = Instant::now();
    thread::sleep(Duration::from_secs(3));
    let idle = (cpu_of(&place.current("state"))? - idle) / since.elapsed().as_secs_f64();
    fs_err::write(record.with_extension("go"), "")?;
    let whole = clock::wait_for(&child, 0, started)?;
    let lanes = f64::from(LANES);
    table.memory("16 lanes: memory of ralph for each (shared parts divided)", memory / lanes, 20.0);
    table.percent("  processor while agents work, of one core for each", idle / lanes, 0.02);
    table.time(
        "  processor time of one item, from clone to landing",
        whole.cpu / lanes,
        Duration::from_secs(2),
    );
    table.note(format!("16 lanes: 16 prompts landed in {}", seconds(whole.seconds)));
    Ok(())
}

/// Measures ten stories with a diamond in four lanes, against the time that they cannot be faster than.
pub(super) fn measure_stories(place: &Place, _effort: Effort, table: &mut Table) -> Result<()> {
    // B and C wait for A, D for both.
    let work =
        [("A", 2), ("B", 3), ("C", 2), ("D", 2), ("E", 5), ("F", 4), ("G", 3), ("H", 3), ("I", 2), ("J", 1)];
    let critical = 2 + 3 + 2;
    let sum: u32 = work.iter().map(|(_, seconds)| seconds).sum();
    let bound = f64::from(critical).max(f64::from(sum) / 4.0);
    place.renew()?;
    furnish(place, SMALL)?;
    let stories = work.map(|(id, _)| {
        let after = match id {
            "B" | "C" => json!(["A"]),
            "D" => json!(["B", "C"]),
            _ => json!([]),
        };
        json!({
            "id": id, "title": id, "description": "", "acceptanceCriteria": ["it is there"], "priority": 1, "passes": false,
            "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": "a file", "dependsOn": after,
        })
    });
    let list =
        json!({"project": "bench", "branchName": "main", "description": "ten", "userStories": stories});
    let project = place.current("project");
    fs_err::create_dir(project.join("ralph"))?;
    fs_err::write(project.join("ralph/tasks.json"), format!("{list:#}\n"))?;
    fs_err::write(project.join("ralph/prd.md"), "# Ten files\n")?;
    fs_err::write(project.join("ralph/prompt.md"), "Work on {{STORY_ID}}.\n")?;
    for (id, seconds) in work {
        fs_err::write(project.join(format!("work-{id}")), format!("sleep {seconds}; echo {id} >{id}.txt\n"))?;
    }
    for words in [&["add", "--all"][..], &["commit", "--quiet", "-m", "stories"]] {
        clock::run(place.command(Path::new("git"))?.args(words), 0)?;
    }
    let agent = program(
        place,
        "agent",
        "story=$(sed -n 's/^Work on \\(.\\)\\..*/\\1/p' | head -n 1)\n. ./work-$story\n\
         sed -i \"/\\\"id\\\": \\\"$story\\\"/,/\\\"reviewFeedback\\\"/ s/\\\"passes\\\": false/\\\"passes\\\": true/\" ralph/tasks.json\n\
         git add -A && git commit --quiet -m $story; echo Well.",
    )?;
    fs_err::create_dir_all(project.join(".ralph"))?;
    fs_err::write(
        project.join(".ralph/settings.json"),
        json!({"stories": {"skipReview": true}}).to_string(),
    )?;
    let mut fleet = place.ralph()?;
    fleet.args(["fleet", "--lanes", "4", "--sandbox", "none", "--no-baseline", "--output", "json"]);
    let whole = clock::run(fleet.args(["--guardrail", "true", "--agent"]).arg(&agent), 0)?;
    let judged = landing_guardrails(place, work.len())?;
    let took = whole.seconds - judged;
    table.ratio("ten stories, a diamond, 4 lanes: against what they must take", bound, took, 1.3);
    table.note(format!(
        "ten stories of {sum} s in all, the longest chain {critical} s: {}, of which the guardrails of ten landings took {}",
        seconds(whole.seconds),
        seconds(judged)
    ));
    Ok(())
}

/// What the guardrails of the last landings took, by their receipts.
fn landing_guardrails(place: &Place, landings: usize) -> Result<f64> {
    let mut sum = 0.0;
    for number in 0..landings {
        // No one has signed them.
        clock::run(place.ralph()?.args(["verify", &format!("HEAD~{number}"), "--json"]), 2)?;
        let said: Value = serde_json::from_str(&fs_err::read_to_string(place.current("stdout"))?)?;
        let guardrails = said["statement"]["predicate"]["guardrails"].as_array().context("guardrails")?;
        let ms = guardrails.iter().filter_map(|it| it["inJudge"]["ms"].as_f64()).sum::<f64>();
        ensure!(!guardrails.is_empty(), "a landing without a guardrail");
        sum += ms / 1e3;
    }
    Ok(sum)
}

/// A program of the shell.
fn program(place: &Place, name: &str, script: &str) -> Result<PathBuf> {
    let path = place.current(name);
    fs_err::write(&path, format!("#!/bin/sh\n{script}\n"))?;
    Command::new("chmod").arg("+x").arg(&path).status()?;
    Ok(path)
}

/// The events that the fleet has printed.
fn events(place: &Place) -> Result<Vec<Value>> {
    let text = fs_err::read_to_string(place.current("stdout"))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// When a step happened, in seconds since 1970.
fn at(events: &[Value], step: &str) -> Result<f64> {
    let event = events.iter().find(|event| event["step"] == step).with_context(|| format!("no `{step}`"))?;
    let at: Timestamp = event["at"].as_str().context("a time")?.parse()?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 milliseconds")]
    Ok(at.as_millisecond() as f64 / 1e3)
}

/// The processes of ralph that keep their record here.
fn processes(state: &Path) -> Result<Vec<PathBuf>> {
    let mark = format!("RALPH_STATE_DIR={}", state.display());
    let is_ours = |folder: &PathBuf| {
        let read = |name: &str| fs_err::read(folder.join(name)).unwrap_or_default();
        let program = fs_err::read_link(folder.join("exe")).unwrap_or_default();
        program.file_name() == Some("ralph".as_ref())
            && read("environ").split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    let all = fs_err::read_dir("/proc")?.flatten().map(|entry| entry.path());
    Ok(all.filter(is_ours).collect())
}

/// What they have of the memory in bytes; what several share is divided among them.
fn memory_of(state: &Path) -> Result<f64> {
    let of = |folder: &PathBuf| {
        let text = fs_err::read_to_string(folder.join("smaps_rollup")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.trim().trim_end_matches(" kB").parse::<f64>().ok()
    };
    Ok(processes(state)?.iter().filter_map(of).sum::<f64>() * 1024.0)
}

/// What they have had of the processor, in seconds.
fn cpu_of(state: &Path) -> Result<f64> {
    let of = |folder: &PathBuf| {
        let text = fs_err::read_to_string(folder.join("stat")).ok()?;
        let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
        // utime and stime are fields 14 and 15; the third is the first after the name.
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    // The kernel counts a hundred ticks in a second.
    Ok(processes(state)?.iter().filter_map(of).sum::<f64>() / 100.0)
}
