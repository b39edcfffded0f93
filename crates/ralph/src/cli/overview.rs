//! `ralph --help`: all commands, the daily ones first.

use std::{ffi::OsString, fmt::Write};

use clap::{
    Command, CommandFactory, Error,
    error::{ContextKind, ContextValue},
};

use ralph_sys::error::EXIT_CODES;

use super::Cli;
use crate::term::wrap::wrap;

/// The commands by what they are for.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Daily",
        &[
            "init", "run", "status", "watch", "logs", "say", "pause", "stop", "resume", "report", "serve",
            "accept", "reject", "judge", "verify", "sign", "pr", "selftest", "doctor", "demo", "clean",
        ],
    ),
    ("Other loops", &["plan", "build", "prompt", "stories", "fleet", "task", "review"]),
    ("Inside an agent", &["session", "plugin", "job", "bus"]),
    ("Plumbing", &["sandbox", "guard", "hook", "schema", "completions", "man"]),
];

/// Whether these words ask for it.
pub(super) fn is_wanted(args: &[OsString]) -> bool {
    let mut words = args.iter().skip(1).map(|word| word.to_string_lossy());
    let mut rest = Vec::new();
    while let Some(word) = words.next() {
        match &*word {
            "-C" | "--project-dir" => drop(words.next()),
            _ if word.starts_with("-C") || word.starts_with("--project-dir=") => {}
            _ => rest.push(word),
        }
    }
    match rest.as_slice() {
        [] => true,
        [word] => ["-h", "--help", "help"].contains(&&**word),
        [..] => false,
    }
}

/// What a user can type, without the commands that ralph types itself.
pub(super) fn visible_command() -> Command {
    let whole = Cli::command();
    let mut visible = Command::default()
        .name("ralph")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .after_help(EXIT_CODES)
        .args(whole.get_arguments().cloned())
        .subcommands(whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
    if let Some(about) = whole.get_about() {
        visible = visible.about(about.clone());
    }
    visible
}

/// The command with its subcommands in groups, at most so wide. Only for a user who reads them: it takes a while.
pub(super) fn grouped(command: Command, columns: usize) -> Command {
    let mut text = String::new();
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let line = format!("  {name:width$}  {}", about.unwrap_or_default());
            let _ = writeln!(text, "{}", wrap(&line, columns));
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

/// The error with the command that was meant, where clap finds none: `rnu` has no letter of `run` in its place but the first.
pub(super) fn with_suggestion(mut error: Error, command: &Command, args: &[OsString]) -> Error {
    let (wrong, meant) = (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand);
    let Some(ContextValue::String(typed)) = error.get(wrong) else { return error };
    if error.get(meant).is_some() {
        return error;
    }
    let deeper = |command, word: &OsString| Command::find_subcommand(command, word).unwrap_or(command);
    let names = args.iter().fold(command, deeper).get_subcommands().filter(|it| !it.is_hide_set());
    let distance = |name: &str| strsim::damerau_levenshtein(name, typed);
    let nearest = names.map(Command::get_name).min_by_key(|name| distance(name));
    let nearest = nearest.filter(|name| distance(name) <= (typed.len() / 3).max(1));
    if let Some(nearest) = nearest.map(str::to_owned) {
        error.insert(meant, ContextValue::Strings(vec![nearest]));
    }
    error
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_has_its_place() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let once: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(once.len(), listed.len(), "one stands twice");
        let visible = visible_command().get_subcommands().map(|it| it.get_name().to_owned()).collect();
        assert_eq!(once, visible);
    }

    #[test]
    fn the_overview_is_for_a_user_who_names_no_command() {
        for (line, expected) in [
            ("ralph", true),
            ("ralph --help", true),
            ("ralph -C x --help", true),
            ("ralph -Cx -h", true),
            ("ralph --project-dir=x help", true),
            ("ralph --project-dir x --help", true),
            ("ralph run --help", false),
            ("ralph -C help run", false),
            ("ralph help run", false),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(is_wanted(&args), expected, "{line}");
        }
    }

    #[test]
    fn the_overview_is_in_groups() {
        let shown = grouped(visible_command(), 120).render_help().to_string();
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text:?} in:\n{shown}"));
        assert!(at("Daily:") < at("\n  run          Run the agent"), "{shown}");
        assert!(at("\n  run  ") < at("Other loops:") && at("Other loops:") < at("\n  plan  "), "{shown}");
        assert!(at("Plumbing:") < at("Options:") && at("Options:") < at("Exit codes"), "{shown}");
        assert!(!shown.contains("Commands:"), "{shown}");
    }
}
