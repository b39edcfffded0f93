//! `ctest`: one line for each test is the only count of it that also has those that were switched off.

use super::{
    Runner, TestOutcome,
    run::{Line, Reader, Run},
};

/// Reads ctest.
#[derive(Default)]
pub(super) struct Ctest {
    run: Option<Run>,
    error: String,
}

impl Reader for Ctest {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if text.starts_with("Test project ") {
            runs.extend(self.run.take().filter(is_finished));
            self.run = Some(Run::new(Runner::Ctest, line.at));
            return;
        }
        let Some(run) = &mut self.run else { return };
        if let Some((name, outcome, is_loaded)) = test(text) {
            run.last = line.at;
            if !is_loaded {
                run.load_error(name, std::mem::take(&mut self.error));
            }
            run.count(name, outcome);
        } else if text.starts_with("Total Test time") || text.starts_with("No tests were found") {
            run.last = line.at;
            runs.extend(self.run.take());
        } else if text.starts_with("Could not find executable") {
            text.clone_into(&mut self.error);
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        runs.extend(self.run.take().filter(is_finished));
    }
}

/// Without its last line a run counts only if tests were in it.
fn is_finished(run: &Run) -> bool {
    run.counts.total() > 0
}

/// `2/3 Test #2: wrong ............................***Failed    0.01 sec`; at last whether it could be started.
fn test(text: &str) -> Option<(&str, TestOutcome, bool)> {
    let (progress, rest) = text.trim_start().split_once(" Test ")?;
    let (done, of) = progress.split_once('/')?;
    done.parse::<u64>().ok().and(of.trim().parse::<u64>().ok())?;
    let (_, rest) = rest.trim_start().strip_prefix('#')?.split_once(": ")?;
    let (name, status) = rest.split_once(" .").or_else(|| rest.split_once("   "))?;
    let status = status.trim_start_matches(['.', ' ']).trim_start_matches('*');
    let outcome = match status {
        _ if status.starts_with("Passed") => TestOutcome::Passed,
        _ if status.starts_with("Skipped") || status.starts_with("Not Run (Disabled)") => {
            TestOutcome::Skipped
        }
        _ => TestOutcome::Failed,
    };
    let is_loaded = outcome != TestOutcome::Failed || !status.starts_with("Not Run");
    Some((name, outcome, is_loaded))
}
