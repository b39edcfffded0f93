//! `ralph --help`: all commands, the daily ones first.

use std::{ffi::OsString, fmt::Write};

use clap::Command;

/// The commands by what they are for.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Daily",
        &[
            "init", "run", "status", "logs", "stop", "resume", "report", "accept", "reject", "judge",
            "doctor", "demo", "clean",
        ],
    ),
    ("Other loops", &["plan", "build", "prompt", "stories", "task"]),
    ("Inside an agent", &["session", "plugin", "job", "bus"]),
    ("Plumbing", &["sandbox", "guard", "hook", "schema", "completions", "man"]),
];

/// Whether these words ask for it.
pub(super) fn is_wanted(args: &[OsString]) -> bool {
    matches!(args, [] | [_])
        || matches!(args, [_, word] if word == "-h" || word == "--help" || word == "help")
}

/// The command with its subcommands in groups. Only for whoever wants to read them: it takes a while.
pub(super) fn grouped(command: Command) -> Command {
    let mut text = String::new();
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {name:width$}  {}", about.unwrap_or_default());
        }
        text.push('\n');
    }
    // Braces would be taken for places to fill in.
    let text = text.replace(['{', '}'], "");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}{{after-help}}\n\n\
         `ralph COMMAND --help` says more about each.\n"
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::visible_command;

    #[test]
    fn every_command_has_its_place() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let once: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(once.len(), listed.len(), "one stands twice");
        let visible = visible_command().get_subcommands().map(|it| it.get_name().to_owned()).collect();
        assert_eq!(once, visible);
    }

    #[test]
    fn the_overview_is_in_groups() {
        let shown = grouped(visible_command()).render_help().to_string();
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?} in:\n{shown}"));
        assert!(at("Daily:") < at("\n  run          Run the agent"), "{shown}");
        assert!(at("\n  run  ") < at("Other loops:") && at("Other loops:") < at("\n  plan  "), "{shown}");
        assert!(at("Plumbing:") < at("Options:") && at("Options:") < at("Exit codes"), "{shown}");
        assert!(!shown.contains("Commands:"), "{shown}");
    }
}
