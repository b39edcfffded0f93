//! `ralph doctor`: what is installed, what would be used, what is wrong.

mod contain;
mod examine;
mod repair;
mod selftest;

use std::{io, path::Path};

use clap::Args;
use ralph_core::doctor::{self, Fact, Severity};
use ralph_sys::error::{INTERRUPTED, REFUSED, Result};
use serde_json::json;

use super::print;
use crate::{
    report::{doctor::lines, style::Marks, summary::count},
    settings,
    term::{Palette, Stream, Width},
};

/// Check what a run needs: agents, settings, git, space
///
/// Exits with 2 if something would keep a run from starting. Shows below each problem what to type.
///
/// Example: ralph doctor --json
#[derive(Args, Debug)]
pub(super) struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Save what is readable of a damaged record, and keep the damaged one
    #[arg(long, value_name = "RUN", conflicts_with = "json")]
    repair: Option<String>,

    /// Test ralph on this machine: it verifies claims, leaves no process running, ends the agent when ralph gets a
    /// signal or is killed, and continues runs; a sandbox works. Takes a few seconds and changes none of your files
    #[arg(long)]
    selftest: bool,
}

/// Prints what was found and what is wrong with it.
pub(super) fn main(args: &DoctorArgs, project: &Path) -> Result<u8> {
    if let Some(run) = &args.repair {
        return repair::main(run);
    }
    let inspected = settings::inspect(project);
    if args.selftest {
        let output = &inspected.loaded.settings.output;
        return selftest(args.json, Marks::of(output.emoji), Palette::of(output.color, &io::stdout()));
    }
    let Some(findings) = examine::examine(project, &inspected)? else { return Ok(INTERRUPTED) };
    let facts = doctor::judge(&findings);
    let of = |level| facts.iter().filter(move |fact| fact.level == level);
    let problems = of(Severity::Problem).count();
    if args.json {
        let all = |level| of(level).collect::<Vec<&Fact>>();
        let object = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "ok": problems == 0,
            "problems": all(Severity::Problem),
            "warnings": all(Severity::Warning),
            "found": findings,
        });
        print(&format!("{object}\n"))?;
    } else {
        let output = &inspected.loaded.settings.output;
        let marks = Marks::of(output.emoji);
        let report = lines(
            &facts,
            marks,
            Palette::of(output.color, &io::stdout()),
            Width::of(Stream::Out).room().unwrap_or(usize::MAX),
        );
        print(&format!("{report}\n{}\n", verdict(problems, of(Severity::Warning).count())))?;
    }
    Ok(if problems == 0 { 0 } else { REFUSED })
}

/// Tries what ralph promises, and prints what came of it.
fn selftest(json: bool, marks: Marks, palette: Palette) -> Result<u8> {
    let Some(checks) = selftest::examine()? else { return Ok(INTERRUPTED) };
    let ok = checks.iter().all(|check| check.held != selftest::Held::Fails);
    if json {
        let (version, system) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS);
        let machine = std::env::consts::ARCH;
        let object =
            json!({"version": version, "system": system, "machine": machine, "ok": ok, "checks": checks});
        print(&format!("{object}\n"))?;
    } else {
        print(&selftest::report(&checks, marks, palette))?;
    }
    Ok(if ok { 0 } else { REFUSED })
}

fn verdict(problems: usize, warnings: usize) -> String {
    let told = count(warnings as u64, "warning");
    match (problems, warnings) {
        (0, 0) => "Ready to run.".to_owned(),
        (0, _) => format!("Ready to run, with {told}."),
        _ => format!("Not ready to run: {}, {told}.", count(problems as u64, "problem")),
    }
}
