//! What became of each fault.

use std::fmt;

use anyhow::Result;

/// What a machine lacks for a trial.
#[derive(Debug)]
pub(super) struct Lacking(pub(super) String);

impl fmt::Display for Lacking {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl std::error::Error for Lacking {}

/// How a trial ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    Survived,
    Failed(String),
    /// The machine lacks something.
    Skipped(String),
    /// The time was over.
    NotTried,
}

impl End {
    pub(super) fn of(trial: Result<()>) -> Self {
        match trial {
            Ok(()) => Self::Survived,
            Err(error) => match error.downcast_ref::<Lacking>() {
                Some(lacking) => Self::Skipped(lacking.0.clone()),
                None => Self::Failed(format!("{error:#}")),
            },
        }
    }
}

/// The trials of each fault, in the order of the first.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<(&'static str, Vec<End>)>,
}

impl Table {
    pub(super) fn add(&mut self, name: &'static str, end: End) {
        match self.rows.iter_mut().find(|(known, _)| *known == name) {
            Some((_, ends)) => ends.push(end),
            None => self.rows.push((name, vec![end])),
        }
    }

    /// Whether ralph survived everything that was tried, and something was.
    pub(super) fn is_good(&self) -> bool {
        let mut ends = self.rows.iter().flat_map(|(_, ends)| ends);
        let is_tried = self.rows.iter().any(|(_, ends)| ends.contains(&End::Survived));
        is_tried && !ends.any(|end| matches!(end, End::Failed(_)))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(5);
        writeln!(out, "{:width$}  trials  survived", "fault")?;
        for (name, ends) in &self.rows {
            let tried = ends.iter().filter(|end| matches!(end, End::Survived | End::Failed(_))).count();
            let survived = ends.iter().filter(|end| **end == End::Survived).count();
            writeln!(out, "{name:width$}  {tried:>6}  {survived:>8}")?;
            for end in ends {
                match end {
                    End::Failed(why) => writeln!(out, "  FAILED: {}", why.trim().replace('\n', "\n    "))?,
                    End::Skipped(why) => writeln!(out, "  skipped: {why}")?,
                    End::NotTried => writeln!(out, "  not tried: the time was over")?,
                    End::Survived => {}
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn a_failure_is_shown_and_counts() {
        let mut table = Table::default();
        assert!(!table.is_good(), "nothing was tried");
        table.add("kills", End::of(Ok(())));
        table.add("disks", End::of(Err(Lacking("no mount".to_owned()).into())));
        table.add("clocks", End::NotTried);
        assert!(table.is_good());
        table.add("kills", End::of(Err(anyhow!("a commit is lost"))));
        assert!(!table.is_good());
        let expected = "\
fault   trials  survived
kills        2         1
  FAILED: a commit is lost
disks        0         0
  skipped: no mount
clocks       0         0
  not tried: the time was over
";
        assert_eq!(table.to_string(), expected);
    }
}
