//! Running the guardrails of a receipt once more: which of them, in what environment, and what follows.

use std::collections::BTreeSet;

use super::{
    sha256,
    statement::{GuardrailFacts, GuardrailSource, Statement, TestCounts},
    verdict::{VerdictItem, VerdictTopic},
};

/// A guardrail that is to be run once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The command.
    pub command: String,
    /// Who names it.
    pub source: NamedBy,
}

/// Who names a guardrail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedBy {
    /// What the verifier trusts: the base, or a policy.
    Verifier,
    /// The receipt alone.
    Author,
}

/// How a guardrail ended when it was run once more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The command.
    pub command: String,
    /// What it exited with; nothing when a signal or a limit ended it.
    pub code: Option<i32>,
    /// The tests that it ran, where a runner counted them.
    pub tests: Option<TestCounts>,
}

/// What is to be run, and what cannot be: commands that the verifier names, then those that only the receipt has.
pub fn plan(
    statement: &Statement,
    trusted: &[String],
    once: &BTreeSet<String>,
) -> (Vec<Planned>, Vec<VerdictItem>) {
    let (mut planned, mut items) = (Vec::<Planned>::new(), Vec::new());
    let unknown = |text: String| VerdictItem::unknown(VerdictTopic::Rerun, text);
    let mut add = |command: &str, source| {
        if !planned.iter().any(|it| it.command == command) {
            planned.push(Planned { command: command.to_owned(), source });
        }
    };
    for command in trusted {
        if once.contains(command) {
            items.push(unknown(format!("`{command}` may run only once, so it was not run again")));
        } else {
            add(command, NamedBy::Verifier);
        }
    }
    let is_trusted = |it: &GuardrailFacts| {
        trusted.iter().any(|command| it.sha256.as_deref() == Some(sha256(command.as_bytes()).as_str()))
    };
    for guardrail in statement.predicate.guardrails.iter().filter(|it| !is_trusted(it)) {
        let name = guardrail.name();
        match (guardrail.kind, &guardrail.command) {
            (GuardrailSource::Rule | GuardrailSource::Review, _) => {}
            _ if guardrail.once => {
                items.push(unknown(format!("`{name}` may run only once, so it was not run again")));
            }
            // Only the whole command is the command.
            (_, Some(command)) if guardrail.sha256.as_deref() == Some(&sha256(command.as_bytes())) => {
                add(command, NamedBy::Author);
            }
            (_, Some(_)) => items.push(unknown(format!("`{name}` names places of another machine"))),
            (_, None) => items.push(unknown(format!("{name} is not known here"))),
        }
    }
    (planned, items)
}

/// What follows from a guardrail that was run once more.
pub fn compare(statement: &Statement, planned: &Planned, ran: &Ran) -> Vec<VerdictItem> {
    let hash = sha256(ran.command.as_bytes());
    let said = statement.predicate.guardrails.iter().find(|it| it.sha256.as_deref() == Some(&hash));
    let name = &ran.command;
    let mut items = Vec::new();
    let ended =
        ran.code.map_or_else(|| "did not end by itself".to_owned(), |code| format!("exited with {code}"));
    let broken = |text: String| VerdictItem::broken(VerdictTopic::Rerun, text);
    match said.and_then(GuardrailFacts::ending) {
        None if ran.code == Some(0) => {
            // The verifier asks for it, and it passes: that the run did not is no harm.
            items.push(VerdictItem::holds(
                VerdictTopic::Rerun,
                format!("`{name}` passes; the run did not have it"),
            ));
        }
        None => items.push(broken(format!("`{name}` {ended}; the run did not have it"))),
        Some(ending) if ending.exit_code != ran.code || ending.passed != (ran.code == Some(0)) => {
            let before = ending.exit_code.map_or_else(|| "no exit code".to_owned(), |code| code.to_string());
            items.push(broken(format!("`{name}` {ended}; the receipt says {before}")));
        }
        Some(ending) => match (ending.tests, ran.tests) {
            (Some(before), now) if fewer(before, now) => {
                let now = now.map_or(0, |tests| tests.passed);
                let text = format!("`{name}` ran {now} tests; the receipt says {}", before.passed);
                items.push(broken(text));
            }
            _ => items.push(VerdictItem::holds(
                VerdictTopic::Rerun,
                format!("`{name}` {ended}, as the receipt says"),
            )),
        },
    }
    if planned.source == NamedBy::Author {
        let text = format!("`{name}` is named by the author alone, not by the base or a policy");
        items.push(
            VerdictItem::unknown(VerdictTopic::Rerun, text)
                .hint("name it in a policy: {\"guardrails\": [...]}"),
        );
    }
    items
}

fn fewer(before: TestCounts, now: Option<TestCounts>) -> bool {
    now.is_none_or(|now| now.passed < before.passed)
}

/// Whether the name of a variable says that its value is a secret.
pub fn is_secret(name: &str) -> bool {
    const PARTS: [&str; 9] = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "APIKEY",
        "API_KEY",
        "PRIVATE_KEY",
    ];
    const ENDS: [&str; 5] = ["_KEY", "_PAT", "_AUTH", "_PASS", "_DSN"];
    let name = name.to_ascii_uppercase();
    PARTS.iter().any(|part| name.contains(part)) || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known() {
        for name in
            ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password", "NPM_TOKEN", "OPENAI_API_KEY", "X_PAT"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "SSH_AUTH_SOCK", "GITHUB_SHA", "KEYBOARD", "PATTERN", "TERM"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
