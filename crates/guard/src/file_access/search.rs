//! What `find` and its like look for, and what `find` deletes.

use super::Access;
use crate::{command::Command, paths, text};

/// What `find -delete` deletes.
pub(super) fn deleted_by_find(command: &Command) -> Vec<(String, Access)> {
    let starts: Vec<&String> =
        command.args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!'])).collect();
    let starts = if starts.is_empty() { vec![".".to_owned()] } else { starts.into_iter().cloned().collect() };
    let is_narrow = is_narrow_search(command);
    let mut files = Vec::new();
    for start in starts {
        files.extend(
            names_searched(command).into_iter().map(|name| (format!("{start}/{name}"), Access::DeleteTree)),
        );
        let below = if is_narrow { format!("{start}/{}", text::unknown("find")) } else { start };
        files.push((below, Access::DeleteTree));
    }
    files
}

/// What `find` does with what it found.
const ACTIONS: [&str; 12] = [
    "-prune", "-delete", "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-printf", "-fprint",
    "-fprint0", "-ls",
];

/// Conditions on names.
const NAMES: [&str; 7] = ["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"];

/// Other conditions that leave something out.
const OTHER_CONDITIONS: [&str; 12] = [
    "-newer",
    "-mtime",
    "-mmin",
    "-ctime",
    "-atime",
    "-size",
    "-inum",
    "-samefile",
    "-xtype",
    "-lname",
    "-newermt",
    "-cmin",
];

/// The names that a search asks for, which may be patterns.
pub(crate) fn names_searched(command: &Command) -> Vec<String> {
    let asks = |at: usize| {
        let is_denied = 0 < at && ["!", "-not"].contains(&command.args[at - 1].as_str());
        let action = command.args[at..].iter().position(|arg| ACTIONS.contains(&arg.as_str()));
        let then = action.map(|action| &command.args[at + action..]);
        let is_left_out = matches!(then, Some([prune, or, ..]) if prune == "-prune" && or.starts_with("-o"));
        ["-name", "-iname", "-path", "-ipath", "-wholename"].contains(&command.args[at].as_str())
            && !is_denied
            && !is_left_out
    };
    let asked = (0..command.args.len()).filter(|at| asks(*at));
    let names = asked.filter_map(|at| command.args.get(at + 1)).map(String::as_str);
    let is_narrow =
        |name: &&str| !paths::matches_all(name) && (!name.starts_with('*') || name.starts_with("*."));
    names.filter(is_narrow).map(|name| name.trim_start_matches("./").to_owned()).collect()
}

/// Options of `fd` that take the next argument.
const FD_VALUED: [&str; 12] = [
    "-E",
    "--exclude",
    "-e",
    "--extension",
    "-t",
    "--type",
    "-d",
    "--max-depth",
    "-S",
    "--size",
    "-c",
    "--color",
];

/// The pattern and the folders of `fd`.
pub(crate) fn operands_of_fd(command: &Command) -> Vec<&str> {
    let runs = |arg: &str| ["-x", "-X", "--exec", "--exec-batch"].contains(&arg);
    let end = command.args.iter().position(|arg| runs(arg)).unwrap_or(command.args.len());
    let own = &command.args[..end];
    let is_value = |at: usize| 0 < at && FD_VALUED.contains(&own[at - 1].as_str());
    let operands = own.iter().enumerate().filter(|(at, arg)| !arg.starts_with('-') && !is_value(*at));
    operands.map(|(_, arg)| arg.as_str()).collect()
}

/// Whether a search has a condition that says what is meant. One that only says what is not meant leaves everything else.
pub(crate) fn is_narrow_search(command: &Command) -> bool {
    if command.is(&["fd", "fdfind"]) {
        let says = |arg: &String| {
            ["-e", "--extension", "-S", "--size"].contains(&arg.as_str()) || arg.starts_with("--change")
        };
        let pattern = operands_of_fd(command).first().copied().unwrap_or_default();
        return !["", ".", ".*"].contains(&pattern) && !paths::matches_all(pattern)
            || command.args.iter().any(says);
    }
    let start = command.args.iter().position(|arg| arg.starts_with(['-', '(', '!']));
    let words: Vec<&str> =
        command.args[start.unwrap_or(command.args.len())..].iter().map(String::as_str).collect();
    is_narrow(&words, MAX_GROUPS)
}

/// Whether a search is told what to leave out, and nothing else: what it finds is all the rest.
pub(crate) fn finds_the_rest(command: &Command) -> bool {
    let leaves_out = |arg: &String| ["!", "-not", "-prune"].contains(&arg.as_str());
    match command.program.as_str() {
        "find" => command.args.iter().any(leaves_out) && !is_narrow_search(command),
        "fd" | "fdfind" => !is_narrow_search(command),
        _ => false,
    }
}

/// Brackets in brackets are looked into so deep.
const MAX_GROUPS: usize = 8;

/// Whether every alternative that does something has a condition that says what is meant.
fn is_narrow(words: &[&str], depth: usize) -> bool {
    let alternatives = alternatives_of(words);
    let acts = |words: &[&str]| words.iter().any(|word| *word != "-prune" && ACTIONS.contains(word));
    // Without an action, all that is found is printed.
    let has_action = alternatives.iter().any(|words| acts(words));
    let mut acting = alternatives.iter().filter(|words| acts(words) || !has_action).peekable();
    acting.peek().is_some() && acting.all(|words| says_what(words, depth))
}

/// The parts between `-o` that stand in no brackets.
fn alternatives_of<'a>(words: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let (mut parts, mut start, mut level) = (Vec::new(), 0, 0_usize);
    for (at, word) in words.iter().enumerate() {
        match *word {
            "(" => level += 1,
            ")" => level = level.saturating_sub(1),
            "-o" | "-or" | "," if level == 0 => {
                parts.push(&words[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&words[start..]);
    parts
}

/// Whether one of these conditions says what is meant.
fn says_what(words: &[&str], depth: usize) -> bool {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let is_denied = 0 < at && ["!", "-not"].contains(&words[at - 1]);
        at += 1;
        if *word == "(" {
            let end = end_of_group(&words[at..]) + at;
            if !is_denied && 0 < depth && is_narrow(&words[at..end], depth - 1) {
                return true;
            }
            at = end + 1;
        } else if NAMES.contains(word) {
            let pattern = words.get(at).copied().unwrap_or_default();
            if !is_denied && !paths::matches_all(pattern) && pattern != ".*" {
                return true;
            }
            at += 1;
        } else if *word == "-empty" && !is_denied || OTHER_CONDITIONS.contains(word) {
            return true;
        }
    }
    false
}

/// Where the bracket is that ends a group.
fn end_of_group(words: &[&str]) -> usize {
    let mut level = 1_usize;
    let end = words.iter().position(|word| {
        match *word {
            "(" => level += 1,
            ")" => level -= 1,
            _ => {}
        }
        level == 0
    });
    end.unwrap_or(words.len())
}
