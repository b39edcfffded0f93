//! The table of results.

use std::{
    fmt::{self, Write},
    time::Duration,
};

/// What was measured, line by line.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// What a reader needs to compute the rows again.
    notes: Vec<String>,
}

struct Row {
    measure: String,
    floor: String,
    ours: String,
    value: String,
    limit: String,
    is_met: bool,
}

impl Table {
    /// A time that may be at most `limit` times the floor.
    pub(super) fn ratio(&mut self, measure: &str, floor: f64, ours: f64, limit: f64) {
        let ratio = ours / floor;
        self.rows.push(Row {
            measure: measure.to_owned(),
            floor: seconds(floor),
            ours: seconds(ours),
            value: format!("{ratio:.2}x"),
            limit: format!("{limit}x"),
            // Not `limit < ratio`, which something that is not a number would pass.
            is_met: ratio <= limit,
        });
    }

    /// Instructions, of which there may be at most `limit` times as many as in the floor.
    pub(super) fn count(&mut self, measure: &str, floor: u64, ours: u64, limit: f64) {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
        let (floor, ours) = (floor as f64, ours as f64);
        self.ratio(measure, floor, ours, limit);
        if let Some(row) = self.rows.last_mut() {
            let millions = |count: f64| format!("{:.3} M", count / 1e6);
            (row.floor, row.ours) = (millions(floor), millions(ours));
        }
    }

    /// How many in a second, of which there must be at least `least`.
    pub(super) fn rate(&mut self, measure: &str, ours: f64, least: f64) {
        self.rows.push(Row {
            measure: measure.to_owned(),
            floor: String::new(),
            ours: format!("{ours:.0}/s"),
            value: String::new(),
            limit: format!("over {least}/s"),
            is_met: least <= ours,
        });
    }

    /// An amount of memory in bytes that may be at most `limit` megabytes.
    pub(super) fn memory(&mut self, measure: &str, ours: f64, limit: f64) {
        let megabytes = ours / 1e6;
        self.value(measure, megabytes, limit, |value| format!("{value:.1} MB"));
    }

    /// A time that may be at most `limit`.
    pub(super) fn time(&mut self, measure: &str, ours: f64, limit: Duration) {
        self.value(measure, ours, limit.as_secs_f64(), seconds);
    }

    /// A share that may be at most `limit`.
    pub(super) fn percent(&mut self, measure: &str, ours: f64, limit: f64) {
        self.value(measure, ours, limit, |value| format!("{:.2} %", 100.0 * value));
    }

    /// Something that the rows are computed from.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// The same as a part of a page.
    pub(super) fn markdown(&self) -> String {
        let mut text =
            "| measure (medians) | floor | ralph | ratio | at most |\n|---|--:|--:|--:|--:|\n".to_owned();
        for Row { measure, floor, ours, value, limit, .. } in &self.rows {
            let measure = measure.strip_prefix("  ").map_or(measure.clone(), |rest| format!("… {rest}"));
            let _ = writeln!(text, "| {measure} | {floor} | {ours} | {value} | {limit} |");
        }
        text.push('\n');
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        text
    }

    /// Whether nothing was measured.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether no limit was missed.
    pub(super) fn is_met(&self) -> bool {
        self.rows.iter().all(|row| row.is_met)
    }

    fn value(&mut self, measure: &str, ours: f64, limit: f64, show: fn(f64) -> String) {
        self.rows.push(Row {
            measure: measure.to_owned(),
            floor: String::new(),
            ours: show(ours),
            value: String::new(),
            limit: show(limit),
            is_met: ours <= limit,
        });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<56}{:>11}{:>11}{:>9}{:>11}",
            "measure (medians)", "floor", "ours", "ratio", "at most"
        )?;
        for Row { measure, floor, ours, value, limit, is_met } in &self.rows {
            let verdict = if *is_met { "ok" } else { "MISSED" };
            writeln!(f, "{measure:<56}{floor:>11}{ours:>11}{value:>9}{limit:>11}  {verdict}")?;
        }
        writeln!(f)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// A time in the unit that suits it.
pub(super) fn seconds(seconds: f64) -> String {
    if seconds.abs() < 0.01 { format!("{:.0} us", seconds * 1e6) } else { format!("{:.1} ms", seconds * 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_below_its_limit_and_a_count_above_it_are_missed() {
        let is_met = |fill: fn(&mut Table)| {
            let mut table = Table::default();
            fill(&mut table);
            (table.is_met(), table.markdown())
        };
        let (met, text) = is_met(|table| table.rate("x", 100.0, 100.0));
        assert!(met && text.contains("| x |  | 100/s |  | over 100/s |"), "{text}");
        assert!(!is_met(|table| table.rate("x", 99.0, 100.0)).0);
        assert!(!is_met(|table| table.rate("x", f64::NAN, 100.0)).0);
        let (met, text) = is_met(|table| table.count("x", 1_000_000, 1_020_000, 1.02));
        assert!(met && text.contains("| x | 1.000 M | 1.020 M | 1.02x | 1.02x |"), "{text}");
        assert!(!is_met(|table| table.count("x", 1_000_000, 1_030_000, 1.02)).0);
    }
}
