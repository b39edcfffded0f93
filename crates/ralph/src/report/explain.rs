//! What judges a project, for people.

use std::fmt::Write;

use crate::{
    judge::explain::{Explained, Led},
    term::{
        Palette,
        fit::{columns, flow, one_line},
    },
};

/// So many files of a kind are named.
const MAX_NAMED: usize = 5;

/// Where each guardrail leads, and the files that are checks.
pub(crate) fn explanation(explained: &Explained, palette: Palette, width: usize) -> String {
    let Palette { strong, quiet, .. } = palette;
    let mut text = String::new();
    for led in &explained.guardrails {
        let _ = writeln!(text, "{strong}{}{strong:#}", one_line(&led.command));
        text.push_str(&ways(led, palette, width));
    }
    let _ = writeln!(text, "\n{strong}Checks{strong:#}");
    if explained.checks.is_empty() {
        let _ = writeln!(text, "  {quiet}no file of the project looks like one{quiet:#}");
    }
    let room = explained.checks.keys().map(|role| role.name().len()).max().unwrap_or_default();
    for (role, files) in &explained.checks {
        let mut parts: Vec<String> =
            files.iter().take(MAX_NAMED).map(|file| one_line(file).into_owned()).collect();
        if MAX_NAMED < files.len() {
            parts.push(format!("and {} more", files.len() - MAX_NAMED));
        }
        let head = format!("  {:<room$} {:>4}  ", role.name(), files.len());
        let _ = writeln!(text, "{head}{}", flow(&parts, ", ", columns(&head), columns(&head), width));
    }
    text
}

fn ways(led: &Led, palette: Palette, width: usize) -> String {
    let quiet = palette.quiet;
    if led.ways.is_empty() {
        return format!("  {quiet}leads to no file of the project{quiet:#}\n");
    }
    let way = |places: &Vec<String>| {
        let places: Vec<String> = places.iter().map(|place| one_line(place).into_owned()).collect();
        format!("  → {}\n", flow(&places, " → ", 4, 6, width))
    };
    led.ways.iter().map(way).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ralph_checks::protected::Role;

    use super::*;

    #[test]
    fn ways_and_files_are_named_within_the_width() {
        let way = ["Makefile:test", "tests/run.sh"].map(str::to_owned).to_vec();
        let led = |command: &str, ways| Led { command: command.to_owned(), ways };
        let tests = (1..=7).map(|number| format!("tests/test_number_{number}.py")).collect();
        let explained = Explained {
            guardrails: vec![led("make test", vec![way]), led("ruff check", vec![])],
            checks: BTreeMap::from([(Role::Test, tests), (Role::Runner, vec!["pytest.ini".to_owned()])]),
        };
        let text = explanation(&explained, Palette::default(), 60);
        let indent = " ".repeat(29);
        let named = (1..=5).map(|number| format!("tests/test_number_{number}.py,\n{indent}"));
        let expected = format!(
            "make test\n  → Makefile:test → tests/run.sh\nruff check\n  leads to no file of the project\n\nChecks\n  \
             test                    7  {}and 2 more\n  runner configuration    1  pytest.ini\n",
            named.collect::<String>()
        );
        assert_eq!(text, expected);
    }
}
