//! Says what a test runner counted, from its output on standard input.
//!
//! `pytest -v | cargo run -p ralph-checks --example counts`

use std::io::{self, Read, Write};

use ralph_checks::counts::read_output;

#[expect(clippy::disallowed_methods, reason = "an example is a program")]
fn main() -> io::Result<()> {
    let mut output = Vec::new();
    io::stdin().read_to_end(&mut output)?;
    let report = read_output(&output);
    let mut out = io::stdout();
    match report.total() {
        Some(counts) => writeln!(
            out,
            "{} passed, {} failed, {} skipped; {} tests are named",
            counts.passed,
            counts.failed,
            counts.skipped,
            report.tests.len()
        )?,
        None => writeln!(out, "no counts")?,
    }
    for error in &report.not_loaded {
        writeln!(out, "not loaded: {error:?}")?;
    }
    Ok(())
}
