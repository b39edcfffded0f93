//! Says in a few words what a tool call or a long text is about.

use std::borrow::Cow;
use std::collections::HashMap;

use super::raw::Raw;

/// How many characters a summary has at most.
pub(super) const MAX: usize = 160;

/// The arguments that tell most, the most telling first.
const TELLING: [&str; 21] = [
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "path",
    "dir_path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "subject",
    "taskId",
    "task_id",
    "skill",
    "description",
    "prompt",
    "title",
    "name",
    "text",
    "id",
];

/// Returns the most telling of a tool's arguments.
pub(super) fn of_arguments(input: Option<Raw<'_>>) -> String {
    let Some(input) = input else { return String::new() };
    let Some(arguments) = input.read::<HashMap<Cow<'_, str>, Raw<'_>>>() else { return input.short() };
    TELLING.iter().find_map(|key| arguments.get(*key)).map(|value| value.short()).unwrap_or_default()
}

/// Returns the first line of a text that has something in it, cut to [`MAX`] characters.
pub(super) fn short(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
