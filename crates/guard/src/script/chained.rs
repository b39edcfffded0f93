//! Commands that code puts together by a chain of calls, or runs by a method of their text.

use super::{ScriptCommand, first_statement, string_literals};

/// What makes a command to which arguments are added: `Command::new("rm").arg("-rf")`.
const BUILDERS: [&str; 3] = ["Command::new(", "Command.new(", "duct::cmd!("];

/// Methods that run the text before them, as Groovy and Scala have them: `"ls".execute()`.
const METHODS: [&str; 3] = [".execute()", ".!", ".lazyLines"];

/// The commands of these kinds.
pub(super) fn chained_commands(code: &str) -> Vec<ScriptCommand> {
    let built = BUILDERS.iter().flat_map(|builder| code.split(builder).skip(1));
    let mut commands: Vec<ScriptCommand> = built
        .map(|rest| string_literals(first_statement(rest)))
        .filter(|words| !words.is_empty())
        .map(ScriptCommand::Arguments)
        .collect();
    for mark in ['"', '\''] {
        let ends = METHODS.iter().flat_map(|method| code.match_indices(*method));
        let before = ends.filter_map(|(at, _)| code[..at].strip_suffix(mark));
        let texts = before.filter_map(|before| before.rsplit(mark).next());
        commands.extend(texts.map(|text| ScriptCommand::ShellText(text.to_owned())));
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains() {
        let words =
            |words: &[&str]| ScriptCommand::Arguments(words.iter().map(|&word| word.to_owned()).collect());
        let text = |text: &str| ScriptCommand::ShellText(text.to_owned());
        for (code, expected) in [
            (
                "Command::new(\"rm\").arg(\"-rf\").args([\"/a\", \"/b\"]).status()",
                vec![words(&["rm", "-rf", "/a", "/b"])],
            ),
            ("def p = \"ls -l\".execute(); p.text", vec![text("ls -l")]),
            ("import sys.process._; 'ls'.!!", vec![text("ls")]),
            ("if (!done.execute()) {}", Vec::new()),
        ] {
            assert_eq!(chained_commands(code), expected, "{code}");
        }
    }
}
