//! Says in a few words what a tool call is about.

use std::{borrow::Cow, collections::HashMap};

use super::raw::Raw;

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
pub(super) fn summary(input: Option<Raw<'_>>) -> String {
    let Some(input) = input else { return String::new() };
    let Some(arguments) = input.read::<HashMap<Cow<'_, str>, Raw<'_>>>() else { return input.short() };
    TELLING.iter().find_map(|key| arguments.get(*key)).map(|value| value.short()).unwrap_or_default()
}
