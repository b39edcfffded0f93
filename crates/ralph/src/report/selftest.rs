//! What became of the catalogue, for people.

use std::{collections::BTreeMap, fmt::Write};

use super::style::Marks;
use crate::{
    selftest::{
        Trial, TrialEnd,
        catalogue::{Catalogue, Entry, EntryKind, Reach, SeenBy},
    },
    term::Palette,
};

/// How many entries ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) refused: usize,
    pub(crate) finding: usize,
    pub(crate) passed: usize,
    pub(crate) skipped: usize,
    pub(crate) broken: usize,
}

impl Tally {
    /// Counts them.
    pub(crate) fn of<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Self {
        trials.into_iter().fold(Self::default(), |mut tally, trial| {
            *match trial.verdict {
                TrialEnd::Refused => &mut tally.refused,
                TrialEnd::Finding => &mut tally.finding,
                TrialEnd::Passed => &mut tally.passed,
                TrialEnd::Skipped { .. } => &mut tally.skipped,
                TrialEnd::Broken { .. } => &mut tally.broken,
            } += 1;
            tally
        })
    }

    /// How many were run.
    pub(crate) fn ran(self) -> usize {
        self.refused + self.finding + self.passed + self.broken
    }
}

/// The tables, and what must be looked at.
pub(crate) fn table(trials: &[Trial], marks: Marks, palette: Palette) -> String {
    let mut text = String::new();
    for (kind, heading) in [(EntryKind::Cheat, "cheats"), (EntryKind::Honest, "honest changes")] {
        let all: Vec<&Trial> = trials.iter().filter(|trial| trial.kind == kind).collect();
        if !all.is_empty() {
            classes(&mut text, heading, &all, palette);
        }
    }
    text.push_str(&passed(trials, marks));
    text.push_str(&wrong(trials, marks));
    text.push_str(&skipped(trials));
    text.push_str(&verdict(trials));
    text
}

fn classes(text: &mut String, heading: &str, trials: &[&Trial], palette: Palette) {
    let Palette { strong, quiet, .. } = palette;
    let mut order: Vec<&str> = Vec::new();
    let mut by_class: BTreeMap<&str, Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        if !by_class.contains_key(trial.class.as_str()) {
            order.push(&trial.class);
        }
        by_class.entry(&trial.class).or_default().push(trial);
    }
    let room = order.iter().map(|class| class.len()).max().unwrap_or_default().max("honest changes".len());
    let _ = writeln!(
        text,
        "{strong}{heading:<room$}{strong:#}  {quiet}{:>8}{:>9}{:>8}{quiet:#}",
        "refused", "finding", "passed"
    );
    let mut line = |name: &str, tally: Tally| {
        let _ = writeln!(text, "{name:<room$}  {:>8}{:>9}{:>8}", tally.refused, tally.finding, tally.passed);
    };
    for class in order {
        line(class, Tally::of(by_class.remove(class).unwrap_or_default()));
    }
    line("together", Tally::of(trials.iter().copied()));
    text.push('\n');
}

/// The cheats that passed, each with what closes it.
fn passed(trials: &[Trial], marks: Marks) -> String {
    let mut text = String::new();
    for trial in trials {
        let Some(closed_by) = &trial.closed_by else { continue };
        let why = match (trial.seen_by, trial.reach) {
            (SeenBy::Reader, _) => ", and only a reader can see it",
            (SeenBy::Machine, Reach::Elsewhere) => ", from outside of the project",
            (SeenBy::Machine, Reach::Repository | Reach::Pinned) => "",
        };
        let mark = if trial.is_wrong { marks.bad } else { marks.warning };
        let _ = writeln!(text, "{mark} passed: {} {}{why}", trial.id, trial.says);
        let _ = writeln!(text, "  closed by: {closed_by}");
    }
    text
}

/// Honest changes that are asked about or refused, and what could not be run.
fn wrong(trials: &[Trial], marks: Marks) -> String {
    let mut text = String::new();
    for trial in trials {
        match (&trial.verdict, trial.kind) {
            (TrialEnd::Refused, EntryKind::Honest) => {
                let _ = writeln!(text, "{} refused: {} {}", marks.bad, trial.id, trial.says);
            }
            (TrialEnd::Finding, EntryKind::Honest) => {
                let found = trial.findings.join(", ");
                let _ = writeln!(text, "{} {found}: {} {}", marks.warning, trial.id, trial.says);
            }
            (TrialEnd::Broken { why }, _) => {
                let _ = writeln!(text, "{} {} could not be run: {why}", marks.bad, trial.id);
            }
            (TrialEnd::Refused | TrialEnd::Finding | TrialEnd::Passed | TrialEnd::Skipped { .. }, _) => {}
        }
    }
    text
}

fn skipped(trials: &[Trial]) -> String {
    let mut by_program: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for trial in trials {
        if let TrialEnd::Skipped { missing } = &trial.verdict {
            by_program.entry(missing.join(" and ")).or_default().push(&trial.id);
        }
    }
    let line =
        |(missing, ids): (String, Vec<&str>)| format!("skipped, without {missing}: {}\n", ids.join(", "));
    by_program.into_iter().map(line).collect()
}

fn verdict(trials: &[Trial]) -> String {
    let wrong = trials.iter().filter(|trial| trial.is_wrong).count();
    let tally = Tally::of(trials);
    let ran = tally.ran();
    match wrong {
        0 => format!("\n{ran} ran, and each ended as it should.\n"),
        1 => format!("\n{ran} ran, and 1 did not end as it should.\n"),
        _ => format!("\n{ran} ran, and {wrong} did not end as they should.\n"),
    }
}

/// The entries, one line each.
pub(crate) fn list(catalogue: &Catalogue, entries: &[&Entry]) -> String {
    let room = entries.iter().map(|entry| entry.id.len()).max().unwrap_or_default();
    let line = |entry: &&Entry| {
        let language = catalogue.fixture(entry).map_or("", |fixture| &*fixture.language);
        let kind = match entry.kind {
            EntryKind::Cheat => "cheat",
            EntryKind::Honest => "honest",
        };
        format!("{:<room$}  {kind:<6}  {language:<10}  {}: {}\n", entry.id, entry.class, entry.says)
    };
    entries.iter().map(line).collect()
}
