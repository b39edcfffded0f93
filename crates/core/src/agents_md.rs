//! Reads the command that runs a project's tests out of its notes for agents.

use crate::markdown::{Line, code_spans, lines};

/// The test command in an `AGENTS.md`: a line `TEST_COMMAND="..."`, else the first code block under a heading
/// that speaks of tests, else the first code span there that can be a command.
pub fn test_command(notes: &str) -> Option<String> {
    let lines = lines(notes);
    assigned(&lines).or_else(|| in_section(&lines, block)).or_else(|| in_section(&lines, span))
}

/// The value of `TEST_COMMAND`; in a code block, which may be a template to copy, only if it is nowhere else.
fn assigned(lines: &[Line<'_>]) -> Option<String> {
    let texts =
        lines.iter().filter_map(|line| if let Line::Text(_, text) = line { Some(*text) } else { None });
    let blocks =
        lines.iter().filter_map(|line| if let Line::Code(block) = line { Some(block) } else { None });
    texts.chain(blocks.flat_map(|block| block.lines())).find_map(assignment)
}

fn assignment(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches(['-', '*', '`', ' ']);
    let line = line.strip_prefix("export ").unwrap_or(line);
    let value = line.strip_prefix("TEST_COMMAND")?.trim_start().strip_prefix('=')?;
    let value = value.trim_end_matches('`').trim();
    let unquoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    let command = match unquoted {
        Some(inner) if value.starts_with('"') => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        Some(inner) => inner.to_owned(),
        None => value.to_owned(),
    };
    Some(command.trim().to_owned()).filter(|command| !command.is_empty())
}

/// The first thing that `find` finds below a heading that speaks of tests.
fn in_section(lines: &[Line<'_>], find: fn(&Line<'_>) -> Option<String>) -> Option<String> {
    // The level of that heading, while below it.
    let mut below = None;
    lines.iter().find_map(|line| {
        if let Line::Heading(level, title) = line {
            let has_left = below.is_some_and(|outer| *level <= outer);
            below = if speaks_of_tests(title) { Some(*level) } else { below.filter(|_| !has_left) };
        }
        below.and_then(|_| find(line))
    })
}

/// "Tests", "Testing", "Unit tests"; not "Latest".
fn speaks_of_tests(title: &str) -> bool {
    title.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with("test"))
}

/// A code block as a script in which every line must succeed: no comments, and of a terminal's transcript only
/// what was typed.
fn block(line: &Line<'_>) -> Option<String> {
    let Line::Code(block) = line else { return None };
    let lines = block.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty() && !line.trim_start().starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    let typed: Vec<&str> = lines.iter().filter_map(|line| line.trim_start().strip_prefix("$ ")).collect();
    let lines = if typed.is_empty() { lines } else { typed };
    match lines.as_slice() {
        [] => None,
        [command] => Some(command.trim().to_owned()),
        several => Some(format!("set -e\n{}", several.join("\n"))),
    }
}

/// A code span, unless it only names a file or a folder.
fn span(line: &Line<'_>) -> Option<String> {
    let Line::Text(_, text) = line else { return None };
    let is_name = |span: &&str| ["/", ".md"].iter().any(|ending| span.ends_with(ending));
    code_spans(text).into_iter().find(|span| !is_name(span)).map(str::to_owned)
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
        check("\u{feff}TEST_COMMAND = \"make\"", Some("make"));
        check("TEST_COMMAND=\"sh -c \\\"exit 0\\\"\"", Some("sh -c \"exit 0\""));
        // Between single quotes nothing is special.
        check(r"TEST_COMMAND='grep \\d'", Some(r"grep \\d"));
        check("TEST_COMMAND=\"\"", None);
        check("```\nTEST_COMMAND=\"copied\"\n```", Some("copied"));
        check("```\nTEST_COMMAND=\"yours here\"\n```\nTEST_COMMAND=make", Some("make"));
    }

    #[test]
    fn the_first_code_under_a_heading_about_tests() {
        check(
            "## Build\n```\nmake\n```\n## Running tests\nUse this:\n```sh\n# all\n$ make test\n```\n",
            Some("make test"),
        );
        check("## Testing\nRun `pytest -q` often.\n", Some("pytest -q"));
        check("## Tests\nThey live in `tests/`. Run:\n```\nmake test\n```", Some("make test"));
        check("## Tests\nSee `tests/` and `docs/a.md`: `make`\n", Some("make"));
        check("## Tests\nNo code here.\n## Style\n`rustfmt`\n", None);
        check("# Notes\n`make`\n", None);
        check("# Latest news\n`make`\n## Contest\n`make`", None);
        check("", None);
    }

    #[test]
    fn every_line_of_a_block_must_succeed() {
        let two = "## Tests\n### Unit\n```\ncargo test\ncargo test --doc\n```";
        check(two, Some("set -e\ncargo test\ncargo test --doc"));
        check("## Tests\n```\nmake a\n\n# then\nmake b\n```", Some("set -e\nmake a\nmake b"));
        check("## Tests\n```console\n$ make test\nok\n1 test passed\n```", Some("make test"));
        check("## Test\n```true```\n\nNever run this.\ntouch x\n", Some("true"));
    }
}
