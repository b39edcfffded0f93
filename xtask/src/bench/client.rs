//! What the client of the board costs those who have no board: a build with it beside one without it, which is nothing else.

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err::File;
use serde_json::json;

use super::{
    Effort,
    clock::{self, Sample},
    place::Place,
    table::Table,
};
use crate::{
    cargo,
    debian::{Missing, VALGRIND},
    instructions,
};

/// So much more is noise of times. The start describes all commands, also those that only a board has; a hook does not.
const MAX_TIME: f64 = 1.1;
const MAX_START_COUNT: f64 = 1.05;
const MAX_HOOK_COUNT: f64 = 1.02;

/// Measures the start and a hook of both builds.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    place.renew()?;
    // Copies made alike: a program that was written in another way lies in other pages. Cargo writes both to the same path.
    let copy = |program: PathBuf, name: &str| -> Result<PathBuf> {
        let path = place.path(name);
        fs_err::copy(program, &path)?;
        Ok(path)
    };
    let without = copy(cargo::dist_with(&["--no-default-features"])?, "without-client")?;
    let with = copy(cargo::dist()?, "with-client")?;
    let call =
        json!({"tool_name": "Bash", "tool_input": {"command": "git status --short | head -20"}, "cwd": "/"});
    let input = place.path("call");
    fs_err::write(&input, call.to_string())?;
    let version = |program: &Path| clock::run(place.command(program)?.arg("--version"), 0);
    let hook = |program: &Path| -> Result<Sample> {
        let mut hook = place.command(program)?;
        clock::run(hook.args(["hook", "pre-tool-use"]).stdin(File::open(&input)?.into_file()), 0)
    };
    let ([bare_start, start, bare_hook, ours], note) = clock::interleave(
        effort.rounds(800),
        [
            ("--version without", Box::new(|| version(&without))),
            ("with", Box::new(|| version(&with))),
            ("hook without", Box::new(|| hook(&without))),
            ("with", Box::new(|| hook(&with))),
        ],
    )?;
    let what = "ralph --version with the client of a board, and without";
    table.ratio(what, bare_start.seconds, start.seconds, MAX_TIME);
    table.ratio("  hook pre-tool-use", bare_hook.seconds, ours.seconds, MAX_TIME);
    table.note(format!("with and without the client, {note}"));
    count(place, [&without, &with], &input, table)
}

/// Counts the instructions of both, where that can be done.
fn count(place: &Place, [without, with]: [&Path; 2], input: &Path, table: &mut Table) -> Result<()> {
    let valgrind = match VALGRIND.find(Missing::Name) {
        Ok(valgrind) => valgrind,
        Err(why) => {
            table.note(format!("instructions with and without the client are not counted: {why}"));
            return Ok(());
        }
    };
    let stdin = place.path("stdin");
    for (name, args, most) in [
        ("  instructions of ralph --version", &["--version"][..], MAX_START_COUNT),
        ("  instructions of hook pre-tool-use", &["hook", "pre-tool-use"], MAX_HOOK_COUNT),
    ] {
        fs_err::copy(input, &stdin)?;
        let count = |program| instructions::count_of(place, &valgrind, program, (0, args));
        let (bare, ours) = (count(without)?, count(with)?);
        fs_err::remove_file(&stdin)?;
        table.count(name, bare, ours, most);
    }
    Ok(())
}
