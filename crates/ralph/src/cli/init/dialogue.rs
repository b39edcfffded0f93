//! The questions of `ralph init`, in their order.

use ralph_core::{
    notify::NotifyTarget,
    setup::{Scm, ScmTask},
};

use super::{
    ask::{Answer, Default, Terminal},
    file::{AUTO, DraftAgent, DraftGuardrail, SettingsDraft},
    found::Found,
};

/// Asks everything.
pub(super) fn conduct(terminal: &mut Terminal, found: &Found) -> Answer<SettingsDraft> {
    let main = agent(terminal, found)?;
    let second = second(terminal, found, &main.command)?;
    let draft = SettingsDraft {
        maximum_iterations: terminal.ask("Maximum iterations [10]: ", iterations)?,
        completion_response: terminal.ask("Completion response [DONE]: ", |answer| Ok(or(answer, "DONE")))?,
        guardrails: guardrails(terminal, found)?,
        scm: scm(terminal, found)?,
        sandbox: sandbox(terminal)?,
        notify: notify(terminal)?,
        ..SettingsDraft::default()
    };
    Ok(draft.of_agents(main, second))
}

/// Who stands in for the first and reviews what it did, where another is installed.
fn second(terminal: &mut Terminal, found: &Found, main: &str) -> Answer<Option<DraftAgent>> {
    for other in found.others(main) {
        let question = format!("Use {other} when {main} cannot work, and for reviews? (y/N): ");
        if terminal.confirm(&question, Default::No)? {
            return Ok(Some(DraftAgent { command: other.to_owned(), flags: Vec::new() }));
        }
    }
    Ok(None)
}

fn agent(terminal: &mut Terminal, found: &Found) -> Answer<DraftAgent> {
    let offered = found.agent.as_deref();
    let brackets = offered.map(|agent| format!(" [{agent}]")).unwrap_or_default();
    let question = format!("Agent command (e.g., claude, codex, amp, or other LLM CLI){brackets}: ");
    let command = terminal.ask(&question, |answer| match (answer, offered) {
        ("", None) => Err("An agent command is needed.".to_owned()),
        ("", Some(offered)) => Ok(offered.to_owned()),
        (command, _) => Ok(command.to_owned()),
    })?;
    let flags = terminal.ask("Agent flags (comma-separated, optional): ", flags)?;
    Ok(DraftAgent { command, flags })
}

/// First what was found, then whatever else there is.
fn guardrails(terminal: &mut Terminal, found: &Found) -> Answer<Vec<DraftGuardrail>> {
    let mut guardrails = Vec::new();
    for command in &found.guardrails {
        if terminal.confirm(&format!("Add guardrail \"{command}\"? (Y/n): "), Default::Yes)? {
            guardrails.push(DraftGuardrail::plain(command));
        }
    }
    loop {
        let question = "Add guardrail command (leave blank to finish): ";
        let command = terminal.ask(question, |answer| Ok(answer.to_owned()))?;
        if command.is_empty() {
            return Ok(guardrails);
        }
        guardrails.push(guardrail(terminal, command)?);
    }
}

fn guardrail(terminal: &mut Terminal, command: String) -> Answer<DraftGuardrail> {
    let fail_action = terminal.ask("  Fail action (APPEND|PREPEND|REPLACE): ", |answer| {
        answer.parse().map_err(|_| "  Please answer APPEND, PREPEND or REPLACE.".to_owned())
    })?;
    let hint = terminal.ask("  Hint (optional, guidance for agent on failure): ", |answer| {
        Ok(Some(answer.to_owned()).filter(|hint| !hint.is_empty()))
    })?;
    Ok(DraftGuardrail { command, fail_action, hint })
}

/// Inside a repository Enter alone commits; elsewhere there is nothing to commit into.
fn scm(terminal: &mut Terminal, found: &Found) -> Answer<Option<Scm>> {
    let (question, default) = if found.in_repository {
        ("Configure SCM? (Y/n): ", Default::Yes)
    } else {
        ("Configure SCM? (y/N): ", Default::No)
    };
    if !terminal.confirm(question, default)? {
        return Ok(None);
    }
    let offered = |what: &str| if found.in_repository { format!(" [{what}]") } else { String::new() };
    let question = format!("  SCM command (e.g., git){}: ", offered("git"));
    let command = terminal.ask(&question, |answer| Ok(or(answer, "git")))?;
    let question = format!("  SCM tasks (comma-separated, e.g., commit,push){}: ", offered("commit"));
    let tasks = terminal.ask(&question, |answer| {
        let tasks = if found.in_repository { parts(&or(answer, "commit")) } else { parts(answer) };
        if tasks.is_empty() { Err("  Please name at least one task.".to_owned()) } else { Ok(tasks) }
    })?;
    Ok(Some(Scm { command, ..Scm::git(tasks.into_iter().map(ScmTask::from).collect()) }))
}

fn sandbox(terminal: &mut Terminal) -> Answer<Option<&'static str>> {
    let question = "Contain the agent in a sandbox? (y/N): ";
    Ok(terminal.confirm(question, Default::No)?.then_some(AUTO))
}

fn notify(terminal: &mut Terminal) -> Answer<Option<String>> {
    let question = "Notify when a run ends or needs you (optional: desktop, ntfy:TOPIC, slack:$VARIABLE, webhook:URL, or a command): ";
    terminal.ask(question, |answer| match NotifyTarget::parse(answer) {
        Ok(_) => Ok(Some(answer.to_owned()).filter(|command| !command.is_empty())),
        Err(wanted) => Err(format!("Please give {wanted}.")),
    })
}

fn iterations(answer: &str) -> Result<u32, String> {
    let number = or(answer, "10").parse().ok().filter(|number| 0 < *number);
    number.ok_or_else(|| "Please answer a whole number above zero.".to_owned())
}

/// Each flag is split again when the settings are read, so its quotes must be closed.
fn flags(answer: &str) -> Result<Vec<String>, String> {
    let flags = parts(answer);
    let is_good = flags.iter().all(|flag| shell_words::split(flag).is_ok());
    if is_good { Ok(flags) } else { Err("Please close the quotes.".to_owned()) }
}

fn parts(answer: &str) -> Vec<String> {
    answer.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn or(answer: &str, default: &str) -> String {
    if answer.is_empty() { default.to_owned() } else { answer.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked() {
        for (answer, expected) in [("", Some(10)), ("1", Some(1)), ("250", Some(250)), ("4294967296", None)] {
            assert_eq!(iterations(answer).ok(), expected, "{answer}");
        }
        for answer in ["0", "-1", "ten", "1.5", "1e3", "10 20"] {
            assert!(iterations(answer).is_err(), "{answer}");
        }
    }

    #[test]
    fn flags_are_separated_by_commas() {
        let check = |answer: &str, expected: &[&str]| assert_eq!(flags(answer).expect("flags"), expected);
        check("", &[]);
        check("--model,opus", &["--model", "opus"]);
        check(" --model opus , , -v,", &["--model opus", "-v"]);
        check("--say 'two words'", &["--say 'two words'"]);
        assert!(flags("--say 'two").is_err());
        assert!(flags("--say 'a,b'").is_err(), "a comma always separates");
    }
}
