//! How many mutants the tests kill, and which survivors no one knows about.

use std::{collections::BTreeMap, fmt::Write};

use super::{
    known::Known,
    outcomes::{Fate, Mutant},
};

/// So many of a hundred must be killed.
const MIN_KILLED_PERCENT: usize = 90;

/// How much of the crate was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All mutants.
    Whole,
    /// A part that is like the whole.
    Sample,
    /// Some that were picked out, which may be mostly such as are known to survive.
    Selection,
}

/// How many mutants there were, and how many of them the tests killed. Those that do not compile are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    tried: usize,
    killed: usize,
}

/// What the mutants say about the tests.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    by_file: BTreeMap<String, Count>,
    unviable: usize,
    listed: usize,
    /// Each as it is shown.
    unlisted: Vec<String>,
    /// Entries of the list for mutants that were tried and killed.
    outdated: Vec<Known>,
}

impl Verdict {
    /// Compares the survivors with those that are known. `code` gives a line of a source file, without its indentation.
    pub(super) fn new(
        mutants: &[Mutant],
        known: &[Known],
        code: &dyn Fn(&str, usize) -> Option<String>,
    ) -> Self {
        let mut verdict = Self::default();
        let mut survives = vec![None; known.len()];
        for mutant in mutants {
            if mutant.fate == Fate::Unviable {
                verdict.unviable += 1;
                continue;
            }
            let line = code(&mutant.file, mutant.line);
            let entry = known.iter().position(|known| known.is(mutant, line.as_deref()));
            let count = verdict.by_file.entry(mutant.file.clone()).or_default();
            count.tried += 1;
            let has_survived = mutant.fate == Fate::Survived;
            count.killed += usize::from(!has_survived);
            match entry {
                Some(at) => {
                    // Two mutants of one line may have the same name.
                    survives[at] = Some(has_survived || survives[at] == Some(true));
                    verdict.listed += usize::from(has_survived);
                }
                None if has_survived => verdict.unlisted.push(shown(mutant, line.as_deref())),
                None => {}
            }
        }
        let is_outdated = |(_, survives): &(&Known, Option<bool>)| *survives == Some(false);
        verdict.outdated =
            known.iter().zip(survives).filter(is_outdated).map(|(known, _)| known.clone()).collect();
        verdict
    }

    /// Whether enough were killed and every survivor is known.
    pub(super) fn is_fine(&self, extent: Extent) -> bool {
        let Count { tried, killed } = self.total();
        let is_enough = match extent {
            Extent::Whole | Extent::Sample => tried * MIN_KILLED_PERCENT <= killed * 100,
            Extent::Selection => true,
        };
        is_enough && self.unlisted.is_empty()
    }

    fn total(&self) -> Count {
        let add = |sum: Count, count: &Count| Count {
            tried: sum.tried + count.tried,
            killed: sum.killed + count.killed,
        };
        self.by_file.values().fold(Count::default(), add)
    }

    /// A table of the files, the survivors that no one knows about, and the total.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let width = self.by_file.keys().map(|file| file.chars().count()).max().unwrap_or(0);
        let _ = writeln!(text, "{:<width$}  mutants  killed", "file");
        for (file, count) in &self.by_file {
            let _ = writeln!(text, "{file:<width$}  {:>7}  {}", count.tried, percent(*count));
        }
        let total = self.total();
        let _ = writeln!(text, "{:<width$}  {:>7}  {}", "all", total.tried, percent(total));
        let survived = total.tried - total.killed;
        let _ = writeln!(
            text,
            "\n{survived} survived, {} of them are in xtask/mutants.json; {} did not compile",
            self.listed, self.unviable
        );
        for survivor in &self.unlisted {
            let _ = writeln!(text, "\nNOT NOTICED BY ANY TEST: {survivor}");
        }
        for Known { file, change, code, .. } in &self.outdated {
            let _ = writeln!(
                text,
                "\na test notices this now, remove it from xtask/mutants.json: {file}: {change}\n  {code}"
            );
        }
        if total.killed * 100 < total.tried * MIN_KILLED_PERCENT {
            let _ = writeln!(text, "\nless than {MIN_KILLED_PERCENT} % were killed");
        }
        text
    }
}

fn shown(mutant: &Mutant, code: Option<&str>) -> String {
    let Mutant { file, line, change, .. } = mutant;
    format!("{file}:{line}: {change}\n  {}", code.unwrap_or_default())
}

/// Never `100.0 %` as long as one survives.
fn percent(Count { tried, killed }: Count) -> String {
    let tenths = (killed * 1000).checked_div(tried).unwrap_or(1000);
    format!("{:>3}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(line: usize, change: &str, fate: Fate) -> Mutant {
        Mutant { file: "src/a.rs".to_owned(), line, change: change.to_owned(), fate }
    }

    fn known(code: &str, change: &str) -> Known {
        let (file, reason) = ("src/a.rs".to_owned(), "it makes no difference".to_owned());
        Known { file, code: code.to_owned(), change: change.to_owned(), reason }
    }

    /// A source file in which each line says its number.
    fn code(file: &str, line: usize) -> Option<String> {
        (file == "src/a.rs").then(|| format!("line {line}"))
    }

    #[test]
    fn a_survivor_must_be_listed_with_its_line_and_its_change() {
        let mutants = [mutant(1, "delete !", Fate::Survived)];
        let is_fine = |known: &[Known]| Verdict::new(&mutants, known, &code).is_fine(Extent::Selection);
        assert!(is_fine(&[known("line 1", "delete !")]));
        assert!(!is_fine(&[]));
        assert!(!is_fine(&[known("line 2", "delete !")]));
        assert!(!is_fine(&[known("line 1", "delete -")]));
        let elsewhere = Known { file: "src/b.rs".to_owned(), ..known("line 1", "delete !") };
        assert!(!is_fine(&[elsewhere]));
    }

    #[test]
    fn nine_of_ten_must_die_even_when_every_survivor_is_known() {
        let known = [known("line 1", "delete !")];
        let of = |killed: usize, survived: usize| {
            let mut mutants = vec![mutant(2, "replace + with -", Fate::Killed); killed];
            mutants.extend(vec![mutant(1, "delete !", Fate::Survived); survived]);
            // They count for nothing.
            mutants.extend(vec![mutant(3, "replace * with /", Fate::Unviable); 50]);
            Verdict::new(&mutants, &known, &code)
        };
        assert!(of(9, 1).is_fine(Extent::Whole));
        assert!(of(90, 10).is_fine(Extent::Sample));
        assert!(!of(89, 11).is_fine(Extent::Sample));
        assert!(!of(899, 101).is_fine(Extent::Whole));
        assert!(of(0, 1).is_fine(Extent::Selection));
        assert!(of(899, 101).text().contains("89.9 %"));
        assert!(of(899, 101).text().contains("less than 90 % were killed"));
        assert!(of(9999, 1).text().contains("99.9 %"), "not rounded up to all");
    }

    #[test]
    fn entries_that_are_no_longer_true_are_named() {
        let list = [known("line 1", "delete !"), known("line 2", "delete !"), known("line 3", "delete !")];
        let mutants = [mutant(1, "delete !", Fate::Killed), mutant(3, "delete !", Fate::Survived)];
        let verdict = Verdict::new(&mutants, &list, &code);
        // The second was not tried.
        assert_eq!(verdict.outdated, [known("line 1", "delete !")]);
        // Two on one line with the same name: one of them survives.
        let twins = [mutant(1, "delete !", Fate::Survived), mutant(1, "delete !", Fate::Killed)];
        assert_eq!(Verdict::new(&twins, &list, &code).outdated, []);
    }

    #[test]
    fn it_says_where_and_what() {
        let mutants = [
            mutant(1, "replace a -> bool with true", Fate::Killed),
            mutant(12, "replace < with <= in a", Fate::Survived),
            Mutant { file: "src/longer/b.rs".to_owned(), ..mutant(4, "delete !", Fate::Survived) },
            mutant(5, "delete !", Fate::Unviable),
        ];
        let expected = "\
file             mutants  killed
src/a.rs               2   50.0 %
src/longer/b.rs        1    0.0 %
all                    3   33.3 %

2 survived, 0 of them are in xtask/mutants.json; 1 did not compile

NOT NOTICED BY ANY TEST: src/a.rs:12: replace < with <= in a
  line 12

NOT NOTICED BY ANY TEST: src/longer/b.rs:4: delete !
  \n
less than 90 % were killed
";
        assert_eq!(Verdict::new(&mutants, &[], &code).text(), expected);
    }
}
