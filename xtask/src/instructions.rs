//! `cargo xtask instructions`: counts the instructions of a few typical calls, and compares with the counts that
//! were saved.
//!
//! A count is nearly the same on every machine and however busy it is, which no time is: the environment is empty,
//! the C library is kept from choosing what suits the processor, and nothing is counted that depends on what else
//! the machine does. (The search for bytes does choose; it is a hundredth of any count.)

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    bench::{long, place::Place},
    cargo::{dist, root},
    debian::{Missing, VALGRIND},
    say,
};

/// So much more than before is a failure.
const WORSE: f64 = 1.2;
/// So much less is worth saving.
const BETTER: f64 = 0.8;
/// The iterations of the run whose status is asked for.
const LONG: u32 = 1000;
/// How many iterations the cost of one is taken from.
const FURTHER: u64 = 50;
/// How often the recorded streams are read.
const REPEATS: usize = 20;
/// Has the C library move and compare memory in the same way on every processor.
const SAME_LIBRARY: &str = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-ERMS,-FSRM,-EVEX,-RTM,\
                            -SSE4_2,-SSE4_1,-SSSE3,-BMI2,-LZCNT,-MOVBE";

/// What to do with the counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Compare,
    Save,
}

/// The counts that were saved.
#[derive(Default, Deserialize, Serialize)]
struct Saved {
    /// They differ from one kind of processor to another.
    processor: String,
    counts: BTreeMap<String, u64>,
}

/// Counts, and compares or saves.
pub(crate) fn main(then: Then) -> Result<ExitCode> {
    let path = root().join("xtask/instructions.json");
    let saved: Saved = serde_json::from_str(&fs_err::read_to_string(&path)?)?;
    if then == Then::Compare && saved.processor != env::consts::ARCH {
        say(&format!("skipped: the counts were saved on {}\n", saved.processor));
        return Ok(ExitCode::SUCCESS);
    }
    let counts = count(&VALGRIND.find(Missing::Name)?)?;
    if then == Then::Save {
        let saved = Saved { processor: env::consts::ARCH.to_owned(), counts };
        fs_err::write(&path, format!("{}\n", serde_json::to_string_pretty(&saved)?))?;
        say(&format!("written: {}\n", path.display()));
        return Ok(ExitCode::SUCCESS);
    }
    Ok(if compare(&saved.counts, &counts) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints both; returns whether nothing got worse.
fn compare(saved: &BTreeMap<String, u64>, counts: &BTreeMap<String, u64>) -> bool {
    let mut is_fine = true;
    for (name, count) in counts {
        let before = saved.get(name).copied().unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
        let ratio = *count as f64 / before.max(1) as f64;
        let verdict = match ratio {
            _ if before == 0 => "NEW: cargo xtask instructions --save",
            WORSE.. => "WORSE",
            ..BETTER => "better: cargo xtask instructions --save",
            _ => "ok",
        };
        is_fine &= 0 < before && ratio < WORSE;
        say(&format!(
            "{name:<34}{:>9.2} M{:>9.2} M{ratio:>7.2}  {verdict}\n",
            millions(before),
            millions(*count)
        ));
    }
    is_fine
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
fn millions(count: u64) -> f64 {
    count as f64 / 1e6
}

/// The counts of all calls.
fn count(valgrind: &Path) -> Result<BTreeMap<String, u64>> {
    let place = Place::new(dist()?)?;
    let mut counts = BTreeMap::new();
    let mut add = |name: &str, code: i32, args: &[&str]| -> Result<()> {
        counts.insert(name.to_owned(), count_of(&place, valgrind, place.program(), (code, args))?);
        Ok(())
    };
    let text = |path: &Path| path.display().to_string();
    add("ralph --version", 0, &["--version"])?;
    let agent = text(&place.agent);
    let run = ["run", "-p", "x", "--agent", &agent, "--guardrail", "true", "--max-iterations"];
    // The hash of the program stands in receipts; it is made once for each program, so a first run does that.
    let renew = || -> Result<()> {
        place.renew()?;
        place.run(&place.agent, 1, &[]).map(drop)
    };
    renew()?;
    add("ralph run, 1 iteration", 1, &[&run[..], &["1"]].concat())?;
    renew()?;
    add("ralph run, 51 iterations", 1, &[&run[..], &[&(1 + FURTHER).to_string()]].concat())?;
    add("ralph guard check", 0, &["guard", "check", "git status --short | head -20"])?;
    // The hook that agents wait for most often.
    let call =
        json!({"tool_name": "Bash", "tool_input": {"command": "git status --short | head -20"}, "cwd": "/"});
    fs_err::write(place.path("stdin"), call.to_string())?;
    add("ralph hook pre-tool-use", 0, &["hook", "pre-tool-use"])?;
    fs_err::remove_file(place.path("stdin"))?;
    renew()?;
    fs_err::write(place.path("stream"), recordings()?)?;
    add(
        "ralph run, recorded streams",
        1,
        &["run", "-p", "x", "--no-guard", "--max-iterations", "1", "--agent", &text(&place.replay)],
    )?;
    long::lengthen(&place, LONG)?;
    add("ralph status, 1000 iterations", 0, &["status"])?;
    add("ralph report, 1000 iterations", 0, &["report"])?;
    // Not a resume: it looks at every process of the machine.
    // The start would hide what an iteration costs.
    let many = counts.remove("ralph run, 51 iterations").unwrap_or_default();
    let further = many.saturating_sub(counts["ralph run, 1 iteration"]) / FURTHER;
    counts.insert("ralph run, each further iteration".to_owned(), further);
    Ok(counts)
}

/// The instructions of one call, without those of the processes that it starts.
pub(crate) fn count_of(
    place: &Place,
    valgrind: &Path,
    program: &Path,
    (code, args): (i32, &[&str]),
) -> Result<u64> {
    let log = place.path("valgrind");
    let mut command = place.command(valgrind)?;
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(format!("--log-file={}", log.display())).arg(program).args(args);
    command.env("GLIBC_TUNABLES", SAME_LIBRARY);
    // Only a hook reads it.
    if let Ok(input) = fs_err::File::open(place.path("stdin")) {
        command.stdin(input.into_file());
    }
    let mut child = command.spawn().context("cannot start valgrind")?;
    let status = child.wait()?.code();
    let said = fs_err::read_to_string(log)?;
    ensure!(status == Some(code), "{command:?} ended with {status:?}, not with code {code}: {said}");
    // The processes that were forked write into the same log, each with its number.
    let own = format!("=={}== Collected : ", child.id());
    let count = said.lines().find_map(|line| line.strip_prefix(&own)?.trim().parse().ok());
    count.with_context(|| format!("valgrind did not count: {said}"))
}

/// All recorded streams of Claude Code, one after another, several times.
fn recordings() -> Result<Vec<u8>> {
    let folder = root().join("crates/agents/fixtures/claude");
    let mut paths: Vec<PathBuf> =
        fs_err::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    let streams = paths.iter().map(fs_err::read).collect::<std::io::Result<Vec<_>>>()?;
    Ok(streams.concat().repeat(REPEATS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_more_is_worse() {
        let counts = |count: u64| BTreeMap::from([("a call".to_owned(), count)]);
        assert!(compare(&counts(1000), &counts(1190)));
        assert!(compare(&counts(1000), &counts(10)));
        assert!(!compare(&counts(1000), &counts(1200)));
        assert!(!compare(&BTreeMap::new(), &counts(1)), "one that was never saved");
    }
}
