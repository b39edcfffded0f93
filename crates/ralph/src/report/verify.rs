//! Whether a receipt holds, for people.

use std::fmt::Write;

use ralph_core::receipt::verdict::{Item, Topic, Verdict};

use super::style::Marks;
use crate::{
    receipt::verify::Verified,
    term::{Palette, printable},
};

/// All that was looked at, then what follows.
pub(crate) fn text(verified: &Verified, verdict: Verdict, marks: Marks, palette: Palette) -> String {
    let mut text = String::new();
    let width = verified.items.iter().map(|item| name(item.topic).len()).max().unwrap_or_default();
    for Item { topic, verdict, text: line, hints } in &verified.items {
        let mark = mark(*verdict, marks);
        let _ = writeln!(text, "{mark} {:width$}  {}", name(*topic), printable(line));
        for hint in hints {
            let cyan = palette.accent;
            let _ = writeln!(text, "   {cyan}hint:{cyan:#} {}", printable(hint));
        }
    }
    if let Some(statement) = &verified.statement {
        let predicate = &statement.predicate;
        for caveat in &predicate.caveats {
            let _ = writeln!(text, "   caveat: {}", printable(&caveat.text));
        }
        if predicate.containment.key_reachable {
            let _ = writeln!(text, "   caveat: the agent could reach the key that signs receipts");
        }
    }
    let commit = verified.commit.as_deref().and_then(|it| it.get(..12)).unwrap_or("what is here");
    let _ = writeln!(
        text,
        "{}",
        match verdict {
            Verdict::Holds => format!("The receipt of {commit} holds."),
            Verdict::DoesNotHold => format!("The receipt of {commit} does not hold."),
            Verdict::CannotTell =>
                format!("Whether there is a receipt of {commit} that holds cannot be told."),
        }
    );
    text
}

fn mark(verdict: Verdict, marks: Marks) -> &'static str {
    match verdict {
        Verdict::Holds => marks.good,
        Verdict::DoesNotHold => marks.bad,
        Verdict::CannotTell => marks.warning,
    }
}

fn name(topic: Topic) -> &'static str {
    match topic {
        Topic::Receipt => "receipt",
        Topic::Signature => "signature",
        Topic::Subject => "subject",
        Topic::Base => "base",
        Topic::Outcome => "outcome",
        Topic::Guardrails => "guardrails",
        Topic::Findings => "findings",
        Topic::Journal => "record",
        Topic::Policy => "policy",
        Topic::Rerun => "rerun",
    }
}
