//! What names in code stand for.

use super::{RUN_FUNCTIONS, string_literals};

/// Functions that run commands under names that the code itself gives them: `from os import system as x`.
pub(super) fn run_aliases(code: &str) -> Vec<&str> {
    let parts = code.split([';', '\n', ',', '{', '}']);
    let pairs = parts.filter_map(|part| part.split_once(" as "));
    let is_run = |(what, _): &(&str, &str)| {
        what.split(' ').next_back().is_some_and(|name| RUN_FUNCTIONS.contains(&name))
    };
    // `const {execSync: x} = require('child_process')`
    let renamed = code.split(['{', '}', ',']).filter_map(|part| part.split_once(':'));
    let renamed = renamed.filter(|(name, _)| RUN_FUNCTIONS.contains(&name.trim()));
    pairs.filter(is_run).chain(renamed).map(|(_, alias)| alias.trim()).collect()
}

/// The texts that a chain such as `Path("x").unlink()` begins with.
pub(crate) fn literals_of_receiver<'a>(receiver: &str, code: &str, all: &'a [String]) -> Vec<&'a String> {
    // What a module is called is no file.
    let is_module =
        |code: &str| ["require(", "import(", "__import__("].iter().any(|load| code.contains(load));
    if is_module(receiver) && receiver.matches(['"', '\'', '`']).count() == 2 {
        return Vec::new();
    }
    if receiver.contains(['"', '\'']) {
        let own = string_literals(receiver);
        return all.iter().filter(|text| own.contains(text)).collect();
    }
    // A variable that was given a text before.
    let name = receiver.trim_end_matches(['.', ':']).rsplit(['.', '(', ' ']).next().unwrap_or_default();
    if name.is_empty() {
        return Vec::new();
    }
    let assigned = code.split_once(&format!("{name} =")).or_else(|| code.split_once(&format!("{name}=")));
    let Some((_, rest)) = assigned else { return Vec::new() };
    let line = rest.split(['\n', ';']).next().unwrap_or_default();
    if is_module(line) {
        return Vec::new();
    }
    let own = string_literals(line);
    all.iter().filter(|text| own.contains(text)).collect()
}
