//! What is kept of a record that is only read to see how its run stands: a long one is nearly all routine.

use ralph_core::engine::{entry::Entry, event::Event};

/// The entries that say how a run stands: without the routine of the turns before the last.
#[derive(Default)]
pub(super) struct Brief {
    /// What is no routine, of the turns before the last.
    others: Vec<Entry>,
    /// What was checked last, as long as nothing of the last turn was.
    gates: Vec<Entry>,
    /// Everything since the last turn began.
    turn: Vec<Entry>,
}

impl Brief {
    /// Takes in what was recorded next.
    pub(super) fn push(&mut self, entry: Entry) {
        match &entry.event {
            Event::TurnStarted(_) => self.end_turn(),
            Event::GateEnded(_) => self.gates.clear(),
            _ => {}
        }
        self.turn.push(entry);
    }

    /// What is kept, in its order.
    pub(super) fn entries(mut self) -> Vec<Entry> {
        self.others.append(&mut self.gates);
        self.others.append(&mut self.turn);
        self.others
    }

    fn end_turn(&mut self) {
        // Dropped where it is: an entry is large, and nearly all are routine.
        self.turn.retain(|entry| {
            !matches!(entry.event, Event::TurnStarted(_) | Event::TurnEnded(_) | Event::GateStarted { .. })
        });
        if self.turn.iter().all(is_gate) {
            return self.gates.append(&mut self.turn);
        }
        for entry in self.turn.drain(..) {
            if is_gate(&entry) { self.gates.push(entry) } else { self.others.push(entry) }
        }
    }
}

fn is_gate(entry: &Entry) -> bool {
    matches!(entry.event, Event::GateEnded(_))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;
    use ralph_core::engine::event::{GateEnded, Turn, TurnEnd, TurnEnded};

    use super::*;

    /// One event of each kind that matters here, told from others of its kind by its moment.
    fn entry(kind: u8, at: i64) -> Entry {
        let event = match kind {
            0 => Event::TurnStarted(Turn::default()),
            1 => Event::TurnEnded(Box::new(TurnEnded::new(TurnEnd::Finished))),
            2 => Event::GateStarted { gate: 0 },
            3 => Event::GateEnded(GateEnded::own(0, None, String::new())),
            4 => Event::ToolCallsJudged { calls: Vec::new() },
            _ => Event::StopRequested,
        };
        Entry { at: Timestamp::from_millisecond(at).expect("a moment"), event }
    }

    /// What was checked last, as those who show a run look for it.
    fn gates(entries: &[Entry]) -> Vec<Timestamp> {
        let (mut gates, mut is_over) = (Vec::new(), false);
        for entry in entries {
            match entry.event {
                Event::TurnStarted(_) => is_over = true,
                Event::GateEnded(_) => {
                    if std::mem::take(&mut is_over) {
                        gates.clear();
                    }
                    gates.push(entry.at);
                }
                _ => {}
            }
        }
        gates
    }

    fn since_last_turn(entries: &[Entry]) -> &[Entry] {
        let is_turn = |it: &Entry| matches!(it.event, Event::TurnStarted(_));
        &entries[entries.iter().rposition(is_turn).unwrap_or(0)..]
    }

    proptest! {
        #[test]
        fn what_is_kept_says_the_same(kinds in prop::collection::vec(0..6_u8, 1..60)) {
            let all: Vec<Entry> = kinds.iter().zip(0..).map(|(kind, at)| entry(*kind, at)).collect();
            let mut brief = Brief::default();
            for entry in &all {
                brief.push(entry.clone());
            }
            let kept = &brief.entries();
            prop_assert_eq!(gates(kept), gates(&all));
            prop_assert_eq!(kept.last(), all.last());
            if kinds.contains(&0) {
                prop_assert_eq!(since_last_turn(kept), since_last_turn(&all));
            }
            let others = |entries: &[Entry]| -> Vec<Entry> {
                let is_other = |it: &&Entry| matches!(it.event, Event::ToolCallsJudged { .. } | Event::StopRequested);
                entries.iter().filter(is_other).cloned().collect()
            };
            prop_assert_eq!(others(kept), others(&all));
        }
    }

    #[test]
    fn routine_does_not_pile_up() {
        let mut brief = Brief::default();
        for at in 0..1000 {
            for kind in [0, 1, 2, 3, 2, 3] {
                brief.push(entry(kind, at));
            }
        }
        let kept = brief.entries().len();
        assert!(kept < 20, "{kept}");
    }
}
