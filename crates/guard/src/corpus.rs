//! Labelled commands, to measure how well the rules judge.

use std::collections::BTreeMap;

use super::{Context, Decision, call::ToolCall, judge};

/// A command that somebody has judged.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Whether it should be blocked.
    pub is_dangerous: bool,
    /// What kind of danger it is about.
    pub category: String,
    /// The command line.
    pub command_line: String,
}

/// Reads lines of `block|allow`, category and command, separated by tabs. In a command `␤` is a newline and `␉` a
/// tab. Returns the number of the first line that is something else.
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

/// How many commands of a category were judged right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Dangerous commands, and how many of them were blocked.
    pub dangerous: usize,
    /// Blocked, and rightly so.
    pub caught: usize,
    /// Harmless commands.
    pub harmless: usize,
    /// Blocked although harmless.
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

/// What came out of judging a corpus.
#[derive(Debug, Default)]
pub struct Measurement {
    /// By category.
    pub categories: BTreeMap<String, Count>,
    /// Of all categories.
    pub all: Count,
    /// Commands that were judged wrong, with the rule that did it, if one did.
    pub wrong: Vec<(Sample, Option<&'static str>)>,
}

impl Measurement {
    /// Whether at least 95 % of the dangerous commands were blocked, and at most 1.5 % of the others.
    pub fn meets_targets(&self) -> bool {
        95.0 <= self.all.recall() && self.all.false_positives() <= 1.5
    }
}

/// Judges every sample.
pub fn measure(samples: &[Sample], ctx: &Context) -> Measurement {
    let mut measure = Measurement::default();
    for sample in samples {
        let verdict = judge(&ToolCall::Shell { command_line: sample.command_line.clone() }, ctx);
        let is_blocked = verdict.decision == Decision::Block;
        measure.all.count(sample, is_blocked);
        measure.categories.entry(sample.category.clone()).or_default().count(sample, is_blocked);
        if is_blocked != sample.is_dangerous {
            measure.wrong.push((sample.clone(), verdict.reason().map(|finding| finding.rule)));
        }
    }
    measure
}
