//! All commands on one page of Markdown.
//!
//! What many commands have in common is described once: a page that repeats forty flags for every loop is read by no one.

use std::{collections::BTreeMap, fmt::Write};

use clap::{Arg, Command};

/// What this many commands have is described once.
const MIN_SHARED: usize = 5;

/// The page, without its title.
pub(super) fn reference(root: &Command) -> String {
    let mut commands = Vec::new();
    collect(root, "ralph", &mut commands);
    let shared = shared(&commands);
    let mut page =
        String::from("## Flags that many commands have\n\nA command has those that its own section names.\n");
    let mut common: Vec<&Arg> = shared.values().copied().collect();
    common.sort_by_key(|flag| short_name(flag));
    table(&mut page, "flag", common.into_iter());
    for (name, command) in &commands {
        section(&mut page, name, command, &shared);
    }
    page
}

/// A command and all below it, by the words that are typed.
fn collect<'a>(command: &'a Command, name: &str, into: &mut Vec<(String, &'a Command)>) {
    for part in command.get_subcommands().filter(|part| !part.is_hide_set() && part.get_name() != "help") {
        let name = format!("{name} {}", part.get_name());
        into.push((name.clone(), part));
        collect(part, &name, into);
    }
}

/// The flags that many commands have and describe alike, by their names.
fn shared<'a>(commands: &[(String, &'a Command)]) -> BTreeMap<String, &'a Arg> {
    let mut seen: BTreeMap<(String, String), Vec<&Arg>> = BTreeMap::new();
    for flag in commands.iter().flat_map(|(_, command)| flags(command)) {
        seen.entry((spelling(flag), meaning(flag))).or_default().push(flag);
    }
    let many = seen.into_iter().filter(|(_, flags)| MIN_SHARED <= flags.len());
    many.map(|((spelling, _), flags)| (spelling, flags[0])).collect()
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set() && arg.get_id() != "help")
}

fn section(page: &mut String, name: &str, command: &Command, shared: &BTreeMap<String, &Arg>) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "\n## `{name}`\n\n{}\n", paragraphs(&about));
    let words = command.get_positionals().filter(|arg| !arg.is_hide_set());
    table(page, "argument", words);
    let is_shared =
        |flag: &&Arg| shared.get(&spelling(flag)).is_some_and(|same| meaning(same) == meaning(flag));
    let (common, own): (Vec<&Arg>, Vec<&Arg>) = flags(command).partition(is_shared);
    table(page, "flag", own.into_iter());
    if !common.is_empty() {
        let names: Vec<String> = common.iter().map(|flag| format!("`{}`", short_name(flag))).collect();
        let _ = write!(page, "\n[Also](#flags-that-many-commands-have): {}\n", names.join(", "));
    }
}

/// What a command says of itself; an example is one to copy.
fn paragraphs(about: &str) -> String {
    let parts = about.split("\n\n").map(|part| match part.strip_prefix("Example: ") {
        Some(example) => format!("```sh\n{}\n```", example.trim()),
        None => harmless(part.trim()),
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

fn table<'a>(page: &mut String, heading: &str, args: impl Iterator<Item = &'a Arg>) {
    let rows: Vec<String> = args
        .map(|arg| format!("| `{}` | {} |\n", spelling(arg).replace('|', "\\|"), cell(&meaning(arg))))
        .collect();
    if !rows.is_empty() {
        let _ = write!(page, "\n| {heading} | meaning |\n|---|---|\n{}", rows.concat());
    }
}

/// How it is typed.
fn spelling(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" ");
    let value = if value.is_empty() || !arg.get_action().takes_values() {
        String::new()
    } else {
        format!(" {value}")
    };
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("--{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => value.trim_start().to_owned(),
    }
}

fn short_name(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| spelling(arg), |long| format!("--{long}"))
}

/// What it is for, with the values that it may have.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let values = arg.get_possible_values();
    let is_switch = !arg.get_action().takes_values();
    let values = values.iter().filter(|value| !value.is_hide_set() && !is_switch).map(|value| {
        match value.get_help() {
            Some(help) => format!("`{}`: {help}", value.get_name()),
            None => format!("`{}`", value.get_name()),
        }
    });
    let values = values.collect::<Vec<_>>().join("; ");
    if values.is_empty() { help } else { format!("{help}. Values: {values}") }
}

/// Text in one row of a table.
fn cell(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    harmless(&paragraphs.collect::<Vec<_>>().join("\n")).replace('|', "\\|").replace('\n', "<br>")
}

/// Text in which nothing is a tag of HTML; inside of backticks nothing would be.
fn harmless(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 0 { part.replace('<', "\\<") } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use clap::ArgAction;

    use super::*;

    fn loops(count: usize) -> Command {
        let flag = || Arg::new("limit").long("limit").value_name("N").help("End after `<N>` <turns> | or so");
        let names = ["a", "b", "c", "d", "e", "f"];
        let one = |name: &'static str| {
            Command::new(name).about("Does it\n\nExample: ralph a --limit 3").arg(flag())
        };
        Command::new("ralph").subcommands(names.into_iter().take(count).map(one))
    }

    #[test]
    fn what_many_commands_have_is_described_once() {
        let few = reference(&loops(4));
        assert_eq!(few.matches("End after").count(), 4);
        let many = reference(&loops(5));
        assert_eq!(many.matches("| `--limit <N>` | End after `<N>` \\<turns> \\| or so |").count(), 1);
        assert_eq!(many.matches("[Also](#flags-that-many-commands-have): `--limit`").count(), 5);
    }

    #[test]
    fn a_flag_of_the_same_name_that_means_something_else_keeps_its_words() {
        let other =
            Command::new("g").arg(Arg::new("limit").long("limit").value_name("N").help("Of something else"));
        let page = reference(&loops(5).subcommand(other));
        assert_eq!(page.matches("Of something else").count(), 1);
    }

    #[test]
    fn commands_of_commands_have_sections_and_hidden_ones_have_none() {
        let inner =
            Command::new("y").arg(Arg::new("now").long("now").action(ArgAction::SetTrue).help("At once"));
        let secret = Command::new("z").hide(true);
        let page = reference(
            &Command::new("ralph").subcommand(Command::new("x").subcommand(inner)).subcommand(secret),
        );
        assert!(page.contains("## `ralph x y`\n") && page.contains("| `--now` | At once |"), "{page}");
        assert!(!page.contains("ralph z") && !page.contains("help"), "{page}");
        assert!(reference(&loops(1)).contains("```sh\nralph a --limit 3\n```"));
    }
}
