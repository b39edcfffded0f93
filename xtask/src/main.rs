//! Chores of the project, in Rust. `cargo xtask` lists them.

mod agents;
mod bench;
mod cargo;
mod ci;
mod debian;
mod dist;
mod elf;
mod faults;
mod generate;
mod history;
mod instructions;
mod macho;
mod mutants;
mod picture;
mod python;
mod release;
mod selftest;
mod templates;
mod terminal;
mod walls;

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Result, bail};
use bench::{Effort, Figures};

const USAGE: &str = "\
usage: cargo xtask <chore>

  ci                  run every check, and stop at the first that fails; --quick runs those of a few minutes
  bench [--quick]     measure ralph against its floors, all or those named (`bench judge receipts`); fails if a limit is
                      missed; --save writes the figures of all into docs/performance.md
  instructions        count the instructions of typical calls; fails if there are a fifth more than saved;
                      --save saves them
  faults [NAME...]    kill, cut off, hold and starve real loops for a few minutes; fails if one does not come out of it
  generate [--check]  write the schemas and the generated parts of the pages; fails if they are stale
  agents [NAME...]    run real agents on a scripted model; --help says more
  history REPO...     what ralph would say about the commits of real projects; --help says more
  selftest            run the catalogue of cheats; fails if one comes further than saved; --save saves what became of them,
                      --figures runs it in every way and writes the table of docs/truth.md
  mutants             change the crate that decides, and see whether its tests notice; --help says more
  templates [NAME...] how many projects of the registries are judged without settings; --help says more
  dist                make every package; --try installs and uses each, --help says more
  release VERSION     bump, check, tag; --dry-run does it in a copy
  picture             record the demo in a terminal and draw docs/demo.svg; take a picture of a report: docs/report.png
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            say(&format!("error: {error:#}\n"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci", ..] => ci::main(&words[1..]),
        ["bench", "--save"] => bench::main(Effort::Full, Figures::Save, &[]),
        ["bench", "--quick", ..] => bench::main(Effort::Quick, Figures::Print, &words[2..]),
        ["bench", ..] => bench::main(Effort::Full, Figures::Print, &words[1..]),
        ["instructions"] => instructions::main(instructions::Then::Compare),
        ["instructions", "--save"] => instructions::main(instructions::Then::Save),
        ["agents", ..] => agents::main(&words[1..]),
        ["faults", ..] => faults::main(&words[1..]),
        ["history", ..] => history::main(&words[1..]),
        ["dist", ..] => dist::main(&words[1..]),
        ["release", ..] => release::main(&words[1..]),
        ["mutants", ..] => mutants::main(&words[1..]),
        ["generate"] => generate::main(generate::Stale::Write),
        ["generate", "--check"] => generate::main(generate::Stale::Report),
        ["picture"] => picture::main(),
        ["selftest"] => selftest::main(selftest::Then::Compare),
        ["selftest", "--save"] => selftest::main(selftest::Then::Save),
        ["selftest", "--figures"] => selftest::main(selftest::Then::Figures),
        ["templates", ..] => templates::main(&words[1..]),
        [] | ["help" | "--help" | "-h"] => {
            say(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("there is no chore `{}`\n\n{USAGE}", words.join(" ")),
    }
}

/// Prints at once. Errors are dropped: a reader that has gone does not end the chore.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
