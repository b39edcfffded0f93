//! `cargo xtask mutants`: changes the crate that decides in one place after the other, and sees whether a test fails.
//!
//! A change that no test notices is a rule that no test holds. Each that is left is listed with its reason in
//! `xtask/mutants.json`; one that is not listed fails the chore.

mod known;
mod outcomes;
mod verdict;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    cargo::{Tool, cargo, root, target_dir},
    say,
};
use known::Known;
use outcomes::Mutant;
use verdict::{Extent, Verdict};

const USAGE: &str = "\
usage: cargo xtask mutants [--in-diff BASE] [--shard K/N] [-- WORDS...]
       cargo xtask mutants --read FOLDER...

  --in-diff BASE   only what differs from this commit: minutes instead of hours
  --shard K/N      only the K-th of N parts, K from 0
  --read           run nothing: judge together what earlier runs left in these folders
  -- WORDS         further words for cargo-mutants, such as `--file 'crates/core/src/claim*'`
";

/// The crate that is changed, and whose tests must notice.
const PACKAGE: &str = "ralph-core";

const CARGO_MUTANTS: Tool = Tool { name: "cargo-mutants", version: "27.1.0" };

/// No test is given up on sooner, in seconds: on a busy machine a test takes long without being caught in a loop.
const MIN_TEST_TIMEOUT: &str = "30";

/// The random cases are the same in every run, or a mutant would survive in one and die in the next. A case that
/// fails need not be made smaller, nor be kept. A quarter of the usual cases is enough: what only the rarest of them
/// notices wants a test of its own.
const TEST_VARIABLES: [(&str, &str); 4] = [
    ("PROPTEST_CASES", "64"),
    ("PROPTEST_RNG_SEED", "1"),
    ("PROPTEST_MAX_SHRINK_ITERS", "0"),
    ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"),
];

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    base: Option<String>,
    shard: Option<String>,
    folders: Vec<PathBuf>,
    words: Vec<String>,
}

/// Runs the chore.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let Some(wanted) = parse(words)? else {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    let mutants = if wanted.folders.is_empty() { run(&wanted)? } else { read_all(&wanted.folders)? };
    if mutants.is_empty() {
        say("nothing here can be changed in a way that a test should notice\n");
        return Ok(ExitCode::SUCCESS);
    }
    let verdict = Verdict::new(&mutants, &Known::read(root())?, &|file, line| line_of(root(), file, line));
    say(&verdict.text());
    Ok(if verdict.is_fine(wanted.extent()) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Wanted {
    fn extent(&self) -> Extent {
        if self.base.is_some() || !self.words.is_empty() {
            Extent::Selection
        } else if self.shard.is_some() {
            Extent::Sample
        } else {
            Extent::Whole
        }
    }

    /// The folder of this run's results below the target folder. Parts have one each, so that they can be joined.
    fn results(&self) -> PathBuf {
        let part = self.shard.as_deref().map_or("all".to_owned(), |shard| shard.replace('/', "-of-"));
        target_dir().join("mutants").join(part)
    }
}

fn parse(words: &[String]) -> Result<Option<Wanted>> {
    let mut wanted = Wanted::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().with_context(|| format!("{word} needs a value\n\n{USAGE}"));
        match word.as_str() {
            "--in-diff" => wanted.base = Some(value()?),
            "--shard" => wanted.shard = Some(value()?),
            "--read" => {
                wanted.folders = words.by_ref().map(PathBuf::from).collect();
                ensure!(!wanted.folders.is_empty(), "--read needs a folder\n\n{USAGE}");
            }
            "--" => wanted.words = words.by_ref().cloned().collect(),
            "--help" | "-h" => return Ok(None),
            _ => bail!("unknown word `{word}`\n\n{USAGE}"),
        }
    }
    Ok(Some(wanted))
}

/// Has cargo-mutants try them, and reads what became of them.
fn run(wanted: &Wanted) -> Result<Vec<Mutant>> {
    let results = wanted.results();
    fs_err::create_dir_all(&results)?;
    let mut command = mutants_command(&results)?;
    if let Some(base) = &wanted.base {
        let diff = diff_from(base)?;
        if diff.is_empty() {
            return Ok(Vec::new());
        }
        let path = results.join("diff");
        fs_err::write(&path, diff)?;
        command.arg("--in-diff").arg(path);
    }
    if let Some(shard) = &wanted.shard {
        // Each part is then a fair sample of the whole.
        command.args(["--shard", shard, "--sharding", "round-robin"]);
    }
    // What an earlier run left must not be taken for this one's.
    let outcomes = results.join(RESULTS);
    if outcomes.exists() {
        fs_err::remove_file(&outcomes)?;
    }
    let status = command.args(&wanted.words).status().context("cannot start cargo-mutants")?;
    match status.code() {
        // All died; some survived; some did not end in time.
        Some(0 | 2 | 3) => {}
        Some(4) => bail!("the tests fail without any change; to see it: cargo test --package {PACKAGE}"),
        _ => bail!("cargo-mutants ended with {status}"),
    }
    if outcomes.exists() { read(&outcomes) } else { Ok(Vec::new()) }
}

/// Where cargo-mutants leaves what became of the mutants, below the folder for its results.
const RESULTS: &str = "mutants.out/outcomes.json";

fn mutants_command(results: &Path) -> Result<Command> {
    let mut command = Command::new(CARGO_MUTANTS.find()?);
    command.arg("mutants").current_dir(root()).env("CARGO", cargo().get_program());
    command.args(["--package", PACKAGE, "--no-shuffle", "--minimum-test-timeout", MIN_TEST_TIMEOUT]);
    // Not the tests in the documentation: they take long and would notice nothing that the others do not.
    command.args(["--cargo-arg=--locked", "--cargo-arg=--tests"]);
    command.arg("--output").arg(results);
    // A folder of its own, which is kept: the dependencies are built once, and nothing waits for a lock.
    command.env("CARGO_TARGET_DIR", target_dir().join("mutants/build"));
    command.envs([("CARGO_INCREMENTAL", "1"), ("CARGO_PROFILE_DEV_DEBUG", "none")]).envs(TEST_VARIABLES);
    Ok(command)
}

/// What the crate's sources have more than `base`, committed or not.
fn diff_from(base: &str) -> Result<Vec<u8>> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["diff", "--no-color", "--no-ext-diff", base, "--", "crates/core"]);
    let output = git.output().context("cannot start git")?;
    ensure!(output.status.success(), "git diff {base}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(output.stdout)
}

fn read_all(folders: &[PathBuf]) -> Result<Vec<Mutant>> {
    let read_one = |folder: &PathBuf| {
        let nested = folder.join(RESULTS);
        read(if nested.exists() { &nested } else { folder })
    };
    Ok(folders.iter().map(read_one).collect::<Result<Vec<_>>>()?.concat())
}

fn read(path: &Path) -> Result<Vec<Mutant>> {
    outcomes::read(&fs_err::read_to_string(path)?).with_context(|| path.display().to_string())
}

/// A line of a file of the repository, without its indentation. Lines count from one.
fn line_of(root: &Path, file: &str, line: usize) -> Option<String> {
    let text = fs_err::read_to_string(root.join(file)).ok()?;
    Some(text.lines().nth(line.checked_sub(1)?)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_extent_follows_from_the_words() {
        let extent = |line: &str| parse(&words(line)).expect("words").expect("no help").extent();
        assert_eq!(extent(""), Extent::Whole);
        assert_eq!(extent("--shard 0/4"), Extent::Sample);
        assert_eq!(extent("--in-diff main"), Extent::Selection);
        assert_eq!(extent("--shard 0/4 -- --file x.rs"), Extent::Selection);
        assert_eq!(extent("--read a b"), Extent::Whole);
    }

    #[test]
    fn each_part_has_a_folder_of_its_own() {
        let results = |line: &str| parse(&words(line)).expect("words").expect("no help").results();
        assert!(results("--shard 1/4").ends_with("mutants/1-of-4"));
        assert!(results("").ends_with("mutants/all"));
    }

    #[test]
    fn words_that_are_unknown_or_not_complete_are_refused() {
        for line in ["--shards 0/4", "--shard", "--in-diff", "--read", "x"] {
            assert!(parse(&words(line)).is_err(), "{line}");
        }
        assert_eq!(parse(&words("--shard 0/4 --help")).expect("words"), None);
    }

    #[test]
    fn lines_count_from_one_and_are_trimmed() {
        let folder = tempfile::tempdir().expect("a folder");
        fs_err::write(folder.path().join("a.rs"), "first\n    second\n").expect("a file");
        assert_eq!(line_of(folder.path(), "a.rs", 1).as_deref(), Some("first"));
        assert_eq!(line_of(folder.path(), "a.rs", 2).as_deref(), Some("second"));
        assert_eq!(line_of(folder.path(), "a.rs", 0), None);
        assert_eq!(line_of(folder.path(), "a.rs", 3), None);
        assert_eq!(line_of(folder.path(), "b.rs", 1), None);
    }
}
