//! Reads the command that runs a project's tests out of its notes for agents.

use crate::markdown::{Line, code_span, lines};

/// The test command in an `AGENTS.md`: a line `TEST_COMMAND="..."`, else the first code block or code span
/// under a heading that speaks of tests.
pub fn test_command(notes: &str) -> Option<String> {
    assigned(notes).or_else(|| under_heading(notes))
}

fn assigned(notes: &str) -> Option<String> {
    let value = notes.lines().find_map(|line| {
        let line = line.trim().trim_start_matches(['-', '*', '`', ' ']);
        let line = line.strip_prefix("export ").unwrap_or(line);
        line.strip_prefix("TEST_COMMAND=")
    })?;
    let value = value.trim_end_matches('`').trim();
    let unquoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    Some(unquoted.unwrap_or(value).trim().to_owned()).filter(|command| !command.is_empty())
}

fn under_heading(notes: &str) -> Option<String> {
    // The level of the heading that speaks of tests, while below it.
    let mut below = None;
    for line in lines(notes) {
        match line {
            Line::Heading(level, title) => {
                let speaks = title.to_lowercase().contains("test");
                let left = below.is_some_and(|outer| level <= outer);
                below = if speaks { Some(level) } else { below.filter(|_| !left) };
            }
            Line::Code(block) if below.is_some() => {
                let command = script(&block);
                if !command.is_empty() {
                    return Some(command);
                }
            }
            Line::Text(text) if below.is_some() => {
                if let Some(span) = code_span(text) {
                    return Some(span.to_owned());
                }
            }
            Line::Code(_) | Line::Text(_) => {}
        }
    }
    None
}

/// A code block as a script: no comments, no prompts.
fn script(block: &str) -> String {
    let lines = block.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.strip_prefix("$ ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(notes: &str, expected: Option<&str>) {
        assert_eq!(test_command(notes).as_deref(), expected);
    }

    #[test]
    fn an_assignment_comes_first() {
        check("# Tests\n`make other`\n\nTEST_COMMAND=\"make test\"\n", Some("make test"));
        check("- `TEST_COMMAND='cargo test -q'`", Some("cargo test -q"));
        check("TEST_COMMAND=make", Some("make"));
        check("TEST_COMMAND=\"\"", None);
    }

    #[test]
    fn the_first_code_under_a_heading_about_tests() {
        check(
            "## Build\n```\nmake\n```\n## Running tests\nUse this:\n```sh\n# all\n$ make test\n```\n",
            Some("make test"),
        );
        check("## Testing\nRun `pytest -q` often.\n", Some("pytest -q"));
        check(
            "## Tests\n### Unit\n```\ncargo test\ncargo test --doc\n```",
            Some("cargo test\ncargo test --doc"),
        );
        check("## Tests\nNo code here.\n## Style\n`rustfmt`\n", None);
        check("# Notes\n`make`\n", None);
        check("", None);
    }
}
