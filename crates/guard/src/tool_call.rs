//! What an agent asks to do, from the words of its hooks.

use serde_json::Value;

/// Something an agent asks to do.
///
/// ```
/// use ralph_guard::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::from_hook("Bash", &json!({"command": "ls -l"}));
/// assert_eq!(call, ToolCall::Shell { command_line: "ls -l".to_owned() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolCall {
    /// A command line for a shell.
    Shell {
        /// What is typed.
        command_line: String,
    },
    /// A command that is started without a shell.
    Arguments {
        /// The program and its arguments.
        words: Vec<String>,
    },
    /// Files that are written or changed.
    Write {
        /// Their paths, as the agent gave them; links may be added with where they lead.
        paths: Vec<String>,
    },
    /// Files that are read.
    Read {
        /// Their paths, as the agent gave them; links may be added with where they lead.
        paths: Vec<String>,
    },
    /// Something that the guard has no rules for, such as a search in the web. It is allowed.
    Other,
}

impl ToolCall {
    /// Translates what an agent's hook is told: the name of the tool, and its input as JSON.
    ///
    /// Names are those that Claude Code, Codex, Gemini CLI and other agents use, in any case. A tool that is not known is
    /// [`ToolCall::Other`].
    pub fn from_hook(tool: &str, input: &Value) -> Self {
        let name = tool.to_lowercase();
        let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
        if name == "apply_patch" || name == "applypatch" {
            let patch = ["command", "input", "patch"].iter().find_map(|key| text(key));
            return Self::Write { paths: patch.map(|patch| patched_files(&patch)).unwrap_or_default() };
        }
        if SHELL_TOOLS.contains(&name.as_str()) {
            return match (input.get("command").or_else(|| input.get("cmd")), text("script")) {
                (Some(Value::String(command_line)), _) => Self::Shell { command_line: command_line.clone() },
                (Some(Value::Array(words)), _) => Self::Arguments {
                    words: words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                },
                (_, Some(command_line)) => Self::Shell { command_line },
                _ => Self::Other,
            };
        }
        let mut paths: Vec<String> = PATH_KEYS.iter().filter_map(|key| text(key)).collect();
        if let Some(list) = input.get("paths").or_else(|| input.get("file_paths")).and_then(Value::as_array) {
            paths.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        let only_views = text("command").is_some_and(|verb| verb == "view");
        if WRITE_TOOLS.contains(&name.as_str()) && !only_views {
            return Self::Write { paths };
        }
        if READ_TOOLS.contains(&name.as_str()) || only_views {
            return Self::Read { paths };
        }
        Self::Other
    }
}

/// Tools that run commands, as the agents call them.
const SHELL_TOOLS: [&str; 12] = [
    "bash",
    "shell",
    "exec_command",
    "run_shell_command",
    "local_shell",
    "run_terminal_cmd",
    "execute_command",
    "powershell",
    "terminal",
    "exec",
    "unified_exec",
    "run_command",
];

/// Tools that change files.
const WRITE_TOOLS: [&str; 16] = [
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "write_file",
    "replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "create_file",
    "edit_file",
    "create",
    "str_replace",
    "insert",
    "patch",
    "search_replace",
    "delete_file",
];

/// Tools that read files.
const READ_TOOLS: [&str; 9] =
    ["read", "read_file", "view", "read_many_files", "notebookread", "open_file", "cat", "view_file", "grep"];

/// Keys that hold a path.
const PATH_KEYS: [&str; 9] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "absolute_path",
    "target_file",
    "filename",
    "file",
    "relative_path",
];

/// The files that a patch of `apply_patch` adds, changes, moves or deletes.
pub(crate) fn patched_files(patch: &str) -> Vec<String> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let files =
        patch.lines().filter_map(|line| marks.iter().find_map(|mark| line.trim_start().strip_prefix(mark)));
    files.map(|path| path.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_of_several_agents() {
        let shell = |command_line: &str| ToolCall::Shell { command_line: command_line.to_owned() };
        let write =
            |paths: &[&str]| ToolCall::Write { paths: paths.iter().map(|path| (*path).to_owned()).collect() };
        let cases = [
            ("Bash", json!({"command": "ls", "description": "x"}), shell("ls")),
            ("run_shell_command", json!({"command": "ls"}), shell("ls")),
            (
                "shell",
                json!({"command": ["rm", "x"]}),
                ToolCall::Arguments { words: vec!["rm".into(), "x".into()] },
            ),
            ("Write", json!({"file_path": "/p/a", "content": "x"}), write(&["/p/a"])),
            ("NotebookEdit", json!({"notebook_path": "n.ipynb"}), write(&["n.ipynb"])),
            (
                "apply_patch",
                json!({"command": "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n*** End Patch\n"}),
                write(&["a", "b", "c"]),
            ),
            ("Read", json!({"file_path": ".env"}), ToolCall::Read { paths: vec![".env".into()] }),
            ("Task", json!({"prompt": "rm -rf /"}), ToolCall::Other),
            ("Bash", json!({}), ToolCall::Other),
        ];
        for (name, input, expected) in cases {
            assert_eq!(ToolCall::from_hook(name, &input), expected, "{name} {input}");
        }
    }
}
