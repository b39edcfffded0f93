//! What an agent asks to do, from the words of its hooks.

mod names;
mod shape;

use serde_json::Value;
use shape::{command_in, paths_in};

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
    /// Code in a language that is not known.
    Code {
        /// What would run.
        text: String,
    },
    /// Several of these at once: commands, and files beside them.
    Several {
        /// What is judged one by one.
        calls: Vec<ToolCall>,
    },
    /// Something that touches nothing, such as a search in the web. It is allowed.
    Other,
    /// A tool that is not known, with nothing in its input that says what it does.
    Unknown {
        /// What it is called.
        tool: String,
    },
}

impl ToolCall {
    /// Translates what an agent's hook is told: the name of the tool, and its input as JSON.
    ///
    /// Names are those that Claude Code, Codex, Gemini CLI and other agents use, in any case. A tool that is not known is
    /// judged by the shape of its input: a command is a command, whatever runs it, and a path is written unless the
    /// name of the tool says that it only looks.
    pub fn from_hook(tool: &str, input: &Value) -> Self {
        let name = tool.to_lowercase();
        let is_listed = |names: &[&str]| names.contains(&name.as_str());
        if is_listed(&["apply_patch", "applypatch"]) {
            let patch = ["command", "input", "patch"].iter().find_map(|key| text_at(input, key));
            return Self::Write { paths: patch.map(patched_files).unwrap_or_default() };
        }
        if is_listed(&names::SHELL) {
            return command_in(input).unwrap_or(Self::Other);
        }
        let only_views = text_at(input, "command").is_some_and(|verb| verb == "view");
        if is_listed(&names::READ) || only_views {
            return Self::Read { paths: paths_in(input) };
        }
        if is_listed(&names::WRITE) {
            return Self::Write { paths: paths_in(input) };
        }
        if is_listed(names::HARMLESS) {
            return Self::Other;
        }
        Self::from_shape(tool, input)
    }

    /// Whether a tool of this name is known, or known to be judged by what it is given.
    pub fn knows(tool: &str) -> bool {
        let name = tool.to_lowercase();
        let lists: [&[&str]; 5] =
            [&names::SHELL, &names::WRITE, &names::READ, names::HARMLESS, &names::BY_SHAPE];
        lists.iter().any(|names| names.contains(&name.as_str())) || name.starts_with("mcp__")
    }

    /// A tool that is not known: everything in its input that says what it does, however deep it lies.
    fn from_shape(tool: &str, input: &Value) -> Self {
        let (mut calls, mut paths) = shape::found_in(tool, input);
        let is_look = names::only_looks(tool);
        if !paths.is_empty() {
            paths.dedup();
            calls.push(if is_look { Self::Read { paths } } else { Self::Write { paths } });
        }
        match (calls.len(), is_look) {
            (0, true) => Self::Other,
            (0, false) => Self::Unknown { tool: tool.to_owned() },
            (1, _) => calls.remove(0),
            _ => Self::Several { calls },
        }
    }
}

fn text_at<'a>(input: &'a Value, key: &str) -> Option<&'a str> {
    input.get(key).and_then(Value::as_str)
}

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
            // Tools that are not known, by what they are given.
            ("Monitor", json!({"command": "rm -rf ~", "description": "x"}), shell("rm -rf ~")),
            ("mcp__x__run", json!({"params": {"cmd": "ls"}}), shell("ls")),
            (
                "mcp__x__start",
                json!({"command": "rm", "args": ["-rf", "x"]}),
                ToolCall::Arguments { words: vec!["rm".into(), "-rf".into(), "x".into()] },
            ),
            ("mcp__py__eval", json!({"code": "1 + 1"}), ToolCall::Code { text: "1 + 1".into() }),
            ("mcp__fs__put", json!({"path": "a", "content": "x"}), write(&["a"])),
            ("mcp__fs__move_file", json!({"file": "a", "destination": "b"}), write(&["a", "b"])),
            ("mcp__fs__read_text", json!({"path": "a"}), ToolCall::Read { paths: vec!["a".into()] }),
            ("mcp__db__list_tables", json!({}), ToolCall::Other),
            ("mcp__fs__move", json!({"source": "/p/a", "destination": "/etc/x"}), write(&["/etc/x", "/p/a"])),
            (
                "mcp__fs__edit",
                json!({"edits": [{"target": {"file_path": ".claude/settings.json"}}]}),
                write(&[".claude/settings.json"]),
            ),
            (
                "mcp__sh__run",
                json!({"argv": ["rm", "x"]}),
                ToolCall::Arguments { words: vec!["rm".into(), "x".into()] },
            ),
            (
                "mcp__sh__run",
                json!({"commands": ["ls", "rm x"], "file": "a"}),
                ToolCall::Several { calls: vec![shell("ls"), shell("rm x"), write(&["a"])] },
            ),
            ("mcp__sh__run", json!({"bash": "rm x"}), shell("rm x")),
            (
                "mcp__db__query",
                json!({"query": "drop table a"}),
                ToolCall::Arguments { words: vec!["psql".into(), "-c".into(), "drop table a".into()] },
            ),
            ("mcp__web__query", json!({"query": "drop table a"}), ToolCall::Other),
            ("Frobnicate", json!({"x": 1}), ToolCall::Unknown { tool: "Frobnicate".into() }),
        ];
        for (name, input, expected) in cases {
            assert_eq!(ToolCall::from_hook(name, &input), expected, "{name} {input}");
        }
    }
}
