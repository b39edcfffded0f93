//! The spellings of the other loops: an agent that learnt one of them elsewhere is understood, where it cannot be
//! anything but a claim.

use super::{Claim, Matching};

/// The name of a tag, what stands in it, and how strictly it is compared.
type Known = (&'static str, &'static str, Matching);

/// How the loops are ended, unless their users choose other words.
const KNOWN: [Known; 3] = [
    ("response", "DONE", Matching::FirstIgnoringCase),
    ("promise", "COMPLETE", Matching::Exact),
    ("promise", "DONE", Matching::Exact),
];

/// Looks for another loop's tag, alone on the last line of the last message that says anything.
#[derive(Debug)]
pub(super) struct OtherSpelling {
    accepted: Vec<Known>,
}

impl OtherSpelling {
    /// Those of other loops than the one that waits for `claims`. Who chose words of their own wants those.
    pub(super) fn than(claims: &[Claim]) -> Self {
        let is_waited_for = |(name, text, _): &Known| {
            let is_it = |claim: &Claim| matches!(claim, Claim::Tag { name: own, text: said, .. } if own == name && said == text);
            claims.iter().any(is_it)
        };
        let is_usual = KNOWN.iter().any(is_waited_for);
        let accepted = KNOWN.into_iter().filter(|known| is_usual && !is_waited_for(known)).collect();
        Self { accepted }
    }

    /// Whether the last line is such a tag.
    pub(super) fn is_said(&self, last_line: Option<&str>) -> bool {
        // Most messages end with something else.
        let line = last_line.filter(|line| line.starts_with('<'));
        line.is_some_and(|line| self.accepted.iter().any(|known| is_alone(known, line)))
    }
}

fn is_alone((name, text, matching): &Known, line: &str) -> bool {
    match matching {
        Matching::Exact | Matching::ExactInLastMessage => line == format!("<{name}>{text}</{name}>"),
        Matching::FirstIgnoringCase => {
            let line = line.to_lowercase();
            let content =
                line.strip_prefix(&format!("<{name}>")).and_then(|it| it.strip_suffix(&format!("</{name}>")));
            content.is_some_and(|content| content.trim() == text.to_lowercase())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scanners;
    use crate::engine::{plan::Plan, presets};

    #[track_caller]
    fn check(plan: &Plan, messages: &[&str], expected: bool) {
        let [whole, cut] = scanners(&plan.claims, messages);
        assert_eq!((whole.claimed(), cut.claimed()), (expected, expected), "{} {messages:?}", plan.preset);
    }

    #[test]
    fn another_spelling_counts_alone_on_the_last_line_of_the_last_message() {
        let (run, build) = (presets::run("DONE", vec![]), presets::build("plan.md", vec![]));
        let session = presets::session("DONE", 3, vec![]);
        for (plan, other) in [
            (&run, "<promise>COMPLETE</promise>"),
            (&run, "<promise>DONE</promise>"),
            (&build, "<response>DONE</response>"),
            (&build, "<Response> done </Response>"),
            (&build, "<promise>DONE</promise>"),
            (&session, "<promise>COMPLETE</promise>"),
            (&session, "<response>DONE</response>"),
        ] {
            check(plan, &[other], true);
            check(plan, &["At work.", &format!("It works.\n\n  {other}  \n\n")], true);
            check(plan, &[&format!("It works. {other}")], false);
            check(plan, &[&format!("`{other}`")], false);
            check(plan, &[&format!("{other}.")], false);
            check(plan, &[&format!("{other}\nNot yet.")], false);
            check(plan, &[other, "Not yet."], false);
            check(plan, &[other, " \n"], true);
            check(plan, &[&format!("{}{other}", "x".repeat(4096))], false);
            check(plan, &[&format!("{}\n{other}", "x".repeat(4096))], true);
            check(plan, &[&format!("{other}{}x", " ".repeat(4096))], false);
        }
        check(&build, &["<promise>complete</promise>"], false);
        check(&session, &["<promise> DONE</promise>"], false);
        // Its own spelling counts anywhere, as ever.
        check(&run, &["It works. <response>DONE</response> Bye."], true);
        // The first tag has decided.
        check(&run, &["<response>no</response>\n<promise>COMPLETE</promise>"], false);
        // Other words were chosen.
        check(&presets::run("FERTIG", vec![]), &["<promise>COMPLETE</promise>"], false);
        check(&presets::session("FERTIG", 3, vec![]), &["<promise>DONE</promise>"], false);
        // Nothing is waited for in words.
        check(&presets::task("DONE", "WAIT", vec![]), &["<response>DONE</response>"], false);
        check(&presets::prompt(), &["<response>DONE</response>"], false);
    }
}
