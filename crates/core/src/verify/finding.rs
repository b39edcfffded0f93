//! What can be found: something that was done to the judgement of a run.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    caveat::listed,
    changed_check::ChangedCheck,
    outside::{ChangedProgram, ChangedStartUp},
    tested::TestLoss,
};

/// Something that was done to the judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// A story was approved because it had been reviewed as often as the run allows; its last reviewer asked for changes.
    ApprovedAtCap {
        /// Which.
        story: String,
        /// After how many reviews.
        cap: u32,
    },
    /// A guardrail passes in the working tree and fails in the judge, even after ralph told the agent.
    JudgeDisagrees {
        /// Which.
        command: String,
    },
    /// A guardrail passes, and ran fewer tests than before the first iteration.
    FewerTests {
        /// Which.
        command: String,
        /// What is missing.
        #[serde(flatten)]
        loss: TestLoss,
    },
    /// Files outside of the project that are read before a guardrail's own are not as they were when the run began.
    StartUpChanged {
        /// Which.
        files: Vec<ChangedStartUp>,
    },
    /// Programs that guardrails run are not those that they were when the run began.
    ProgramChanged {
        /// Which.
        programs: Vec<ChangedProgram>,
    },
    /// A process of the run typed a command that is for the person who judges it. It was refused.
    PersonsCommand {
        /// The command.
        command: String,
    },
    /// A reviewer asked for changes as often as the settings let it; it did not approve what was claimed.
    NotApproved {
        /// Who.
        by: String,
        /// How often.
        rounds: u32,
        /// What it said last.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        summary: Option<String>,
    },
    /// A guardrail asks a reviewer, and no one gave a verdict on what was claimed.
    NotReviewed {
        /// The guardrail.
        review: String,
        /// Why not.
        why: String,
    },
    /// A reviewer does not say that what was claimed fixes the task, and the settings want it to.
    NotTheTask {
        /// What was said, or why nothing was.
        said: String,
    },
    /// Checks were weakened, or those that the run began with fail on the new code.
    ChecksChanged {
        /// Which.
        files: Vec<ChangedCheck>,
        /// Guardrails that fail with the checks that the run began with.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        commands: Vec<String>,
    },
    /// What runs the checks was changed, and with what the run began with guardrails fail.
    RunnerChanged {
        /// What.
        files: Vec<ChangedCheck>,
        /// Which guardrails.
        commands: Vec<String>,
    },
    /// Guardrails that failed before the run pass, and nothing but checks was changed.
    OnlyChecksChanged {
        /// What.
        files: Vec<ChangedCheck>,
        /// Which guardrails.
        commands: Vec<String>,
    },
}

impl Finding {
    /// In one line, without a full stop.
    pub fn line(&self) -> String {
        match self {
            Self::ApprovedAtCap { story, cap: 1 } => {
                format!("{story} was approved at the review cap of 1; its reviewer had asked for changes")
            }
            Self::ApprovedAtCap { story, cap } => {
                format!(
                    "{story} was approved at the review cap of {cap}; its last reviewer had asked for changes"
                )
            }
            Self::JudgeDisagrees { command } => {
                format!("`{command}` passes in the working tree and fails in a clean clone of the commit")
            }
            Self::FewerTests { command, loss } => format!("`{command}` {}", loss.words()),
            Self::StartUpChanged { files } => {
                let files: Vec<String> = files.iter().map(ChangedStartUp::words).collect();
                format!("outside of the project, {}", files.join("; "))
            }
            Self::ProgramChanged { programs } => {
                let programs: Vec<String> = programs.iter().map(ChangedProgram::words).collect();
                format!("outside of the project, {}", programs.join("; "))
            }
            Self::PersonsCommand { command } => {
                format!("a process of the run typed `ralph {command}`, which is for a person; it was refused")
            }
            Self::NotApproved { by, rounds, summary } => {
                let times = if *rounds == 1 { "once".to_owned() } else { format!("{rounds} times") };
                let said = summary.as_ref().map(|said| format!(": {said}")).unwrap_or_default();
                format!("the reviewer {by} asked for changes {times} and has not approved{said}")
            }
            Self::NotReviewed { review, why } => format!("`{review}` has no verdict: {why}"),
            Self::NotTheTask { said } => said.clone(),
            Self::ChecksChanged { files, commands } => {
                let what = format!("checks changed: {}", of_files(files));
                match &commands[..] {
                    [] => what,
                    _ => format!("{what}; with the old ones {}", fails(commands)),
                }
            }
            Self::RunnerChanged { files, commands } => {
                format!("what runs the checks changed: {}; as it was, {}", of_files(files), fails(commands))
            }
            Self::OnlyChecksChanged { files, commands } => {
                format!(
                    "only checks changed: {}; before that, {}",
                    of_files(files),
                    match &commands[..] {
                        [one] => format!("`{one}` failed"),
                        _ => format!("{} failed", quoted(commands)),
                    }
                )
            }
        }
    }

    /// Whether it says only that so many tests are gone.
    pub fn is_of(&self, gone: u64) -> bool {
        let Self::FewerTests { loss: TestLoss::Fewer { before, after }, .. } = self else { return false };
        before.saturating_sub(*after) <= gone
    }

    /// Whether it is about what was claimed last: another claim can be without it. Others stay.
    pub fn is_of_claim(&self) -> bool {
        match self {
            Self::FewerTests { .. }
            | Self::StartUpChanged { .. }
            | Self::ProgramChanged { .. }
            | Self::ChecksChanged { .. }
            | Self::RunnerChanged { .. }
            | Self::OnlyChecksChanged { .. } => true,
            Self::ApprovedAtCap { .. }
            | Self::JudgeDisagrees { .. }
            | Self::PersonsCommand { .. }
            | Self::NotApproved { .. }
            | Self::NotReviewed { .. }
            | Self::NotTheTask { .. } => false,
        }
    }

    /// Whether a reviewer's opinion on a claim is what is found: another claim has others.
    pub fn is_opinion(&self) -> bool {
        matches!(self, Self::NotApproved { .. } | Self::NotReviewed { .. } | Self::NotTheTask { .. })
    }

    /// What makes it the same finding when it is found again, whatever the details are then.
    pub fn key(&self) -> String {
        let files: BTreeSet<&str> = self.checks().iter().map(|check| check.file.as_str()).collect();
        let files = files.into_iter().collect::<Vec<_>>().join("\n");
        match self {
            Self::ApprovedAtCap { story, .. } => format!("approved_at_cap\n{story}"),
            Self::JudgeDisagrees { command } => format!("judge_disagrees\n{command}"),
            Self::FewerTests { command, .. } => format!("fewer_tests\n{command}"),
            Self::StartUpChanged { files } => {
                let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
                format!("start_up_changed\n{}", paths.join("\n"))
            }
            Self::ProgramChanged { programs } => {
                let names: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
                format!("program_changed\n{}", names.join("\n"))
            }
            Self::PersonsCommand { command } => format!("persons_command\n{command}"),
            Self::NotApproved { by, .. } => format!("not_approved\n{by}"),
            Self::NotReviewed { review, .. } => format!("not_reviewed\n{review}"),
            Self::NotTheTask { .. } => "not_the_task".to_owned(),
            Self::ChecksChanged { .. } => format!("checks_changed\n{files}"),
            Self::RunnerChanged { .. } => format!("runner_changed\n{files}"),
            Self::OnlyChecksChanged { .. } => format!("only_checks_changed\n{files}"),
        }
    }

    /// The changed files that it is about.
    pub fn checks(&self) -> &[ChangedCheck] {
        match self {
            Self::ChecksChanged { files, .. }
            | Self::RunnerChanged { files, .. }
            | Self::OnlyChecksChanged { files, .. } => files,
            Self::ApprovedAtCap { .. }
            | Self::JudgeDisagrees { .. }
            | Self::FewerTests { .. }
            | Self::StartUpChanged { .. }
            | Self::ProgramChanged { .. }
            | Self::NotApproved { .. }
            | Self::NotReviewed { .. }
            | Self::NotTheTask { .. }
            | Self::PersonsCommand { .. } => &[],
        }
    }

    /// What can be done about it, for the agent: one of two things.
    pub fn choices(&self) -> String {
        let files: Vec<String> = self.checks().iter().map(|check| format!("`{}`", check.file)).collect();
        let back = match &files[..] {
            [] => "Restore what was there when the run began".to_owned(),
            _ => format!("Put {} back as it was when the run began", listed(&files)),
        };
        format!(
            "{back}, or leave it and repeat your claim with <reason>why it had to change</reason> in the same message."
        )
    }
}

fn of_files(files: &[ChangedCheck]) -> String {
    listed(&files.iter().map(ChangedCheck::line).collect::<Vec<_>>())
}

fn quoted(commands: &[String]) -> String {
    listed(&commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>())
}

fn fails(commands: &[String]) -> String {
    match commands {
        [one] => format!("`{one}` fails"),
        _ => format!("{} fail", quoted(commands)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::changed_check::FileChange;
    use ralph_checks::protected::Role;

    fn changed(commands: &[&str]) -> Finding {
        Finding::ChecksChanged {
            files: vec![ChangedCheck::new("tests/a.py", Role::Test, FileChange::Changed)],
            commands: commands.iter().map(|command| (*command).to_owned()).collect(),
        }
    }

    #[test]
    fn every_finding_is_one_line() {
        let capped = |cap| Finding::ApprovedAtCap { story: "US-1".to_owned(), cap };
        for (finding, expected) in [
            (capped(1), "US-1 was approved at the review cap of 1; its reviewer had asked for changes"),
            (capped(3), "US-1 was approved at the review cap of 3; its last reviewer had asked for changes"),
            (
                Finding::PersonsCommand { command: "accept".to_owned() },
                "a process of the run typed `ralph accept`, which is for a person; it was refused",
            ),
            (
                Finding::NotApproved { by: "b".to_owned(), rounds: 1, summary: None },
                "the reviewer b asked for changes once and has not approved",
            ),
            (
                Finding::NotApproved { by: "b".to_owned(), rounds: 3, summary: Some("no".to_owned()) },
                "the reviewer b asked for changes 3 times and has not approved: no",
            ),
            (
                Finding::NotReviewed { review: "review by b".to_owned(), why: "it is silent".to_owned() },
                "`review by b` has no verdict: it is silent",
            ),
            (Finding::NotTheTask { said: "look: b".to_owned() }, "look: b"),
            (changed(&[]), "checks changed: tests/a.py (test) was changed"),
            (
                changed(&["pytest"]),
                "checks changed: tests/a.py (test) was changed; with the old ones `pytest` fails",
            ),
            (
                changed(&["a", "b"]),
                "checks changed: tests/a.py (test) was changed; with the old ones `a`, `b` fail",
            ),
        ] {
            assert_eq!(finding.line(), expected);
        }
        let value = serde_json::to_value(capped(3)).expect("JSON");
        assert_eq!(value, serde_json::json!({"finding": "approved_at_cap", "story": "US-1", "cap": 3}));
    }

    #[test]
    fn details_do_not_make_it_another_finding() {
        assert_eq!(changed(&[]).key(), changed(&["pytest"]).key());
        let other = Finding::ChecksChanged { files: Vec::new(), commands: Vec::new() };
        assert_ne!(changed(&[]).key(), other.key());
    }

    #[test]
    fn the_choices_name_the_files() {
        let fewer =
            Finding::FewerTests { command: "make".to_owned(), loss: TestLoss::NoSummary { before: 3 } };
        for (finding, expected) in [
            (changed(&[]), "Put `tests/a.py` back as it was when the run began, or "),
            (fewer, "Restore what was there when the run began, or "),
        ] {
            let text = finding.choices();
            assert!(text.starts_with(expected) && text.contains("<reason>"), "{text}");
        }
    }

    #[test]
    fn another_claim_can_be_without_what_is_about_the_claim() {
        let command = || "make".to_owned();
        for (finding, expected) in [
            (Finding::FewerTests { command: command(), loss: TestLoss::NoSummary { before: 3 } }, true),
            (Finding::StartUpChanged { files: vec![] }, true),
            (Finding::ProgramChanged { programs: vec![] }, true),
            (changed(&[]), true),
            (Finding::RunnerChanged { files: vec![], commands: vec![] }, true),
            (Finding::OnlyChecksChanged { files: vec![], commands: vec![] }, true),
            (Finding::ApprovedAtCap { story: "US-1".to_owned(), cap: 3 }, false),
            (Finding::JudgeDisagrees { command: command() }, false),
            (Finding::PersonsCommand { command: command() }, false),
            (Finding::NotTheTask { said: command() }, false),
        ] {
            assert_eq!(finding.is_of_claim(), expected, "{finding:?}");
            assert_eq!(finding.is_opinion(), matches!(finding, Finding::NotTheTask { .. }));
        }
    }
}
