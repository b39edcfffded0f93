//! Whether a receipt holds, for people.

use std::fmt::Write;

use ralph_core::receipt::verdict::{ReceiptVerdict, VerdictItem, VerdictTopic};

use super::style::Marks;
use crate::{
    receipt::verify::Verified,
    term::{Palette, printable},
};

/// All that was looked at, then what follows.
pub(crate) fn text(verified: &Verified, verdict: ReceiptVerdict, marks: Marks, palette: Palette) -> String {
    let mut text = String::new();
    let width = verified.items.iter().map(|item| name(item.topic).len()).max().unwrap_or_default();
    for VerdictItem { topic, verdict, text: line, hints } in &verified.items {
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
            ReceiptVerdict::Holds => format!("The receipt of {commit} is valid."),
            ReceiptVerdict::DoesNotHold => format!("The receipt of {commit} is not valid."),
            ReceiptVerdict::CannotTell => format!("Cannot tell whether {commit} has a valid receipt."),
        }
    );
    text
}

fn mark(verdict: ReceiptVerdict, marks: Marks) -> &'static str {
    match verdict {
        ReceiptVerdict::Holds => marks.good,
        ReceiptVerdict::DoesNotHold => marks.bad,
        ReceiptVerdict::CannotTell => marks.warning,
    }
}

fn name(topic: VerdictTopic) -> &'static str {
    match topic {
        VerdictTopic::Receipt => "receipt",
        VerdictTopic::Signature => "signature",
        VerdictTopic::Subject => "subject",
        VerdictTopic::Base => "base",
        VerdictTopic::Outcome => "outcome",
        VerdictTopic::Guardrails => "guardrails",
        VerdictTopic::Findings => "findings",
        VerdictTopic::Journal => "record",
        VerdictTopic::Policy => "policy",
        VerdictTopic::Rerun => "rerun",
    }
}
