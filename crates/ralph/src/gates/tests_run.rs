//! The tests that a guardrail ran: read from what it printed, or from the report that it wrote.
//!
//! Invariants: the whole output is read, however long it is. A report counts only if the guardrail wrote it, and no link
//! leads to it or to the removal of the one before.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use ralph_checks::counts::{Names, NamesCompared, OutputReader, TestReport, compare_names, read_junit};
use ralph_core::{engine::plan::Gate, verify::tested::Tested};
use ralph_sys::files::{self, Root};

use super::still_there::still_there;
use crate::journal::run_dir::{RunDir, record};

/// Reports that are longer are not read.
const MAX_REPORT_LEN: u64 = 64 * 1024 * 1024;

/// Where a guardrail leaves its report.
pub(super) struct Report {
    root: Root,
    path: PathBuf,
}

impl Report {
    /// The report of a guardrail in this folder, if it writes one. What an earlier one left there is removed.
    pub(super) fn expect(gate: &Gate, root: &Path, folder: &Path) -> Option<Self> {
        let path = folder.join(gate.junit.as_ref()?);
        let report = Self { root: Root::new(root), path };
        // What is not there need not go; what cannot be removed cannot be read either, or is what was there.
        let _ = report.root.remove(&report.path);
        Some(report)
    }

    fn read(&self) -> TestReport {
        self.root.read(&self.path, MAX_REPORT_LEN).map(|bytes| read_junit(&bytes)).unwrap_or_default()
    }
}

/// Reads what a guardrail counted. Before the first iteration the names of its tests are kept; later they are compared.
pub(super) fn read(
    gate: &Gate,
    log: &Path,
    report: Option<&Report>,
    names: &NamesFile<'_>,
) -> Option<Tested> {
    if !gate.counts_tests() {
        return None;
    }
    let said = match report {
        Some(report) => report.read(),
        None => output(log).ok()?,
    };
    if said.counts.is_empty() {
        return None;
    }
    let NamesCompared { new_skipped, unrun } = names.take(&said).unwrap_or_default();
    Some(Tested { counts: said.counts, new_skipped, unrun: still_there(&unrun, names.files) })
}

fn output(log: &Path) -> io::Result<TestReport> {
    let mut file = files::open(log)?;
    // Most linters and compilers say nothing when all is well.
    if file.metadata()?.len() == 0 {
        return Ok(TestReport::default());
    }
    let mut reader = OutputReader::default();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(reader.finish()),
            length => reader.feed(&buffer[..length]),
        }
    }
}

/// The names of the tests that a guardrail ran before the first iteration.
pub(super) struct NamesFile<'a> {
    path: PathBuf,
    is_base: bool,
    /// The files that have the tests.
    files: &'a Path,
}

impl<'a> NamesFile<'a> {
    /// Of the guardrail with this name of its log.
    pub(super) fn new(run: &RunDir, log_name: &str, is_base: bool, files: &'a Path) -> Self {
        Self { path: run.path().join("tests").join(format!("{log_name}.json")), is_base, files }
    }

    /// Keeps the names, or compares them with those that were kept.
    fn take(&self, said: &TestReport) -> Option<NamesCompared> {
        if self.is_base {
            let _ = fs_err::remove_file(&self.path);
            let names = serde_json::to_vec(said.all_names()?).ok()?;
            // Without the names only the numbers are compared.
            let _ = self.path.parent().map(fs_err::create_dir_all);
            let _ = record(&self.path, &names);
            return None;
        }
        let now = said.all_names()?;
        let before: Names = serde_json::from_slice(&files::read(&self.path, MAX_REPORT_LEN).ok()?).ok()?;
        Some(compare_names(&before, now))
    }
}
