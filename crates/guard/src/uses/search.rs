//! Files that `find` deletes.

use super::Use;
use crate::{invocation::Invocation, paths, text};

/// What `find -delete` deletes.
pub(super) fn deleted(one: &Invocation) -> Vec<(String, Use)> {
    let starts: Vec<&String> = one.args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!'])).collect();
    let starts = if starts.is_empty() { vec![".".to_owned()] } else { starts.into_iter().cloned().collect() };
    let is_narrow = find_is_narrow(one);
    let mut uses = Vec::new();
    for start in starts {
        uses.extend(find_names(one).into_iter().map(|name| (format!("{start}/{name}"), Use::DeleteTree)));
        let below = if is_narrow { format!("{start}/{}", text::unknown("find")) } else { start };
        uses.push((below, Use::DeleteTree));
    }
    uses
}

/// The names that a search asks for, which may be patterns.
pub(crate) fn find_names(one: &Invocation) -> Vec<String> {
    let names = one.values("", &["name", "iname", "path"]);
    let is_narrow = |name: &&str| !paths::matches_all(name) && !name.starts_with('*');
    names.into_iter().filter(is_narrow).map(|name| name.trim_start_matches("./").to_owned()).collect()
}

/// Whether a search has a condition that leaves something out.
pub(crate) fn find_is_narrow(one: &Invocation) -> bool {
    let mut args = one.args.iter();
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
