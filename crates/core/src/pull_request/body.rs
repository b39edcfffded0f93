//! The description of a pull request: what was asked, what was judged, what is to be known about it.

use std::{fmt::Write, time::Duration};

use super::quoted::{block, inline};
use crate::{
    duration::format_duration,
    receipt::statement::{GuardrailFacts, Predicate, Remark, RunEnding, TestCounts},
};

/// Where ralph's part of a description begins and ends; what people write around it stays.
const BEGIN: &str = "<!-- ralph begins -->";
const END: &str = "<!-- ralph ends -->";

/// So many characters of what was asked are told.
const MAX_ASKED_CHARS: usize = 4000;
/// So many characters of a line.
const MAX_LINE_CHARS: usize = 300;
/// So many commits, findings or guardrails are listed.
const MAX_LISTED: usize = 50;

/// What the run was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// In the words of the user.
    pub text: &'a str,
    /// The issue that it is for, where that is in the same repository.
    pub issue: Option<u64>,
}

/// Everything that a description says.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// What was asked.
    pub asked: Asked<'a>,
    /// How the run ended, in a line.
    pub outcome: &'a str,
    /// What its receipt says.
    pub judged: &'a Predicate,
    /// Its commits: id and subject.
    pub commits: &'a [(String, String)],
    /// Whether the receipts of its commits are pushed.
    pub has_notes: bool,
}

/// The description.
pub fn body(described: &Described<'_>) -> String {
    let Described { asked, outcome, judged, commits, has_notes } = described;
    let mut out = format!("{BEGIN}\n## What was asked\n\n");
    if let Some(issue) = asked.issue {
        let _ = writeln!(out, "For issue #{issue}.\n");
    }
    let _ = writeln!(out, "{}\n\n## What was judged\n", block(asked.text, MAX_ASKED_CHARS));
    let _ = writeln!(out, "{} (exit code {}).\n", inline(outcome, MAX_LINE_CHARS), judged.run.exit_code);
    out += &guardrails(&judged.guardrails);
    out += &remarks("Findings", &judged.findings, "None.");
    if let Some(accepted) = &judged.accepted {
        let why = accepted
            .why
            .as_deref()
            .map(|why| format!(": {}", inline(why, MAX_LINE_CHARS)))
            .unwrap_or_default();
        let _ = writeln!(out, "\nA person looked at them and accepted the work{why}.");
    }
    if !judged.caveats.is_empty() {
        out += &remarks("Caveats", &judged.caveats, "");
    }
    if !commits.is_empty() {
        out += "\n## Commits\n\n";
        for (id, subject) in commits.iter().take(MAX_LISTED) {
            let _ = writeln!(out, "- {} {}", inline(id, 40), inline(subject, MAX_LINE_CHARS));
        }
        out += &more(commits.len());
    }
    let _ = writeln!(out, "\n## Cost\n\n{}", cost(judged));
    let _ = write!(out, "\n## Receipt\n\n{}\n{END}", receipt(judged, *has_notes));
    out
}

/// The same in a line, for a forge that takes no more.
pub fn summary(described: &Described<'_>) -> String {
    let passed = described.judged.guardrails.iter().filter(|it| is_passed(it)).count();
    let (all, findings) = (described.judged.guardrails.len(), described.judged.findings.len());
    let outcome = super::quoted::in_a_line(described.outcome);
    format!(
        "{outcome} (exit code {}). {passed} of {all} guardrails passed, {findings} findings. {}",
        described.judged.run.exit_code,
        cost(described.judged)
    )
}

/// A description that there is, with ralph's part replaced. Nothing where a person took ralph's part out.
pub fn merged(before: &str, new: &str) -> Option<String> {
    if before.trim().is_empty() {
        return Some(new.to_owned());
    }
    let (above, rest) = before.split_once(BEGIN)?;
    let (_, below) = rest.split_once(END)?;
    Some(format!("{above}{new}{below}"))
}

fn guardrails(all: &[GuardrailFacts]) -> String {
    if all.is_empty() {
        return "No guardrail checked the work.\n".to_owned();
    }
    let mut out =
        "| guardrail | working tree | clean clone | tests before | tests after |\n|---|---|---|---|---|\n"
            .to_owned();
    for it in all.iter().take(MAX_LISTED) {
        let name = it
            .command
            .as_deref()
            .map_or_else(|| "a hidden guardrail".to_owned(), |command| inline(command, 120));
        let after = it.in_judge.as_ref().or(it.in_project.as_ref()).and_then(|it| it.tests);
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} |",
            ending(it.in_project.as_ref()),
            ending(it.in_judge.as_ref()),
            counts(it.tests_before),
            counts(after)
        );
    }
    out + &more(all.len())
}

fn is_passed(guardrail: &GuardrailFacts) -> bool {
    let last = guardrail.in_judge.as_ref().or(guardrail.in_project.as_ref());
    last.is_some_and(|it| it.passed)
}

fn ending(ending: Option<&RunEnding>) -> String {
    match ending {
        None => "not run".to_owned(),
        Some(RunEnding { passed: true, .. }) => "passed".to_owned(),
        Some(RunEnding { exit_code: Some(code), .. }) => format!("failed ({code})"),
        Some(RunEnding { exit_code: None, .. }) => "failed".to_owned(),
    }
}

fn counts(tests: Option<TestCounts>) -> String {
    let Some(TestCounts { passed, failed, skipped }) = tests else { return String::new() };
    let parts = [(passed, "passed"), (failed, "failed"), (skipped, "skipped")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| 0 < *count).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { "none ran".to_owned() } else { parts.join(", ") }
}

fn remarks(title: &str, all: &[Remark], none: &str) -> String {
    let mut out = format!("\n## {title}\n\n");
    for remark in all.iter().take(MAX_LISTED) {
        let _ = writeln!(out, "- {}: {}", inline(&remark.kind, 60), inline(&remark.text, MAX_LINE_CHARS));
    }
    if all.is_empty() {
        let _ = writeln!(out, "{none}");
    }
    out + &more(all.len())
}

fn more(all: usize) -> String {
    let rest = all.saturating_sub(MAX_LISTED);
    if rest == 0 { String::new() } else { format!("\nAnd {rest} more.\n") }
}

fn cost(judged: &Predicate) -> String {
    let spent = &judged.spent;
    let usd = spent.cost_usd.map(|usd| format!(", ${usd:.2}")).unwrap_or_default();
    let tokens = if spent.tokens == 0 { String::new() } else { format!(", {} tokens", spent.tokens) };
    let agents: Vec<String> = judged.agents.iter().map(|agent| inline(&agent.name, 60)).collect();
    let models = judged.agents.iter().flat_map(|agent| &agent.models).map(|model| inline(model, 60));
    let who = [agents.join(", "), models.collect::<Vec<_>>().join(", ")];
    let who: Vec<String> = who.into_iter().filter(|it| !it.is_empty()).collect();
    let sandbox = &judged.containment.sandbox;
    format!(
        "{} iterations, {} turns, {}{tokens}{usd}. Agent: {}; sandbox: {}.",
        spent.iterations,
        spent.turns,
        format_duration(Duration::from_millis(spent.ms)),
        who.join(", "),
        inline(sandbox, 40)
    )
}

fn receipt(judged: &Predicate, has_notes: bool) -> String {
    let run = inline(&judged.run.id, 60);
    let commit = judged.result.as_ref().map(|it| it.commit.as_str()).unwrap_or_default();
    let how = if has_notes {
        format!("\n\n```sh\ngit fetch origin refs/notes/ralph:refs/notes/ralph && ralph verify {commit}\n```")
    } else {
        " Its receipt is on the machine that ran it: add `notes` to `scm.tasks` to push receipts.".to_owned()
    };
    format!("Run {run}, made by ralph {}.{how}", inline(&judged.tools.ralph, 40))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::sifted::WORD_JOINER;

    fn predicate() -> Predicate {
        serde_json::from_value(serde_json::json!({
            "run": {"id": "20261118-0001", "preset": "run", "began": "2026-11-18T10:00:00Z", "ended": "2026-11-18T10:05:00Z",
                    "outcome": "done", "exitCode": 0},
            "result": {"commit": "abc123", "tree": "def456"},
            "plan": "00",
            "guardrails": [
                {"kind": "command", "command": "make test | tee log", "sha256": "00",
                 "inProject": {"passed": true, "exitCode": 0, "ms": 1, "tests": {"passed": 12, "failed": 0, "skipped": 1}},
                 "inJudge": {"passed": false, "exitCode": 2, "ms": 1},
                 "testsBefore": {"passed": 10, "failed": 0, "skipped": 0}},
                {"kind": "hidden", "sha256": "00"}
            ],
            "findings": [{"kind": "checks-changed", "text": "tests/a.py: @ann fixes #1 </details>"}],
            "caveats": [],
            "containment": {"sandbox": "embedded", "gatesInside": true, "guard": true, "refused": 0, "hosts": [],
                            "hostsRefused": [], "keyReachable": false},
            "agents": [{"name": "claude", "models": ["opus"], "roles": ["work"]}],
            "spent": {"iterations": 2, "turns": 3, "ms": 61000, "tokens": 1200, "costUsd": 1.5},
            "tools": {"ralph": "0.1.0", "platform": "linux"},
            "journal": {"lines": 9, "chain": "00", "sha256": "00"}
        }))
        .expect("a predicate")
    }

    fn described(judged: &Predicate, has_notes: bool) -> String {
        let commits = [("abc123".to_owned(), "Closes #2 for @bob".to_owned())];
        let asked = Asked { text: "Accept weeks.\n```\n@ann", issue: Some(12) };
        body(&Described { asked, outcome: "Complete", judged, commits: &commits, has_notes })
    }

    #[test]
    fn a_description_says_what_was_judged() {
        let text = described(&predicate(), true).replace(WORD_JOINER, "·");
        for part in [
            "<!-- ralph begins -->\n## What was asked\n\nFor issue #12.\n\n````text\nAccept weeks.\n```\n@·ann\n````\n",
            "Complete (exit code 0).",
            "| make test \\| tee log | passed | failed (2) | 10 passed |  |\n",
            "| a hidden guardrail | not run | not run |  |  |\n",
            "- checks\\-changed: tests/a.py\\: @·ann fixes \\#·1 &lt;/details&gt;\n",
            "- abc123 Closes \\#·2 for @·bob\n",
            "2 iterations, 3 turns, 1m1s, 1200 tokens, $1.50. Agent: claude, opus; sandbox: embedded.",
            "ralph verify abc123\n```\n<!-- ralph ends -->",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
        assert!(described(&predicate(), false).contains("add `notes` to `scm.tasks`"));
    }

    #[test]
    fn nothing_judged_and_nothing_found_is_said() {
        let judged = Predicate { guardrails: Vec::new(), findings: Vec::new(), ..predicate() };
        let text = described(&judged, false);
        assert!(
            text.contains("No guardrail checked the work.") && text.contains("## Findings\n\nNone."),
            "{text}"
        );
        let many = Predicate { findings: vec![predicate().findings[0].clone(); 60], ..predicate() };
        assert!(described(&many, false).contains("And 10 more."));
    }

    #[test]
    fn only_the_own_part_of_a_description_is_replaced() {
        let (old, new) = (described(&predicate(), true), described(&predicate(), false));
        assert_eq!(merged("", &new), Some(new.clone()));
        assert_eq!(merged(&format!("Mine.\n{old}\nMore."), &new), Some(format!("Mine.\n{new}\nMore.")));
        assert_eq!(merged("All mine.", &new), None);
        assert_eq!(merged("<!-- ralph begins --> cut", &new), None);
    }

    #[test]
    fn a_forge_that_takes_a_line_gets_one() {
        let asked = Asked { text: "x", issue: None };
        let judged = predicate();
        let line = summary(&Described {
            asked,
            outcome: "Gave\nup",
            judged: &judged,
            commits: &[],
            has_notes: false,
        });
        assert!(
            line.starts_with("Gave up (exit code 0). 0 of 2 guardrails passed, 1 findings. 2 iterations"),
            "{line}"
        );
        assert!(!line.contains('\n'));
    }

    #[test]
    fn caveats_are_there_where_there_are_some() {
        assert!(!described(&predicate(), false).contains("Caveats"));
        let mut judged = predicate();
        judged.caveats =
            serde_json::from_value(serde_json::json!([{"kind": "offline", "text": "no network"}]))
                .expect("caveats");
        let text = described(&judged, false);
        assert!(text.contains("Caveats") && text.contains("no network"), "{text}");
    }

    #[test]
    fn the_line_counts_what_passed_last() {
        let mut judged = predicate();
        let line = |judged: &Predicate| {
            let asked = Asked { text: "x", issue: None };
            summary(&Described { asked, outcome: "Complete", judged, commits: &[], has_notes: false })
        };
        assert!(line(&judged).contains("0 of 2 guardrails passed"), "{}", line(&judged));
        judged.guardrails[0].in_judge = None;
        assert!(line(&judged).contains("1 of 2 guardrails passed"), "{}", line(&judged));
    }
}
