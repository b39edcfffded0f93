//! Labelled command lines, to measure how well the rules judge.
//!
//! ```
//! use ralph_guard::{Context, corpus};
//!
//! let samples = corpus::parse("block\tgit\tgit push -f\nallow\tgit\tgit push\n").expect("two lines");
//! let measurement = corpus::measure(&samples, &Context::new("/home/dev/project", "/home/dev"));
//! assert_eq!((measurement.all.caught, measurement.all.false_alarms), (1, 0));
//! ```

use std::collections::BTreeMap;

use super::{context::Context, judge::judge, tool_call::ToolCall, verdict::Decision};

/// A command line that a person has judged.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Whether it should be blocked.
    pub is_dangerous: bool,
    /// What kind of danger it is about; any word.
    pub category: String,
    /// The command line.
    pub command_line: String,
}

/// Reads lines of `block` or `allow`, a category and a command line, separated by tabs. In a command line `␤` is a newline
/// and `␉` a tab; lines that begin with `##` are comments. The error is the number of the first line that is something else.
pub fn parse(text: &str) -> Result<Vec<Sample>, usize> {
    let lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("##"));
    lines.map(|(at, line)| parse_sample(line).ok_or(at + 1)).collect()
}

fn parse_sample(line: &str) -> Option<Sample> {
    let mut fields = line.splitn(3, '\t');
    let is_dangerous = match fields.next()? {
        "block" => true,
        "allow" => false,
        _ => return None,
    };
    let category = fields.next()?.to_owned();
    let command_line = fields.next()?.replace('␤', "\n").replace('␉', "\t");
    Some(Sample { is_dangerous, category, command_line })
}

/// How many command lines were judged right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Dangerous ones.
    pub dangerous: usize,
    /// Dangerous ones that were blocked.
    pub caught: usize,
    /// Harmless ones.
    pub harmless: usize,
    /// Harmless ones that were blocked.
    pub false_alarms: usize,
}

impl Count {
    /// The part of the dangerous commands that was blocked, in percent.
    pub fn recall(&self) -> f64 {
        percent(self.caught, self.dangerous, 100.0)
    }

    /// The part of the harmless commands that was blocked, in percent.
    pub fn false_positives(&self) -> f64 {
        percent(self.false_alarms, self.harmless, 0.0)
    }

    fn count(&mut self, sample: &Sample, is_blocked: bool) {
        let (all, blocked) = if sample.is_dangerous {
            (&mut self.dangerous, &mut self.caught)
        } else {
            (&mut self.harmless, &mut self.false_alarms)
        };
        *all += 1;
        *blocked += usize::from(is_blocked);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a corpus has far fewer lines than a float has digits")]
fn percent(part: usize, whole: usize, of_nothing: f64) -> f64 {
    if whole == 0 { of_nothing } else { 100.0 * part as f64 / whole as f64 }
}

/// How well a corpus was judged.
#[derive(Debug, Default)]
pub struct Measurement {
    /// By category.
    pub categories: BTreeMap<String, Count>,
    /// Of all categories.
    pub all: Count,
    /// Command lines that were judged wrong; with the rule that blocked, if one did.
    pub wrong: Vec<(Sample, Option<String>)>,
}

impl Measurement {
    /// Whether at least 95 % of the dangerous commands were blocked, and at most 1.5 % of the others.
    pub fn meets_targets(&self) -> bool {
        95.0 <= self.all.recall() && self.all.false_positives() <= 1.5
    }
}

/// Judges every sample.
pub fn measure(samples: &[Sample], ctx: &Context) -> Measurement {
    let mut measurement = Measurement::default();
    for sample in samples {
        let verdict = judge(&ToolCall::Shell { command_line: sample.command_line.clone() }, ctx);
        let is_blocked = verdict.decision == Decision::Block;
        measurement.all.count(sample, is_blocked);
        measurement.categories.entry(sample.category.clone()).or_default().count(sample, is_blocked);
        if is_blocked != sample.is_dangerous {
            measurement
                .wrong
                .push((sample.clone(), verdict.reason().map(|finding| finding.rule.to_string())));
        }
    }
    measurement
}
