//! Files that `find` deletes.

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
const ACTIONS: [&str; 8] = ["-prune", "-delete", "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0"];

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

/// Whether a search has a condition that leaves something out.
pub(crate) fn is_narrow_search(command: &Command) -> bool {
    let mut args = command.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex"
                if args.next().is_some_and(|pattern| !paths::matches_all(pattern) && pattern != ".*") =>
            {
                return true;
            }
            "-empty" | "-newer" | "-mtime" | "-mmin" | "-ctime" | "-atime" | "-size" | "-inum"
            | "-samefile" | "-xtype" | "-lname" => return true,
            _ => {}
        }
    }
    false
}
