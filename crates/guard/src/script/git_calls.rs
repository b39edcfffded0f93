//! Commands of git that code runs by a library which passes them on: `GitPython`, `sh`, `simple-git`.

use super::{FunctionCall, ScriptCommand, first_statement};

/// The commands of git that calls of such libraries run.
pub(super) fn commands_by_git_library(calls: &[FunctionCall], code: &str) -> Vec<ScriptCommand> {
    let passes_on = ["git.Repo", "import Repo", "import sh;", "import sh\n", "from sh "]
        .iter()
        .any(|name| code.contains(name));
    let is_simple = ["simple-git", "simpleGit"].iter().any(|name| code.contains(name));
    if !passes_on && !is_simple {
        return Vec::new();
    }
    let is_meant = |call: &&FunctionCall| {
        !call.receiver.is_empty()
            && (is_simple || call.name == "git" || is_git(call.receiver.trim_end_matches('.'), code))
    };
    calls.iter().filter(is_meant).filter_map(command_of).collect()
}

/// `git.Repo('.').git`, or a variable that was given it.
fn is_git(receiver: &str, code: &str) -> bool {
    let is_assigned = || {
        let mut given = code.match_indices(receiver).map(|(at, _)| code[at + receiver.len()..].trim_start());
        let assigned = given.find_map(|rest| rest.strip_prefix('='));
        assigned.is_some_and(|rest| first_statement(rest).trim().rsplit('.').next() == Some("git"))
    };
    receiver.rsplit('.').next() == Some("git") || is_assigned()
}

fn command_of(call: &FunctionCall) -> Option<ScriptCommand> {
    let verb = call.name.replace('_', "-");
    let mut words = vec!["git".to_owned()];
    match verb.as_str() {
        "execute" => words.clear(),
        "raw" | "git" => {}
        "Repo" | "require" | "simpleGit" | "then" | "log" | "print" => return None,
        _ => words.push(verb.clone()),
    }
    let texts = call.texts.iter().map(|text| match (verb.as_str(), text.as_str()) {
        // As simple-git has them.
        ("clean", letters) if !letters.starts_with('-') => format!("-{letters}"),
        ("reset", mode @ ("hard" | "merge" | "keep")) => format!("--{mode}"),
        (_, text) => text.to_owned(),
    });
    words.extend(texts);
    words.extend(call.inside.split(',').filter_map(option_of));
    (1 < words.len()).then_some(ScriptCommand::Arguments(words))
}

/// `hard=True` is `--hard`, `d=True` is `-d`.
fn option_of(argument: &str) -> Option<String> {
    let (name, value) = argument.split_once('=')?;
    let name = name.trim();
    if value.trim() != "True" || name.is_empty() {
        return None;
    }
    Some(if name.len() == 1 { format!("-{name}") } else { format!("--{}", name.replace('_', "-")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::function_calls;

    #[test]
    fn calls_that_are_commands() {
        for (code, expected) in [
            ("git.Repo('.').git.clean('-xdf')", "git clean -xdf"),
            ("r = git.Repo(); g = r.git; g.update_ref('-d', 'x')", "git update-ref -d x"),
            ("git.Repo().git.reset(hard=True)", "git reset --hard"),
            ("git.Repo().git.execute(['git', 'gc'])", "git gc"),
            ("from sh import git; git.push('-f')", "git push -f"),
            ("import sh; sh.git('push', '-f')", "git push -f"),
            ("require('simple-git')().clean('fd')", "git clean -fd"),
            ("git.Repo().head.reset('x')", ""),
            ("x.git.push('-f')", ""),
        ] {
            let commands = commands_by_git_library(&function_calls(code).expect("calls"), code);
            let mut words = commands.into_iter().map(|command| match command {
                ScriptCommand::Arguments(words) => words.join(" "),
                ScriptCommand::ShellText(text) => text,
            });
            assert_eq!(words.next_back().unwrap_or_default(), expected, "{code}");
        }
    }
}
