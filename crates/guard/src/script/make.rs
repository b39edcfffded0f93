//! Makefiles: the commands in their recipes.

/// What a variable is while nothing sets it.
const BUILT_IN_VARIABLES: [(&str, &str); 6] =
    [("RM", "rm -f"), ("CC", "cc"), ("CXX", "c++"), ("MAKE", "make"), ("SHELL", "sh"), ("AR", "ar")];

/// Variables of the environment that matter to what is judged.
const INHERITED: [&str; 5] = ["HOME", "USER", "PWD", "TMPDIR", "PATH"];

/// Longer lines are left as they are, and none grows much longer by its variables.
const MAX_LINE_LEN: usize = 4096;

/// The commands that a makefile runs, whichever target is made.
pub(crate) fn commands_in_makefile(makefile: &str) -> Vec<String> {
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut commands = Vec::new();
    for line in makefile.replace("\\\n", " ").lines() {
        // `just` indents recipes by spaces as well.
        if let Some(recipe) = line.strip_prefix('\t').or_else(|| line.strip_prefix("  ")) {
            commands.push(recipe_command(recipe, &variables));
        } else if let Some((name, value)) = parse_assignment(line) {
            let value = expand_variables(value, &variables);
            variables.insert(0, (name.to_owned(), value));
        } else if let Some((_, recipe)) = line.split_once(':').and_then(|(_, rest)| rest.split_once(';')) {
            commands.push(recipe_command(recipe, &variables));
        }
        commands.extend(
            line.split("$(shell ").skip(1).map(|rest| rest.split(')').next().unwrap_or_default().to_owned()),
        );
    }
    commands.retain(|command| !command.is_empty());
    commands
}

/// `NAME = value`, `NAME := value`.
fn parse_assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let is_name =
        !name.is_empty() && name.chars().all(|next| next.is_ascii_alphanumeric() || "_-.".contains(next));
    is_name.then_some((name, value.trim()))
}

fn recipe_command(recipe: &str, variables: &[(String, String)]) -> String {
    expand_variables(
        recipe.trim_start_matches(|next: char| next.is_whitespace() || "@-+".contains(next)),
        variables,
    )
}

/// Text with its variables filled in. One that nothing sets is empty, and `$$` is a dollar for the shell.
fn expand_variables(text: &str, variables: &[(String, String)]) -> String {
    if MAX_LINE_LEN < text.len() {
        return text.to_owned();
    }
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        whole.push_str(before);
        let close = match after.chars().next() {
            Some('(') => after.find(')'),
            Some('{') => after.find('}'),
            _ => None,
        };
        if let Some(close) = close {
            let name = &after[1..close];
            let set = variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
            let built_in =
                BUILT_IN_VARIABLES.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            let inherited = INHERITED.contains(&name).then(|| format!("${name}"));
            whole.push_str(&set.or(built_in).map(str::to_owned).or(inherited).unwrap_or_default());
            rest = &after[close + 1..];
        } else {
            let first = after.chars().next();
            whole.extend(first.filter(|next| *next == '$'));
            rest = &after[first.map_or(0, char::len_utf8)..];
        }
        if MAX_LINE_LEN < whole.len() {
            return whole;
        }
    }
    whole + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_found() {
        for (makefile, expected) in [
            ("all: ; ls -l", "ls -l"),
            ("all:\n\t@ls\n\t-cc x\n", "ls|cc x"),
            ("D := /x\nall: a b\n\t$(RM) ${D} $$HOME", "rm -f /x $HOME"),
            ("all:\n\trm -rf $(HOME) ${NONE}", "rm -rf $HOME "),
            ("X := $(shell ls -l)\n", "ls -l"),
            ("a: b\nc = d\n", ""),
            ("default:\n    @rm -rf {{home}}\n", "rm -rf {{home}}"),
            ("all:\n\tls \\\n\t-l\n", "ls  \t-l"),
        ] {
            assert_eq!(commands_in_makefile(makefile).join("|"), expected, "{makefile}");
        }
    }
}
