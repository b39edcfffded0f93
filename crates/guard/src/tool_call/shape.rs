//! What the input of a tool says that it would do, whatever the tool is called.

use serde_json::Value;

use super::{ToolCall, text_at};

/// How deep an input is looked into, and how many of its parts are.
const MAX_DEPTH: usize = 8;
const MAX_PARTS: usize = 512;

/// The commands, and the files, that an input names at any depth.
pub(super) fn found_in(tool: &str, input: &Value) -> (Vec<ToolCall>, Vec<String>) {
    let (mut calls, mut paths) = (Vec::new(), Vec::new());
    let mut parts = vec![(input, 0)];
    let mut at = 0;
    while let Some((part, depth)) = parts.get(at).copied() {
        at += 1;
        calls.extend(command_in(part));
        let lines = part.get("commands").map(texts).unwrap_or_default();
        calls.extend(lines.into_iter().map(|command_line| ToolCall::Shell { command_line }));
        calls.extend(statement_in(tool, part));
        paths.extend(paths_in(part));
        if depth < MAX_DEPTH && parts.len() < MAX_PARTS {
            let of_object = part.as_object().into_iter().flat_map(|object| object.values());
            let of_list = part.as_array().into_iter().flatten();
            let inner = of_object.chain(of_list).filter(|inner| inner.is_object() || inner.is_array());
            parts.extend(inner.take(MAX_PARTS).map(|inner| (inner, depth + 1)));
        }
    }
    (calls, paths)
}

/// A statement for a database, as a client would be given it.
fn statement_in(tool: &str, input: &Value) -> Option<ToolCall> {
    let name = tool.to_lowercase();
    let is_database = DATABASES.iter().any(|word| name.contains(word));
    let query = text_at(input, "query").filter(|_| is_database);
    let text = text_at(input, "sql").or_else(|| text_at(input, "statement")).or(query)?;
    Some(ToolCall::Arguments { words: ["psql", "-c", text].map(str::to_owned).to_vec() })
}

/// What the names of tools for databases have in them.
const DATABASES: [&str; 9] =
    ["db", "sql", "postgres", "database", "mysql", "supabase", "neon", "duck", "clickhouse"];

/// Whether a text is a path, and no code.
fn is_path(text: &str) -> bool {
    let is_part = |next: char| next.is_alphanumeric() || "/._-~ @+".contains(next);
    text.contains('/') && !text.contains("//") && text.chars().all(is_part)
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What an input would run: a command line, a command with its arguments, or code.
pub(super) fn command_in(input: &Value) -> Option<ToolCall> {
    let command = COMMAND_KEYS.iter().find_map(|key| input.get(key));
    match command {
        Some(Value::String(command)) => {
            let args = input.get("args").or_else(|| input.get("arguments")).map(texts).unwrap_or_default();
            if args.is_empty() {
                return Some(ToolCall::Shell { command_line: command.clone() });
            }
            return Some(ToolCall::Arguments { words: [vec![command.clone()], args].concat() });
        }
        Some(list @ Value::Array(_)) => return Some(ToolCall::Arguments { words: texts(list) }),
        _ => {}
    }
    if let Some(list) =
        ["argv", "args"].iter().filter_map(|key| input.get(key)).map(texts).find(|it| !it.is_empty())
    {
        return Some(ToolCall::Arguments { words: list });
    }
    let code = CODE_KEYS.iter().filter_map(|key| text_at(input, key)).find(|code| !is_path(code))?;
    Some(ToolCall::Code { text: code.to_owned() })
}

/// The files that an input names.
pub(super) fn paths_in(input: &Value) -> Vec<String> {
    // Keys that may mean something else as well.
    let sometimes =
        ["source", "target", "to", "from", "uri", "url"].iter().filter_map(|key| text_at(input, key));
    let moved =
        sometimes.map(|text| text.strip_prefix("file://").unwrap_or(text)).filter(|text| is_path(text));
    let single = PATH_KEYS.iter().filter_map(|key| text_at(input, key)).chain(moved).map(str::to_owned);
    let lists = ["paths", "file_paths", "files"].iter().filter_map(|key| input.get(key)).flat_map(texts);
    single.chain(lists).collect()
}

/// Keys that hold a command.
const COMMAND_KEYS: [&str; 7] =
    ["command", "cmd", "shell_command", "command_line", "commandLine", "chars", "bash"];

/// Keys that hold a script.
const CODE_KEYS: [&str; 6] = ["script", "code", "source", "expression", "python", "javascript"];

/// Keys that hold a path.
const PATH_KEYS: [&str; 17] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "absolute_path",
    "target_file",
    "filename",
    "file",
    "relative_path",
    "destination",
    "output_path",
    "dest",
    "new_path",
    "newPath",
    "target_path",
    "targetPath",
    "output_file",
];
